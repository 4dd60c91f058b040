"""What fills the holes of a fuzz. Every choice is a whole number, so that a list of numbers is a whole example."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Scenario, Settings


class Chooser(Protocol):
    """Answers each hole in turn."""

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included; ``low`` is the simplest."""


class SmallestChooser:
    """Takes the first or smallest everywhere."""

    def integer(self, low: int, high: int) -> int:
        """The low end."""
        return low


class RecordedChooser:
    """Repeats recorded choices; where they are used up or out of range, the nearest number there is."""

    def __init__(self, choices: Sequence[int]) -> None:
        self.choices = choices
        self.at = 0

    def integer(self, low: int, high: int) -> int:
        """The next recorded number, brought into range."""
        if self.at >= len(self.choices):
            return low
        self.at += 1
        return max(low, min(high, self.choices[self.at - 1]))


class RecordingChooser:
    """Passes on what another chooser answers and keeps it in ``choices``."""

    def __init__(self, inner: Chooser) -> None:
        self.inner = inner
        self.choices: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """The other's answer; where there is nothing to choose, nobody is asked."""
        if low >= high:
            return low
        number = self.inner.integer(low, high)
        self.choices.append(number)
        return number


class Drawn(Struct, frozen=True):
    """A fuzz with its holes filled.

    Attributes:
        scenario: ready to be played; None if what stands in the holes does not go together.
        tree: the same as a syntax tree (``syntax.nodes.Scenario``): no holes, in time order.
        diagnostics: why there is no scenario.
        variants: other settings under which the same must happen (``compare with``).
        absent: pods that other stories of the fuzz create and this one does not: their names are known all the same.
    """

    scenario: Scenario | None
    tree: object
    diagnostics: tuple[Diagnostic, ...]
    variants: tuple[Settings, ...]
    absent: tuple[ObjectKey, ...] = ()


class Template(Protocol):
    """A fuzz that can be drawn, any number of times."""

    def draw(self, chooser: Chooser) -> Drawn:
        """Fill the holes: ``fill``, then ``tell``."""

    def fill(self, chooser: Chooser) -> Drawn:
        """Fill the holes of the tree: no scenario yet; diagnostics if they cannot be filled."""

    def tell(self, filled: Drawn) -> Drawn:
        """The scenario of a tree without holes, its statements in time order, in the file of this fuzz."""
