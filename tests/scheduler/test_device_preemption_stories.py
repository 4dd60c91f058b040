"""Random stories of pods that preempt each other for devices (KEP-5690): what holds after every event and in the end.

The run prints how often each row of docs/kep-5690.md was reached.
"""

import re
import sys

from counts import LONG, count
from hypothesis import given, settings
from hypothesis import strategies as st
from stories.preempting_branches import ALWAYS, BRANCHES, TOGETHER
from stories.preempting_rows import Rows
from stories.preempting_story import Story

STORIES = count(2_500, 50_000)
LEAST = 100 if LONG else 1
"""How often every branch has to be reached."""


def test_every_story_ends_well_and_all_together_reach_everything(capsys):
    rows = Rows()

    @settings(max_examples=STORIES, deadline=None)
    @given(seed=st.integers(0, 2**40))
    def tell(seed):
        Story(seed, rows).tell()

    with rows.listening():
        tell()
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(rows.lines()) + "\n")
    assert rows.counts["stories that preempt"] * 10 >= rows.counts["stories"] * 3
    assert [name for name in BRANCHES if rows.counts[name] < LEAST] == []


def test_every_row_is_a_branch_or_holds_always():
    rows = {re.sub(r" .*", "", name) for name in (*BRANCHES, *ALWAYS)}
    assert sorted({f"P{number}" for number in range(1, 48)} - rows) == ["P45"]
    assert set(TOGETHER) <= set(BRANCHES)
