"""The API server: objects with versions, watches, graceful deletion and ownership.

Objects are immutable values; a write replaces one and tells those who watch its kind. Nobody is called directly: each
watcher gets an entry of the event queue, so that it can be late, paused or restarted.

Source: k8s.io/apiserver registry (BeforeDelete, deleteWithoutFinalizers), kubernetes pkg/registry/core/pod.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dralang.api.defaults import with_defaults
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.disruption import PodDisruptionBudget
from dralang.api.gated import without_gated
from dralang.api.gated_status import gated_claim_status
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import TERMINAL, Pod, PodCondition
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import PodGroup, Workload
from dralang.cluster.admission import (
    PREEMPTS,
    KubernetesObject,
    admit_claim_status,
    admit_node,
    admit_pod,
    admit_rule,
    admit_slice,
    refuse_admin_access,
)
from dralang.cluster.clock import EventQueue, Listener, Phase
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import Journal, JournalEntry
from dralang.cluster.timestamps import format_time, parse_time
from dralang.features import FeatureGates

T = TypeVar("T", bound=KubernetesObject)
Verb: TypeAlias = Literal["create", "update", "delete", "bind"]

NAMESPACED: frozenset[type] = frozenset(
    {Pod, ResourceClaim, ResourceClaimTemplate, PodGroup, Workload, PodDisruptionBudget}
)


_NO_STATUS = ResourceClaimStatus()


class WatchEvent(Struct, frozen=True, gc=False):
    """What a watcher is told: an object was added (no `old`), modified, or deleted (no `new`)."""

    kind: type[Any]
    old: Any
    new: Any


class Contents(Struct, frozen=True):
    """What a store holds at some moment, with what it counts."""

    objects: tuple[Any, ...]
    dependents: dict[str, dict[tuple[type[Any], str, str], None]]
    complete: dict[int, Any]
    suffixes: dict[str, int]
    created: int


def namespace_of(kind: type, metadata: ObjectMeta) -> str:
    """The namespace that an object is stored in."""
    return (metadata.namespace or "default") if kind in NAMESPACED else ""


class ObjectStore:
    """All objects of one cluster. Every component may write, through the methods here only.

    Args:
        events: the clock, and where watchers are told.
        journal: where what happens is written down.
        features: the gates of the API server: what belongs to a feature that is off is forgotten, whoever writes it.
    """

    def __init__(self, events: EventQueue, journal: Journal, features: FeatureGates) -> None:
        self.events = events
        self.journal = journal
        self.features = features
        self.revision = 0
        """Grows with every write."""
        self._objects: dict[type[Any], dict[tuple[str, str], Any]] = {}
        self._listeners: dict[type[Any], list[Listener]] = {}
        self._dependents: dict[str, dict[tuple[type[Any], str, str], None]] = {}
        self._created = 0
        self._suffixes: dict[str, int] = {}
        self._failures: dict[tuple[Verb, str, str, str], int] = {}
        self._complete: dict[int, Any] = {}
        """Specs of claims and templates that have all defaults, by identity; kept alive for that."""
        self.on_write: Callable[[type[Any], Any, Any], None] | None = None
        """Called at once with every write: kind, old, new. For those who judge a run; they must not write."""

    # Reading.

    def get(self, kind: type[T], namespace: str, name: str) -> T | None:
        """The stored object, or None."""
        stored = self._objects.get(kind)
        return None if stored is None else stored.get((namespace, name))

    def objects(self, kind: type[T]) -> list[T]:
        """All objects of a kind, in the order of their creation."""
        stored = self._objects.get(kind)
        return [] if stored is None else list(stored.values())

    def dependents(self, uid: str) -> list[tuple[type[Any], str, str]]:
        """Kind, namespace and name of the objects that name this UID as an owner, in the order of their creation."""
        return list(self._dependents.get(uid, ()))

    @property
    def object_count(self) -> int:
        """How many objects there are."""
        return sum(map(len, self._objects.values()))

    def kinds(self) -> list[type[Any]]:
        """The kinds that have ever been stored, by name."""
        return sorted(self._objects, key=lambda kind: kind.__name__)

    def _kind(self, kind: type[T]) -> dict[tuple[str, str], T]:
        found = self._objects.get(kind)
        if found is None:
            found = self._objects[kind] = {}
        return found

    # As a whole.

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was written or counted so far, and no call is to fail."""
        return not (self.revision or self._suffixes or self._failures)

    def contents(self) -> Contents:
        """Everything, to fill another store with; only of a store in which nothing but creations has happened."""
        objects = [each for stored in self._objects.values() for each in stored.values()]
        return Contents(
            tuple(sorted(objects, key=lambda each: int(each.metadata.resource_version))),
            {uid: dict(owned) for uid, owned in self._dependents.items()},
            dict(self._complete),
            dict(self._suffixes),
            self._created,
        )

    def fill(self, contents: Contents) -> None:
        """Create in this empty store what another one held; whoever watches is told of each object."""
        assert self.is_untouched, "the store is empty"
        self._dependents = {uid: dict(owned) for uid, owned in contents.dependents.items()}
        self._complete = dict(contents.complete)
        self._suffixes = dict(contents.suffixes)
        self._created = contents.created
        for each in contents.objects:
            self.revision += 1
            kind, meta = type(each), each.metadata
            self._kind(kind)[meta.namespace, meta.name] = each
            self._announce(kind, None, each)

    # Watching.

    def subscribe(
        self,
        component: str,
        phase: Phase,
        kinds: Iterable[type[Any]],
        handler: Callable[[WatchEvent], None],
        wants: Callable[[WatchEvent], bool] | None = None,
    ) -> None:
        """Tell `handler` of every later change of these kinds, in the order of the writes.

        Args:
            component: who listens.
            phase: when inside an instant.
            kinds: of which kinds.
            handler: what is told.
            wants: False for a change for which the handler would do nothing; asked when the change is written.
        """
        listener = Listener(component, phase, handler, wants)
        for kind in kinds:
            self._listeners.setdefault(kind, []).append(listener)

    def _announce(self, kind: type[Any], old: object, new: object) -> None:
        if self.on_write is not None:
            self.on_write(kind, old, new)
        listeners = self._listeners.get(kind)
        if listeners:
            self.events.spread(WatchEvent(kind, old, new), listeners)

    # Faults.

    def fail_next(self, verb: Verb, kind: type[Any], namespace: str, name: str, count: int = 1) -> None:
        """Refuse the next `count` requests of this kind for the object."""
        self._failures[verb, kind.__name__, namespace, name] = count

    def _injected(self, verb: Verb, kind: type[Any], namespace: str, name: str) -> ApiError | None:
        key = (verb, kind.__name__, namespace, name)
        left = self._failures.get(key, 0)
        if left == 0:
            return None
        self._failures[key] = left - 1
        return ApiError("InternalError", f"{verb} of {kind.__name__} {name} failed as the scenario demands")

    # Writing.

    def create(self, new: T) -> T | ApiError:
        """Store a new object; a missing name is made from its `generateName`."""
        kind = type(new)
        meta = new.metadata
        namespace = namespace_of(kind, meta)
        name = meta.name or self._generated_name(kind, namespace, meta.generate_name)
        if self._failures and (refused := self._injected("create", kind, namespace, name)):
            return refused
        if (namespace, name) in self._kind(kind):
            return ApiError("AlreadyExists", f'{_plural(kind)} "{name}" already exists')
        admitted: Any = new if self._is_complete(new) else without_gated(new, None, self.features)
        if kind is Pod:
            admitted = admit_pod(admitted, self)
            if isinstance(admitted, ApiError):
                return admitted
        else:
            if (kind is ResourceClaim or kind is ResourceClaimTemplate) and (
                refused := refuse_admin_access(admitted, namespace, self)
            ):
                return refused
            admitted = self._admit(None, admitted)
        self._created += 1
        self.revision += 1
        meta = replace(
            admitted.metadata,
            name=name,
            namespace=namespace,
            uid=meta.uid or f"{kind.__name__.lower()}-{self._created}",
            resource_version=str(self.revision),
            generation=1,
            creation_timestamp=meta.creation_timestamp or format_time(self.events.now),
        )
        stored: T = replace(admitted, metadata=meta)
        self._kind(kind)[namespace, name] = stored
        for owner in meta.owner_references:
            self._dependents.setdefault(owner.uid, {})[kind, namespace, name] = None
        self._announce(kind, None, stored)
        return stored

    def _admit(self, old: Any, new: Any) -> Any:
        """What the API server fills in."""
        kind = type(new)
        if kind is ResourceSlice:
            return admit_slice(new, format_time(self.events.now))
        if kind is DeviceTaintRule:
            return admit_rule(old, new, format_time(self.events.now))
        if kind is ResourceClaim or kind is ResourceClaimTemplate:
            return self._with_defaults(new)
        if kind is PodGroup:
            return with_defaults(new, format_time(self.events.now))
        if kind is PriorityClass:
            return new if new.preemption_policy is not None else replace(new, preemption_policy=PREEMPTS)
        return admit_node(new) if kind is Node and old is None else new

    def _is_complete(self, new: Any) -> bool:
        """Whether the spec of a claim or template is one that was stored before, gates and defaults applied."""
        return bool(self._complete) and id(getattr(new, "spec", None)) in self._complete

    def _with_defaults(self, new: Any) -> Any:
        """A claim or template with its defaults; claims of one template share their spec, so most are known."""
        if self._is_complete(new) and getattr(new, "status", _NO_STATUS).allocation is None:
            return new
        filled = with_defaults(new, format_time(self.events.now))
        if filled.spec == new.spec:
            # What asks for the same is recognised by identity.
            filled = replace(filled, spec=new.spec)
        spec = filled.spec if type(new) is ResourceClaim else filled.spec.spec
        for complete in (spec, filled.spec):
            self._complete[id(complete)] = complete
        return filled

    def _generated_name(self, kind: type[Any], namespace: str, base: str) -> str:
        taken = self._kind(kind)
        while True:
            number = self._suffixes[base] = self._suffixes.get(base, 0) + 1
            name = f"{base}{number:05d}"
            if (namespace, name) not in taken:
                return name

    def update(self, new: T) -> T | ApiError:
        """Replace metadata and spec; the stored status stays. An outdated resource version is a conflict."""
        found = self._current("update", new)
        if isinstance(found, ApiError):
            return found
        kind: type[Any] = type(new)
        old: Any = found
        draft: Any = self._admit(old, without_gated(new, old, self.features))
        changed = hasattr(old, "spec") and draft.spec != old.spec
        meta = replace(
            draft.metadata,
            name=old.metadata.name,
            namespace=old.metadata.namespace,
            uid=old.metadata.uid,
            resource_version=old.metadata.resource_version,
            creation_timestamp=old.metadata.creation_timestamp,
            deletion_timestamp=old.metadata.deletion_timestamp,
            deletion_grace_period_seconds=old.metadata.deletion_grace_period_seconds,
            generation=old.metadata.generation + changed,
        )
        draft = (
            replace(draft, metadata=meta, status=old.status)
            if hasattr(old, "status")
            else replace(draft, metadata=meta)
        )
        if draft == old:
            return found
        if meta.owner_references != old.metadata.owner_references:
            self._move_ownership(kind, old.metadata, meta)
        stored: T = self._put(kind, old, draft)
        if meta.deletion_timestamp is not None and not meta.finalizers and _is_over(kind, meta):
            self._remove(kind, stored)
        return stored

    def update_status(self, new: T) -> T | ApiError:
        """Replace the status alone. An outdated resource version is a conflict."""
        found = self._current("update", new)
        if isinstance(found, ApiError):
            return found
        draft: Any = new
        return self._put_status(type(new), found, draft.status)

    def patch_status(self, kind: type[T], namespace: str, name: str, **fields: object) -> T | ApiError:
        """Replace single fields of the status, whatever the version."""
        found: Any = self.get(kind, namespace, name)
        if found is None:
            return _not_found(kind, name)
        if self._failures and (refused := self._injected("update", kind, namespace, name)):
            return refused
        patched: T | ApiError = self._put_status(kind, found, replace(found.status, **fields))
        return patched

    def _put_status(self, kind: type[T], old: T, status: Any) -> T | ApiError:
        before: Any = old
        if status == before.status:
            return old
        written = replace(before, status=status)
        if kind is ResourceClaim:
            admitted = admit_claim_status(before, gated_claim_status(written, before, self.features))
            if isinstance(admitted, ApiError):
                return admitted
            written = replace(before, status=admitted)
        elif kind is Node:
            written = without_gated(written, before, self.features)
        if written.status is not status and written == old:
            return old
        stored: T = self._put(kind, old, written)
        return stored

    def bind(self, namespace: str, name: str, uid: str, node: str) -> Pod | ApiError:
        """Give a pod its node, as the binding subresource does."""
        pod = self.get(Pod, namespace, name)
        if pod is None or pod.metadata.uid != uid:
            return _not_found(Pod, name)
        if self._failures and (refused := self._injected("bind", Pod, namespace, name)):
            return refused
        if pod.metadata.deletion_timestamp is not None:
            return ApiError("Conflict", f"pod {name} is being deleted, cannot be assigned to a host")
        if pod.spec.node_name:
            return ApiError("Conflict", f'pod {name} is already assigned to node "{pod.spec.node_name}"')
        conditions = with_condition(pod.status.conditions, PodCondition(type="PodScheduled", status="True"))
        bound = replace(
            pod,
            spec=replace(pod.spec, node_name=node),
            status=replace(pod.status, conditions=conditions, nominated_node_name=""),
        )
        stored: Pod = self._put(Pod, pod, bound)
        return stored

    def delete(
        self, kind: type[T], namespace: str, name: str, *, uid: str = "", grace_seconds: int | None = None
    ) -> ApiError | None:
        """Delete an object: at once, or, with finalizers or a grace period, after them.

        Args:
            kind: its type.
            namespace: its namespace, empty for a cluster-wide kind.
            name: its name.
            uid: if given, only an object with this UID.
            grace_seconds: of a pod: instead of its own grace period.
        """
        old: Any = self.get(kind, namespace, name)
        if old is None:
            return _not_found(kind, name)
        if uid and old.metadata.uid != uid:
            return ApiError("Conflict", f"the UID in the precondition ({uid}) does not match the UID in record")
        if self._failures and (refused := self._injected("delete", kind, namespace, name)):
            return refused
        meta: ObjectMeta = old.metadata
        end = self.events.now
        if meta.deletion_timestamp is not None and meta.deletion_grace_period_seconds:
            shorter = _shortened(meta, grace_seconds, end)
            if shorter is None:
                return None
            grace, end = shorter
        else:
            grace = _grace_seconds(old, grace_seconds) if kind is Pod else 0
            end += grace * 1000
        if grace == 0 and not meta.finalizers:
            self._remove(kind, old)
            return None
        if meta.deletion_timestamp is not None and not meta.deletion_grace_period_seconds:
            return None
        meta = replace(meta, deletion_timestamp=format_time(end), deletion_grace_period_seconds=grace)
        self._put(kind, old, replace(old, metadata=meta))
        self._record(
            kind, meta, "Terminating", f"is being deleted, grace period {grace}s" if kind is Pod else "is being deleted"
        )
        return None

    def _current(self, verb: Verb, new: T) -> T | ApiError:
        kind = type(new)
        meta = new.metadata
        namespace = namespace_of(kind, meta)
        old = self.get(kind, namespace, meta.name)
        if old is None or (meta.uid and old.metadata.uid != meta.uid):
            return _not_found(kind, meta.name)
        if self._failures and (refused := self._injected(verb, kind, namespace, meta.name)):
            return refused
        if meta.resource_version and meta.resource_version != old.metadata.resource_version:
            text = "the object has been modified; please apply your changes to the latest version and try again"
            return ApiError("Conflict", f'Operation cannot be fulfilled on {_plural(kind)} "{meta.name}": {text}')
        return old

    def _put(self, kind: type[Any], old: Any, draft: Any) -> Any:
        self.revision += 1
        meta = replace(draft.metadata, resource_version=str(self.revision))
        stored = replace(draft, metadata=meta)
        self._objects[kind][meta.namespace, meta.name] = stored
        self._announce(kind, old, stored)
        return stored

    def _remove(self, kind: type[Any], old: Any) -> None:
        self.revision += 1
        meta = old.metadata
        del self._objects[kind][meta.namespace, meta.name]
        for owner in meta.owner_references:
            self._dependents[owner.uid].pop((kind, meta.namespace, meta.name), None)
        self._record(kind, meta, "Deleted", "is gone")
        self._announce(kind, old, None)

    def _move_ownership(self, kind: type[Any], old: ObjectMeta, new: ObjectMeta) -> None:
        key = (kind, old.namespace, old.name)
        for owner in old.owner_references:
            self._dependents[owner.uid].pop(key, None)
        for owner in new.owner_references:
            self._dependents.setdefault(owner.uid, {})[key] = None

    def _record(self, kind: type[Any], meta: ObjectMeta, reason: str, message: str) -> None:
        entry = JournalEntry(self.events.now, "api-server", kind.__name__, meta.namespace, meta.name, reason, message)
        self.journal.record(entry)


