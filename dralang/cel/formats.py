"""The named formats of ``format.named(...).validate(...)``.

Source: k8s.io/apiserver pkg/cel/library/format.go, with the checks of apimachinery and kube-openapi.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Final

from dralang.cel.network import url_error
from dralang.cel.values import NONE, Format, Optional
from dralang.values.names import (
    byte_length,
    dns_label_errors,
    dns_subdomain_errors,
    label_key_errors,
    label_value_errors,
)

_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_DNS_1035_ERROR: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is"
    " '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BASE64 = re.compile(
    r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})", re.ASCII
)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_DNS_1035_LENGTH: Final = 63


def _dns_1035(text: str) -> list[str]:
    errors = [f"must be no more than {_DNS_1035_LENGTH} characters"] if byte_length(text) > _DNS_1035_LENGTH else []
    return errors if _DNS_1035.fullmatch(text) else [*errors, _DNS_1035_ERROR]


def _prefix(text: str) -> str:
    """A prefix may end in a dash, because something follows."""
    return text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    try:
        date(year or 4, month, day)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _url(text: str) -> list[str]:
    error = url_error(text)
    return [] if error is None else [error]


def _simple(good: Callable[[str], bool], message: str) -> Callable[[str], list[str]]:
    return lambda text: [] if good(text) else [message]


_CHECKS: Final[dict[str, tuple[str, int, Callable[[str], Sequence[str]]]]] = {
    "dns1123Label": ("DNS1123Label", 30, dns_label_errors),
    "dns1123Subdomain": ("DNS1123Subdomain", 60, dns_subdomain_errors),
    "dns1035Label": ("DNS1035Label", 30, _dns_1035),
    "qualifiedName": ("QualifiedName", 60, label_key_errors),
    "dns1123LabelPrefix": ("DNS1123LabelPrefix", 30, lambda text: dns_label_errors(_prefix(text))),
    "dns1123SubdomainPrefix": ("DNS1123SubdomainPrefix", 60, lambda text: dns_subdomain_errors(_prefix(text))),
    "dns1035LabelPrefix": ("DNS1035LabelPrefix", 30, lambda text: _dns_1035(_prefix(text))),
    "labelValue": ("LabelValue", 40, label_value_errors),
    "uri": ("URI", 1103, _url),
    "uuid": (
        "uuid",
        74,
        _simple(lambda text: _UUID.fullmatch(text) is not None, "does not match the UUID format"),
    ),
    "byte": ("byte", 84, _simple(lambda text: _BASE64.fullmatch(text) is not None, "invalid base64")),
    "date": ("date", 81, _simple(_is_date, "invalid date")),
    "datetime": ("datetime", 81, _simple(_is_datetime, "invalid datetime")),
}
FORMATS: Final = {name: Format(shown, size) for name, (shown, size, _) in _CHECKS.items()}
_BY_SHOWN: Final = {shown: check for shown, _, check in _CHECKS.values()}


def named(name: str) -> Optional:
    """``format.named(name)``."""
    found = FORMATS.get(name)
    return NONE if found is None else Optional(found)


def validate(kind: Format, text: str) -> Optional:
    """``kind.validate(text)``: the errors, or nothing."""
    errors = tuple(_BY_SHOWN[kind.name](text))
    return Optional(errors) if errors else NONE
