"""The one way from a file to its scenarios and diagnostics: for `test`, `run`, `check`, and the editor.

Order: text → tree (``syntax``) → environment (what the file declares and uses) → each scenario, each row of its table →
references and what is never used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dralang.api.located import Located
from dralang.check import problems
from dralang.check.admission import FileAdmission, Servers
from dralang.check.environment import Environment, EnvironmentReader
from dralang.check.expand import Bindings, ParamValue, scalar, substitute
from dralang.check.files import Files, ParsedFile
from dralang.check.holes import (
    Existing,
    Filled,
    LargestChooser,
    Parts,
    compared_headers,
    created_pods,
    empty_holes,
    existing_objects,
    fill,
)
from dralang.check.lint import Linters
from dralang.check.pools import with_slice_counts
from dralang.check.random_story import may_have_groups, random_story
from dralang.check.ranges import UnfillableError
from dralang.check.references import check_choices, check_references, report_unused
from dralang.check.scope import Foreseen, Scope
from dralang.check.settings import settings_of
from dralang.check.statements import Elaborator
from dralang.check.support import missing_features
from dralang.check.vacuous import report_idle_faults, report_idle_rules, report_unused_parameters
from dralang.check.values import Converter
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.scenario import steps as s
from dralang.scenario.holes import Chooser, Drawn, SmallestChooser
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import REGRESSION, Declared, Property, Scenario, Settings
from dralang.syntax import nodes as n
from dralang.syntax.nodes import File

MAX_ROWS: Final = 2_000


class Analysis(Struct, frozen=True):
    """What is known about a spec file before anything runs.

    Attributes:
        source: its text.
        tree: its syntax tree.
        scenarios: one for each row; none if the file has errors.
        diagnostics: sorted.
        objects: what the file declares and uses, at its own level.
        settings: of the file.
    """

    source: SourceFile
    tree: File
    scenarios: tuple[Scenario, ...]
    diagnostics: tuple[Diagnostic, ...]
    objects: tuple[Declared, ...]
    settings: Settings

    @property
    def has_errors(self) -> bool:
        """Whether the file must not be run."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


class Analyzer:
    """Analyses specs; used files are read once for all of them.

    Args:
        overrides: settings that hold whatever files say.
        defaults: settings that hold where files say nothing.
    """

    def __init__(self, overrides: Settings | None = None, defaults: Settings | None = None) -> None:
        self.files = Files()
        self.environments = EnvironmentReader(self.files)
        self.overrides = overrides
        self.defaults = defaults
        self.servers = Servers()
        self.linters = Linters()

    def path(self, path: Path) -> Analysis | Diagnostic:
        """Analyse the spec at a path; a diagnostic if it cannot be read."""
        log = DiagnosticLog()
        parsed = self.files.spec(path, log)
        return log.sorted()[0] if parsed is None else self.parsed(parsed)

    def text(self, path: Path, name: str, data: bytes) -> Analysis:
        """Analyse a spec whose content is already here; ``path`` is where its ``use`` start from."""
        return self.parsed(self.files.text(path, name, data))

    def parsed(self, parsed: ParsedFile) -> Analysis:
        """Analyse a parsed spec."""
        log = DiagnosticLog()
        environment = self.environments.read(parsed, log)
        settings = settings_of([environment.headers], {}, DiagnosticLog(), self.overrides, self.defaults)
        scenarios: tuple[Scenario, ...] = ()
        if not parsed.log.has_errors:
            scenarios = _FileAnalysis(environment, parsed, log, self).run()
        if log.has_errors:
            scenarios = ()
        else:
            self.linters.look(settings, environment.objects.values(), scenarios, log)
        return Analysis(
            parsed.source, parsed.tree, scenarios, tuple(log.sorted()), tuple(environment.objects.values()), settings
        )


