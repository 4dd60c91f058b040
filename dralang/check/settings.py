"""Header statements: version, feature gates, quirks, scheduler configuration."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from dralang.allocator.quirks import QUIRKS
from dralang.api.located import Located
from dralang.check import problems
from dralang.check.expand import Bindings, one_name, scalar
from dralang.check.scheduler_config import fields_of, scheduler_config
from dralang.check.scheduler_fields import Fields
from dralang.check.values import Converter, misplaced_sugar
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.features import DEFAULT_VERSION, VERSIONS, FeatureGates, GateProblem
from dralang.readings import READ_IN, READINGS
from dralang.scenario.model import Settings
from dralang.spelling import nearest
from dralang.syntax import nodes as n

USED_CONFIGURATION: Final = "used scheduler configuration"
"""The key among headers of a configuration that came as a manifest; what a `scheduler` block says stands above it."""


def read_header(header: n.Header | Located, bindings: Bindings, log: DiagnosticLog, *, fuzz: bool = False) -> object:
    """The value of one header statement or scheduler configuration: the version, or a map of switches or fields.

    In a fuzz a hole may stand for what is switched or set; it counts as its first choice.
    """
    if isinstance(header, Located):
        return fields_of(header, log)
    if header.keyword == "kubernetes":
        assert isinstance(header.value, n.Word)
        return _version(header.value, bindings, log)
    assert isinstance(header.value, n.Block)
    if header.keyword == "scheduler":
        located = Converter(log, fuzz=fuzz).untyped(header.value, bindings)
        return None if located is None else fields_of(located, log, is_block=True)
    switches = _switches(header.value, header.keyword, bindings, log, fuzz=fuzz)
    if header.keyword == "quirks":
        for name, (_, span) in switches.items():
            if name not in QUIRKS and name not in READINGS:
                near = nearest(name, [*QUIRKS, *READINGS])
                log.add(
                    problems.bad_setting(
                        f"unknown quirk `{name}`",
                        span,
                        f"did you mean `{near}`?" if near else "",
                        tuple(sorted(QUIRKS)[:6]),
                    )
                )
    return {name: value for name, (value, _) in switches.items()}


def _version(word: n.Word, bindings: Bindings, log: DiagnosticLog) -> str | None:
    text = one_name(word, bindings, log)
    if text is None or text in VERSIONS:
        return text
    meant = text.removeprefix("v")
    if meant not in VERSIONS:
        meant = ".".join(meant.split(".")[:2])
    way_out = f"did you mean `{meant}`?" if meant in VERSIONS else ""
    log.add(problems.bad_setting(f"`{text}` is no Kubernetes version that is modelled", word.span, way_out, VERSIONS))
    return None


def _switches(
    block: n.Block, what: str, bindings: Bindings, log: DiagnosticLog, *, fuzz: bool
) -> dict[str, tuple[bool, Span]]:
    result: dict[str, tuple[bool, Span]] = {}
    converter = Converter(log, fuzz=fuzz)
    for entry in block.entries:
        if not isinstance(entry, n.Field):
            log.add(misplaced_sugar(entry, f"`{what}`"))
            continue
        name = one_name(entry.name, bindings, log)
        if name is None:
            continue
        switch = partial(_switch, name, bindings=bindings, converter=converter)
        plain = converter.first(entry.value, switch)
        if plain is None:
            continue
        if name in result:
            log.add(problems.given_twice(name, entry.name.span, result[name][1]))
        result[name] = (plain, entry.name.span)
    return result


def _switch(name: str, value: n.Value, *, bindings: Bindings, converter: Converter) -> bool | None:
    resolved = converter.resolve(value, bindings)
    if resolved is None:
        return None
    plain = scalar(resolved) if isinstance(resolved, n.Word) else None
    if isinstance(plain, bool):
        return plain
    converter.log.add(problems.wrong_value(f"`{name}` is switched with `true` or `false`", value.span))
    return None


def settings_of(
    headers: Iterable[Mapping[str, n.Header | Located]],
    bindings: Bindings,
    log: DiagnosticLog,
    overrides: Settings | None = None,
    defaults: Settings | None = None,
    *,
    fuzz: bool = False,
) -> Settings:
    """The settings of a scenario: its headers over those of its file, entry by entry; those of a fuzz may have holes.

    ``overrides`` win over all of them; ``defaults`` hold where they say nothing. An empty version says nothing.
    """
    version = DEFAULT_VERSION
    gates: dict[str, bool] = {}
    quirks: dict[str, bool] = {}
    if defaults is not None:
        version = defaults.version or version
        gates.update(defaults.gates)
        quirks.update(defaults.quirks)
    scheduler: Fields | None = None
    spans: dict[str, Span] = {}
    levels = tuple(headers)
    for number, level in enumerate(levels, 1):
        for keyword, header in level.items():
            value = read_header(header, bindings, log, fuzz=fuzz and number == len(levels))
            if keyword == "kubernetes" and isinstance(value, str):
                version = value
                spans[""] = header.span
            elif keyword in ("scheduler", USED_CONFIGURATION) and isinstance(value, dict):
                scheduler = {**(scheduler or {}), **value}
            elif isinstance(value, dict):
                (gates if keyword == "gates" else quirks).update(value)
                spans.update(_switch_spans(header))
    if overrides is not None:
        version = overrides.version or version
        gates.update(overrides.gates)
        quirks.update(overrides.quirks)
    features = _check_gates(version, gates, spans, log)
    _check_readings(version, quirks, spans, log)
    config = None if scheduler is None else scheduler_config(scheduler, features, log)
    return Settings(version, gates, quirks, config)


def _switch_spans(header: n.Header | Located) -> dict[str, Span]:
    assert isinstance(header, n.Header)
    assert isinstance(header.value, n.Block)
    return {entry.name.text: entry.name.span for entry in header.value.entries if isinstance(entry, n.Field)}


def _check_gates(
    version: str, gates: Mapping[str, bool], spans: Mapping[str, Span], log: DiagnosticLog
) -> FeatureGates | None:
    if version not in VERSIONS:
        return None
    resolved = FeatureGates.resolve(version, gates)
    if isinstance(resolved, FeatureGates):
        return resolved
    for problem in resolved:
        span = spans.get(problem.gate) or next((spans[name] for name in sorted(gates) if name in spans), None)
        log.add(_gate_problem(problem, span or spans.get("")))
    return None


def _check_readings(version: str, quirks: Mapping[str, bool], spans: Mapping[str, Span], log: DiagnosticLog) -> None:
    """A reading of a KEP means nothing to a version that does not have the KEP."""
    for name, on in quirks.items():
        if on and name in READINGS and version in VERSIONS and version != READ_IN:
            text = f"`{name}` is a reading of {READINGS[name].kep}, which Kubernetes {version} does not have"
            span = spans.get(name) or spans.get("")
            log.add(problems.bad_setting(text, span, f"write `kubernetes {READ_IN}`", (READ_IN,)))


def _gate_problem(problem: GateProblem, span: Span | None) -> Diagnostic:
    way_out = problem.help
    if problem.expected:
        way_out = f"did you mean `{problem.expected[0]}`?"
    return problems.bad_setting(problem.message, span, way_out, problem.expected)
