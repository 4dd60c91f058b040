"""Expressions and devices for comparing evaluators: mostly well typed, and in all the ways devices can answer."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.values.quantity import parse_quantity

DOMAIN = "d.example.com"
ATTRIBUTES = f'device.attributes["{DOMAIN}"]'
CAPACITY = f'device.capacity["{DOMAIN}"]'
TEXTS = ["", "a", "b", "a-b", "1.2.3", "40Gi", "numa0", "é"]
INTS = ["0", "1", "-1", "2", "7", "9223372036854775807"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
EQUALITIES = ["==", "!="]

_MAKE = {
    "text": lambda draw: DeviceAttribute(string=draw(st.sampled_from(TEXTS))),
    "number": lambda draw: DeviceAttribute(int_=draw(st.sampled_from([-1, 0, 1, 2, 7, 2**63 - 1]))),
    "flag": lambda draw: DeviceAttribute(bool_=draw(st.booleans())),
    "release": lambda draw: DeviceAttribute(version=draw(st.sampled_from(["1.2.3", "1.2.3-rc.1", "2.0.0"]))),
    "texts": lambda draw: DeviceAttribute(strings=tuple(draw(st.lists(st.sampled_from(TEXTS), max_size=3)))),
    "numbers": lambda draw: DeviceAttribute(ints=tuple(draw(st.lists(st.integers(-1, 7), max_size=3)))),
}


@st.composite
def devices(draw: DrawFn) -> Device:
    """A device that may lack any attribute, or have one of another type under its name."""
    names = list(_MAKE)
    attributes = {}
    for name in names:
        kind = draw(st.sampled_from([name, name, name, *names, ""]))
        if kind:
            attributes[name] = _MAKE[kind](draw)
    capacity = {}
    if draw(st.booleans()) or draw(st.booleans()):
        capacity["memory"] = DeviceCapacity(value=parse_quantity(draw(st.sampled_from(["40Gi", "1", "500m", "0"]))))
    multiple = draw(st.sampled_from([None, True, False]))
    return Device(name="d", attributes=attributes, capacity=capacity, allow_multiple_allocations=multiple)


class _Writer:
    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.variables: list[str] = []

    def pick(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def write(self, kind: str, depth: int) -> str:
        made: str = getattr(self, f"{kind}_{self.pick(SHAPES[kind] if depth > 0 else LEAVES[kind])}")(depth - 1)
        return made

    def comparison(self, left: str, operators: list[str], right: str) -> str:
        return f"{left} {self.pick(operators)} {right}"

    # bool

    def bool_read(self, _depth: int) -> str:
        return f"{ATTRIBUTES}.flag"

    def bool_literal(self, _depth: int) -> str:
        return self.pick(["true", "false"])

    def bool_shared(self, _depth: int) -> str:
        return "device.allowMultipleAllocations"

    def bool_has(self, _depth: int) -> str:
        name = self.pick([*_MAKE, "nope"])
        return self.pick([f"has({ATTRIBUTES}.{name})", f'"{name}" in {ATTRIBUTES}'])

    def bool_and(self, depth: int) -> str:
        terms = [self.write("bool", depth) for _ in range(self.draw(st.integers(2, 3)))]
        return f"({self.pick([' && ', ' || ']).join(terms)})"

    def bool_not(self, depth: int) -> str:
        return f"!({self.write('bool', depth)})"

    def bool_choice(self, depth: int) -> str:
        return f"({self.write('bool', depth)} ? {self.write('bool', depth)} : {self.write('bool', depth)})"

    def bool_int(self, depth: int) -> str:
        return self.comparison(self.write("int", depth), COMPARISONS, self.write("int", depth))

    def bool_str(self, depth: int) -> str:
        return self.comparison(self.write("str", depth), COMPARISONS, self.write("str", depth))

    def bool_any(self, depth: int) -> str:
        kind = self.pick(["int", "str", "bool", "semver", "quantity"])
        return self.comparison(self.any_read(depth), EQUALITIES, f"({self.write(kind, depth)})")

    def any_read(self, _depth: int) -> str:
        return f"{ATTRIBUTES}.{self.pick([*_MAKE, 'nope'])}"

    def bool_quantity(self, depth: int) -> str:
        function = self.pick(["isGreaterThan", "isLessThan", "compareTo"])
        call = f"{self.write('quantity', depth)}.{function}({self.write('quantity', depth)})"
        return f"{call} {self.pick(COMPARISONS)} 0" if function == "compareTo" else call

    def bool_semver(self, depth: int) -> str:
        function = self.pick(["isGreaterThan", "isLessThan"])
        return f"{self.write('semver', depth)}.{function}({self.write('semver', depth)})"

    def bool_text(self, depth: int) -> str:
        function = self.pick(["startsWith", "endsWith", "contains", "matches"])
        part = self.pick(['"a"', '"1"', '"^a.*b$"', '""'])
        return f"{self.write('str', depth)}.{function}({part})"

    def bool_in(self, depth: int) -> str:
        kind = self.pick(["int", "str"])
        if kind == "str" and self.draw(st.booleans()):
            literal = self.pick(['["a", "b"]', "[1, 2]", '["a"]'])
            return f"{self.any_read(depth)} in {literal}"
        items = self.pick([f"{ATTRIBUTES}.texts", f"{ATTRIBUTES}.numbers", f"[{self.write(kind, depth)}]"])
        return f"{self.write(kind, depth)} in {items}"

    def bool_loop(self, depth: int) -> str:
        macro = self.pick(["all", "exists", "exists_one"])
        return self.loop(macro, depth)

    def bool_includes(self, depth: int) -> str:
        return f"{self.any_read(depth)}.includes({self.write(self.pick(['int', 'str']), depth)})"

    def bool_size(self, depth: int) -> str:
        return f"{self.loop(self.pick(['filter', 'map']), depth)}.size() {self.pick(COMPARISONS)} 1"

    def loop(self, macro: str, depth: int) -> str:
        kind = self.pick(["str", "int"])
        name = f"x{len(self.variables)}"
        literal = f"[{self.write(kind, depth)}, {self.write(kind, depth)}]"
        items = self.pick([f"{ATTRIBUTES}.texts", f"{ATTRIBUTES}.numbers", literal, f"{ATTRIBUTES}.text"])
        self.variables.append(name)
        body = self.write("bool", depth)
        if self.draw(st.booleans()):
            body = f"{name} {self.pick(EQUALITIES)} {self.write(kind, 0)}"
        self.variables.pop()
        return f"{items}.{macro}({name}, {body})"

    # int

    def int_read(self, _depth: int) -> str:
        return f"{ATTRIBUTES}.number"

    def int_literal(self, _depth: int) -> str:
        return self.pick(INTS)

    def int_sum(self, depth: int) -> str:
        return f"({self.write('int', depth)} {self.pick(['+', '-', '*', '/', '%'])} {self.write('int', depth)})"

    def int_size(self, depth: int) -> str:
        return self.pick([f"size({self.write('str', depth)})", f"{ATTRIBUTES}.texts.size()"])

    def int_quantity(self, depth: int) -> str:
        return f"{self.write('quantity', depth)}.asInteger()"

    def int_semver(self, depth: int) -> str:
        return f"{self.write('semver', depth)}.major()"

    def int_of(self, depth: int) -> str:
        return f"int({self.write('str', depth)})"

    def int_choice(self, depth: int) -> str:
        return f"({self.write('bool', depth)} ? {self.write('int', depth)} : {self.write('int', depth)})"

    # str

    def str_read(self, _depth: int) -> str:
        return self.pick([f"{ATTRIBUTES}.text", "device.driver", f'{ATTRIBUTES}["text"]'])

    def str_literal(self, _depth: int) -> str:
        return f'"{self.pick(TEXTS)}"'

    def str_plus(self, depth: int) -> str:
        return f"({self.write('str', depth)} + {self.write('str', depth)})"

    def str_call(self, depth: int) -> str:
        call = self.pick(["lowerAscii()", "trim()", 'replace("a", "b")', "substring(1)", "charAt(0)", "upperAscii()"])
        return f"{self.write('str', depth)}.{call}"

    def str_of(self, depth: int) -> str:
        return f"string({self.write(self.pick(['int', 'bool']), depth)})"

    def str_item(self, depth: int) -> str:
        return f"{ATTRIBUTES}.texts[{self.write('int', depth)}]"

    # the rest

    def quantity_read(self, _depth: int) -> str:
        return f"{CAPACITY}.memory"

    def quantity_literal(self, _depth: int) -> str:
        text = self.pick(["40Gi", "1", "500m", "1e3"])
        return f'quantity("{text}")'

    def quantity_sum(self, depth: int) -> str:
        return f"{self.write('quantity', depth)}.{self.pick(['add', 'sub'])}({self.write('quantity', depth)})"

    def quantity_of(self, depth: int) -> str:
        return f"quantity({self.write('str', depth)})"

    def semver_read(self, _depth: int) -> str:
        return f"{ATTRIBUTES}.release"

    def semver_literal(self, _depth: int) -> str:
        text = self.pick(["1.2.3", "2.0.0-a", "0.1.0"])
        return f'semver("{text}")'

    def semver_of(self, depth: int) -> str:
        return f"semver({self.write('str', depth)})"


LEAVES = {
    "bool": ["read", "literal", "shared", "has"],
    "int": ["read", "literal"],
    "str": ["read", "literal"],
    "quantity": ["read", "literal"],
    "semver": ["read", "literal"],
}
SHAPES = {
    kind: sorted(
        name.removeprefix(f"{kind}_") for name in vars(_Writer) if name.startswith(f"{kind}_") and name not in LEAVES
    )
    for kind in LEAVES
}


@st.composite
def _selectors(draw: DrawFn, depth: int) -> str:
    return _Writer(draw).write("bool", depth)


def selectors(depth: int = 3) -> SearchStrategy[str]:
    """Expressions that are selectors by their form; a few do not compile."""
    return _selectors(depth)
