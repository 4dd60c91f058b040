"""How often a `repeat` happens, and how often it may happen."""

from msgspec import Struct

from dralang.check import problems
from dralang.check.expand import Bindings
from dralang.check.faults import number_of
from dralang.check.values import Converter
from dralang.syntax import nodes as n


class Rounds(Struct, frozen=True):
    """The rounds of a `repeat`.

    Attributes:
        count: that happen; of a hole its first choice.
        most: that may happen.
        is_computed: another row or call has another number.
    """

    count: int
    most: int
    is_computed: bool

    @property
    def others(self) -> range:
        """The rounds that need not happen, without the first one."""
        return range(max(self.count, 1) + 1, self.most + 1)


def rounds_of(node: n.Repeat, bindings: Bindings, converter: Converter, limit: int) -> Rounds | None:
    """The rounds of a `repeat`, or None after a diagnostic (DRA0308)."""
    counts: list[int] = []

    def read(value: n.Value) -> int | None:
        number = number_of("times", value, bindings, converter.log)
        counts.append(number or 0)
        return number

    count = converter.first(node.count, read)
    if count is None:
        return None
    if count > limit:
        converter.log.add(problems.bad_number(f"`{node.count.span.text}` is no number of times", node.count.span))
        return None
    return Rounds(count, max(counts), isinstance(node.count, n.Word) and "${" in node.count.text)


def with_index(node: n.Repeat, bindings: Bindings, index: int) -> Bindings:
    """What the names mean in one of the rounds."""
    return bindings if node.name is None else {**bindings, node.name.text: index}
