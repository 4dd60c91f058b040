"""The kinds: which type, group, versions and scope each has.

Source: the API groups that a 1.37 API server serves; `.dra` keywords as in the language reference.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.disruption import PodDisruptionBudget
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.resourceslice import ResourceSlice
from dralang.api.v1beta1 import ResourceClaimTemplateV1beta1, ResourceClaimV1beta1, ResourceSliceV1beta1
from dralang.api.workloads import PodGroup, Workload

RESOURCE_GROUP = "resource.k8s.io"
SCHEDULING_GROUP = "scheduling.k8s.io"
POLICY_GROUP = "policy"


class KindInfo(Struct, frozen=True):
    """A kind.

    Attributes:
        name: as in ``kind:``.
        type: its Python type.
        group: its API group; empty for the core group.
        versions: versions of the group in which it can be read; the first one is that of the Python type.
        namespaced: whether its objects live in a namespace.
        plural: as in URLs and in `kubectl get`.
        keyword: the word that declares it in `.dra` files, if there is one.
        gate: the feature gate without which its API does not exist.
    """

    name: str
    type: type[ApiType]
    group: str
    versions: tuple[str, ...]
    namespaced: bool
    plural: str
    keyword: str | None = None
    gate: str | None = None

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` of the version in which objects are held and written."""
        return self.in_version(self.versions[0])

    def in_version(self, version: str) -> str:
        """The ``apiVersion`` of one of its versions."""
        return f"{self.group}/{version}" if self.group else version


_V1 = ("v1",)


def _resource(
    kind: type[ApiType], plural: str, keyword: str | None, *versions: str, namespaced: bool = False
) -> KindInfo:
    return KindInfo(kind.__name__, kind, RESOURCE_GROUP, versions, namespaced, plural, keyword)


_ALL = (
    _resource(ResourceSlice, "resourceslices", "slice", "v1", "v1beta2", "v1beta1"),
    _resource(DeviceClass, "deviceclasses", "class", "v1", "v1beta2", "v1beta1"),
    _resource(ResourceClaim, "resourceclaims", "claim", "v1", "v1beta2", "v1beta1", namespaced=True),
    _resource(ResourceClaimTemplate, "resourceclaimtemplates", "template", "v1", "v1beta2", "v1beta1", namespaced=True),
    _resource(DeviceTaintRule, "devicetaintrules", "taintrule", "v1", "v1beta2", "v1alpha3"),
    _resource(ResourcePoolStatusRequest, "resourcepoolstatusrequests", "poolrequest", "v1alpha3"),
    KindInfo("Pod", Pod, "", _V1, namespaced=True, plural="pods", keyword="pod"),
    KindInfo("Node", Node, "", _V1, namespaced=False, plural="nodes", keyword="node"),
    KindInfo("Namespace", Namespace, "", _V1, namespaced=False, plural="namespaces", keyword="namespace"),
    KindInfo(
        "PriorityClass",
        PriorityClass,
        SCHEDULING_GROUP,
        _V1,
        namespaced=False,
        plural="priorityclasses",
        keyword="priority",
    ),
    KindInfo(
        "PodGroup",
        PodGroup,
        SCHEDULING_GROUP,
        ("v1beta1",),
        namespaced=True,
        plural="podgroups",
        keyword="podgroup",
        gate="GenericWorkload",
    ),
    KindInfo(
        "Workload",
        Workload,
        SCHEDULING_GROUP,
        ("v1beta1",),
        namespaced=True,
        plural="workloads",
        keyword="workload",
        gate="GenericWorkload",
    ),
    KindInfo(
        "PodDisruptionBudget",
        PodDisruptionBudget,
        POLICY_GROUP,
        _V1,
        namespaced=True,
        plural="poddisruptionbudgets",
        keyword="pdb",
    ),
)

_OLDER_TYPES: Mapping[tuple[str, str], type[ApiType]] = MappingProxyType(
    {
        ("ResourceSlice", "v1beta1"): ResourceSliceV1beta1,
        ("ResourceClaim", "v1beta1"): ResourceClaimV1beta1,
        ("ResourceClaimTemplate", "v1beta1"): ResourceClaimTemplateV1beta1,
    }
)

KINDS: Mapping[str, KindInfo] = MappingProxyType({info.name: info for info in _ALL})
"""All kinds, by name."""

KIND_OF_TYPE: Mapping[type[ApiType], KindInfo] = MappingProxyType({info.type: info for info in _ALL})
KIND_OF_KEYWORD: Mapping[str, KindInfo] = MappingProxyType({info.keyword: info for info in _ALL if info.keyword})

TOP_LEVEL = frozenset({*KIND_OF_TYPE, *_OLDER_TYPES.values()})
"""The types whose JSON form has ``apiVersion`` and ``kind``."""


_SINCE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("DeviceTaintRule", "v1"): "1.37",
        ("DeviceTaintRule", "v1beta2"): "1.36",
        ("ResourcePoolStatusRequest", "v1alpha3"): "1.36",
        ("PodGroup", "v1beta1"): "1.37",
        ("Workload", "v1beta1"): "1.37",
    }
)
_DEPRECATED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"v1beta1": ("1.35", "1.38"), "v1beta2": ("1.36", "1.39"), "v1alpha3": ("1.36", "1.39")}
)


def is_served(info: KindInfo, version: str, kubernetes: str) -> bool:
    """Whether a version of Kubernetes has a kind in a version of its API, gates aside."""
    if version not in info.versions or _SINCE.get((info.name, version), "") > kubernetes:
        return False
    removed = deprecation(info, version)
    return removed is None or kubernetes < removed[1]


def deprecation(info: KindInfo, version: str) -> tuple[str, str] | None:
    """The versions of Kubernetes in which an older version of a kind is deprecated, and gone."""
    older = info.group == RESOURCE_GROUP and version != info.versions[0]
    return _DEPRECATED.get(version) if older else None


def type_in_version(info: KindInfo, version: str) -> type[ApiType]:
    """The Python type of a kind in one of its versions; most versions share one."""
    return _OLDER_TYPES.get((info.name, version), info.type)


def split_api_version(api_version: str) -> tuple[str, str]:
    """Group and version of an ``apiVersion``; the core group is empty."""
    group, slash, version = api_version.rpartition("/")
    return (group, version) if slash else ("", api_version)
