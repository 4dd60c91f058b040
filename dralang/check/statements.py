"""A scenario's body to steps: names resolved, repetitions written out, times in milliseconds."""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from dralang.api.decode import decode
from dralang.api.device import DeviceTaint
from dralang.api.kinds import KINDS
from dralang.api.located import Located
from dralang.api.resourceslice import ResourceSlice
from dralang.check import labels, problems
from dralang.check.changes import Change, apply_change, read_change
from dralang.check.environment import Declarer, Environment
from dralang.check.expand import Bindings, Name, names, substitute
from dralang.check.expectations import PropositionBuilder
from dralang.check.faults import component_of, failures, status_word
from dralang.check.references import check_choices, check_references
from dralang.check.rounds import rounds_of, with_index
from dralang.check.scope import KIND_ORDER, Scope, is_glob
from dralang.check.sugar import taint_spec
from dralang.check.support import UNSUPPORTED_STATEMENTS
from dralang.check.times import milliseconds, with_limits
from dralang.check.vacuous import report_never_created
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.scenario import steps as s
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared, Property
from dralang.syntax import nodes as n
from dralang.syntax.tokens import MAX_NESTING
from dralang.values.duration import format_duration

_T = TypeVar("_T")
MAX_STEPS: Final = 50_000
MAX_ROUNDS: Final = 2 * MAX_STEPS
MAX_LOOKED: Final = 1_000
"""Rounds that need not happen and are looked at for their names, in one scenario; the first one of each always is."""
_ACTION_KINDS: Final = {
    "delete": KIND_ORDER,
    "finish": ("Pod",),
    "fail": ("Pod",),
    "cordon": ("Node",),
    "uncordon": ("Node",),
}


_ACTING: Final = (
    n.Decl,
    n.Call,
    n.Create,
    n.ObjectsAction,
    n.SetField,
    n.SetBlock,
    n.TaintObject,
    n.UntaintObject,
    n.Label,
    n.ComponentAction,
    n.SetCondition,
    n.Publish,
)


