"""Whatever is written in whatever way: formatting keeps what it says and its comments, and does so once."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest
from counts import count
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.grammar import NonTerminal, Rule

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter.format import format_file
from dralang.resources import grammar_path
from dralang.syntax.dump import dump
from dralang.syntax.nodes import File, Node
from dralang.syntax.parser import SyntaxFaultError, parse_tokens
from dralang.syntax.tokens import CONTINUATIONS, Token, lex

EXAMPLES = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).resolve().parent.parent / "data" / "examples").glob("*.dra"))
}
Draw = Callable[[st.SearchStrategy], object]


def parsed(text: str) -> File | None:
    """The tree of a text, or None if it does not fit the grammar; words have any meaning here."""
    log = DiagnosticLog()
    source = SourceFile("a.dra", text)
    lexed = lex(source, log)
    assert not log.has_errors, [item.message for item in log.sorted()]
    try:
        items = parse_tokens(lexed.tokens)
    except SyntaxFaultError:
        return None
    return File(Span(source, 0, len(text)), source, items, lexed.comments)


def comments_of(file: File) -> list[str]:
    return [comment.text for comment in file.comments]


def check(text: str) -> str:
    """Format a text without errors and check all that formatting promises; returns the result."""
    before = parsed(text)
    assert before is not None
    result = format_file(before)
    after = parsed(result)
    assert after is not None, result
    assert dump(after) == dump(before)
    assert comments_of(after) == comments_of(before)
    assert format_file(after) == result, "formatting twice is not formatting once"
    assert result == "" or (result.endswith("\n") and not result.endswith("\n\n"))
    assert "\n\n\n" not in re.sub(r"`[^`]*`", "``", result)
    return result


# ---- sentences of the grammar ---------------------------------------------------------------------------------------

NAMES = [
    "a", "worker-1", "gpu.example.com/model", "10s", "1", "80Gi", "gpu-[0..3]", "p-${i}", "batch-*", "v1.2.3", '"a b"',
    '"x\\n\\u00e9"', "with", "for", "pod", "all", "match", "-5", "x" * 50,
]  # fmt: skip
DECLARED = {
    "NAME": st.sampled_from(NAMES),
    "STRING": st.sampled_from(['"a text"', '"# not a comment"', '"${i} {"', '""', '"' + "long " * 20 + '"']),
    "CEL": st.sampled_from(["`a`", "`a\n    && b  `", "`a # b`", "``", "`" + "x && " * 25 + "y`"]),
    "NL": st.sampled_from(["\n", ";", "\n\n\n"]),
}


class Sentences:
    """The grammar as a source of sentences."""

    def __init__(self) -> None:
        lark = Lark(grammar_path().read_text(encoding="utf-8"), parser="lalr", start="file", keep_all_tokens=True)
        self.texts = {
            terminal.name: terminal.pattern.value for terminal in lark.terminals if terminal.name not in DECLARED
        }
        self.rules: dict[str, list[Rule]] = {}
        for rule in lark.rules:
            self.rules.setdefault(rule.origin.name, []).append(rule)
        self.height: dict[str, int] = {}
        changed = True
        while changed:
            changed = False
            for name, rules in self.rules.items():
                height = min([self._height(rule) for rule in rules])
                if height < self.height.get(name, 1000):
                    self.height[name] = height
                    changed = True

    def _height(self, rule: Rule) -> int:
        inner = [self.height.get(s.name, 999) for s in rule.expansion if isinstance(s, NonTerminal)]
        return 1 + max(inner, default=0)

    def sentence(self, draw: Draw, start: str, budget: int) -> str:
        words: list[str] = []
        waiting = [(start, True)]
        while waiting:
            name, is_rule = waiting.pop()
            if not is_rule:
                words.append(str(draw(DECLARED[name])) if name in DECLARED else self.texts[name])
                continue
            rules = self.rules[name]
            budget -= 1
            if budget < 0:
                lowest = self.height[name]
                rules = [rule for rule in rules if self._height(rule) == lowest]
            rule = rules[draw(st.integers(0, len(rules) - 1))]  # type: ignore[call-overload]
            waiting.extend([(s.name, isinstance(s, NonTerminal)) for s in reversed(rule.expansion)])
        return " ".join(words)


# Where a sentence starts, and what makes a file of it: the rules of statements and entries are too deep in the grammar
# to be met often from its top.
STARTS = [
    ("file", "", ""),
    ("scenario", "", ""),
    ("block", "pod p ", ""),
    ("entry", "pod p { ", "\n}"),
    ("statement", 'scenario "s" { ', " }"),
    ("statement", 'fuzz "s" {\n', "\n}"),
    ("action", 'scenario "s" {\nat 5s ', "; settle }"),
    ("proposition", 'scenario "s" {\nexpect ', ";settle }"),
]


@cache
def sentences() -> Sentences:
    return Sentences()


@st.composite
def sentence(draw):
    start, before, after = draw(st.sampled_from(STARTS))
    return before + sentences().sentence(draw, start, draw(st.integers(5, 150))) + after


# ---- other ways to write the same -----------------------------------------------------------------------------------

COMMENTS = ["# c", "#", "#{ } ] ) `", '# "', "# ; , a: b", "#" + "x" * 130, "# #"]
SPACES = st.sampled_from(["", " ", "   ", "\t"])
ENDS = st.sampled_from(
    ["\n", ";", "\n\n\n", " ;\n", "\r\n", *[f" {c}\n" for c in COMMENTS], *[f"\n\n {c}\n" for c in COMMENTS]]
)
BROKEN = st.sampled_from(["", "", "", "\n", "\n\n", *[f" {c}\n" for c in COMMENTS], *[f"\n{c}\n\n" for c in COMMENTS]])


def may_break(tokens: list[Token], index: int, brackets: list[str]) -> bool:
    """Whether a line may end before a token without ending anything."""
    before, token = tokens[index - 1], tokens[index]
    if before.type in ("LBRACE", "COMMA") or token.type == "RBRACE" or (brackets and brackets[-1] != "LBRACE"):
        return True
    following = tokens[index + 1].type if index + 1 < len(tokens) else ""
    return token.type == "WORD" and token.text in CONTINUATIONS and following != "COLON"


@st.composite
def rewritten(draw, text):
    """A text with other spaces, line ends, separators and comments, which says the same."""
    log = DiagnosticLog()
    tokens = lex(SourceFile("a.dra", text), log).tokens
    out = [draw(st.sampled_from(["", "\n\n", "# first\n"]))]
    brackets: list[str] = []
    ends = False
    previous_end = 0
    for index, token in enumerate(tokens):
        if token.type == "NL":
            ends = True
            continue
        if token.type == "$END":
            break
        gap = " " if token.span.start > previous_end else ""
        previous_end = token.span.end
        if ends:
            gap = draw(ENDS)
        elif index > 0 and may_break(tokens, index, brackets):
            gap += draw(SPACES) + draw(BROKEN)
            if token.type in ("RBRACE", "RSQB", "RPAR") and tokens[index - 1].type not in ("LBRACE", "LSQB", "LPAR"):
                gap = draw(st.sampled_from(["", " ,"])) + gap
        out += [gap, draw(SPACES), token.span.text]
        ends = False
        if token.type in ("LBRACE", "LSQB", "LPAR"):
            brackets.append(token.type)
        elif token.type in ("RBRACE", "RSQB", "RPAR"):
            brackets.pop()
    out.append(draw(ENDS))
    return "".join(out)


def without_places(node: Node) -> Node:
    """A tree as a program would make it, with nothing of a source."""
    nowhere = Span(SourceFile("made", ""), 0, 0)
    parts: dict[str, object] = {"span": nowhere}
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            parts[name] = without_places(value)
        elif type(value) is tuple:
            parts[name] = tuple([without_places(item) if isinstance(item, Node) else item for item in value])
    if isinstance(node, File):
        parts |= {"source": nowhere.source, "comments": ()}
    return msgspec.structs.replace(node, **parts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_written_in_the_one_way(name):
    assert check(EXAMPLES[name]) == EXAMPLES[name]


def test_there_are_examples():
    assert len(EXAMPLES) >= 7


@settings(max_examples=count(400, 8000), deadline=None, derandomize=True, database=None)
@given(sentence())
@example('scenario "s" {\nexpect device a is not for;settle }')
def test_every_sentence_of_the_grammar_keeps_its_meaning(text):
    assume(parsed(text) is not None)  # a word among its names may be a keyword where it stands
    check(text)


@settings(max_examples=count(300, 6000), deadline=None, derandomize=True, database=None)
@given(st.data())
def test_a_sentence_in_other_words_of_space_keeps_its_meaning(data):
    text = data.draw(sentence())
    before = parsed(text)
    assume(before is not None)
    assert before is not None
    other = data.draw(rewritten(text))
    again = parsed(other)
    assert again is not None, other
    assert dump(again) == dump(before)
    check(other)


@settings(max_examples=count(100, 2000), deadline=None, derandomize=True, database=None)
@given(st.data())
def test_an_example_in_any_layout_keeps_its_meaning(data):
    text = data.draw(st.sampled_from(sorted(EXAMPLES.values())))
    other = data.draw(rewritten(text))
    before = parsed(text)
    again = parsed(other)
    assert before is not None
    assert again is not None
    assert dump(again) == dump(before)
    check(other)


@settings(max_examples=count(200, 4000), deadline=None, derandomize=True, database=None)
@given(sentence())
def test_a_tree_that_no_author_has_written_can_be_read_again(text):
    file = parsed(text)
    assume(file is not None)
    assert file is not None
    made = without_places(file)
    assert isinstance(made, File)
    result = format_file(made)
    again = parsed(result)
    assert again is not None, result
    assert dump(again) == dump(file)
    assert check(result) == result


READABLE = """\
kubernetes 1.38
gates { DRAPreemption: true }

use std.example.gpu-node

gpu-node(worker-[1..2], gpus: 2)

template one { request gpu: 1 of gpu.example.com }
template two { request gpu: 2 of gpu.example.com }

pod small { claim gpu from one }
pod big { claim gpu from two }

fuzz "whatever the order, a settled cluster has no starving important pod" {
  repeat any 1..8 as i {
    at any 0s..60s create pod p-${i} like any of [small, big] { priority: any 0..1000 }
  }
  maybe at any 0s..60s restart scheduler
  delay resourceclaim-controller by any 0s..20s
  expect all pods are settled
  always no pending pod can preempt
}
"""


def test_an_example_without_its_layout_is_still_readable():
    file = parsed(EXAMPLES["races.dra"])
    assert file is not None
    made = without_places(file)
    assert isinstance(made, File)
    assert format_file(made) == READABLE
