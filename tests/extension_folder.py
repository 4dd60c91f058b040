"""The folder of the editor extension, as the tests use it: its generator, its node modules, its tokens."""

import hashlib
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

if sys.platform != "win32":
    import fcntl

ROOT: Final = Path(__file__).resolve().parents[1]
EXTENSION: Final = ROOT / "vscode-extension"
GRAMMAR_TESTS: Final = EXTENSION / "test" / "grammar"
_STAMP: Final = EXTENSION / "node_modules" / ".installed-from"

# A token of the editor: where it begins and ends in its line (UTF-16 units), and its scopes, the outermost first.
EditorToken = tuple[int, int, list[str]]


def load(module: str) -> ModuleType:
    """A module of the extension's folder (`generate`, `grammar_parts`), which are no part of the package."""
    if str(EXTENSION) not in sys.path:
        sys.path.append(str(EXTENSION))
    return importlib.import_module(module)


def run(*command: str, text: str | None = None) -> str:
    """Run a command in the extension's folder; its output, or a failed test that shows all it wrote."""
    program = shutil.which(command[0])
    if program is None:
        pytest.fail(f"`{command[0]}` is not on the PATH")
    done = subprocess.run(
        [program, *command[1:]],
        cwd=EXTENSION,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def install() -> None:
    """`npm ci`, if the modules are missing or belong to another lock file; skips the test where there is no node."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are needed to run the editor extension's own tools")
    with _only_one():
        _install_if_stale()


@contextmanager
def _only_one() -> Iterator[None]:
    """Tests that run side by side install one after the other."""
    with (EXTENSION / "package-lock.json").open("rb") as held:
        if sys.platform != "win32":
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _install_if_stale() -> None:
    lock = (EXTENSION / "package-lock.json").read_bytes() + (EXTENSION / ".npmrc").read_bytes()
    wanted = hashlib.sha256(lock).hexdigest()
    if not _STAMP.is_file() or _STAMP.read_text(encoding="utf-8") != wanted:
        run("npm", "ci")
        _STAMP.write_text(wanted, encoding="utf-8")


def editor_tokens(texts: list[str]) -> list[list[list[EditorToken]]]:
    """The tokens of some texts as the editor's own tokenizer sees them: a list a text, a list a line."""
    answer: list[list[list[Any]]] = json.loads(run("node", "scripts/tokens.mjs", text=json.dumps(texts)))
    return [[[(start, end, scopes) for start, end, scopes in line] for line in lines] for lines in answer]
