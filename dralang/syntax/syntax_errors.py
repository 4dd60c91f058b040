"""What to say about a token that does not fit: what was found, what was expected, what was probably meant.

``near_misses`` knows the mistakes that are worth a text of their own; everything else is told from the set of terminals
that the parser would have taken, in words and most useful first.
"""

from collections.abc import Iterable
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.spelling import nearest
from dralang.syntax.characters import printable
from dralang.syntax.habits import SUGAR_OF
from dralang.syntax.near_misses import near_miss
from dralang.syntax.parser import grammar
from dralang.syntax.place import Place, spoken_token
from dralang.syntax.tokens import Token
from dralang.syntax.vocabulary import DECLARATIONS

MAX_EXPECTED: Final = 5

# The order in which alternatives are told; what is not in here comes after, in alphabetical order.
_USEFUL_FIRST: Final = (
    "COLON", "FROM", "LPAR", "EQUAL", "CEL", "STRING",
    "CREATE", "EXPECT", "AT", "AFTER", "DELETE",
    "RUNS", "IS", "WAS", "HAS", "DOES", "RUN", "ARE", "WERE", "HAVE", "DO",
    "SCENARIO", "POD", "NODE", "SLICE", "CLASS", "CLAIM", "TEMPLATE", "DEVICE", "USE", "FIXTURE",
    "NAME", "LIKE", "IN", "TAGGED", "WITH", "ON", "BY", "FOR", "AS", "BECAUSE", "CONSUMING",
    "OF", "WHERE", "REQUEST", "FIRST", "AVAILABLE", "ALL", "RANGE",
    "LBRACE", "COMMA", "RBRACE", "RPAR", "RSQB", "LSQB", "NL", "$END", "POSSESSIVE",
)  # fmt: skip
_RANK: Final = {name: number for number, name in enumerate(_USEFUL_FIRST)}


_PUNCTUATION: Final = frozenset({"LBRACE", "COMMA", "COLON", "EQUAL", "RPAR", "RSQB", "SEMICOLON"})
# What the name after a keyword is the name of.
_NAMED_AFTER: Final = {
    "KUBERNETES": "a version such as `1.37`",
    "USE": "the name of a module",
    "FROM": "the name of a template",
    "ON": "the name of a node",
    "WITH": "the name of a device",
    "DEVICE": "the name of a device",
    "PAUSE": "the name of a component",
    "RESUME": "the name of a component",
    "RESTART": "the name of a component",
    "DELAY": "the name of a component",
    "BY": "a time such as `10s`",
    "TAGGED": "a tag",
    "EXACTLY": "a number",
    "LEAST": "a number",
    "MOST": "a number",
    "THAN": "a number",
    "REPEAT": "a number",
    "HAS": "an amount such as `40Gi`",
}


def describe_fault(tokens: list[Token], index: int, expected: tuple[str, ...], start: int) -> Diagnostic:
    """The diagnostic for the token ``index``, the first that does not fit; ``start`` begins its statement."""
    place = Place(tokens, index, frozenset(expected), start)
    return near_miss(place) or _unexpected(place)


def _unexpected(place: Place) -> Diagnostic:
    """The general message, from what the parser would have taken."""
    found = place.found
    words = _in_words(place)
    shown = words[:MAX_EXPECTED]
    suggestion = _did_you_mean(place)
    ends = found.type in ("NL", "$END") or (found.type == "RBRACE" and "RBRACE" not in place.expected)
    if ends or (found.type in _PUNCTUATION and len(words) <= 2 and not place.expected & {"RBRACE", "NL"}):
        message = "this statement is not finished" if len(words) > 2 else f"{_either(words)} is missing"
        return Diagnostic(
            code="DRA0110",
            message=message,
            span=place.end_of_before,
            label=f"expected {_either(shown)}",
            expected=tuple(shown),
            help=suggestion,
        )
    before = place.before
    after = f" after {spoken_token(before)}" if before is not None and before.type not in ("NL", "LBRACE") else ""
    return Diagnostic(
        code="DRA0110",
        message=f"unexpected {spoken_token(found)}{after}",
        span=place.span_of_found,
        label=f"expected {_either(shown)}",
        expected=tuple(shown),
        help=suggestion,
    )


