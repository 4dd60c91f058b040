"""Times of the story: how they are read, and how far it may go on by itself before the next one."""

from typing import Final

from msgspec.structs import replace

from dralang.check import problems
from dralang.check.expand import Bindings
from dralang.check.values import Converter
from dralang.scenario import steps as s
from dralang.syntax import nodes as n
from dralang.values.duration import format_duration, parse_duration

MAX_TIME: Final = 87_600 * 3_600_000


def milliseconds(value: n.Value, bindings: Bindings, converter: Converter) -> int | None:
    """A time, or None after a diagnostic."""
    resolved = converter.resolve(value, bindings)
    if resolved is None:
        return None
    try:
        found = parse_duration(resolved.text if isinstance(resolved, n.Word) else value.span.text)
    except ValueError as error:
        converter.log.add(problems.bad_duration(str(error), value.span))
        return None
    if found > MAX_TIME:
        converter.log.add(problems.bad_duration(f"no clock runs longer than {format_duration(MAX_TIME)}", value.span))
        return None
    return found


def with_limits(steps: list[s.Step]) -> list[s.Step]:
    """Steps of which those that settle know the time of the next ``at``."""
    limit: int | None = None
    result: list[s.Step] = []
    for step in reversed(steps):
        if isinstance(step, s.Advance) and not step.relative:
            limit = step.time
        elif limit is not None and (isinstance(step, s.Settle) or (isinstance(step, s.Expect) and step.when != "due")):
            step = replace(step, limit=limit)
        result.append(step)
    result.reverse()
    return result
