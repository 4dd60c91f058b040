"""Common mistakes in the fields, sugar and requests of a declaration."""

import re

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.habits import ENTRY_HABITS, SUGAR_OF, WHERE_IT_STANDS
from dralang.syntax.mistakes import CLOSED_OR_SEPARATED, NUMBER, PROPOSITION_STARTS, in_backticks, miss
from dralang.syntax.place import Place
from dralang.syntax.tokens import Token

_LOOKS_LIKE_CEL = re.compile(r"[=!<>]=|&&|\|\||[<>]|\w\(|^!")


def colon_or_equal(place: Place) -> Diagnostic | None:
    """`driver = x`, `label a k: v`, `x == 3`."""
    found, before = place.found, place.before
    if before is None:
        return None
    if found.type == "EQUAL" and place.ahead().type == "EQUAL":
        span = found.span.to(place.ahead().span)
        return miss("DRA0121", "`==` stands outside of a CEL expression", span, "put conditions between backticks")
    name = before.text
    if place.first.text == "set" and found.type == "COLON" and "NAME" in place.expected and "." in name:
        thing, _, path = name.rpartition(".")
        way_out = f"write `set {thing} {path}: {place.rest(place.index + 1)}`"
        return miss("DRA0110", "the object and its field are two words", before.span, way_out)
    if found.type == "EQUAL" and "COLON" in place.expected:
        way_out = f"write `{name}: {place.rest(place.index + 1) or '...'}`"
        return miss("DRA0116", f"`=` instead of `:` after `{name}`", found.span, way_out, "`:`")
    if found.type == "COLON" and "EQUAL" in place.expected:
        return miss("DRA0116", f"`:` instead of `=` after `{name}`", found.span, f"write `{name}=...`", "`=`")
    return None


def entry(place: Place) -> Diagnostic | None:
    """A block's entry that is neither a field nor sugar: a slip in the sugar's word, or a missing `:`."""
    found, before = place.found, place.before
    if before is None or "COLON" not in place.expected:
        return None
    if found.type in CLOSED_OR_SEPARATED:
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
        return miss("DRA0115", f"`{{` is missing after `{before.text}`", span, way_out, "`{`")
    shown = place.rest(place.index) or found.text
    return miss("DRA0115", f"`:` is missing after `{before.text}`", span, f"write `{before.text}: {shown}`", "`:`")


def name_before_keyword(place: Place) -> Diagnostic | None:
    """`claim from one-gpu`, `runs on with gpu-0`: the keyword was taken for the name."""
    taken = place.back(1)
    if place.back(2).text == "next" and taken.text in ("create", "update", "delete", "bind"):
        way_out = f"write `fail next {taken.text} of {place.rest(place.index)}`"
        return miss("DRA0110", f"`of` is missing after `{taken.text}`", place.end_of_before, way_out, "`of`")
    if taken.type != "NAME" or taken.quoted or place.found.type != "NAME" or taken.text.upper() not in place.expected:
        return None
    span = Span(taken.span.source, place.back(2).span.end, place.back(2).span.end)
    way_out = f"write `{place.back(2).text} NAME {place.rest(place.index - 1)}`"
    return miss("DRA0110", f"a name is missing before `{taken.text}`", span, way_out, "a name")


def field_without_name(place: Place) -> Diagnostic | None:
    """`{ : 80Gi }`."""
    if place.found.type != "COLON" or not place.in_block or place.back(1).type not in ("LBRACE", "NL", "COMMA"):
        return None
    way_out = f"write `name: {place.rest(place.index + 1)}`"
    return miss("DRA0110", "the name of a field is missing before `:`", place.found.span, way_out, "a name")


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
        return miss("DRA0121", "a CEL expression is missing", span, way_out, "a CEL expression")
    if word.text in SUGAR_OF.get(place.block_kind, ()):
        return miss("DRA0110", f"`{word.text}` needs a name", span, f"write `{word.text} NAME ...`", "a name")
    return miss("DRA0115", f"`{word.text}` has no value", span, f"write `{word.text}: VALUE`", *in_backticks(":", "{"))


