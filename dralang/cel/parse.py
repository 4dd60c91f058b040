"""Text to tree: cel-python's grammar drives, the tree is built while it parses.

Source: cel-go parser/parser.go, of which the order of errors and the places of nodes come.
"""

import re
import threading
from typing import Any, Final

import lark
from lark import Token
from lark.exceptions import UnexpectedInput

from dralang.cel import grammar
from dralang.cel.depth import RecursionLimitError, walking_depth
from dralang.cel.issues import Issues
from dralang.cel.literals import LiteralError, bytes_value, double_value, int_value, string_value, uint_value
from dralang.cel.macros import MacroError, global_macro, member_macro
from dralang.cel.syntaxerrors import MAX_DEPTH, follow, report_syntax_errors
from dralang.cel.tree import Call, Entry, Ident, ListLiteral, Literal, MapLiteral, Message, Node, Select

MAX_CODE_POINTS: Final = 100_000
_RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)
_OPERATORS: Final = {"in": "@in", "&&": "_&&_", "||": "_||_"} | {
    operator: f"_{operator}_" for operator in ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")
}
_WORDS: Final = {"true": True, "false": False, "null": None}
# Every level of nesting needs one of these.
_NESTING: Final = re.compile(r"[(\[{.<>=+\-*/%?!]|\bin\b")


class _Missing(Node):
    """Stands where an error left nothing."""

    __slots__ = ()


class _Builder:
    """The callbacks of the grammar: one per rule, named like it, with the parts of the rule."""

    def __init__(self) -> None:
        self.text = ""
        self.lists = True
        self.escapes = True
        self.issues = Issues("")
        self.unsigned: dict[int, tuple[Node, str]] = {}

    def begin(self, text: str, issues: Issues, *, lists: bool, escapes: bool) -> None:
        self.text = text
        self.issues = issues
        self.lists = lists
        self.escapes = escapes
        self.unsigned = {}

    def finish(self) -> None:
        for node, message in self.unsigned.values():
            self.issues.add(node.pos, message)

    def _error(self, pos: int, message: str) -> Node:
        self.issues.add(pos, message)
        return _Missing(pos)

    # Operators

    def ternary(self, parts: list[Any]) -> Node:
        condition, operator, yes, no = parts
        return Call(operator.start_pos, "_?_:_", [condition, yes, no])

    def logical(self, parts: list[Any]) -> Node:
        left, operator, right = parts
        function = _OPERATORS[operator]
        if type(left) is Call and left.function == function and left.target is None and not self._in_parentheses(left):
            left.args.append(right)
            return left
        return Call(operator.start_pos, function, [left, right])

    def _in_parentheses(self, _node: Node) -> bool:
        # `(a && b) && c` and `a && b && c` are the same to everything that looks at them.
        return False

    def binary(self, parts: list[Any]) -> Node:
        left, operator, right = parts
        return Call(operator.start_pos, _OPERATORS[operator], [left, right])

    def negation(self, parts: list[Any]) -> Node:
        member: Node = parts[-1]
        operator: Token = parts[0]
        count = len(parts) - 1
        if operator == "-" and count == 1 and self._sign_of_literal(operator, member):
            return member
        if count % 2 == 0:
            return member
        return Call(operator.start_pos or 0, "-_" if operator == "-" else "!_", [member])

    def _sign_of_literal(self, sign: Token, member: Node) -> bool:
        """Give the sign to the number that the member begins with, if it does."""
        first = member
        while not isinstance(first, Literal):
            if isinstance(first, Select):
                first = first.operand
            elif isinstance(first, Call) and (first.target is not None or first.function in {"_[_]", "_[?_]", "_?._"}):
                first = first.operands()[0]
            else:
                return False
        start = sign.start_pos or 0
        if not first.number or self.text[start + 1 : first.pos].strip("\t\n\f\r "):
            return False
        self.unsigned.pop(id(first), None)
        first.pos = start
        try:
            if isinstance(first.value, float):
                first.value = double_value(first.number, negative=True)
            else:
                first.value = int_value(first.number, negative=True)
        except LiteralError as problem:
            self.unsigned[id(first)] = (first, str(problem))
        return True

    # Members

    def member_dot(self, parts: list[Any]) -> Node:
        operand, dot, name = parts[0], parts[1], parts[-1]
        field = str(name)
        if name.type == "ESCAPED_IDENT":
            field = field[1:-1] if self.escapes else ""
            if not self.escapes:
                self.issues.add(name.start_pos, "unsupported syntax: '`'")
        if len(parts) == 4:
            return Call(dot.start_pos, "_?._", [operand, Literal(name.start_pos, field)])
        return Select(dot.start_pos, operand, field)

    def member_dot_arg(self, parts: list[Any]) -> Node:
        target, _, name, opening = parts[:4]
        args: list[Node] = parts[4] if len(parts) > 4 else []
        macro = member_macro(str(name), len(args), lists=self.lists)
        if macro is not None:
            try:
                expanded = macro(opening.start_pos, target, args)
            except MacroError as problem:
                return self._error(problem.pos, problem.message)
            if expanded is not None:
                return expanded
        return Call(opening.start_pos, str(name), args, target)

    def member_index(self, parts: list[Any]) -> Node:
        return Call(parts[1].start_pos, "_[?_]" if len(parts) == 4 else "_[_]", [parts[0], parts[-1]])

    def member_object(self, parts: list[Any]) -> Node:
        names: list[str] = []
        node: Node = parts[0]
        while isinstance(node, Select) and not node.test:
            names.append(node.field)
            node = node.operand
        name = node.name if isinstance(node, Ident) else ""
        return Message(parts[1].start_pos, ".".join([name, *reversed(names)]))

    # Primaries

    def ident(self, parts: list[Any]) -> Node:
        name = parts[-1]
        if name in _RESERVED:
            return self._error(parts[0].start_pos, f"reserved identifier: {name}")
        return Ident(name.start_pos, str(name) if len(parts) == 1 else f".{name}")

    def ident_arg(self, parts: list[Any]) -> Node:
        dot = parts[0].type == "DOT"
        name, opening = parts[1:3] if dot else parts[:2]
        args: list[Node] = parts[-1] if isinstance(parts[-1], list) else []
        if name in _RESERVED:
            return self._error(parts[0].start_pos, f"reserved identifier: {name}")
        macro = None if dot else global_macro(str(name), len(args))
        if macro is not None:
            try:
                expanded = macro(opening.start_pos, None, args)
            except MacroError as problem:
                return self._error(problem.pos, problem.message)
            if expanded is not None:
                return expanded
        return Call(opening.start_pos, f".{name}" if dot else str(name), args)

    def paren_expr(self, parts: list[Any]) -> Node:
        node: Node = parts[0]
        if type(node) is Literal:
            # Its sign is settled: `-(1)` is a negation.
            node.number = ""
        return node

    def exprlist(self, parts: list[Any]) -> list[Node]:
        return self._grow(parts)

    def listinits(self, parts: list[Any]) -> list[Any]:
        return self._grow(parts)

    mapinits = listinits
    fieldinits = listinits

    def _grow(self, parts: list[Any]) -> list[Any]:
        if len(parts) == 1:
            return parts
        items: list[Any] = parts[0]
        items.append(parts[1])
        return items

    def optexpr(self, parts: list[Any]) -> tuple[bool, Node]:
        return len(parts) == 2, parts[-1]

    def fieldinit(self, parts: list[Any]) -> None:
        for part in parts[:2]:
            if isinstance(part, Token) and part.type == "ESCAPED_IDENT" and not self.escapes:
                self.issues.add(part.start_pos or 0, "unsupported syntax: '`'")

    def mapinit(self, parts: list[Any]) -> Entry:
        (optional, key), _, value = parts
        return Entry(key, value, optional=optional)

    def list_lit(self, parts: list[Any]) -> Node:
        items: list[tuple[bool, Node]] = parts[1] if len(parts) > 1 else []
        optionals = frozenset(index for index, (optional, _) in enumerate(items) if optional)
        return ListLiteral(parts[0].start_pos, [node for _, node in items], optionals)

    def map_lit(self, parts: list[Any]) -> Node:
        return MapLiteral(parts[0].start_pos, parts[1] if len(parts) > 1 else [])

    def literal(self, parts: list[Any]) -> Node:
        token: Token = parts[0]
        pos = token.start_pos or 0
        kind = token.type
        try:
            if kind == "STRING_LIT":
                return Literal(pos, string_value(token))
            if kind == "INT_LIT":
                return Literal(pos, int_value(token), str(token))
            if kind == "WORD_LIT":
                return Literal(pos, _WORDS[token])
            if kind == "FLOAT_LIT":
                return Literal(pos, double_value(token), str(token))
            if kind == "UINT_LIT":
                return Literal(pos, uint_value(token))
            return Literal(pos, bytes_value(token))
        except LiteralError as problem:
            if kind in {"INT_LIT", "FLOAT_LIT"}:
                # A sign may still make it fit.
                node = Literal(pos, 0 if kind == "INT_LIT" else 0.0, str(token))
                self.unsigned[id(node)] = (node, str(problem))
                return node
            return self._error(pos, str(problem))


