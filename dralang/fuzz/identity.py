"""What must be the same on all machines, so that the same seed finds the same on each of them."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import hypothesis

from dralang import resources
from dralang.resources import grammar_path, stdlib_dir


def _files() -> Iterator[tuple[str, Path]]:
    package = Path(resources.__file__).parent
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).as_posix(), path
    yield "dra.lark", grammar_path()
    for path in sorted(stdlib_dir().rglob("*.dra")):
        yield path.relative_to(stdlib_dir()).as_posix(), path


def _digest() -> str:
    digest = sha256()
    for name, path in _files():
        digest.update(f"{name}\n".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


IDENTITY: Final[Mapping[str, str]] = {"code": _digest(), "hypothesis": hypothesis.__version__}
"""A digest of our own code, because builds of one version may differ, and whose numbers are drawn. A constant, so that
a machine can be asked for it that has another dralang, which may not know what to answer."""


def difference(theirs: Mapping[str, str]) -> str:
    """What is different elsewhere, in words; empty if nothing is."""
    if theirs.get("code") != IDENTITY["code"]:
        return f"has another dralang (code {theirs.get('code')}, here {IDENTITY['code']})"
    if theirs.get("hypothesis") != IDENTITY["hypothesis"]:
        return f"has Hypothesis {theirs.get('hypothesis')}, here is {IDENTITY['hypothesis']}"
    return ""
