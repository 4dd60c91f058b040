"""Nodes: their taints, and the features that they declare.

Source: pkg/apis/core/validation/validation.go, validateNodeTaints and validateNodeDeclaredFeatures (1.37).
"""

import re
from typing import Final

from msgspec import structs

from dralang.api.affinity import Taint
from dralang.api.validation import formats
from dralang.api.validation.errors import Errors, duplicate, invalid, not_supported, required

NODE_TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAX_LENGTH: Final = 253
_NAME: Final = re.compile(r"[A-Z][a-zA-Z0-9]*(?:/[a-zA-Z][a-zA-Z0-9]*)*\Z")
_FORM: Final = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def declared_features(names: tuple[str, ...], path: str, out: Errors) -> None:
    """Names of features in the order of their letters, each once."""
    for index, name in enumerate(names):
        if len(name) > _MAX_LENGTH:
            text = f"must be no more than {_MAX_LENGTH} characters"
            out.append(invalid(f"{path}[{index}]", name, f'invalid feature name "{name}": {text}'))
        elif not _NAME.match(name):
            out.append(invalid(f"{path}[{index}]", name, f'invalid feature name "{name}": {_FORM}'))
        if index and names[index - 1] == name:
            out.append(duplicate(f"{path}[{index}]", name))
        elif index and names[index - 1] > name:
            out.append(invalid(f"{path}[{index}]", name, "list must be sorted alphabetically"))


def node_taints(taints: tuple[Taint, ...], path: str, out: Errors) -> None:
    """Taints of nodes, unlike those of devices, differ in key or effect."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        here = f"{path}[{index}]"
        formats.label_key(taint.key, f"{here}.key", out)
        if taint.value:
            formats.label_value(taint.value, f"{here}.value", out)
        if not taint.effect:
            out.append(required(f"{here}.effect"))
        elif taint.effect not in NODE_TAINT_EFFECTS:
            out.append(not_supported(f"{here}.effect", taint.effect, NODE_TAINT_EFFECTS, as_listed=True))
        if (taint.key, taint.effect) in seen:
            error = duplicate(here, taint)
            out.append(structs.replace(error, detail="taints must be unique by key and effect pair"))
        seen.add((taint.key, taint.effect))
