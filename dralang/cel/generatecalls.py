"""Code for what is one Python expression: lookups, operators, function calls, literals."""

from collections.abc import Callable
from typing import Final

from dralang.cel import types
from dralang.cel.check import TYPE_NAMES
from dralang.cel.code import Code, Unsupported, Writer, literal_code, python_kind
from dralang.cel.declarations import all_overloads
from dralang.cel.device import attribute_key, capacity_key
from dralang.cel.library import SINGLETONS, implementation_of, resolve
from dralang.cel.paths import Aliases, Path, path_of
from dralang.cel.strings import compile_regex
from dralang.cel.tree import Call, Ident, ListLiteral, Literal, MapLiteral, Node, Select, makes_map
from dralang.cel.values import CelError, TypeValue, Uint, Value

_SAME_TYPE: Final = frozenset({"str", "int", "bool", "bytes"})
_SYMBOLS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_==_": "==", "_!=_": "!="}
_ORDERINGS: Final = {"_<_": "less", "_<=_": "less_equal", "_>_": "greater", "_>=_": "greater_equal"}
_FLIPPED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_"}
_ARITHMETIC: Final = {"_+_": "add", "_-_": "subtract", "_*_": "multiply", "_/_": "divide", "_%_": "modulo"}
_ARITHMETIC_KINDS: Final = frozenset({"int", "float", "str", "bytes", "tuple"})
_SINGLETON_KINDS: Final = {
    "size": "int",
    "contains": "bool",
    "startsWith": "bool",
    "endsWith": "bool",
    "matches": "bool",
}
_COMPARE_METHODS: Final = {"isGreaterThan": ">", "isLessThan": "<"}
_STRING_TESTS: Final = {
    "contains": "({1} in {0})",
    "startsWith": "{0}.startswith({1})",
    "endsWith": "{0}.endswith({1})",
}
# Functions whose result is worth knowing at once when the arguments are.
_MAX_FOLDED: Final = 10_000


