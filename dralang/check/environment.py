"""A file's own level: settings, what it uses, fixtures, declared objects, properties.

Items are read in order; fixtures may be called before they stand. A used file contributes its own environment, which is
computed once. Bounded: fixtures nest ``MAX_CALLS`` deep, a file declares at most ``MAX_OBJECTS`` objects.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from dralang.api.conversion import to_current
from dralang.api.decode import decode
from dralang.api.kinds import type_in_version
from dralang.api.located import Located
from dralang.check import problems
from dralang.check.expand import Bindings, Name, ParamValue, names, one_name
from dralang.check.files import Files, ParsedFile, ReadManifest, shown_beside
from dralang.check.objects import ObjectBuilder
from dralang.check.scope import spoken_kind
from dralang.check.settings import USED_CONFIGURATION, read_header
from dralang.check.values import Converter
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.diagnostics.source import Span
from dralang.manifest.objects import CONFIGURATION_KIND, ManifestObject
from dralang.manifest.versions import lifted
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.syntax import nodes as n

MAX_CALLS: Final = 20
MAX_OBJECTS: Final = 20_000


class FixtureDef(Struct, frozen=True):
    """A fixture and the fixtures that its body may call."""

    node: n.Fixture
    home: "Environment"


class Environment:
    """What a file declares and makes visible. Filled by ``EnvironmentReader``; read-only afterwards."""

    def __init__(self) -> None:
        self.objects: dict[ObjectKey, Declared] = {}
        self.fixtures: dict[str, FixtureDef] = {}
        self.properties: list[n.Property] = []
        self.headers: dict[str, n.Header | Located] = {}
        self.scenarios: list[n.Scenario] = []
        self.aliases: dict[str, str] = {}
        self.uses: list[tuple[n.Use, set[ObjectKey], set[str]]] = []
        self.called: set[str] = set()
        # What is declared and could not be built: not there, but no undefined name either.
        self.broken: set[str] = set()


class EnvironmentReader:
    """Reads files into environments; one for an analysis run."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._done: dict[str, tuple[Environment, DiagnosticLog]] = {}
        self._open: list[str] = []

    def read(self, parsed: ParsedFile, log: DiagnosticLog) -> Environment:
        """The environment of a file. Diagnostics of used files are in the log too."""
        key = str(parsed.path)
        if key not in self._done:
            own = DiagnosticLog()
            environment = Environment()
            own.extend(parsed.log.sorted())
            if not parsed.log.has_errors:
                self._open.append(key)
                _FileReader(self, parsed, environment, own).run()
                self._open.pop()
            self._done[key] = (environment, own)
        environment, own = self._done[key]
        log.extend(own.sorted())
        return environment

    def used(self, parsed: ParsedFile, span: Span, log: DiagnosticLog) -> Environment | None:
        """The environment of a used file; None after a diagnostic where files use each other in a circle."""
        key = str(parsed.path)
        if key in self._open:
            chain = " → ".join(
                [*(name.rpartition("/")[2] for name in self._open[self._open.index(key) :]), parsed.path.name]
            )
            log.add(
                problems.bad_file(
                    f"files use each other in a circle: {chain}", span, "move what both need into a third file"
                )
            )
            return None
        return self.read(parsed, log)


