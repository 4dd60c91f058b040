"""Trees as one line of text, and their nodes in the order of the text."""

import pytest

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax import nodes as n
from dralang.syntax.dump import dump
from dralang.syntax.parser import parse_tokens
from dralang.syntax.tokens import lex
from dralang.syntax.walk import children, walk


def parsed(text: str) -> n.File:
    source = SourceFile("a.dra", text)
    log = DiagnosticLog()
    lexed = lex(source, log)
    file = n.File(Span(source, 0, len(text)), source, parse_tokens(lexed.tokens), lexed.comments)
    assert not log
    return file


DUMPS = {
    "an empty file": ("", "(File [])"),
    "an absent part is a dash": ("use std.x", '(File [(Use (Word "std.x" false) -)])'),
    "a quoted word is another word": ('use "std.x"', '(File [(Use (Word "std.x" true) -)])'),
    "nodes in nodes": (
        "node a { x: [{}] }",
        '(File [(Decl "node" (Word "a" false) - (Block [(Field (Word "x" false) (ListValue [(Block [])]))]))])',
    ),
    "texts are one line": (
        'always `a\n  \\ "b"`',
        '(File [(Property "always" (CelProposition (CelText "a\\n  \\\\ \\"b\\"") -))])',
    ),
    "the call of a fuzz is a part of it, the source of the file is not": (
        'fuzz "f" from g() { settle }',
        '(File [(Scenario (Word "f" true) [] - - (Body [(Settle)]) true (Call (Word "g" false) []))])',
    ),
}


@pytest.mark.parametrize("name", DUMPS)
def test_a_tree_is_one_line(name):
    text, wanted = DUMPS[name]
    assert dump(parsed(text)) == wanted


SAME = {
    "spaces": ("node a { x: 1 }", "node   a{\n\nx :1\n}"),
    "comments": ("node a", "# one\nnode a # two\n# three"),
    "separators": ("node a { x: 1; y: 2 }", "node a { x: 1, y: 2, }"),
    "a colon before a map": ("node a { x: { y: 1 } }", "node a { x { y: 1 } }"),
    "kind words where only one kind can stand": ("always a runs on b with c", "always a runs on node b with device c"),
}
OTHER = {
    "a word and a text": ("node a { x: 1 }", 'node a { x: "1" }'),
    "a body and none": ("node a", "node a {}"),
    "the value of a declaration and its body": ("node a: { x: 1 }", "node a { x: 1 }"),
    "after a time, and after it something": ('scenario "s" { after 5s; settle }', 'scenario "s" { after 5s settle }'),
    "two lines of an expression": ("always `a b`", "always `a\nb`"),
    "order": ("node a\nnode b", "node b\nnode a"),
}


@pytest.mark.parametrize("name", SAME)
def test_trees_that_say_the_same_have_the_same_dump(name):
    one, other = SAME[name]
    assert dump(parsed(one)) == dump(parsed(other))


@pytest.mark.parametrize("name", OTHER)
def test_trees_that_say_something_else_have_another_dump(name):
    one, other = OTHER[name]
    assert dump(parsed(one)) != dump(parsed(other))


def test_nodes_are_walked_in_the_order_of_the_text():
    file = parsed('fuzz "f" from g(x: 1) tagged t { create pod p like q { y: 3 } }')
    words = [node.text for node in walk(file) if isinstance(node, n.Word)]
    assert words == ["f", "g", "x", "1", "t", "p", "q", "y", "3"]


def test_parents_come_before_their_children_and_every_node_comes_once():
    file = parsed('scenario "s" for (X, Y) in [(1, 2)] xfail "w" tagged t { at 5s { expect a, b run; maybe settle } }')
    nodes = list(walk(file))
    assert nodes[0] is file
    starts = [node.span.start for node in nodes]
    assert starts == sorted(starts)
    assert len({id(node) for node in nodes}) == len(nodes)
    assert sum([len(children(node)) for node in nodes]) == len(nodes) - 1


def test_nodes_without_a_text_are_walked_in_the_order_of_their_fields():
    source = SourceFile("made", "")
    here = Span(source, 0, 0)
    words = tuple([n.Word(here, text) for text in "zax"])
    assert [node.text for node in walk(n.ListValue(here, words)) if isinstance(node, n.Word)] == ["z", "a", "x"]


def test_a_tree_may_be_deeper_than_the_stack():
    depth = 20_000
    file = parsed('fuzz "f" { ' + "maybe " * depth + "settle }")
    assert dump(file).count("(Maybe ") == depth
    assert len(list(walk(file))) == depth + 5
