"""IP addresses, networks and URLs.

Source: k8s.io/apiserver pkg/cel/library/ip.go, cidr.go, urls.go; Go's net/netip and net/url.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import unquote_plus

from dralang.cel.gotext import quoted
from dralang.cel.values import CelError, Cidr, Ip, Url

_V4 = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}", re.ASCII)


class _AddressError(Exception):
    """Why Go does not take an address."""


def _v4_error(text: str) -> str:
    """The reason of ``netip.parseIPv4Fields``."""
    value = position = digits = 0
    for at, char in enumerate(text):
        if char in "0123456789":
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value = value * 10 + int(char)
            digits += 1
            if value > 255:
                return "IPv4 field has value >255"
        elif char == ".":
            if at in {0, len(text) - 1} or text[at - 1] == ".":
                return f"IPv4 field must have at least one digit (at {quoted(text[at:])})"
            if position == 3:
                return "IPv4 address too long"
            position += 1
            value = digits = 0
        else:
            return f"unexpected character (at {quoted(text[at:])})"
    return "IPv4 address too short"


def _v6_error(text: str) -> str:
    """The reason of ``netip.parseIPv6``, as far as it is worth telling apart."""
    rest = text
    groups = 0
    ellipsis = False
    if rest.startswith("::"):
        ellipsis = True
        rest = rest[2:]
        if not rest:
            return "IPv6 address"
    while groups < 8:
        match = re.match(r"[0-9a-fA-F]*", rest)
        word = match[0] if match is not None else ""
        if len(word) > 4:
            return f"each group must have 4 or less digits (at {quoted(rest)})"
        if not word:
            return f"each colon-separated field must have at least one digit (at {quoted(rest)})"
        rest = rest[len(word) :]
        groups += 1
        if not rest:
            break
        if rest[0] != ":":
            return f"unexpected character, want colon (at {quoted(rest)})"
        if len(rest) == 1:
            return f"colon must be followed by more characters (at {quoted(rest)})"
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis:
                return f"multiple :: in address (at {quoted(rest)})"
            ellipsis = True
            rest = rest[1:]
            if not rest:
                break
    if rest:
        return f"trailing garbage after address (at {quoted(rest)})"
    return (
        "address string too short"
        if groups < 8 and not ellipsis
        else "the :: must expand to at least one field of zeros"
    )


def _parse(text: str) -> IPv4Address | IPv6Address:
    for char in text:
        if char == ".":
            if _V4.fullmatch(text) and all(int(part) < 256 for part in text.split(".")):
                return IPv4Address(text)
            raise _AddressError(f"ParseAddr({quoted(text)}): {_v4_error(text)}")
        if char == ":":
            address, percent, _ = text.partition("%")
            try:
                parsed = ip_address(address)
            except ValueError:
                raise _AddressError(f"ParseAddr({quoted(text)}): {_v6_error(address)}") from None
            return IPv6Address(f"{parsed}%zone") if percent else parsed
        if char == "%":
            raise _AddressError(f"ParseAddr({quoted(text)}): missing IPv6 address")
    raise _AddressError(f"ParseAddr({quoted(text)}): unable to parse IP")


def parse_ip(text: str) -> Ip:
    """``ip(text)``."""
    try:
        address = _parse(text)
    except _AddressError as problem:
        raise CelError(f"IP Address {quoted(text)} parse error during conversion from string: {problem}") from None
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise CelError(f"IP address {quoted(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise CelError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Ip(address)


def is_ip(text: str) -> bool:
    """``isIP(text)``."""
    try:
        parse_ip(text)
    except CelError:
        return False
    return True


def ip_text(value: Ip) -> str:
    """The canonical text of an address."""
    return str(value.address)


def ip_is_canonical(text: str) -> bool:
    """``ip.isCanonical(text)``."""
    return ip_text(parse_ip(text)) == text


def is_link_local_multicast(value: Ip) -> bool:
    """``value.isLinkLocalMulticast()``."""
    packed = value.address.packed
    if len(packed) == 4:
        return packed[:3] == b"\xe0\x00\x00"
    return packed[0] == 0xFF and packed[1] & 0x0F == 2


def is_link_local_unicast(value: Ip) -> bool:
    """``value.isLinkLocalUnicast()``."""
    packed = value.address.packed
    if len(packed) == 4:
        return packed[:2] == b"\xa9\xfe"
    return packed[0] == 0xFE and packed[1] & 0xC0 == 0x80


def is_loopback(value: Ip) -> bool:
    """``value.isLoopback()``."""
    return value.address.is_loopback


def is_unspecified(value: Ip) -> bool:
    """``value.isUnspecified()``."""
    return value.address.is_unspecified


def is_global_unicast(value: Ip) -> bool:
    """``value.isGlobalUnicast()``: neither special nor multicast; private addresses count."""
    packed = value.address.packed
    multicast = packed[0] & 0xF0 == 0xE0 if len(packed) == 4 else packed[0] == 0xFF
    broadcast = packed == b"\xff\xff\xff\xff"
    special = broadcast or is_unspecified(value) or is_loopback(value) or is_link_local_unicast(value)
    return not (multicast or special)


_PREFIX_ERROR: Final = "network address parse error during conversion from string: "


def _parse_prefix(text: str) -> Cidr:
    slash = text.rfind("/")
    if slash < 0:
        raise _AddressError(f"netip.ParsePrefix({quoted(text)}): no '/'")
    try:
        address = _parse(text[:slash])
    except _AddressError as problem:
        raise _AddressError(f"netip.ParsePrefix({quoted(text)}): {problem}") from None
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise _AddressError(f"netip.ParsePrefix({quoted(text)}): IPv6 zones cannot be present in a prefix")
    bits = text[slash + 1 :]
    if not bits.isascii() or not bits.isdigit() or len(bits) > 3 or (len(bits) > 1 and bits[0] == "0"):
        raise _AddressError(f"netip.ParsePrefix({quoted(text)}): bad bits after slash: {quoted(bits)}")
    if int(bits) > address.max_prefixlen:
        raise _AddressError(f"netip.ParsePrefix({quoted(text)}): prefix length out of range")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f"{_PREFIX_ERROR}IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return Cidr(address, int(bits))


def parse_cidr(text: str) -> Cidr:
    """``cidr(text)``."""
    try:
        return _parse_prefix(text)
    except _AddressError as problem:
        raise CelError(f"{_PREFIX_ERROR}{_PREFIX_ERROR}{problem}") from None


def is_cidr(text: str) -> bool:
    """``isCIDR(text)``."""
    try:
        parse_cidr(text)
    except CelError:
        return False
    return True


def cidr_text(value: Cidr) -> str:
    """The text of a network."""
    return f"{value.address}/{value.bits}"


def _prefix(address: IPv4Address | IPv6Address, bits: int) -> int:
    return int(address) >> (address.max_prefixlen - bits)


def cidr_contains_ip(value: Cidr, ip: Ip) -> bool:
    """``value.containsIP(ip)``."""
    same = value.address.version == ip.address.version
    return same and _prefix(value.address, value.bits) == _prefix(ip.address, value.bits)


def cidr_contains_ip_text(value: Cidr, text: str) -> bool:
    """``value.containsIP(text)``, which has no word about a text that is no address."""
    try:
        ip = parse_ip(text)
    except CelError:
        raise CelError("no such overload") from None
    return cidr_contains_ip(value, ip)


def cidr_contains_cidr(value: Cidr, other: Cidr) -> bool:
    """``value.containsCIDR(other)``."""
    if value.address.version != other.address.version or value.bits > other.bits:
        return False
    return _prefix(value.address, value.bits) == _prefix(other.address, value.bits)


def masked(value: Cidr) -> Cidr:
    """``value.masked()``."""
    host = value.address.max_prefixlen - value.bits
    number = int(value.address) >> host << host
    kind = IPv4Address if value.address.version == 4 else IPv6Address
    return Cidr(kind(number), value.bits)


# URLs

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.ASCII | re.DOTALL)
_PORT = re.compile(r"(?::[0-9]*)?", re.ASCII)
_HOST_CHARS = re.compile(r"[^\x00- #/?@\\^`{|}\x7f]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class _UrlError(Exception):
    """Why Go does not take a URL."""


def _split(text: str) -> tuple[str, str, str, str]:
    """Scheme, host, path and query as ``url.ParseRequestURI`` and ``url.Parse`` find them."""
    if _CONTROL.search(text):
        raise _UrlError("net/url: invalid control character in URL")
    if not text:
        raise _UrlError("empty url")
    scheme, rest = _scheme(text)
    rest, mark, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            # Opaque: scheme:something
            return scheme, "", "", query
        raise _UrlError("invalid URI for request")
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _host(host)
    bad = _BAD_ESCAPE.search(rest)
    if bad:
        raise _UrlError(f"invalid URL escape {quoted(bad[0])}")
    return scheme, host, rest, query if mark else ""


def _scheme(text: str) -> tuple[str, str]:
    for at, char in enumerate(text):
        if char.isascii() and char.isalpha():
            continue
        if char in "0123456789+-.":
            if at == 0:
                return "", text
            continue
        if char == ":":
            if at == 0:
                raise _UrlError("missing protocol scheme")
            return text[:at].lower(), text[at + 1 :]
        return "", text
    return "", text


def _host(authority: str) -> str:
    userinfo, at, host = authority.rpartition("@")
    if at and not re.fullmatch(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", userinfo):
        raise _UrlError("net/url: invalid userinfo")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _UrlError("missing ']' in host")
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if not _PORT.fullmatch(port):
        raise _UrlError(f"invalid port {quoted(port)} after host")
    if not _HOST_CHARS.fullmatch(host):
        wrong = next(char for char in host if not _HOST_CHARS.fullmatch(char))
        raise _UrlError(f"invalid character {quoted(wrong)} in host name")
    bad = _BAD_ESCAPE.search(host)
    if bad:
        raise _UrlError(f"invalid URL escape {quoted(bad[0])}")
    return host


def parse_url(text: str) -> Url:
    """``url(text)``."""
    try:
        _split(text)
        scheme, host, path, query = _split(text.partition("#")[0])
    except _UrlError as problem:
        raise CelError(f"URL parse error during conversion from string: parse {quoted(text)}: {problem}") from None
    return Url(text, scheme, host, path, query)


def url_error(text: str) -> str | None:
    """Why a text is no request URI, in Go's words."""
    try:
        _split(text)
    except _UrlError as problem:
        return f"parse {quoted(text)}: {problem}"
    return None


def is_url(text: str) -> bool:
    """``isURL(text)``."""
    return url_error(text) is None


def url_hostname(value: Url) -> str:
    """``value.getHostname()``: the host without port and brackets."""
    host = value.host
    colon = host.rfind(":")
    if colon >= 0 and _PORT.fullmatch(host[colon:]) and not host.endswith("]"):
        host = host[:colon]
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def url_port(value: Url) -> str:
    """``value.getPort()``."""
    colon = value.host.rfind(":")
    return value.host[colon + 1 :] if colon >= 0 and _PORT.fullmatch(value.host[colon:]) else ""


def url_query(value: Url) -> dict[str, tuple[str, ...]]:
    """``value.getQuery()``."""
    found: dict[str, tuple[str, ...]] = {}
    for part in value.query.split("&"):
        if not part or ";" in part:
            continue
        name, _, content = part.partition("=")
        if _BAD_ESCAPE.search(part):
            continue
        key = unquote_plus(name)
        found[key] = (*found.get(key, ()), unquote_plus(content))
    return found