class _FileReader:
    """One file; private to this module."""

    def __init__(self, reader: EnvironmentReader, parsed: ParsedFile, into: Environment, log: DiagnosticLog) -> None:
        self.reader = reader
        self.parsed = parsed
        self.into = into
        self.log = log

    def run(self) -> None:
        items = self.parsed.tree.items
        for item in items:
            if isinstance(item, n.Use):
                self._use(item)
        for item in items:
            if isinstance(item, n.Fixture):
                self._fixture(item)
        declarer = Declarer(self.into, self.log)
        for item in items:
            match item:
                case n.Decl() | n.Call():
                    declarer.item(item, {}, self.into)
                case n.Header():
                    self._header(item)
                case n.Property():
                    self.into.properties.append(item)
                case n.Scenario():
                    self.into.scenarios.append(item)
                case n.Use() | n.Fixture():
                    pass

    def _header(self, item: n.Header) -> None:
        first = self.into.headers.get(item.keyword)
        if first is not None:
            self.log.add(problems.given_twice(item.keyword, item.span, first.span))
            return
        self.into.headers[item.keyword] = item
        read_header(item, {}, self.log)

    def _fixture(self, item: n.Fixture) -> None:
        name = one_name(item.name, {}, self.log)
        if name is None:
            return
        first = self.into.fixtures.get(name)
        if first is not None and first.home is self.into:
            self.log.add(problems.duplicate("fixture", name, item.name.span, first.node.name.span))
            return
        seen: dict[str, Span] = {}
        for param in item.params:
            if param.name.text in seen:
                self.log.add(problems.duplicate("parameter", param.name.text, param.span, seen[param.name.text]))
            elif not param.name.text.isidentifier():
                self.log.add(
                    problems.bad_name(
                        f"`{param.name.text}` is no parameter name", param.span, "use letters, digits and `_`"
                    )
                )
            seen[param.name.text] = param.span
        self.into.fixtures[name] = FixtureDef(item, self.into)

    # ---- use --------------------------------------------------------------------------------------------------------

    def _use(self, item: n.Use) -> None:
        target = item.target
        path = self.reader.files.locate(target.text, target.quoted, self.parsed, target.span, self.log)
        if path is None:
            return
        shown = shown_beside(path)
        if path.suffix == ".dra":
            parsed = self.reader.files.parsed(path, shown, target.span, self.log)
            if parsed is not None:
                self._use_environment(item, parsed)
            return
        if item.alias is not None:
            self.log.add(problems.bad_file("objects of a manifest keep their names", item.alias.span, "leave `as` out"))
        read = self.reader.files.manifest(path, shown, target.span, self.log)
        if read is not None:
            self._use_manifest(item, read)

    def _use_environment(self, item: n.Use, parsed: ParsedFile) -> None:
        used = self.reader.used(parsed, item.target.span, self.log)
        if used is None:
            return
        prefix = ""
        if item.alias is not None:
            prefix = item.alias.text + "."
            self.into.aliases[item.alias.text] = item.target.text
        for name, fixture in used.fixtures.items():
            self.into.fixtures[prefix + name] = fixture
        for declared in used.objects.values():
            self._take(msgspec.structs.replace(declared, own=False), item.target.span)
        self.into.properties += [prop for prop in used.properties if prop not in self.into.properties]
        self.into.uses.append((item, set(used.objects), {prefix + name for name in used.fixtures}))

    def _use_manifest(self, item: n.Use, read: ReadManifest) -> None:
        self.log.extend(read.log.sorted())
        for configuration in read.manifest.scheduler:
            first = self.into.headers.setdefault(USED_CONFIGURATION, configuration)
            if first is not configuration:
                self.log.add(problems.given_twice(CONFIGURATION_KIND, configuration.span, first.span))
            read_header(configuration, {}, self.log)
        if not read.manifest.objects and not read.manifest.scheduler and not read.log.has_errors:
            kinds = ", ".join(f"{count} {kind}" for kind, count in read.manifest.foreign) or "nothing"
            self.log.add(
                problems.unused(
                    "file", item.target.text, item.target.span, f"it holds no object that is modelled, only {kinds}"
                )
            )
        elif read.manifest.foreign:
            kinds = ", ".join(f"{count} {kind}" for kind, count in read.manifest.foreign)
            self.log.add(
                Diagnostic(
                    code="DRA0407",
                    severity="note",
                    message=f"not modelled and left out: {kinds}",
                    span=item.target.span,
                )
            )
        taken: set[ObjectKey] = set()
        for found in read.manifest.objects:
            declared = manifest_object(found, self.log)
            if declared is not None:
                self._take(declared, item.target.span)
                taken.add(declared.key)
        self.into.uses.append((item, taken, set()))

    def _take(self, declared: Declared, span: Span) -> None:
        first = self.into.objects.get(declared.key)
        if first is not None:
            # The same file used along two ways brings the same object, and manifests that are applied one by one repeat
            # what they share (a Namespace above all); neither is a second declaration.
            if first.span != declared.span and first.object != declared.object:
                self.log.add(
                    problems.duplicate(spoken_kind(declared.key.kind), declared.key.name, declared.span, first.span)
                )
            return
        if len(self.into.objects) >= MAX_OBJECTS:
            self.log.add(problems.bad_file(f"more than {MAX_OBJECTS:,} objects", span))
            return
        self.into.objects[declared.key] = declared


