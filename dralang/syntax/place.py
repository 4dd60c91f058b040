"""The place of a syntax fault, with the questions that its messages ask."""

from typing import Final

from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.brackets import CLOSERS, OPENERS
from dralang.syntax.characters import printable
from dralang.syntax.tokens import Token

_NO_TOKEN: Final = Token("$END", "", Span(SourceFile("", ""), 0, 0))  # stands before the first token


class Place:
    """A token that does not fit, and its neighbours.

    Attributes:
        tokens: of one item, ``$END`` last; those before ``index`` have the types that the parser gave them.
        expected: the terminals that the parser would have taken.
        start: the number of the first token of the statement.
    """

    __slots__ = ("expected", "index", "start", "tokens")

    def __init__(self, tokens: list[Token], index: int, expected: frozenset[str], start: int) -> None:
        self.tokens = tokens
        self.index = index
        self.expected = expected
        self.start = start

    @property
    def found(self) -> Token:
        """What does not fit."""
        return self.tokens[self.index]

    @property
    def before(self) -> Token | None:
        """What stands before it in the item."""
        return self.tokens[self.index - 1] if self.index > 0 else None

    @property
    def first(self) -> Token:
        """The first token of the statement."""
        return self.tokens[self.start]

    @property
    def at_statement(self) -> bool:
        """Whether a statement of a scenario could begin here."""
        return "SETTLE" in self.expected

    @property
    def at_item(self) -> bool:
        """Whether an item of a file could begin here."""
        return "SCENARIO" in self.expected

    @property
    def in_block(self) -> bool:
        """Whether the statement is an entry of a declaration's block, not a statement of a scenario or an item."""
        return self._opener() is not None and self.block_kind not in ("scenario", "fuzz", "fixture", "")

    @property
    def end_of_before(self) -> Span:
        """An empty span after the token before: where something is missing."""
        before = self.before
        span = self.found.span
        return span if before is None else Span(span.source, before.span.end, before.span.end)

    @property
    def span_of_found(self) -> Span:
        """The token itself; of a newline or end the place before it."""
        return self.end_of_before if self.found.type in ("NL", "$END") else self.found.span

    def ahead(self, distance: int = 1) -> Token:
        """A token after the one that does not fit; the last one stands for all that are not there."""
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    def back(self, distance: int) -> Token:
        """A token before the one that does not fit (1 is the next to it); one of type ``$END`` if there is none."""
        number = self.index - distance
        return self.tokens[number] if number >= 0 else _NO_TOKEN

    @property
    def words(self) -> list[str]:
        """The texts of the statement up to the fault."""
        return [token.text for token in self.tokens[self.start : self.index]]

    def rest(self, index: int) -> str:
        """What the author wrote from a token to the end of its statement, its block or its line."""
        last = index
        depth = 0
        for number in range(index, len(self.tokens)):
            token = self.tokens[number]
            depth += (token.type in OPENERS) - (token.type in CLOSERS)
            if token.type in ("NL", "$END", "LBRACE", "SEMICOLON") or depth < 0:
                break
            last = number
        first = self.tokens[index].span
        return printable(first.to(self.tokens[last].span).text.split("\n")[0])

    @property
    def block_kind(self) -> str:
        """The keyword of the block around the statement; empty at the top level, `map` for a field's block."""
        opener = self._opener()
        if opener is None:
            return ""
        # The head of the block is its own statement: back to its start.
        index = opener
        depth = 0
        while index > 0:
            kind = self.tokens[index - 1].type
            if kind in CLOSERS:
                depth += 1
            elif kind in OPENERS:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and (kind == "NL" or kind == "COMMA"):
                break
            index -= 1
        head = self.tokens[index]
        if head.text in ("publish", "init", "set", "create"):
            head = self.tokens[index + 1]
        if head.text in ("at", "after", "repeat", "maybe", "any"):
            return "scenario"
        return "map" if self.tokens[index + 1].type in ("COLON", "LBRACE") else head.text

    def _opener(self) -> int | None:
        """The number of the innermost open `{` before the statement."""
        depth = 0
        for index in range(self.start - 1, -1, -1):
            kind = self.tokens[index].type
            if kind in CLOSERS:
                depth += 1
            elif kind in OPENERS:
                if depth == 0:
                    return index if kind == "LBRACE" else None
                depth -= 1
        return None


def spoken_token(token: Token) -> str:
    """What was found, for a message."""
    if token.type == "NL":
        return "end of the line"
    if token.type == "$END":
        return "end of the file"
    if token.type == "CEL":
        return "CEL expression"
    if token.quoted:
        return f'text `"{printable(token.text)}"`'
    return f"`{printable(token.text)}`"
