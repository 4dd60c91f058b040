"""Field errors as the API server reports them: a place, a type and a text.

Source: k8s.io/apimachinery/pkg/util/validation/field (1.37).
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.encode import to_json
from dralang.api.meta import ObjectMeta, OwnerReference
from dralang.api.schema import fields_of
from dralang.values.names import Unit
from dralang.values.quantity import Quantity

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
NOT_SUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
DUPLICATE = "FieldValueDuplicate"
NOT_FOUND = "FieldValueNotFound"
INTERNAL = "InternalError"

IMMUTABLE_TEXT = "field is immutable"

_TITLES = {
    REQUIRED: "Required value",
    INVALID: "Invalid value",
    NOT_SUPPORTED: "Unsupported value",
    FORBIDDEN: "Forbidden",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
    DUPLICATE: "Duplicate value",
    NOT_FOUND: "Not found",
    INTERNAL: "Internal error",
}
_WITHOUT_VALUE = frozenset({REQUIRED, FORBIDDEN, TOO_LONG, INTERNAL})


class FieldError(Struct, frozen=True):
    """Something that is wrong with a field.

    Attributes:
        type: the cause type of the API, a key of this module.
        field: the path, as Kubernetes writes it.
        detail: why, in the words of the API server.
        value: what was found there.
        covered: a handwritten error that gives way to the declarative one of the same type and place.
    """

    type: str
    field: str
    detail: str = ""
    value: Any = None
    covered: bool = False

    @property
    def message(self) -> str:
        """The text of the cause."""
        title = _TITLES[self.type]
        shown = title if self.type in _WITHOUT_VALUE else f"{title}: {_go_value(self.value)}"
        return f"{shown}: {self.detail}" if self.detail else shown


Errors: TypeAlias = list[FieldError]
"""Where checks put what they find."""


def _go_value(value: Any) -> str:
    """A value as the server prints it."""
    return json.dumps(_go_json(value), ensure_ascii=False, separators=(",", ":"))


# Where a field of the server's own types is not named like the JSON field with a large first letter.
_GO_NAMES = {
    "apiGroup": "APIGroup",
    "bool": "BoolValue",
    "bools": "BoolValues",
    "cel": "CEL",
    "int": "IntValue",
    "ints": "IntValues",
    "ips": "IPs",
    "string": "StringValue",
    "strings": "StringValues",
    "uid": "UID",
    "version": "VersionValue",
    "versions": "VersionValues",
}


def _go_json(value: Any) -> Any:
    """Handwritten checks see the server's own types, whose fields have no JSON names; metadata has them."""
    if isinstance(value, ObjectMeta | OwnerReference):
        return to_json(value)
    if isinstance(value, ApiType):
        shown: dict[str, Any] = {}
        for field in fields_of(type(value)).values():
            content = getattr(value, field.attribute)
            if isinstance(content, ObjectMeta):
                shown |= to_json(content)
            else:
                empty = field.shape in {"list", "map"} and not content
                shown[_GO_NAMES.get(field.json, field.json[0].upper() + field.json[1:])] = (
                    None if empty else _go_json(content)
                )
        return shown
    if isinstance(value, tuple):
        return [_go_json(element) for element in value]
    if isinstance(value, Mapping):
        return {name: _go_json(entry) for name, entry in value.items()}
    return str(value) if isinstance(value, Quantity) else value


def required(field: str, detail: str = "", *, covered: bool = False) -> FieldError:
    """A value is missing."""
    return FieldError(REQUIRED, field, detail, covered=covered)


def invalid(field: str, value: Any, detail: str, *, covered: bool = False) -> FieldError:
    """A value breaks a rule."""
    return FieldError(INVALID, field, detail, value, covered)


def out_of_range(field: str, value: int, lowest: int, highest: int) -> FieldError:
    """A number is not between two others."""
    return invalid(field, value, f"must be between {lowest} and {highest}, inclusive")


def forbidden(field: str, detail: str) -> FieldError:
    """A value may not be there."""
    return FieldError(FORBIDDEN, field, detail)


def not_supported(
    field: str, value: Any, known: tuple[str, ...], *, covered: bool = False, as_listed: bool = False
) -> FieldError:
    """A value is not one of a closed set; some checks of the server list its members in an order of their own."""
    listed = ", ".join(f'"{name}"' for name in (known if as_listed else sorted(known)))
    return FieldError(NOT_SUPPORTED, field, f"supported values: {listed}" if known else "", value, covered)


def too_long(field: str, limit: int, unit: Unit = "bytes", *, covered: bool = False) -> FieldError:
    """A text is longer than the limit."""
    return FieldError(TOO_LONG, field, f"may not be more than {limit} {unit}", covered=covered)


def too_many(field: str, count: int, limit: int, *, covered: bool = False) -> FieldError:
    """A list has more elements than the limit."""
    return FieldError(TOO_MANY, field, f"must have at most {limit} items", count, covered)


def duplicate(field: str, value: Any, *, covered: bool = False) -> FieldError:
    """An element occurs a second time."""
    return FieldError(DUPLICATE, field, "", value, covered)


def not_found(field: str, value: Any, detail: str = "") -> FieldError:
    """A name leads nowhere."""
    return FieldError(NOT_FOUND, field, detail, value)
