"""The lexer: text to tokens, with the newlines that end something and nothing else.

A word is one token whatever it holds: ranges (``gpu-[0..3]``), substitutions (``p-${i}``), globs, units. Whether it is
a keyword is decided later, by what the parser can take (``parser.classify``). Newlines are decided here: none inside
``(...)`` and ``[...]``, none directly after ``{`` or ``,``, none before ``}``, none before a continuation word.

Every loop is linear in the text: an unterminated string ends at its line, a bracket or substitution inside a word is
bounded in length and matched without backtracking. What is wrong is reported and read as what was probably meant, so
that no second error follows from it.
"""

import re
from typing import Final

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.characters import FOREIGN_COMMENT, FOREIGN_STRING, printable, unexpected_character
from dralang.syntax.vocabulary import DECLARATIONS

MAX_NESTING: Final = 64
MAX_LEXICAL_ERRORS: Final = 50
CONTINUATIONS: Final = frozenset({"because", "across", "consuming", "with", "tagged", "xfail", "for"})

# Each alternative begins with a character of its own, or says that no other one fits: `a[${x}${x}...` without its
# bracket would otherwise be tried in 2**n ways.
_SUBSTITUTION = r'\$\{(?:"(?:[^"\\\n]|\\.){0,200}"|[^}"\n]){0,200}\}'
_BRACKET = rf"\[(?:{_SUBSTITUTION}|(?!{_SUBSTITUTION})[^\[\]\n]){{0,400}}\]"
_PART = (
    r"[A-Za-z0-9_/*]++|(?<=\d)%"
    r"|\.(?=[A-Za-z0-9_*$\[-])|-(?=[A-Za-z0-9_*$\[/.-])|\+(?=[A-Za-z0-9])"
    rf"|{_SUBSTITUTION}|{_BRACKET}"
)
_TOKEN = re.compile(
    r"[ \t\r\f]*(?:"
    rf"(?P<WORD>(?:[A-Za-z0-9_*]|{_SUBSTITUTION}|[+-](?=[0-9.$])|\.(?=[0-9]))(?:{_PART})*)"
    r"|(?P<NEWLINE>\n)"
    r'|(?P<STRING>"(?:[^"\\\n]++|\\[^\n])*")'
    r"|(?P<CEL>`[^`]*`)"
    r"|(?P<PUNCTUATION>\.\.|'s\b|[{}()\[\],:;=])"
    r"|(?P<COMMENT>\#[^\n]*)"
    r"|(?P<END>\Z)"
    r"|(?P<BAD>.))"
)
_PUNCTUATION: Final = {
    "{": "LBRACE",
    "}": "RBRACE",
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ":": "COLON",
    "=": "EQUAL",
    "..": "RANGE",
    "'s": "POSSESSIVE",
}
_NO_ENTRY: Final = frozenset({"COMMA", "LBRACE", "LPAR", "LSQB"})
_CLOSES: Final = {"}": "{", ")": "(", "]": "["}
_COLON_FOLLOWS = re.compile(r"[ \t]*:")
_LONE_RETURN = re.compile(r"\r(?!\n)")
# An item at the start of a line, or a last line that needs CEL after it: no CEL holds that, so the backtick that was to
# end it is missing.
_ITEM_AT_LINE_START = re.compile(
    r"^(?:(?:scenario|fuzz|use)[ \t]+\"|(?:kubernetes|gates|quirks|use|fixture|"
    + "|".join(DECLARATIONS)
    + r")[ \t]+[\w$\"{-])",
    re.M,
)
_WANTS_CEL = re.compile(r"(?:\b(?:where|expect|always|never|witness)|derive\s+\S+\s+=|[\w.-]:)\s*\Z")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPES: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "/": "/"}


class Token(Struct, gc=False):
    """A token. ``type`` is ``WORD`` or ``STRING`` until the parser has classified it.

    ``text`` is what the author wrote, of a string its value, of CEL the expression without its backticks.
    """

    type: str
    text: str
    span: Span
    quoted: bool = False


class Comment(Struct, frozen=True):
    """A ``#`` comment; ``own_line`` if nothing stands before it on its line."""

    span: Span
    text: str
    own_line: bool


