"""Which parts of the device an expression looks at."""

from msgspec import Struct

from dralang.cel.device import AnyPrepared, attribute_key, capacity_key
from dralang.cel.gotext import quoted
from dralang.cel.paths import Aliases, Path, path_of, step
from dralang.cel.tree import Call, Comprehension, Ident, Node, Select
from dralang.cel.values import Semver, Value


class Reading(Struct, frozen=True, order=True):
    """A part of the device that an expression looks at.

    Attributes:
        field: ``driver``, ``allowMultipleAllocations``, ``attributes`` or ``capacity``.
        domain: the domain of the attribute or capacity; empty if the expression computes it or takes all.
        name: its name; empty likewise.
        guarded: whether the expression asks whether it is there, or has a value for when it is not.
    """

    field: str
    domain: str = ""
    name: str = ""
    guarded: bool = False

    @property
    def text(self) -> str:
        """As an expression writes it."""
        start = f"device.{self.field}"
        if not self.domain:
            return start
        named = f"{start}[{quoted(self.domain)}]"
        if not self.name:
            return named
        return f"{named}.{self.name}" if self.name.isidentifier() else f"{named}[{quoted(self.name)}]"

    @property
    def key(self) -> str:
        """Under which key a prepared device holds it."""
        make = attribute_key if self.field == "attributes" else capacity_key
        return make(self.domain, self.name)

    def value_on(self, device: AnyPrepared) -> str:
        """Its value on a device, in words."""
        whole = device.whole
        if self.field in {"driver", "allowMultipleAllocations"}:
            return shown(whole[self.field])
        part: Value = whole[self.field]
        if self.domain:
            part = part.get(self.domain, {})
        if self.domain and self.name:
            return shown(part[self.name]) if self.name in part else "not there"
        return f"{len(part)} entr{'y' if len(part) == 1 else 'ies'}"


def shown(value: Value) -> str:
    """A value of an attribute or capacity, in words."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is str:
        return quoted(value)
    if type(value) is Semver:
        return f"version {value}"
    if type(value) is tuple:
        return f"[{', '.join(shown(item) for item in value)}]"
    return str(value)


class _Reader:
    def __init__(self) -> None:
        self.found: set[Reading] = set()
        self.aliases: Aliases = {}

    def note(self, path: Path, *, guarded: bool) -> None:
        if path.field:
            domain, name = (*path.names, "", "")[:2]
            self.found.add(Reading(path.field, domain, name, guarded))

    def visit(self, node: Node, *, guarded: bool = False) -> None:
        path = path_of(node, self.aliases)
        if path is not None:
            self.note(path, guarded=guarded)
            return
        if isinstance(node, Comprehension):
            self.comprehension(node)
            return
        if isinstance(node, Select) and node.test:
            inner = path_of(node.operand, self.aliases)
            if inner is not None and inner.field in {"attributes", "capacity"} and len(inner.names) < 2:
                self.note(Path(inner.field, (*inner.names, node.field)), guarded=True)
                return
        if isinstance(node, Call) and self._optional(node):
            return
        found = step(node)
        for child in [found[0]] if found is not None else node.children():
            self.visit(child, guarded=guarded)

    def _optional(self, node: Call) -> bool:
        """``a.?b``, ``a[?"b"]`` and ``"b" in a``."""
        if node.function in {"_?._", "_[?_]"}:
            container, key = node.args
        elif node.function == "@in":
            key, container = node.args
        else:
            return False
        path = path_of(container, self.aliases)
        if path is None or path.field not in {"attributes", "capacity"} or len(path.names) == 2:
            return False
        name = getattr(key, "value", None)
        if type(name) is str:
            self.note(Path(path.field, (*path.names, name)), guarded=True)
        else:
            self.note(path, guarded=True)
            self.visit(key)
        return True

    def comprehension(self, node: Comprehension) -> None:
        self.visit(node.iter_range)
        hidden = {name: self.aliases.get(name) for name in (node.accu_var, node.iter_var, node.iter_var2)}
        had = {name: name in self.aliases for name in hidden}
        alias = path_of(node.accu_init, self.aliases) if node.is_bind else None
        if alias is None:
            self.visit(node.accu_init)
        self.aliases.update(dict.fromkeys(hidden))
        self.aliases[node.accu_var] = alias
        for part in (node.result,) if node.is_bind else (node.condition, node.step, node.result):
            self.visit(part)
        for name, path in hidden.items():
            if had[name]:
                self.aliases[name] = path
            else:
                del self.aliases[name]


def readings_of(node: Node) -> tuple[Reading, ...]:
    """What the expression below a node looks at, each part once.

    A part that is looked at with and without a guard counts as guarded: mostly the guard stands in front.
    """
    reader = _Reader()
    reader.visit(node)
    guarded = {reading.text for reading in reader.found if reading.guarded}
    unique = {
        reading.text: Reading(reading.field, reading.domain, reading.name, reading.text in guarded)
        for reading in reader.found
    }
    return tuple(sorted(unique.values()))


def reads_device(node: Node) -> bool:
    """Whether the value below a node may depend on the device."""
    if isinstance(node, Ident):
        return node.name.removeprefix(".") == "device"
    return any(reads_device(child) for child in node.children())
