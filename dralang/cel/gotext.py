"""Text as Go's ``%q`` writes it."""

ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
"""The characters with an escape of their own in Go and in CEL."""


def quoted(text: str) -> str:
    """In double quotes, with Go's escapes."""
    parts = ['"']
    for char in text:
        escape = ESCAPES.get(char)
        if escape is not None:
            parts.append(escape)
        elif char.isprintable():
            parts.append(char)
        elif ord(char) < 0x80:
            parts.append(f"\\x{ord(char):02x}")
        elif ord(char) < 0x10000:
            parts.append(f"\\u{ord(char):04x}")
        else:
            parts.append(f"\\U{ord(char):08x}")
    parts.append('"')
    return "".join(parts)
