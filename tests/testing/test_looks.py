"""Columns, wrapping and trees."""

import re

from dralang.cluster.journal import JournalEntry
from dralang.run.outcome import Why
from dralang.testing.looks import Look, side_by_side, timeline, why_tree

PLAIN = Look(width=60)


def test_texts_stand_side_by_side():
    assert side_by_side(PLAIN, "a runs", "a is pending") == ["  expected | actual", "  a runs   | a is pending"]


def test_long_texts_are_filled_into_their_columns():
    lines = side_by_side(PLAIN, "one two three four five six seven", "eight nine ten eleven twelve thirteen fourteen")
    assert lines == [
        "  expected                    | actual",
        "  one two three four five six | eight nine ten eleven twelve",
        "  seven                       | thirteen fourteen",
    ]
    assert max(map(len, lines)) <= 62


def test_a_word_that_is_wider_than_its_column_is_not_broken():
    assert side_by_side(PLAIN, "x" * 100, "y")[1] == f"  {'x' * 100} | y"


def test_colour_marks_only_what_differs():
    lines = side_by_side(Look(color=True, width=60), "pod a runs on b", "pod a waits on b")
    assert "pod a \033[1;32mruns\033[0m on b" in lines[1]
    assert "pod a \033[1;31mwaits\033[0m on b" in lines[1]
    same = side_by_side(Look(color=True, width=60), "a b", "a b")
    assert "\033" not in same[1]


def test_empty_texts_have_their_columns():
    assert side_by_side(PLAIN, "", "") == ["  expected | actual", "           |"]


def test_a_tree_is_indented_by_depth():
    why = (Why("pod a", (Why("node 1", (Why("device x", ()),)), Why("node 2"))), Why("pod b"))
    assert why_tree(PLAIN, why) == [
        "    - pod a",
        "      - node 1",
        "        - device x",
        "      - node 2",
        "    - pod b",
    ]


def test_a_large_tree_is_cut_and_counted():
    lines = why_tree(PLAIN, [Why(f"node {number}") for number in range(100)], most=3)
    assert lines == ["    - node 0", "    - node 1", "    - node 2", "    ... and 97 more reasons"]


def test_a_deep_tree_needs_no_recursion():
    why = Why("end")
    for number in range(5_000):
        why = Why(str(number), (why,))
    assert len(why_tree(PLAIN, [why], most=10_000)) == 5_001


def entry(time: int, name: str, reason: str, message: str, namespace: str = "default") -> JournalEntry:
    return JournalEntry(time, "scheduler", "Pod", namespace, name, reason, message)


def test_a_timeline_has_columns_and_writes_a_time_where_it_changes():
    entries = [
        entry(0, "a", "Created", "created"),
        entry(0, "long-name", "Scheduled", "assigned to worker-1"),
        entry(61_500, "a", "Failed", "x", "team"),
    ]
    assert timeline(Look(width=100), entries, head=True) == [
        "  time       object         what       why",
        "  0s         pod a          Created",
        "             pod long-name  Scheduled  assigned to worker-1",
        "  1m1s500ms  pod team/a     Failed     x",
    ]


def test_a_long_message_is_wrapped_under_its_column_or_below_it():
    lines = timeline(Look(width=80), [entry(0, "a", "Failed", "word " * 20)])
    column = lines[0].index("word")
    assert all(line.index("word") >= column for line in lines)
    narrow = timeline(Look(width=40), [entry(0, "a" * 30, "Failed", "word " * 20)])
    assert narrow[0].endswith("Failed")
    assert all(len(line) <= 40 for line in narrow[1:])


def test_texts_cannot_act_on_the_terminal():
    text = "\033[2J\r\b evil"
    lines = [
        *side_by_side(PLAIN, text, text),
        *why_tree(PLAIN, [Why(text)]),
        *timeline(PLAIN, [entry(0, text, text, text)]),
        PLAIN.rule(text),
    ]
    assert not re.search(r"[\x00-\x1f]", "".join(lines))
