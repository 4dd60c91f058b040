"""What the rules of the TextMate grammar are made of: words, parts of rules, and rules.

A rule is a sequence of parts (`keyword("request")`, `name("declared")`, `mark(":", ...)`); the regular expressions and
their capture groups follow from it. The scope of a keyword comes from its category in the one table of words, and a
keyword that the table does not have is an error, so the grammar cannot know a word that the language does not.
"""

from dataclasses import dataclass
from typing import Any, Final

from dralang.syntax.vocabulary import ACTIONS, DECLARATIONS, KEYWORDS, PREDICATE_STARTS, SUGAR

Rule = dict[str, Any]

KEYWORD_SCOPES: Final = {
    "declaration": "storage.type.declaration.dra",
    "structure": "keyword.control.structure.dra",
    "sugar": "keyword.other.sugar.dra",
    "time": "keyword.control.time.dra",
    "action": "keyword.other.action.dra",
    "expectation": "keyword.other.expectation.dra",
    "hole": "keyword.other.hole.dra",
}
NAME_SCOPES: Final = {
    "declared": "entity.name.type.dra",
    "fixture": "entity.name.function.dra",
    "parameter": "variable.parameter.dra",
    "field": "variable.other.property.dra",
    "reference": "variable.other.dra",
    "key": "entity.other.attribute-name.dra",
    "value": "string.unquoted.dra",
    "effect": "variable.other.enummember.effect.dra",
    "component": "support.class.component.dra",
    "tag": "entity.other.tag.dra",
    "module": "entity.name.namespace.dra",
}

# ---- words, as dralang/syntax/tokens.py cuts them -------------------------------------------------------------------

# Atomic groups: `a[${x}${x}...` without its bracket would otherwise be tried in 2**n ways.
SUBSTITUTION = r'\$\{(?>(?:"(?:[^"\\\n]|\\.)*"|[^}"\n])*)\}'
BRACKET = rf"\[(?>(?:{SUBSTITUTION}|[^\[\]\n])*)\]"
WORD = (
    rf"(?>(?:[A-Za-z0-9_*]|{SUBSTITUTION}|[+-](?=[0-9.$])|\.(?=[0-9]))"
    r"(?:[A-Za-z0-9_/*]|(?<=[0-9])%|\.(?=[A-Za-z0-9_*$\[-])|-(?=[A-Za-z0-9_*$\[/.-])|\+(?=[A-Za-z0-9])"
    rf"|{SUBSTITUTION}|{BRACKET})*)"
)
STRING = r'"(?:[^"\\\n]|\\.)*"'
NAME = f"(?:{WORD}|{STRING})"
WORD_START = r"""[A-Za-z0-9_*"$+-]"""
BEFORE = r"(?<![A-Za-z0-9_/*.-])"
AFTER = r"(?![A-Za-z0-9_/*%]|\.(?=[A-Za-z0-9_*$\[-])|-(?=[A-Za-z0-9_*$\[/.-])|\+(?=[A-Za-z0-9])|\$\{|\[)"


def words(*names: str) -> str:
    """One of some keywords, as a whole word.

    Raises:
        KeyError: a word that the table of words does not have.
    """
    for one in names:
        KEYWORDS[one]
    return f"{BEFORE}(?:{'|'.join(sorted(names, key=lambda word: (-len(word), word)))}){AFTER}"