class _Parser:
    """The one parser of the process, made when the first expression needs it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.builder = _Builder()
        self.lark: lark.Lark | None = None

    def parse(self, text: str, issues: Issues, *, lists: bool, escapes: bool) -> Node | None:
        with self.lock:
            if self.lark is None:
                self.lark = grammar.build(self.builder, grammar.cache_folder())
            self.builder.begin(text, issues, lists=lists, escapes=escapes)
            try:
                tree: Any = self.lark.parse(text)
            except UnexpectedInput:
                return None
            self.builder.finish()
            return tree  # type: ignore[no-any-return]


_PARSER = _Parser()


def parse(text: str, *, lists: bool = True, escapes: bool = True) -> Node:
    """The tree of an expression.

    Args:
        text: the expression.
        lists: whether the macros of the list library exist.
        escapes: whether names behind a dot may stand in backticks.

    Raises:
        CompileError: syntax errors, wrong literals, wrong macro arguments, too long or too deep.
    """
    issues = Issues(text)
    if len(text) > MAX_CODE_POINTS:
        issues.add(-1, f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_CODE_POINTS}")
        issues.raise_if_any()
    tree = _PARSER.parse(text, issues, lists=lists, escapes=escapes)
    if tree is None:
        issues = Issues(text)
        report_syntax_errors(text, issues)
    elif len(_NESTING.findall(text)) >= MAX_DEPTH:
        _check_depth(text, tree, issues)
    issues.raise_if_any()
    assert tree is not None
    return tree


def _check_depth(text: str, tree: Node, issues: Issues) -> None:
    """Report what Kubernetes does not parse because it is nested too deep, once when parsing, once when walking."""
    try:
        follow(text, Issues(text))
    except RecursionLimitError as problem:
        issues.add(-1, str(problem))
        return
    if walking_depth(tree) > MAX_DEPTH:
        issues.add(-1, "max recursion depth exceeded")
