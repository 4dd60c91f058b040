"""Specs for property tests: valid texts, cut into their items, and ways to damage one of them."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.syntax.reading import parse
from dralang.syntax.tokens import Token, lex

TESTS = Path(__file__).resolve().parent
_VALID_BLOCK = re.compile(r"^```dra\n(.*?)^```$", re.M | re.S)


class Spec(NamedTuple):
    """A valid text and the ranges of its items, as offsets."""

    name: str
    text: str
    items: tuple[tuple[int, int], ...]


class Mutant(NamedTuple):
    """A damaged text: which item, how, and where that item is now."""

    text: str
    item: int
    start: int
    end: int
    what: str


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, all of them raw."""
    return lex(SourceFile("spec.dra", text), DiagnosticLog()).tokens


def specs() -> list[Spec]:
    """The examples, the shipped specs and the valid language tests."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((TESTS / "data/examples").glob("*.dra"))}
    for path in sorted((TESTS.parent / "specs").rglob("*.dra")):
        texts[str(path.relative_to(TESTS.parent))] = path.read_text(encoding="utf-8")
    valid = (TESTS / "language/syntax-valid.md").read_text(encoding="utf-8")
    for number, block in enumerate(_VALID_BLOCK.findall(valid)):
        texts[f"valid-{number}"] = block
    return [spec for name, text in texts.items() if (spec := _spec(name, text)).items]


def _spec(name: str, text: str) -> Spec:
    file = parse(SourceFile(name, text), DiagnosticLog())
    return Spec(name, text, tuple([(item.span.start, item.span.end) for item in file.items]))


def mutant(spec: Spec, random: Random, kinds: tuple[str, ...]) -> Mutant:
    """Damage one random token of one random item."""
    number = random.randrange(len(spec.items))
    start, end = spec.items[number]
    inside = [token for token in tokens_of(spec.text) if start <= token.span.start and token.span.end <= end]
    token = random.choice([token for token in inside if token.type != "NL"])
    kind = random.choice(kinds)
    first, last = token.span.start, token.span.end
    word = spec.text[first:last]
    if kind == "delete":
        new = ""
    elif kind == "double":
        new = f"{word} {word}"
    elif kind == "swap":
        new = random.choice(["=", ":", "foo", "and", "}", "{", ")", "[", '"x"', "`x`", "create", "10s", ",", "..", "'"])
    elif kind == "garbage":
        new = f"{word} % "
    else:
        assert kind == "cut"
        line_end = spec.text.find("\n", last)
        last = min(end, len(spec.text) if line_end < 0 else line_end)
        new = ""
    text = spec.text[:first] + new + spec.text[last:]
    return Mutant(text, number, start, end + len(text) - len(spec.text), f"{spec.name}: {kind} `{word}` at {first}")
