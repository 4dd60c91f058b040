"""The interpreter: evaluates a checked tree as cel-go plans and runs it, counting what it costs.

It is slower than generated code and serves where the count matters: for expressions that may exceed the cost limit,
for devices larger than the API allows, and for explanations. Errors are values here (instances of ``CelError``), as
in cel-go, because the count goes on after them.

Source: cel-go interpreter/planner.go, interpretable.go, attributes.go, runtimecost.go, decorators.go (0.29).
"""

from collections.abc import Callable
from typing import Final

from dralang.cel import operators as op
from dralang.cel.check import TYPE_NAMES
from dralang.cel.conversions import TYPE_CONVERSIONS
from dralang.cel.library import SINGLETONS, resolve
from dralang.cel.runtimecost import actual_cost
from dralang.cel.strings import compile_regex, regex_error
from dralang.cel.times import Duration, Timestamp
from dralang.cel.tree import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Node, Select, makes_map
from dralang.cel.values import (
    COST_EXCEEDED,
    NONE,
    Abort,
    CelError,
    Format,
    Optional,
    Semver,
    TypeValue,
    Uint,
    Value,
    no_such_overload,
)

COST_LIMIT: Final = 1_000_000
_NO_COST_OF_ERRORS: Final = 38
_LAST_LOOSE: Final = 36
_UNSET: Final = object()

Observer = Callable[[Node, Value], None]


class Run:
    """One evaluation: the device, the cost so far, and who watches."""

    __slots__ = ("cost", "device", "limit", "observer")

    def __init__(self, device: dict[str, Value], limit: int = COST_LIMIT, observer: Observer | None = None) -> None:
        self.device = device
        self.cost = 0
        self.limit = limit
        self.observer = observer

    def add(self, cost: int) -> None:
        """Count; stop beyond the limit.

        Raises:
            Abort: beyond it.
        """
        self.cost += cost
        if self.cost > self.limit:
            raise Abort(COST_EXCEEDED)


class Frame:
    """The variables of one comprehension."""

    __slots__ = ("accu", "first", "hidden", "node", "parent", "plan", "second")

    def __init__(self, parent: "Frame | None", node: Comprehension, plan: "Plan") -> None:
        self.parent = parent
        self.node = node
        self.plan = plan
        self.accu: Value = _UNSET
        self.first: Value = None
        self.second: Value = None
        self.hidden = False


Plan = Callable[[Run, Frame | None], Value]


def _resolve_local(name: str, run: Run, frame: Frame | None) -> Value:
    while frame is not None:
        node = frame.node
        if name == node.accu_var:
            if frame.accu is _UNSET:
                # Set before it is computed, so that a failure is computed once as well.
                frame.accu = frame.plan(run, frame.parent)
            return frame.accu
        if not frame.hidden:
            if name == node.iter_var:
                return frame.first
            if name == node.iter_var2:
                return frame.second
        frame = frame.parent
    return run.device


def _attempt(call: Callable[..., Value], *args: Value) -> Value:
    try:
        return call(*args)
    except CelError as problem:
        return problem