KINDS: Final = tuple(DECLARATIONS)
PREDICATES: Final = words(*sorted(PREDICATE_STARTS))
TOP: Final = ("scenario", "fuzz", "fixture", "use", "kubernetes", "always", "never", *KINDS)
# Where whatever is still open ends: a line that begins with one of these at its very start.
UNWIND: Final = rf"(?=^(?:{'|'.join(TOP)})[ \t]+[A-Za-z0-9_*\"`$]|^(?:gates|quirks|scheduler)[ \t]+\{{)"
# Inside brackets and blocks of fields a line that only a statement can begin with says that a bracket is missing.
_STATEMENT_WORDS: Final = sorted(
    (set(ACTIONS) - {"like", "next", "update", "bind", "set"}) | {"expect", "witness", "within"}
)
MISSING: Final = rf"{UNWIND}|(?=^[ \t]*(?:{'|'.join(_STATEMENT_WORDS)})[ \t]+[A-Za-z0-9_*$])"
# A list holds no line that begins like a field or an entry either.
_ENTRY_WORDS: Final = sorted({*DECLARATIONS, *SUGAR} - {"first", "available", "across", "init", "on", "where"})
MISSING_IN_LIST: Final = (
    rf"{MISSING}|(?=^[ \t]*(?:{'|'.join(_ENTRY_WORDS)})[ \t]+[A-Za-z0-9_*$])|(?=^[ \t]*[A-Za-z0-9_./-]+[ \t]*:[ \t])"
)

# ---- parts of rules -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A regular expression and what its capture groups mean, in order."""

    regex: str
    captures: tuple[Rule, ...] = ()


SPACE: Final = Part(r"[ \t]+")
GAP: Final = Part(r"[ \t]*")
_NAME_PARTS: Final = [{"include": f"#{rule}"} for rule in ("string", "substitution", "range", "wildcard")]


def keyword(*names: str) -> Part:
    """One of some keywords; its scope follows from its category."""
    return Part(f"({words(*names)})", ({"patterns": [{"include": "#keyword"}]},))


def name(role: str) -> Part:
    """A name, bare or quoted, in a role of ``NAME_SCOPES``."""
    return Part(f"({NAME})", ({"name": NAME_SCOPES[role], "patterns": _NAME_PARTS},))


def scalar() -> Part:
    """A word whose looks say what it is: a number, a quantity, a version, a text."""
    return Part(f"({NAME})", ({"patterns": [{"include": "#string"}, {"include": "#scalar"}]},))


def duration() -> Part:
    """A word where only a duration can stand: `1m` is a minute here."""
    return Part(f"({NAME})", ({"patterns": [{"include": "#string"}, {"include": "#minutes"}, {"include": "#scalar"}]},))


def state() -> Part:
    """A word where a state stands."""
    return Part(f"({NAME})", ({"patterns": [{"include": "#state"}, {"include": "#reference"}]},))


def mark(text: str, scope: str) -> Part:
    """Punctuation; ``text`` is a regular expression."""
    return Part(f"({text})", ({"name": f"{scope}.dra"},))


def look(regex: str) -> Part:
    """What must or must not follow."""
    return Part(regex)


def maybe(*parts: Part) -> Part:
    """Parts that may be missing."""
    inner = joined(*parts)
    return Part(f"(?:{inner.regex})?", inner.captures)


def joined(*parts: Part) -> Part:
    """Parts one after the other."""
    return Part("".join([part.regex for part in parts]), tuple([each for part in parts for each in part.captures]))


def of_kind(*kinds: str) -> Part:
    """A name, with or without a kind word, which is itself a name where no name follows."""
    also = look(rf"(?!{words('because', 'with', 'for', 'consuming', 'by', 'on')})(?={WORD_START})")
    return joined(maybe(keyword(*kinds), SPACE, also), name("reference"))


def either(*parts: Part) -> Part:
    """The first of some parts that fits."""
    return Part(
        f"(?:{'|'.join([part.regex for part in parts])})", tuple([each for part in parts for each in part.captures])
    )


COLON: Final = mark(":", "punctuation.separator.key-value")
EQUAL: Final = mark("=", "keyword.operator.assignment")
COMMA: Final = mark(",", "punctuation.separator.comma")
RANGE: Final = mark(r"\.\.", "keyword.operator.range")


def reference(*, subject: bool = False) -> Part:
    """``NAME``, ``KIND NAME``, ``any KIND`` or ``any of`` (its list follows); before a predicate a kind is a name."""
    kinds = keyword(*KINDS, "device", "counters") if subject else keyword(*KINDS)
    unless = look(rf"(?!{PREDICATES})(?={WORD_START})" if subject else f"(?={WORD_START})")
    return either(
        joined(maybe(kinds, SPACE), any_of()),
        any_kind(),
        joined(maybe(kinds, SPACE, unless), name("reference")),
    )


