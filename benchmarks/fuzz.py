"""Stories of the size of specs/examples/races.dra: drawn by Hypothesis and played, and recorded ones played again.

Seconds are those of the processor: stories a second and core. The share of drawing is that of Hypothesis and of filling
the holes, without which the same stories are played in the end.
"""

import argparse
import json
from pathlib import Path
from time import process_time

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from dralang.check.analysis import Analysis, Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.holes import RecordedChooser, RecordingChooser, Template

SPEC = Path(__file__).resolve().parents[1] / "specs" / "examples" / "races.dra"


class Asking:
    """Asks Hypothesis."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def integer(self, low: int, high: int) -> int:
        """What Hypothesis answers."""
        number: int = self.data.draw(st.integers(low, high))
        return number


def drawn_by_hypothesis(template: Template, workshop: Workshop, examples: int) -> list[list[int]]:
    """Draw and play; the choices of each story."""
    recorded: list[list[int]] = []

    @seed(0)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def body(data: st.DataObject) -> None:
        chooser = RecordingChooser(Asking(data))
        story = template.draw(chooser).scenario
        assert story is not None
        assert not play(story, workshop).failures
        recorded.append(chooser.choices)

    body()
    return recorded


def measure(examples: int) -> dict[str, float]:
    """The same stories three times: drawn and played, filled from records and played, only played."""
    analysis = Analyzer().path(SPEC)
    assert isinstance(analysis, Analysis)
    template = analysis.scenarios[0].template
    assert template is not None
    workshop = Workshop()
    drawn_by_hypothesis(template, workshop, 20)
    start = process_time()
    recorded = drawn_by_hypothesis(template, workshop, examples)
    drawn = process_time() - start
    start = process_time()
    stories = [template.draw(RecordingChooser(RecordedChooser(each))).scenario for each in recorded]
    filled = process_time() - start
    start = process_time()
    for story in stories:
        play(story, workshop)
    played = process_time() - start
    return {
        "drawn by Hypothesis and played": len(recorded) / drawn,
        "filled and played": len(recorded) / (filled + played),
        "played": len(recorded) / played,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--examples", type=int, default=400)
    arguments = parser.parse_args()
    rates = measure(arguments.examples)
    share = 1 - rates["drawn by Hypothesis and played"] / rates["played"]
    if arguments.json:
        print(
            json.dumps({**{name: round(rate, 1) for name, rate in rates.items()}, "share of drawing": round(share, 3)})
        )
        return
    for name, rate in rates.items():
        print(f"{name:34} {rate:8.0f} stories a second and core")
    print(f"{'share of drawing':34} {share:8.0%}")


if __name__ == "__main__":
    main()
