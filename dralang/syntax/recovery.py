"""Reading a faulty file as far as it goes.

1. Brackets that do not match are reported and mended, by indentation (``brackets``).
2. The tokens are cut into items at the newlines outside of all brackets, and each item is parsed alone.
3. At a fault the statement around it is reported and dropped, and the item parsed again.

The work is bounded: the number of errors, and the number of tokens that are parsed again.
"""

from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.brackets import (
    CLOSERS,
    ITEM_KEYWORDS,
    OPENERS,
    BracketFaults,
    balanced,
    find_bracket_faults,
)
from dralang.syntax.nodes import Item
from dralang.syntax.parser import SyntaxFaultError, parse_tokens
from dralang.syntax.syntax_errors import describe_fault
from dralang.syntax.tokens import Lexed, Token, lex

MAX_SYNTAX_ERRORS: Final = 50
_PARSED_AGAIN: Final = 500_000
_MENDABLE: Final = 1_000  # with more faulty brackets than that a text is not worth reading
_UNCLOSED: Final = "UNCLOSED"  # the type of a `(` or `[` that has no end: it fits nowhere and opens nothing
_OPEN_ENDED: Final = frozenset({"NL", "LBRACE", "COMMA"})
_LEXICAL_TYPES: Final = frozenset(
    {"NL", "$END", "CEL", "SEMICOLON", "COMMA", "COLON", "EQUAL", "RANGE", "POSSESSIVE", _UNCLOSED}
)


def recover(lexed: Lexed, log: DiagnosticLog) -> tuple[Item, ...]:
    """The items that have no fault, and of the others what is left without the faulty statements."""
    return _Recovery(lexed, log).run()


def fresh_types(tokens: list[Token]) -> None:
    """Take the parser's classification back: it is made anew in each parse."""
    for token in tokens:
        kind = token.type
        if kind not in _LEXICAL_TYPES and kind not in OPENERS and kind not in CLOSERS:
            token.type = "STRING" if token.quoted else "WORD"