class Constant:
    """A planned constant."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, _run: Run, _frame: Frame | None) -> Value:
        """Evaluate."""
        return self.value


class Attribute:
    """A variable or a value with a chain of selections.

    Attributes:
        start: gives the value to begin with.
        steps: (plan of the key or None, constant key, optional, test).
    """

    __slots__ = ("start", "steps")

    def __init__(self, start: Plan) -> None:
        self.start = start
        self.steps: list[tuple[Plan | None, Value, bool, bool]] = []

    def resolve(self, run: Run, frame: Frame | None) -> Value:
        """The value, without the cost of the attribute itself."""
        value = self.start(run, frame)
        if type(value) is CelError:
            return value
        optional = type(value) is Optional
        if optional and self.steps:
            if not value.has_value:
                return value
            value = value.value
        for plan, constant, asked, test in self.steps:
            optional = optional or asked
            key = constant
            if plan is not None:
                key = plan.resolve(run, frame) if isinstance(plan, Attribute) else plan(run, frame)
                if type(key) is CelError:
                    if not optional:
                        run.add(1)
                    return key
            if test:
                value = _attempt(op.has, value, key)
                run.add(1)
                return value
            if optional:
                # What is not there, or fails, is not counted.
                found = _attempt(op.optional_index, value, key)
                if type(found) is CelError:
                    return found
                if not found.has_value:
                    return NONE
                value = found.value
                run.add(1)
                continue
            value = _attempt(op.index, value, key)
            run.add(1)
            if type(value) is CelError:
                return value
        return Optional(value) if optional and self.steps else value

    def __call__(self, run: Run, frame: Frame | None) -> Value:
        """Evaluate."""
        value = self.resolve(run, frame)
        run.add(1)
        return value


class Presence(Attribute):
    """An attribute that ends in ``has``."""

    __slots__ = ()

    def __call__(self, run: Run, frame: Frame | None) -> Value:
        """Evaluate."""
        value = self.resolve(run, frame)
        return value.has_value if type(value) is Optional else value


class Choice(Attribute):
    """``condition ? yes : no``, which may have a chain of selections behind it."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Plan, yes: Plan, no: Plan) -> None:
        super().__init__(self._branch)
        self.condition = condition
        self.yes = yes
        self.no = no

    def _branch(self, run: Run, frame: Frame | None) -> Value:
        condition = self.condition(run, frame)
        if condition is True:
            branch = self.yes
        elif condition is False:
            branch = self.no
        else:
            return condition if type(condition) is CelError else CelError("no such overload")
        return branch.resolve(run, frame) if isinstance(branch, Attribute) else branch(run, frame)

    def __call__(self, run: Run, frame: Frame | None) -> Value:
        """Evaluate."""
        return self.resolve(run, frame)


def _logical(terms: list[Plan], decisive: bool) -> Plan:  # noqa: FBT001 - which of two operators it is
    def run_terms(run: Run, frame: Frame | None) -> Value:
        error: CelError | None = None
        for term in terms:
            value = term(run, frame)
            if value is decisive:
                return decisive
            if type(value) is not bool and error is None:
                error = value if type(value) is CelError else CelError("no such overload")
        return not decisive if error is None else error

    return run_terms


def _check_pattern(pattern: Value) -> None:
    """A constant pattern is compiled with the expression."""
    if type(pattern) is not str:
        return
    try:
        compile_regex(pattern)
    except ValueError as problem:
        raise CelError(regex_error(pattern, str(problem))) from None


def _searching(call: Callable[..., Value]) -> Callable[..., Value]:
    """A function that searches for a constant pattern, in its compiled form."""

    def search(text: Value, *rest: Value) -> Value:
        return call(text, *rest) if type(text) is str else no_such_overload()

    return search


def _keyed(call: Callable[..., Value]) -> Callable[..., Value]:
    """``in`` for a map that an expression makes, which Go can only search for what it can hash."""

    def contained(item: Value, container: Value) -> Value:
        if container and type(item) in {Semver, bytes, Format}:
            raise Abort(f"internal error: runtime error: hash of unhashable type {op.go_type(item)}")
        return call(item, container)

    return contained


def _no_list(value: Value) -> str:
    """What Go says where a value is taken for a list that is none; it names the first method that is missing."""
    name = "*types.Err" if type(value) is CelError else op.go_type(value)
    method = "Contains" if type(value) in {int, Uint, float, str, bytes, Duration, Timestamp} else "Add"
    return f"internal error: interface conversion: {name} is not traits.Lister: missing method {method}"


