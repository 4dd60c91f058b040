"""Random clusters and stories: what must hold after every event, at rest, after restarts, and in every process.

The full count is 20,000 stories, in shards that can run side by side.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from counts import LONG, count
from stories.digest import course_of, digest
from stories.invariants import Watch, check_at_rest, check_restart_of_everything
from stories.reached import EXPECTED, Reached
from stories.story import Story

from dralang.scheduler import cycle

SHARDS = 4
STORIES = count(250, 5_000)
"""How many stories a shard tells; all shards of the full count together tell 20,000."""

LEAST = 100 // SHARDS
"""How often a shard of the full count must reach everything, so that all together reach it 100 times."""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_nothing_is_lost_or_given_away_twice(shard, capsys):
    reached = Reached()
    restarted = 0
    with reached.listening():
        for seed in range(shard * 5_000, shard * 5_000 + STORIES):
            story = Story(seed)
            reached.watch(story)
            story.watchers.append(Watch(story))
            try:
                story.tell()
                reached.story_told(story)
                check_at_rest(story)
                restarted += check_restart_of_everything(story)
            except Exception as error:
                error.add_note(f"story {seed}: {story.world.features.version} {sorted(story.world.themes)}")
                raise
    if LONG:
        with capsys.disabled():
            sys.stdout.write("\n".join([f"\nshard {shard} has reached:", *reached.lines(), ""]))
    assert restarted * 2 > STORIES, "too few stories end so that a restart must change nothing"
    assert not reached.unknown, f"reasons without a name: {reached.unknown}"
    if LONG:
        seldom = {name: reached.counts[name] for name in EXPECTED if reached.counts[name] < LEAST}
        assert not seldom, f"reached too seldom: {seldom}"


def test_every_process_tells_the_same_stories():
    first, number = 20_000, count(50, 1_000)
    expected = digest(first, number)
    assert digest(first, number) == expected, "told twice, not the same"
    tests = Path(__file__).parent.parent
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{tests}:{tests.parent}"}
        told = subprocess.run(
            [sys.executable, "-m", "stories.digest", str(first), str(number)],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        assert told.stdout.strip() == expected, f"another course with hash seed {seed}"


@pytest.mark.parametrize("seed", range(30_000, 30_000 + count(40, 400)))
def test_verdicts_kept_from_earlier_cycles_change_nothing(seed, monkeypatch):
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 10**6)
    expected = course_of(Story(seed))
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 1)
    assert course_of(Story(seed)) == expected