class _FileAnalysis:
    """The scenarios of one file; private to this module."""

    def __init__(self, environment: Environment, parsed: ParsedFile, log: DiagnosticLog, analyzer: Analyzer) -> None:
        self.environment = environment
        self.parsed = parsed
        self.log = log
        self.overrides = analyzer.overrides
        self.defaults = analyzer.defaults
        self.known: set[ObjectKey] = set(environment.objects)
        self.used: set[ObjectKey] = set()
        self.titles: dict[str, Span] = {}
        self.devices: set[str] = set()
        self.foreseen = Foreseen({}, {}, frozenset())
        counted = with_slice_counts(environment.objects.values())
        self.objects = {**environment.objects, **counted}
        # Gates are checked once for the file, so that a file without scenarios is checked too.
        settings = settings_of([environment.headers], {}, log, self.overrides, self.defaults)
        self.admission = FileAdmission(analyzer.servers, settings, self.objects, log)

    def again(self, log: DiagnosticLog) -> "_FileAnalysis":
        """The same file with nothing found in it yet, for one more drawing of a fuzz."""
        other = object.__new__(_FileAnalysis)
        other.environment, other.parsed, other.log = self.environment, self.parsed, log
        other.overrides, other.defaults, other.objects = self.overrides, self.defaults, self.objects
        other.known, other.used, other.titles, other.devices = set(), set(), {}, set()
        other.foreseen = Foreseen({}, {}, frozenset())
        other.admission = self.admission.again(log)
        return other

    def run(self) -> tuple[Scenario, ...]:
        scenarios: list[Scenario] = []
        for node in self.environment.scenarios:
            for part in node.repeated:
                self.log.add(problems.given_twice(part.text, part.span, node.title.span))
            rows = self._rows(node)
            if node.table is not None and rows and not self.log.has_errors:
                report_unused_parameters(node.table.names, node.span, self.log)
            for bindings in rows:
                scenario = self._scenario(node, bindings)
                if scenario is not None:
                    scenarios.append(scenario)
        check_references(self.objects.values(), self.known, self.used, self.log, self.environment.broken)
        self.admission.finish()
        # What an object with an error uses is not known.
        if self.environment.scenarios and not self.environment.broken:
            report_unused(self.environment.objects.values(), self.used, self.log)
            self._unused_fixtures()
            if not any(node.source for node in self.environment.scenarios):  # those bring slices of their own
                report_idle_rules(self.environment.objects.values(), self.devices, self.log)
        return tuple(scenarios)

    def _unused_fixtures(self) -> None:
        for name, fixture in self.environment.fixtures.items():
            if fixture.home is self.environment and name not in self.environment.called:
                self.log.add(problems.unused("fixture", name, fixture.node.name.span, f"call it: `{name}(...)`"))
            if fixture.home is self.environment:
                params = [param.name for param in fixture.node.params]
                report_unused_parameters(params, fixture.node.span, self.log)

    # ---- tables -----------------------------------------------------------------------------------------------------

    def _rows(self, node: n.Scenario) -> list[dict[str, ParamValue]]:
        table = node.table
        if table is None:
            return [{}]
        converter = Converter(self.log)
        rows: list[dict[str, ParamValue]] = []
        for name in table.names:
            if not name.text.isidentifier():
                self.log.add(
                    problems.bad_name(f"`{name.text}` is no parameter name", name.span, "use letters, digits and `_`")
                )
                return []
        if table.low is not None and table.high is not None:
            return self._range_rows(table, table.low, table.high)
        items = table.rows.items if table.rows is not None else ()
        if not items:
            self.log.add(problems.bad_table("this table has no rows", table.span, "give it at least one"))
        for item in items:
            values: tuple[n.Value, ...] = (item,)
            if len(table.names) > 1:
                if not isinstance(item, n.TupleValue) or len(item.items) != len(table.names):
                    self.log.add(
                        problems.bad_table(f"a row needs {len(table.names)} values", item.span, "write `(a, b)`")
                    )
                    continue
                values = item.items
            resolved = [converter.resolve(value, {}) for value in values]
            if None not in resolved:
                rows.append(
                    {name.text: value for name, value in zip(table.names, resolved, strict=True) if value is not None}
                )
        return rows

    def _range_rows(self, table: n.Table, low: n.Word, high: n.Word) -> list[dict[str, ParamValue]]:
        bounds = [scalar(word) for word in (low, high)]
        if any(isinstance(bound, bool) or not isinstance(bound, int) for bound in bounds):
            self.log.add(
                problems.bad_table(
                    "a range of rows goes from a number to a number", table.span, "write `for X in 1..3`"
                )
            )
            return []
        first, last = (bound for bound in bounds if isinstance(bound, int))
        if last < first:
            self.log.add(problems.bad_table("this table has no rows", table.span, f"write `{last}..{first}`"))
            return []
        if last >= first + MAX_ROWS:
            self.log.add(problems.bad_table(f"a table has at most {MAX_ROWS:,} rows", table.span))
            return []
        return [{table.names[0].text: number} for number in range(first, last + 1)]

    # ---- one scenario -----------------------------------------------------------------------------------------------

    def _scenario(self, node: n.Scenario, bindings: Bindings) -> Scenario | None:
        title = substitute(node.title.text, node.title.span, bindings, self.log)
        if title is None:
            return None
        if bindings and "${" not in node.title.text:
            # Rows of a table need names of their own, as parametrized tests have them.
            title = f"{title} [{', '.join(_shown(value) for value in bindings.values())}]"
        what = "fuzz" if node.fuzz else "scenario"
        if not title.strip():
            self.log.add(problems.bad_name(f"this {what} has no title", node.title.span))
        if title in self.titles:
            self.log.add(problems.duplicate(what, title, node.title.span, self.titles[title]))
            return None
        self.titles[title] = node.title.span
        headers = {item.keyword: item for item in node.body.statements if isinstance(item, n.Header)}
        levels = (self.environment.headers, headers)
        settings = settings_of(levels, bindings, self.log, self.overrides, self.defaults, fuzz=node.fuzz)
        elaborator = self.elaborate(node, bindings)
        self.known.update(elaborator.scope.objects)
        self.used.update(elaborator.scope.used)
        self.devices.update(*elaborator.scope.devices.values())
        own = [item for key, item in elaborator.own.objects.items() if key not in self.environment.objects]
        broken = self.environment.broken | elaborator.converter.stand_ins
        check_references(own, elaborator.scope.objects, self.used, self.log, broken)
        check_choices(elaborator.converter.choices, elaborator.scope.objects, self.used, self.log, broken)
        if not node.fuzz:
            if not self.log.has_errors:
                goes_on = bool(elaborator.properties) or any(tag.text == REGRESSION for tag in node.tags)
                report_idle_faults(elaborator.steps, self.log, goes_on=goes_on)
            return self.assemble(node, title, settings, elaborator)
        template = _Template(
            node, title, settings, self, elaborator.scope.beyond(self._elaborator(node, self.log).scope)
        )
        if not self.log.has_errors:
            # Only a hole that nothing can fill is a mistake here: the smallest choices need not make sense together.
            template.check(self.log)
        return replace(self.assemble(node, title, settings, elaborator), template=template)

    def elaborate(self, node: n.Scenario, bindings: Bindings) -> Elaborator:
        """The body of a scenario, name by name."""
        created: frozenset[ObjectKey] = frozenset()
        if _contains(node.body, (n.SetField, n.SetBlock)):
            # `set` before `create` changes the declaration: what is created must be known before.
            scout = self._elaborator(node, DiagnosticLog())
            scout.run(node.body, bindings)
            created = frozenset(scout.created)
        elaborator = self._elaborator(node, self.log)
        elaborator.created_later = created
        if _contains(node.body, (n.FailNext,)):
            elaborator.described_later = created_pods(node.body)
        elaborator.run(node.body, bindings)
        elaborator.scope.fuzz = False  # a property of the file has no holes: nothing fills them
        for prop in self.environment.properties:
            proposition = elaborator.propositions.build(prop.proposition, {})
            if proposition is not None:
                elaborator.properties.append(Property(prop.keyword, proposition, prop.span))
        return elaborator

    def _elaborator(self, node: n.Scenario, log: DiagnosticLog) -> Elaborator:
        scope = Scope(self.objects.values(), self.environment.aliases, log, self.environment.broken, fuzz=node.fuzz)
        scope.foresee(self.foreseen)
        return Elaborator(self.environment, scope, log, fuzz=node.fuzz)

    def assemble(self, node: n.Scenario, title: str, settings: Settings, elaborator: Elaborator) -> Scenario:
        """What was elaborated, as a scenario."""
        declared = {key: item for key, item in elaborator.scope.objects.items() if item is not None}
        counted = with_slice_counts(declared.values())
        declared.update(counted)
        steps = [
            replace(step, object=counted[step.key].object)
            if isinstance(step, s.Create) and step.key in counted
            else step
            for step in elaborator.steps
        ]
        initial = [item for key, item in declared.items() if key.kind != "Pod" and key not in elaborator.created]
        if not node.fuzz:  # what stands in a hole is not known yet
            self.admission.scenario(settings, node.title.span, declared.values())
            self.admission.changes(settings, elaborator.changes, elaborator.device_taints)
        missing = [*elaborator.missing, *missing_features(settings, steps, elaborator.properties)]
        # The invariants judge a fuzz even if it expects nothing.
        expects = node.fuzz or _contains(node.body, (n.Expect, n.Property)) or bool(self.environment.properties)
        if not expects:
            self.log.add(problems.checks_nothing(title, node.title.span))
        source = self.parsed.source
        return Scenario(
            source.name,
            title,
            source.position(node.span.start).line,
            source.position(max(node.span.start, node.span.end - 1)).line,
            tuple([tag.text for tag in node.tags]),
            None if node.xfail is None else node.xfail.text,
            settings,
            tuple(initial),
            declared,
            tuple(steps),
            tuple(elaborator.properties),
            tuple([item if item.span else replace(item, span=node.title.span) for item in missing]),
            node.fuzz,
            Span(source, node.span.start, node.title.span.end),
        )