class Elaborator:
    """Elaborates one scenario (or one row of its table)."""

    def __init__(self, home: Environment, scope: Scope, log: DiagnosticLog, *, fuzz: bool) -> None:
        self.home = home
        self.scope = scope
        self.log = log
        self.fuzz = fuzz
        self.own = Environment()
        self.own.objects = dict(home.objects)
        self.declarer = Declarer(self.own, log, fuzz=fuzz)
        self.converter = self.declarer.builder
        self.converter.aliases = home.aliases
        self.propositions = PropositionBuilder(scope, self.converter)
        self.steps: list[s.Step] = []
        self.too_long = False
        self.rounds = 0
        self.looked = 0
        """Rounds that were looked at and do not happen."""
        self.properties: list[Property] = []
        self.late_properties: list[tuple[n.Property, Bindings]] = []
        self.created: set[ObjectKey] = set()
        self.created_later: frozenset[ObjectKey] = frozenset()
        self.described_later: tuple[ObjectKey, ...] = ()
        """The pods that `create pod NAME { ... }` describes anywhere in the story."""
        self.published: dict[ObjectKey, Declared] = {}
        self.changes: list[tuple[Declared, Declared]] = []
        """Declarations, and what a `set` makes of them, each by itself."""
        self.device_taints: list[Span] = []
        """The statements that taint devices."""
        self.missing: list[Diagnostic] = []
        self.last_at = 0
        self.timed = 0
        self.depth = 0

    def run(self, body: n.Body, bindings: Bindings) -> None:
        """Elaborate a body; results are in the attributes."""
        self.statements(self._without_headers(body), bindings)
        for node, bound in self.late_properties:
            proposition = self.propositions.build(node.proposition, bound)
            if proposition is not None:
                self.properties.append(Property(node.keyword, proposition, node.span))
        self.steps = with_limits(self.steps)
        # In a fuzz, what is created depends on what is drawn; what a mistake would have created is not known.
        if not self.fuzz and not self.log.has_errors:
            report_never_created(self.scope.spoken, self.created, self.log)

    def _without_headers(self, body: n.Body) -> Iterable[n.Statement]:
        started = False
        for statement in body.statements:
            if isinstance(statement, n.Header):
                if started:
                    way_out = "settings are the first statements of a scenario"
                    self.log.add(
                        problems.misplaced(
                            f"`{statement.keyword}`", "the middle of a scenario", statement.span, way_out
                        )
                    )
                continue
            started = True
            yield statement

    def statements(self, statements: Iterable[n.Statement], bindings: Bindings) -> None:
        """Elaborate statements in order."""
        for statement in statements:
            self.statement(statement, bindings)
            if len(self.steps) > MAX_STEPS:
                self._stop(f"more than {MAX_STEPS:,} steps", statement.span)
            if self.too_long:
                return

    def _stop(self, message: str, span: Span) -> None:
        """The scenario has no end worth waiting for: say so once, where it showed first."""
        if not self.too_long:
            self.too_long = True
            self.log.add(problems.bad_number(message, span, "repeat less often"))

    def statement(self, node: n.Statement, bindings: Bindings) -> None:
        """Elaborate one statement; what follows from an action happens before the next statement."""
        if self.depth >= MAX_NESTING:
            self.log.add(problems.too_deep(node.span))
            return
        self._note_support(node)
        before = len(self.steps)
        self.depth += 1
        self._statement(node, bindings)
        self.depth -= 1
        if isinstance(node, _ACTING) and len(self.steps) > before:
            self.steps.append(s.Consequences(node.span))

    def _statement(self, node: n.Statement, bindings: Bindings) -> None:  # noqa: C901  # one case a kind of statement
        match node:
            case n.Header():
                self.log.add(
                    problems.misplaced(
                        f"`{node.keyword}`", "a block", node.span, "settings are a scenario's first statements"
                    )
                )
            case n.Decl() | n.Call():
                self._declare(node, bindings)
            case n.Property():
                self._property(node, bindings)
            case n.Expect():
                self._expect(node, bindings)
            case n.At():
                self._at(node, bindings)
            case n.After():
                self._after(node, bindings)
            case n.Settle():
                self.steps.append(s.Settle(node.span, None))
            case n.Create():
                self._create(node, bindings)
            case n.ObjectsAction():
                self._act(node, bindings)
            case n.SetField():
                self._set_field(node, bindings)
            case n.SetBlock():
                self._set_block(node, bindings)
            case n.TaintObject():
                self._taint(node, bindings)
            case n.UntaintObject():
                self._untaint(node, bindings)
            case n.Label():
                self._label(node, bindings)
            case n.Repeat():
                self._repeat(node, bindings)
            case n.Maybe():
                self._only_fuzz("`maybe`", node.span)
                self.statement(node.statement, bindings)
            case n.AnyOrder():
                self._only_fuzz("`any order of`", node.span)
                self.statements(node.body.statements, bindings)
            case n.Compare():
                self._only_fuzz("`compare with`", node.span)
            case n.ComponentAction() | n.Delay():
                self._component(node, bindings)
            case n.FailNext():
                self._fail_next(node, bindings)
            case n.SetCondition():
                self._set_condition(node, bindings)
            case n.Publish():
                self._publish(node, bindings)

    def _note_support(self, node: n.Statement) -> None:
        what = UNSUPPORTED_STATEMENTS.get(type(node))
        if what is not None and not self.fuzz:
            self.missing.append(problems.not_yet(what, node.span))

    def _only_fuzz(self, what: str, span: Span) -> None:
        if not self.fuzz:
            self.log.add(problems.only_in_fuzz(what, span))

    # ---- objects ----------------------------------------------------------------------------------------------------

    def _declare(self, node: n.Decl | n.Call, bindings: Bindings) -> None:
        """What is declared inside a scenario exists from its line on; pods wait for their ``create``."""
        for declared in self.declarer.item(node, bindings, self.home):
            self.scope.add(declared.key, declared)
            if declared.key.kind != "Pod":
                self.created.add(declared.key)
                self.steps.append(s.Create(node.span, declared.key, declared.object))

    def _create(self, node: n.Create, bindings: Bindings) -> None:
        if node.like is not None or node.body is not None:
            self._create_new(node, bindings)
            return
        for ref in node.objects:
            for key in self.scope.resolve(ref, bindings, KIND_ORDER):
                for one in self._matching(key):
                    self._create_declared(one, ref.span)

    def _matching(self, key: ObjectKey) -> list[ObjectKey]:
        """A glob in a ``create`` means the declared objects that match."""
        if "*" not in key.name:
            return [key]
        known = [each for each, declared in self.scope.objects.items() if declared is not None]
        return [each for each in known if each.kind == key.kind and each.is_meant_by(key)] or [key]

    def _create_declared(self, key: ObjectKey, span: Span) -> None:
        declared = self.scope.objects.get(key)
        if declared is None:
            self._no_declaration(key, "create", span)
            return
        self.created.add(key)
        self.steps.append(s.Create(span, key, declared.object))

    def _no_declaration(self, key: ObjectKey, what: str, span: Span) -> None:
        """Only the name is known: the object is described where it is created, and that need not happen."""
        declaration = f"{KINDS[key.kind].keyword} {key.spoken} {{ ... }}"
        way_out = "" if is_glob(key.name) else f"declare it at the top of the file: `{declaration}`"
        self.log.add(problems.bad_name(f"`{key.name}` has no declaration to {what}", span, way_out))

    def _create_new(self, node: n.Create, bindings: Bindings) -> None:
        with self.scope.as_models():
            models = [] if node.like is None else self._meant(node.like, bindings)
        if node.like is not None and not (models and models[0][1]):
            return
        for model, keys in models:
            if isinstance(model.name, n.Word) and keys and self.scope.objects.get(keys[0]) is None:
                self._no_declaration(keys[0], "be like", model.span)
                return
        base = self.scope.objects.get(models[0][1][0]) if models else None
        if len(node.objects) != 1:
            self.log.add(
                problems.bad_name(
                    "one body makes one object", node.span, "use a range: `create pod p-[1..3] like small`"
                )
            )
            return
        ref = node.objects[0]
        keyword = ref.kind or (KINDS[base.key.kind].keyword if base is not None else "")
        if not keyword or not isinstance(ref.name, n.Word):
            self.log.add(problems.bad_name("a new object needs its kind", ref.span, "write `create pod NAME { ... }`"))
            return
        for model, keys in models:
            others = [KINDS[key.kind].keyword for key in keys if KINDS[key.kind].keyword != keyword]
            if others:
                self.log.add(problems.wrong_value(f"a {keyword} cannot be like a {others[0]}", model.span))
                return
        decl = n.Decl(node.span, keyword, ref.name, None, node.body)
        for name in names(ref.name, bindings, self.log):
            self._create_one(decl, name, base, node.span)

    def _meant(self, ref: n.Ref, bindings: Bindings) -> list[tuple[n.Ref, list[ObjectKey]]]:
        """What a reference may become, with the objects that are meant; `any KIND` is any that is declared."""
        found = []
        for each in self.scope.chosen(ref):
            keys = self.scope.resolve(each, bindings, KIND_ORDER, globs=False)
            if isinstance(each.name, n.AnyKind):
                keys = [key for key in self.scope.objects if KINDS[key.kind].keyword == each.kind]
            found.append((each, keys))
        return found

    def _create_one(self, decl: n.Decl, name: Name, base: Declared | None, span: Span) -> None:
        declared = self.converter.build_one(decl, name, base=None if base is None else base.located)
        if declared is None:
            return
        first = self.own.objects.get(declared.key)
        if first is not None:
            self.log.add(problems.duplicate(decl.kind, name.text, name.span, first.span))
            return
        self.own.objects[declared.key] = declared
        self.scope.add(declared.key, declared)
        self.created.add(declared.key)
        self.steps.append(s.Create(span, declared.key, declared.object))

    def _act(self, node: n.ObjectsAction, bindings: Bindings) -> None:
        kinds = _ACTION_KINDS[node.keyword]
        for ref in node.objects:
            for key in self.scope.resolve(ref, bindings, kinds):
                self.steps.append(s.Act(ref.span, node.keyword, key))  # type: ignore[arg-type]  # the grammar's five words

    # ---- changes ----------------------------------------------------------------------------------------------------

    def _exists(self, key: ObjectKey) -> bool:
        """Whether an object exists when the statement at hand runs, as far as the text tells.

        One that may have come into being counts, too: there is no declaration that could be changed instead.
        """
        if self.scope.objects.get(key) is None:
            return True
        return key in self.created or (key.kind != "Pod" and key not in self.created_later)

    def _set_field(self, node: n.SetField, bindings: Bindings) -> None:
        changes: dict[str, Change | None] = {}
        for number, (ref, keys) in enumerate(self._meant(node.object, bindings)):
            for key in keys:
                if key.kind not in changes:
                    changes[key.kind] = read_change(key.kind, node.path, node.value, bindings, self.converter)
                change = changes[key.kind]
                # Every choice of a hole must have the field; the first one is changed.
                if change is not None and number == 0 and isinstance(ref.name, n.Word):
                    self._change(node, key, change)

    def _change(self, node: n.SetField, key: ObjectKey, change: Change) -> None:
        declared = self.scope.declared(key)
        located = None if declared is None else apply_change(declared.located, change)
        if self._exists(key):
            self.steps.append(s.SetField(node.span, key, change.path, change.value.plain()))
            if declared is not None and located is not None:
                self._note_change(declared, located)
        elif declared is None or located is None:
            self.log.add(problems.wrong_value(f"`{node.path.text}` leads nowhere in `{key.name}`", node.path.span))
        else:
            self._redeclare(declared, located)

    def _redeclare(self, declared: Declared, located: Located) -> None:
        changed = replace(declared, located=located)
        decoded = decode(type(declared.object), changed.located, self.log)
        if decoded is not None:
            changed = replace(changed, object=decoded)
            self.own.objects[declared.key] = changed
            self.scope.add(declared.key, changed)

    def _note_change(self, declared: Declared, located: Located) -> None:
        """Keep what a declared object becomes; what is wrong with it shows when the scenario runs."""
        decoded = decode(type(declared.object), located, DiagnosticLog())
        if decoded is not None:
            self.changes.append((declared, replace(declared, object=decoded, located=located)))

    def _set_block(self, node: n.SetBlock, bindings: Bindings) -> None:
        for number, (ref, keys) in enumerate(self._meant(node.object, bindings)):
            is_meant = number == 0 and isinstance(ref.name, n.Word)
            # Every choice of a hole must have the fields; the first one is changed.
            for key in keys if is_meant else keys[:1]:
                found = self._changed(node, key, bindings)
                if found is not None and is_meant:
                    self._set_whole(node, *found)

    def _changed(self, node: n.SetBlock, key: ObjectKey, bindings: Bindings) -> tuple[Declared, Declared] | None:
        """A declared object and what the body of a ``set`` makes of it, or None after a diagnostic."""
        declared = self.scope.declared(key)
        keyword = KINDS[key.kind].keyword
        if declared is None or keyword is None:
            self.log.add(problems.bad_name(f"`{key.name}` has no declaration to change", node.object.span))
            return None
        word = n.Word(node.object.span, f"{key.namespace}/{key.name}" if key.namespace else key.name, quoted=True)
        decl = n.Decl(node.span, keyword, word, None, node.body)
        changed = self.converter.build_one(decl, Name(word.text, node.object.span, bindings), base=declared.located)
        return None if changed is None else (declared, changed)

    def _set_whole(self, node: n.SetBlock, declared: Declared, changed: Declared) -> None:
        key = declared.key
        if self._exists(key):
            spec = changed.located.at(("spec",))
            self.steps.append(s.SetField(node.span, key, ("spec",), spec.plain()))
            self.changes.append((declared, changed))
        else:
            self.own.objects[key] = replace(declared, object=changed.object, located=changed.located)
            self.scope.add(key, self.own.objects[key])

    def _taint(self, node: n.TaintObject, bindings: Bindings) -> None:
        located = taint_spec(self.converter, node.taint, bindings, _effect_of(node.target))
        if located is None:
            return
        if node.target.kind == "device":
            taint = decode(DeviceTaint, located, self.log)
            self.device_taints.append(node.span)
            for device in self.propositions.devices_of(node.target, bindings):
                if taint is not None:
                    self.steps.append(s.TaintDevice(node.span, device.name, taint))
            return
        plain = located.plain()
        assert isinstance(plain, dict)
        for key in self.scope.resolve(node.target, bindings, ("Node",)):
            self.steps.append(s.TaintNode(node.span, key, plain["key"], plain.get("value", ""), plain["effect"]))

    def _untaint(self, node: n.UntaintObject, bindings: Bindings) -> None:
        taint_key = self.converter.text(node.key, bindings, labels.key)
        effect = None if node.effect is None else self.converter.text(node.effect, bindings, _effect_of(node.target))
        if taint_key is None:
            return
        wanted = None if effect is None else str(effect.value)
        if node.target.kind == "device":
            for device in self.propositions.devices_of(node.target, bindings):
                self.steps.append(s.UntaintDevice(node.span, device.name, str(taint_key.value), wanted))
            return
        for key in self.scope.resolve(node.target, bindings, ("Node",)):
            self.steps.append(s.TaintNode(node.span, key, str(taint_key.value), None, wanted))

    def _label(self, node: n.Label, bindings: Bindings) -> None:
        changes: list[tuple[str, str | None]] = []
        for entry in node.entries:
            label = self.converter.text(entry.key, bindings, labels.key)
            value = None if entry.value is None else self.converter.text(entry.value, bindings, labels.value)
            if label is not None:
                changes.append((str(label.value), None if value is None else str(value.value)))
        for key in self.scope.resolve(node.object, bindings, KIND_ORDER, globs=False):
            self.steps.append(s.SetLabels(node.span, key, tuple(changes)))

    def _component(self, node: n.ComponentAction | n.Delay, bindings: Bindings) -> None:
        delay = self.duration(node.duration, bindings) if isinstance(node, n.Delay) else 0
        component = component_of(node, bindings, self.converter)
        action = "delay" if isinstance(node, n.Delay) else node.keyword
        if component is not None and delay is not None:
            self.steps.append(s.Component(node.span, action, component, delay))  # type: ignore[arg-type]  # the grammar's words

    def _fail_next(self, node: n.FailNext, bindings: Bindings) -> None:
        count = (
            1
            if node.count is None
            else self.converter.first(node.count, lambda value: failures(value, bindings, self.log))
        )
        # What is to fail may be the creation itself: a pod that a later statement describes is known here.
        kinds = ("Pod",) if node.operation == "bind" else KIND_ORDER  # nothing else is ever bound
        with self.scope.knowing(self.described_later):
            keys = self.scope.resolve(node.object, bindings, kinds, globs=False)
        for key in keys if count is not None else ():
            self.steps.append(s.FailNext(node.span, node.operation, key, count))  # type: ignore[arg-type]

    def _set_condition(self, node: n.SetCondition, bindings: Bindings) -> None:
        condition = self.converter.text(node.condition, bindings)
        status = self.converter.first(node.value, lambda value: status_word(value, bindings, self.converter))
        if status is None:
            return
        message = ""
        if node.because is not None:
            message = substitute(node.because.text, node.because.span, bindings, self.log) or ""
        devices = self.propositions.devices_of(n.Ref(node.device.span, "device", node.device), bindings)
        for key in self.scope.resolve(node.claim, bindings, ("ResourceClaim",), globs=False):
            for device in devices:
                if condition is not None:
                    step = s.SetCondition(
                        node.span, key, device.name, str(condition.value), status.capitalize(), message
                    )
                    self.steps.append(step)

    def _publish(self, node: n.Publish, bindings: Bindings) -> None:
        """The body replaces what an earlier declaration of the slice said, field by field."""
        if node.decl.kind != "slice":
            self.log.add(
                problems.wrong_value("only slices are published", node.span, "write `publish slice NAME { ... }`")
            )
            return
        for name in names(node.decl.name, bindings, self.log):
            key = ObjectKey("ResourceSlice", "", name.text)
            before = self.published.get(key, self.scope.objects.get(key))
            declared = self.converter.build_one(node.decl, name, base=None if before is None else before.located)
            if declared is None or not isinstance(declared.object, ResourceSlice):
                continue
            first = self.scope.objects.get(key)
            self.scope.used.add(key)
            self.scope.add(key, declared)
            self.own.objects[key] = declared
            self.published[key] = declared
            if first is None:
                self.created.add(key)
            else:
                # Its devices are known from now on, but the slice begins as it was declared.
                self.scope.objects[key] = first
            self.steps.append(s.Publish(node.span, key, declared.object))

    def _repeat(self, node: n.Repeat, bindings: Bindings) -> None:
        rounds = rounds_of(node, bindings, self.converter, MAX_STEPS)
        if rounds is None:
            return
        if not rounds.count:
            self._look_at(node, bindings, range(1, 2), DiagnosticLog() if rounds.is_computed else self.log)
        for index in range(1, rounds.count + 1):
            self.statements(node.body.statements, with_index(node, bindings, index))
            # Bodies may be empty: the steps alone would not end a repetition of repetitions.
            self.rounds += 1
            if self.rounds > MAX_ROUNDS:
                self._stop(f"more than {MAX_ROUNDS:,} repetitions", node.span)
            if self.too_long:
                return
        self._look_at(node, bindings, rounds.others[: max(0, MAX_LOOKED - self.looked)], DiagnosticLog())

    def _look_at(self, node: n.Repeat, bindings: Bindings, rounds: range, log: DiagnosticLog) -> None:
        """Report what is wrong in rounds that need not happen; of what they would do, only names become known."""
        if not rounds:
            return
        scout = Elaborator(self.home, self.scope.copy(log), log, fuzz=self.fuzz)
        scout.own.objects = dict(self.own.objects)
        scout.created, scout.created_later = set(self.created), self.created_later
        scout.described_later, scout.published = self.described_later, dict(self.published)
        scout.last_at, scout.timed, scout.depth, scout.looked = self.last_at, self.timed, self.depth, self.looked
        for index in rounds:
            scout.looked += 1
            scout.statements(node.body.statements, with_index(node, bindings, index))
        self.looked = scout.looked
        for each, bound in scout.late_properties:
            scout.propositions.build(each.proposition, bound)
        own = [item for key, item in scout.own.objects.items() if key not in self.own.objects]
        broken, known = self.home.broken | scout.converter.stand_ins, scout.scope
        check_references(own, known.objects, known.used, log, broken)
        check_choices(scout.converter.choices, known.objects, known.used, log, broken)
        self.scope.foresee(known.beyond(self.scope))

    # ---- time -------------------------------------------------------------------------------------------------------

    def duration(self, value: n.Word | n.Hole, bindings: Bindings) -> int | None:
        """A time in milliseconds, or None after a diagnostic; of a hole the first, and every choice must be one."""
        return self.converter.first(value, lambda choice: milliseconds(choice, bindings, self.converter))

    def _at(self, node: n.At, bindings: Bindings) -> None:
        time = self.duration(node.time, bindings)
        if time is None:
            return
        if time < self.last_at and isinstance(node.time, n.Word):
            self.log.add(
                problems.time_goes_back(
                    f"`at {node.time.text}` lies before `at {format_duration(self.last_at)}` above it",
                    node.time.span,
                    "statements stand in the order of their times",
                )
            )
        self.last_at = max(time, self.last_at)
        self.steps.append(s.Advance(node.span, time, relative=False))
        self._timed_body(node.body, bindings)

    def _after(self, node: n.After, bindings: Bindings) -> None:
        time = self.duration(node.duration, bindings)
        if time is None:
            return
        self.steps.append(s.Advance(node.span, time, relative=True))
        if node.body is not None:
            self._timed_body(node.body, bindings)

    def _timed_body(self, body: n.Statement | n.Body, bindings: Bindings) -> None:
        self.timed += 1
        if isinstance(body, n.Body):
            self.statements(body.statements, bindings)
        else:
            self.statement(body, bindings)
        self.timed -= 1

    # ---- expectations -----------------------------------------------------------------------------------------------

    def _expect(self, node: n.Expect, bindings: Bindings) -> None:
        proposition = self.propositions.build(node.proposition, bindings)
        if node.within is not None:
            duration = self.duration(node.within, bindings)
            if proposition is not None and duration is not None:
                self.steps.append(s.Expect(node.span, proposition, "within", duration))
        elif proposition is not None:
            self.steps.append(s.Expect(node.span, proposition, "due" if self.timed else "settled"))

    def _property(self, node: n.Property, bindings: Bindings) -> None:
        """A property holds for the whole scenario, wherever it stands; inside a timed block from there."""
        if not self.timed:
            self.late_properties.append((node, bindings))
            return
        proposition = self.propositions.build(node.proposition, bindings)
        if proposition is not None:
            self.steps.append(s.Watch(node.span, node.keyword, proposition))  # type: ignore[arg-type]  # the grammar's words


def _effect_of(target: n.Ref) -> labels.Rule:
    """What the effect of a taint may be there."""
    return labels.device_effect if target.kind == "device" else labels.node_effect
