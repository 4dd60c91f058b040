"""Texts as they stand in our own source: what an expression can say, with a gap where something is filled in.

The lists of what fuzzes may reach are read from the code that says it, so they cannot fall behind it.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from dralang import resources

GAP: Final = "\0"
"""Stands for what is filled in."""
_MOST_TEXTS: Final = 200
_MOST_OWNERS: Final = 2
"""An attribute that more classes have says nothing."""


class Scope(NamedTuple):
    """Where an expression stands.

    Attributes:
        module: the tree of its module.
        owner: the class around it, if there is one.
        function: the function around it, if there is one.
    """

    module: ast.Module
    owner: ast.ClassDef | None
    function: ast.FunctionDef | None


class Sources:
    """The trees of some modules of the package.

    Args:
        patterns: their paths inside the package, as `glob` takes them.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        package = Path(resources.__file__).parent
        self.trees = {
            path.relative_to(package).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
            for pattern in patterns
            for path in sorted(package.glob(pattern))
        }

    @cached_property
    def calls(self) -> dict[str, list[tuple[ast.Call, Scope]]]:
        """Every call, by the name of what is called."""
        found: dict[str, list[tuple[ast.Call, Scope]]] = {}
        for tree in self.trees.values():
            for call, scope in _calls(tree, Scope(tree, None, None)):
                found.setdefault(name_of(call.func), []).append((call, scope))
        return found

    @cached_property
    def classes(self) -> dict[str, list[ast.ClassDef]]:
        """Classes by name."""
        found: dict[str, list[ast.ClassDef]] = {}
        for tree in self.trees.values():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def functions(self) -> dict[str, list[tuple[ast.FunctionDef, Scope]]]:
        """Functions and methods by name."""
        found: dict[str, list[tuple[ast.FunctionDef, Scope]]] = {}
        for tree in self.trees.values():
            for node in tree.body:
                inside = node.body if isinstance(node, ast.ClassDef) else [node]
                for each in inside:
                    if isinstance(each, ast.FunctionDef):
                        owner = node if isinstance(node, ast.ClassDef) else None
                        found.setdefault(each.name, []).append((each, Scope(tree, owner, each)))
        return found

    def calls_of(self, name: str, module: ast.Module) -> list[tuple[ast.Call, Scope]]:
        """The calls of a function of a module, by its name; private ones are called there alone."""
        found = self.calls.get(name, [])
        return [each for each in found if each[1].module is module] if name.startswith("_") else found

    # ---- texts ------------------------------------------------------------------------------------------------------

    def texts(self, node: ast.expr, scope: Scope) -> frozenset[str]:
        """What an expression can say."""
        return frozenset(_Reading(self).of(node, scope))

    def class_text(self, owner: ast.ClassDef | None, attribute: str) -> str:
        """The text of an attribute of a class, or of its first base; empty if there is none."""
        while owner is not None:
            for node in owner.body:
                if isinstance(node, ast.Assign) and any(name_of(target) == attribute for target in node.targets):
                    return str(node.value.value) if isinstance(node.value, ast.Constant) else ""
            bases = [self.classes.get(name_of(base), []) for base in owner.bases]
            owner = next((found[0] for found in bases if found), None)
        return ""

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The annotated attributes of each class, in order."""
        return {
            name: [
                node.target.id
                for node in owners[0].body
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            ]
            for name, owners in self.classes.items()
        }


class _Reading:
    """One expression followed to what it says; private to this module."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.open: set[int] = set()
        self.passed: dict[tuple[int, str], set[str]] = {}

    def of(self, node: ast.expr | None, scope: Scope) -> set[str]:
        if node is None or id(node) in self.open:
            return set()
        self.open.add(id(node))
        try:
            found = self._of(node, scope)
        finally:
            self.open.discard(id(node))
        return found if len(found) <= _MOST_TEXTS else {GAP}

    def _of(self, node: ast.expr, scope: Scope) -> set[str]:  # one case a kind of expression
        match node:
            case ast.Constant(value=str(text)):
                return {text}
            case ast.Constant():
                return set()
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.BinOp(op=ast.Add()):
                left, right = self.of(node.left, scope), self.of(node.right, scope)
                return {a + b for a in left for b in right} if left and right else left | right
            case ast.IfExp():
                return self.of(node.body, scope) | self.of(node.orelse, scope)
            case ast.BoolOp():
                return self._all(node.values, scope)
            case ast.Starred():
                return self.of(node.value, scope)
            case ast.List() | ast.Tuple():
                return self._all(node.elts, scope)
            case ast.ListComp() | ast.GeneratorExp():
                return self.of(node.elt, scope)
            case ast.NamedExpr():
                return self.of(node.value, scope)
            case ast.Name():
                return self._name(node.id, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Call():
                return self._call(node)
            case _:
                return {GAP}

    def _all(self, nodes: Iterable[ast.expr], scope: Scope) -> set[str]:
        return {text for node in nodes for text in self.of(node, scope)}

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> set[str]:
        found = {""}
        for part in node.values:
            texts = self._filled(part.value, scope) if isinstance(part, ast.FormattedValue) else self.of(part, scope)
            found = {f"{before}{text}" for before in found for text in texts or {GAP}}
        return found

    def _filled(self, value: ast.expr, scope: Scope) -> set[str]:
        """Constants and what callers give are part of a text; the rest is filled in."""
        if not isinstance(value, ast.Name):
            return {GAP}
        function = scope.function
        given = function is not None and any(argument.arg == value.id for argument in _arguments(function))
        if not given and _constant(value.id, scope.module) is None:
            return {GAP}
        return self.of(value, scope) - {""}  # what says nothing is not said

    def _name(self, name: str, scope: Scope) -> set[str]:
        function = scope.function
        if function is not None:
            values = list(_bound(name, function))
            if values:
                return self._all([value for value in values if value is not None], scope) | (
                    {GAP} if None in values else set()
                )
            captured = self._captured(name, function)
            if captured:
                return captured
            if any(argument.arg == name for argument in _arguments(function)):
                return self._passed(name, function, scope.module)
        own = _constant(name, scope.module)
        if own is not None:
            return self.of(own, Scope(scope.module, None, None))
        for tree in self.sources.trees.values():
            elsewhere = _constant(name, tree)
            if elsewhere is not None:
                return self.of(elsewhere, Scope(tree, None, None))
        return {GAP}

    def _passed(self, name: str, function: ast.FunctionDef, module: ast.Module) -> set[str]:
        """What callers give a parameter."""
        names = [argument.arg for argument in _arguments(function)]
        if names[0] in ("self", "cls"):
            if name == names[0]:
                return {GAP}  # what an object says of itself
            del names[0]
        # Objects are handed on through many callers: each parameter is followed once.
        known = self.passed.get((id(function), name))
        if known is not None:
            return known
        found = self.passed[id(function), name] = set()
        for call, scope in self.sources.calls_of(function.name, module):
            arguments = _spread(call, len(function.args.args) - len(_arguments(function)) + len(names))
            found |= self.of(argument_of(call, arguments, names.index(name), name), scope)
        return found or {GAP}

    def _captured(self, name: str, function: ast.FunctionDef) -> set[str]:
        """What a `case Class(attribute=NAME)` finds: what instances of the class are made with."""
        found: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.MatchClass):
                for attribute, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
                    if isinstance(pattern, ast.MatchAs) and pattern.name == name:
                        found |= self._made_with(name_of(node.cls), attribute)
        return found

    def _made_with(self, class_name: str, attribute: str) -> set[str]:
        fields = self.sources.fields.get(class_name, [])
        position = fields.index(attribute) if attribute in fields else -1
        found: set[str] = set()
        for call, scope in self.sources.calls.get(class_name, []):
            found |= self.of(argument_of(call, call.args, position, attribute), scope)
        return found

    def _attribute(self, node: ast.Attribute, scope: Scope) -> set[str]:
        """An attribute is what instances of the classes that have it are made with, as far as they are ours."""
        if name_of(node.value) in ("self", "cls"):
            text = self.sources.class_text(scope.owner, node.attr)
            return {text or GAP}
        owners = [name for name in self.sources.classes if node.attr in self.sources.fields[name]]
        if not 0 < len(owners) <= _MOST_OWNERS:
            return {GAP}
        return {text for name in owners for text in self._made_with(name, node.attr)} or {GAP}

    def _call(self, node: ast.Call) -> set[str]:
        """What a function of ours returns."""
        found: set[str] = set()
        for function, scope in self.sources.functions.get(name_of(node.func), []):
            for each in ast.walk(function):
                if isinstance(each, ast.Return):
                    found |= self.of(each.value, scope)
        return found or {GAP}


