"""The registry of all diagnostic codes.

DRA01xx syntax, 02xx names, 03xx values, 04xx manifests, 05xx CEL, 06xx run, 07xx recorded cases, 08xx fuzzing.

A code is never used again for something else.
"""

from typing import Final

from dralang.diagnostics.code import Code
from dralang.diagnostics.codes_api import API_CODES
from dralang.diagnostics.codes_check import CHECK_CODES
from dralang.diagnostics.codes_conform import CONFORM_CODES
from dralang.diagnostics.codes_formatter import FORMATTER_CODES
from dralang.diagnostics.codes_fuzz import FUZZ_CODES
from dralang.diagnostics.codes_interop import INTEROP_CODES
from dralang.diagnostics.codes_syntax import SYNTAX_CODES


def _merged(*families: dict[str, Code]) -> dict[str, Code]:
    """All families in the order of their codes; a code belongs to one of them."""
    merged: dict[str, Code] = {}
    for family in families:
        twice = merged.keys() & family.keys()
        if twice:
            raise AssertionError(f"codes of two families: {sorted(twice)}")
        merged.update(family)
    return dict(sorted(merged.items()))


CODES: Final[dict[str, Code]] = _merged(
    SYNTAX_CODES, FORMATTER_CODES, API_CODES, CHECK_CODES, CONFORM_CODES, FUZZ_CODES, INTEROP_CODES
)
