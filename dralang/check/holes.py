"""A fuzz's tree with its holes filled: a plain scenario's tree, repetitions written out, statements in time order.

A statement whose time is a hole is scheduled: it does not move the clock. What is scheduled runs in the order of its
time, ties in the order of the text; a bare ``expect``, ``settle`` and ``within`` wait for everything scheduled.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final

from msgspec import Struct

from dralang.api.kinds import KIND_OF_KEYWORD, KINDS
from dralang.api.resourceslice import ResourceSlice
from dralang.check import problems
from dralang.check.expand import names, substitute
from dralang.check.ranges import NUMBER, UnfillableError, ends_of
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.scenario.holes import Chooser
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.syntax import nodes as n
from dralang.values.duration import format_duration, parse_duration

MAX_STATEMENTS: Final = 20_000
_MOST_TIMES: Final = 10_000
_PIECE: Final = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_IDENTIFIER: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*')
_INDEX: Final = re.compile(r"\[[^\[\]]*\bas\s+([A-Za-z_][A-Za-z0-9_]*)\s*\]")
_HOLES: Final = (n.AnyRange, n.AnyOf, n.AnyKind)
Numbers = Mapping[str, int]


class Existing(Struct, frozen=True):
    """What ``any KIND`` may mean before the story begins.

    Attributes:
        objects: names by keyword, of what exists at time 0.
        declared: names by keyword, of everything that is declared.
        devices: how each device of the slices is called.
    """

    objects: Mapping[str, tuple[str, ...]]
    declared: Mapping[str, tuple[str, ...]]
    devices: tuple[str, ...]


class Filled(Struct, frozen=True):
    """A fuzz without holes.

    Attributes:
        statements: of the story.
        compared: the settings of its ``compare with``.
        left_out: where the statements stand of which nothing is left, because there was no object for ``any KIND``,
            each with the kind.
        kept: where the others stand that had such a hole.
    """

    statements: tuple[n.Statement, ...]
    compared: tuple[n.Block, ...]
    left_out: Mapping[Span, str]
    kept: Set[Span]


def fill(
    body: n.Body, existing: Existing, chooser: Chooser, tree: "Parts", before: Sequence[n.Statement] = ()
) -> Filled:
    """Fill the holes of a fuzz, whose parts are known; ``before`` are statements that were drawn as a whole.

    Raises:
        UnfillableError: a hole has nothing to choose from.
    """
    parts = Parts(tree=tree)
    story = _Story(chooser, parts)
    story.run([each for each in body.statements if isinstance(each, n.Header)], {})
    story.run(before, {})
    story.run([each for each in body.statements if not isinstance(each, n.Header)], {})
    story.flush(None)
    chosen = _Objects(existing, chooser, parts)
    return Filled(tuple(chosen.story(story.out)), tuple(story.compared), chosen.left_out, chosen.kept)


class Parts:
    """Remembers which parts of a tree have nothing to fill.

    What a story is drawn from is looked at once, with all its parts; what is drawn is forgotten with the story.

    Args:
        root: all of a tree; None for a story.
        tree: what is known of the tree that the story is drawn from.
    """

    def __init__(self, root: n.Node | None = None, tree: "Parts | None" = None) -> None:
        self._tree: Mapping[int, tuple[n.Node, bool]] = {} if tree is None else tree._fixed
        self._fixed: dict[int, tuple[n.Node, bool]] = {}
        # Parents before their parts; read backwards no look goes deeper than one step.
        nodes = [] if root is None else [root]
        for node in nodes:
            nodes += _children(node)
        for node in reversed(nodes):
            self.is_fixed(node)

    def is_fixed(self, node: n.Node) -> bool:
        """Whether a part has no hole and nothing to compute."""
        key = id(node)
        found = self._tree.get(key) or self._fixed.get(key)
        if found is None:
            # The node is kept: as long as it lives nobody else has its number.
            found = self._fixed[key] = (node, self._look(node))
        return found[1]

    def _look(self, node: n.Node) -> bool:
        if isinstance(node, _HOLES):
            return False
        if isinstance(node, n.Word | n.CelText):
            return "${" not in node.text
        return all(self.is_fixed(child) for child in _children(node))


def _children(node: n.Node) -> Iterable[n.Node]:
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, n.Node):
            yield value
        elif type(value) is tuple:
            yield from (each for each in value if isinstance(each, n.Node))


def _rebuilt(node: n.Node, change: Any) -> Any:
    """A node with its children changed; one that is None is left out of its list."""
    values: list[Any] = []
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, n.Node):
            value = change(value)
        elif type(value) is tuple and value:
            value = tuple([change(each) if isinstance(each, n.Node) else each for each in value])
        values.append(value)
    return type(node)(*values)


class _Story:
    """First pass: everything but ``any KIND``; private to this module."""

    def __init__(self, chooser: Chooser, parts: Parts) -> None:
        self.chooser = chooser
        self.parts = parts
        self.out: list[n.Statement] = []
        self.compared: list[n.Block] = []
        self.scheduled: list[tuple[int, int, n.Statement]] = []
        self.clock: int | None = 0
        self.least = 0
        self.timed = 0
        self.count = 0

    def run(self, statements: Iterable[n.Statement], numbers: Numbers) -> None:
        for statement in statements:
            self.statement(statement, numbers)

    def statement(self, node: n.Statement, numbers: Numbers) -> None:
        self.count += 1
        if self.count > MAX_STATEMENTS:
            raise UnfillableError(
                problems.bad_number(f"more than {MAX_STATEMENTS:,} statements", node.span, "repeat less often")
            )
        match node:
            case n.Repeat():
                self._repeat(node, numbers)
            case n.Maybe():
                if self.chooser.integer(0, 1):
                    self.statement(node.statement, numbers)
            case n.AnyOrder():
                left = list(node.body.statements)
                while left:
                    self.statement(left.pop(self.chooser.integer(0, len(left) - 1)), numbers)
            case n.Compare():
                self.compared.append(self.filled(node.settings, numbers))
            case n.At() | n.After():
                self._timed(node, numbers)
            case n.Expect() | n.Settle():
                if not self.timed:
                    self.flush(None)
                    self.clock = None
                self.out.append(self.filled(node, numbers))
            case _:
                if not self.timed and self.clock is not None:
                    self.flush(self.clock)
                self.out.append(self.filled(node, numbers))

    def _repeat(self, node: n.Repeat, numbers: Numbers) -> None:
        count = self.filled(node.count, numbers)
        found = NUMBER.match(count.text) if isinstance(count, n.Word) else None
        if found is None or found[2] or not 0 <= int(found[1]) <= _MOST_TIMES:
            raise UnfillableError(
                problems.bad_number(f"`{node.count.span.text}` is no number of times", node.count.span)
            )
        for number in range(1, int(found[1]) + 1):
            self.run(node.body.statements, numbers if node.name is None else {**numbers, node.name.text: number})

    # ---- time -------------------------------------------------------------------------------------------------------

    def _timed(self, node: n.At | n.After, numbers: Numbers) -> None:
        when = node.time if isinstance(node, n.At) else node.duration
        word = self.filled(when, numbers)
        time = _milliseconds(word)
        is_hole = isinstance(when, _HOLES)
        if isinstance(node, n.After):
            if self.clock is None:
                # Nobody knows when the cluster has come to rest; the player does.
                self.flush(None)
                body = None if node.body is None else self._body(node.body, numbers)
                self.out.append(n.After(node.span, word, body))
                return
            time += self.clock
        elif is_hole:
            time = max(time, self.least if self.clock is None else self.clock)
        if is_hole:
            body = self._body(node.body or n.Body(node.span, ()), numbers)
            self.scheduled.append((time, len(self.scheduled), body))
            return
        self.flush(time)
        self.clock = time
        self.least = max(self.least, time)
        body = self._body(node.body or n.Body(node.span, ()), numbers)
        self.out.append(_at(node.span, time, body))

    def _body(self, body: n.Statement | n.Body, numbers: Numbers) -> Any:
        """What happens at a time: a statement, or a body of several or none."""
        outer, self.out = self.out, []
        self.timed += 1
        self.run(body.statements if isinstance(body, n.Body) else (body,), numbers)
        self.timed -= 1
        inner, self.out = self.out, outer
        return inner[0] if len(inner) == 1 else n.Body(body.span, tuple(inner))

    def flush(self, until: int | None) -> None:
        """What is scheduled up to a time takes its place; all of it for None."""
        if not self.scheduled:
            return
        due = sorted(
            [each for each in self.scheduled if until is None or each[0] <= until], key=lambda each: (each[0], each[1])
        )
        self.scheduled = [each for each in self.scheduled if until is not None and each[0] > until]
        for time, _, body in due:
            is_now = self.clock == 0 and time == 0 and not self.timed
            if self.clock is not None:
                self.clock = max(self.clock, time)
            if is_now and not isinstance(body, n.Body | n.Expect | n.Property | n.At | n.After | n.Header):
                self.out.append(body)
            elif not isinstance(body, n.Body) or body.statements:
                self.least = max(self.least, time)
                self.out.append(_at(body.span, self.least, body))

    # ---- values -----------------------------------------------------------------------------------------------------

    def filled(self, node: Any, numbers: Numbers) -> Any:
        """A part with its holes filled and its numbers put in."""
        if self.parts.is_fixed(node):
            return node
        if isinstance(node, n.Word):
            # A text in quotes is written as it stood; this one is new.
            span = Span(node.span.source, node.span.start, node.span.start) if node.quoted else node.span
            return n.Word(span, _put_in(node.text, numbers, node.span), node.quoted)
        if isinstance(node, n.CelText):
            return n.CelText(node.span, _put_in(node.text, numbers, node.span))
        if isinstance(node, n.AnyRange):
            return self._from_range(node, numbers)
        if isinstance(node, n.AnyOf):
            return self._from_list(node, numbers)
        if isinstance(node, n.AnyKind):
            return node
        if isinstance(node, n.Ref) and isinstance(node.name, n.AnyOf):
            chosen = self.filled(node.name, numbers)
            kind = chosen.kind if isinstance(chosen, n.AnyKind) else node.kind
            return n.Ref(node.span, kind, chosen) if isinstance(chosen, n.Word | n.AnyKind) else node
        inner = _without_own(node, numbers)
        return _rebuilt(node, lambda child: self.filled(child, inner))

    def _from_range(self, node: n.AnyRange, numbers: Numbers) -> n.Word:
        low, high = (_put_in(word.text, numbers, word.span) for word in (node.low, node.high))
        ends = ends_of(low, high, node)
        if ends.is_time:
            return n.Word(node.span, format_duration(ends.first + self.chooser.integer(0, ends.steps) * ends.step))
        return n.Word(node.span, f"{self.chooser.integer(ends.first, ends.first + ends.steps)}{ends.unit}")

    def _from_list(self, node: n.AnyOf, numbers: Numbers) -> n.Value:
        items = node.items.items
        if node.subset:
            # All shrinks to none, one by one.
            kept = [item for item in items if self.chooser.integer(0, 1)]
            return n.ListValue(node.span, tuple([self.filled(item, numbers) for item in kept]))
        if not items:
            raise UnfillableError(problems.nothing_to_choose(node.span))
        chosen: n.Value = self.filled(items[self.chooser.integer(0, len(items) - 1)], numbers)
        return chosen


def empty_holes(body: n.Body) -> list[Diagnostic]:
    """What is wrong with holes wherever they stand, drawn or not: ranges that are none, lists of nothing."""
    found: list[Diagnostic] = []
    stack: list[n.Node] = [body]
    while stack:
        here = stack.pop()
        stack += _children(here)
        if isinstance(here, n.AnyOf) and not here.items.items:
            found.append(problems.nothing_to_choose(here.span))
        elif isinstance(here, n.AnyRange) and "${" not in here.low.text + here.high.text:
            try:
                ends_of(here.low.text, here.high.text, here)
            except UnfillableError as error:
                found.append(error.diagnostic)
    return found


def _at(span: Span, time: int, body: Any) -> n.At:
    return n.At(span, n.Word(span, format_duration(time)), body)


def _milliseconds(word: Any) -> int:
    text = word.text if isinstance(word, n.Word) else ""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UnfillableError(problems.bad_duration(str(error), word.span)) from None


def _without_own(node: n.Node, numbers: Numbers) -> Numbers:
    """The numbers that hold inside of a node: `[0..3 as i]` in its name has an `i` of its own."""
    if not numbers:
        return numbers
    name = getattr(node, "name", None)
    words: list[n.Word] = [name] if isinstance(name, n.Word) else []
    if isinstance(node, n.Create):
        words = [ref.name for ref in node.objects if isinstance(ref.name, n.Word)]
    own = {found for word in words for found in _INDEX.findall(word.text)}
    return {name: number for name, number in numbers.items() if name not in own} if own else numbers


def _put_in(text: str, numbers: Numbers, span: Span) -> str:
    """A text with the numbers of the repetitions put in; what has parameters of its own is left to be computed."""
    if not numbers or "${" not in text:
        return text

    def replaced(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        others = False

        def number(word: re.Match[str]) -> str:
            nonlocal others
            if word[0] in numbers:
                return str(numbers[word[0]])
            others = others or not word[0].startswith('"')
            return word[0]

        inner = _IDENTIFIER.sub(number, found[1])
        if others:
            return "${" + inner + "}"
        log = DiagnosticLog()
        computed = substitute("${" + inner + "}", span, {}, log)
        if computed is None:
            raise UnfillableError(log.sorted()[0])
        return computed

    return _PIECE.sub(replaced, text)


# ---- any KIND -------------------------------------------------------------------------------------------------------


class _Objects:
    """Second pass, in time order: ``any KIND`` is one that exists then, as far as the text tells."""

    def __init__(self, existing: Existing, chooser: Chooser, parts: Parts) -> None:
        self.existing = existing
        self.chooser = chooser
        self.parts = parts
        self.there: dict[str, list[str]] = {kind: list(found) for kind, found in existing.objects.items()}
        self.ever: dict[str, list[str]] = {kind: list(found) for kind, found in existing.objects.items()}
        self.declared: dict[str, list[str]] = {kind: list(found) for kind, found in existing.declared.items()}
        self.left_out: dict[Span, str] = {}
        self.kept: set[Span] = set()

    def story(self, statements: Sequence[n.Statement]) -> list[n.Statement]:
        """A whole story. A property holds for all of it, so it may be about whatever comes to exist in it."""
        chosen = [None if isinstance(each, n.Property) else self._statement(each) for each in statements]
        self.there = self.ever
        every = [
            self._statement(each) if isinstance(each, n.Property) else done
            for each, done in zip(statements, chosen, strict=True)
        ]
        return [each for each in every if each is not None]

    def statements(self, statements: Iterable[n.Statement]) -> list[n.Statement]:
        result: list[n.Statement] = []
        for statement in statements:
            chosen = self._statement(statement)
            if chosen is not None:
                result.append(chosen)
        return result

    def _statement(self, node: n.Statement) -> n.Statement | None:
        if isinstance(node, n.At | n.After):
            if isinstance(node.body, n.Body):
                body: Any = n.Body(node.body.span, tuple(self.statements(node.body.statements)))
            else:
                body = None if node.body is None else self._statement(node.body)
            when = node.time if isinstance(node, n.At) else node.duration
            return type(node)(node.span, when, n.Body(node.span, ()) if body is None else body)
        try:
            chosen: n.Statement = self._chosen(node, creates=False)
        except _NothingThereError as nothing:
            self.left_out[node.span] = nothing.kind
            return None
        if chosen is not node:
            self.kept.add(node.span)
        self._note(chosen)
        return chosen

    def _chosen(self, node: Any, *, creates: bool) -> Any:
        if self.parts.is_fixed(node):
            return node
        if isinstance(node, n.AnyKind):
            return n.Word(node.span, self._one(node.kind, creates=creates))
        if isinstance(node, n.Ref) and isinstance(node.name, n.AnyKind):
            return n.Ref(node.span, node.name.kind, n.Word(node.span, self._one(node.name.kind, creates=creates)))
        if isinstance(node, n.Create):
            objects = tuple([self._chosen(ref, creates=True) for ref in node.objects])
            like = None if node.like is None else self._like(node.like)
            block = None if node.body is None else self._chosen(node.body, creates=False)
            return n.Create(node.span, objects, like, block)
        return _rebuilt(node, lambda child: self._chosen(child, creates=creates))

    def _like(self, ref: n.Ref) -> n.Ref:
        if not isinstance(ref.name, n.AnyKind):
            return ref
        kind = ref.name.kind
        return n.Ref(ref.span, kind, n.Word(ref.span, self._pick(self.declared.get(kind, ()), kind)))

    def _one(self, kind: str, *, creates: bool) -> str:
        if kind == "device":
            return self._pick(self.existing.devices, kind)
        there = self.there.get(kind, [])
        if creates:
            return self._pick([name for name in self.declared.get(kind, ()) if name not in there], kind)
        return self._pick(there, kind)

    def _pick(self, found: Sequence[str], kind: str) -> str:
        if not found:
            raise _NothingThereError(kind)
        return found[self.chooser.integer(0, len(found) - 1)]

    def _note(self, node: n.Statement) -> None:
        """What a statement brings into being or ends."""
        if isinstance(node, n.Decl):
            for name in names(node.name, {}, DiagnosticLog()):
                self.declared.setdefault(node.kind, []).append(name.text)
                if node.kind != "pod":
                    self._exists(node.kind, name.text)
        refs = node.objects if isinstance(node, n.Create | n.ObjectsAction) else ()
        for ref in refs:
            if not isinstance(ref.name, n.Word) or "*" in ref.name.text:
                continue
            kind = ref.kind or self._kind_of(ref.name.text, node)
            for name in names(ref.name, {}, DiagnosticLog()):
                there = self.there.setdefault(kind, [])
                if isinstance(node, n.Create):
                    self._exists(kind, name.text)
                elif isinstance(node, n.ObjectsAction) and node.keyword == "delete" and name.text in there:
                    there.remove(name.text)

    def _exists(self, kind: str, name: str) -> None:
        for known in (self.there.setdefault(kind, []), self.ever.setdefault(kind, [])):
            if name not in known:
                known.append(name)

    def _kind_of(self, name: str, node: n.Statement) -> str:
        if isinstance(node, n.Create) and node.like is not None and node.like.kind:
            return node.like.kind
        for kind in KIND_OF_KEYWORD:
            if name in self.declared.get(kind, ()) or name in self.there.get(kind, ()):
                return kind
        return "pod"


class _NothingThereError(Exception):
    """There is none of the wanted kind: the statement is left out."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