class CallGenerator:
    """Writes expressions; the statements come from the class that extends it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.constants: dict[str, Value] = {}
        self.aliases: Aliases = {}
        self.variables: dict[str, Code | None] = {}
        self.hidden: list[tuple[str, bool, Path | None, Code | None]] = []
        self.simple: dict[int, bool] = {}
        self.names = 0
        self.aborts = 0

    # To be provided

    def emit(self, node: Node) -> Code:
        """The code of a node."""
        raise NotImplementedError

    def is_simple(self, node: Node) -> bool:
        """Whether the code of a node needs no statements."""
        raise NotImplementedError

    # Names

    def name(self) -> str:
        """A fresh name."""
        self.names += 1
        return f"v{self.names}"

    def push(self, name: str, code: Code | None, path: Path | None) -> None:
        """A variable comes into being, as code or as another name of a part of the device."""
        known = name in self.variables
        self.hidden.append((name, known, self.aliases.get(name), self.variables.get(name)))
        self.variables[name] = code
        self.aliases[name] = path

    def pop(self, name: str) -> None:
        """A variable goes away."""
        for at in range(len(self.hidden) - 1, -1, -1):
            if self.hidden[at][0] == name:
                _, known, path, code = self.hidden.pop(at)
                if known:
                    self.variables[name] = code
                    self.aliases[name] = path
                else:
                    del self.variables[name]
                    del self.aliases[name]
                return

    def constant(self, value: Value, kind: str = "") -> Code:
        """A value that is known."""
        text = literal_code(value)
        if text is None:
            text = f"K{len(self.constants)}"
            self.constants[text] = value
        return Code(text, fallible=False, kind=kind or type(value).__name__, constant=value)

    def held(self, value: object) -> str:
        """The name under which generated code finds an object."""
        name = f"K{len(self.constants)}"
        self.constants[name] = value
        return name

    # What cannot fail

    def is_total(self, node: Node) -> bool:
        """Whether a node certainly gives a bool, without statements."""
        if isinstance(node, Literal):
            return type(node.value) is bool
        if isinstance(node, Select):
            if node.test:
                path = path_of(node.operand, self.aliases)
                return path is not None and path.field in {"attributes", "capacity"} and len(path.names) < 2
            return path_of(node, self.aliases) == Path("allowMultipleAllocations")
        if not isinstance(node, Call):
            return False
        function = node.function
        if function in {"_&&_", "_||_", "!_"}:
            return all(self.is_total(arg) for arg in node.args)
        if function in {"_==_", "_!=_"}:
            one, two = node.args
            return one.type is two.type and one.type.kind in {"string", "int", "bool"} and self._certain(one, two)
        if function == "@in":
            path = path_of(node.args[1], self.aliases)
            key = node.args[0]
            constant = isinstance(key, Literal) and type(key.value) is str
            return constant and path is not None and path.field in {"attributes", "capacity"} and len(path.names) < 2
        if function == "hasValue" and node.target is not None:
            return self.optional_path(node.target) is not None
        return False

    def _certain(self, *nodes: Node) -> bool:
        for node in nodes:
            if isinstance(node, Literal):
                continue
            path = path_of(node, self.aliases)
            if path is not None and path.field in {"driver", "allowMultipleAllocations"}:
                continue
            if isinstance(node, Ident):
                code = self.variables.get(node.name)
                if code is not None and not code.fallible and code.kind == python_kind(node.type):
                    continue
            return False
        return True

    def optional_path(self, node: Node) -> str | None:
        """The key that ``device.attributes["d"].?x`` looks up."""
        if not isinstance(node, Call) or node.function not in {"_?._", "_[?_]"}:
            return None
        path = path_of(node.args[0], self.aliases)
        key = node.args[1]
        if path is None or len(path.names) != 1 or not isinstance(key, Literal) or type(key.value) is not str:
            return None
        return _key(path.field, path.names[0], key.value)

    # Nodes

    def plain(self, node: Node) -> Code:
        """The code of a node that is one expression if its parts are."""
        if isinstance(node, Literal):
            return self.constant(node.value)
        path = path_of(node, self.aliases)
        if path is not None:
            return self._part(path)
        if isinstance(node, Ident):
            return self._ident(node)
        if isinstance(node, Select):
            return self._select(node)
        if isinstance(node, ListLiteral):
            return self._list(node)
        if isinstance(node, MapLiteral):
            return self._map(node)
        if isinstance(node, Call):
            return self._call(node)
        raise Unsupported

    def _part(self, path: Path) -> Code:
        if not path.field:
            return Code("device.whole", fallible=False, kind="dict")
        if path.field == "driver":
            return Code("F['driver']", fallible=False, kind="str")
        if path.field == "allowMultipleAllocations":
            return Code("F['multi']", fallible=False, kind="bool")
        if len(path.names) == 2:
            key = _key(path.field, *path.names)
            return Code(f"F[{key!r}]", kind="attribute" if path.field == "attributes" else "Quantity")
        whole = f"device.whole[{path.field!r}]"
        if not path.names:
            return Code(whole, fallible=False, kind="dict")
        return Code(f"{whole}.get({path.names[0]!r}, EMPTY)", fallible=False, kind="dict")

    def _ident(self, node: Ident) -> Code:
        name = node.name
        if name in self.variables:
            code = self.variables[name]
            if code is None:
                raise Unsupported
            return code
        return self.constant(TypeValue(TYPE_NAMES[name.removeprefix(".")].name))

    def _select(self, node: Select) -> Code:
        if node.type.kind == "type" and node.operand.type is types.ERROR:
            return self.constant(TypeValue(node.type.params[0].name))
        if node.test:
            path = path_of(node.operand, self.aliases)
            if path is not None and len(path.names) == 1:
                return Code(f"({_key(path.field, path.names[0], node.field)!r} in F)", fallible=False, kind="bool")
            if path is not None and path.field in {"attributes", "capacity"} and not path.names:
                return self.constant(value=True)
            return Code(f"has({self.emit(node.operand).text}, {node.field!r})", kind="bool")
        return Code(f"index({self.emit(node.operand).text}, {node.field!r})")

    def _list(self, node: ListLiteral) -> Code:
        if node.optionals:
            raise Unsupported
        codes = self.operands(node.elements)
        if all(code.is_constant for code in codes):
            return self.constant(tuple(code.constant for code in codes), "tuple")
        inner = ", ".join(code.text for code in codes)
        return Code(f"({inner},)", fallible=any(code.fallible for code in codes), kind="tuple")

    def _map(self, node: MapLiteral) -> Code:
        if any(entry.optional for entry in node.entries):
            raise Unsupported
        codes = self.operands(node.children())
        # Keys of these types only: of others Python's idea of equal keys differs.
        if any(code.kind not in {"str", "int"} for code in codes[::2]):
            raise Unsupported
        if all(code.is_constant for code in codes):
            pairs = zip(codes[::2], codes[1::2], strict=True)
            return self.constant({key.constant: value.constant for key, value in pairs}, "dict")
        inner = ", ".join(f"{key.text}: {value.text}" for key, value in zip(codes[::2], codes[1::2], strict=True))
        return Code(f"{{{inner}}}", fallible=any(code.fallible for code in codes), kind="dict")

    def operands(self, nodes: list[Node]) -> list[Code]:
        """The code of several nodes that are evaluated one after the other.

        Raises:
            Unsupported: one of them may end the evaluation, which it does even if one before it fails.
        """
        last = max((at for at, node in enumerate(nodes) if not self.is_simple(node)), default=-1)
        codes: list[Code] = []
        failing = False
        for at, node in enumerate(nodes):
            aborts = self.aborts
            code = self.emit(node)
            if failing and self.aborts > aborts:
                raise Unsupported
            failing = failing or code.fallible
            if at < last and code.fallible:
                # Statements of a later one follow: keep the order of evaluation.
                value = self.name()
                self.writer.line(f"{value} = {code.text}")
                code = Code(value, fallible=False, kind=code.kind)
            codes.append(code)
        return codes

    # Calls

    def _call(self, node: Call) -> Code:
        function = node.function
        if function in {"_[_]", "_[?_]", "_?._"}:
            return self._index(node)
        if function == "@in":
            return self._in(node)
        codes = self.operands(node.operands())
        folded = self._fold(node, codes)
        if folded is not None:
            return folded
        if function in {"_==_", "_!=_"}:
            return self._equality(node, codes)
        if function in _ORDERINGS:
            return self._ordering(node, codes)
        if function in _ARITHMETIC:
            return self._arithmetic(node, codes)
        if function == "!_":
            code = codes[0]
            if code.kind == "bool":
                return Code(f"(not {code.text})", fallible=code.fallible, kind="bool")
            return Code(f"logical_not({code.text})", kind="bool")
        if function == "dyn":
            return codes[0]
        special = self._method(node, codes)
        return self._function(node, codes) if special is None else special

    def _fold(self, node: Call, codes: list[Code]) -> Code | None:
        if not all(code.is_constant for code in codes) or node.function == "distinct":
            return None
        try:
            value = resolve(node.function, node.overloads)(*(code.constant for code in codes))
        except CelError as problem:
            return Code(f"fail({problem.message!r})")
        if isinstance(value, (str, bytes, tuple, dict)) and len(value) > _MAX_FOLDED:
            return None
        return self.constant(value)

    def _index(self, node: Call) -> Code:
        key = self.optional_path(node)
        if key is not None:
            return Code(f"(Optional(F[{key!r}]) if {key!r} in F else NONE)", fallible=False)
        name = "index" if node.function == "_[_]" else "optional_index"
        codes = self.operands(node.args)
        if codes[1].fallible and codes[0].kind not in {"attribute", "tuple", "dict"}:
            # If it is an optional without value, the index is not evaluated.
            raise Unsupported
        return Code(f"{name}({codes[0].text}, {codes[1].text})")

    def _in(self, node: Call) -> Code:
        item, container = node.args
        path = path_of(container, self.aliases)
        if path is not None and path.field in {"attributes", "capacity"} and len(path.names) < 2:
            constant = item.value if isinstance(item, Literal) else None
            if type(constant) is str:
                key = _key(path.field, path.names[0], constant) if path.names else f"{path.field[0].upper()}:{constant}"
                return Code(f"({key!r} in F)", fallible=False, kind="bool")
        if makes_map(container):
            raise Unsupported
        codes = self.operands(node.args)
        value, items = codes
        if items.is_constant and node.overloads == ("in_list",):
            return self._in_constants(value, items)
        return Code(f"contained({value.text}, {items.text})", kind="bool")

    def _in_constants(self, value: Code, items: Code) -> Code:
        constants = items.constant
        if not constants:
            return self.constant(value=False)
        if any(type(item) not in {str, int, bool, float, Uint} for item in constants):
            return Code(f"contained({value.text}, {items.text})", kind="bool")
        self.aborts += value.kind not in {"str", "int", "bool", "float"}
        kind = "str" if all(type(item) is str for item in constants) else ""
        kind = "int" if all(type(item) is int for item in constants) else kind
        if not kind:
            return Code(f"in_constants({value.text}, {items.text})", kind="bool")
        name = self.held(frozenset(constants))
        if value.kind == kind:
            return Code(f"({value.text} in {name})", fallible=value.fallible, kind="bool")
        temp = self.name()
        other = f"in_constants({temp}, {items.text})"
        text = f"({temp} in {name} if ({temp} := {value.text}).__class__ is {kind} else {other})"
        return Code(text, kind="bool")

    # Comparisons

    def _equality(self, node: Call, codes: list[Code]) -> Code:
        left, right = codes
        positive = node.function == "_==_"
        symbol = _SYMBOLS[node.function]
        fallible = left.fallible or right.fallible
        if left.kind == right.kind and left.kind in _SAME_TYPE:
            return Code(f"({left.text} {symbol} {right.text})", fallible=fallible, kind="bool")
        if left.kind == "Quantity" == right.kind and self._plain_quantity(node.args[1], right):
            return Code(f"({left.text}.nano {symbol} {right.text}.nano)", fallible=fallible, kind="bool")
        if left.kind == "attribute" and right.is_constant:
            text = self._attribute_equality(left, right, positive=positive)
            if text is not None:
                return Code(text, kind="bool")
        name = "equal" if positive else "not_equal"
        return Code(f"{name}({left.text}, {right.text})", kind="bool")

    @staticmethod
    def _plain_quantity(node: Node, code: Code) -> bool:
        return code.is_constant or not isinstance(node, Call) or node.function == "_[_]"

    def _attribute_equality(self, left: Code, right: Code, *, positive: bool) -> str | None:
        value = right.constant
        kind = type(value)
        temp = self.name()
        if kind is str:
            if positive:
                # A version refuses the comparison itself.
                return f"({left.text} == {right.text})"
            return f"(({temp} := {left.text}).__class__ is not str or {temp} != {right.text})"
        if kind is int:
            if positive:
                test = f"{temp} == {right.text}"
                return f"({test} if ({temp} := {left.text}).__class__ is int else equal({temp}, {right.text}))"
            return f"(({temp} := {left.text}).__class__ is not int or {temp} != {right.text})"
        if kind is bool:
            if positive:
                test = f"{temp} is {right.text}"
                return f"({test} if ({temp} := {left.text}).__class__ is bool else equal({temp}, {right.text}))"
            return f"({left.text} is not {right.text})"
        return None

    def _ordering(self, node: Call, codes: list[Code]) -> Code:
        function = node.function
        left, right = codes
        compared = self._compare_to(node, codes)
        if compared is not None:
            return compared
        if left.kind == right.kind and left.kind in {"int", "str"}:
            fallible = left.fallible or right.fallible
            return Code(f"({left.text} {_SYMBOLS[function]} {right.text})", fallible=fallible, kind="bool")
        kind = right.kind
        if left.kind == "attribute" and kind in {"int", "str"} and not right.fallible:
            temp = self.name()
            test = f"{temp} {_SYMBOLS[function]} {right.text}"
            other = f"{_ORDERINGS[function]}({temp}, {right.text})"
            return Code(f"({test} if ({temp} := {left.text}).__class__ is {kind} else {other})", kind="bool")
        return Code(f"{_ORDERINGS[function]}({left.text}, {right.text})", kind="bool")

    def _compare_to(self, node: Call, codes: list[Code]) -> Code | None:
        """``q.compareTo(p) >= 0`` without the detour through -1, 0 and 1."""
        call, zero = node.args
        if not codes[1].is_constant or type(codes[1].constant) is not int or codes[1].constant != 0:
            return None
        if not isinstance(call, Call) or call.overloads != ("quantity_compare_to",) or call.target is None:
            return None
        if not (self.is_simple(call) and isinstance(zero, Literal)):
            return None
        one, two = self.operands(call.operands())
        if one.kind != "Quantity" or two.kind != "Quantity":
            return None
        left, right = _nano(one), _nano(two)
        return Code(f"({left} {_SYMBOLS[node.function]} {right})", fallible=one.fallible or two.fallible, kind="bool")

    def _arithmetic(self, node: Call, codes: list[Code]) -> Code:
        function = node.function
        left, right = codes
        # Apart from times, both operands and the result have one type, or the operation fails.
        kind = next((code.kind for code in codes if code.kind in _ARITHMETIC_KINDS), "")
        if left.kind == right.kind == "int" and function in {"_+_", "_-_", "_*_"}:
            return Code(f"checked_int({left.text} {function[1]} {right.text})", kind="int")
        if left.kind == right.kind and function == "_+_" and left.kind in {"str", "bytes"}:
            return Code(f"({left.text} + {right.text})", fallible=left.fallible or right.fallible, kind=left.kind)
        return Code(f"{_ARITHMETIC[function]}({left.text}, {right.text})", kind=kind)

    # Functions

    def _method(self, node: Call, codes: list[Code]) -> Code | None:
        function = node.function
        if function in _STRING_TESTS and len(codes) == 2 and codes[1].kind == "str" and not codes[1].fallible:
            return self._string_test(_STRING_TESTS[function], codes)
        if function == "matches" and codes[1].is_constant and codes[0].kind in {"str", "attribute"}:
            regex = self.held(compile_regex(codes[1].constant).search)
            test = Code(f"{regex}({{0}}) is not None")
            return self._string_test("(" + test.text + ")", codes)
        if function == "distinct" and (codes[0].kind != "tuple" or codes[0].fallible):
            # Counting the cost of anything else ends the evaluation there.
            raise Unsupported
        if function in _COMPARE_METHODS and len(node.overloads) == 1:
            return self._comparing(node, codes)
        if function == "size" and codes[0].kind in {"str", "tuple", "bytes"}:
            return Code(f"len({codes[0].text})", fallible=codes[0].fallible, kind="int")
        if function == "hasValue" and node.target is not None:
            key = self.optional_path(node.target)
            if key is not None:
                return Code(f"({key!r} in F)", fallible=False, kind="bool")
        return None

    def _string_test(self, template: str, codes: list[Code]) -> Code:
        text = codes[0]
        if text.kind == "str":
            return Code(template.format(text.text, codes[1].text), fallible=text.fallible, kind="bool")
        temp = self.name()
        test = template.format(temp, codes[1].text)
        return Code(f"({test} if ({temp} := {text.text}).__class__ is str else unsuitable())", kind="bool")

    def _comparing(self, node: Call, codes: list[Code]) -> Code | None:
        one, two = codes
        symbol = _COMPARE_METHODS[node.function]
        if node.overloads[0].startswith("quantity") and one.kind == two.kind == "Quantity":
            fallible = one.fallible or two.fallible
            return Code(f"({_nano(one)} {symbol} {_nano(two)})", fallible=fallible, kind="bool")
        if not node.overloads[0].startswith("semver") or two.kind != "Semver" or two.fallible:
            return None
        key = self.held(two.constant.key) if two.is_constant else f"{two.text}.key"
        if one.kind == "Semver":
            return Code(f"({one.text}.key {symbol} {key})", fallible=one.fallible, kind="bool")
        temp = self.name()
        other = f"no_overload({node.function!r}, {temp}, {two.text})"
        test = f"{temp}.key {symbol} {key}"
        return Code(f"({test} if ({temp} := {one.text}).__class__ is Semver else {other})", kind="bool")

    def _function(self, node: Call, codes: list[Code]) -> Code:
        """Any function: called directly where the types of the arguments are certain."""
        kind = result_kind(node)
        arguments = ", ".join(code.text for code in codes)
        if node.function not in SINGLETONS and len(node.overloads) == 1:
            found = implementation_of(node.function, node.overloads[0])
            if found is not None:
                overload, call = found
                wanted = [python_kind(param) for param in overload.params]
                unsure = [at for at, code in enumerate(codes) if not _suits(wanted[at], code)]
                if not unsure:
                    return Code(f"{self.held(call)}({arguments})", kind=kind)
                if len(unsure) == 1 and wanted[unsure[0]] in {"str", "int", "bool", "Semver", "float", "bytes"}:
                    return self._guarded(node, codes, unsure[0], wanted[unsure[0]], call)
        return Code(f"{self.held(resolve(node.function, node.overloads))}({arguments})", kind=kind)

    def _guarded(self, node: Call, codes: list[Code], at: int, wanted: str, call: Callable[..., Value]) -> Code:
        """One argument is checked; those before it are evaluated before the check."""
        kind = result_kind(node)
        if any(code.fallible for code in codes[:at] + codes[at + 1 :]):
            arguments = ", ".join(code.text for code in codes)
            return Code(f"{self.held(resolve(node.function, node.overloads))}({arguments})", kind=kind)
        temp = self.name()
        texts = [temp if index == at else code.text for index, code in enumerate(codes)]
        arguments = ", ".join(texts)
        test = f"({temp} := {codes[at].text}).__class__ is {wanted}"
        other = f"no_overload({node.function!r}, {arguments})"
        if node.function in {"find", "findAll"} and codes[1].is_constant:
            other = "unsuitable()"
        return Code(f"({self.held(call)}({arguments}) if {test} else {other})", kind=kind)


def result_kind(node: Call) -> str:
    """The Python type of what a function returns, where its declaration leaves no choice.

    The type that the checker found is no proof: it may come from a use of a value of unknown type.
    """
    if node.function in SINGLETONS:
        return _SINGLETON_KINDS.get(node.function, "")
    known = all_overloads()[node.function]
    used = node.overloads if len(node.overloads) == 1 else tuple(known)
    kinds = {python_kind(known[name].result) for name in used}
    return kinds.pop() if len(kinds) == 1 else ""


def _suits(wanted: str, code: Code) -> bool:
    return bool(wanted) and wanted != "tuple" and code.kind == wanted


def _nano(code: Code) -> str:
    return repr(code.constant.nano) if code.is_constant else f"{code.text}.nano"


def _key(field: str, domain: str, identifier: str) -> str:
    return attribute_key(domain, identifier) if field == "attributes" else capacity_key(domain, identifier)
