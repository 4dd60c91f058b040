"""The parser: tokens through Lark's LALR engine to a tree.

A word is a keyword where the parser's state takes that keyword; where the state takes a name too, ``_names_a_thing``
looks at what follows. So every keyword is also a name.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from lark import Lark
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser_state import ParseConf, ParserState

from dralang.resources import grammar_path
from dralang.syntax.build import ScenarioBuilder
from dralang.syntax.nodes import Item
from dralang.syntax.tokens import CONTINUATIONS, Token
from dralang.syntax.vocabulary import DECLARATIONS, PREDICATE_STARTS

_ENDS_A_PHRASE: Final = frozenset(
    {"NL", "$END", "RBRACE", "RPAR", "RSQB", "COMMA", "COLON", "EQUAL", "POSSESSIVE", "LPAR", "RANGE"}
)
# Keywords that stand before a value's own continuation, where a bare word is the commoner meaning.
_ONLY_BEFORE: Final = {"all": "of", "first": "available", "update": "of", "bind": "of", "create": "of", "delete": "of"}


class _NoLexer(Lexer):
    """Lark wants a lexer; ours is ``tokens.lex``."""

    def __init__(self, lexer_conf: object) -> None: ...

    def lex(self, *_: object) -> Iterator[Any]:
        return iter(())


class Grammar:
    """The compiled grammar: tables, reductions and keywords.

    Attributes:
        keywords: word -> the name of its terminal.
        terminals: the name of a terminal -> what people call it.
    """

    def __init__(self, lark: Lark) -> None:
        engine = lark.parser.parser.parser
        self.conf: ParseConf[Any] = ParseConf(engine.parse_table, engine.callbacks, "file")
        self.keywords: dict[str, str] = {}
        self.terminals: dict[str, str] = dict(_SPOKEN)
        for terminal in lark.terminals:
            text = terminal.pattern.value
            if text.isalpha():
                self.keywords[text] = terminal.name
                self.terminals[terminal.name] = f"`{text}`"


_SPOKEN: Final = {
    "NAME": "a name",
    "STRING": "a text in double quotes",
    "CEL": "a CEL expression in backticks",
    "NL": "the end of the line",
    "$END": "the end of the file",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "RANGE": "`..`",
    "POSSESSIVE": "`'s`",
}


def cache_dir() -> Path | None:
    """The folder for saved tables in the user's cache, or None where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "dralang"
    except RuntimeError:
        return None


@cache
def grammar() -> Grammar:
    """The grammar, built once a process: from the table saved in the user's cache, or from its text.

    Lark keys the saved table by the grammar's text, its own version and Python's; a damaged one is rebuilt.
    """
    text = grammar_path().read_text(encoding="utf-8")
    folder = cache_dir()
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return Grammar(_lark(text, str(folder / "dra.table")))
        except OSError:
            pass  # a cache that cannot be written costs a fifth of a second, nothing else
    return Grammar(_lark(text, None))


def _lark(text: str, saved: str | None) -> Lark:
    return Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        start="file",
        keep_all_tokens=True,
        maybe_placeholders=False,
        propagate_positions=False,
        transformer=ScenarioBuilder(),  # any object whose methods are named like the rules
        cache=saved or False,
    )


class SyntaxFaultError(Exception):
    """The tokens do not fit the grammar.

    Attributes:
        index: the number of the token that does not fit.
        expected: terminals that would, sorted.
        stack: the symbols' values up to there, for messages that look back.
    """

    def __init__(self, index: int, expected: tuple[str, ...], stack: list[Any]) -> None:
        super().__init__(index)
        self.index = index
        self.expected = expected
        self.stack = stack