# ---- before the story -----------------------------------------------------------------------------------------------


class LargestChooser:
    """Takes the last or largest everywhere: the other end of what must make sense."""

    def integer(self, low: int, high: int) -> int:
        """The high end."""
        return high


def existing_objects(objects: Mapping[ObjectKey, Declared], node: n.Scenario) -> Existing:
    """What a file declares, as ``any KIND`` sees it."""
    declared: dict[str, list[str]] = {}
    there: dict[str, list[str]] = {}
    devices: dict[str, list[str]] = {}
    created = _created_names(node.body)
    for key, item in objects.items():
        keyword = KINDS[key.kind].keyword
        if keyword is None:
            continue
        declared.setdefault(keyword, []).append(key.spoken)
        if key.kind != "Pod" and key.spoken not in created:
            there.setdefault(keyword, []).append(key.spoken)
        if isinstance(item.object, ResourceSlice):
            spec = item.object.spec
            for device in spec.devices:
                devices.setdefault(device.name, []).append(f"{spec.driver}/{spec.pool.name}/{device.name}")
    return Existing(
        {keyword: tuple(found) for keyword, found in there.items()},
        {keyword: tuple(found) for keyword, found in declared.items()},
        tuple([_shortest(full, alike) for alike in devices.values() for full in dict.fromkeys(alike)]),
    )


