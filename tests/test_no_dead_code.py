"""Nothing lies around: every module is imported, every public name is used by the program or checked by a test."""

import ast
import re
from pathlib import Path

import pytest
from test_architecture import MODULES, ROOT, imports_of

ENTRY_POINTS = {"dralang.__main__", "dralang.cli.main"}
"""What Python or an installed script starts. Commands are found by their names; see `named`."""

WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OURS = {"ABC", "Enum", "Exception", "Generic", "IntEnum", "NamedTuple", "Protocol", "Struct"}
"""Bases outside of the project that call none of the methods of a class by names of their own."""

PLACES = ("dralang", "tests", "benchmarks", "vscode-extension")


def sources() -> dict[Path, str]:
    """Every Python file of the project, and what names modules and functions of it: configuration and grammar."""
    found = [
        path for place in PLACES for path in sorted((ROOT / place).rglob("*.py")) if "node_modules" not in path.parts
    ]
    others = [ROOT / "pyproject.toml", ROOT / "grammar" / "dra.lark"]
    return {path: path.read_text(encoding="utf-8") for path in [*found, *others]}


SOURCES = sources()
CLASSES = {name for path in MODULES.values() for name in re.findall(r"(?m)^class (\w+)", SOURCES[path])}
USES: dict[str, set[Path]] = {}
for _path, _text in SOURCES.items():
    for _word in set(WORDS.findall(_text)):
        USES.setdefault(_word, set()).add(_path)


def imported() -> set[str]:
    """Modules that another one imports, or that are named in a string: commands and plugins are loaded by name."""
    found = {
        name for path in SOURCES if path.suffix == ".py" for name, _ in imports_of(path) if MODULES.get(name) != path
    }
    for path, text in SOURCES.items():
        found |= {name for name in re.findall(r"[\"'](dralang(?:\.\w+)+)", text) if MODULES.get(name) != path}
    return found


def test_every_module_is_imported_or_is_an_entry_point():
    known = imported() | ENTRY_POINTS
    packages = {module for module, path in MODULES.items() if path.name == "__init__.py"}
    assert not set(MODULES) - known - packages


def public_names(path: Path) -> list[str]:
    """Functions, classes and methods that do not start with an underscore, and constants in capitals.

    Hooks of pytest and methods of classes that extend one of a library are called from there.
    """
    tree = ast.parse(SOURCES[path])
    names = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name) and target.id.isupper()]
        if isinstance(node, ast.ClassDef) and all(map(_is_ours, node.bases)):
            names += [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
    return sorted({name for name in names if not name.startswith(("_", "pytest_"))})


def _is_ours(base: ast.expr) -> bool:
    name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
    return name in OURS or name in CLASSES


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_public_name_is_used_or_tested(module):
    path = MODULES[module]
    text = SOURCES[path]
    unused = [
        name
        for name in public_names(path)
        if not USES[name] - {path} and len(re.findall(rf"\b{re.escape(name)}\b", text)) < 2
    ]
    assert not unused, f"{module}: nobody uses {', '.join(unused)}"
