"""Objects of older API versions in the shape of v1, every value with its place.

Only `v1beta1` differs in shape: the fields of a request stand beside its name (v1: in ``exactly``), those of a device
in ``basic`` (v1: beside its name).
"""

from collections.abc import Mapping
from typing import Final

from dralang.api.located import Located

_REQUEST: Final = frozenset({"name", "firstAvailable"})


def lifted(kind: str, version: str, body: Located) -> Located:
    """The object as v1 writes it; one of a version with the shape of v1 stays as it is."""
    if version != "v1beta1":
        return body
    if kind == "ResourceClaim":
        return _at(body, ("spec", "devices", "requests"), _request)
    if kind == "ResourceClaimTemplate":
        return _at(body, ("spec", "spec", "devices", "requests"), _request)
    if kind == "ResourceSlice":
        return _at(body, ("spec", "devices"), _device)
    return body


def _at(here: Located, path: tuple[str, ...], change: object) -> Located:
    """The value with every element of the list at a path changed; unchanged where the path leads nowhere."""
    assert callable(change)
    inside = here.value
    if not path:
        if not isinstance(inside, tuple):
            return here
        return Located(tuple([change(element) for element in inside]), here.span, here.key_span)
    if not isinstance(inside, Mapping) or path[0] not in inside:
        return here
    return Located({**inside, path[0]: _at(inside[path[0]], path[1:], change)}, here.span, here.key_span)


def _request(request: Located) -> Located:
    inside = request.value
    if not isinstance(inside, Mapping):
        return request
    plain = {name: entry for name, entry in inside.items() if name not in _REQUEST}
    if not plain:
        return request
    kept = {name: entry for name, entry in inside.items() if name in _REQUEST}
    return Located({**kept, "exactly": Located(plain, request.span, request.span)}, request.span, request.key_span)


def _device(device: Located) -> Located:
    inside = device.value
    if not isinstance(inside, Mapping) or "basic" not in inside:
        return device
    basic = inside["basic"].value
    rest = {name: entry for name, entry in inside.items() if name != "basic"}
    return Located({**rest, **(basic if isinstance(basic, Mapping) else {})}, device.span, device.key_span)
