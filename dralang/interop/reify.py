"""API objects as declarations: the inverse of ``check.objects``.

What elaboration would fill in by itself is left out where it comes back the same, and taken away (``null``) where the
object does not have it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from dralang.api.base import ApiType
from dralang.api.containers import Container, ResourceRequirements
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.kinds import KIND_OF_TYPE, KindInfo
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod, PodSpec
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.api.schema import FieldSchema, fields_of
from dralang.check.parts import HOSTNAME, NODE_DEFAULTS
from dralang.interop import sugar, words
from dralang.interop.fields import block, entries_of, field, write_field
from dralang.interop.words import NOWHERE, CannotWriteError
from dralang.syntax import nodes as n

_T = TypeVar("_T", bound=ApiType)
PoolKey: TypeAlias = tuple[str, str, int]
"""Driver, pool and generation."""

ORDER: Final = (
    "Namespace",
    "Node",
    "PriorityClass",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Workload",
    "PodGroup",
    "PodDisruptionBudget",
    "Pod",
    "ResourcePoolStatusRequest",
)
"""The kinds in the order in which a reader wants to meet them: what others refer to comes first."""

_IN_BODY: Final = frozenset({"name", "namespace", "labels", "annotations"})
DEFAULT_CONTAINER: Final = "main"
_NOTHING: Final[frozenset[str]] = frozenset()
# A body's fields stand in one bracket.
_BODY: Final = 1


def ordered(objects: Iterable[_T]) -> list[_T]:
    """Objects by kind; those of a kind stay in their order."""
    rank = {kind: index for index, kind in enumerate(ORDER)}
    return sorted(objects, key=lambda value: rank[KIND_OF_TYPE[type(value)].name])


def pool_sizes(objects: Iterable[ApiType]) -> Mapping[PoolKey, int]:
    """How many slices there are of each pool."""
    return Counter([_pool_key(value) for value in objects if isinstance(value, ResourceSlice)])


def reify(value: Any, sizes: Mapping[PoolKey, int]) -> n.Decl:
    """The declaration of an object, whose tree the formatter can print.

    Args:
        value: an object of a kind that has a keyword.
        sizes: the slices that will be declared with it, as ``pool_sizes`` counts them.

    Raises:
        CannotWriteError: it holds something that the language has no form for.
    """
    info = KIND_OF_TYPE[type(value)]
    meta: ObjectMeta = value.metadata
    write = _BODIES.get(type(value))
    if isinstance(value, ResourceSlice):
        body = _slice(value, sizes)
    else:
        body = _plain(value) if write is None else write(value)
    short, rest = _metadata(info, meta)
    entries = [*short, *body, *rest]
    amount = words.number(value.value) if isinstance(value, PriorityClass) else None
    assert info.keyword is not None
    return n.Decl(NOWHERE, info.keyword, _name(info, meta), amount, block(entries) if entries else None)


def _name(info: KindInfo, meta: ObjectMeta) -> n.Word:
    if not meta.name or "/" in meta.name or "/" in meta.namespace:
        what = "an empty name" if not meta.name else f"`{meta.namespace or meta.name}`, which is no name"
        error = CannotWriteError(f"a declaration cannot have {what}")
        error.steps += ["name", "metadata"]
        raise error
    if info.namespaced and meta.namespace not in ("", "default"):
        return words.name(f"{meta.namespace}/{meta.name}")
    return words.name(meta.name)


def _metadata(info: KindInfo, meta: ObjectMeta) -> tuple[list[n.Entry], list[n.Entry]]:
    """What the name does not say: what stands in the body itself, and what stands in ``metadata { ... }``."""
    with _at("metadata"):
        rest = entries_of(meta, _BODY + 1, _IN_BODY)
        body: list[n.Entry] = [] if not meta.annotations else [write_field(meta, "annotations", _BODY)]
    if meta.namespace and not info.namespaced:
        body.insert(0, field("namespace", words.value(meta.namespace)))
    labels: list[n.Entry] = [field(key, words.value(text)) for key, text in _shown_labels(info, meta).items()]
    if info.type is Node and HOSTNAME not in meta.labels:
        labels.append(field(HOSTNAME, words.NULL))
    if labels:
        body.insert(0, field("labels", block(labels)))
    return body, [field("metadata", block(rest))] if rest else []


def _shown_labels(info: KindInfo, meta: ObjectMeta) -> Mapping[str, str]:
    if info.type is not Node or meta.labels.get(HOSTNAME) != meta.name:
        return meta.labels
    return {key: text for key, text in meta.labels.items() if key != HOSTNAME}


class _at:  # noqa: N801  # reads like a word: `with _at("spec")`
    """Adds a step to the path of what cannot be written inside."""

    def __init__(self, *path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, CannotWriteError):
            error.steps += reversed(self.path)


def _spec(value: Any, without: frozenset[str] = _NOTHING) -> list[n.Entry]:
    with _at("spec"):
        return entries_of(value.spec, _BODY, without)


def _status(value: Any, without: frozenset[str] = _NOTHING) -> list[n.Entry]:
    if value.status is None:
        return []
    with _at("status"):
        entries = entries_of(value.status, _BODY + 1, without)
    given = _fields(value)["status"].nullable
    return [field("status", block(entries))] if entries or given else []


def _fields(value: ApiType) -> Mapping[str, FieldSchema]:
    return fields_of(type(value))


def _plain(value: Any) -> list[n.Entry]:
    """A kind without sugar."""
    return [*_spec(value), *(_status(value) if "status" in _fields(value) else [])]


# ---- one kind after the other ---------------------------------------------------------------------------------------


def _priority(value: PriorityClass) -> list[n.Entry]:
    return entries_of(value, _BODY, frozenset({"metadata", "value"}))


def _class(value: DeviceClass) -> list[n.Entry]:
    with _at("spec"):
        selectors = sugar.lines("selectors", value.spec.selectors, sugar.where, _BODY)
    return [*selectors, *_spec(value, frozenset({"selectors"}))]


def _taint_rule(value: DeviceTaintRule) -> list[n.Entry]:
    taint = sugar.taint(value.spec.taint, _BODY)
    if taint is None:
        return [*_spec(value), *_status(value)]
    return [*_spec(value, frozenset({"taint"})), taint, *_status(value)]


def _claim(value: ResourceClaim) -> list[n.Entry]:
    with _at("spec", "devices"):
        devices = sugar.device_claim(value.spec.devices, _BODY)
    return [*devices, *_status(value)]


def _template(value: ResourceClaimTemplate) -> list[n.Entry]:
    with _at("spec"):
        with _at("spec", "devices"):
            devices = sugar.device_claim(value.spec.spec.devices, _BODY)
        rest = entries_of(value.spec, _BODY + 1, frozenset({"spec"}))
    return [*devices, field("spec", block(rest))] if rest else devices


def _node(value: Node) -> list[n.Entry]:
    status = value.status
    with _at("spec"):
        taints = sugar.lines("taints", value.spec.taints, sugar.taint, _BODY)
        spec = entries_of(value.spec, _BODY, frozenset({"taints"}))
    capacity = {key: str(amount) for key, amount in status.capacity.items()}
    allocatable = {key: str(amount) for key, amount in status.allocatable.items()}
    return [
        *_resource_list("capacity", capacity, NODE_DEFAULTS),
        *_resource_list("allocatable", allocatable, capacity),
        *spec,
        *taints,
        *_status(value, frozenset({"capacity", "allocatable"})),
    ]


def _resource_list(name: str, given: Mapping[str, str], filled_in: Mapping[str, str]) -> list[n.Entry]:
    """Amounts that differ from those that are filled in; what is filled in and must not be there is null."""
    entries: list[n.Entry] = [
        field(key, words.number(amount)) for key, amount in given.items() if filled_in.get(key) != amount
    ]
    entries += [field(key, words.NULL) for key in filled_in if key not in given]
    return [field(name, block(entries))] if entries else []


def _pool_key(value: ResourceSlice) -> PoolKey:
    pool = value.spec.pool
    return value.spec.driver, pool.name, pool.generation


def _slice(value: ResourceSlice, sizes: Mapping[PoolKey, int]) -> list[n.Entry]:
    spec = value.spec
    pool: list[n.Entry] = []
    if spec.pool.name != (value.metadata.name if spec.node_name is None else spec.node_name):
        pool.append(field("name", words.value(spec.pool.name)))
    if spec.pool.generation != 1:
        pool.append(field("generation", words.number(spec.pool.generation)))
    if spec.pool.resource_slice_count != sizes.get(_pool_key(value)):
        pool.append(field("resourceSliceCount", words.number(spec.pool.resource_slice_count)))
    with _at("spec"):
        rest = entries_of(spec, _BODY, frozenset({"pool", "sharedCounters", "devices"}))
        counters = sugar.lines("sharedCounters", spec.shared_counters, sugar.counters, _BODY)
        devices = sugar.devices(spec.devices, _BODY)
    return [*rest, *([field("pool", block(pool))] if pool else []), *counters, *devices]


def _pod(value: Pod) -> list[n.Entry]:
    spec = value.spec
    without = {"containers", "initContainers", "resourceClaims"}
    node = spec.node_selector.get(HOSTNAME)
    on_node: list[n.Entry] = []
    if node is not None:
        without.add("nodeSelector")
        others: list[n.Entry] = [field(k, words.value(v)) for k, v in spec.node_selector.items() if k != HOSTNAME]
        on_node = [field("nodeSelector", block(others))] if others else []
        on_node.append(n.OnNode(NOWHERE, words.name(node)))
    with _at("spec"):
        entries = [
            *entries_of(spec, _BODY, frozenset(without)),
            *on_node,
            *sugar.lines("resourceClaims", spec.resource_claims, sugar.pod_claim, _BODY),
            *_containers(spec),
        ]
    return [*entries, *_status(value)]


def _containers(spec: PodSpec) -> list[n.Entry]:
    init_uses, uses = sugar.uses(spec.init_containers), sugar.uses(spec.containers)
    every = [(claim.name, "") for claim in spec.resource_claims]
    # Without a line about it, and only then, every container uses every claim.
    unsaid = not any(init_uses) and all(found == every for found in uses) and all(name for name, _ in every)
    entries: list[n.Entry] = [sugar.container(item, _BODY, init=True, claims=True) for item in spec.init_containers]
    if not spec.containers:
        return [*entries, field("containers", n.ListValue(NOWHERE, ()))]
    made = _made_container(spec.containers) if unsaid else None
    if made is not None:
        return [*entries, *made]
    written = [sugar.container(item, _BODY, init=False, claims=not unsaid) for item in spec.containers]
    if every and not any(init_uses) and not any(uses):
        written[0] = _using_nothing(written[0])
    return [*entries, *written]


def _made_container(containers: Sequence[Container]) -> list[n.Entry] | None:
    """The resources of a pod whose only container is the one that a pod without containers gets."""
    first = containers[0]
    plain = replace(first, resources=ResourceRequirements())
    if len(containers) > 1 or plain != Container(name=DEFAULT_CONTAINER, image=sugar.DEFAULT_IMAGE):
        return None
    requests = {key: str(amount) for key, amount in first.resources.requests.items()}
    limits = {key: str(amount) for key, amount in first.resources.limits.items()}
    copied = {key: amount for key, amount in requests.items() if "/" in key}
    if not copied.keys() <= limits.keys():
        return None
    return [*_resource_list("requests", requests, {}), *_resource_list("limits", limits, copied)]


def _using_nothing(container: n.Container) -> n.Container:
    """A container that says that it uses no claim; that of the pod's other containers is then said too."""
    body = () if container.body is None else container.body.entries
    none = field("resources", block([field("claims", n.ListValue(NOWHERE, ()))]))
    return n.Container(NOWHERE, container.init, container.name, block([none, *body]))


_BODIES: Final[Mapping[type[ApiType], Callable[[Any], list[n.Entry]]]] = MappingProxyType(
    {
        PriorityClass: _priority,
        DeviceClass: _class,
        DeviceTaintRule: _taint_rule,
        ResourceClaim: _claim,
        ResourceClaimTemplate: _template,
        Node: _node,
        Pod: _pod,
    }
)
