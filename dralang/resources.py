"""Where the grammar and the standard library lie: inside the wheel, or beside the package in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_DATA = _PACKAGE / "_data"


def grammar_path() -> Path:
    """The file ``dra.lark``."""
    packaged = _DATA / "dra.lark"
    return packaged if packaged.exists() else _PACKAGE.parent / "grammar" / "dra.lark"


def stdlib_dir() -> Path:
    """The folder of the standard library (``use std...``)."""
    packaged = _DATA / "stdlib"
    return packaged if packaged.exists() else _PACKAGE.parent / "stdlib"
