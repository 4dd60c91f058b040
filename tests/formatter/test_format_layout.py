"""Where lines end, where comments stand, and what the formatter refuses."""

import pytest

from dralang.diagnostics.codes import CODES
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter import format as format_module
from dralang.formatter.format import format_file, format_source
from dralang.formatter.layout import LINE_WIDTH
from dralang.formatter.stream import quoted
from dralang.syntax import nodes as n
from dralang.syntax.dump import dump
from dralang.syntax.reading import parse

COMMENTS = {
    "before, between and after the items": (
        """


        # first


        # second
        kubernetes 1.37
        # third

        node a



        node b
        # last


        """,
        """
        # first

        # second
        kubernetes 1.37
        # third

        node a

        node b
        # last
        """,
    ),
    "only comments": ("\n\n  # a\n\n\n\t# b", "# a\n\n# b\n"),
    "at the end of a line, where the author has put them": (
        """
        node a      # one
        node bb     # two
        node ccc # three
        node dddd# four
        """,
        """
        node a      # one
        node bb     # two
        node ccc  # three
        node dddd  # four
        """,
    ),
    "at the end of a line that looks different now": (
        """
        pod a {
          claim x from y }                 # one
        node   b  { labels { c : d } }     # two
        node e { f: 1,                     # three
          g: 2 }
        """,
        """
        pod a {
          claim x from y
        }  # one
        node b { labels { c: d } }         # two
        node e {
          f: 1  # three
          g: 2
        }
        """,
    ),
    "in blocks": (
        """
        pod a { # one
              # two

          # three
          claim x from y # four

          # five
        } # six
        pod b {
          # nothing yet
        }
        pod c { claim x from y # a comment ends its line
        }
        """,
        """
        pod a {  # one
          # two

          # three
          claim x from y  # four

          # five
        }  # six
        pod b {
          # nothing yet
        }
        pod c {
          claim x from y  # a comment ends its line
        }
        """,
    ),
    "in lists and parentheses": (
        """
        node a { taints: [ # one
          { key: k } # two
          , { key: l }, # three
          # four
          ] }
        gpu-node(a # five
          , gpus: 2 # six
        )
        fixture f( # {
          a = 1, # seven )
          b # eight
        ) { # nine
          node ${a}
        }
        """,
        """
        node a {
          taints: [  # one
            { key: k },  # two
            { key: l }  # three
            # four
          ]
        }
        gpu-node(
          a,  # five
          gpus: 2  # six
        )
        fixture f(  # {
          a = 1,  # seven )
          b  # eight
        ) {  # nine
          node ${a}
        }
        """,
    ),
    "after commas and before continuation words": (
        """
        scenario "s" # why it exists
          # tags
          tagged a, # one
            b # two
          # a table
          for X in [1, 2] { # the body
          create a, # first
            # then
            b
          expect a, b run # both
            with gpu-0, # any
            gpu-1
            # the reason
            because "x"
          compare # what if
            with { gates { A: true } }
        }
        """,
        """
        scenario "s"  # why it exists
            # tags
            tagged a,  # one
                b  # two
            # a table
            for X in [1, 2] {  # the body
          create a,  # first
              # then
              b
          expect a, b run  # both
              with gpu-0,  # any
                  gpu-1
              # the reason
              because "x"
          compare  # what if
              with { gates { A: true } }
        }
        """,
    ),
    "several on one line's end": (
        """
        node a # one
        ; # two
        # three
        node b
        """,
        """
        node a  # one
        # two
        # three
        node b
        """,
    ),
    "that look like something else": (
        """
        node a#{ } ` " ' [
        #!shebang
        #
        node b { c: "# not a comment" } #;
        """,
        """
        node a  #{ } ` " ' [
        #!shebang
        #
        node b { c: "# not a comment" }  #;
        """,
    ),
}

