"""From text to something that runs: parse, check, validate, plan, estimate.

Source: k8s.io/dynamic-resource-allocation cel/compile.go (CompileCELExpression, validateOutputType).
"""

from typing import Final, Literal

from dralang.cel import types
from dralang.cel.check import Checker
from dralang.cel.cost38 import estimate
from dralang.cel.depth import depth_of, room_for
from dralang.cel.environment import Environment, scope_of
from dralang.cel.interpret import Plan, Planner
from dralang.cel.issues import CompileError, Issues
from dralang.cel.parse import parse
from dralang.cel.tree import Node
from dralang.cel.types import Type
from dralang.cel.validators import validate_literals
from dralang.cel.values import Abort, CelError

MAX_COST: Final = 1_000_000
"""The limit on the estimated cost of one expression, and on the sum for the derived attributes of a claim."""
MAX_BYTES: Final = 10 * 1024
"""The limit on the length of an expression."""

Purpose = Literal["selector", "derived"]


class Compiled:
    """A compiled expression.

    Attributes:
        text: the expression.
        environment: for which it was compiled.
        purpose: selector or derived attribute.
        tree: the checked tree.
        cost: the estimated worst case.
        depth: how deep the tree is.
    """

    __slots__ = ("_plan", "cost", "depth", "environment", "purpose", "text", "tree")

    def __init__(
        self, text: str, environment: Environment, purpose: Purpose, tree: Node, cost: int, depth: int
    ) -> None:
        self.text = text
        self.environment = environment
        self.purpose: Purpose = purpose
        self.tree = tree
        self.cost = cost
        self.depth = depth
        self._plan: Plan | None = None

    @property
    def type(self) -> Type:
        """The static type of the result."""
        return self.tree.type

    @property
    def too_costly(self) -> bool:
        """Whether the API refuses it for its cost."""
        return self.cost > MAX_COST

    @property
    def plan(self) -> Plan:
        """The plan for the interpreter, made when it is first needed."""
        found = self._plan
        if found is None:
            found = self._plan = Planner(minor=self.environment.minor).plan(self.tree)
        return found


def _check_output(found: Type, environment: Environment, purpose: Purpose) -> None:
    if purpose == "selector":
        if found is not types.BOOL and found is not environment.attribute_type:
            raise CompileError(f"must evaluate to bool or the unknown type, not {found.display()}")
        return
    with_lists = environment.lists_derived
    if found in _DERIVED or (with_lists and found.kind == "list" and found.params[0] in _DERIVED):
        return
    kinds = "a primitive scalar (string, integer, boolean, semver)"
    lists = " or a list of these scalars" if with_lists else ""
    raise CompileError(f"must evaluate to {kinds}{lists}, not {found.display()}")


_DERIVED: Final = frozenset({types.BOOL, types.INT, types.STRING, types.ANY, types.DYN, types.SEMVER})


def compile_expression(text: str, environment: Environment, purpose: Purpose = "selector") -> Compiled:
    """Compile an expression.

    Raises:
        CompileError: with the text that Kubernetes gives.
    """
    tree = parse(text, lists=environment.list_functions, escapes=environment.escaped_names)
    depth = depth_of(tree)
    with room_for(depth):
        issues = Issues(text)
        Checker(scope_of(environment), issues).run(tree)
        issues.raise_if_any()
        validate_literals(tree, issues)
        issues.raise_if_any()
        _check_output(tree.type, environment, purpose)
        try:
            plan = Planner(minor=environment.minor).plan(tree)
        except CelError as problem:
            raise CompileError(f"program instantiation failed: {problem.message}") from None
        except Abort as problem:
            # There, it is a panic while the expression is compiled.
            raise CompileError(problem.message) from None
        cost = estimate(tree, environment.minor)
    compiled = Compiled(text, environment, purpose, tree, cost, depth)
    compiled._plan = plan
    return compiled
