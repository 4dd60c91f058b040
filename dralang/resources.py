"""Where grammar, standard library and the oracle's source lie: in the wheel, or beside the package in a checkout."""

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


def oracle_dir() -> Path:
    """The folder with the source of the Go program that asks the allocator of Kubernetes."""
    packaged = _DATA / "oracle"
    return packaged if packaged.exists() else _PACKAGE.parent / "oracle"
