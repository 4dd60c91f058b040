"""Field errors as the API server reports them: a place, a type and a text.

Source: k8s.io/apimachinery/pkg/util/validation/field (1.37).
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.encode import to_json
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
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str | Quantity):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, ApiType):
        value = to_json(value)
    elif isinstance(value, tuple):
        value = [to_json(element) if isinstance(element, ApiType) else element for element in value]
    elif isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def required(field: str, detail: str = "", *, covered: bool = False) -> FieldError:
    """A value is missing."""
    return FieldError(REQUIRED, field, detail, covered=covered)


def invalid(field: str, value: Any, detail: str, *, covered: bool = False) -> FieldError:
    """A value breaks a rule."""
    return FieldError(INVALID, field, detail, value, covered)


def forbidden(field: str, detail: str) -> FieldError:
    """A value may not be there."""
    return FieldError(FORBIDDEN, field, detail)


def not_supported(field: str, value: Any, known: tuple[str, ...], *, covered: bool = False) -> FieldError:
    """A value is not one of a closed set."""
    listed = ", ".join(f'"{name}"' for name in sorted(known))
    return FieldError(NOT_SUPPORTED, field, f"supported values: {listed}" if known else "", value, covered)


def too_long(field: str, limit: int, *, covered: bool = False) -> FieldError:
    """A text has more bytes than the limit."""
    return FieldError(TOO_LONG, field, f"may not be more than {limit} bytes", covered=covered)


def too_many(field: str, count: int, limit: int, *, covered: bool = False) -> FieldError:
    """A list has more elements than the limit."""
    return FieldError(TOO_MANY, field, f"must have at most {limit} items", count, covered)


def duplicate(field: str, value: Any, *, covered: bool = False) -> FieldError:
    """An element occurs a second time."""
    return FieldError(DUPLICATE, field, "", value, covered)


def not_found(field: str, value: Any, detail: str = "") -> FieldError:
    """A name leads nowhere."""
    return FieldError(NOT_FOUND, field, detail, value)
