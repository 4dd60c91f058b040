"""What the rules for common mistakes share."""

import re
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.syntax.habits import ITEM_WORDS, STATEMENT_WORDS
from dralang.syntax.place import Place

NUMBER: Final = re.compile(r"-?\d+\Z")
PROPOSITION_STARTS: Final = frozenset({"expect", "always", "never", "witness"})
CLOSED_OR_SEPARATED: Final = frozenset({"NL", "$END", "RBRACE", "RPAR", "RSQB", "COMMA", "COLON", "EQUAL", "SEMICOLON"})


def miss(code: str, message: str, span: Span, way_out: str, *expected: str) -> Diagnostic:
    """A diagnostic in one line of code."""
    return Diagnostic(code=code, message=message, span=span, help=way_out, expected=expected)


def in_backticks(*names: str) -> tuple[str, ...]:
    """Words as messages show them."""
    return tuple([f"`{name}`" for name in names])


def is_item_level(place: Place) -> bool:
    """Whether items of a file stand here, not statements of a scenario."""
    return place.block_kind in ("", "fixture")


def beginnings(place: Place) -> frozenset[str]:
    """The words that can begin a statement here."""
    return ITEM_WORDS if is_item_level(place) else STATEMENT_WORDS
