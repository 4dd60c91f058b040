"""The states of the real parser: what may follow where.

ANTLR's error messages and its recovery ask, of the state in which the parser is, which tokens may come next. So the
grammar is built here as such states, in the way ANTLR builds them (loops with entry and way back, and so on).

Source: cel-go parser/gen/CEL.g4; ANTLR 4's construction of transition networks.
"""

from functools import cache
from typing import Final, Literal

from dralang.cel.lexer import EOF, TYPES

END: Final = 1 << 63
"""In a set of tokens: the rule may end here."""

Kind = Literal["basic", "block", "plus", "plus-back", "star", "star-body", "star-back", "stop"]


class State:
    """A state; ``moves`` are (token set, rule, target): one of the first two, or neither."""

    __slots__ = ("decision", "kind", "moves", "optional", "rule_name")

    def __init__(self, rule_name: str, kind: Kind = "basic") -> None:
        self.rule_name = rule_name
        self.kind: Kind = kind
        self.moves: list[tuple[int, str, int, State]] = []
        self.decision = ""
        self.optional = False

    def to(self, target: "State", tokens: int = 0, rule: str = "", precedence: int = 0) -> None:
        """Add a move."""
        self.moves.append((tokens, rule, precedence, target))


def tokens(*names: str) -> int:
    """A set of tokens."""
    mask = 0
    for name in names:
        mask |= 1 << TYPES[name]
    return mask


# A grammar, before it is states: a token set (int), a rule (text with optional level), or one of these.


class Block:
    """Alternatives; ``decision`` names the way to choose, empty: by one token."""

    def __init__(
        self, kind: str, alternatives: "list[list[int | tuple[str, int] | Block]]", decision: str = ""
    ) -> None:
        self.kind = kind
        self.alternatives = alternatives
        self.decision = decision


Part = int | tuple[str, int] | Block


def _optional(*parts: Part) -> Block:
    return Block("?", [list(parts)])


def _star(decision: str, *alternatives: list[Part]) -> Block:
    return Block("*", list(alternatives), decision)


def _rule(name: str, level: int = 0) -> tuple[str, int]:
    return (name, level)


_T = tokens
_EXPR: Final = _rule("expr")
_GRAMMAR: Final[dict[str, list[object]]] = {
    "start": [_EXPR, 1 << EOF],
    "expr": [_rule("conditionalOr"), _optional(_T("?"), _rule("conditionalOr"), _T(":"), _EXPR)],
    "conditionalOr": [_rule("conditionalAnd"), _star("", [_T("||"), _rule("conditionalAnd")])],
    "conditionalAnd": [_rule("relation"), _star("", [_T("&&"), _rule("relation")])],
    "relation": [
        _rule("calc"),
        _star("relation", [_T("==", "!=", "in", "<", "<=", ">=", ">"), _rule("relation", 2)]),
    ],
    "calc": [
        _rule("unary"),
        _star("calc", [_T("*", "/", "%"), _rule("calc", 3)], [_T("+", "-"), _rule("calc", 2)]),
    ],
    "unary": [
        Block(
            "|",
            [
                [_rule("member")],
                [Block("+", [[_T("!")]]), _rule("member")],
                [Block("+", [[_T("-")]], "minus"), _rule("member")],
            ],
            "unary",
        )
    ],
    "member": [
        _rule("primary"),
        _star(
            "member",
            [_T("."), _optional(_T("?")), _rule("escapeIdent")],
            [_T("."), _T("IDENTIFIER"), _T("("), _optional(_rule("exprList")), _T(")")],
            [_T("["), _optional(_T("?")), _EXPR, _T("]")],
        ),
    ],
    "primary": [
        Block(
            "|",
            [
                [_optional(_T(".")), _T("IDENTIFIER")],
                [_optional(_T(".")), _T("IDENTIFIER"), _T("("), _optional(_rule("exprList")), _T(")")],
                [_T("("), _EXPR, _T(")")],
                [_T("["), _optional(_rule("listInit")), _optional(_T(",")), _T("]")],
                [_T("{"), _optional(_rule("mapInitializerList")), _optional(_T(",")), _T("}")],
                [
                    _optional(_T(".")),
                    _T("IDENTIFIER"),
                    _star("", [_T("."), _T("IDENTIFIER")]),
                    _T("{"),
                    _optional(_rule("fieldInitializerList")),
                    _optional(_T(",")),
                    _T("}"),
                ],
                [_rule("literal")],
            ],
            "primary",
        )
    ],
    "exprList": [_EXPR, _star("", [_T(","), _EXPR])],
    "listInit": [_rule("optExpr"), _star("more", [_T(","), _rule("optExpr")])],
    "fieldInitializerList": [
        _rule("optField"),
        _T(":"),
        _EXPR,
        _star("more", [_T(","), _rule("optField"), _T(":"), _EXPR]),
    ],
    "optField": [_optional(_T("?")), _rule("escapeIdent")],
    "mapInitializerList": [
        _rule("optExpr"),
        _T(":"),
        _EXPR,
        _star("more", [_T(","), _rule("optExpr"), _T(":"), _EXPR]),
    ],
    "escapeIdent": [Block("|", [[_T("IDENTIFIER")], [_T("ESC_IDENTIFIER")]])],
    "optExpr": [_optional(_T("?")), _EXPR],
    "literal": [
        Block(
            "|",
            [
                [_optional(_T("-")), _T("NUM_INT")],
                [_T("NUM_UINT")],
                [_optional(_T("-")), _T("NUM_FLOAT")],
                [_T("STRING")],
                [_T("BYTES")],
                [_T("true")],
                [_T("false")],
                [_T("null")],
            ],
            "literal",
        )
    ],
}
LEVELS: Final = {"relation": (1,), "calc": (2, 1), "member": (3, 2, 1)}
"""Binding strengths of the alternatives of the rules that were left recursive."""


