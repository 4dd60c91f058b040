"""Which brackets are never closed, and which closing ones close nothing.

Where all brackets match there is nothing to find. Otherwise indentation says what the author meant, as it does for a
reader: an item keyword in the first column ends everything that is still open (unless the file does not indent), a `}`
at the start of a line closes the brace whose line is indented like it, and an open brace ends before the first line
that is not indented more than its own.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dralang.syntax.tokens import Token
from dralang.syntax.vocabulary import DECLARATIONS, KEYWORDS

OPENERS: Final = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
CLOSERS: Final = {closer: opener for opener, closer in OPENERS.items()}
ITEM_KEYWORDS: Final = frozenset(
    {
        *DECLARATIONS,
        "kubernetes",
        "gates",
        "quirks",
        "scheduler",
        "use",
        "fixture",
        "scenario",
        "fuzz",
        "always",
        "never",
    }
)
_NAMED_BLOCKS: Final = frozenset({*DECLARATIONS, "device", "container", "counters", "consumes"})
_NEVER_NESTED: Final = frozenset({"use", "fixture", "scenario", "fuzz"})


class Missing(Struct, frozen=True):
    """A `{` without its `}`, which belongs before the token ``before``."""

    opener: int
    before: int


class BracketFaults(Struct, frozen=True):
    """What is wrong with the brackets of a list of tokens, by token numbers."""

    missing: tuple[Missing, ...]
    unopened: tuple[int, ...]  # a `{` belongs before these tokens: line ends of heads
    headless: tuple[tuple[int, int], ...]  # first and last token of blocks whose head is lost
    surplus: tuple[int, ...]
    unclosed: tuple[int, ...]  # `(` and `[`

    @property
    def count(self) -> int:
        """How many faults there are."""
        found = (self.missing, self.unopened, self.headless, self.surplus, self.unclosed)
        return sum(map(len, found))


class _Open(Struct):
    """An open bracket, or the whole file.

    ``dedent`` is the first token of a line that is not indented more than the bracket's line. ``head`` is the end of a
    line in here after which lines are indented more although it opened nothing.
    """

    index: int
    type: str
    indent: int
    body_indent: int = -1
    dedent: int | None = None
    line_indent: int = -1
    head: int | None = None
    head_indent: int = -1


def balanced(tokens: Iterable[Token]) -> bool:
    """Whether every bracket has its counterpart, properly nested."""
    stack: list[str] = []
    for token in tokens:
        kind = token.type
        if kind in OPENERS:
            stack.append(kind)
        elif kind in CLOSERS and (not stack or stack.pop() != CLOSERS[kind]):
            return False
    return not stack


def find_bracket_faults(tokens: list[Token]) -> BracketFaults:
    """What is wrong with the brackets."""
    matcher = _Matcher(tokens)
    matcher.run()
    return BracketFaults(
        tuple(matcher.missing),
        tuple(matcher.unopened),
        tuple(matcher.headless),
        tuple(matcher.surplus),
        tuple(matcher.unclosed),
    )


def _indents(tokens: list[Token]) -> bool:
    """Whether the file indents: most blocks do not have their first line in the first column, where items stand."""
    text = tokens[-1].span.source.text
    flat = indented = 0
    for number in range(len(tokens) - 1):
        body = tokens[number + 1]
        if tokens[number].type != "LBRACE" or body.type in CLOSERS or body.type == "$END":
            continue
        start = body.span.start
        if start == 0 or text[start - 1] != "\n":
            indented += 1
        elif body.type != "WORD" or body.text not in ITEM_KEYWORDS:
            flat += 1
    return flat == 0 or flat < indented


class _Matcher:
    """One pass over the tokens; private to this module."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.indents = _indents(tokens)
        self.stack: list[_Open] = []
        self.file = _Open(-1, "", -1)
        self.line_first = 0  # the first token of the line
        self.missing: list[Missing] = []
        self.unopened: list[int] = []
        self.headless: list[tuple[int, int]] = []
        self.surplus: list[int] = []
        self.unclosed: list[int] = []
        self.orphan: int | None = None  # the first indented line outside of all brackets
        self.suspect: int | None = None  # a `}` that is indented more than the line of the item that it closed

    def run(self) -> None:
        line_start = 0
        last_end = -1
        indent = 0
        text = self.tokens[-1].span.source.text
        for index, token in enumerate(self.tokens):
            kind = token.type
            if kind == "NL":
                continue
            start = token.span.start
            # Only what lies between two tokens is looked at: a line may be very long.
            newline = text.rfind("\n", max(last_end, 0), start)
            first = last_end < 0 or newline >= 0
            last_end = token.span.end
            if first:
                self.line_first = index
                line_start = newline + 1
                prefix = text[line_start:start]
                indent = len(prefix.expandtabs(4).lstrip("\ufeff"))
                first = not prefix.strip("\ufeff \t\r\f")
            if first and kind not in CLOSERS:
                self._line(index, token, indent)
            elif not first and self.stack and self.stack[0].body_indent < 0:
                self.stack[0].body_indent = indent + 1  # its body begins on its own line
            if kind in OPENERS:
                self.stack.append(_Open(index, kind, indent))
            elif kind in CLOSERS:
                self._close(index, kind, indent if first else None)
        while self.stack:
            self._unclosed(self.stack.pop(), len(self.tokens) - 1)

    def _line(self, index: int, token: Token, indent: int) -> None:
        """A line begins: it may end what is open, or tell where that should have ended."""
        goes_on = index > 0 and self.tokens[index - 1].type not in ("NL", "LBRACE")
        if not goes_on:
            self._find_head(index, indent)
        if not self.stack:
            if indent == 0:
                self.suspect = self.orphan = None
            elif not goes_on and self.suspect is None and self.file.head is None and self.orphan is None:
                self.orphan = index
            return
        for entry in self.stack:
            if entry.body_indent < 0:
                entry.body_indent = indent
        outermost = self.stack[0]
        is_item = indent == 0 and token.type == "WORD" and token.text in ITEM_KEYWORDS
        ends_all = is_item and (self.indents or outermost.body_indent > 0 or token.text in _NEVER_NESTED)
        if ends_all and self.tokens[index + 1].type != "COLON":
            while self.stack:
                self._unclosed(self.stack.pop(), index)
            return
        for entry in reversed(self.stack):
            if entry.indent < indent:
                break
            if entry.dedent is None and (self.indents or entry.body_indent > entry.indent):
                entry.dedent = index

    def _find_head(self, index: int, indent: int) -> None:
        """Note the line before this one if this one is indented below it although it opened nothing."""
        level = self.stack[-1] if self.stack else self.file
        if level.head is not None and indent > level.head_indent:
            return
        if 0 <= level.line_indent < indent and self._follows_a_head(index):
            level.head = index - 1
            level.head_indent = level.line_indent
        else:
            level.head = None
            level.line_indent = indent

    def _follows_a_head(self, index: int) -> bool:
        """Whether the line before, without a blank one between, can be the head of a block."""
        if index < 2 or self.tokens[index - 1].type != "NL" or self.tokens[index - 2].type == "RBRACE":
            return False
        text = self.tokens[index].span.source.text
        return text.count("\n", self.tokens[index - 2].span.end, self.tokens[index].span.start) == 1

    def _close(self, index: int, kind: str, indent: int | None) -> None:
        opener = CLOSERS[kind]
        if kind != "RBRACE":
            # Only within the innermost braces: `(` and `[` never reach over them.
            inner = [entry.type for entry in self.stack]
            floor = len(inner) - inner[::-1].index("LBRACE") if "LBRACE" in inner else 0
            if opener not in inner[floor:]:
                self.surplus.append(index)
                return
            while (entry := self.stack.pop()).type != opener:
                self._unclosed(entry, index)
            return
        if self._opened_nowhere(index, indent):
            return
        while self.stack and self.stack[-1].type != "LBRACE" and any(e.type == "LBRACE" for e in self.stack):
            self._unclosed(self.stack.pop(), index)
        if not self.stack or self.stack[-1].type != "LBRACE":
            if indent == 0 and self.orphan is not None and self.suspect is None:
                self.headless.append((self.orphan, index))
                self.orphan = None
            elif self.suspect is not None:
                # That one closed too early, this one is the real end.
                self.surplus.append(self.suspect)
                self.suspect = None
            else:
                self.surplus.append(index)
            return
        if indent is not None and any(e.indent == indent and e.type == "LBRACE" for e in self.stack):
            while self.stack[-1].indent > indent:
                self._unclosed(self.stack.pop(), index)
            while self.stack[-1].type != "LBRACE":
                self._unclosed(self.stack.pop(), index)
        closed = self.stack.pop()
        if not self.stack:
            self.suspect = index if indent is not None and indent > closed.indent else None

    def _opened_nowhere(self, index: int, indent: int | None) -> bool:
        """Whether the `{` for this `}` was left out, at the end of a head or within this line; notes where."""
        level = self.stack[-1] if self.stack else self.file
        if indent is not None:
            if level.head is None or level.head_indent != indent or level.indent >= indent:
                return False
            self.unopened.append(level.head)
            level.head = None
            return True
        if level.index >= self.line_first or self.line_first + 3 >= index:
            return False
        first, second, third = self.tokens[self.line_first : self.line_first + 3]
        if first.type != "WORD" or second.type not in ("WORD", "STRING"):
            return False
        if third.type == "COLON" and first.text not in KEYWORDS:
            self.unopened.append(self.line_first + 1)  # `attributes model: "a100" }`
            return True
        is_body = third.type == "WORD" and third.text not in ("from", "is", "request")
        if first.text in _NAMED_BLOCKS and is_body:
            self.unopened.append(self.line_first + 2)  # `pod train claim gpu from one-gpu }`
            return True
        return False

    def _unclosed(self, entry: _Open, index: int) -> None:
        if entry.type != "LBRACE":
            self.unclosed.append(entry.index)
            return
        before = index if entry.dedent is None else entry.dedent
        if self.tokens[before - 1].type == "NL" and before - 1 > entry.index:
            before -= 1
        # INVARIANT: closings of inner braces come first; the list is in order of popping, inner before outer.
        if self.missing and self.missing[-1].opener > entry.index:
            before = max(before, self.missing[-1].before)
        self.missing.append(Missing(entry.index, before))
