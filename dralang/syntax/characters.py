"""Characters that start nothing in a `.dra` text, and what was probably meant by them."""

import re
import unicodedata
from typing import Final

# `//` and `/* */` up to the end of the line or of the comment; `--` and `%` would be guesses.
FOREIGN_COMMENT: Final = re.compile(r"//[^\n]*|/\*(?s:.*?)\*/|/\*[^\n]*|<!--[^\n]*")
# A text in single or typographic quotes, on one line and not an apostrophe inside a word.
FOREIGN_STRING: Final = re.compile(r"'[^'\n]{0,400}'(?![A-Za-z0-9])|[“”„][^“”\n]{0,400}[“”]|[‘‚][^‘’\n]{0,400}[‘’]")
_OPERATORS = re.compile(r"[=!<>]=|&&|\|\||[<>!&|?~^+*%]")
# Up to the last of them in the same word.
_FOREIGN = re.compile(r"[^\x00-\x7f]+(?:[A-Za-z0-9_./-]*[^\x00-\x7f]+)*")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]+")


def printable(text: str) -> str:
    """The text with everything that does not print as its code point, cut after 60 characters."""
    shown = "".join([char if char.isprintable() else f"U+{ord(char):04X}" for char in text[:60]])
    return shown + ("..." if len(text) > 60 else "")


def unexpected_character(text: str, start: int) -> tuple[str, str, int]:
    """The message, the way out and the end of what cannot stand at an offset."""
    character = text[start]
    operator = _OPERATORS.match(text, start)
    if operator is not None:
        return (
            f"`{operator[0]}` stands outside of a CEL expression",
            "put conditions between backticks, names and texts with such characters in double quotes",
            operator.end(),
        )
    if character in "-.":
        way_out = "put a name that ends in `-` or `.` in double quotes"
        return f"`{character}` ends a name or stands alone", way_out, start + 1
    if character in "'’":
        if re.match(r"['’]t\b", text[start:]):
            return (
                "negations are written without an apostrophe",
                "write `is not`, `was not` or `does not run`",
                start + 2,
            )
        return (
            f"unexpected character `{character}`",
            "texts stand in double quotes; a pod's claim is `serve's claim gpu`",
            start + 1,
        )
    if character == "\\":
        return (
            "unexpected character `\\`",
            "a statement goes on after `,` and inside brackets, without a backslash",
            start + 1,
        )
    if " " <= character <= "~":
        way_out = "put names and texts with such characters in double quotes"
        return f"unexpected character `{character}`", way_out, start + 1
    return _foreign(text, start)


def _foreign(text: str, start: int) -> tuple[str, str, int]:
    """Characters outside of ASCII, or control characters."""
    character = text[start]
    code_point = f"U+{ord(character):04X}"
    if (controls := _CONTROLS.match(text, start)) is not None:
        return f"control character {code_point}", "remove it", controls.end()
    category = unicodedata.category(character)
    if category in ("Zs", "Zl", "Zp", "Cf"):
        name = unicodedata.name(character, "an invisible character").lower()
        return f"{code_point} ({name}) stands between words", "use plain spaces", start + 1
    if category in ("Cc", "Cn", "Co", "Cs"):
        return f"unexpected character {code_point}", "remove it", start + 1
    found = _FOREIGN.match(text, start)
    assert found is not None
    way_out = "put names and texts with such characters in double quotes"
    return f"unexpected character `{printable(found[0])}`", way_out, found.end()
