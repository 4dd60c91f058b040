"""Maps, lists and names of a scheduler configuration, and how something in one is refused (DRA0313)."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from dralang.api.located import Located
from dralang.check.scheduler_plugins import MODELLED
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.spelling import nearest

Fields: TypeAlias = Mapping[str, Located]


def refused(message: str, span: Span | None, way_out: str = "", expected: tuple[str, ...] = ()) -> Diagnostic:
    """Something that cannot be followed."""
    return Diagnostic(code="DRA0313", message=message, span=span, help=way_out, expected=expected)


def unknown(what: str, name: str, span: Span, known: Collection[str]) -> Diagnostic:
    """A name that the configuration does not have."""
    near = nearest(name, known)
    way_out = f"did you mean `{near}`?" if near else ""
    return refused(f"there is no {what} `{name}`", span, way_out, tuple(sorted(known)))


def entries_of(located: Located, what: str, log: DiagnosticLog) -> Fields:
    """The entries of a map; none after a diagnostic."""
    if isinstance(located.value, Mapping):
        return located.value
    if located.value is not None:
        log.add(refused(f"{what} is a map of fields", located.span))
    return {}


def known_entries(located: Located, what: str, known: Collection[str], log: DiagnosticLog) -> Fields:
    """The entries of a map that may have certain fields only."""
    result = {}
    for name, value in entries_of(located, what, log).items():
        if name in known:
            result[name] = value
        else:
            log.add(unknown("field", name, value.key_span or value.span, known))
    return result


def items_of(located: Located, what: str, log: DiagnosticLog) -> Sequence[Located]:
    """The items of a list; none after a diagnostic."""
    if isinstance(located.value, tuple):
        return located.value
    if located.value is not None:
        log.add(refused(f"`{what}` is a list", located.span))
    return ()


def whole_number(found: Located | None, name: str, default: int, low: int, high: int, log: DiagnosticLog) -> int:
    """A number within bounds."""
    if found is None or found.value is None:
        return default
    value = found.value
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    log.add(refused(f"`{name}` is a whole number from {low} to {high:,}", found.span))
    return default


def plugin_name(item: Located, log: DiagnosticLog) -> str | None:
    """The name that an entry about a plugin has."""
    name = item.value.get("name") if isinstance(item.value, Mapping) else None
    if name is not None and isinstance(name.value, str) and name.value:
        return name.value
    log.add(refused("a plugin has a `name`", item.span))
    return None


def not_modelled(name: str, span: Span) -> Diagnostic:
    """A plugin that the simulated scheduler does not have."""
    near = nearest(name, MODELLED)
    return refused(f"plugin `{name}` is not modelled", span, f"did you mean `{near}`?" if near else "", MODELLED)
