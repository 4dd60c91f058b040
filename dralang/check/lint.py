"""Selectors that compile and are probably wrong: tried on the devices that the files have.

A selector is tried on those devices only that the selectors before it admit: the class's come first, and the first
that is false ends the matter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from dralang.api.deviceclass import DeviceClass
from dralang.api.expressions import ExpressionError
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.api.verdicts import offset_in_source
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions
from dralang.cel.issues import CompileError
from dralang.cel.lint import Code, Finding, lint
from dralang.cel.program import compile_expression
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.features import FeatureGates
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared, Scenario, Settings

MAX_DEVICES: Final = 200
"""How many devices that differ are looked at."""
_CODES: Final[Mapping[Code, str]] = {
    "always-true": "DRA0502",
    "always-false": "DRA0502",
    "compares-kinds": "DRA0503",
    "unguarded": "DRA0504",
}
# What says on purpose that there is no condition.
_NO_CONDITION: Final = frozenset({"true", "false"})

_KINDS: Final = frozenset({"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"})
_Path = tuple[str | int, ...]


class _Selector(Struct, frozen=True):
    """A selector, where it stands, and those that are asked before it."""

    text: str
    path: _Path
    before: tuple[str, ...]


class Linter:
    """Looks at selectors as a version with certain gates compiles them; what it has seen it remembers."""

    def __init__(self, gates: FeatureGates) -> None:
        self._environment = Environment(
            minor=parse_minor(gates.version),
            lists=gates.enabled("DRAListTypeAttributes"),
            multiple=gates.enabled("DRAConsumableCapacity"),
        )
        self._expressions = CelExpressions(self._environment)
        self._found: dict[tuple[str, tuple[bytes, ...]], list[Finding]] = {}
        self._admitted: dict[tuple[tuple[str, ...], bytes], bool] = {}

    def look(self, known: Mapping[ObjectKey, Declared]) -> Iterator[Diagnostic]:
        """What is probably wrong in the selectors of objects that are there together."""
        devices = _different_devices(known.values())
        for declared in known.values():
            if not declared.own and not declared.api_version:
                continue  # a `.dra` file that is used is looked at by itself
            for selector in _selectors(declared, known):
                for finding in self._findings(selector, devices):
                    yield _diagnostic(finding, selector, declared)

    def _findings(self, selector: _Selector, devices: Mapping[bytes, tuple[str, Device]]) -> list[Finding]:
        admitted = devices
        if selector.before:
            admitted = {key: each for key, each in devices.items() if self._admits(selector.before, key, *each)}
        memo = (selector.text, tuple(admitted))
        found = self._found.get(memo)
        if found is None:
            try:
                compiled = compile_expression(selector.text, self._environment)
            except CompileError:
                found = []  # said elsewhere
            else:
                found = lint(compiled, tuple(admitted.values()))
            self._found[memo] = found
        return found

    def _admits(self, selectors: tuple[str, ...], key: bytes, driver: str, device: Device) -> bool:
        known = self._admitted.get((selectors, key))
        if known is None:
            try:
                prepared = self._expressions.prepare(driver, device)
                known = all(self._expressions.selector(text)(prepared) for text in selectors)
            except ExpressionError:
                known = False
            self._admitted[selectors, key] = known
        return known


def _different_devices(known: Iterable[Declared]) -> dict[bytes, tuple[str, Device]]:
    """The devices of slices, those that are the same but for their names once."""
    found: dict[bytes, tuple[str, Device]] = {}
    for declared in known:
        slice_ = declared.object
        if not isinstance(slice_, ResourceSlice):
            continue
        driver = slice_.spec.driver
        for device in slice_.spec.devices:
            try:
                parts = (driver, device.attributes, device.capacity, device.allow_multiple_allocations)
                found.setdefault(msgspec.json.encode(parts), (driver, device))
            except (ValueError, OverflowError):  # an integer of thousands of digits, too
                continue
            if len(found) >= MAX_DEVICES:
                return found
    return found


def _selectors(declared: Declared, known: Mapping[ObjectKey, Declared]) -> Iterator[_Selector]:
    match declared.object:
        case DeviceClass(spec=spec):
            texts = [selector.cel.expression if selector.cel is not None else "" for selector in spec.selectors]
            yield from _in_order(texts, ("spec", "selectors"), ())
        case ResourceClaim(spec=spec):
            yield from _of_requests(spec.devices.requests, ("spec", "devices", "requests"), known)
        case ResourceClaimTemplate(spec=template):
            requests = template.spec.devices.requests
            yield from _of_requests(requests, ("spec", "spec", "devices", "requests"), known)
        case _:
            return


def _of_requests(requests: Sequence[object], path: _Path, known: Mapping[ObjectKey, Declared]) -> Iterator[_Selector]:
    for index, request in enumerate(requests):
        exactly = getattr(request, "exactly", None)
        bodies = [] if exactly is None else [(exactly, (*path, index, "exactly"))]
        alternatives = getattr(request, "first_available", ())
        bodies += [(each, (*path, index, "firstAvailable", number)) for number, each in enumerate(alternatives)]
        for body, place in bodies:
            class_ = known.get(ObjectKey("DeviceClass", "", body.device_class_name))
            if class_ is None or not isinstance(class_.object, DeviceClass):
                continue  # which devices the class admits is not known
            before = [each.cel.expression for each in class_.object.spec.selectors if each.cel is not None]
            texts = [each.cel.expression if each.cel is not None else "" for each in body.selectors]
            yield from _in_order(texts, (*place, "selectors"), tuple(before))


def _in_order(texts: Sequence[str], path: _Path, before: tuple[str, ...]) -> Iterator[_Selector]:
    for index, text in enumerate(texts):
        if text and text.strip() not in _NO_CONDITION:
            yield _Selector(text, (*path, index, "cel", "expression"), (*before, *texts[:index]))


def _diagnostic(finding: Finding, selector: _Selector, declared: Declared) -> Diagnostic:
    place = declared.located.at(selector.path)
    span = place.span
    start = offset_in_source(selector.text, span.text, finding.start)
    end = offset_in_source(selector.text, span.text, max(finding.start, finding.end - 1))
    if place.value == selector.text and 0 <= start <= end < span.end - span.start:
        span = Span(span.source, span.start + start, span.start + end + 1)
    device = f" (as on {finding.device})" if finding.device else ""
    return Diagnostic(
        code=_CODES[finding.code],
        # Manifests are often somebody else's.
        severity="note" if declared.api_version else "warning",
        message=" ".join(finding.message.split()) + device,
        span=span,
        help=finding.help,
    )


class Linters:
    """The linters of an analysis run, one for each version and set of gates."""

    def __init__(self) -> None:
        self._linters: dict[tuple[str, tuple[tuple[str, bool], ...]], Linter | None] = {}

    def look(
        self, settings: Settings, shared: Iterable[Declared], scenarios: Sequence[Scenario], log: DiagnosticLog
    ) -> None:
        """Report on the objects of a file, as its scenarios have them.

        Args:
            settings: of the file.
            shared: the objects of the file's own level.
            scenarios: those of the file.
            log: takes the diagnostics.
        """
        told: set[tuple[str, Span]] = set()
        seen: set[tuple[int, ...]] = set()
        together = [(scenario.settings, scenario.declared) for scenario in scenarios if not scenario.fuzz]
        for own_settings, known in together or [(settings, {item.key: item for item in shared})]:
            linter = self._of(own_settings)
            relevant = {key: item for key, item in known.items() if key.kind in _KINDS}
            group = (id(linter), *map(id, relevant.values()))
            if linter is None or group in seen:
                continue
            seen.add(group)
            for diagnostic in linter.look(relevant):
                assert diagnostic.span is not None, "selectors have places"
                # Of the devices that show the same mistake one is enough.
                if (diagnostic.code, diagnostic.span) not in told:
                    told.add((diagnostic.code, diagnostic.span))
                    log.add(diagnostic)

    def _of(self, settings: Settings) -> Linter | None:
        """The linter for some settings; None if no server starts with them."""
        key = (settings.version, tuple(sorted(settings.gates.items())))
        if key not in self._linters:
            gates = FeatureGates.resolve(settings.version, settings.gates)
            self._linters[key] = Linter(gates) if isinstance(gates, FeatureGates) else None
        return self._linters[key]
