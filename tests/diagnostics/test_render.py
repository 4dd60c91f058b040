"""How diagnostics look: places, underlines, long lines, odd characters, colours, JSON."""

import unicodedata
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dralang.diagnostics.diagnostic import Diagnostic, Related
from dralang.diagnostics.render import MOST_SHOWN, render_json, render_text, summary_line
from dralang.diagnostics.source import SourceFile, Span

SPEC = SourceFile("specs/first.dra", "node worker-1\nslice gpus {\n\tdriver gpu\n}\n")


def span_of(source: SourceFile, text: str) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def shown(source: SourceFile, text: str, **fields: object) -> str:
    item = Diagnostic(code="DRA0110", message="message", span=span_of(source, text), **fields)
    return render_text([item], color=False, width=80)


def test_everything_a_diagnostic_has_is_shown():
    item = Diagnostic(
        code="DRA0115",
        message="`:` is missing after `driver`",
        span=span_of(SPEC, "gpu\n"),
        label="this is its value",
        expected=("`:`", "`{`"),
        related=(Related("the slice begins here", span_of(SPEC, "slice")),),
        help="write `driver: gpu`",
    )
    assert render_text([item], color=False, width=80) == dedent(
        """\
        error[DRA0115]: `:` is missing after `driver`
         --> specs/first.dra:3:9
          |
        3 |     driver gpu
          |            ^^^ this is its value
          = expected: `:`, `{`
        note: the slice begins here
         --> specs/first.dra:2:1
          |
        2 | slice gpus {
          | -----
        help: write `driver: gpu`
        """
    )


def test_a_label_that_says_what_was_expected_says_it_once():
    assert "= expected" not in shown(SPEC, "gpu", label="expected `:`", expected=("`:`",))


def test_several_are_separated_by_a_blank_line_in_their_order():
    first = Diagnostic(code="DRA0101", message="one", span=span_of(SPEC, "node"))
    second = Diagnostic(code="DRA0102", message="two", severity="warning")
    text = render_text([second, first], color=False, width=80)
    assert text.startswith("warning[DRA0102]: two\n\nerror[DRA0101]: one\n")
    assert render_text([], color=False, width=80) == ""


def test_of_very_many_the_gravest_are_shown_in_their_order_and_the_others_counted():
    many = [Diagnostic(code="DRA0102", message=f"w{n}", severity="warning") for n in range(MOST_SHOWN + 5)]
    errors = [Diagnostic(code="DRA0101", message=f"e{n}") for n in range(3)]
    text = render_text([*many[:2], *errors, *many[2:]])
    assert text.startswith("warning[DRA0102]: w0\n\nwarning[DRA0102]: w1\n\nerror[DRA0101]: e0\n")
    assert text.count("DRA0102") + text.count("DRA0101") == MOST_SHOWN
    assert text.endswith("\n\nand 8 warnings more\n")
    assert render_text(many[:MOST_SHOWN]).count("\n\n") == MOST_SHOWN - 1


def test_an_empty_span_is_one_mark_wide_and_may_stand_after_the_line():
    item = Diagnostic(code="DRA0110", message="m", span=Span(SPEC, 13, 13))
    assert render_text([item], color=False, width=80).splitlines()[-2:] == ["1 | node worker-1", "  |              ^"]


def test_a_span_over_lines_is_underlined_to_the_end_of_its_first_line():
    item = Diagnostic(code="DRA0110", message="m", span=span_of(SPEC, "gpus {\n\tdriver gpu\n}"))
    assert render_text([item], color=False, width=80).splitlines()[-1] == "  |       ^^^^^^"


def test_a_file_without_text_has_only_its_name():
    item = Diagnostic(code="DRA0105", message="too large", span=Span(SourceFile("x.dra", ""), 0, 0), help="split it")
    want = "error[DRA0105]: too large\n --> x.dra:1:1\nhelp: split it\n"
    assert render_text([item], color=False, width=80) == want


WIDE = {
    "wide characters take two columns": ('pod "日本" x', "x", '1 | pod "日本" x', "  |            ^"),
    "under wide characters": ('pod "日本" x', "日本", '1 | pod "日本" x', "  |      ^^^^"),
    "emoji": ("pod 🎉🎉 x", "x", "1 | pod 🎉🎉 x", "  |          ^"),
    "combining marks take none": ("pod e\u0301 x", "x", "1 | pod e\u0301 x", "  |       ^"),
    "tabs go to the next stop": ("\ta\tb", "b", "1 |     a   b", "  |         ^"),
    "control characters are escaped": ("a\x1b[31m b", "b", "1 | a<U+001B>[31m b", "  |               ^"),
    "so are characters that reorder": ("a\u202eb c", "c", "1 | a<U+202E>b c", "  |            ^"),
}


