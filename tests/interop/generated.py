"""Objects of every kind, drawn from the schema: any field may be given, with values that are hard to write."""

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from dralang.api.affinity import Taint
from dralang.api.base import ApiType
from dralang.api.containers import Container, ContainerResourceClaim, ResourceRequirements
from dralang.api.device import (
    CELDeviceSelector,
    DeviceSelector,
    DeviceTaint,
    DeviceToleration,
    OpaqueDeviceConfiguration,
)
from dralang.api.kinds import KINDS, KindInfo
from dralang.api.nodes import NodeStatus
from dralang.api.pods import PodResourceClaim, PodSpec
from dralang.api.resourceclaim import DeviceClaim, DeviceRequest, ExactDeviceRequest
from dralang.api.resourceslice import Device, ResourcePool, ResourceSliceSpec
from dralang.api.schema import FieldSchema, fields_of
from dralang.interop.importing import LAST_APPLIED
from dralang.values.quantity import parse_quantity

MAX_FIELDS = 4
MAX_DEPTH = 7

WORDS = (
    "gpu", "a100", "gpu.example.com", "gpu.example.com/model", "kubernetes.io/hostname", "worker-1", "Exists",
    "Equal", "ExactCount", "All", "NoSchedule", "any", "all", "first", "of", "device", "for", "with", "container",
    "null", "true", "false", "none", "yes", "n", "~", "", "0", "1", "-1", "007", "1.5", "1e3", "0x1f", "1_000",
    "1.2.3", "v1.2.3", "v1.2.3-rc.1+b", "80Gi", "5m", "50%", "gpu-[0..3]", "batch-*", "${HOME}", "$${x}", "a${",
    "$", "#x", "a # b", "a: b", "`", 'a"b', "\\", "a\nb", " a", "a ", "\n", "\t", "\r", "a\r\nb", "- a", "{}", "[]",
    "*x", "&x", "!x", "%x", "@x", "2026-01-31", "12:30:45", "=", "<<", "..", "a..b", "a.", "a-", "-a", "é",
    "\u2028", "\x85", "\ufeff", "\x00", "\x7f", "\U0001f600", "\ue000", "\xa0", "main", "pause", "default",
    "memory", "cpu", "pods",
)  # fmt: skip
EXPRESSIONS = (
    'device.driver == "gpu.example.com"',
    'device.attributes["x"].numa == 1 && true // 100 % `odd`',
    "a\n  || b",
    "a ==\nnode worker",
    "a\r\n&& b",
    "${x}",
    "",
)
NAMES = st.from_regex(r"[a-z0-9](?:[a-z0-9.-]{0,12}[a-z0-9])?", fullmatch=True)
TEXTS = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    NAMES,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
QUANTITIES = st.sampled_from(
    [
        parse_quantity(t)
        for t in (
            "0",
            "1",
            "-5",
            "500m",
            "80Gi",
            "1e3",
            "1E6",
            "0.5",
            "100n",
            "1Ki",
            "3k",
            "256Gi",
            "64",
            "110",
            "12e-1",
        )
    ]
)
TIMES = st.sampled_from(["2026-01-31T12:00:00Z", "1970-01-01T00:00:00Z"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
INTEGERS = st.sampled_from([0, 1, 2, 8, 10, 300, 1000, -1, 2**31 - 1])
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS,
    "bool": st.booleans(),
    "int32": INTEGERS,
    "int64": INTEGERS | st.sampled_from([2**63 - 1, -(2**63)]),
    "quantity": QUANTITIES,
    "time": TIMES,
    "microtime": st.sampled_from(["2026-01-31T12:00:00.123456Z"]),
    "duration": st.sampled_from(["1h0m0s", "5s"]),
    "byte": st.sampled_from(["", "AAEC", "+/8="]),
    "int-or-string": INTEGERS | TEXTS,
    "raw": JSON,
}


# Fields that have lines of their own are drawn more often than the rest.
FOCUS: dict[type[ApiType], tuple[str, ...]] = {
    PodSpec: ("containers", "initContainers", "resourceClaims", "nodeSelector"),
    Container: ("name", "image", "resources"),
    ResourceRequirements: ("claims", "requests", "limits"),
    ContainerResourceClaim: ("name",),
    PodResourceClaim: ("name", "resourceClaimName"),
    DeviceClaim: ("requests", "constraints", "config"),
    DeviceRequest: ("name", "exactly"),
    ExactDeviceRequest: ("deviceClassName", "count", "selectors", "tolerations"),
    DeviceSelector: ("cel",),
    CELDeviceSelector: ("expression",),
    DeviceToleration: ("key", "operator", "effect"),
    DeviceTaint: ("key", "effect"),
    Taint: ("key", "effect"),
    OpaqueDeviceConfiguration: ("driver", "parameters"),
    ResourceSliceSpec: ("driver", "pool", "devices", "sharedCounters"),
    ResourcePool: ("name", "generation"),
    Device: ("name", "attributes", "capacity"),
    NodeStatus: ("capacity", "allocatable"),
}


@st.composite
def structs(draw: st.DrawFn, api_type: type[ApiType], depth: int = 0) -> ApiType:
    """Some fields of a type, more likely those with lines of their own."""
    schemas = [schema for schema in fields_of(api_type).values() if depth < MAX_DEPTH or schema.struct is None]
    if not schemas:
        return api_type()
    focus = FOCUS.get(api_type, ("metadata", "spec", "status") if depth == 0 else ())
    chosen = {schema.json: schema for schema in schemas if schema.json in focus and draw(st.integers(0, 3))}
    for schema in draw(st.lists(st.sampled_from(schemas), max_size=MAX_FIELDS - len(chosen) if chosen else MAX_FIELDS)):
        chosen[schema.json] = schema
    return api_type(**{schema.attribute: draw(_held(api_type, schema, depth)) for schema in chosen.values()})


# What refers to each other must have a chance to meet.
NAMED: dict[tuple[type[ApiType], str], tuple[str, ...]] = {
    (ContainerResourceClaim, "name"): ("gpu", "nic"),
    (ContainerResourceClaim, "request"): ("", "", "gpu"),
    (PodResourceClaim, "name"): ("gpu", "nic", "nic", ""),
    (Container, "name"): ("main", "main", "train", "container", "a b"),
    (Container, "image"): ("pause", "pause", "", "registry.example.com/train:1.0"),
    (Device, "name"): ("gpu-0", "gpu-1", "gpu-2", "gpu-9", "gpu-10", "gpu-01", "a b-1", "7", ""),
    (ResourceSliceSpec, "driver"): ("gpu.example.com", "nic.example.com"),
    (ResourceSliceSpec, "nodeName"): ("worker-1", "worker-2", ""),
    (ResourcePool, "name"): ("worker-1", "slice-1", ""),
}


def _held(api_type: type[ApiType], schema: FieldSchema, depth: int) -> st.SearchStrategy[Any]:
    if (api_type, schema.json) in NAMED:
        return st.sampled_from(NAMED[api_type, schema.json])
    element = _element(schema, depth)
    if schema.shape == "list":
        return st.lists(element, max_size=3).map(tuple)
    if schema.shape == "map":
        return st.dictionaries(TEXTS, element, max_size=3)
    return element


def _element(schema: FieldSchema, depth: int) -> st.SearchStrategy[Any]:
    if schema.struct is not None:
        return structs(schema.struct, depth + 1)
    if schema.json == "expression":
        return st.sampled_from(EXPRESSIONS)
    if schema.enum:
        return st.sampled_from(schema.enum)
    return SCALARS[schema.format]


@st.composite
def objects(draw: st.DrawFn, info: KindInfo) -> Any:
    """An object of a kind with a name."""
    found: Any = draw(structs(info.type))
    namespace = draw(st.sampled_from(["default", "team-a"])) if info.namespaced else ""
    # What kubectl notes here is left out by import.
    annotations = {key: text for key, text in found.metadata.annotations.items() if key != LAST_APPLIED}
    metadata = replace(found.metadata, name=draw(NAMES), namespace=namespace, annotations=annotations)
    return replace(found, metadata=metadata)


ALL_KINDS = tuple(KINDS.values())


@st.composite
def clusters(draw: st.DrawFn) -> list[Any]:
    """Several objects, slices of common pools among them, no two with one name."""
    kinds = draw(st.lists(st.sampled_from([*ALL_KINDS, *[KINDS["ResourceSlice"]] * 8]), max_size=6))
    found: dict[tuple[str, str, str], Any] = {}
    for info in kinds:
        value = draw(objects(info))
        found[info.name, value.metadata.namespace, value.metadata.name] = value
    return list(found.values()) or [draw(objects(KINDS["Node"]))]
