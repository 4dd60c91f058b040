"""Declarations to API objects: fields put where the API has them, sugar expanded.

In a block a field is looked up in ``spec`` (template: ``spec.spec``; PriorityClass: the object itself); ``labels``,
``annotations`` and ``namespace`` go to the metadata, a node's ``capacity`` and ``allocatable`` to the status;
``metadata`` and ``status`` reach the rest.
"""

from collections.abc import Mapping

from dralang.api.decode import decode
from dralang.api.kinds import KIND_OF_KEYWORD, KindInfo
from dralang.api.located import Located
from dralang.api.schema import fields_of
from dralang.check import problems
from dralang.check.expand import Bindings, Name, names
from dralang.check.parts import ObjectParts
from dralang.check.sugar import SUGAR_HANDLERS
from dralang.check.values import Converter, misplaced_sugar
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.syntax import nodes as n


class ObjectBuilder(Converter):
    """Builds the objects of declarations.

    Attributes:
        broken: names of objects that are declared and could not be built, and of the devices and counter sets in them.
    """

    def __init__(self, log: DiagnosticLog, *, fuzz: bool = False) -> None:
        super().__init__(log, fuzz=fuzz)
        self.broken: set[str] = set()

    def build(self, decl: n.Decl, bindings: Bindings, *, own: bool = True) -> list[Declared]:
        """The objects that a declaration stands for: one for each name of its range."""
        found = (self.build_one(decl, name, own=own) for name in names(decl.name, bindings, self.log))
        return [declared for declared in found if declared is not None]

    def build_one(self, decl: n.Decl, name: Name, *, own: bool = True, base: Located | None = None) -> Declared | None:
        """One object; with ``base`` the declaration's fields replace those of another one (``like``)."""
        info = KIND_OF_KEYWORD[decl.kind]
        namespace, bare = self._split_name(info, name)
        parts = ObjectParts(self, info, name.bindings, base)
        if decl.value is not None:
            self._priority_value(decl, name.bindings, parts)
        if decl.body is not None:
            self._body(decl, decl.body, parts)
        elif decl.kind == "priority" and decl.value is None and base is None:
            self.log.add(problems.wrong_value("a priority needs a value", decl.span, f"write `priority {bare}: 1000`"))
        located = parts.assemble(bare, namespace, name.span, decl.span)
        decoded = decode(info.type, located, self.log)
        if decoded is None:
            self.broken.update((bare, *_names_inside(located)))
            return None
        metadata = located.at(("metadata", "namespace")).value
        if info.namespaced and isinstance(metadata, str):
            namespace = metadata
        return Declared(ObjectKey(info.name, namespace, bare), decoded, located, name.span, own)

    def _split_name(self, info: KindInfo, name: Name) -> tuple[str, str]:
        namespace, slash, bare = name.text.rpartition("/")
        if not slash:
            return ("default" if info.namespaced else ""), name.text
        if not info.namespaced:
            self.log.add(problems.bad_name(f"a {info.name} has no namespace", name.span, f"write `{bare}` alone"))
            return "", bare
        return namespace, bare

    def _priority_value(self, decl: n.Decl, bindings: Bindings, parts: "ObjectParts") -> None:
        if decl.kind != "priority" or decl.value is None:
            way_out = f"write `{decl.kind} {decl.name.text} {{ ... }}`"
            self.log.add(problems.misplaced("a value", f"a {decl.kind}", decl.span, way_out))
            return
        located = self.member(decl.value, fields_of(parts.info.type)["value"], bindings)
        if located is not None:
            parts.root["value"] = located

    def _body(self, decl: n.Decl, body: n.Block, parts: "ObjectParts") -> None:
        for entry in body.entries:
            if isinstance(entry, n.Field):
                parts.field(entry)
            else:
                handler = SUGAR_HANDLERS.get((decl.kind, type(entry)))
                if handler is None:
                    self.log.add(misplaced_sugar(entry, f"a {decl.kind}"))
                else:
                    handler(parts, entry)


def _names_inside(located: Located) -> list[str]:
    """The names of a slice's devices and counter sets."""
    spec = located.at(("spec",)).value
    members = spec if isinstance(spec, Mapping) else {}
    lists = [members[field].value for field in ("devices", "sharedCounters") if field in members]
    found = [entry.at(("name",)).value for entries in lists if isinstance(entries, tuple) for entry in entries]
    return [name for name in found if isinstance(name, str)]