class Lexed(Struct, frozen=True):
    """The tokens of a text; the last one is ``$END``. ``complete`` is False if the lexer gave up before the end."""

    source: SourceFile
    tokens: list[Token]
    comments: tuple[Comment, ...]
    complete: bool = True


def lex(source: SourceFile, log: DiagnosticLog, unclosed: frozenset[int] = frozenset()) -> Lexed:
    """Cut a text into tokens.

    ``unclosed`` holds the offsets of `(` and `[` that are known to have no end: newlines after them count.

    Diagnostics: DRA0101 character that starts nothing, DRA0102 unterminated string or CEL, DRA0103 bad escape, DRA0104
    nested too deeply, DRA0107 other quotes, DRA0108 comment of another language, DRA0109 too many errors.
    """
    return _Lexer(source, log, unclosed).run()


def cel_runs_on(text: str) -> bool:
    """Whether what stands between two backticks is no expression but the file after one that was not closed."""
    if "\n" not in text:
        return False
    last_line = text[text.rfind("\n") + 1 :][-200:]
    return _ITEM_AT_LINE_START.search(text) is not None or _WANTS_CEL.search(last_line) is not None


class _Lexer:
    """One run over one text; private to this module."""

    def __init__(self, source: SourceFile, log: DiagnosticLog, unclosed: frozenset[int]) -> None:
        self.source = source
        self.text = source.text
        self.log = log
        self.unclosed = unclosed
        self.tokens: list[Token] = []
        self.comments: list[Comment] = []
        self.brackets: list[str] = []
        self.newline: Span | None = None
        self.errors = 0
        self.stopped = False

    def run(self) -> Lexed:
        match = _TOKEN.match
        text = self.text
        position = 1 if text.startswith("\ufeff") else 0
        if "\r" in text and (lone := _LONE_RETURN.search(text)) is not None:
            span = Span(self.source, lone.start(), lone.end())
            self._error("DRA0101", "a carriage return without a line feed", span, "end lines with LF or CR LF")
        while not self.stopped:
            found = match(text, position)
            # The last alternative takes any character but a newline, and a newline has its own: something matches.
            assert found is not None
            kind = found.lastgroup
            assert kind is not None
            start = found.start(kind)
            position = found.end()
            if kind == "WORD":
                self._word(start, position)
            elif kind == "NEWLINE":
                self._newline(start, position)
            elif kind == "PUNCTUATION":
                self._punctuation(found[kind], start, position)
            elif kind == "STRING":
                self._string(start, position)
            elif kind == "CEL":
                position = self._cel(start, position)
            elif kind == "COMMENT":
                self._comment(start, position)
            elif kind == "END":
                break
            else:
                position = self._bad(start)
        length = position if self.stopped else len(text)
        self.tokens.append(Token("$END", "", Span(self.source, length, length)))
        return Lexed(self.source, self.tokens, tuple(self.comments), not self.stopped)

    def _emit(self, token: Token) -> None:
        if self.newline is not None:
            if token.type != "RBRACE":
                self.tokens.append(Token("NL", "\n", self.newline))
            self.newline = None
        self.tokens.append(token)

    def _word(self, start: int, end: int) -> None:
        text = self.text[start:end]
        # A continuation word at the start of a line takes the newline before it away.
        if self.newline is not None and text in CONTINUATIONS and not _COLON_FOLLOWS.match(self.text, end):
            self.newline = None
        self._emit(Token("WORD", text, Span(self.source, start, end)))

    def _newline(self, start: int, end: int) -> None:
        if self.newline is not None or (self.brackets and self.brackets[-1] != "{"):
            return
        if not self.tokens or self.tokens[-1].type in ("LBRACE", "COMMA", "NL"):
            return
        self.newline = Span(self.source, start, end)

    def _punctuation(self, text: str, start: int, end: int) -> None:
        span = Span(self.source, start, end)
        if text == ";":
            if self.brackets and self.brackets[-1] != "{":
                self._emit(Token("SEMICOLON", ";", span))
            elif self.tokens and self.tokens[-1].type == "COMMA":
                self.newline = span  # unlike the end of a line, it ends what a comma left open
            else:
                self._newline(start, end)
            return
        if text in "{([":
            if len(self.brackets) >= MAX_NESTING:
                self._error("DRA0104", f"nested more than {MAX_NESTING} levels deep", span, "name the inner parts")
                self.stopped = True
                return
            if start not in self.unclosed:
                self.brackets.append(text)
        elif text in "})]":
            opened = _CLOSES[text]
            if opened in self.brackets:
                while self.brackets.pop() != opened:
                    pass
            # A comma before the closing bracket separates nothing.
            if len(self.tokens) > 1 and self.tokens[-1].type == "COMMA" and self.tokens[-2].type not in _NO_ENTRY:
                self.tokens.pop()
        self._emit(Token(_PUNCTUATION[text], text, span))

    def _string(self, start: int, end: int) -> None:
        raw = self.text[start + 1 : end - 1]
        span = Span(self.source, start, end)
        if "\\" in raw:
            raw = _ESCAPE.sub(lambda found: self._escape(found, start + 1), raw)
        self._emit(Token("STRING", raw, span, quoted=True))

    def _escape(self, found: re.Match[str], offset: int) -> str:
        what = found[1]
        if what in _ESCAPES:
            return _ESCAPES[what]
        if len(what) == 5:
            character = chr(int(what[1:], 16))
            if not "\ud800" <= character <= "\udfff":
                return character
        span = Span(self.source, offset + found.start(), offset + found.end())
        self._error(
            "DRA0103",
            f"unknown escape `{printable(found[0])}` in a string",
            span,
            'write \\\\ for a backslash, \\" for a quote',
        )
        return found[0]

    def _cel(self, start: int, end: int) -> int:
        """An expression, or one that was not closed and has run into what follows; returns where to go on."""
        text = self.text[start + 1 : end - 1]
        if cel_runs_on(text):
            return self._unclosed(start)
        self._emit(Token("CEL", text, Span(self.source, start, end)))
        return end

    def _comment(self, start: int, end: int) -> None:
        line_start = self.text.rfind("\n", 0, start) + 1
        own_line = not self.text[line_start:start].strip()
        self.comments.append(Comment(Span(self.source, start, end), self.text[start:end].rstrip(), own_line))

    def _bad(self, start: int) -> int:
        """Report what starts no token; returns where to go on."""
        character = self.text[start]
        if character in '"`':
            return self._unclosed(start)
        if (comment := FOREIGN_COMMENT.match(self.text, start)) is not None:
            span = Span(self.source, start, comment.end())
            self._error(
                "DRA0108", "comments start with `#`", span, "write `#` and the comment up to the end of its line"
            )
            return comment.end()
        if (quoted := FOREIGN_STRING.match(self.text, start)) is not None:
            span = Span(self.source, start, quoted.end())
            self._error("DRA0107", "texts stand in double quotes", span, f'write "{printable(quoted[0][1:-1])}"')
            self._emit(Token("STRING", quoted[0][1:-1], span, quoted=True))
            return quoted.end()
        message, way_out, end = unexpected_character(self.text, start)
        self._error("DRA0101", message, Span(self.source, start, end), way_out)
        return end

    def _unclosed(self, start: int) -> int:
        """Report a string or expression without its end, and read it as if it ended with its line."""
        line_end = self.text.find("\n", start)
        end = len(self.text) if line_end < 0 else line_end
        while end - 1 > start and self.text[end - 1] in " \t\r":
            end -= 1
        is_string = self.text[start] == '"'
        what = "text" if is_string else "CEL expression"
        span = Span(self.source, start, end)
        self._error("DRA0102", f"this {what} is not closed", span, f"end it with {self.text[start]}")
        self._emit(Token("STRING" if is_string else "CEL", self.text[start + 1 : end], span, quoted=is_string))
        return end

    def _error(self, code: str, message: str, span: Span, way_out: str) -> None:
        self.log.add(Diagnostic(code=code, message=message, span=span, help=way_out))
        self.errors += 1
        if self.errors >= MAX_LEXICAL_ERRORS and not self.stopped:
            self.stopped = True
            message = f"{MAX_LEXICAL_ERRORS} errors: the text after this one is not read"
            self.log.add(
                Diagnostic(code="DRA0109", message=message, span=span, severity="note", help="is this a `.dra` file?")
            )