class _Template:
    """A fuzz that can be drawn: see ``scenario.holes.Template``; private to this module."""

    def __init__(
        self, node: n.Scenario, title: str, settings: Settings, analysis: _FileAnalysis, foreseen: Foreseen
    ) -> None:
        self.node = node
        self.title = title
        self.settings = settings
        self.analysis = analysis
        self.foreseen = foreseen
        self.parts = Parts(node.body)
        self.existing: Existing | None = None
        self.groups = node.source is not None and may_have_groups(settings, node.body)

    def check(self, log: DiagnosticLog) -> None:
        """Report holes that nothing can fill, and wrong settings of a ``compare with``."""
        mistakes = empty_holes(self.node.body)
        for diagnostic in mistakes:
            log.add(diagnostic)
        if mistakes:
            return
        left_out: dict[Span, str] = {}
        kept: set[Span] = set()
        for chooser in (SmallestChooser(), LargestChooser()):
            try:
                filled = self._filled(chooser)
            except UnfillableError as error:
                log.add(error.diagnostic)
                return
            self._variants(filled.compared, self._headers(filled.statements), log)
            if log.has_errors:
                return
            left_out.update(filled.left_out)
            kept |= filled.kept
        for span, kind in left_out.items():
            if span not in kept and span.source is self.node.span.source:
                log.add(problems.nothing_there(kind, span))

    def draw(self, chooser: Chooser) -> Drawn:
        """Fill the holes, and tell the story."""
        filled = self.fill(chooser)
        return filled if filled.diagnostics else self.tell(filled)

    def fill(self, chooser: Chooser) -> Drawn:
        """Fill the holes; there is a tree, but no scenario yet."""
        node = self.node
        try:
            filled = self._filled(chooser)
        except UnfillableError as error:
            return Drawn(None, node, (error.diagnostic,), ())
        body = n.Body(node.body.span, filled.statements)
        tree = n.Scenario(node.span, node.title, node.tags, node.xfail, None, body)
        log = DiagnosticLog()
        variants = self._variants(filled.compared, self._headers(filled.statements), log)
        return Drawn(None, tree, tuple([item for item in log.sorted() if item.severity == "error"]), variants)

    def tell(self, filled: Drawn) -> Drawn:
        """The story of a tree without holes."""
        tree, log = filled.tree, DiagnosticLog()
        assert isinstance(tree, n.Scenario)
        analysis = self.analysis.again(log)
        # Time order is not text order: what speaks of a pod may come before the pod. And what one story creates need
        # not be in another one, which has the same sentences.
        pods = dict.fromkeys(created_pods(tree.body))
        analysis.foreseen = replace(self.foreseen, objects={**pods, **self.foreseen.objects})
        elaborator = analysis.elaborate(tree, {})
        # A story that is drawn may have settings of its own.
        own = self._headers(tree.body.statements)
        settings = self._settings((own,), log) if own != self._headers() else self.settings
        scenario = analysis.assemble(tree, self.title, settings, elaborator)
        if log.has_errors:
            errors = [item for item in log.sorted() if item.severity == "error"]
            return Drawn(None, tree, tuple(errors), ())
        known = elaborator.scope.objects.items()
        absent = tuple([key for key, declared in known if declared is None and key.kind == "Pod"])
        return Drawn(replace(scenario, fuzz=True), tree, (), filled.variants, absent)

    def _filled(self, chooser: Chooser) -> Filled:
        source = self.node.source
        before = () if source is None else random_story(source, chooser, groups=self.groups)
        return fill(self.node.body, self._existing(), chooser, self.parts, before)

    def _headers(self, statements: Sequence[n.Statement] | None = None) -> dict[str, n.Header]:
        """The settings that stand in a body, without one in the fuzz itself."""
        found = self.node.body.statements if statements is None else statements
        return {item.keyword: item for item in found if isinstance(item, n.Header)}

    def _settings(self, headers: Sequence[dict[str, n.Header]], log: DiagnosticLog) -> Settings:
        analysis = self.analysis
        levels: list[Mapping[str, n.Header | Located]] = [analysis.environment.headers, *headers]
        return settings_of(levels, {}, log, analysis.overrides, analysis.defaults)

    def _variants(
        self, compared: Sequence[n.Block], own: dict[str, n.Header], log: DiagnosticLog
    ) -> tuple[Settings, ...]:
        return tuple([self._settings((own, compared_headers(block, log)), log) for block in compared])

    def _existing(self) -> Existing:
        if self.existing is None:
            self.existing = existing_objects(self.analysis.objects, self.node)
        return self.existing


def _shown(value: ParamValue) -> str:
    if isinstance(value, int | str):
        return str(value)
    return value.text if isinstance(value, n.Word) else value.span.text


def _contains(body: n.Body, kinds: tuple[type, ...]) -> bool:
    """Whether a body has a statement of some kinds, at any depth."""
    stack: list[object] = list(body.statements)
    while stack:
        here = stack.pop()
        if isinstance(here, kinds):
            return True
        match here:
            case n.At() | n.After():
                stack.append(here.body)
            case n.Body():
                stack += here.statements
            case n.Repeat() | n.AnyOrder():
                stack.append(here.body)
            case n.Maybe():
                stack.append(here.statement)
            case _:
                pass
    return False
