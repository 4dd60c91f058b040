"""Stories of the size of specs/examples/races.dra: drawn by Hypothesis and played, and recorded ones played again.

Seconds are those of the processor: stories a second and core. "Played" is a whole judged play, with every invariant
that a fuzz looks at; "played, not judged" the same stories without invariants. The share of drawing is that of
Hypothesis and of filling the holes, without which the same stories are played in the end. `dralang fuzz` also notes
what was reached, and by lot plays a story a second time or tells it in other words: about one and a half plays an
example. Last, how long a finding takes to shrink: a failure that no story with fewer than 12 events has, from its first
example to the text that `dralang fuzz` writes.

The bounds are those of the project. Machines differ by more than a factor of two, and so does one machine from minute
to minute: the last line says what cel-python, interpreted code like ours, does on this machine in the same run.
"""

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import process_time
from unittest import mock

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from rows import Row, as_json, table

from dralang.api.resourceslice import Device, DeviceAttribute
from dralang.cel.reference import ReferenceExpressions
from dralang.check.analysis import Analysis, Analyzer
from dralang.cli.main import GARBAGE_THRESHOLDS
from dralang.fuzz.example import Example
from dralang.fuzz.explore import CHUNK, Explorer
from dralang.fuzz.regression import write_down
from dralang.run import player
from dralang.run.invariants.watch import Watch
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.holes import RecordedChooser, RecordingChooser, Template
from dralang.scenario.model import Scenario

BOUNDS = {"drawn by Hypothesis and played": 100, "played": 500}
SHRINKING = 20
SPEC = Path(__file__).resolve().parents[1] / "specs" / "examples" / "races.dra"
FAILING = """  repeat any 1..16 as i {
    at any 0s..60s create pod p-${i} like any of [small, big] { priority: any 0..1000 }
  }
  maybe at any 0s..60s restart scheduler
  delay resourceclaim-controller by any 0s..20s

  expect fewer than 10 pods are pending
"""
"""Two pods have all devices between them, at least: ten wait only where twelve were created."""


@cache
def integers(low: int, high: int) -> st.SearchStrategy[int]:
    """One strategy for each range, as `dralang fuzz` has."""
    return st.integers(low, high)


@st.composite
def drawing(draw: st.DrawFn) -> st.DrawFn:
    """The function that draws, as `dralang fuzz` has it."""
    return draw