class _Recovery:
    """One faulty file; private to this module."""

    def __init__(self, lexed: Lexed, log: DiagnosticLog) -> None:
        self.lexed = lexed
        self.log = log
        # Where something has been reported already: no second error follows from it.
        reported = [item for item in log.sorted() if item.span is not None and item.span.source is lexed.source]
        self.known = [item.span.start for item in reported if item.span is not None]
        # Texts and expressions without an end that have swallowed a `}`.
        self.swallowed = [
            item.span.start
            for item in reported
            if item.code == "DRA0102" and item.span is not None and "}" in item.span.text
        ]
        self.errors = 0
        self.budget = _PARSED_AGAIN

    def run(self) -> tuple[Item, ...]:
        fresh_types(self.lexed.tokens)
        tokens = self._mended()
        items: list[Item] = []
        for item_tokens in _split(tokens):
            if self.errors >= MAX_SYNTAX_ERRORS:
                break
            items.extend(self._item(item_tokens))
        return tuple(items)

    # ---- brackets --------------------------------------------------------------------------------------------------

    def _mended(self) -> list[Token]:
        tokens = self.lexed.tokens
        if balanced(tokens):
            return tokens
        faults = find_bracket_faults(tokens)
        if faults.count > _MENDABLE:
            self._report_brackets(tokens, faults)
            return []
        ignored: frozenset[int] = frozenset()
        if faults.unclosed:
            # The lexer has taken newlines away after a `(` or `[` that has no end; they are needed now.
            ignored = frozenset([tokens[index].span.start for index in faults.unclosed])
            tokens = lex(self.lexed.source, DiagnosticLog(), ignored).tokens
            for token in tokens:
                if token.span.start in ignored and token.type in OPENERS:
                    token.type = _UNCLOSED
            faults = find_bracket_faults(tokens)
        for index in faults.unclosed:
            tokens[index].type = _UNCLOSED
        self._report_brackets(tokens, faults)
        return _mend(tokens, faults)

    def _report_brackets(self, tokens: list[Token], faults: BracketFaults) -> None:
        if not self.lexed.complete:
            # What closes them may stand in the text that was not read.
            self.known += [token.span.start for token in tokens if token.type == _UNCLOSED]
            return
        ends: dict[int, list[Span]] = {}
        for fault in faults.missing:
            end = tokens[fault.before - 1].span.end
            if not any(tokens[fault.opener].span.start < place < end for place in self.swallowed):
                ends.setdefault(end, []).append(tokens[fault.opener].span)
        for end, openers in ends.items():
            self._report(
                Diagnostic(
                    code="DRA0111",
                    message="`}` is missing" if len(openers) == 1 else f"{len(openers)} `}}` are missing",
                    span=Span(self.lexed.source, end, end),
                    label="expected `}`",
                    expected=("`}`",),
                    related=tuple([Related("this `{` is not closed", opener) for opener in openers]),
                    help="close it, or check the indentation if another `}` was meant to",
                )
            )
        for index in faults.unopened:
            end = tokens[index - 1].span.end
            self._report(
                Diagnostic(
                    code="DRA0111",
                    message="`{` is missing",
                    span=Span(self.lexed.source, end, end),
                    label="expected `{`",
                    expected=("`{`",),
                    help=f"put it after `{tokens[index - 1].text}`",
                )
            )
        for first, last in faults.headless:
            self._report(
                Diagnostic(
                    code="DRA0111",
                    message="this block has no head",
                    span=tokens[first].span,
                    related=(Related("the block ends here", tokens[last].span),),
                    help='a block begins with a line such as `scenario "..." {` or `slice NAME {`',
                )
            )
        for index in faults.surplus:
            token = tokens[index]
            self._report(
                Diagnostic(code="DRA0112", message=f"`{token.text}` closes nothing", span=token.span, help="remove it")
            )
        for token in tokens:
            if token.type == _UNCLOSED:
                closing = "`)`" if token.text == "(" else "`]`"
                self._report(
                    Diagnostic(
                        code="DRA0111",
                        message=f"{closing} is missing: this `{token.text}` is not closed",
                        span=token.span,
                        expected=(closing,),
                    )
                )
                self.known.append(token.span.start)

    # ---- items -----------------------------------------------------------------------------------------------------

    def _item(self, tokens: list[Token]) -> tuple[Item, ...]:
        end = tokens[-1].span.end
        sentinel = Token("$END", "", Span(self.lexed.source, end, end))
        while tokens:
            fresh_types(tokens)
            try:
                return parse_tokens([*tokens, sentinel])
            except SyntaxFaultError as fault:
                start, stop = _statement(tokens, fault.index)
                everything = [*tokens, sentinel]
                if not self._is_known(tokens[start], everything[fault.index]):
                    self._report(describe_fault(everything, fault.index, fault.expected, start))
                self.budget -= len(tokens)
                if self.errors >= MAX_SYNTAX_ERRORS or self.budget < 0:
                    return ()
                if start == 0 and stop == len(tokens):
                    self._check_body(tokens, fault.index)
                tokens = _without(tokens, start, stop)
        return ()

    def _check_body(self, tokens: list[Token], fault: int) -> None:
        """The head of a scenario is faulty: look for faults in its statements; the scenario itself is lost."""
        body = next((index for index, token in enumerate(tokens) if token.type == "LBRACE"), -1)
        if body < fault or nearest(tokens[0].text, ("scenario", "fuzz")) is None:
            return
        span = tokens[0].span
        self._item([Token("WORD", "scenario", span), Token("STRING", "", span, quoted=True), *tokens[body:]])

    def _is_known(self, first: Token, fault: Token) -> bool:
        """Whether something in this statement, up to the fault, has been reported already."""
        end = fault.span.end
        if fault.type in ("NL", "$END"):
            line_end = self.lexed.source.text.find("\n", fault.span.start)
            end = len(self.lexed.source.text) if line_end < 0 else line_end
        return any(first.span.start <= place <= end for place in self.known)

    def _report(self, diagnostic: Diagnostic) -> None:
        if self.errors >= MAX_SYNTAX_ERRORS:
            return
        self.errors += 1
        self.log.add(diagnostic)
        if self.errors == MAX_SYNTAX_ERRORS:
            message = f"{MAX_SYNTAX_ERRORS} errors: further ones are not reported"
            way_out = "mend these first"
            self.log.add(
                Diagnostic(code="DRA0109", message=message, span=diagnostic.span, severity="note", help=way_out)
            )


