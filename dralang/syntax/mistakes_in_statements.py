"""Common mistakes in the beginning of a statement, its time and its head."""

import re
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.characters import printable
from dralang.syntax.habits import ITEM_HABITS, STATEMENT_HABITS, STATEMENT_WORDS, SUGAR_OF, WHERE_IT_STANDS
from dralang.syntax.mistakes import CLOSED_OR_SEPARATED, NUMBER, beginnings, in_backticks, is_item_level, miss
from dralang.syntax.place import Place, spoken_token
from dralang.syntax.tokens import Token
from dralang.syntax.vocabulary import KEYWORDS, PREDICATE_STARTS

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+\Z")
_HEAD_HABITS: Final = {
    "tag": "tagged",
    "tags": "tagged",
    "skip": "xfail",
    "foreach": "for",
    "each": "for",
    "with": "for",
    "table": "for",
}
_UNITS: Final = frozenset(
    {"ms", "s", "sec", "secs", "second", "seconds", "m", "min", "minutes", "minute", "h", "hours"}
)


def brace_on_its_own_line(place: Place) -> Diagnostic | None:
    """`{` on the line after its head."""
    if place.found.type == "NL" and place.ahead().type == "LBRACE" and "LBRACE" in place.expected:
        span = place.ahead().span
        return miss("DRA0118", "`{` stands on the line of its head", span, "move it to the end of the line before")
    if place.found.type == "LBRACE" and place.back(1).type == "NL":
        span = place.found.span
        return miss("DRA0118", "`{` stands on the line of its head", span, "move it to the end of the line before")
    return None


def not_a_statement(place: Place) -> Diagnostic | None:
    """A word began a statement and turned out to be no fixture's call."""
    if place.expected != {"LPAR"} or place.back(2).type in ("FIXTURE", "FROM"):
        return None
    word = place.back(1)
    for rule in (
        _time_of_statement,
        _misplaced,
        _expectation,
        _habit,
        _slip,
        _keyword_is_missing,
        _field_in_the_open,
    ):
        if (found := rule(place, word)) is not None:
            return found
    examples = ("pod", "class", "scenario", "use") if is_item_level(place) else ("create", "expect", "at", "settle")
    return miss(
        "DRA0113",
        f"{spoken_token(word)} does not begin {_what_begins(place)}",
        word.span,
        "a fixture is used by name and parentheses: `gpu-node(worker-1)`",
        *in_backticks(*examples),
    )


def _what_begins(place: Place) -> str:
    return "an item of a file" if is_item_level(place) else "a statement"


def _expectation(place: Place, word: Token) -> Diagnostic | None:
    """`train runs on worker-1`: a proposition without its keyword."""
    if place.found.quoted or place.found.text not in PREDICATE_STARTS or is_item_level(place):
        return None
    way_out = f"write `expect {place.rest(place.index - 1)}`"
    return miss(
        "DRA0113", f"{spoken_token(word)} does not begin a statement", word.span, way_out, *in_backticks("expect")
    )


def _slip(place: Place, word: Token) -> Diagnostic | None:
    # Words without anything after them, and lists, are names whose keyword is missing, no slips in a keyword.
    if word.quoted or (place.found.type in CLOSED_OR_SEPARATED and place.found.type != "COLON"):
        return None
    near = nearest(word.text, beginnings(place))
    if near is None:
        return None
    return miss("DRA0113", f"`{word.text}` does not begin {_what_begins(place)}", word.span, f"did you mean `{near}`?")


def _keyword_is_missing(place: Place, word: Token) -> Diagnostic | None:
    """Names and texts that stand where their keyword should."""
    message = f"{spoken_token(word)} does not begin {_what_begins(place)}"
    closed = place.found.type in ("NL", "$END", "RBRACE", "COMMA")
    if is_item_level(place):
        if re.fullmatch(r"v?\d+\.\d+", word.text) and closed:
            return miss("DRA0113", message, word.span, f"write `kubernetes {word.text}`", *in_backticks("kubernetes"))
        if place.found.type == "LBRACE" and word.quoted:
            way_out = f'write `scenario "{printable(word.text)}" {{`'
            return miss("DRA0113", message, word.span, way_out, *in_backticks("scenario", "fuzz"))
        if place.found.type == "LBRACE":
            way_out = f"a declaration begins with its kind: `pod {word.text} {{`, for example"
            return miss(
                "DRA0113", message, word.span, way_out, *in_backticks("pod", "class", "claim", "template", "slice")
            )
    elif closed:
        way_out = f"say what happens to it: `create {printable(word.text)}`, for example"
        return miss("DRA0113", message, word.span, way_out, *in_backticks("create", "delete", "finish", "settle"))
    return None


