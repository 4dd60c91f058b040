"""What a story can reach: reasons of refusals, events, controllers that act, features in use. Read from the code."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from dralang.features import VERSIONS, gates_of
from dralang.fuzz.sources import GAP, Scope, Sources, argument_of, name_of

SOURCES: Final = (
    "scheduler/**/*.py",
    "controllers/*.py",
    "cluster/*.py",
    "run/*.py",
    "allocator/outcome.py",
    "allocator/allocate.py",
)
_REFUSING: Final = frozenset({"UNSCHEDULABLE", "UNRESOLVABLE", "ERROR"})
_NUMBERS: Final = re.compile(r"\d+")


class Catalogue(Struct, frozen=True):
    """Everything that can be reached, as people read it.

    Attributes:
        events: the reasons of the record, as `Scheduled`.
        refusals: why plugins do not let a pod be placed, or not even tried; `…` where something is filled in.
        controllers: by name.
        features: the gates of fields that objects may use.
    """

    events: tuple[str, ...]
    refusals: tuple[str, ...]
    controllers: tuple[str, ...]
    features: tuple[str, ...]


class Site(Struct, frozen=True):
    """A place in the code where a refusal is made.

    Attributes:
        line: of its module.
        codes: of its outcome, as `UNSCHEDULABLE`.
        texts: what it can say, with gaps; nothing but a gap where it passes on what others say.
    """

    line: int
    codes: frozenset[str]
    texts: frozenset[str]


@cache
def catalogue() -> Catalogue:
    """The catalogue of this very code."""
    sources = Sources(SOURCES)
    refusals = {text for site in refusal_sites(sources) for text in site.texts}
    return Catalogue(
        tuple(sorted({text for texts in event_sites(sources) for text in texts if GAP not in text})),
        tuple(sorted({text.replace(GAP, "…") for text in refusals if text.strip(GAP)})),
        tuple(sorted(_controllers(sources))),
        features(),
    )


def refusal_sites(sources: Sources) -> Iterator[Site]:
    """Each place where a refusal with a reason is made."""
    for call, scope in sources.calls.get("Status", []):
        if len(call.args) > 1 and (codes := _REFUSING.intersection(_attributes(call.args[0], scope))):
            texts = [text for each in call.args[1:] for text in sources.texts(each, scope)]
            yield Site(call.lineno, codes, frozenset(filter(None, texts)))


def _attributes(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The attributes in an expression, or in what its name was given in this function."""
    nodes: list[ast.AST] = [node]
    if isinstance(node, ast.Name) and scope.function is not None:
        nodes = [
            each.value
            for each in ast.walk(scope.function)
            if isinstance(each, ast.Assign) and any(name_of(target) == node.id for target in each.targets)
        ]
    for each in nodes:
        yield from (part.attr for part in ast.walk(each) if isinstance(part, ast.Attribute))


def event_sites(sources: Sources) -> Iterator[frozenset[str]]:
    """The reasons that each place where an entry of the record is made can give."""
    for call, scope in sources.calls.get("JournalEntry", []):
        reason = argument_of(call, call.args, 5, "reason")
        if reason is not None:
            yield sources.texts(reason, scope)


def _controllers(sources: Sources) -> set[str]:
    return {
        sources.class_text(node, "name")
        for nodes in sources.classes.values()
        for node in nodes
        if any(name_of(base.value if isinstance(base, ast.Subscript) else base) == "Controller" for base in node.bases)
    }


@cache
def features() -> tuple[str, ...]:
    """The gates without which an API server drops fields."""
    known = {gate for version in VERSIONS for gate in gates_of(version)}
    [tree] = Sources(("api/gated.py",)).trees.values()
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return tuple(sorted(named & known))


# ---- what was said --------------------------------------------------------------------------------------------------


def without_numbers(message: str) -> str:
    """A message with all numbers as N: how many nodes there are is no reason of its own."""
    return _NUMBERS.sub("N", message)


def said(messages: Iterable[str], refusals: Iterable[str]) -> frozenset[str]:
    """The refusals that some messages, without numbers, are made of."""
    patterns = [(refusal, _pattern(refusal)) for refusal in sorted(refusals, key=_letters, reverse=True)]
    found: set[str] = set()
    for message in messages:
        rest = message
        for refusal, pattern in patterns:
            less = pattern.sub(_gaps, rest)
            if less != rest:
                found.add(refusal)
                rest = less  # a longer reason may have a shorter one in it
    return frozenset(found)


def _letters(refusal: str) -> tuple[int, str]:
    return len(refusal.replace("…", "")), refusal


def _pattern(refusal: str) -> re.Pattern[str]:
    parts = without_numbers(refusal).strip("…").split("…")
    return re.compile("(.+?)".join(map(re.escape, parts)))


def _gaps(match: re.Match[str]) -> str:
    """What was filled in may be a reason too."""
    return "|".join(["", *match.groups(), ""])