X = "x" * 40
LINES = {
    "a body that is too long for one line": (
        f"pod a {{ claim {X} from {X}; claim {X} from y; on node w }}",
        f"pod a {{\n  claim {X} from {X}\n  claim {X} from y\n  on node w\n}}\n",
    ),
    "the outer block is spread first": (
        f"node a {{ labels {{ {X}: {X} }}; status {{ {X}: {X} }} }}",
        f"node a {{\n  labels {{ {X}: {X} }}\n  status {{ {X}: {X} }}\n}}\n",
    ),
    "a list, an item on each line": (
        f"node a {{ b: [{X}, {X}, {X}, {X}] }}",
        f"node a {{\n  b: [\n    {X},\n    {X},\n    {X},\n    {X}\n  ]\n}}\n",
    ),
    "a list that its author has spread": (
        'scenario "s" for X in [\n 1, 2,\n] { settle }',
        'scenario "s"\n    for X in [\n      1,\n      2\n    ] { settle }\n',
    ),
    "a call": (
        f"gpu-node({X}, gpus: {X}, memory: {X}, model: a)",
        f"gpu-node(\n  {X},\n  gpus: {X},\n  memory: {X},\n  model: a\n)\n",
    ),
    "names, as many on a line as fit": (
        f'scenario "s" {{\n  create {X}, {X}, {X}, {X}, {X}, a, b\n}}',
        f'scenario "s" {{\n  create {X}, {X},\n      {X}, {X},\n      {X}, a, b\n}}\n',
    ),
    "an expectation, at its continuation words": (
        f'scenario "s" {{\n  expect {X} runs on w with {X}, gpu-1 because "{X}"\n}}',
        f'scenario "s" {{\n  expect {X} runs on w\n      with {X}, gpu-1\n      because "{X}"\n}}\n',
    ),
    "allocated devices, after a comma": (
        f'scenario "s" {{\n  expect a is allocated b, {X} for b consuming {{ c: 1 }}, {X} for e\n}}',
        f'scenario "s" {{\n  expect a is allocated b, {X} for b consuming {{ c: 1 }},\n          {X} for e\n}}\n',
    ),
    "a constraint": (
        f"claim a {{\n  match {X} across {X}, {X}\n  distinct b across c\n}}",
        f"claim a {{\n  match {X}\n      across {X}, {X}\n  distinct b across c\n}}\n",
    ),
    "the head of a scenario": (
        f'scenario "{X}" tagged {X} xfail "{X}" for X in 1..3 {{ settle }}',
        f'scenario "{X}"\n    tagged {X}\n    xfail "{X}"\n    for X in 1..3 {{ settle }}\n',
    ),
    "nothing can be done about one long word": (f"node {X * 4}", f"node {X * 4}\n"),
    "nor about a long expression": (
        f"class a {{ where `{X * 3}` }}",
        f"class a {{\n  where `{X * 3}`\n}}\n",
    ),
    "an expression of several lines": (
        "class a { where `\n     b  \n\n\n   && c # d` }",
        "class a {\n  where `\n     b  \n\n\n   && c # d`\n}\n",
    ),
    "joined statements stay so": (
        f'scenario "s" {{\n create a; create b;create c\n create d; create {X}; create {X}; create {X}\n}}',
        f'scenario "s" {{\n  create a; create b; create c\n  create d; create {X}; create {X}\n  create {X}\n}}\n',
    ),
    "but nothing follows a timed statement": (
        'scenario "s" {\n create a; at 5s create b; create c; after 1s; within 1s expect a runs; settle\n}',
        'scenario "s" {\n  create a; at 5s create b\n  create c; after 1s\n  within 1s expect a runs\n  settle\n}\n',
    ),
    "not even on one line": (
        'scenario "s" { repeat 2 { at 5s create b; settle }; repeat 2 { create c; at 5s settle } }',
        'scenario "s" {\n  repeat 2 {\n    at 5s create b\n    settle\n  }\n  repeat 2 { create c; at 5s settle }\n}\n',
    ),
    "nor a statement of several lines": (
        'scenario "s" {\n at 1s settle\n repeat 2 {\n settle }; settle; repeat 2 {\n settle }\n}',
        'scenario "s" {\n  at 1s settle\n  repeat 2 {\n    settle\n  }\n  settle\n  repeat 2 {\n    settle\n  }\n}\n',
    ),
    "the line that is just long enough": (
        f"pod a {{ claim {'y' * 50} from {'z' * 48} }}",
        f"pod a {{ claim {'y' * 50} from {'z' * 48} }}\n",
    ),
    "and the one that is not": (
        f"pod a {{ claim {'y' * 51} from {'z' * 48} }}",
        f"pod a {{\n  claim {'y' * 51} from {'z' * 48}\n}}\n",
    ),
}


def text_of(page: str) -> str:
    """A text of the table without the indentation that it has here."""
    lines = page.split("\n")
    if lines[-1] == "" or lines[-1].strip():
        return page
    return "".join([line.removeprefix(" " * 8) + "\n" for line in lines[1:-1]])


def formatted(text: str) -> str:
    log = DiagnosticLog()
    result = format_source(SourceFile("a.dra", text), log)
    assert result is not None, [(str(item.span), item.code, item.message) for item in log.sorted()]
    again = format_source(SourceFile("a.dra", result), log)
    assert again == result
    return result


@pytest.mark.parametrize("name", COMMENTS)
def test_comments_stay_where_they_are(name):
    written, wanted = COMMENTS[name]
    assert formatted(text_of(written)) == text_of(wanted)