def any_of() -> Part:
    """``any of``, before its list, which follows by itself."""
    return joined(keyword("any"), SPACE, keyword("of"), look(r"(?=[ \t]*\[)"))


def any_kind() -> Part:
    """``any KIND``."""
    return joined(keyword("any"), SPACE, keyword(*KINDS, "device"))


def pick() -> Part:
    """``NAME``, ``any KIND`` or ``any of`` (its list follows)."""
    return either(any_of(), any_kind(), name("reference"))


# ---- rules ----------------------------------------------------------------------------------------------------------


def numbered(part: Part) -> Rule:
    """The capture groups of a part, by number."""
    return {str(number): meaning for number, meaning in enumerate(part.captures, 1)}


def match(*parts: Part) -> Rule:
    """A rule for something that stands on one line."""
    whole = joined(*parts)
    return {"match": whole.regex, "captures": numbered(whole)} if whole.captures else {"match": whole.regex}


def region(*parts: Part, until: str | Part, inside: list[Rule], scope: str | None = None) -> Rule:
    """A rule for something that may span lines; ``inside`` are the rules within."""
    begin = joined(*parts)
    end = until if isinstance(until, Part) else Part(until)
    rule: Rule = {"name": scope} if scope else {}
    rule |= {"begin": begin.regex}
    if begin.captures:
        rule["beginCaptures"] = numbered(begin)
    rule["end"] = end.regex
    if end.captures:
        rule["endCaptures"] = numbered(end)
    return {**rule, "patterns": inside}


def use(*names: str) -> list[Rule]:
    """Rules of the repository, by name."""
    return [{"include": f"#{one}"} for one in names]


def bracketed(opening: str, closing: str, kind: str, inside: list[Rule], escape: str = MISSING) -> Rule:
    """A rule for a pair of brackets."""
    return region(
        mark(opening, f"punctuation.section.{kind}.begin"),
        until=joined(mark(closing, f"punctuation.section.{kind}.end"), look(f"|{escape}")),
        inside=inside,
    )


END_OF_STATEMENT: Final = rf"$|(?=[;}}])|{MISSING}"
END_OF_ENTRY: Final = rf"$|(?=[;,}}\])])|{MISSING_IN_LIST}"
FOLLOWS: Final = look(r"(?=[ \t]*[A-Za-z0-9_*\"`$+-])")


def more(item: Part) -> Rule:
    """``, item``, also on the next line."""
    return region(
        GAP, COMMA, until=joined(look(f"{MISSING}|"), GAP, item, look(r"|(?=[^ \t#\n])")), inside=use("comment")
    )


def listed(*parts: Part, item: Part) -> Rule:
    """``head item, item``."""
    return region(*parts, item, until=r"(?![ \t]*,)", inside=[more(item)])


def timed(*heads: Part) -> list[Rule]:
    """A head with its time: ``at 5s``, ``at any 0s..60s``, ``at any of [1s, 2s]`` (the list follows by itself)."""
    return [
        match(*heads, SPACE, keyword("any"), SPACE, duration(), GAP, RANGE, GAP, duration()),
        match(*heads, SPACE, keyword("any"), SPACE, keyword("of"), look(r"(?=[ \t]*\[)")),
        match(*heads, SPACE, duration()),
    ]


AFTER_LIST: Final = look(r"(?<=\])[ \t]*")
NO_HOLE: Final = look(r"(?!any[ \t]+of[ \t]*\[)")


def taint_parts() -> list[Rule]:
    """What may follow the key of ``KEY[=VALUE]:EFFECT``, and holes in its place and theirs."""
    return [
        *use("comment", "hole", "list"),
        match(EQUAL, maybe(GAP, NO_HOLE, name("value"))),
        match(COLON, maybe(GAP, NO_HOLE, name("effect"))),
    ]