def argument_of(call: ast.Call, arguments: Sequence[ast.expr], position: int, name: str) -> ast.expr | None:
    """An argument of a call, by its name, or by its position among those without a name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return arguments[position] if 0 <= position < len(arguments) else None


def _spread(call: ast.Call, positions: int) -> list[ast.expr]:
    """The arguments of a call in their positions: `*key` fills those that are left."""
    spread: list[ast.expr] = []
    for argument in call.args:
        times = positions - len(call.args) + 1 if isinstance(argument, ast.Starred) else 1
        spread += [argument] * max(times, 1)
    return spread


def name_of(node: ast.expr) -> str:
    """The last part of a dotted name; empty if it is none."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _calls(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    for child in ast.iter_child_nodes(node):
        inner = scope
        if isinstance(child, ast.ClassDef):
            inner = scope._replace(owner=child)
        elif isinstance(child, ast.FunctionDef):
            inner = scope._replace(function=child)
        elif isinstance(child, ast.Call):
            yield child, scope
        yield from _calls(child, inner)


def _constant(name: str, tree: ast.Module) -> ast.expr | None:
    """The value of a name at the level of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(name_of(target) == name for target in node.targets):
            return node.value
        if isinstance(node, ast.AnnAssign) and name_of(node.target) == name:
            return node.value
    return None


def _bound(name: str, function: ast.FunctionDef) -> Iterator[ast.expr | None]:
    """The values that a function gives a name of its own; None where it cannot be told."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _matched(name, target, value)
            case (
                ast.AnnAssign(target=ast.Name(id=found), value=value)
                | ast.AugAssign(target=ast.Name(id=found), value=value)
                | ast.NamedExpr(target=ast.Name(id=found), value=value)
            ) if found == name and value is not None:
                yield value
            case ast.For(target=target) | ast.comprehension(target=target) if name in _names(target):
                yield None
            case _:
                pass


def _matched(name: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr | None]:
    if isinstance(target, ast.Name):
        if target.id == name:
            yield value
    elif isinstance(target, ast.Tuple):
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            for inner, each in zip(target.elts, value.elts, strict=True):
                yield from _matched(name, inner, each)
        elif name in _names(target):
            yield None


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