def _in_words(place: Place) -> list[str]:
    """What was expected, most useful first: words for a whole group of terminals, else each by its name."""
    expected = place.expected
    if place.at_statement:
        return ["a statement such as `create` or `expect`"]
    if place.at_item:
        return ["a declaration such as `pod` or `class`", "`scenario`", "`use`"]
    if "WHERE" in expected and "DEVICE" in expected:
        return ["a field (`name: value`)", *_entry_words(place), "`}`"]
    if {"LSQB", "LBRACE", "NAME"} <= expected:
        return ["a value"]
    if {"EXACTLY", "CEL"} <= expected:
        return ["the name of an object", "`exactly`", "`all`", "`no`", "a CEL expression in backticks"]
    before = place.before
    if before is not None and before.type in ("IS", "ARE", "WAS", "WERE", "NOT") and "NAME" in expected:
        return ["a state such as `pending`"]
    if before is not None and before.type == "PUBLISH":
        return ["`slice`"]
    left_out: set[str] = set()
    if {"NAME", "POD", "CLAIM"} <= expected:
        left_out = {name.upper() for name in DECLARATIONS}
    elif {"COLON", "LBRACE", "NL"} <= expected and place.back(2).type != "PRIORITY":
        left_out = {"COLON"}  # only priorities have a value
    if "NL" in expected:
        left_out.add("$END")
    names = sorted(expected - left_out, key=lambda name: (_RANK.get(name, len(_RANK)), name))
    spoken = grammar().terminals
    if before is not None and before.type in _NAMED_AFTER:
        spoken = {**spoken, "NAME": _NAMED_AFTER[before.type]}
        if "NAME" in names:
            names = [name for name in names if name != "ANY"]  # a hole is seldom what was forgotten
    return list(dict.fromkeys([spoken[name] for name in names if name in spoken]))


def _entry_words(place: Place) -> list[str]:
    """The sugar that the block around here takes."""
    return [f"`{word}`" for word in SUGAR_OF.get(place.block_kind, ())]


def _did_you_mean(place: Place) -> str:
    """The keyword that a word probably stands for."""
    found = place.found
    if found.type in ("NL", "$END"):
        return ""
    if found.quoted:
        word = _left_out(place)
        return f"write `{word} {place.rest(place.index)}`" if word else ""
    if place.back(1).text == "any" and not place.back(1).quoted:
        return _after_any(place)
    keywords = {text: name for text, name in grammar().keywords.items() if name in place.expected}
    near = nearest(found.text, keywords)
    if near is not None and near != found.text:
        return f"did you mean `{near}`?"
    if len(place.expected) == 1 and keywords and found.type == "NAME":
        return f"write `{next(iter(keywords))}` before `{printable(found.text)}`"
    if (word := _left_out(place)) is not None:
        return f"write `{word} {place.rest(place.index)}`"
    if {"NODE", "DEVICE"} <= place.expected and found.type == "NAME" and not place.in_block:
        return f"write `device {found.text}` or `node {found.text}`"
    is_name = found.type == "NAME" and place.back(1).type == "NAME"
    if is_name and "COMMA" in place.expected and not place.in_block:
        return f"separate names with `,`: `{place.back(1).text}, {found.text}`"
    return ""


def _after_any(place: Place) -> str:
    """What a hole may be, where a word behind `any` makes none."""
    near = nearest(place.found.text, (*DECLARATIONS, "device", "of", "order"))
    return f"did you mean `any {near}`?" if near is not None else "a hole is `any pod`, `any of [a, b]`, `any 0..9`"


def _left_out(place: Place) -> str | None:
    """The keyword whose place the name, time or text here has taken."""
    found, expected = place.found, place.expected
    if found.quoted:
        return "because" if "BECAUSE" in expected else None
    if found.type != "NAME" or place.back(1).type != "NAME":
        return None
    if "FOR" in expected and place.first.text == "tolerate":
        return "for"
    return next((word for word in ("with", "from", "across") if word.upper() in expected), None)


def _either(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *others, last = list(words) or ["something else"]
    return f"{', '.join(others)} or {last}" if others else last
