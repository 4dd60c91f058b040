"""Where the operands of logical operators stand in the text."""

from typing import Final

from dralang.cel.lexer import TYPES, Token, tokenize
from dralang.cel.tree import Call, Node

_OPENING: Final = frozenset({TYPES["("], TYPES["["], TYPES["{"]})
_CLOSING: Final = frozenset({TYPES[")"], TYPES["]"], TYPES["}"]})
_AND, _OR, _NOT, _QUESTION, _COLON = (TYPES[name] for name in ("&&", "||", "!", "?", ":"))
Tokens = list[Token]


class Part:
    """A node and the tokens of the text that it was read from, without enclosing parentheses."""

    __slots__ = ("node", "tokens")

    def __init__(self, node: Node, tokens: Tokens) -> None:
        self.node = node
        self.tokens = _bare(tokens)

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.tokens[0].start if self.tokens else 0

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.tokens[-1].end if self.tokens else 0

    def operands(self) -> "list[Part]":
        """The operands of ``&&``, ``||``, ``!`` and ``?:``; empty for anything else."""
        node = self.node
        if not isinstance(node, Call) or not self.tokens:
            return []
        if node.function in {"_&&_", "_||_"}:
            pieces = _split(self.tokens, _AND if node.function == "_&&_" else _OR)
        elif node.function == "_?_:_":
            pieces = _conditional(self.tokens)
        elif node.function == "!_" and self.tokens[0].type == _NOT:
            pieces = [self.tokens[1:]]
        else:
            return []
        if len(pieces) != len(node.args) or not all(pieces):
            return []
        return [Part(arg, piece) for arg, piece in zip(node.args, pieces, strict=True)]


def whole(root: Node, text: str) -> Part:
    """The whole expression."""
    return Part(root, tokenize(text)[0][:-1])


def _bare(tokens: Tokens) -> Tokens:
    """Without parentheses around all of it."""
    while len(tokens) > 2 and tokens[0].type == TYPES["("] and _closing(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _closing(tokens: Tokens) -> int:
    """Which token closes what the first one opens."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth == 0:
            return at
    return -1


def _split(tokens: Tokens, operator: int) -> list[Tokens]:
    """The pieces between operators outside of all brackets."""
    pieces: list[Tokens] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth == 0 and token.type == operator:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def _conditional(tokens: Tokens) -> list[Tokens]:
    """Condition, branch and other branch."""
    depth = waiting = 0
    question = colon = -1
    for at, token in enumerate(tokens):
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth:
            continue
        if token.type == _QUESTION:
            question = at if question < 0 else question
            waiting += 1
        elif token.type == _COLON:
            waiting -= 1
            if waiting == 0 and colon < 0:
                colon = at
    if question < 0 or colon < 0:
        return []
    return [tokens[:question], tokens[question + 1 : colon], tokens[colon + 1 :]]
