"""The formats of names and other texts that several fields share.

A check adds what it finds to ``out``. ``covered`` marks errors that a declarative rule reports as well.

Source: pkg/apis/resource/validation, pkg/apis/core/validation and apimachinery's pkg/api/validate (1.37).
"""

import ipaddress
import re
from functools import lru_cache

from dralang.api.validation import limits
from dralang.api.validation.errors import Errors, invalid, required, too_long
from dralang.values.names import (
    byte_length,
    c_identifier_errors,
    dns_label_errors,
    dns_subdomain_errors,
    is_uuid,
    label_key_errors,
    label_value_errors,
    path_segment_errors,
)

_UUID_TEXT = "must be a lowercase UUID in 8-4-4-4-12 format"
_CIDR = re.compile(r"([0-9A-Fa-f.:]+)/([0-9]{1,3})", re.ASCII)
_CIDR_TEXT = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
_REASON = re.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', "
    "regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def label(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A DNS label."""
    out += [invalid(path, name, text, covered=covered) for text in dns_label_errors(name)]


def subdomain(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A DNS subdomain."""
    out += [invalid(path, name, text, covered=covered) for text in dns_subdomain_errors(name)]


def short_name(name: str, path: str, out: Errors) -> None:
    """A DNS label, with the texts of the declarative rule."""
    out += [invalid(path, name, text) for text in dns_label_errors(name, "bytes")]


def long_name(name: str, path: str, out: Errors) -> None:
    """A DNS subdomain, with the texts of the declarative rule."""
    out += [invalid(path, name, text) for text in dns_subdomain_errors(name, "bytes")]


def subdomain_caseless(name: str, path: str, out: Errors) -> None:
    """A DNS subdomain in any case."""
    out += [invalid(path, name, text) for text in dns_subdomain_errors(name, "bytes", caseless=True)]


def label_key(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """What Kubernetes calls a qualified name: the key of a label."""
    out += [invalid(path, name, text, covered=covered) for text in label_key_errors(name)]


def label_value(value: str, path: str, out: Errors) -> None:
    """The value of a label."""
    out += [invalid(path, value, text) for text in label_value_errors(value)]


def driver_name(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A driver name: a subdomain of at most 63 bytes, in any case."""
    if not name:
        out.append(required(path, covered=covered))
        return
    if byte_length(name) > limits.DRIVER_NAME_MAX_LENGTH:
        out.append(too_long(path, limits.DRIVER_NAME_MAX_LENGTH, covered=covered))
    out += [invalid(path, name, text, covered=covered) for text in dns_subdomain_errors(name.lower())]


def pool_name(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A pool name: subdomains with slashes between them."""
    if not name:
        out.append(required(path, covered=covered))
        return
    if byte_length(name) > limits.POOL_NAME_MAX_LENGTH:
        out.append(too_long(path, limits.POOL_NAME_MAX_LENGTH, covered=covered))
    for part in name.split("/"):
        subdomain(part, path, out, covered=covered)


def segmented_pool_name(name: str, path: str, out: Errors) -> None:
    """A pool name, with the texts of the declarative rule."""
    if byte_length(name) > limits.POOL_NAME_MAX_LENGTH:
        out.append(too_long(path, limits.POOL_NAME_MAX_LENGTH))
    for number, part in enumerate(name.split("/")):
        if not part:
            out.append(invalid(path, name, f"segment {number}: must not be empty"))
        else:
            out += [invalid(path, part, f"segment {number}: {text}") for text in dns_subdomain_errors(part, "bytes")]


def c_identifier(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """An identifier of C of at most 32 bytes."""
    if byte_length(name) > limits.DEVICE_MAX_ID_LENGTH:
        out.append(too_long(path, limits.DEVICE_MAX_ID_LENGTH, covered=covered))
    out += [invalid(path, name, text, covered=covered) for text in c_identifier_errors(name)]


@lru_cache(4096)
def _is_plain_name(name: str) -> bool:
    """Whether a name is good for sure; the devices of a slice all have the same ones."""
    found: Errors = []
    domain, slash, identifier = name.rpartition("/")
    if slash:
        driver_name(domain, "", found)
    c_identifier(identifier, "", found)
    return not found and "/" not in domain


def qualified_name(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """The key of an attribute or capacity: an identifier, maybe behind a domain and a slash.

    Two or more slashes are not looked at, as in released versions.
    """
    if _is_plain_name(name):
        return
    parts = name.split("/")
    if len(parts) == 1:
        c_identifier(name, path, out, covered=covered)
    elif len(parts) == 2:
        if not parts[0]:
            out.append(invalid(path, "", "the domain must not be empty", covered=covered))
        else:
            driver_name(parts[0], path, out, covered=covered)
        if not parts[1]:
            out.append(invalid(path, "", "the name must not be empty", covered=covered))
        else:
            c_identifier(parts[1], path, out, covered=covered)


_NOT_FULLY_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"


def fully_qualified_name(name: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A qualified name that has a domain."""
    qualified_name(name, path, out, covered=covered)
    if "/" not in name:
        out.append(invalid(path, name, _NOT_FULLY_QUALIFIED, covered=covered))


def strict_fully_qualified_name(name: str, path: str, out: Errors) -> None:
    """As ``fully_qualified_name``, with the declarative rule's lower case domains."""
    parts = name.split("/")
    if len(parts) == 1:
        c_identifier(name, path, out)
        out.append(invalid(path, name, _NOT_FULLY_QUALIFIED))
    elif len(parts) == 2:
        if not parts[0]:
            out.append(invalid(path, "", "prefix must not be empty"))
        else:
            if byte_length(parts[0]) > limits.DEVICE_MAX_DOMAIN_LENGTH:
                out.append(too_long(path, limits.DEVICE_MAX_DOMAIN_LENGTH))
            out += [invalid(path, parts[0], f"prefix: {text}") for text in dns_subdomain_errors(parts[0], "bytes")]
        if not parts[1]:
            out.append(invalid(path, "", "name must not be empty"))
        else:
            c_identifier(parts[1], path, out)


def caseless_driver_name(name: str, path: str, out: Errors) -> None:
    """A driver name, with the texts of the declarative rule."""
    subdomain_caseless(name, path, out)
    # This rule counts characters, not bytes.
    if len(name) > limits.DRIVER_NAME_MAX_LENGTH:
        out.append(too_long(path, limits.DRIVER_NAME_MAX_LENGTH, "characters"))


def path_segment(name: str, path: str, out: Errors) -> None:
    """A name that becomes a part of a URL."""
    out += [invalid(path, name, text) for text in path_segment_errors(name)]


def uuid(text: str, path: str, out: Errors, *, covered: bool = False) -> None:
    """A UUID in lower case."""
    if not is_uuid(text):
        out.append(invalid(path, text, _UUID_TEXT, covered=covered))


def is_extended_resource_name(name: str) -> bool:
    """Whether a resource is neither native nor a quota: `example.com/gpu`."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_errors(f"requests.{name}")


def extended_resource_name(name: str, path: str, out: Errors) -> None:
    """The name of an extended resource, with the texts of the declarative rule."""
    if "/" not in name:
        out.append(invalid(path, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'"))
    elif "kubernetes.io/" in name:
        out.append(invalid(path, name, 'must not have "kubernetes.io/" domain'))
    if name.startswith("requests."):
        out.append(invalid(path, name, 'must not have "requests." prefix'))
    out += [invalid(path, name, text) for text in label_key_errors(f"requests.{name}")]


def condition_reason(reason: str, path: str, out: Errors) -> None:
    """The reason of a condition; says nothing about its length."""
    if not _REASON.fullmatch(reason):
        out.append(invalid(path, reason, _REASON_TEXT))


def interface_address(text: str, path: str, out: Errors) -> None:
    """An IP address with prefix length, in canonical form."""
    canonical = _canonical_address(text)
    if canonical is None:
        out.append(invalid(path, text, _CIDR_TEXT))
    elif text != canonical:
        out.append(invalid(path, text, f'must be in canonical form ("{canonical}")'))


def _canonical_address(text: str) -> str | None:
    match = _CIDR.fullmatch(text)
    if match is None:
        return None
    address, bits = match[1], int(match[2])
    if len(match[2]) > 1 and match[2][0] == "0":
        return None
    if ":" not in address:
        # Go's sloppy parser allows leading zeros, which ipaddress does not.
        address = ".".join(part.lstrip("0") or "0" if part else part for part in address.split("."))
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    if bits > ip.max_prefixlen:
        return None
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        return f"{ip.ipv4_mapped}/{bits - 96 if bits > 32 else bits}"
    return f"{ip}/{bits}"