class _Builder:
    def __init__(self, rule_name: str) -> None:
        self.rule_name = rule_name

    def state(self, kind: Kind = "basic") -> State:
        return State(self.rule_name, kind)

    def sequence(self, parts: list[object], start: State, end: State) -> None:
        at = start
        for index, part in enumerate(parts):
            after = end if index == len(parts) - 1 else self.state()
            if isinstance(part, int):
                at.to(after, tokens=part)
            elif isinstance(part, tuple):
                at.to(after, rule=part[0], precedence=part[1])
            else:
                assert isinstance(part, Block)
                self.block(part, at, after)
            at = after

    def block(self, block: Block, before: State, after: State) -> None:
        if block.kind == "|":
            choice = self.choice("block", block, after)
            before.to(choice)
        elif block.kind == "?":
            choice = self.choice("block", block, after)
            choice.optional = True
            choice.to(after)
            before.to(choice)
        elif block.kind == "+":
            back = self.state("plus-back")
            choice = self.choice("plus", block, back)
            back.decision = block.decision or "repeat"
            back.to(choice)
            back.to(after)
            before.to(choice)
        else:
            entry = self.state("star")
            entry.decision = block.decision or "repeat"
            back = self.state("star-back")
            choice = self.choice("star-body", block, back)
            entry.to(choice)
            entry.to(after)
            back.to(entry)
            before.to(entry)

    def choice(self, kind: Kind, block: Block, end: State) -> State:
        choice = self.state(kind)
        if block.kind == "?" or len(block.alternatives) > 1:
            choice.decision = block.decision or "one-token"
            if kind == "star-body":
                choice.decision = f"{block.decision}-body"
        for parts in block.alternatives:
            start = self.state()
            choice.to(start)
            self.sequence(list(parts), start, end)
        return choice


@cache
def rules() -> dict[str, State]:
    """The first state of each rule."""
    found: dict[str, State] = {}
    for name, parts in _GRAMMAR.items():
        builder = _Builder(name)
        start = builder.state()
        builder.sequence(parts, start, builder.state("stop"))
        found[name] = start
    return found


_NEXT: dict[int, int] = {}


def next_tokens(state: State) -> int:
    """The tokens that may come next; with ``END`` if the rule may end before."""
    key = id(state)
    known = _NEXT.get(key)
    if known is None:
        known = _next(state, set())
        _NEXT[key] = known
    return known


def _next(state: State, seen: set[int]) -> int:
    if id(state) in seen:
        return 0
    seen.add(id(state))
    if state.kind == "stop":
        return END
    mask = 0
    for wanted, rule, _, target in state.moves:
        if wanted:
            mask |= wanted
        elif rule:
            inner = next_tokens(rules()[rule])
            mask |= inner & ~END
            if inner & END:
                mask |= _next(target, seen)
        else:
            mask |= _next(target, seen)
    return mask
