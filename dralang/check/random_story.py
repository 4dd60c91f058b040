"""`fuzz "..." from std.random(...)`: a whole story, drawn: cluster, classes, claims, pods and what happens to them.

Small numbers with exact fits, names that two drivers share, and always several features at once: that is where faults
of allocators have been found. The story is written as text and read by the parser, so that it says nothing a person
could not have written. Parameters are upper bounds; small choices make small stories.
"""

from collections.abc import Mapping
from typing import Final

from dralang.api.kinds import KIND_OF_KEYWORD, is_served
from dralang.check import problems
from dralang.check.ranges import UnfillableError
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.features import FeatureGates
from dralang.scenario.holes import Chooser
from dralang.scenario.model import Settings
from dralang.syntax import nodes as n
from dralang.syntax.reading import parse

NAME: Final = "std.random"
PARAMETERS: Final[Mapping[str, int]] = {"nodes": 2, "devices": 4, "pods": 6, "events": 5}
"""What `std.random` takes, and the bounds without it."""
_MOST: Final = 50
_DRIVERS: Final = ("a.example.com", "b.example.com")
_HORIZON: Final = 60
_PARTS: Final = ("parts", "both")
_GROUP_GATES: Final = ("GenericWorkload", "DRAWorkloadResourceClaims")
_GROUP_SHARE: Final = 5
"""One story in so many, and one, has a group."""
_SHARED: Final = ("shares", "both")


def sizes_of(call: n.Call) -> dict[str, int]:
    """The bounds that a call sets.

    Raises:
        UnfillableError: another name, an unknown parameter, one that is given twice, a value that is no small number.
    """
    if call.name.text != NAME:
        word, way_out = call.name, f"write `{NAME}()`"
        raise UnfillableError(problems.undefined("source of stories", word.text, word.span, (NAME,), way_out=way_out))
    sizes = dict(PARAMETERS)
    given: set[str] = set()
    for arg in call.args:
        name = "" if arg.name is None else arg.name.text
        if name not in sizes:
            known = ", ".join(f"`{each}: {size}`" for each, size in PARAMETERS.items())
            what = f"no `{name}`" if name else "no value without a name"
            raise UnfillableError(problems.bad_call(f"`{NAME}` takes {what}", arg.span, f"it takes {known}", ()))
        text = arg.value.text if isinstance(arg.value, n.Word) else ""
        if not (text.isascii() and text.isdigit() and len(text) < 10) or not 1 <= int(text) <= _MOST:
            raise UnfillableError(problems.bad_number(f"`{name}` is a number from 1 to {_MOST}", arg.span))
        if name in given:
            raise UnfillableError(problems.bad_call(f"`{name}` is given twice", arg.span, "keep one of them"))
        given.add(name)
        sizes[name] = int(text)
    return sizes


def may_have_groups(settings: Settings, body: n.Body) -> bool:
    """Whether a story may switch on what pod groups need: the version has it, and nobody has said otherwise."""
    said = any(isinstance(each, n.Header) and each.keyword == "gates" for each in body.statements)
    gates = {**settings.gates, **dict.fromkeys(_GROUP_GATES, True)}
    resolved = FeatureGates.resolve(settings.version, gates)
    info = KIND_OF_KEYWORD["podgroup"]
    served = any(is_served(info, version, settings.version) for version in info.versions)
    free = not said and not settings.gates.keys() & set(_GROUP_GATES)
    return served and free and isinstance(resolved, FeatureGates)


def random_story(call: n.Call, chooser: Chooser, *, groups: bool) -> tuple[n.Statement, ...]:
    """The statements of a drawn story; what happens is scheduled.

    Args:
        call: `std.random` with its bounds.
        chooser: chooses.
        groups: whether some stories may have a pod group, with the gates that it needs.

    Raises:
        UnfillableError: see ``sizes_of``.
    """
    text = _Author(chooser, sizes_of(call), groups=groups).write()
    source = SourceFile(NAME, f'fuzz "drawn" {{\n{text}}}\n')
    log = DiagnosticLog()
    item = parse(source, log).items[0]
    assert isinstance(item, n.Scenario), [each.message for each in log.sorted()]
    return item.body.statements


