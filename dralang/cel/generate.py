"""The code generator: one Python function per expression.

Attributes and capacities of a device lie in one flat dict, so a selection down to an attribute is one lookup; loops,
``&&`` and ``||`` become statements with the error handling that CEL wants, everything else becomes one Python
expression. What an expression may cost was bounded before, so nothing is counted here.
"""

from collections.abc import Callable
from typing import Any, Final

from dralang.cel.code import Code, Unsupported, Writer
from dralang.cel.generatecalls import CallGenerator
from dralang.cel.generated import RUNTIME
from dralang.cel.paths import path_of
from dralang.cel.tree import Call, Comprehension, ListLiteral, Node
from dralang.cel.values import Abort, CelError, Value

MAX_DEPTH: Final = 40
"""Deeper trees are interpreted: Python limits how deep blocks and parentheses may be nested."""


class Generator(CallGenerator):
    """Writes the function of one expression."""

    def emit(self, node: Node) -> Code:
        """The code of a node; statements that it needs first are written."""
        if isinstance(node, Call) and node.function in {"_&&_", "_||_"}:
            return self._logical(node)
        if isinstance(node, Call) and node.function == "_?_:_":
            return self._conditional(node)
        if isinstance(node, Call) and node.function in {"or", "orValue"} and node.target is not None:
            return self._or(node)
        if isinstance(node, Comprehension):
            return self._bind(node) if node.is_bind else self._loop(node)
        return self.plain(node)

    def is_simple(self, node: Node) -> bool:
        """Whether ``emit`` writes no statements for it."""
        found = self.simple.get(id(node))
        if found is None:
            found = self._is_simple(node)
            self.simple[id(node)] = found
        return found

    def _is_simple(self, node: Node) -> bool:
        if isinstance(node, Comprehension):
            return False
        if isinstance(node, Call):
            if node.function in {"_&&_", "_||_"}:
                return all(self.is_total(arg) for arg in node.args)
            if node.function in {"or", "orValue"} and node.target is not None:
                return self.optional_path(node.target) is not None and self.is_simple(node.args[0])
        return all(self.is_simple(child) for child in node.children())

    # Logic

    def _logical(self, node: Call) -> Code:
        decisive = node.function == "_||_"
        if self.is_simple(node):
            word = " or " if decisive else " and "
            text = "(" + word.join(self.emit(arg).text for arg in node.args) + ")"
            return Code(text, fallible=False, kind="bool")
        result, error = self.name(), self.name()
        write = self.writer
        write.line(f"{error} = None")
        write.line(f"{result} = {decisive}")
        # A loop that runs once, to be left when the result is clear.
        write.line("for _ in ONCE:")
        with write.block():
            for arg in node.args:
                self._term(arg, decisive=decisive, error=error, leave="break")
            write.line(f"if {error} is not None: raise {error}")
            write.line(f"{result} = {not decisive}")
        return Code(result, fallible=False, kind="bool")

    def _term(self, node: Node, *, decisive: bool, error: str, leave: str) -> None:
        """One term: leave if it decides, keep the first error."""
        write = self.writer
        if self.is_total(node):
            code = self.emit(node)
            write.line(f"if {self._test(code.text, decisive)}: {leave}")
            return
        write.line("try:")
        with write.block():
            code = self.emit(node)
            if code.kind == "bool":
                write.line(f"if {self._test(code.text, decisive)}: {leave}")
            else:
                value = self.name()
                write.line(f"{value} = {code.text}")
                write.line(f"if {value} is {decisive}: {leave}")
                write.line(f"if {value} is not {not decisive} and {error} is None: {error} = not_bool({value})")
        write.line("except ERRORS as problem:")
        with write.block():
            write.line(f"if {error} is None: {error} = problem")

    @staticmethod
    def _test(text: str, wanted: bool) -> str:  # noqa: FBT001 - what is tested for
        return text if wanted else f"not {text}"

    def verdict(self, node: Node) -> None:
        """Return the value of the whole selector; ``&&`` and ``||`` return as soon as they can."""
        write = self.writer
        if isinstance(node, Call) and node.function in {"_&&_", "_||_"} and not self.is_simple(node):
            decisive = node.function == "_||_"
            error = self.name()
            write.line(f"{error} = None")
            for arg in node.args[:-1]:
                self._term(arg, decisive=decisive, error=error, leave=f"return {decisive}")
            last = node.args[-1]
            if self.is_simple(last):
                # With no error so far the last term is the result.
                code = self.emit(last)
                write.line(f"if {error} is None:")
                with write.block():
                    write.line(f"return {code.text if code.kind == 'bool' else f'truth({code.text})'}")
            self._term(last, decisive=decisive, error=error, leave=f"return {decisive}")
            write.line(f"if {error} is not None: raise {error}")
            write.line(f"return {not decisive}")
            return
        self._return(self.emit(node))

    def _return(self, code: Code) -> None:
        if code.kind == "bool":
            self.writer.line(f"return {code.text}")
            return
        value = self.name()
        self.writer.line(f"{value} = {code.text}")
        self.writer.line(f"return {value} if {value} is True or {value} is False else as_bool({value})")

    def _condition(self, node: Node) -> str:
        code = self.emit(node)
        return code.text if code.kind == "bool" else f"truth({code.text})"

    def _conditional(self, node: Call) -> Code:
        condition, yes, no = node.args
        if self.is_simple(yes) and self.is_simple(no):
            test = self._condition(condition)
            one, two = self.emit(yes), self.emit(no)
            kind = one.kind if one.kind == two.kind else ""
            return Code(f"({one.text} if {test} else {two.text})", kind=kind)
        result = self.name()
        self.writer.line(f"if {self._condition(condition)}:")
        with self.writer.block():
            one = self.emit(yes)
            self.writer.line(f"{result} = {one.text}")
        self.writer.line("else:")
        with self.writer.block():
            two = self.emit(no)
            self.writer.line(f"{result} = {two.text}")
        return Code(result, fallible=False, kind=one.kind if one.kind == two.kind else "")

    def _or(self, node: Call) -> Code:
        assert node.target is not None
        other = node.args[0]
        key = self.optional_path(node.target)
        whole = node.function == "or"
        if key is not None and self.is_simple(other):
            second = self.emit(other)
            if whole:
                return Code(f"(Optional(F[{key!r}]) if {key!r} in F else {second.text})")
            if second.fallible:
                return Code(f"(F[{key!r}] if {key!r} in F else {second.text})")
            return Code(f"F.get({key!r}, {second.text})", fallible=False)
        result = self.name()
        self.writer.line(f"{result} = {self.emit(node.target).text}")
        self.writer.line(f"if or_nothing({result}):")
        with self.writer.block():
            self.writer.line("pass" if whole else f"{result} = {result}.value")
        self.writer.line("else:")
        with self.writer.block():
            self.writer.line(f"{result} = {self.emit(other).text}")
        return Code(result, fallible=False)

    # Variables and loops

    def _bind(self, node: Comprehension) -> Code:
        name = node.accu_var
        path = path_of(node.accu_init, self.aliases)
        aliased = path is not None and len(path.names) < 2
        if aliased:
            self.push(name, None, path)
        elif self.is_simple(node.accu_init) and not (code := self.emit(node.accu_init)).fallible:
            value = self.name()
            self.writer.line(f"{value} = {code.text}")
            self.push(name, Code(value, fallible=False, kind=code.kind), None)
        else:
            function, value = self.name(), self.name()
            self.writer.line(f"def {function}():")
            with self.writer.block():
                self.writer.line(f"return {self.emit(node.accu_init).text}")
            self.writer.line(f"{value} = Lazy({function})")
            self.push(name, Code(f"{value}()", kind=""), None)
        result = self.emit(node.result)
        self.pop(name)
        return result

    def _loop(self, node: Comprehension) -> Code:
        handler: dict[str, Callable[..., Code]] = {
            "all": self._quantifier,
            "exists": self._quantifier,
            "exists_one": self._exists_one,
            "map": self._collect,
            "filter": self._collect,
        }
        write = handler.get(node.macro)
        if write is None:
            raise Unsupported
        ranged = self.emit(node.iter_range)
        return write(node, ranged)

    def _head(self, node: Comprehension, ranged: Code) -> None:
        """The first line of the loop; its variables come into being."""
        kinds = self._element_kinds(node, ranged)
        first = self.name()
        if node.iter_var2:
            second = self.name()
            self.writer.line(f"for {first}, {second} in iterate_pairs({ranged.text}):")
            self.push(node.iter_var2, Code(second, fallible=False, kind=kinds[1]), None)
        else:
            self.writer.line(f"for {first} in iterate({ranged.text}):")
        self.push(node.iter_var, Code(first, fallible=False, kind=kinds[0]), None)

    def _element_kinds(self, node: Comprehension, ranged: Code) -> tuple[str, str]:
        """What the variables of the loop certainly are."""
        source = node.iter_range
        path = path_of(source, self.aliases)
        if path is not None:
            if path.field == "attributes" and len(path.names) == 2:
                return ("int", "attribute") if node.iter_var2 else ("attribute", "")
            inside = len(path.names) == 1 and path.field == "capacity"
            return ("str", "Quantity" if inside else "") if path.field in {"attributes", "capacity"} else ("", "")
        element = ""
        if ranged.is_constant and type(ranged.constant) is tuple:
            kinds = {type(item).__name__ for item in ranged.constant}
            element = kinds.pop() if len(kinds) == 1 else ""
        elif isinstance(source, Call) and source.function in {"split", "findAll"}:
            element = "str"
        else:
            return "", ""
        return ("int", element) if node.iter_var2 else (element, "")

    def _leave(self, node: Comprehension) -> None:
        self.pop(node.iter_var)
        if node.iter_var2:
            self.pop(node.iter_var2)

    def _predicate_of(self, node: Comprehension) -> Node:
        step = node.step
        assert isinstance(step, Call)
        return step.args[1] if node.macro in {"all", "exists"} else step.args[0]

    def _quantifier(self, node: Comprehension, ranged: Code) -> Code:
        decisive = node.macro == "exists"
        result, error = self.name(), self.name()
        write = self.writer
        write.line(f"{error} = None")
        write.line(f"{result} = {not decisive}")
        self._head(node, ranged)
        with write.block():
            leave = self.name()
            # Python has no way to set and leave in one line, so the result is set first.
            write.line(f"{leave} = False")
            write.line("for _ in ONCE:")
            with write.block():
                self._term(self._predicate_of(node), decisive=decisive, error=error, leave=f"{leave} = True; break")
            write.line(f"if {leave}:")
            with write.block():
                write.line(f"{result} = {decisive}")
                write.line(f"{error} = None")
                write.line("break")
        self._leave(node)
        write.line(f"if {error} is not None: raise {error}")
        return Code(result, fallible=False, kind="bool")

    def _checked_predicate(self, node: Node, error: str) -> str:
        """Evaluate a predicate whose last error counts; the name of a flag that tells whether it is true."""
        write = self.writer
        value = self.name()
        if self.is_total(node):
            write.line(f"{value} = {self.emit(node).text}")
            return value
        write.line("try:")
        with write.block():
            code = self.emit(node)
            write.line(f"{value} = {code.text}")
            if code.kind != "bool":
                write.line(f"if {value} is not True and {value} is not False: {error} = not_bool({value})")
        write.line("except ERRORS as problem:")
        with write.block():
            write.line(f"{error} = problem")
            write.line(f"{value} = False")
        return value

    def _exists_one(self, node: Comprehension, ranged: Code) -> Code:
        count, error = self.name(), self.name()
        write = self.writer
        write.line(f"{error} = None")
        write.line(f"{count} = 0")
        self._head(node, ranged)
        with write.block():
            value = self._checked_predicate(self._predicate_of(node), error)
            write.line(f"if {value} is True: {count} += 1")
        self._leave(node)
        write.line(f"if {error} is not None: raise {error}")
        return Code(f"({count} == 1)", fallible=False, kind="bool")

    def _collect(self, node: Comprehension, ranged: Code) -> Code:
        """``map`` and ``filter``: the predicate's last error counts, but of the transformations the first."""
        items, error = self.name(), self.name()
        write = self.writer
        step = node.step
        assert isinstance(step, Call)
        filtered = step.function == "_?_:_"
        made = step.args[1] if filtered else step
        assert isinstance(made, Call)
        element = made.args[1]
        assert isinstance(element, ListLiteral)
        transform = element.elements[0]
        write.line(f"{items} = []")
        if filtered:
            write.line(f"{error} = None")
        self._head(node, ranged)
        with write.block():
            if not filtered:
                write.line(f"{items}.append({self.emit(transform).text})")
            else:
                value = self._checked_predicate(self._predicate_of(node), error)
                write.line(f"if {value} is True and {error} is None:")
                with write.block():
                    self._guarded_append(items, transform, error)
        self._leave(node)
        if filtered:
            write.line(f"if {error} is not None: raise {error}")
        return Code(f"tuple({items})", fallible=False, kind="tuple")

    def _guarded_append(self, items: str, transform: Node, error: str) -> None:
        if self.is_simple(transform) and not (code := self.emit(transform)).fallible:
            self.writer.line(f"{items}.append({code.text})")
            return
        self.writer.line("try:")
        with self.writer.block():
            self.writer.line(f"{items}.append({self.emit(transform).text})")
        self.writer.line("except ERRORS as problem:")
        with self.writer.block():
            self.writer.line(f"{error} = problem")


