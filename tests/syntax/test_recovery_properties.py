"""What recovery promises, on damaged specs: no error is lost, none appears elsewhere, nothing raises."""

from random import Random

import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import Mutant, Spec, mutant, specs

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.render import render_json, render_text
from dralang.diagnostics.source import SourceFile
from dralang.syntax.brackets import balanced
from dralang.syntax.dump import dump
from dralang.syntax.nodes import File
from dralang.syntax.parser import SyntaxFaultError, parse_tokens
from dralang.syntax.reading import parse
from dralang.syntax.recovery import recover
from dralang.syntax.tokens import CONTINUATIONS, lex
from dralang.syntax.vocabulary import KEYWORDS

SPECS = specs()
EXAMPLES = [spec for spec in SPECS if spec.name.endswith(".dra")]
BLOCK = [spec for spec in SPECS if len(spec.items) > 1]


def read(text: str) -> tuple[File, list[Diagnostic]]:
    log = DiagnosticLog()
    return parse(SourceFile("spec.dra", text), log), log.sorted()


def is_right(text: str) -> bool:
    """Whether the lexer and the grammar take the whole text, without any recovery."""
    log = DiagnosticLog()
    lexed = lex(SourceFile("spec.dra", text), log)
    try:
        parse_tokens(lexed.tokens)
    except SyntaxFaultError:
        return False
    return not log


def has_matching_brackets(text: str) -> bool:
    return balanced(lex(SourceFile("spec.dra", text), DiagnosticLog()).tokens)


def places(found: list[Diagnostic]) -> list[int]:
    return [item.span.start for item in found if item.span is not None]


def test_there_is_something_to_damage():
    assert len(EXAMPLES) >= 7
    assert len(BLOCK) >= 12


@pytest.mark.parametrize("spec", SPECS, ids=[spec.name for spec in SPECS])
def test_items_read_one_by_one_are_the_items_of_the_whole(spec: Spec):
    whole, found = read(spec.text)
    assert not found
    log = DiagnosticLog()
    one_by_one = recover(lex(SourceFile("spec.dra", spec.text), log), log)
    assert not log
    assert [dump(item) for item in one_by_one] == [dump(item) for item in whole.items]


def check_others(spec: Spec, damaged: Mutant, file: File) -> None:
    """The items without damage are in the tree, in their order."""
    before = parse(SourceFile("spec.dra", spec.text), DiagnosticLog())
    wanted = [dump(item) for number, item in enumerate(before.items) if number != damaged.item]
    kept = iter([dump(item) for item in file.items])
    assert all(item in kept for item in wanted), damaged.what


def mutants(spec: Spec, count: int, kinds: tuple[str, ...]) -> list[Mutant]:
    """Drawn by the name of the spec, so that a new spec changes nothing for the others."""
    return [mutant(spec, Random(f"{spec.name} {number}"), kinds) for number in range(count)]


@pytest.mark.parametrize("spec", BLOCK, ids=[spec.name for spec in BLOCK])
def test_garbage_gives_errors_in_its_item_only(spec: Spec):
    for damaged in mutants(spec, count(5, 100), ("garbage",)):
        file, found = read(damaged.text)
        assert found, damaged.what
        assert all(damaged.start <= place <= damaged.end for place in places(found)), damaged.what
        check_others(spec, damaged, file)


@pytest.mark.parametrize("spec", BLOCK, ids=[spec.name for spec in BLOCK])
def test_one_damaged_token_gives_errors_in_its_item_only(spec: Spec):
    for damaged in mutants(spec, count(10, 200), ("delete", "double", "swap", "cut")):
        if damaged.text[damaged.start : damaged.end].split()[:1] in [[word] for word in CONTINUATIONS]:
            continue  # what is left of the item goes on with the item before
        file, found = read(damaged.text)
        states = [item for item in found if item.code in ("DRA0126", "DRA0127")]
        assert bool(found) != is_right(damaged.text) or states, damaged.what
        if not has_matching_brackets(damaged.text):
            assert found, damaged.what
        elif not damaged.text[: damaged.end].endswith(","):  # a comma goes on with the next line
            check_others(spec, damaged, file)
        assert all(in_or_beside(place, damaged) for place in places(found)), damaged.what


def in_or_beside(place: int, damaged: Mutant) -> bool:
    """From the end of what stands before the item to the end of its last line."""
    line_end = damaged.text.find("\n", damaged.end)
    before = len(damaged.text[: damaged.start].rstrip())
    return before <= place <= (len(damaged.text) if line_end < 0 else line_end)


@pytest.mark.parametrize("spec", BLOCK, ids=[spec.name for spec in BLOCK])
def test_faults_in_three_items_are_all_found(spec: Spec):
    random = Random(spec.name)
    numbers = sorted(random.sample(range(len(spec.items)), min(3, len(spec.items))), reverse=True)
    text = spec.text
    for number in numbers:
        start, end = spec.items[number]
        inner = text.find(" ", start, end)
        text = text[:inner] + " %" + text[inner:]
    _, found = read(text)
    assert len(found) == len(numbers), "\n".join(item.message for item in found)


def check_anything(text: str) -> None:
    file, found = read(text)
    for item in found:
        assert item.span is not None
        assert 0 <= item.span.start <= item.span.end <= len(item.span.source.text)
        assert "\n" not in item.message
        assert len(item.expected) <= 5
    assert render_text(found, color=True, width=80).count("error[") == sum(i.severity == "error" for i in found)
    assert len(render_json(found)) == len(found)
    assert dump(file)
    if not found:
        assert is_right(text)


@settings(max_examples=count(200, 4_000), derandomize=True, deadline=None, database=None)
@given(st.text(max_size=300))
def test_any_text_gives_diagnostics_and_no_exception(text: str):
    check_anything(text)


_WORDS = [
    *sorted(KEYWORDS),
    *"{}()[],:=;",
    "..",
    "'s",
    "\n",
    "\n  ",
    "x",
    "gpu-0",
    "10s",
    '"text"',
    "`cel`",
    "#",
    "80Gi",
]
_WORDS += ["${i}", "a-[0..3]", "'", '"', "`", "pending", "gpu", "1", "%"]


@settings(max_examples=count(500, 10_000), derandomize=True, deadline=None, database=None)
@given(st.lists(st.sampled_from(_WORDS), max_size=60))
def test_any_order_of_words_gives_diagnostics_and_no_exception(words: list[str]):
    check_anything(" ".join(words))


@settings(max_examples=count(200, 4_000), derandomize=True, deadline=None, database=None)
@given(st.sampled_from(EXAMPLES), st.integers(0, 5000), st.integers(0, 400), st.text(max_size=5))
def test_any_stretch_of_a_spec_may_be_lost(spec: Spec, start: int, length: int, text: str):
    start %= len(spec.text)
    check_anything(spec.text[:start] + text + spec.text[start + length :])