class _Author:
    """Writes one story; private to this module."""

    def __init__(self, chooser: Chooser, sizes: Mapping[str, int], *, groups: bool) -> None:
        self.chooser = chooser
        self.sizes = sizes
        self.groups = groups
        self.lines: list[str] = []
        self.drivers: list[str] = []
        self.features: set[str] = set()
        self.devices: list[str] = []

    def number(self, low: int, high: int) -> int:
        return self.chooser.integer(low, high)

    def one(self, *choices: str) -> str:
        return choices[self.number(0, len(choices) - 1)]

    def maybe(self) -> bool:
        return self.number(0, 1) == 1

    def write(self) -> str:
        nodes = self.number(1, self.sizes["nodes"])
        self.lines.append(f"node w-[1..{nodes}]")
        self.drivers = list(_DRIVERS[: self.number(1, 2)])
        for driver in self.drivers:
            # "both": partitions that several claims share.
            kind = self.one("plain", "parts", "shares", "both")
            self.features.add(kind)
            for node in range(1, nodes + 1):
                self._slices(driver, kind, node)
            self.lines.append(f'class {_short(driver)} {{ where `device.driver == "{driver}"` }}')
        templates = self.number(1, 3)
        for number in range(1, templates + 1):
            self.lines.append(f"template t-{number} {{ {self._requests()} }}")
        self.lines.append(f"claim shared {{ {self._requests()} }}")
        if self.groups and self.number(0, _GROUP_SHARE) == _GROUP_SHARE:
            self._gang()
        self._events(self._pods(templates))
        return "".join(f"{line}\n" for line in self.lines)

    # ---- the cluster ------------------------------------------------------------------------------------------------

    def _slices(self, driver: str, kind: str, node: int) -> None:
        count = self.number(1, self.sizes["devices"])
        short = _short(driver)
        # Both drivers call their pools after the node, and their devices alike.
        head = f"driver: {driver}; nodeName: w-{node}"
        pool = f"pool {{ name: w-{node}, generation: 1, resourceSliceCount: {2 if kind in _PARTS else 1} }}"
        total = self.number(1, 4)
        if kind in _PARTS:
            self.lines.append(f"slice {short}-{node}-card {{ {head}; {pool}; counters card {{ units: {total} }} }}")
        devices = [self._device(kind, number, total) for number in range(count)]
        self.devices += [f"{driver}/w-{node}/d-{number}" for number in range(count)]
        self.lines.append(f"slice {short}-{node} {{ {head}; {pool}; {'; '.join(devices)} }}")

    def _device(self, kind: str, number: int, total: int) -> str:
        parts = [f"attributes {{ numa: {self.number(0, 1)}, index: {number} }}"]
        if kind in _PARTS:
            parts.append(f"consumes card {{ units: {self.number(1, total)} }}")
        if kind in _SHARED:
            parts.append("allowMultipleAllocations: true")
            if self.number(0, 3) < 3:
                parts.append(f"capacity {{ room: {self.number(1, 4)} }}")
        if self.number(0, 5) == 5:
            parts.append(f"taint broken:{self.one('NoSchedule', 'None')}")
        return f"device d-{number} {{ {'; '.join(parts)} }}"

    # ---- claims -----------------------------------------------------------------------------------------------------

    def _requests(self) -> str:
        text = f"request r: {self._request()}"
        if self.maybe():
            text += f"; request s: {self._request()}"
        constraint = self.number(0, 4)
        if constraint >= 3:
            driver = self.one(*self.drivers)
            text += f"; {'match' if constraint == 3 else 'distinct'} {driver}/{self.one('numa', 'index')}"
        return text

    def _request(self) -> str:
        kind = self.number(0, 5)
        if kind == 4:
            return f"all of {self._class()}"
        if kind == 5:
            return f"first available {{ x: {self._exact()}; y: {self._exact()} }}"
        return self._exact()

    def _exact(self) -> str:
        driver = self.one(*self.drivers)
        text = f"{self.number(1, 3)} of {_short(driver)}"
        if self.number(0, 3) == 3:
            text += f' where `device.attributes["{driver}"].numa == {self.number(0, 1)}`'
        inside = []
        if self.features.intersection(_SHARED) and self.maybe():
            inside.append(f"capacity: {{ requests: {{ room: {self.number(1, 3)} }} }}")
        if self.number(0, 3) == 3:
            inside.append("tolerate broken")
        return f"{text} {{ {'; '.join(inside)} }}" if inside else text

    def _class(self) -> str:
        return _short(self.one(*self.drivers))

    # ---- what happens -----------------------------------------------------------------------------------------------

    def _pods(self, templates: int) -> int:
        count = self.number(1, self.sizes["pods"])
        for number in range(1, count + 1):
            which = self.number(0, templates)
            claim = "claim c is shared" if which == templates else f"claim c from t-{which + 1}"
            priority = f"; priority: {self.number(0, 2)}" if self.maybe() else ""
            self._at(f"create pod p-{number} {{ {claim}{priority} }}")
        return count

    def _gang(self) -> None:
        """A group whose members have a claim in common; the write of its allocation may fail."""
        self.lines.insert(0, f"gates {{ {', '.join(f'{gate}: true' for gate in _GROUP_GATES)} }}")
        members = self.number(2, 3)
        least = self.number(1, members)
        self.lines.append(f"podgroup gang {{ schedulingPolicy {{ gang: {{ minCount: {least} }} }} }}")
        self.lines.append(f"claim common {{ request r: 1 of {self._class()} }}")
        if self.maybe():
            self._at("fail next update of claim common")
        for number in range(1, members + 1):
            self._at(f"create pod m-{number} {{ schedulingGroup {{ podGroupName: gang }}; claim c is common }}")

    def _events(self, pods: int) -> None:
        for _ in range(self.number(0, self.sizes["events"])):
            pod = f"p-{self.number(1, pods)}"
            match self.number(0, 7):
                case 0:
                    self._at(f"delete {pod}")
                case 1:
                    self._at(f"finish {pod}")
                case 2:
                    self._at("restart scheduler")
                case 3:
                    effect = self.one("NoSchedule", "NoExecute", "None")
                    self._at(f"taint device {self.one(*self.devices)} with broken:{effect}")
                case 4:
                    self._at("cordon w-1")
                    self._at("uncordon w-1")
                case 5:
                    self._at(f"fail next {self.one('bind', 'update')} of {pod}")
                case 6:
                    component = self.one("resourceclaim-controller", "kubelet", "scheduler")
                    self._at(f"delay {component} by {self.number(0, 3)}s")
                case _:
                    self._at("restart resourceclaim-controller")

    def _at(self, statement: str) -> None:
        time = f"{self.number(0, _HORIZON)}s"
        # A hole with one choice: it is scheduled among the others.
        self.lines.append(f"at any {time}..{time} {statement}")


def _short(driver: str) -> str:
    return driver.partition(".")[0]
