"""Nodes: the features that they declare.

Source: pkg/apis/core/validation/validation.go, validateNodeDeclaredFeatures (1.37).
"""

import re
from typing import Final

from dralang.api.validation.errors import Errors, duplicate, invalid

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