def _mend(tokens: list[Token], faults: BracketFaults) -> list[Token]:
    """The tokens with the missing braces and without the surplus closing brackets."""
    inserted: dict[int, list[str]] = {}
    for fault in faults.missing:
        inserted.setdefault(fault.before, []).append("RBRACE")
    for index in faults.unopened:
        inserted.setdefault(index, []).append("LBRACE")
    dropped = {*faults.surplus, *[index for first, last in faults.headless for index in range(first, last + 1)]}
    mended: list[Token] = []
    parted = False
    for index, token in enumerate(tokens):
        for kind in inserted.get(index, ()):
            end = tokens[index - 1].span.end
            mended.append(Token(kind, "}" if kind == "RBRACE" else "{", Span(token.span.source, end, end)))
        # The lexer puts no newline before a `}` and none after `{` and `,`: where those go, it is needed.
        if index in dropped:
            parted = parted or token.type == "RBRACE"
            continue
        if inserted.get(index, [""])[-1] == "RBRACE":
            parted = True
        if parted and token.type not in ("NL", "$END", "RBRACE") and mended and mended[-1].type not in _OPEN_ENDED:
            mended.append(Token("NL", "\n", token.span))
        parted = False
        if token.type != "NL" or (mended and mended[-1].type not in ("NL", "LBRACE")):
            mended.append(token)
    return mended


def _without(tokens: list[Token], start: int, stop: int) -> list[Token]:
    """The tokens without a statement and one of the newlines around it."""
    if stop < len(tokens) and tokens[stop].type == "NL":
        stop += 1
    elif start > 0 and tokens[start - 1].type == "NL":
        start -= 1
    return tokens[:start] + tokens[stop:]


def _split(tokens: list[Token]) -> list[list[Token]]:
    """The items: cut at the newlines outside of all brackets; a `{` on a line of its own belongs to the line before."""
    items: list[list[Token]] = []
    current: list[Token] = []
    depth = 0
    for index, token in enumerate(tokens):
        kind = token.type
        if depth == 0 and current and _begins_item(token) and current[-1].type == "COMMA":
            # The lexer dropped the newline after the comma.
            items.append(current)
            current = []
        if depth == 0 and (kind == "$END" or (kind == "NL" and tokens[index + 1].type != "LBRACE")):
            if current:
                items.append(current)
            current = []
            continue
        if kind in OPENERS:
            depth += 1
        elif kind in CLOSERS:
            depth = max(0, depth - 1)
        current.append(token)
    return items


def _begins_item(token: Token) -> bool:
    """Whether a token is an item's keyword in the first column."""
    if token.type != "WORD" or token.text not in ITEM_KEYWORDS:
        return False
    start = token.span.start
    return start > 0 and token.span.source.text[start - 1] == "\n"


def _statement(tokens: list[Token], fault: int) -> tuple[int, int]:
    """The range of the statement around a token that does not fit: between newlines, or braces, of its depth."""
    place = min(fault, len(tokens) - 1)
    if fault > 0 and (fault == len(tokens) or tokens[fault].type in ("NL", "RBRACE")):
        # What is complete too early is the statement before.
        before = tokens[fault - 1].type
        if before not in ("LBRACE", "NL"):
            place = fault - 1
    start = _leftwards(tokens, place)
    stop = _rightwards(tokens, place)
    if stop + 1 < len(tokens) and tokens[stop].type == "NL" and tokens[stop + 1].type == "LBRACE":
        stop = _rightwards(tokens, stop + 1)
    if start >= stop:
        return place, place + 1
    return start, stop


def _leftwards(tokens: list[Token], place: int) -> int:
    index = place
    depth = 1 if tokens[place].type in CLOSERS else 0
    while index > 0:
        kind = tokens[index - 1].type
        if kind in CLOSERS:
            depth += 1
        elif kind in OPENERS:
            if depth == 0 and kind == "LBRACE":
                return index
            depth = max(0, depth - 1)
        elif kind == "NL" and depth == 0:
            return index
        index -= 1
    return index


def _rightwards(tokens: list[Token], place: int) -> int:
    index = place
    if tokens[place].type in CLOSERS:
        index += 1
    depth = 0
    while index < len(tokens):
        kind = tokens[index].type
        if kind in OPENERS:
            depth += 1
        elif kind in CLOSERS:
            if depth == 0 and kind == "RBRACE":
                return index
            depth = max(0, depth - 1)
        elif kind == "NL" and depth == 0:
            return index
        index += 1
    return index