@pytest.mark.parametrize("name", LINES)
def test_lines_end_where_the_language_lets_them(name):
    written, wanted = LINES[name]
    assert formatted(written) == wanted


def test_the_limit_of_the_tables_is_the_limit():
    assert len(LINES["the line that is just long enough"][1]) == LINE_WIDTH + 1


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", ";;\n;", "\ufeff"])
def test_nothing_stays_nothing(text):
    assert formatted(text) == ""


def test_line_ends_become_line_feeds_and_a_byte_order_mark_goes():
    text = "\ufeffnode a # b\r\n\r\n\r\n\r\nclass c { where `d\r\n  && e` }\r\n"
    assert formatted(text) == "node a  # b\n\nclass c {\n  where `d\n  && e`\n}\n"


def test_deep_nesting():
    depth = 60
    text = "node a { b: " + "{ c: " * depth + "1" + " }" * depth + " }"
    lines = formatted(text).splitlines()
    assert lines[0] == "node a {"
    assert max([len(line) for line in lines]) <= 2 * (depth + 2) + len("c: { c: 1 }")


DEPTH = 5_000
ENDLESS = {
    "maybe": 'fuzz "f" {\n  ' + "maybe " * DEPTH + "create a\n}\n",
    "at": 'scenario "s" {\n  ' + "at 1s " * DEPTH + "create a\n}\n",
    "joined statements": 'scenario "s" {\n' + "  create a; create b\n" * DEPTH + "}\n",
    "comments": "# a\n" * DEPTH + "node a\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_long_is_not_deep(name):
    text = ENDLESS[name]
    assert format_file(parse_syntax(text)) == text


def parse_syntax(text: str) -> n.File:
    return parse(SourceFile("a.dra", text), DiagnosticLog())


ERRORS = {
    "a sentence that is none": "node a\npod {\n",
    "a text without an end": 'use "a\n',
    "a word that means nothing": 'scenario "s" {\n  expect a is pendign\n}\n',
    "two reasons where one can be": 'scenario "s" xfail "a" xfail "b" {}\n',
    "nested too deeply": "node a { b: " + "[" * 100 + "]" * 100 + " }",
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_file_with_errors_is_not_formatted(name):
    log = DiagnosticLog()
    assert format_source(SourceFile("a.dra", ERRORS[name]), log) is None
    assert log.has_errors


FAULTS = {
    "a word is lost": "node a {}\n# c\n",
    "a comment is lost": "node a { b: c }\n",
    "a comment has moved": "# c\n#d\nnode a { b: c }\n",
    "the result cannot be parsed": "node a { b: \n# c\n",
    "the result cannot be read": 'node a { b: "c }\n# c\n',
    "something became a text": 'node a { b: "c" }\n# c\n',
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_formatter_changes_no_file(name, monkeypatch):
    monkeypatch.setattr(format_module, "format_file", lambda _: FAULTS[name])
    log = DiagnosticLog()
    assert format_source(SourceFile("a.dra", "node a { b: c }\n# c\n"), log) is None
    assert [item.code for item in log.sorted()] == ["DRA0190"]
    assert "DRA0190" in CODES


QUOTED = {
    "plain": ("a b", '"a b"'),
    "quotes and backslashes": ('"\\', '"\\"\\\\"'),
    "line ends and tabs": ("\n\r\t", '"\\n\\r\\t"'),
    "visible characters of any script": ("é中🙂", '"é中🙂"'),
    "invisible ones": ("\u200b\u00a0\x00", '"\\u200b\\u00a0\\u0000"'),
    "nothing": ("", '""'),
}


@pytest.mark.parametrize("name", QUOTED)
def test_a_text_that_a_program_has_made_is_quoted(name):
    text, wanted = QUOTED[name]
    nowhere = Span(SourceFile("made", ""), 0, 0)
    file = n.File(nowhere, nowhere.source, (n.Use(nowhere, n.Word(nowhere, text, quoted=True), None),), ())
    assert quoted(text) == wanted
    assert format_file(file) == f"use {wanted}\n"
    assert dump(parse_syntax(format_file(file))) == dump(file)


def test_statements_of_two_files_go_into_one():
    one = parse_syntax('scenario "one" { create a; create b }   # comment of one\n')
    other = parse_syntax('# comment of the other\n\n\nscenario "other" {\n  create c # c\n}\n')
    file = n.File(one.span, one.source, (*one.items, *other.items), one.comments)
    assert format_file(file) == (
        'scenario "one" { create a; create b }   # comment of one\n\nscenario "other" {\n  create c\n}\n'
    )