def _field_in_the_open(place: Place, word: Token) -> Diagnostic | None:
    if place.found.type not in ("COLON", "LBRACE"):
        return None
    message = f"`{word.text}` looks like a field, and no declaration is open here"
    way_out = "fields stand between the braces of a declaration; was it closed too early?"
    return miss("DRA0114", message, word.span, way_out)


def _time_of_statement(place: Place, word: Token) -> Diagnostic | None:
    if place.back(3).type in ("AT", "AFTER") and place.back(2).text in STATEMENT_WORDS:
        keyword = place.back(3).text
        span = Span(word.span.source, place.back(3).span.end, place.back(3).span.end)
        return miss("DRA0124", f"a time is missing after `{keyword}`", span, f"write `{keyword} 10s ...`")
    if word.text in _UNITS and NUMBER.match(place.back(2).text):
        span = place.back(2).span.to(word.span)
        together = place.back(2).text + word.text[0]
        return miss("DRA0124", "a time is one word", span, f"write `{together}`, without a space")
    if _DURATION.match(word.text) and not word.quoted:
        return miss(
            "DRA0124",
            f"`{word.text}` alone is no statement",
            word.span,
            f"write `at {place.rest(place.index - 1)}`",
            *in_backticks("at", "after", "within"),
        )
    return None


def _misplaced(place: Place, word: Token) -> Diagnostic | None:
    """A keyword that begins something, but not here."""
    if word.quoted:
        return None
    where = WHERE_IT_STANDS.get(word.text)
    if where is None or word.text in beginnings(place):
        return None
    here = "at the top level" if is_item_level(place) else f"in a {place.block_kind}"
    if place.block_kind in ("map", ""):
        here = "at the top level" if not place.block_kind else "here"
    return miss("DRA0114", f"`{word.text}` does not stand {here}", word.span, f"it stands {where}")


def _habit(place: Place, word: Token) -> Diagnostic | None:
    habits = ITEM_HABITS if is_item_level(place) else STATEMENT_HABITS
    meant = habits.get(word.text.lower())
    if meant is None or word.quoted:
        return None
    return miss("DRA0126", f"`{word.text}` is not a word of the language", word.span, f"did you mean {meant}?")


def colon_after_keyword(place: Place) -> Diagnostic | None:
    """`kubernetes: 1.37`, `pod: train {`, `at 10s: create x`; or `device: gpu-0 {`, which began as a field."""
    found = place.found
    if (
        found.type in ("COLON", "COMMA")
        and (place.at_statement or "ANY" in place.expected)
        and place.back(2).type in ("AT", "AFTER")
    ):
        return miss("DRA0124", f"no `{found.text}` stands after a time", found.span, f"remove the `{found.text}`")
    before = place.before
    is_keyword = before is not None and before.text in KEYWORDS and before.type != "NAME" and not before.quoted
    if found.type == "COLON" and before is not None and is_keyword and "COLON" not in place.expected:
        return miss("DRA0116", f"no `:` stands after `{before.text}`", found.span, "remove the `:`")
    keyword = place.back(3)
    is_sugar = place.index - 3 == place.start and keyword.text in SUGAR_OF.get(place.block_kind, ())
    if is_sugar and place.back(2).type == "COLON" and found.type not in CLOSED_OR_SEPARATED - {"COLON", "EQUAL"}:
        return miss("DRA0116", f"no `:` stands after `{keyword.text}`", place.back(2).span, "remove the `:`")
    return None


def time_missing(place: Place) -> Diagnostic | None:
    """`at` without a time."""
    before = place.before
    if before is None or before.type not in ("AT", "AFTER", "WITHIN") or "NAME" not in place.expected:
        return None
    way_out = f"write `{before.text} 10s ...`"
    return miss("DRA0124", f"a time is missing after `{before.text}`", place.end_of_before, way_out, "a time")