@pytest.mark.parametrize(("text", "at", "line", "underline"), WIDE.values(), ids=WIDE.keys())
def test_underlines_stand_below_their_text(text: str, at: str, line: str, underline: str):
    assert shown(SourceFile("x.dra", text), at).splitlines()[-2:] == [line, underline]


@pytest.mark.parametrize("place", ["START", "MIDDLE", "FINISH"])
def test_a_long_line_is_cut_around_the_span(place: str):
    text = "START " + "a " * 400 + "MIDDLE " + "b " * 400 + "FINISH"
    line, underline = shown(SourceFile("x.dra", text), place).splitlines()[-2:]
    assert len(line) <= 80
    assert line[underline.index("^") : underline.rindex("^") + 1] == place
    assert line.endswith("...") == (place != "FINISH")
    assert line.startswith("1 | ...") == (place != "START")


def test_a_span_that_is_too_long_is_cut_too():
    lines = shown(SourceFile("x.dra", "x" * 500), "x" * 500).splitlines()
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("place", ["message", "help"])
def test_an_endless_word_loses_its_middle(place: str):
    text = f"there is no pod `{'a' * 2_000_000}` in here"
    shown = render_text([Diagnostic(**{"code": "DRA0201", "message": "m", place: text})])
    assert len(shown) < 500
    assert "there is no pod `aaa" in shown
    assert "aaa` in here" in shown


def test_messages_stay_on_their_line():
    item = Diagnostic(code="DRA0101", message="a\nb\x1b[0m", help="c\rd")
    assert render_text([item], color=False, width=80) == "error[DRA0101]: a<U+000A>b<U+001B>[0m\nhelp: c<U+000D>d\n"


def test_colours_add_nothing_but_escapes():
    item = Diagnostic(
        code="DRA0115", message="m", span=span_of(SPEC, "gpu"), expected=("`:`",), help="h", severity="warning"
    )
    colored = render_text([item], color=True, width=80)
    assert "\033[1;33mwarning[DRA0115]\033[0m" in colored
    plain = colored
    for style in ("\033[0m", "\033[1m", "\033[1;33m", "\033[1;34m", "\033[1;36m"):
        plain = plain.replace(style, "")
    assert plain == render_text([item], color=False, width=80)


def test_json_counts_lines_and_columns_from_one():
    item = Diagnostic(
        code="DRA0115",
        message="m",
        span=span_of(SPEC, "driver"),
        label="l",
        expected=("`:`",),
        related=(Related("r", span_of(SPEC, "slice")),),
        help="h",
    )
    assert render_json([item, Diagnostic(code="DRA0210", message="no place", severity="note")]) == [
        {
            "code": "DRA0115",
            "severity": "error",
            "message": "m",
            "file": "specs/first.dra",
            "start": {"line": 3, "column": 2},
            "end": {"line": 3, "column": 8},
            "label": "l",
            "expected": ["`:`"],
            "related": [
                {
                    "message": "r",
                    "file": "specs/first.dra",
                    "start": {"line": 2, "column": 1},
                    "end": {"line": 2, "column": 6},
                }
            ],
            "help": "h",
        },
        {
            "code": "DRA0210",
            "severity": "note",
            "message": "no place",
            "file": None,
            "start": None,
            "end": None,
            "label": "",
            "expected": [],
            "related": [],
            "help": "",
        },
    ]


def test_summary_counts_by_severity():
    error = Diagnostic(code="DRA0101", message="m")
    warning = Diagnostic(code="DRA0203", message="m", severity="warning")
    assert summary_line([]) == "no errors"
    assert summary_line([error]) == "1 error"
    assert summary_line([warning, error, warning, error, warning]) == "2 errors, 3 warnings"


@settings(max_examples=500, derandomize=True, deadline=None, database=None)
@given(st.text(min_size=1, max_size=200), st.integers(0, 200), st.integers(0, 50), st.integers(1, 120))
def test_any_span_of_any_text_can_be_shown(text: str, start: int, length: int, width: int):
    source = SourceFile("x\n.dra", text)
    start = min(start, len(text))
    item = Diagnostic(code="DRA0101", message=text, span=Span(source, start, min(len(text), start + length)), help=text)
    rendered = render_text([item], color=False, width=width)
    assert all(char == "\n" or char.isprintable() or unicodedata.category(char) in ("Mn", "Me") for char in rendered)
    assert rendered.count("\n") == 6
    assert "^" in rendered
    assert len(render_json([item])) == 1
