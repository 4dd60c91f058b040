"""One object on its way from a declaration: which field goes where, what is filled in."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from dralang.api.base import ApiType
from dralang.api.containers import Container as ContainerType
from dralang.api.kinds import KindInfo
from dralang.api.located import Located
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import NodeStatus
from dralang.api.resourceclaim import ResourceClaimTemplateSpec
from dralang.api.schema import FieldSchema, fields_of
from dralang.check import problems
from dralang.check.expand import Bindings, one_name
from dralang.check.unknown import unknown_field
from dralang.check.values import Converter, misplaced_sugar
from dralang.diagnostics.source import Span
from dralang.syntax import nodes as n

Members: TypeAlias = dict[str, Located]

HOSTNAME: Final = "kubernetes.io/hostname"
_METADATA: Final = ("labels", "annotations", "namespace")
NODE_DEFAULTS: Final[Mapping[str, str]] = {"cpu": "64", "memory": "256Gi", "pods": "110"}
# Which lines that are no fields stand in which kind; for "did you mean".
_SUGAR: Final[Mapping[str, tuple[str, ...]]] = {
    "slice": ("device", "counters"),
    "class": ("where",),
    "claim": ("request", "match", "distinct"),
    "template": ("request", "match", "distinct"),
    "pod": ("claim", "container", "init container", "requests", "limits", "on node"),
    "node": ("taint",),
    "taintrule": ("taint",),
}


class ObjectParts:
    """One object on its way: members of metadata, spec, status and the rest. Used by the handlers below."""

    def __init__(self, builder: Converter, info: KindInfo, bindings: Bindings, base: Located | None) -> None:
        self.builder = builder
        self.log = builder.log
        self.info = info
        self.bindings = bindings
        self.keyword = info.keyword or info.name
        self.metadata: Members = {}
        self.spec: Members = {}
        self.status: Members = {}
        self.root: Members = {}
        self.lists: dict[str, list[Located]] = {}
        self.template: Members = {}
        self.absent: set[str] = set()
        self.has_status = False
        self.base = base
        if base is not None:
            self._start_from(base)

    def _start_from(self, base: Located) -> None:
        for key, entry in entries_of(base).items():
            if key == "metadata":
                self.metadata = {k: v for k, v in entries_of(entry).items() if k in ("labels", "annotations")}
            elif key == "spec":
                self.spec = dict(entries_of(entry))
            elif key != "status":
                self.root[key] = entry
        # What the new body says replaces what the base said, field by field.
        self.inherited = {*self.spec, *self.root}
        for key in list(self.spec):
            self.spec[key] = Located(self.spec[key].value, self.spec[key].span, self.spec[key].key_span)

    @property
    def spec_type(self) -> type[ApiType]:
        """The type whose fields the block's own fields are."""
        fields = fields_of(self.info.type)
        spec = fields["spec"].struct if "spec" in fields else None
        if spec is None:
            return self.info.type
        if self.keyword == "template":
            inner = fields_of(spec)["spec"].struct
            assert inner is not None
            return inner
        return spec

    # ---- fields -----------------------------------------------------------------------------------------------------

    def field(self, entry: n.Field) -> None:
        """Put a field where the API has it."""
        name = one_name(entry.name, self.bindings, self.log)
        if name is None:
            return
        where = f"a {self.keyword}"
        if name in _METADATA:
            shown = self._without_absent(entry) if name == "labels" and self.keyword == "node" else entry
            self.builder.field(shown, ObjectMeta, self.bindings, where, self.metadata)
        elif name in ("capacity", "allocatable") and self.keyword == "node":
            self.builder.field(entry, NodeStatus, self.bindings, where, self.status)
        elif name in ("requests", "limits") and self.keyword == "pod":
            self._pod_resources(name, entry)
        elif name == "metadata":
            self._merge(entry, ObjectMeta, self.metadata)
        elif name == "status":
            status = fields_of(self.info.type)["status"].struct if "status" in fields_of(self.info.type) else None
            if status is None:
                self.log.add(unknown_field(name, entry.name.span, where, fields_of(self.spec_type)))
            else:
                self.has_status = True
                self._merge(entry, status, self.status)
        elif name == "spec" and self.keyword == "template":
            self._merge(entry, ResourceClaimTemplateSpec, self.template)
            if (inner := self.template.pop("spec", None)) is not None:
                way_out = "the fields of the claim stand in the template itself"
                self.log.add(problems.misplaced("`spec`", "`spec`", inner.key_span or inner.span, way_out))
        else:
            self._spec_field(name, entry, where)

    def _spec_field(self, name: str, entry: n.Field, where: str) -> None:
        fields = fields_of(self.spec_type)
        if name not in fields:
            extra = ("capacity", "allocatable") if self.keyword == "node" else ()
            known = {key: None for key in (*extra, *fields, *_METADATA) if key not in ("metadata", "spec")}
            self.log.add(unknown_field(name, entry.name.span, where, known, _SUGAR.get(self.keyword, ())))
            return
        into = self.root if self.spec_type is self.info.type else self.spec
        if self.base is not None and name in self.inherited:
            self.inherited.discard(name)
            del into[name]
        self.builder.field(entry, self.spec_type, self.bindings, where, into)

    def _merge(self, entry: n.Field, struct: type[ApiType], into: Members) -> None:
        value = self.builder.resolve(entry.value, self.bindings)
        if not isinstance(value, n.Block):
            self.log.add(
                problems.wrong_value(
                    f"`{entry.name.text}` takes a block", entry.span, f"write `{entry.name.text} {{ ... }}`"
                )
            )
            return
        for inner in value.entries:
            if isinstance(inner, n.Field):
                self.builder.field(inner, struct, self.bindings, f"`{entry.name.text}`", into)
            else:
                self.log.add(misplaced_sugar(inner, f"`{entry.name.text}`"))

    def _without_absent(self, entry: n.Field) -> n.Field:
        """A node's labels but for those that are null: these are not filled in."""
        if not isinstance(entry.value, n.Block):
            return entry
        kept = []
        for inner in entry.value.entries:
            if isinstance(inner, n.Field) and _is_null(inner.value):
                self.absent.add(inner.name.text)
            else:
                kept.append(inner)
        return n.Field(entry.span, entry.name, n.Block(entry.value.span, tuple(kept)))

    def _pod_resources(self, name: str, entry: n.Field) -> None:
        schema = resource_list_schema(name)
        located = self.builder.member(entry.value, schema, self.bindings)
        if located is not None:
            self.root[f"${name}"] = located

    def append(self, name: str, item: Located | None) -> None:
        """Add an entry to a list of the spec that sugar fills."""
        if item is not None:
            if self.base is not None and name in self.inherited:
                self.inherited.discard(name)
                self.spec.pop(name, None)
            self.lists.setdefault(name, []).append(item)

    # ---- the whole --------------------------------------------------------------------------------------------------

    def assemble(self, name: str, namespace: str, name_span: Span, span: Span) -> Located:
        """The object as located JSON."""
        self.metadata.setdefault("name", Located(name, name_span))
        if self.info.namespaced:
            self.metadata.setdefault("namespace", Located(namespace, name_span))
        self._fill_lists(span)
        if self.keyword == "pod":
            self._finish_pod(span)
        elif self.keyword == "node":
            self._finish_node(name, name_span)
        elif self.keyword == "slice":
            self._finish_slice(name, name_span)
        root: Members = {"metadata": Located(self.metadata, name_span)}
        if self.spec_type is not self.info.type:
            spec = Located(self.spec, span)
            root["spec"] = Located({**self.template, "spec": spec}, span) if self.keyword == "template" else spec
        if self.status or self.has_status:
            root["status"] = Located(self.status, span)
        root.update({key: value for key, value in self.root.items() if not key.startswith("$")})
        return Located(root, span)

    def _fill_lists(self, span: Span) -> None:
        """Sugar's entries stand behind those of the field of the same name."""
        holder = self.spec
        if self.keyword in ("claim", "template") and self.lists:
            given = self.spec.get("devices")
            holder = dict(entries_of(given)) if given is not None else {}
            self.spec["devices"] = Located(holder, span if given is None else given.span)
        for name, items in self.lists.items():
            given = holder.get(name)
            before = given.value if given is not None and isinstance(given.value, tuple) else ()
            whole = items[0].span.to(items[-1].span)
            holder[name] = Located((*before, *items), whole)

    def _finish_node(self, name: str, span: Span) -> None:
        if not is_no_map(self.metadata.get("labels")):
            labels = dict(entries_of(self.metadata["labels"])) if "labels" in self.metadata else {}
            if HOSTNAME not in self.absent:
                labels.setdefault(HOSTNAME, Located(name, span))
            self.metadata["labels"] = Located(labels, span)
        if is_no_map(self.status.get("capacity")) or is_no_map(self.status.get("allocatable")):
            return
        capacity = dict(entries_of(self.status["capacity"])) if "capacity" in self.status else {}
        allocatable = dict(entries_of(self.status["allocatable"])) if "allocatable" in self.status else {}
        for resource, amount in NODE_DEFAULTS.items():
            capacity.setdefault(resource, Located(amount, span))
        capacity = _without_null(capacity)
        for resource, located in capacity.items():
            allocatable.setdefault(resource, located)
        self.status["capacity"] = Located(capacity, span)
        self.status["allocatable"] = Located(_without_null(allocatable), span)

    def _finish_slice(self, name: str, span: Span) -> None:
        """A pool named after the node, or after the slice; its count of slices is filled in by ``check.pools``."""
        if is_no_map(self.spec.get("pool")):
            return
        node = self.spec.get("nodeName")
        pool = dict(entries_of(self.spec["pool"])) if "pool" in self.spec else {}
        named = node.value if node is not None and isinstance(node.value, str) else name
        pool.setdefault("name", Located(named, span))
        pool.setdefault("generation", Located(1, span))
        given = self.spec.get("pool")
        self.spec["pool"] = Located(
            pool, span if given is None else given.span, None if given is None else given.key_span
        )

    def _finish_pod(self, span: Span) -> None:
        containers = self.spec.get("containers")
        if containers is None:
            main: Members = {"name": Located("main", span), "image": Located("pause", span)}
            containers = Located((Located(main, span),), span)
        if not isinstance(containers.value, tuple):
            return
        items = list(containers.value)
        if not any(is_no_map(item) or is_no_map(entries_of(item).get("resources")) for item in items):
            self._first_container_resources(items, span)
            self._every_container_uses_every_claim(items, span)
        self.spec["containers"] = Located(tuple(items), containers.span, containers.key_span)

    def _first_container_resources(self, items: list[Located], span: Span) -> None:
        requests, limits = self.root.get("$requests"), self.root.get("$limits")
        if not items or (requests is None and limits is None):
            return
        first = dict(entries_of(items[0]))
        resources = dict(entries_of(first["resources"])) if "resources" in first else {}
        if requests is not None:
            resources["requests"] = requests
        wanted = dict(entries_of(limits)) if limits is not None else {}
        # The API wants limits equal to requests for extended resources.
        for resource, amount in entries_of(requests).items() if requests is not None else ():
            if "/" in resource:
                wanted.setdefault(resource, amount)
        if wanted:
            resources["limits"] = Located(wanted, span)
        first["resources"] = Located(resources, span)
        items[0] = Located(first, items[0].span)

    def _every_container_uses_every_claim(self, items: list[Located], span: Span) -> None:
        claims = self.spec.get("resourceClaims")
        if claims is None or not isinstance(claims.value, tuple) or "$uses" in self.root:
            return
        if any("claims" in entries_of(entries_of(item).get("resources", item)) for item in items):
            return
        uses = tuple([Located({"name": claim.at(("name",))}, span) for claim in claims.value])
        for index, item in enumerate(items):
            container = dict(entries_of(item))
            resources = dict(entries_of(container["resources"])) if "resources" in container else {}
            resources["claims"] = Located(uses, span)
            container["resources"] = Located(resources, span)
            items[index] = Located(container, item.span)


def entries_of(located: Located) -> Mapping[str, Located]:
    """The members of a located map; empty if it is none."""
    return located.value if isinstance(located.value, Mapping) else {}


def is_no_map(located: Located | None) -> bool:
    """Whether a value stands where a map belongs: it is left as it is, so that reading it says so."""
    return located is not None and located.value is not None and not isinstance(located.value, Mapping)


def _is_null(value: n.Value) -> bool:
    return isinstance(value, n.Word) and not value.quoted and value.text == "null"


def _without_null(members: Members) -> Members:
    """What would be filled in is taken away by a null."""
    return {key: located for key, located in members.items() if located.value is not None}


def resource_list_schema(name: str) -> FieldSchema:
    """The schema of ``requests`` or ``limits``."""
    resources = fields_of(ContainerType)["resources"].struct
    assert resources is not None
    return fields_of(resources)[name]