def body_without_brace(place: Place) -> Diagnostic | None:
    """`pod train claim gpu from x`."""
    found = place.found
    if place.expected == {"LBRACE"} and found.type not in CLOSED_OR_SEPARATED and found.type != "LPAR":
        message = f"`{{` is missing before {spoken_token(found)}"
        way_out = f"put it between braces: `{{ {place.rest(place.index)} }}`"
        return miss("DRA0111", message, place.end_of_before, way_out, "`{`")
    kind = place.back(2).text
    if "LBRACE" not in place.expected or place.back(1).type != "NAME" or place.found.quoted:
        return None
    if place.found.text not in SUGAR_OF.get(kind, ()) or place.back(2).type not in ("CLAIM", *map(str.upper, SUGAR_OF)):
        return None
    way_out = f"write `{kind} {place.back(1).text} {{ {place.rest(place.index)} }}`"
    message = f"`{{` is missing before `{place.found.text}`"
    return miss("DRA0111", message, place.end_of_before, way_out, "`{`")


def second_statement_on_the_line(place: Place) -> Diagnostic | None:
    """`create a create b`, `{ a: b c: d }`."""
    found = place.found
    if found.quoted or not place.expected & {"NL", "$END"} or place.index == place.start:
        return None
    if place.in_block and {"NL", "COMMA"} <= place.expected and place.ahead().type in ("COLON", "LBRACE"):
        message = f"`{found.text}` begins another entry on the same line"
        way_out = f"put `,`, `;` or a new line before `{found.text}`"
        return miss("DRA0117", message, found.span, way_out, *in_backticks(",", ";"))
    starts = beginnings(place) if not place.in_block else SUGAR_OF.get(place.block_kind, frozenset())
    if found.text not in starts or found.text in ("with", "for", "on"):
        return None
    return miss(
        "DRA0117",
        f"`{found.text}` begins another statement on the same line",
        found.span,
        f"put `;` or a new line before `{found.text}`",
        *in_backticks(";"),
    )


def word_of_a_head(place: Place) -> Diagnostic | None:
    """`scenario "x" tag a`, `maybe { ... }`."""
    found = place.found
    if "TAGGED" in place.expected and found.text in _HEAD_HABITS and not found.quoted:
        meant = _HEAD_HABITS[found.text]
        return miss("DRA0126", f"`{found.text}` is not a word of the language", found.span, f"did you mean `{meant}`?")
    if place.at_statement and found.type == "LBRACE" and place.back(1).type == "MAYBE":
        return miss("DRA0110", "`maybe` takes one statement", found.span, "write `maybe` before each statement")
    return None


def text_without_quotes(place: Place) -> Diagnostic | None:
    """`scenario first come {`, `because no device`."""
    before, found = place.before, place.found
    if place.expected != {"STRING"} or before is None:
        return None
    what = {"SCENARIO": "the title of a scenario", "FUZZ": "the title of a fuzz", "XFAIL": "the reason of an `xfail`"}
    named = what.get(before.type, f"the text after `{before.text}`")
    if found.type in ("NL", "$END", "LBRACE", "RBRACE"):
        return miss("DRA0123", f"{named} is missing", place.end_of_before, f'write `{before.text} "..."`')
    title = re.split(r"\s+(?:tagged|xfail|for|because)\b", place.rest(place.index))[0]
    return miss("DRA0123", f"{named} stands in double quotes", found.span, f'write `{before.text} "{title}"`')


def table_head(place: Place) -> Diagnostic | None:
    """`for` in the head of a scenario."""
    head = place.tokens[place.start : place.index]
    if place.first.text not in ("scenario", "fuzz") or not any(token.type == "FOR" for token in head):
        return None
    if any(token.type == "LBRACE" for token in head):
        return None
    found = place.found
    forms = "write `for X in [a, b]`, `for X in 1..3` or `for (X, Y) in [(1, 2), (3, 4)]`"
    if found.type == "RANGE":
        return miss("DRA0125", "a range of a table stands without brackets", found.span, "write `for X in 1..3`")
    if found.type == "COMMA" and "IN" in place.expected:
        return miss("DRA0125", "several columns of a table stand in parentheses", found.span, forms)
    if place.expected == {"IN"}:
        what = f"`{found.text}` instead of `in`" if found.text in ("of", "from", "=", ":") else "`in` is missing"
        return miss("DRA0125", f"{what} in the head of a table", place.span_of_found, forms, "`in`")
    if "RANGE" in place.expected and found.type in ("LBRACE", "NL", "$END", "LPAR"):
        return miss("DRA0125", f"`{place.back(1).text}` is neither a list nor a range", place.back(1).span, forms)
    return miss("DRA0125", f"unexpected {spoken_token(found)} in the head of a table", place.span_of_found, forms)
