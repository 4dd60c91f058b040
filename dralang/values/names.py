"""The name formats of the Kubernetes API.

Each ``..._errors`` function returns the API server's texts, none for a good name; lengths count bytes.

Source: k8s.io/apimachinery/pkg/api/validate/content (1.37).
"""

import re
from functools import lru_cache
from typing import Literal

LABEL_MAX_LENGTH = 63
SUBDOMAIN_MAX_LENGTH = 253
LABEL_KEY_MAX_LENGTH = 63
LABEL_VALUE_MAX_LENGTH = 63

Errors = tuple[str, ...]
Unit = Literal["bytes", "characters"]
"""What a text says it counts; bytes are meant in any case."""

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = _DNS_LABEL + r"(\." + _DNS_LABEL + ")*"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_LABEL_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

_dns_label = re.compile(_DNS_LABEL, re.ASCII)
_dns_subdomain = re.compile(_DNS_SUBDOMAIN, re.ASCII)
_dns_subdomain_caseless = re.compile(_DNS_SUBDOMAIN, re.ASCII | re.IGNORECASE)
_c_identifier = re.compile(_C_IDENTIFIER, re.ASCII)
_label_key = re.compile(_LABEL_KEY, re.ASCII)
_label_value = re.compile(f"({_LABEL_KEY})?", re.ASCII)
_uuid = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)

_LABEL_CHARACTERS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def byte_length(text: str) -> int:
    """Length in UTF-8, which is what the API limits."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def max_length_error(limit: int, unit: Unit = "bytes") -> str:
    """The text for a string that is too long."""
    return f"must be no more than {limit} {unit}"


EMPTY_ERROR = "must be non-empty"


def _format_error(text: str, pattern: str, *examples: str) -> str:
    # The two spaces are those of the original.
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


@lru_cache(maxsize=4096)
def _is_label(text: str) -> bool:
    """Whether a short text is a label; the same names come again and again."""
    return _dns_label.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _is_subdomain(text: str) -> bool:
    """Whether a short text consists of labels."""
    return _dns_subdomain.fullmatch(text) is not None


def dns_label_errors(text: str, unit: Unit = "characters") -> Errors:
    """For a label: at most 63 of ``a-z``, ``0-9`` and inner ``-``."""
    if len(text) <= LABEL_MAX_LENGTH and _is_label(text):
        return ()
    errors = [max_length_error(LABEL_MAX_LENGTH, unit)] if byte_length(text) > LABEL_MAX_LENGTH else []
    if not _dns_label.fullmatch(text):
        if _dns_subdomain.fullmatch(text):
            errors.append("must not contain dots")
        else:
            errors.append(
                _format_error(
                    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                    "and must start and end with an alphanumeric character",
                    _DNS_LABEL,
                    "my-name",
                    "123-abc",
                )
            )
    return tuple(errors)


def dns_subdomain_errors(text: str, unit: Unit = "characters", *, caseless: bool = False) -> Errors:
    """For labels joined by dots, at most 253 in all; upper case counts as lower case if ``caseless``."""
    if len(text) <= SUBDOMAIN_MAX_LENGTH and _is_subdomain(text):
        return ()
    pattern = _dns_subdomain_caseless if caseless else _dns_subdomain
    if len(text) <= SUBDOMAIN_MAX_LENGTH and pattern.fullmatch(text):
        return ()
    errors = [max_length_error(SUBDOMAIN_MAX_LENGTH, unit)] if byte_length(text) > SUBDOMAIN_MAX_LENGTH else []
    if not pattern.fullmatch(text):
        kind = "an RFC 1123 subdomain" if caseless else "a lowercase RFC 1123 subdomain"
        case = "" if caseless else "lower case "
        errors.append(
            _format_error(
                f"{kind} must consist of {case}alphanumeric characters, '-' or '.', "
                "and must start and end with an alphanumeric character",
                _DNS_SUBDOMAIN,
                "Example.com" if caseless else "example.com",
            )
        )
    return tuple(errors)


def c_identifier_errors(text: str) -> Errors:
    """For an identifier of C; says nothing about the length."""
    if _c_identifier.fullmatch(text):
        return ()
    return (
        _format_error(
            "a valid C identifier must start with alphabetic character or '_', "
            "followed by a string of alphanumeric characters or '_'",
            _C_IDENTIFIER,
            "my_name",
            "MY_NAME",
            "MyName",
        ),
    )


def label_key_errors(text: str) -> Errors:
    """For what Kubernetes calls a qualified name: a name with an optional subdomain and slash in front."""
    if len(text) <= LABEL_KEY_MAX_LENGTH and _label_key.fullmatch(text):
        return ()
    prefix, slash, name = text.partition("/")
    if not slash:
        prefix, name = "", text
    errors: list[str] = []
    if slash and len(name) <= LABEL_KEY_MAX_LENGTH and _label_key.fullmatch(name) and not dns_subdomain_errors(prefix):
        return ()
    wrong_characters = _format_error(_LABEL_CHARACTERS, _LABEL_KEY, "MyName", "my.name", "123-abc")
    if "/" in name:
        with_prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a valid label key {wrong_characters} {with_prefix}",)
    if slash and not prefix:
        errors.append(f"prefix part {EMPTY_ERROR}")
    elif slash:
        errors += [f"prefix part {error}" for error in dns_subdomain_errors(prefix, "bytes")]
    if not name:
        errors.append(f"name part {EMPTY_ERROR}")
    elif byte_length(name) > LABEL_KEY_MAX_LENGTH:
        errors.append(f"name part {max_length_error(LABEL_KEY_MAX_LENGTH)}")
    if not _label_key.fullmatch(name):
        errors.append(f"name part {wrong_characters}")
    return tuple(errors)


def label_value_errors(text: str) -> Errors:
    """For the value of a label: empty, or at most 63 characters of the kind label names have."""
    if len(text) <= LABEL_VALUE_MAX_LENGTH and _label_value.fullmatch(text):
        return ()
    errors = [max_length_error(LABEL_VALUE_MAX_LENGTH)] if byte_length(text) > LABEL_VALUE_MAX_LENGTH else []
    if not _label_value.fullmatch(text):
        errors.append(
            _format_error(
                f"a valid label must be an empty string or {_LABEL_CHARACTERS.removeprefix('must ')}",
                f"({_LABEL_KEY})?",
                "MyValue",
                "my_value",
                "12345",
            )
        )
    return tuple(errors)


def is_uuid(text: str) -> bool:
    """Whether this is a UUID in lower case, 8-4-4-4-12."""
    return _uuid.fullmatch(text) is not None


def path_segment_errors(text: str) -> Errors:
    """For a name that becomes a part of a URL."""
    if text in {".", ".."}:
        return (f"may not be '{text}'",)
    return tuple(f"may not contain '{part}'" for part in "/%" if part in text)