class Planner:
    """Turns a tree into a plan."""

    def __init__(self, *, minor: int, watched: bool = False) -> None:
        self.minor = minor
        self.watched = watched
        self.handlers: dict[type[Node], Callable[..., Plan]] = {
            Literal: lambda node: Constant(node.value),
            Ident: self._ident,
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            Comprehension: self._comprehension,
        }
        self.locals: list[str] = []

    def plan(self, node: Node) -> Plan:
        """The plan of a node.

        Raises:
            CelError: a conversion of a constant fails.
        """
        planned = self.handlers[type(node)](node)
        if self.watched and not isinstance(planned, (Attribute, Constant)):
            return self._watch(node, planned)
        return planned

    def _watch(self, node: Node, planned: Plan) -> Plan:
        def watched(run: Run, frame: Frame | None) -> Value:
            value = planned(run, frame)
            if run.observer is not None:
                run.observer(node, value)
            return value

        return watched

    def _ident(self, node: Ident) -> Plan:
        name = node.name
        if name not in self.locals:
            if name.removeprefix(".") != "device":
                return Constant(TypeValue(TYPE_NAMES[name.removeprefix(".")].name))
            return Attribute(lambda run, _frame: run.device)
        return Attribute(lambda run, frame: _resolve_local(name, run, frame))

    def _chain(self, operand: Node) -> Attribute:
        """The attribute to which a selection on the operand is added."""
        planned = self.plan(operand)
        return planned if isinstance(planned, Attribute) else Attribute(planned)

    def _select(self, node: Select) -> Plan:
        if node.type.kind == "type" and node.operand.type.text == "!error!":
            return Constant(TypeValue(node.type.params[0].name))
        attribute = self._chain(node.operand)
        attribute.steps.append((None, node.field, False, node.test))
        if node.test:
            present = Presence(attribute.start)
            present.steps = attribute.steps
            if isinstance(attribute, Choice):
                present.start = attribute._branch
            return present
        return attribute

    def _index(self, node: Call, *, optional: bool) -> Plan:
        attribute = self._chain(node.args[0])
        key = self.plan(node.args[1])
        if isinstance(key, Constant):
            if type(key.value) not in {str, int, Uint, bool, float}:
                raise CelError(f"invalid qualifier type: {op.go_type(key.value)}")
            attribute.steps.append((None, key.value, optional, False))
            return attribute
        if not isinstance(key, Attribute):
            key = Attribute(key)
        attribute.steps.append((key, None, optional, False))
        return attribute

    def _call(self, node: Call) -> Plan:
        function = node.function
        if function in {"_[_]", "_[?_]", "_?._"}:
            return self._index(node, optional=function != "_[_]")
        args = [self.plan(arg) for arg in node.operands()]
        if function in {"_&&_", "_||_"}:
            return _logical(args, function == "_||_")
        if function == "_?_:_":
            return Choice(args[0], args[1], args[2])
        if function in {"or", "orValue"} and len(args) == 2:
            return self._or(args[0], args[1], whole=function == "or")
        overload = node.overloads[0] if len(node.overloads) == 1 else ""
        if function in {"_==_", "_!=_"}:
            overload = "equals" if function == "_==_" else "not_equals"
        if overload == "in_list" and isinstance(args[1], Constant):
            member = self._in_constants(args[0], args[1].value)
            if member is not None:
                return member
        if function in {"matches", "find", "findAll"} and isinstance(args[1], Constant):
            _check_pattern(args[1].value)
            return self._ordinary(function, overload, _searching(resolve(function, node.overloads)), args, stops=True)
        call = resolve(function, node.overloads)
        if function == "@in" and makes_map(node.args[1]):
            call = _keyed(call)
        if function in TYPE_CONVERSIONS and len(args) == 1 and isinstance(args[0], Constant):
            return Constant(call(args[0].value))
        stops = len(args) > 2 or overload == "string_format"
        if not overload and function not in SINGLETONS:
            stops = True
        return self._ordinary(function, overload, call, args, stops=stops)

    def _ordinary(
        self, function: str, overload: str, call: Callable[..., Value], args: list[Plan], *, stops: bool
    ) -> Plan:
        """A call; ``stops``: it looks no further after an operand that is an error."""
        panics = overload == "list_distinct"
        minor = self.minor

        def run_call(run: Run, frame: Frame | None) -> Value:
            values: list[Value] = []
            error: CelError | None = None
            for arg in args:
                value = arg(run, frame)
                if type(value) is CelError:
                    if stops and len(values) < len(args) - 1:
                        return value
                    error = error or value
                values.append(value)
            if function == "@not_strictly_false":
                result: Value = values[0] if type(values[0]) is bool else True
            elif error is not None:
                result = error
            else:
                result = _attempt(call, *values)
            if panics and type(values[0]) is not tuple and (error is None or minor < _NO_COST_OF_ERRORS):
                raise Abort(_no_list(values[0]))
            run.add(actual_cost(function, overload, values, result))
            return result

        return run_call

    def _or(self, left: Plan, right: Plan, *, whole: bool) -> Plan:
        minor = self.minor

        def run_or(run: Run, frame: Frame | None) -> Value:
            value = left(run, frame)
            if type(value) is CelError:
                return value
            if type(value) is not Optional:
                # Up to 1.36 a value that is no optional stood for itself.
                return value if minor <= _LAST_LOOSE else CelError("no such overload")
            if value.has_value:
                return value if whole else value.value
            return right(run, frame)

        return run_or

    def _in_constants(self, arg: Plan, constants: Value) -> Plan | None:
        if type(constants) is not tuple or any(type(item) not in {bool, int, Uint, float, str} for item in constants):
            return None
        if not constants:
            return Constant(value=False)

        def run_in(run: Run, frame: Frame | None) -> Value:
            value = arg(run, frame)
            return value if type(value) is CelError else op.contained_in_constants(value, constants)

        return run_in

    def _list(self, node: ListLiteral) -> Plan:
        plans = [self.plan(element) for element in node.elements]
        optionals = node.optionals

        def run_list(run: Run, frame: Frame | None) -> Value:
            items: list[Value] = []
            for at, plan in enumerate(plans):
                value = plan(run, frame)
                if type(value) is CelError:
                    run.add(10)
                    return value
                if at in optionals:
                    if type(value) is not Optional:
                        run.add(10)
                        shown = op.key_text(value)
                        return CelError(f"cannot initialize optional list element from non-optional value {shown}")
                    if not value.has_value:
                        continue
                    value = value.value
                items.append(value)
            run.add(10)
            return tuple(items)

        if all(isinstance(plan, Constant) for plan in plans):
            return Constant(run_list(Run({}), None))
        return run_list

    def _map(self, node: MapLiteral) -> Plan:
        plans = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]

        def run_map(run: Run, frame: Frame | None) -> Value:
            items: dict[Value, Value] = {}
            result: Value = items
            for key_plan, value_plan, optional in plans:
                key = key_plan(run, frame)
                value = key if type(key) is CelError else value_plan(run, frame)
                if type(value) is CelError:
                    result = value
                    break
                if optional:
                    if type(value) is not Optional:
                        result = CelError(
                            f"cannot initialize optional entry '{op.key_text(key)}' from non-optional value"
                            f" {op.key_text(value)}"
                        )
                        break
                    if not value.has_value:
                        items.pop(op.map_key(key), None)
                        continue
                    value = value.value
                items[op.map_key(key)] = value
            run.add(30)
            return result

        if all(isinstance(key, Constant) and isinstance(value, Constant) for key, value, _ in plans):
            return Constant(run_map(Run({}), None))
        return run_map

    def _comprehension(self, node: Comprehension) -> Plan:
        accu = self.plan(node.accu_init)
        ranged = self.plan(node.iter_range)
        self.locals += [node.accu_var, node.iter_var, node.iter_var2]
        condition = self.plan(node.condition)
        step = self.plan(node.step)
        del self.locals[-2:]
        result = self.plan(node.result)
        self.locals.pop()
        two = bool(node.iter_var2)

        def run_fold(run: Run, frame: Frame | None) -> Value:
            items = ranged(run, frame)
            if type(items) is CelError:
                return items
            inner = Frame(frame, node, accu)
            pairs = _attempt(op.iterate_pairs if two else op.iterate, items)
            if type(pairs) is CelError:
                return pairs
            for item in pairs:
                if two:
                    inner.first, inner.second = item
                else:
                    inner.first = item
                going = condition(run, inner)
                if going is False:
                    break
                inner.accu = step(run, inner)
            inner.hidden = True
            return result(run, inner)

        return run_fold
