"""Mistakes that many people make, each with a text of its own.

A rule looks at the place of a fault and gives a diagnostic or None; the first rule that answers wins.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.characters import printable
from dralang.syntax.habits import (
    ENTRY_HABITS,
    ITEM_HABITS,
    ITEM_WORDS,
    PREDICATE_HABITS,
    STATEMENT_HABITS,
    STATEMENT_WORDS,
    SUGAR_OF,
    WHERE_IT_STANDS,
)
from dralang.syntax.place import Place, spoken_token
from dralang.syntax.tokens import Token
from dralang.syntax.vocabulary import KEYWORDS, PREDICATE_STARTS, STATES

Rule: TypeAlias = Callable[[Place], Diagnostic | None]

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+\Z")
_NUMBER = re.compile(r"-?\d+\Z")
_UNITS: Final = frozenset(
    {"ms", "s", "sec", "secs", "second", "seconds", "m", "min", "minutes", "minute", "h", "hours"}
)
_PROPOSITION_STARTS: Final = frozenset({"expect", "always", "never", "witness"})
_LOOKS_LIKE_CEL = re.compile(r"[=!<>]=|&&|\|\||[<>]|\w\(|^!")
_CLOSED_OR_SEPARATED: Final = frozenset(
    {"NL", "$END", "RBRACE", "RPAR", "RSQB", "COMMA", "COLON", "EQUAL", "SEMICOLON"}
)


def near_miss(place: Place) -> Diagnostic | None:
    """The text of the first rule that knows this mistake."""
    for rule in _RULES:
        found = rule(place)
        if found is not None:
            return found
    return None


def _miss(code: str, message: str, span: Span, way_out: str, *expected: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, span=span, help=way_out, expected=expected)


def _words(*names: str) -> tuple[str, ...]:
    return tuple([f"`{name}`" for name in names])


# ---- the statement as a whole ----------------------------------------------------------------------------------------


def _brace_on_its_own_line(place: Place) -> Diagnostic | None:
    if place.found.type == "NL" and place.ahead().type == "LBRACE" and "LBRACE" in place.expected:
        span = place.ahead().span
        return _miss("DRA0118", "`{` stands on the line of its head", span, "move it to the end of the line before")
    if place.found.type == "LBRACE" and place.back(1).type == "NL":
        span = place.found.span
        return _miss("DRA0118", "`{` stands on the line of its head", span, "move it to the end of the line before")
    return None


def _not_a_statement(place: Place) -> Diagnostic | None:
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
    examples = ("pod", "class", "scenario", "use") if _is_item_level(place) else ("create", "expect", "at", "settle")
    return _miss(
        "DRA0113",
        f"{spoken_token(word)} does not begin {_what_begins(place)}",
        word.span,
        "a fixture is used by name and parentheses: `gpu-node(worker-1)`",
        *_words(*examples),
    )


def _what_begins(place: Place) -> str:
    return "an item of a file" if _is_item_level(place) else "a statement"


def _expectation(place: Place, word: Token) -> Diagnostic | None:
    """`train runs on worker-1`: a proposition without its keyword."""
    if place.found.quoted or place.found.text not in PREDICATE_STARTS or _is_item_level(place):
        return None
    way_out = f"write `expect {place.rest(place.index - 1)}`"
    return _miss("DRA0113", f"{spoken_token(word)} does not begin a statement", word.span, way_out, *_words("expect"))


def _slip(place: Place, word: Token) -> Diagnostic | None:
    # Words without anything after them, and lists, are names whose keyword is missing, no slips in a keyword.
    if word.quoted or (place.found.type in _CLOSED_OR_SEPARATED and place.found.type != "COLON"):
        return None
    near = nearest(word.text, _beginnings(place))
    if near is None:
        return None
    return _miss("DRA0113", f"`{word.text}` does not begin {_what_begins(place)}", word.span, f"did you mean `{near}`?")


def _keyword_is_missing(place: Place, word: Token) -> Diagnostic | None:
    """Names and texts that stand where their keyword should."""
    message = f"{spoken_token(word)} does not begin {_what_begins(place)}"
    closed = place.found.type in ("NL", "$END", "RBRACE", "COMMA")
    if _is_item_level(place):
        if re.fullmatch(r"v?\d+\.\d+", word.text) and closed:
            return _miss("DRA0113", message, word.span, f"write `kubernetes {word.text}`", *_words("kubernetes"))
        if place.found.type == "LBRACE" and word.quoted:
            way_out = f'write `scenario "{printable(word.text)}" {{`'
            return _miss("DRA0113", message, word.span, way_out, *_words("scenario", "fuzz"))
        if place.found.type == "LBRACE":
            way_out = f"a declaration begins with its kind: `pod {word.text} {{`, for example"
            return _miss("DRA0113", message, word.span, way_out, *_words("pod", "class", "claim", "template", "slice"))
    elif closed:
        way_out = f"say what happens to it: `create {printable(word.text)}`, for example"
        return _miss("DRA0113", message, word.span, way_out, *_words("create", "delete", "finish", "settle"))
    return None


def _field_in_the_open(place: Place, word: Token) -> Diagnostic | None:
    if place.found.type not in ("COLON", "LBRACE"):
        return None
    message = f"`{word.text}` looks like a field, and no declaration is open here"
    way_out = "fields stand between the braces of a declaration; was it closed too early?"
    return _miss("DRA0114", message, word.span, way_out)


def _is_item_level(place: Place) -> bool:
    return place.block_kind in ("", "fixture")


def _beginnings(place: Place) -> frozenset[str]:
    return ITEM_WORDS if _is_item_level(place) else STATEMENT_WORDS


def _time_of_statement(place: Place, word: Token) -> Diagnostic | None:
    if place.back(3).type in ("AT", "AFTER") and place.back(2).text in STATEMENT_WORDS:
        keyword = place.back(3).text
        span = Span(word.span.source, place.back(3).span.end, place.back(3).span.end)
        return _miss("DRA0124", f"a time is missing after `{keyword}`", span, f"write `{keyword} 10s ...`")
    if word.text in _UNITS and _NUMBER.match(place.back(2).text):
        span = place.back(2).span.to(word.span)
        together = place.back(2).text + word.text[0]
        return _miss("DRA0124", "a time is one word", span, f"write `{together}`, without a space")
    if _DURATION.match(word.text) and not word.quoted:
        return _miss(
            "DRA0124",
            f"`{word.text}` alone is no statement",
            word.span,
            f"write `at {place.rest(place.index - 1)}`",
            *_words("at", "after", "within"),
        )
    return None


def _misplaced(place: Place, word: Token) -> Diagnostic | None:
    """A keyword that begins something, but not here."""
    if word.quoted:
        return None
    where = WHERE_IT_STANDS.get(word.text)
    if where is None or word.text in _beginnings(place):
        return None
    here = "at the top level" if _is_item_level(place) else f"in a {place.block_kind}"
    if place.block_kind in ("map", ""):
        here = "at the top level" if not place.block_kind else "here"
    return _miss("DRA0114", f"`{word.text}` does not stand {here}", word.span, f"it stands {where}")


def _habit(place: Place, word: Token) -> Diagnostic | None:
    habits = ITEM_HABITS if _is_item_level(place) else STATEMENT_HABITS
    meant = habits.get(word.text.lower())
    if meant is None or word.quoted:
        return None
    return _miss("DRA0126", f"`{word.text}` is not a word of the language", word.span, f"did you mean {meant}?")


def _colon_after_keyword(place: Place) -> Diagnostic | None:
    """`kubernetes: 1.37`, `pod: train {`, `at 10s: create x`; or `device: gpu-0 {`, which began as a field."""
    found = place.found
    if (
        found.type == "COLON"
        and (place.at_statement or "ANY" in place.expected)
        and place.back(2).type in ("AT", "AFTER")
    ):
        return _miss("DRA0124", "no `:` stands after a time", found.span, "remove the `:`")
    before = place.before
    is_keyword = before is not None and before.text in KEYWORDS and before.type != "NAME" and not before.quoted
    if found.type == "COLON" and before is not None and is_keyword and "COLON" not in place.expected:
        return _miss("DRA0116", f"no `:` stands after `{before.text}`", found.span, "remove the `:`")
    keyword = place.back(3)
    is_sugar = place.index - 3 == place.start and keyword.text in SUGAR_OF.get(place.block_kind, ())
    if is_sugar and place.back(2).type == "COLON" and found.type not in _CLOSED_OR_SEPARATED - {"COLON", "EQUAL"}:
        return _miss("DRA0116", f"no `:` stands after `{keyword.text}`", place.back(2).span, "remove the `:`")
    return None


def _time_missing(place: Place) -> Diagnostic | None:
    before = place.before
    if before is None or before.type not in ("AT", "AFTER", "WITHIN") or "NAME" not in place.expected:
        return None
    way_out = f"write `{before.text} 10s ...`"
    return _miss("DRA0124", f"a time is missing after `{before.text}`", place.end_of_before, way_out, "a time")


def _body_without_brace(place: Place) -> Diagnostic | None:
    """`pod train claim gpu from x`."""
    found = place.found
    if place.expected == {"LBRACE"} and found.type not in _CLOSED_OR_SEPARATED and found.type != "LPAR":
        message = f"`{{` is missing before {spoken_token(found)}"
        way_out = f"put it between braces: `{{ {place.rest(place.index)} }}`"
        return _miss("DRA0111", message, place.end_of_before, way_out, "`{`")
    kind = place.back(2).text
    if "LBRACE" not in place.expected or place.back(1).type != "NAME" or place.found.quoted:
        return None
    if place.found.text not in SUGAR_OF.get(kind, ()) or place.back(2).type not in ("CLAIM", *map(str.upper, SUGAR_OF)):
        return None
    way_out = f"write `{kind} {place.back(1).text} {{ {place.rest(place.index)} }}`"
    message = f"`{{` is missing before `{place.found.text}`"
    return _miss("DRA0111", message, place.end_of_before, way_out, "`{`")


def _second_statement_on_the_line(place: Place) -> Diagnostic | None:
    found = place.found
    if found.quoted or not place.expected & {"NL", "$END"} or place.index == place.start:
        return None
    if place.in_block and {"NL", "COMMA"} <= place.expected and place.ahead().type in ("COLON", "LBRACE"):
        message = f"`{found.text}` begins another entry on the same line"
        way_out = f"put `,`, `;` or a new line before `{found.text}`"
        return _miss("DRA0117", message, found.span, way_out, *_words(",", ";"))
    starts = _beginnings(place) if not place.in_block else SUGAR_OF.get(place.block_kind, frozenset())
    if found.text not in starts or found.text in ("with", "for", "on"):
        return None
    return _miss(
        "DRA0117",
        f"`{found.text}` begins another statement on the same line",
        found.span,
        f"put `;` or a new line before `{found.text}`",
        *_words(";"),
    )


# ---- fields and entries ----------------------------------------------------------------------------------------------


def _colon_or_equal(place: Place) -> Diagnostic | None:
    found, before = place.found, place.before
    if before is None:
        return None
    if found.type == "EQUAL" and place.ahead().type == "EQUAL":
        span = found.span.to(place.ahead().span)
        return _miss("DRA0121", "`==` stands outside of a CEL expression", span, "put conditions between backticks")
    name = before.text
    if found.type == "EQUAL" and "COLON" in place.expected:
        way_out = f"write `{name}: {place.rest(place.index + 1) or '...'}`"
        return _miss("DRA0116", f"`=` instead of `:` after `{name}`", found.span, way_out, "`:`")
    if found.type == "COLON" and "EQUAL" in place.expected:
        return _miss("DRA0116", f"`:` instead of `=` after `{name}`", found.span, f"write `{name}=...`", "`=`")
    return None


def _entry(place: Place) -> Diagnostic | None:
    """A block's entry that is neither a field nor sugar: a slip in the sugar's word, or a missing `:`."""
    found, before = place.found, place.before
    if before is None or "COLON" not in place.expected:
        return None
    if found.type in _CLOSED_OR_SEPARATED:
        return _unfinished_entry(place, before)
    if place.index - 1 == place.start and place.in_block and not before.quoted:
        if (slip := _entry_slip(place, before)) is not None:
            return slip
    elif "NL" in place.expected and place.back(2).type != "PRIORITY":
        return None  # after the head of a declaration
    if found.type == "LSQB" and _is_range(place):
        return None
    span = place.end_of_before
    if place.ahead().type == "COLON" and "LBRACE" in place.expected:
        way_out = f"write `{before.text} {{ {place.rest(place.index)} }}`"
        return _miss("DRA0115", f"`{{` is missing after `{before.text}`", span, way_out, "`{`")
    shown = place.rest(place.index) or found.text
    return _miss("DRA0115", f"`:` is missing after `{before.text}`", span, f"write `{before.text}: {shown}`", "`:`")


def _name_before_keyword(place: Place) -> Diagnostic | None:
    """`claim from one-gpu`, `runs on with gpu-0`: the keyword was taken for the name."""
    taken = place.back(1)
    if taken.type != "NAME" or taken.quoted or place.found.type != "NAME" or taken.text.upper() not in place.expected:
        return None
    span = Span(taken.span.source, place.back(2).span.end, place.back(2).span.end)
    way_out = f"write `{place.back(2).text} NAME {place.rest(place.index - 1)}`"
    return _miss("DRA0110", f"a name is missing before `{taken.text}`", span, way_out, "a name")


def _field_without_name(place: Place) -> Diagnostic | None:
    if place.found.type != "COLON" or not place.in_block or place.back(1).type not in ("LBRACE", "NL", "COMMA"):
        return None
    way_out = f"write `name: {place.rest(place.index + 1)}`"
    return _miss("DRA0110", "the name of a field is missing before `:`", place.found.span, way_out, "a name")


def _unfinished_entry(place: Place, word: Token) -> Diagnostic | None:
    if (
        place.index - 1 != place.start
        or not place.in_block
        or place.found.type not in ("NL", "$END", "RBRACE", "COMMA")
    ):
        return None
    span = place.end_of_before
    if word.text == "where":
        way_out = 'write where `device.driver == "gpu.example.com"`, for example'
        return _miss("DRA0121", "a CEL expression is missing", span, way_out, "a CEL expression")
    if word.text in SUGAR_OF.get(place.block_kind, ()):
        return _miss("DRA0110", f"`{word.text}` needs a name", span, f"write `{word.text} NAME ...`", "a name")
    return _miss("DRA0115", f"`{word.text}` has no value", span, f"write `{word.text}: VALUE`", *_words(":", "{"))


def _entry_slip(place: Place, word: Token) -> Diagnostic | None:
    if place.found.type in ("LSQB", "LPAR"):
        return None
    habit = ENTRY_HABITS.get(word.text)
    if habit is not None:
        return _miss("DRA0126", f"`{word.text}` is not a word of the language", word.span, f"did you mean {habit}?")
    if word.text in WHERE_IT_STANDS:
        here = "in a field" if place.block_kind == "map" else f"in the block of a {place.block_kind}"
        way_out = f"it stands {WHERE_IT_STANDS[word.text]}"
        return _miss("DRA0114", f"`{word.text}` does not stand {here}", word.span, way_out)
    near = nearest(word.text, SUGAR_OF.get(place.block_kind, ()))
    if near is not None:
        message = f"`{word.text}` does not begin an entry of a {place.block_kind}"
        return _miss("DRA0113", message, word.span, f"did you mean `{near}`?")
    return None


def _is_range(place: Place) -> bool:
    """Whether the `[` that does not fit is that of a range, a blank too late."""
    before = place.before
    return (
        before is not None
        and before.type == "NAME"
        and (place.ahead(2).type == "RANGE" or re.match(r"\d+-\d+\Z|\d+\Z", place.ahead().text) is not None)
    )


def _blank_before_range(place: Place) -> Diagnostic | None:
    if place.found.type != "LSQB" or not _is_range(place):
        return None
    before = place.back(1)
    closing = next((token for token in place.tokens[place.index :] if token.type == "RSQB"), place.found)
    bracket = place.found.span.to(closing.span).text.replace(" ", "")
    joint = "" if before.text.endswith("-") else "-"
    return _miss(
        "DRA0122",
        "the bracket of a range touches its name",
        before.span.to(closing.span),
        f"did you mean `{before.text}{joint}{bracket}`?",
    )


def _cel_without_backticks(place: Place) -> Diagnostic | None:
    found = place.found
    if place.expected == {"CEL"}:
        if found.type in ("NL", "$END", "RBRACE", "LBRACE"):
            way_out = '`device.driver == "gpu.example.com"`, for example'
            return _miss("DRA0121", "a CEL expression is missing", place.end_of_before, way_out, "a CEL expression")
        text = found.text if found.quoted else place.rest(place.index)
        what = "in quotes" if found.quoted else "without backticks"
        return _miss("DRA0121", f"a CEL expression {what}", found.span, f"write it between backticks: `{text}`")
    before = place.before
    if before is None or not before.quoted or place.back(2).text not in _PROPOSITION_STARTS:
        return None
    if _LOOKS_LIKE_CEL.search(before.text):
        way_out = f"write it between backticks: `{before.text}`"
        return _miss("DRA0121", "a CEL expression in quotes", before.span, way_out)
    return None


def _request_without_count(place: Place) -> Diagnostic | None:
    if place.found.type == "CEL" and place.back(1).text == "where" and place.back(2).type == "OF":
        span = Span(place.found.span.source, place.back(2).span.end, place.back(2).span.end)
        return _miss("DRA0110", "the name of a class is missing", span, "write `1 of CLASS where ...`", "a name")
    if place.found.type == "CEL" and "WHERE" in place.expected:
        return _miss(
            "DRA0110", "`where` is missing", place.end_of_before, "write `where` before a condition", "`where`"
        )
    if place.first.text == "request" and place.expected == {"COLON"} and place.found.type in ("NL", "RBRACE", "$END"):
        name = place.back(1).text
        way_out = f"write `request {name}: 1 of CLASS`"
        return _miss("DRA0115", f"`:` is missing after `{name}`", place.end_of_before, way_out, "`:`")
    if place.expected != {"OF"} or place.first.text != "request" or place.back(2).type != "COLON":
        return None
    name = place.back(1).text
    if name == "first":
        way_out = "write `first available { ... }`"
        return _miss("DRA0110", "`available` is missing after `first`", place.end_of_before, way_out, "`available`")
    if name == "of":
        return _miss("DRA0110", "a count is missing before `of`", place.back(1).span, "write `1 of CLASS`", "a count")
    way_out = f"write `1 of {name}`" if not _NUMBER.match(name) else f"write `{name} of CLASS`"
    return _miss("DRA0110", "a request says how many of which class", place.back(1).span, way_out, "`of`")


# ---- heads -----------------------------------------------------------------------------------------------------------


def _text_without_quotes(place: Place) -> Diagnostic | None:
    before, found = place.before, place.found
    if place.expected != {"STRING"} or before is None:
        return None
    what = {"SCENARIO": "the title of a scenario", "FUZZ": "the title of a fuzz", "XFAIL": "the reason of an `xfail`"}
    named = what.get(before.type, f"the text after `{before.text}`")
    if found.type in ("NL", "$END", "LBRACE", "RBRACE"):
        return _miss("DRA0123", f"{named} is missing", place.end_of_before, f'write `{before.text} "..."`')
    title = re.split(r"\s+(?:tagged|xfail|for|because)\b", place.rest(place.index))[0]
    return _miss("DRA0123", f"{named} stands in double quotes", found.span, f'write `{before.text} "{title}"`')


def _table_head(place: Place) -> Diagnostic | None:
    """`for` in the head of a scenario."""
    head = place.tokens[place.start : place.index]
    if place.first.text not in ("scenario", "fuzz") or not any(token.type == "FOR" for token in head):
        return None
    if any(token.type == "LBRACE" for token in head):
        return None
    found = place.found
    forms = "write `for X in [a, b]`, `for X in 1..3` or `for (X, Y) in [(1, 2), (3, 4)]`"
    if found.type == "RANGE":
        return _miss("DRA0125", "a range of a table stands without brackets", found.span, "write `for X in 1..3`")
    if found.type == "COMMA" and "IN" in place.expected:
        return _miss("DRA0125", "several columns of a table stand in parentheses", found.span, forms)
    if place.expected == {"IN"}:
        what = f"`{found.text}` instead of `in`" if found.text in ("of", "from", "=", ":") else "`in` is missing"
        return _miss("DRA0125", f"{what} in the head of a table", place.span_of_found, forms, "`in`")
    if "RANGE" in place.expected and found.type in ("LBRACE", "NL", "$END", "LPAR"):
        return _miss("DRA0125", f"`{place.back(1).text}` is neither a list nor a range", place.back(1).span, forms)
    return _miss("DRA0125", f"unexpected {spoken_token(found)} in the head of a table", place.span_of_found, forms)


# ---- propositions ----------------------------------------------------------------------------------------------------


def _conjunction(place: Place) -> Diagnostic | None:
    word = place.found.text
    if place.found.quoted or word not in ("and", "or", "but") or not place.words:
        return None
    starts = [text for text in place.words if text in _PROPOSITION_STARTS]
    if not starts:
        if "COMMA" not in place.expected:
            return None
        return _miss("DRA0120", f"`{word}` does not join names", place.found.span, "separate them with `,`", "`,`")
    keyword = starts[-1]
    if word == "or":
        way_out = "say what holds in each case, or write the condition in CEL between backticks"
    elif "RUNS" in place.expected and "COMMA" in place.expected:
        way_out = f"separate names with `,`: `{keyword} {place.back(1).text}, {place.ahead().text} ...`"
    else:
        way_out = f"write two statements: `{keyword} ...; {keyword} ...`"
    return _miss("DRA0120", f"propositions are not joined by `{word}`", place.found.span, way_out)


def _predicate(place: Place) -> Diagnostic | None:
    """What stands after the subject of a proposition."""
    found = place.found
    if found.quoted or not {"RUNS", "IS"} & place.expected:
        return None
    text = found.text
    taken = place.back(1)
    if taken.text in PREDICATE_STARTS and place.back(2).text in _PROPOSITION_STARTS and not taken.quoted:
        span = Span(found.span.source, place.back(2).span.end, place.back(2).span.end)
        way_out = f"write `{place.back(2).text} NAME {place.rest(place.index - 1)}`"
        return _miss("DRA0110", f"a subject is missing before `{taken.text}`", span, way_out, "the name of an object")
    if text in ("pod", "pods") and _NUMBER.match(place.back(1).text):
        way_out = f"write `exactly {place.back(1).text} {text} ...`, or `at least`, `at most`"
        return _miss("DRA0126", "a number of pods needs a quantifier", place.back(1).span, way_out)
    if place.back(1).text == "not" and place.back(2).text in _PROPOSITION_STARTS:
        way_out = f"write `{text} does not run` or `{text} is not ...`"
        return _miss("DRA0126", "`not` stands before the state", place.back(1).span, way_out)
    if text.startswith("//") or "//" in text:
        return _miss("DRA0108", "comments start with `#`", found.span, "put a blank and `#` before the comment")
    if text in STATES:
        return _miss("DRA0126", f"`is` is missing before `{text}`", found.span, f"write `is {text}`", "`is`")
    meant = PREDICATE_HABITS.get(text)
    if meant is not None:
        return _miss("DRA0126", f"`{text}` is not a word of the language", found.span, f"write {meant}")
    return None


def _runs_where(place: Place) -> Diagnostic | None:
    found, before = place.found, place.back(1)
    if found.quoted or found.type in _CLOSED_OR_SEPARATED:
        return None
    if found.text == "with" and "running" in place.words:
        return _miss("DRA0126", "`is running` takes no devices", found.span, "write `runs on NODE with DEVICES`")
    if found.text == "on" and any(token.type == "WITH" for token in place.tokens[place.start : place.index]):
        return _miss("DRA0110", "`on` stands before `with`", found.span, "write `runs on NODE with DEVICES`")
    if before.type in ("RUNS", "RUN") and {"ON", "WITH"} <= place.expected and found.text not in KEYWORDS:
        way_out = f"write `{before.text} on {found.text}`, or `with` before devices"
        message = f"`on` is missing after `{before.text}`"
        return _miss("DRA0126", message, place.end_of_before, way_out, *_words("on", "with"))
    return None


_RULES: Final[tuple[Rule, ...]] = (
    _brace_on_its_own_line,
    _conjunction,
    _not_a_statement,
    _time_missing,
    _cel_without_backticks,
    _text_without_quotes,
    _table_head,
    _colon_after_keyword,
    _colon_or_equal,
    _blank_before_range,
    _body_without_brace,
    _second_statement_on_the_line,
    _request_without_count,
    _name_before_keyword,
    _field_without_name,
    _entry,
    _predicate,
    _runs_where,
)
