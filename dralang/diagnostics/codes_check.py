"""The codes of checking what names and values mean, and of running scenarios."""

from typing import Final

from dralang.diagnostics.code import Code

CHECK_CODES: Final[dict[str, Code]] = {}
