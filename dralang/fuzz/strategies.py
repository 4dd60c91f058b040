"""Hypothesis strategies for tests in Python: whole stories, and clusters without a story."""

from pathlib import Path
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from dralang.api.base import ApiType
from dralang.check.analysis import Analyzer
from dralang.scenario.holes import Drawn
from dralang.scenario.model import Scenario
from dralang.scenario.steps import Create


class _Choices:
    """Asks Hypothesis by its function for drawing; private to this module."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


def scenarios(text: str | None = None, **sizes: int) -> st.SearchStrategy[Scenario]:
    """Stories, ready for ``dralang.run.player.play``; invariants judge them as they judge every fuzz.

    Args:
        text: a `.dra` text with one `fuzz`; without it whole stories are drawn.
        sizes: upper bounds for these, as `std.random` takes them: nodes, devices, pods, events.

    Raises:
        ValueError: the text has errors or no fuzz, or a size does not exist.
    """
    given = ", ".join(f"{name}: {size}" for name, size in sizes.items())
    source = text if text is not None else f'fuzz "drawn" from std.random({given}) {{ }}\n'
    analysis = Analyzer().text(Path("strategy.dra"), "strategy.dra", source.encode())
    errors = [item.message for item in analysis.diagnostics if item.severity == "error"]
    found = [scenario for scenario in analysis.scenarios if scenario.template is not None]
    if errors or len(found) != 1:
        raise ValueError("; ".join(errors) or "the text needs one `fuzz`")
    template: Any = found[0].template

    @st.composite
    def stories(draw: st.DrawFn) -> Scenario:
        drawn: Drawn = template.draw(_Choices(draw))
        if drawn.scenario is None:
            reject()
        assert drawn.scenario is not None
        return drawn.scenario

    return stories()


def clusters(**sizes: int) -> st.SearchStrategy[tuple[ApiType, ...]]:
    """Nodes, slices, classes, templates and a claim that go together, as API objects.

    Args:
        sizes: upper bounds: nodes, devices.

    Raises:
        ValueError: a size does not exist.
    """

    def objects(story: Scenario) -> tuple[ApiType, ...]:
        made = [step.object for step in story.steps if isinstance(step, Create) and step.key.kind != "Pod"]
        return (*(item.object for item in story.initial), *made)

    return scenarios(None, **{**sizes, "pods": 1, "events": 1}).map(objects)