def with_condition(conditions: tuple[PodCondition, ...], new: PodCondition) -> tuple[PodCondition, ...]:
    """The conditions with the one of this type replaced, or added at the end."""
    kind = new.type
    if kind not in [each.type for each in conditions]:
        return (*conditions, new)
    return tuple([new if each.type == kind else each for each in conditions])


def _is_over(kind: type[Any], meta: ObjectMeta) -> bool:
    return kind is not Pod or not meta.deletion_grace_period_seconds


def _grace_seconds(pod: Pod, asked: int | None) -> int:
    if not pod.spec.node_name or pod.status.phase in TERMINAL:
        return 0
    own = pod.spec.termination_grace_period_seconds
    grace = asked if asked is not None else (own if own is not None else 0)
    return grace if grace >= 0 else 1


def _shortened(meta: ObjectMeta, asked: int | None, now: int) -> tuple[int, int] | None:
    """The grace period of a deletion that is under way, and its end; None if it stays: it can only get shorter.

    What the pod has come to in the meantime does not matter, nor does its own grace period.

    Source: kubernetes staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go (BeforeDelete).
    """
    pending = meta.deletion_grace_period_seconds or 0
    if asked is not None and asked < 0:
        asked = 1
    if asked is None or asked >= pending:
        return None
    assert meta.deletion_timestamp is not None, "it is being deleted"
    end = parse_time(meta.deletion_timestamp) + (asked - pending) * 1000
    return (min(asked, 1), now) if end < now else (asked, end)


def _plural(kind: type[Any]) -> str:
    name = kind.__name__.lower()
    return f"{name}es" if name.endswith("s") else f"{name}s"


def _not_found(kind: type[Any], name: str) -> ApiError:
    return ApiError("NotFound", f'{_plural(kind)} "{name}" not found')