def manifest_object(found: ManifestObject, log: DiagnosticLog) -> Declared | None:
    """An object of a manifest in its v1 form, or None after diagnostics."""
    info = found.info
    members = found.located.value
    assert isinstance(members, Mapping)
    body = Located({k: v for k, v in members.items() if k not in ("kind", "apiVersion")}, found.located.span)
    # Its own version says which fields it has; those who look for places later know the shape of v1.
    as_written = decode(type_in_version(info, found.version), body, log)
    if as_written is None:
        return None
    decoded = to_current(as_written)
    body = lifted(info.name, found.version, body)
    name = found.located.at(("metadata", "name"))
    if not isinstance(name.value, str) or name.key_span is None:
        log.add(Diagnostic(code="DRA0405", message=f"this {info.name} has no `metadata.name`", span=found.located.span))
        return None
    namespace = ""
    if info.namespaced:
        given = found.located.at(("metadata", "namespace"))
        namespace = given.value if isinstance(given.value, str) and given.key_span is not None else "default"
    key = ObjectKey(info.name, namespace, name.value)
    return Declared(key, decoded, body, name.span, own=False, api_version=info.in_version(found.version))


class Declarer:
    """Evaluates declarations and fixture calls into an environment, or into a scenario's own one."""

    def __init__(self, into: Environment, log: DiagnosticLog, *, fuzz: bool = False) -> None:
        self.into = into
        self.log = log
        self.builder = ObjectBuilder(log, fuzz=fuzz)
        self.calls: list[n.Call] = []
        self.total_calls = 0
        self.gave_up = False

    def item(self, item: n.Decl | n.Call, bindings: Bindings, home: Environment) -> list[Declared]:
        """The new objects of a declaration or call; ``home`` knows the fixtures."""
        if isinstance(item, n.Call):
            return self._call(item, bindings, home)
        self.builder.aliases = home.aliases
        built = self.builder.build(item, bindings)
        self.into.broken |= self.builder.broken
        return [declared for declared in built if self._take(declared)]

    def _take(self, declared: Declared) -> bool:
        first = self.into.objects.get(declared.key)
        if first is not None:
            self.log.add(
                problems.duplicate(spoken_kind(declared.key.kind), declared.key.name, declared.span, first.span)
            )
            return False
        if len(self.into.objects) >= MAX_OBJECTS:
            self.log.add(problems.bad_file(f"more than {MAX_OBJECTS:,} objects", declared.span))
            return False
        self.into.objects[declared.key] = declared
        return True

    def _call(self, call: n.Call, bindings: Bindings, home: Environment) -> list[Declared]:
        name = one_name(call.name, bindings, self.log)
        if name is None:
            return []
        fixture = home.fixtures.get(name)
        if fixture is None:
            self.log.add(
                problems.undefined(
                    "fixture", name, call.name.span, home.fixtures, way_out="define it: `fixture NAME(...) { ... }`"
                )
            )
            return []
        home.called.add(name)
        if self.gave_up:
            return []
        self.total_calls += 1
        if self.total_calls > MAX_OBJECTS:
            self.gave_up = True
            self.log.add(problems.bad_call(f"more than {MAX_OBJECTS:,} calls of fixtures", call.span))
            return []
        if len(self.calls) >= MAX_CALLS:
            self.gave_up = True
            message = f"fixtures call each other more than {MAX_CALLS} deep"
            self.log.add(problems.bad_call(message, self.calls[0].span, "does one of them call itself?"))
            return []
        self.calls.append(call)
        result: list[Declared] = []
        rows = self._arguments(call, fixture.node, bindings)
        # Nothing fills holes in a fixture: it does not belong to the fuzz that calls it. Its arguments do.
        fuzz, self.builder.fuzz = self.builder.fuzz, False
        for arguments in rows:
            for item in fixture.node.items:
                result += self._fixture_item(item, arguments, fixture.home)
        self.builder.fuzz = fuzz
        self.calls.pop()
        return result

    def _fixture_item(self, item: n.Item, bindings: Bindings, home: Environment) -> list[Declared]:
        if isinstance(item, n.Decl | n.Call):
            return self.item(item, bindings, home)
        what = {
            n.Header: "a setting",
            n.Use: "`use`",
            n.Fixture: "a fixture",
            n.Scenario: "a scenario",
            n.Property: "a property",
        }
        self.log.add(problems.misplaced(what[type(item)], "a fixture", item.span, "a fixture holds declarations"))
        return []

    def _arguments(self, call: n.Call, fixture: n.Fixture, bindings: Bindings) -> list[dict[str, ParamValue]]:
        """Parameter values for each instance: a range in an argument makes one instance of each name."""
        params = {param.name.text: param for param in fixture.params}
        given: dict[str, list[ParamValue]] = {}
        positional = list(params)
        for arg in call.args:
            name = (
                arg.name.text
                if arg.name is not None
                else (positional[len(given)] if len(given) < len(positional) else None)
            )
            if name is None or name not in params:
                shown = f"`{arg.name.text}`" if arg.name is not None else "so many arguments"
                known = ", ".join(f"`{param}`" for param in params) or "none"
                self.log.add(
                    problems.bad_call(
                        f"fixture `{fixture.name.text}` does not take {shown}",
                        arg.span,
                        f"its parameters: {known}",
                        (Related("defined here", fixture.name.span),),
                    )
                )
                return []
            if name in given:
                self.log.add(problems.bad_call(f"parameter `{name}` is given twice", arg.span))
                return []
            values = self._argument(arg.value, bindings)
            if values is None:
                return []
            given[name] = values
        return self._combine(call, fixture, params, given)

    def _argument(self, value: n.Value, bindings: Bindings) -> list[ParamValue] | None:
        resolved = self.builder.resolve(value, bindings)
        if resolved is None:
            return None
        if isinstance(resolved, n.Word) and not resolved.quoted and "[" in resolved.text:
            expanded: list[Name] = names(resolved, {}, self.log)
            return [n.Word(name.span, name.text) for name in expanded] if expanded else []
        return [resolved]

    def _combine(
        self, call: n.Call, fixture: n.Fixture, params: Mapping[str, n.Param], given: dict[str, list[ParamValue]]
    ) -> list[dict[str, ParamValue]]:
        result: list[dict[str, ParamValue]] = [{}]
        for name, param in params.items():
            values = given.get(name)
            if values is None:
                if param.default is None:
                    self.log.add(
                        problems.bad_call(
                            f"fixture `{fixture.name.text}` needs `{name}`",
                            call.span,
                            f"write `{fixture.name.text}({name}: ...)`",
                            (Related("defined here", param.span),),
                        )
                    )
                    return []
                # A default may speak of the parameters before it.
                plain = Converter(self.log)
                result = [
                    {**bound, name: resolved}
                    for bound in result
                    if (resolved := plain.resolve(param.default, bound)) is not None
                ]
            else:
                result = [{**bound, name: value} for bound in result for value in values]
            if len(result) > MAX_OBJECTS:
                self.log.add(problems.bad_call(f"this call makes more than {MAX_OBJECTS:,} instances", call.span))
                return []
        return result