class Asking:
    """Asks Hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        """What Hypothesis answers."""
        return self.draw(integers(low, high))


class Blind(Watch):
    """Judges nothing."""

    def _written(self, kind: object, old: object, new: object) -> None:
        """Look at no write."""

    def _taken(self, pod: object, state: object, node: str) -> None:
        """Look at no decision."""

    def _preempting(self, pod: object, node: str, victims: object) -> None:
        """Look at no preemption."""

    def look_at_rest(self) -> None:
        """Look at no cluster at rest."""

    def look_after_restart(self) -> None:
        """Start nothing again."""

    def look_back(self) -> None:
        """Look at no record."""


def drawn_by_hypothesis(template: Template, workshop: Workshop, examples: int) -> list[list[int]]:
    """Draw and play; the choices of each story."""
    recorded: list[list[int]] = []

    @seed(0)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(drawing())
    def body(draw: st.DrawFn) -> None:
        chooser = RecordingChooser(Asking(draw))
        story = template.draw(chooser).scenario
        assert story is not None
        assert not play(story, workshop).failures
        recorded.append(chooser.choices)

    body()
    return recorded


def seconds_of(stories: list[Scenario], workshop: Workshop) -> float:
    """How long all stories take."""
    start = process_time()
    for story in stories:
        play(story, workshop)
    return process_time() - start


def measure(examples: int, rounds: int) -> dict[str, float]:
    """The same stories: drawn and played, filled from records and played, only played, and that without judgement.

    The fastest of some rounds: what else runs on the machine only makes it slower.
    """
    analysis = Analyzer().path(SPEC)
    assert isinstance(analysis, Analysis)
    scenario = analysis.scenarios[0]
    template = scenario.template
    assert template is not None
    workshop = Workshop()
    explorer = Explorer(workshop)
    drawn_by_hypothesis(template, workshop, 20)
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        start = process_time()
        chunks = [explorer.chunk(scenario, number, CHUNK) for number in range(max(examples // CHUNK, 1))]
        seconds = (process_time() - start) * examples / sum(chunk.examples for chunk in chunks)
        taken.setdefault("as `dralang fuzz` explores", []).append(seconds)
        start = process_time()
        recorded = drawn_by_hypothesis(template, workshop, examples)
        taken.setdefault("drawn by Hypothesis and played", []).append(process_time() - start)
        start = process_time()
        drawings = [template.draw(RecordingChooser(RecordedChooser(each))).scenario for each in recorded]
        filled = process_time() - start
        stories = [story for story in drawings if story is not None]
        played = seconds_of(stories, workshop)
        taken.setdefault("filled and played", []).append(filled + played)
        taken.setdefault("played", []).append(played)
        with mock.patch.object(player, "Watch", Blind):
            taken.setdefault("played, not judged", []).append(seconds_of(stories, workshop))
    return {name: examples / min(seconds) for name, seconds in taken.items()}


def shrinking() -> tuple[float, int]:
    """Seconds from the first failing example to the text that is written, and its events."""
    path = SPEC.with_name("twelve.dra")
    before, _, rest = SPEC.read_text(encoding="utf-8").partition("  repeat")
    text = f"{before}{FAILING}{rest[rest.index('}', rest.rindex('always')) :]}"
    analysis = Analyzer().text(path, path.name, text.encode())
    scenario, tree = analysis.scenarios[0], analysis.tree
    assert tree is not None
    starts: list[float] = []

    def note() -> bool:
        starts.append(process_time())
        return True

    explorer = Explorer(Workshop(), note)
    chunk = explorer.chunk(scenario, 0, 1_000)
    assert chunk.choices is not None, "no story failed"
    example = explorer.replay(scenario, chunk.choices)
    assert isinstance(example, Example)
    written = write_down(scenario, tree, path, path.parent, example, remark="shrunk", analyzer=Analyzer())
    assert written.text, "a plain scenario shows the failure"
    return process_time() - starts[-1], sum(" create " in f" {line}" for line in written.lines)


def yardstick() -> float:
    """How many times a second cel-python's interpreter looks at two attributes of a device."""
    expressions = ReferenceExpressions()
    selector = expressions.selector('device.attributes["d"].model == "a100" && device.attributes["d"].numa == 1')
    attributes = {"model": DeviceAttribute(string="a100"), "numa": DeviceAttribute(int_=1)}
    device = expressions.prepare("d", Device(name="gpu-0", attributes=attributes))
    start = process_time()
    for _ in range(1_000):
        selector(device)
    return 1_000 / (process_time() - start)


@contextmanager
def as_in_a_command() -> Iterator[None]:
    """With the thresholds of garbage collection that `dralang fuzz` has."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--examples", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts")
    arguments = parser.parse_args()
    with as_in_a_command():
        rates = measure(arguments.examples, arguments.rounds)
        shrunk, events = shrinking()
        evaluations = yardstick()
    share = 1 - rates["drawn by Hypothesis and played"] / rates["played"]
    rows = [Row(name, rate, BOUNDS.get(name), "stories/s") for name, rate in rates.items()]
    rows.append(Row("share of drawing", 100 * share, None, "%"))
    rows.append(Row(f"shrinking to {events} events", shrunk, SHRINKING, "s"))
    rows.append(Row("cel-python, two attributes", evaluations, None, "evaluations/s"))
    print(as_json(rows) if arguments.json else table(rows, "bound"))


if __name__ == "__main__":
    main()