def _entry_slip(place: Place, word: Token) -> Diagnostic | None:
    if word.text == "first" and place.found.text == "available":
        way_out = "write `request NAME: first available { ... }`"
        return miss("DRA0110", "`first available` belongs to a request", word.span, way_out, "`request`")
    if place.found.type in ("LSQB", "LPAR"):
        return None
    habit = ENTRY_HABITS.get(word.text)
    if habit is not None:
        return miss("DRA0126", f"`{word.text}` is not a word of the language", word.span, f"did you mean {habit}?")
    if word.text in WHERE_IT_STANDS:
        here = "in a field" if place.block_kind == "map" else f"in the block of a {place.block_kind}"
        way_out = f"it stands {WHERE_IT_STANDS[word.text]}"
        return miss("DRA0114", f"`{word.text}` does not stand {here}", word.span, way_out)
    near = nearest(word.text, SUGAR_OF.get(place.block_kind, ()))
    if near is not None:
        message = f"`{word.text}` does not begin an entry of a {place.block_kind}"
        return miss("DRA0113", message, word.span, f"did you mean `{near}`?")
    return None


def _is_range(place: Place) -> bool:
    """Whether the `[` that does not fit is that of a range, a blank too late."""
    before = place.before
    return (
        before is not None
        and before.type == "NAME"
        and (place.ahead(2).type == "RANGE" or re.match(r"\d+-\d+\Z|\d+\Z", place.ahead().text) is not None)
    )


def blank_before_range(place: Place) -> Diagnostic | None:
    """`device gpu [0..3]`."""
    if place.found.type != "LSQB" or not _is_range(place):
        return None
    before = place.back(1)
    closing = next((token for token in place.tokens[place.index :] if token.type == "RSQB"), place.found)
    bracket = place.found.span.to(closing.span).text.replace(" ", "")
    joint = "" if before.text.endswith("-") else "-"
    return miss(
        "DRA0122",
        "the bracket of a range touches its name",
        before.span.to(closing.span),
        f"did you mean `{before.text}{joint}{bracket}`?",
    )


def cel_without_backticks(place: Place) -> Diagnostic | None:
    """CEL in quotes, or with nothing around it."""
    found = place.found
    if place.expected == {"CEL"}:
        if found.type in ("NL", "$END", "RBRACE", "LBRACE"):
            way_out = '`device.driver == "gpu.example.com"`, for example'
            return miss("DRA0121", "a CEL expression is missing", place.end_of_before, way_out, "a CEL expression")
        text = found.text if found.quoted else place.rest(place.index)
        what = "in quotes" if found.quoted else "without backticks"
        return miss("DRA0121", f"a CEL expression {what}", found.span, f"write it between backticks: `{text}`")
    before = place.before
    if before is None or not before.quoted or place.back(2).text not in PROPOSITION_STARTS:
        return None
    if _LOOKS_LIKE_CEL.search(before.text):
        way_out = f"write it between backticks: `{before.text}`"
        return miss("DRA0121", "a CEL expression in quotes", before.span, way_out)
    return None


def request_without_count(place: Place) -> Diagnostic | None:
    """`request gpu: gpu`, and other parts of a request that were left out."""
    if place.found.type == "CEL" and place.back(1).text == "where" and place.back(2).type == "OF":
        span = Span(place.found.span.source, place.back(2).span.end, place.back(2).span.end)
        return miss("DRA0110", "the name of a class is missing", span, "write `1 of CLASS where ...`", "a name")
    if place.found.type == "CEL" and "WHERE" in place.expected:
        return miss("DRA0110", "`where` is missing", place.end_of_before, "write `where` before a condition", "`where`")
    if place.first.text == "request" and place.expected == {"COLON"} and place.found.type in ("NL", "RBRACE", "$END"):
        name = place.back(1).text
        way_out = f"write `request {name}: 1 of CLASS`"
        return miss("DRA0115", f"`:` is missing after `{name}`", place.end_of_before, way_out, "`:`")
    if place.expected != {"OF"} or place.first.text != "request" or place.back(2).type != "COLON":
        return None
    name = place.back(1).text
    if name == "first":
        way_out = "write `first available { ... }`"
        return miss("DRA0110", "`available` is missing after `first`", place.end_of_before, way_out, "`available`")
    if name == "of":
        return miss("DRA0110", "a count is missing before `of`", place.back(1).span, "write `1 of CLASS`", "a count")
    way_out = f"write `1 of {name}`" if not NUMBER.match(name) else f"write `{name} of CLASS`"
    return miss("DRA0110", "a request says how many of which class", place.back(1).span, way_out, "`of`")
