"""Fields that a kind does not have, and where that stands which was meant."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from dralang.api.containers import Container
from dralang.api.resourceclaim import ExactDeviceRequest
from dralang.api.resourceslice import Device
from dralang.api.schema import fields_of
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.spelling import nearest

Place: TypeAlias = tuple[Callable[[str], bool], str]
"""Which names stand elsewhere, and where; `{}` is the name."""

_SHOWN: Final = 12
_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_FORMS: Final[Mapping[str, str]] = {
    "claim": "`claim NAME from TEMPLATE` or `claim NAME is CLAIM`",
    "container": "`container NAME { ... }`",
    "counters": "`counters SET { memory: 80Gi }`",
    "device": "`device NAME { ... }`",
    "distinct": "`distinct ATTRIBUTE`",
    "match": "`match ATTRIBUTE`",
    "request": "`request NAME: 1 of CLASS`",
    "taint": "`taint KEY=VALUE:EFFECT`",
    "where": "``where `EXPRESSION` ``",
}
"""Lines that are no fields, as they are written."""


def _is_resource(name: str) -> bool:
    return name in _RESOURCES or name.startswith("hugepages-")


def _is_qualified(name: str) -> bool:
    return "/" in name


def _is_device(name: str) -> bool:
    return name in {"device", "devices", "gpu", "gpus", "nic", "nics"}


def _is_expression(name: str) -> bool:
    return name in {"cel", "expression", "selector"}


def _is_of_request(name: str) -> bool:
    return name in fields_of(ExactDeviceRequest)


def _is_of_device(name: str) -> bool:
    return name in fields_of(Device) and name != "name"


def _is_of_container(name: str) -> bool:
    return name in fields_of(Container) and name != "name"


_IN_A_REQUEST: Final[tuple[Place, ...]] = (
    (lambda name: name in {"class", "count", "deviceClassName"}, "a request says it: `request NAME: COUNT of CLASS`"),
    (_is_of_request, "it stands in a request: `request NAME: 1 of CLASS {{ {}: ... }}`"),
    (_is_expression, "an expression stands in a request: ``request NAME: 1 of CLASS where `EXPRESSION` ``"),
)
_IN_A_CONTAINER: Final[tuple[Place, ...]] = (
    (
        lambda name: _is_resource(name) or _is_qualified(name),
        "resources are asked for in `resources {{ requests {{ {}: ... }} }}`",
    ),
    (
        lambda name: name == "claim" or _is_device(name),
        "in `container NAME {{ ... }}`, `claim NAME` without `:` uses a claim of the pod",
    ),
)
_ELSEWHERE: Final[Mapping[str, tuple[Place, ...]]] = {
    "a node": (
        (_is_resource, "what a node has stands in `capacity {{ {}: ... }}`"),
        (_is_qualified, "write `labels {{ {0}: ... }}`, or `capacity {{ {0}: ... }}` for an extended resource"),
        (
            _is_device,
            "devices stand in a slice: `slice NAME {{ driver: DRIVER; nodeName: NODE; device NAME }}`",
        ),
    ),
    "a pod": (
        (_is_resource, "resources are asked for in `requests {{ {}: ... }}`"),
        (_is_qualified, "write `labels {{ {0}: ... }}`, or `requests {{ {0}: ... }}` for an extended resource"),
        (_is_device, "devices come by claims: `claim NAME from TEMPLATE`"),
        (lambda name: name == "node", "`on node NODE` asks for a node, `nodeName: NODE` passes over the scheduler"),
        (_is_of_container, "it stands in a container: `container NAME {{ {}: ... }}`"),
    ),
    "a container": _IN_A_CONTAINER,
    "containers": _IN_A_CONTAINER,
    "initContainers": _IN_A_CONTAINER,
    "a claim": _IN_A_REQUEST,
    "a template": _IN_A_REQUEST,
    "a request": ((_is_expression, "an expression stands alone: ``where `EXPRESSION` ``"),),
    "a class": ((_is_expression, "an expression stands alone: ``where `EXPRESSION` ``"),),
    "a taintrule": ((lambda name: name in {"effect", "key", "value"}, "write `taint KEY=VALUE:EFFECT`"),),
    "a slice": ((_is_of_device, "it stands in a device: `device NAME {{ {}: ... }}`"),),
}
_OTHERWISE: Final[Mapping[str, str]] = {
    "a device": "what it is stands in `attributes {{ {}: ... }}`, how much it has of it in `capacity {{ {}: ... }}`",
}
"""What may have been meant where nothing is like the name."""


def unknown_field(
    name: str, span: Span, where: str, fields: Mapping[str, object], sugar: tuple[str, ...] = ()
) -> Diagnostic:
    """A field that a kind or struct does not have, with those that it has and the way out.

    Args:
        name: the field.
        span: its place.
        where: what it was to be a field of: `a pod`.
        fields: those that there are, by name.
        sugar: lines that may stand there and are no fields.
    """
    known = [*fields, *sugar]
    listed = tuple(known) if len(known) <= _SHOWN else (*known[:_SHOWN], f"{len(known) - _SHOWN} more")
    return Diagnostic(
        code="DRA0301",
        message=f"{where} has no field `{name}`",
        span=span,
        expected=listed,
        help=_way_out(name, where, known, sugar),
    )


def _way_out(name: str, where: str, known: list[str], sugar: tuple[str, ...]) -> str:
    if name in sugar and name in _FORMS:
        return f"it is no field and takes no `:`: {_FORMS[name]}"
    for is_meant, place in _ELSEWHERE.get(where, ()):
        if is_meant(name):
            return place.format(name)
    near = nearest(name, known)
    if near is not None:
        return f"did you mean {_FORMS[near] if near in sugar and near in _FORMS else f'`{near}`'}?"
    return _OTHERWISE.get(where, "").format(name, name)
