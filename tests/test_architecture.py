"""The map in dralang/README.md is the law: directions, cycles, sizes."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dralang"
MAX_LINES = 600


def layers() -> list[list[str]]:
    block = re.search(r"```layers\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.S)
    assert block is not None
    return [line.split() for line in block[1].strip().splitlines()]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "dralang"


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(path: Path) -> list[tuple[str, int]]:
    """Every import of an own module, late and type-only ones included, with its line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.append((name if name in MODULES else node.module, node.lineno))
    return [(name, line) for name, line in found if name == "dralang" or name.startswith("dralang.")]


def test_every_unit_has_a_layer_and_every_layer_name_is_a_unit_or_planned():
    known = {name for line in layers() for name in line}
    units = {unit_of(module) for module in MODULES if module != "dralang.__main__"}
    assert units <= known, f"units without a layer: {sorted(units - known)}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_module_imports_only_from_lower_layers(module):
    if module == "dralang.__main__":
        pytest.skip("the entry point `python -m dralang` stands above the layers")
    rank = {name: number for number, line in enumerate(layers()) for name in line}
    own = unit_of(module)
    for name, line in imports_of(MODULES[module]):
        other = unit_of(name)
        if other == own or (name == "dralang" and own == "cli"):
            continue
        assert rank[other] > rank[own], f"{module}:{line} imports {name}, which is not below {own}"


def test_no_import_cycle():
    graph = {
        module: sorted({name for name, _ in imports_of(path) if name in MODULES and name != module})
        for module, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"import cycle: {' -> '.join((*path[path.index(module) :], module))}"
        if module in done:
            return
        for name in graph[module]:
            visit(name, (*path, module))
        done.add(module)

    for module in sorted(graph):
        visit(module, ())


@pytest.mark.parametrize("module", sorted(MODULES))
def test_module_is_of_a_size_one_can_hold_in_mind(module):
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{module} has {lines} lines; split it by concept"