def _shortest(full: str, alike: Sequence[str]) -> str:
    """A device by the shortest suffix that means no other."""
    parts = full.split("/")
    for count in range(1, len(parts)):
        suffix = "/".join(parts[-count:])
        if sum(other == suffix or other.endswith("/" + suffix) for other in set(alike)) == 1:
            return suffix
    return full


def _created_names(body: n.Node) -> set[str]:
    """The names after every ``create``: what they mean does not exist before it."""
    found: set[str] = set()
    stack: list[n.Node] = [body]
    while stack:
        here = stack.pop()
        if isinstance(here, n.Create):
            for ref in here.objects:
                if isinstance(ref.name, n.Word):
                    quiet = DiagnosticLog()
                    found.update(name.text for name in names(ref.name, {}, quiet))
        stack += _children(here)
    return found


def created_pods(body: n.Body) -> tuple[ObjectKey, ...]:
    """The pods that a story creates anywhere."""
    found: dict[ObjectKey, None] = {}
    stack: list[n.Node] = list(body.statements)
    while stack:
        here = stack.pop()
        if isinstance(here, n.At | n.After):
            stack += [here.body] if here.body is not None else []
        elif isinstance(here, n.Body):
            stack += here.statements
        elif isinstance(here, n.Create) and (here.like is not None or here.body is not None):
            for ref in here.objects:
                if isinstance(ref.name, n.Word) and ref.kind == "pod":
                    for name in names(ref.name, {}, DiagnosticLog()):
                        namespace, slash, own = name.text.rpartition("/")
                        found[ObjectKey("Pod", namespace if slash else "default", own)] = None
    return tuple(found)


def compared_headers(block: n.Block, log: DiagnosticLog) -> dict[str, n.Header]:
    """``compare with { kubernetes: 1.36; gates { ... }; quirks { ... } }`` as header statements."""
    headers: dict[str, n.Header] = {}
    for entry in block.entries:
        name = entry.name.text if isinstance(entry, n.Field) else ""
        value = entry.value if isinstance(entry, n.Field) else None
        fits = isinstance(value, n.Word) if name == "kubernetes" else isinstance(value, n.Block)
        if name not in ("kubernetes", "gates", "quirks") or not fits:
            way_out = "write `compare with { gates { NAME: true } }`; `kubernetes: 1.36` and `quirks { ... }` go too"
            log.add(problems.misplaced(f"`{name or 'this'}`", "`compare with`", entry.span, way_out))
            continue
        assert isinstance(value, n.Word | n.Block)
        headers[name] = n.Header(entry.span, name, value)
    if not headers and not log.has_errors:
        log.add(problems.bad_setting("`compare with` names no settings", block.span, "write `gates { NAME: true }`"))
    return headers