def generate(root: Node, purpose: str, interpreted: Callable[[Any], Value]) -> Callable[[Any], Any] | None:
    """The function of an expression, or None if it is better interpreted.

    Args:
        root: the checked tree.
        purpose: ``selector`` or ``derived``.
        interpreted: what to call for a device on which generated code may not run.
    """
    writer = Writer()
    generator = Generator(writer)
    writer.line("def evaluate(device):")
    try:
        with writer.block():
            writer.line("try:")
            with writer.block():
                writer.line("F = device.flat")
                if purpose == "selector":
                    generator.verdict(root)
                else:
                    writer.line(f"return as_attribute({generator.emit(root).text})")
            writer.line("except (KeyError, CelError, EvaluationError, Abort) as problem:")
            with writer.block():
                writer.line("raise failed(problem) from None")
            writer.line("except UnreadyError:")
            with writer.block():
                writer.line("return interpreted(device)")
        namespace = RUNTIME | generator.constants
        namespace["interpreted"] = interpreted
        namespace["ONCE"] = (None,)
        exec(compile(writer.text(), "<cel>", "exec"), namespace)
    except (Unsupported, CelError, Abort, SyntaxError, RecursionError, MemoryError):
        return None
    found: Callable[[Any], Any] = namespace["evaluate"]
    return found
