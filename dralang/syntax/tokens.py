"""The lexer: text to tokens, with the newlines that end something and nothing else.

A word is one token whatever it holds: ranges (``gpu-[0..3]``), substitutions (``p-${i}``), globs, units. Whether it is
a keyword is decided later, by what the parser can take (``parser.classify``). Newlines are decided here: none inside
``(...)`` and ``[...]``, none directly after ``{`` or ``,``, none before ``}``, none before a continuation word.

Every loop is linear in the text: an unterminated string ends at its line, a bracket or substitution inside a word is
bounded in length.
"""

import re
from typing import Final

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span

MAX_NESTING: Final = 64
MAX_LEXICAL_ERRORS: Final = 50
CONTINUATIONS: Final = frozenset({"because", "across", "consuming", "with", "tagged", "xfail", "for"})

_SUBSTITUTION = r'\$\{(?:"(?:[^"\\\n]|\\.){0,200}"|[^}"\n]){0,200}\}'
_BRACKET = rf"\[(?:{_SUBSTITUTION}|[^\[\]\n]){{0,400}}\]"
_PART = (
    r"[A-Za-z0-9_/*]|(?<=\d)%"
    r"|\.(?=[A-Za-z0-9_*$\[-])|-(?=[A-Za-z0-9_*$\[/.-])|\+(?=[A-Za-z0-9])"
    rf"|{_SUBSTITUTION}|{_BRACKET}"
)
_TOKEN = re.compile(
    r"[ \t\r\f]*(?:"
    rf"(?P<WORD>(?:[A-Za-z0-9_*]|{_SUBSTITUTION}|[+-](?=[0-9.$])|\.(?=[0-9]))(?:{_PART})*)"
    r"|(?P<NEWLINE>\n)"
    r'|(?P<STRING>"(?:[^"\\\n]|\\[^\n])*")'
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
_CLOSES: Final = {"}": "{", ")": "(", "]": "["}
_COLON_FOLLOWS = re.compile(r"[ \t]*:")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPES: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "/": "/"}


class Token(Struct):
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
    """The tokens of a text; the last one is ``$END``."""

    source: SourceFile
    tokens: list[Token]
    comments: tuple[Comment, ...]


def lex(source: SourceFile, log: DiagnosticLog) -> Lexed:
    """Cut a text into tokens.

    Diagnostics: DRA0101 character that starts nothing, DRA0102 unterminated string or CEL, DRA0103 bad escape, DRA0104
    nested too deeply.
    """
    return _Lexer(source, log).run()


class _Lexer:
    """One run over one text; private to this module."""

    def __init__(self, source: SourceFile, log: DiagnosticLog) -> None:
        self.source = source
        self.text = source.text
        self.log = log
        self.tokens: list[Token] = []
        self.comments: list[Comment] = []
        self.brackets: list[str] = []
        self.newline: Span | None = None
        self.errors = 0

    def run(self) -> Lexed:
        match = _TOKEN.match
        text = self.text
        position = 1 if text.startswith("\ufeff") else 0
        while True:
            found = match(text, position)
            # The last alternative takes any character but a newline, and a newline has its own: something matches.
            assert found is not None
            kind = found.lastgroup
            assert kind is not None
            start = found.start(kind)
            end = found.end()
            if kind == "WORD":
                self._word(start, end)
            elif kind == "NEWLINE":
                self._newline(start, end)
            elif kind == "PUNCTUATION":
                self._punctuation(found[kind], start, end)
            elif kind == "STRING":
                self._string(start, end)
            elif kind == "CEL":
                self._emit(Token("CEL", text[start + 1 : end - 1], Span(self.source, start, end)))
            elif kind == "COMMENT":
                self._comment(start, end)
            elif kind == "END":
                break
            else:
                end = self._bad(start)
                if self.errors >= MAX_LEXICAL_ERRORS:
                    break
            position = end
        length = len(text)
        self.tokens.append(Token("$END", "", Span(self.source, length, length)))
        return Lexed(self.source, self.tokens, tuple(self.comments))

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
            else:
                self._newline(start, end)
            return
        if text in "{([":
            if len(self.brackets) >= MAX_NESTING:
                if self.errors < MAX_LEXICAL_ERRORS:
                    self._error("DRA0104", f"nested more than {MAX_NESTING} levels deep", span, "name the inner parts")
                self.errors = MAX_LEXICAL_ERRORS
            self.brackets.append(text)
        elif text in "})]":
            opened = _CLOSES[text]
            if opened in self.brackets:
                while self.brackets.pop() != opened:
                    pass
            # A comma before the closing bracket separates nothing.
            if self.tokens and self.tokens[-1].type == "COMMA":
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
            "DRA0103", f"unknown escape `{found[0]}` in a string", span, 'write \\\\ for a backslash, \\" for a quote'
        )
        return found[0]

    def _comment(self, start: int, end: int) -> None:
        line_start = self.text.rfind("\n", 0, start) + 1
        own_line = not self.text[line_start:start].strip()
        self.comments.append(Comment(Span(self.source, start, end), self.text[start:end].rstrip(), own_line))

    def _bad(self, start: int) -> int:
        """Report a character that starts no token; returns where to go on."""
        character = self.text[start]
        if character in '"`':
            line_end = self.text.find("\n", start)
            end = len(self.text) if line_end < 0 else line_end
            what = "string" if character == '"' else "CEL expression"
            span = Span(self.source, start, end)
            self._error("DRA0102", f"this {what} is not closed", span, f"end it with {character}")
            # What stands here keeps its place in the sentence, so that no second error follows from this one.
            self._emit(Token("STRING" if character == '"' else "CEL", self.text[start + 1 : end], span, quoted=True))
            return end
        end = start + 1
        span = Span(self.source, start, end)
        if character in "-.":
            message = f"`{character}` ends a name or stands alone"
            way_out = "put a name that ends in `-` or `.` in double quotes"
        elif character == "'":
            message, way_out = "strings stand in double quotes", 'write "..."'
        else:
            shown = character if character.isprintable() else f"U+{ord(character):04X}"
            message, way_out = (
                f"unexpected character `{shown}`",
                "put names and texts with such characters in double quotes",
            )
        self._error("DRA0101", message, span, way_out)
        return end

    def _error(self, code: str, message: str, span: Span, way_out: str) -> None:
        self.errors += 1
        self.log.add(Diagnostic(code=code, message=message, span=span, help=way_out))