def parse_tokens(tokens: list[Token]) -> tuple[Item, ...]:
    """Parse the tokens of a whole file (or of some of its items); the last token is ``$END``.

    Raises:
        SyntaxFaultError: at the first token that does not fit.
    """
    compiled = grammar()
    state: ParserState[Any] = ParserState(compiled.conf, None)  # type: ignore[arg-type]  # no lexer thread: tokens are fed
    states = compiled.conf.states
    feed = state.feed_token
    state_stack = state.state_stack
    index = 0
    try:
        for index, token in enumerate(tokens):
            kind = token.type
            if kind == "WORD":
                token.type = _classify(tokens, index, compiled, state_stack)
            elif kind == "STRING" and "STRING" not in (taken := states[state_stack[-1]]) and "NAME" in taken:
                token.type = "NAME"
            if kind == "$END":
                items: list[Item] = feed(token, True)  # type: ignore[arg-type]  # noqa: FBT003  # our token; Lark's signature
                return tuple(items)
            feed(token)  # type: ignore[arg-type]  # Lark reads nothing of a token but its type
    except UnexpectedToken as fault:
        expected = tuple([name for name in sorted(fault.expected) if _takes(compiled.conf, state_stack, name)])
        raise SyntaxFaultError(index, expected, state.value_stack) from None
    raise AssertionError("the last token is $END")


def _classify(tokens: list[Token], index: int, compiled: Grammar, state_stack: list[Any]) -> str:
    keyword = compiled.keywords.get(tokens[index].text)
    if keyword is None:
        return "NAME"
    taken = compiled.conf.states[state_stack[-1]]
    if "NAME" not in taken or not _takes(compiled.conf, state_stack, "NAME"):
        return keyword
    if keyword not in taken or not _takes(compiled.conf, state_stack, keyword) or _names_a_thing(tokens, index, taken):
        return "NAME"
    return keyword


def _names_a_thing(tokens: list[Token], index: int, taken: dict[str, Any]) -> bool:
    """Whether a word that could be a keyword here is a name: by the tokens that follow."""
    text = tokens[index].text
    following = tokens[index + 1]
    if "SETTLE" in taken or "SCENARIO" in taken:
        # A statement or item begins: the only name that can stand here is that of a fixture.
        return following.type == "LPAR"
    if text in _ONLY_BEFORE and ("LSQB" in taken or text in ("update", "bind")):
        return following.text != _ONLY_BEFORE[text]
    if "WHERE" in taken:
        # An entry of a block begins.
        return following.type in _ENDS_A_PHRASE or following.type == "LBRACE"
    if following.text in PREDICATE_STARTS and following.type == "WORD" and "EXACTLY" in taken:
        return True
    if text == "any":
        return not _opens_a_hole(tokens, index)
    if "SUBSET" in taken:
        # After `any`: a kind, unless a range begins.
        return following.type == "RANGE"
    if text != "consuming" and following.type == "LBRACE" and "CONSUMING" not in taken:
        return True
    if len(taken) == 2 and following.text in CONTINUATIONS:
        # `runs on node with gpu-0`: the node is called node.
        return True
    if following.type == "WORD" and tokens[index + 2].type == "EQUAL" and "CONDITION" not in taken and "CLAIM" in taken:
        # `label pod app=x`: the object is called pod. (A fixture's parameters and taints take no kind.)
        return True
    if following.type == "WORD" and tokens[index + 2].type == "COLON" and "COLON" not in taken:
        # `set pod labels: ...`: the object is called pod.
        return "CONDITION" in taken and "EXACTLY" not in taken
    return following.type in _ENDS_A_PHRASE


def _opens_a_hole(tokens: list[Token], index: int) -> bool:
    """Whether `any` stands before a list, a range or a kind."""
    following = tokens[index + 1]
    if following.type != "WORD":
        return False
    return following.text in ("of", "subset", "device", *DECLARATIONS) or tokens[index + 2].type == "RANGE"


def _takes(conf: ParseConf[Any], state_stack: list[Any], terminal: str) -> bool:
    """Whether the parser really takes a terminal: LALR's reductions promise more than the stack can keep."""
    states = conf.states
    stack = list(state_stack)
    while True:
        entry = states[stack[-1]].get(terminal)
        if entry is None:
            return False
        action, rule = entry
        if action is Shift:
            return True
        if rule.expansion:
            del stack[-len(rule.expansion) :]
        goto = states[stack[-1]][rule.origin.name][1]
        if terminal == "$END" and goto == conf.end_state:
            return True
        stack.append(goto)
