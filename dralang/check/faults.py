"""What a fault is about: a component by its name, a number of failures, the status of a condition."""

from typing import Final

from dralang.check import problems
from dralang.check.expand import Bindings, one_name, scalar, whole_value
from dralang.check.values import Converter
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.syntax import nodes as n

COMPONENTS: Final = (
    "scheduler",
    "resourceclaim-controller",
    "device-taint-eviction-controller",
    "kubelet",
    "garbage-collector",
    "pod-garbage-collector",
    "taint-eviction-controller",
    "pool-status-controller",
)
STATUSES: Final = ("true", "false", "unknown")
SEARCH: Final = "allocation"
"""No component: the scheduler's search for devices, which can only be slow."""


def component_of(node: n.ComponentAction | n.Delay, bindings: Bindings, converter: Converter) -> str | None:
    """The component that a statement is about; of a hole the first choice, and every choice must be one."""
    is_delay = isinstance(node, n.Delay)
    return converter.first(
        node.component, lambda value: component_name(value, bindings, converter.log, is_delay=is_delay)
    )


def status_word(value: n.Value, bindings: Bindings, converter: Converter) -> str | None:
    """What a condition is set to, or None after a diagnostic (DRA0310)."""
    resolved = converter.resolve(value, bindings)
    status = resolved.text.lower() if isinstance(resolved, n.Word) else ""
    if status in STATUSES:
        return status
    converter.log.add(problems.bad_state(value.span.text, "condition", value.span, STATUSES))
    return None


def component_name(value: n.Value, bindings: Bindings, log: DiagnosticLog, *, is_delay: bool) -> str | None:
    """A component by its name, or None after a diagnostic (DRA0201, DRA0302)."""
    way_out = f"there are {', '.join(f'`{name}`' for name in COMPONENTS)}"
    if not isinstance(value, n.Word):
        log.add(problems.wrong_value("a component is named here", value.span, way_out))
        return None
    component = one_name(value, bindings, log)
    if component == SEARCH and not is_delay:
        way_out = "write `delay allocation by 15s`"
        log.add(problems.wrong_value("the search for devices can only be delayed", value.span, way_out))
        return None
    if component is not None and component not in COMPONENTS and component != SEARCH:
        log.add(problems.undefined("component", component, value.span, COMPONENTS, way_out=way_out))
        return None
    return component


def failures(value: n.Value, bindings: Bindings, log: DiagnosticLog) -> int | None:
    """How many calls fail, or None after a diagnostic (DRA0308)."""
    way_out = "write a number from 1; in a `fuzz`, `maybe fail next ...` is none or some"
    if isinstance(value, n.Word) and value.text == "0":
        # One that is computed may come to none, as the rounds of a `repeat` do; one that is written says nothing.
        log.add(problems.bad_number("to fail 0 times is not to fail", value.span, way_out))
        return None
    return number_of("failures", value, bindings, log, way_out)


def number_of(things: str, value: n.Value, bindings: Bindings, log: DiagnosticLog, way_out: str = "") -> int | None:
    """A number from 0, or None after a diagnostic (DRA0308)."""
    resolved = whole_value(value, bindings, log) if isinstance(value, n.Word) else value
    number = scalar(resolved) if isinstance(resolved, n.Word) else None
    if not isinstance(number, bool) and isinstance(number, int) and number >= 0:
        return number
    if resolved is not None:
        shown = resolved.text if isinstance(resolved, n.Word) else value.span.text
        log.add(problems.bad_number(f"`{shown}` is no number of {things}", value.span, way_out))
    return None
