"""What one Kubernetes version's allocator does: features, variant and quirks, as data.

The scheduler of a cluster has three allocator implementations and uses the first whose features cover the enabled
ones. A profile is the outcome of that choice together with the known faults ("quirks") of the version, each of which
can be switched off. Nothing outside this module asks for a version number.

Source: k8s.io/dynamic-resource-allocation structured/allocator.go, structured/internal/types.go.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from dralang.allocator.quirks import QUIRKS

VariantName = Literal["stable", "incubating", "experimental"]

_GATES = {
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable_devices",
    "DRADeviceTaints": "device_taints",
    "DRADeviceBindingConditions": "binding_conditions",
    "DRAConsumableCapacity": "consumable_capacity",
    "DRAFractionalCapacityRange": "fractional_capacity_range",
    "DRAListTypeAttributes": "list_type_attributes",
    "DRAOptionalNodeOperations": "optional_node_operations",
    "DRADerivedAttributes": "derived_attributes",
    "DRADeviceCompatibilityGroups": "compatibility_groups",
}
"""Feature gate to field of ``AllocatorFeatures``."""


class AllocatorFeatures(Struct, frozen=True, kw_only=True):
    """The optional features of the allocator; all off unless given."""

    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    binding_conditions: bool = False
    consumable_capacity: bool = False
    fractional_capacity_range: bool = False
    list_type_attributes: bool = False
    optional_node_operations: bool = False
    derived_attributes: bool = False
    compatibility_groups: bool = False

    def enabled(self) -> frozenset[str]:
        """The names of the fields that are on."""
        return frozenset(name for name in self.__struct_fields__ if getattr(self, name))


def features_of_gates(gates: Mapping[str, bool]) -> AllocatorFeatures:
    """The allocator's features for a set of feature gates; a gate that is not listed is off.

    Binding conditions also need DRAResourceClaimDeviceStatus, but only where that gate is listed at all.
    """
    chosen = {field: gates.get(gate, False) for gate, field in _GATES.items()}
    chosen["binding_conditions"] = chosen["binding_conditions"] and gates.get("DRAResourceClaimDeviceStatus", True)
    return AllocatorFeatures(**chosen)


def gates_of(features: AllocatorFeatures) -> tuple[str, ...]:
    """The feature gates that are on."""
    return tuple([gate for gate, field in _GATES.items() if getattr(features, field)])


class Variant(Struct, frozen=True):
    """One of a version's implementations.

    Attributes:
        name: what upstream calls it.
        supports: the features it knows.
        lacks: behaviour of the newest implementation that it does not have, by name; looked up where it is modelled.
    """

    name: VariantName
    supports: frozenset[str]
    lacks: frozenset[str] = frozenset()


_FOUR = frozenset({"admin_access", "prioritized_list", "partitionable_devices", "device_taints"})
_SHARES = frozenset({"binding_conditions", "consumable_capacity"})
_FRACTIONS = frozenset({"fractional_capacity_range"})
_LISTS = frozenset({"list_type_attributes"})
_ALPHA_137 = frozenset({"optional_node_operations", "derived_attributes", "compatibility_groups"})

# What only the experimental implementation has got.
_UNLIKE_EXPERIMENTAL = frozenset(
    {
        "late pools",
        "distinct attributes",
        "capacity requests",
        "sharing in expressions",
        "binding to the node",
        "tried node in selectors",
    }
)
# What the stable implementation of 1.36 and 1.37 has not got from the other two.
_STABLE = _UNLIKE_EXPERIMENTAL | {
    "relevance of counter slices",
    "node slices first",
    "sorted pools",
    "sorted slices",
}
# What came with 1.37.
_BEFORE_137 = frozenset(
    {
        "node operations",
        "compatibility groups",
        "derived attributes",
        "cleared configuration",
        "format of the step",
        "devices in errors",
    }
)
# What came with 1.36.
_BEFORE_136 = _BEFORE_137 | {"node slices first", "sorted pools", "sorted slices", "combinations"}
# What 1.34, and the stable implementation of 1.35, has not got.
_COUNTERS_PER_SLICE = frozenset({"pool counters", "result tolerations"})
_BEFORE_135 = _BEFORE_136 | _COUNTERS_PER_SLICE | {"second look", "skipped bad pools"}

_VARIANTS: dict[str, tuple[Variant, ...]] = {
    "1.34": (
        Variant("stable", frozenset(), _BEFORE_135 | _UNLIKE_EXPERIMENTAL),
        Variant("incubating", _FOUR, _BEFORE_135 | _UNLIKE_EXPERIMENTAL),
        Variant("experimental", _FOUR | _SHARES, _BEFORE_135),
    ),
    "1.35": (
        Variant("stable", frozenset(), _BEFORE_136 | _COUNTERS_PER_SLICE | _UNLIKE_EXPERIMENTAL),
        Variant("incubating", _FOUR, _BEFORE_136 | _UNLIKE_EXPERIMENTAL | {"relevance of counter slices"}),
        Variant("experimental", _FOUR | _SHARES, _BEFORE_136 | {"relevance of counter slices"}),
    ),
    "1.36": (
        Variant("stable", _FOUR, _BEFORE_137 | _STABLE),
        Variant("incubating", _FOUR | _SHARES, _BEFORE_137 | {"relevance of counter slices"}),
        Variant("experimental", _FOUR | _SHARES | _LISTS, _BEFORE_137 | {"relevance of counter slices"}),
    ),
    "1.37": (
        Variant("stable", _FOUR, _STABLE),
        Variant("incubating", _FOUR | _SHARES | _FRACTIONS),
        Variant("experimental", _FOUR | _SHARES | _FRACTIONS | _LISTS | _ALPHA_137),
    ),
    "1.38": (
        Variant("stable", _FOUR | _SHARES | _FRACTIONS, frozenset({"bare constraint names"})),
        Variant("incubating", _FOUR | _SHARES | _FRACTIONS | _LISTS | _ALPHA_137, frozenset({"bare constraint names"})),
        Variant(
            "experimental", _FOUR | _SHARES | _FRACTIONS | _LISTS | _ALPHA_137, frozenset({"bare constraint names"})
        ),
    ),
}

VERSIONS: tuple[str, ...] = tuple(_VARIANTS)


class AllocatorProfile(Struct, frozen=True, kw_only=True):
    """Everything the rules ask about version, gates and quirks.

    Attributes:
        version: the Kubernetes minor version, such as ``1.37``.
        variant: which implementation answers.
        features: what is on.
        supports: see ``Variant``.
        lacks: see ``Variant``.
        quirks: the names of the faults that are reproduced.
        rotation: where the order of the pools is random, how far it is turned from the order in which they are met,
            which is the likeliest.
    """

    version: str
    variant: VariantName
    features: AllocatorFeatures
    supports: frozenset[str]
    lacks: frozenset[str]
    quirks: frozenset[str]
    rotation: int = 0

    @property
    def knows_node_operations(self) -> bool:
        """The implementation looks at ``skipNodeOperations``."""
        return "optional_node_operations" in self.supports

    def has(self, quirk: str) -> bool:
        """Whether this fault is reproduced."""
        return quirk in self.quirks


class Rules:
    """What the search asks of a profile, looked up once.

    Attributes:
        profile: the profile.
        capacity: capacity counts, and devices can be shared.
        partitions: counters count.
        groups: compatibility groups count.
        admin_blocks: a device of an admin request is not given to others in the same attempt.
        admin_pays: admin requests take counters.
        ignores_shares: shares of a device that is no longer shared do not matter.
        fatal_constraints: mode All aborts the attempt where a constraint refuses a device.
        negative_blocks: an over-committed counter blocks its pool.
        leaks: not everything that is rejected is given back.
        forgets_shares: shared devices do not consume counters in the next attempt.
        misses_shares: shares without amounts are not seen.
        wrong_recheck: the last capacity check looks at another device.
        first_alternative: an alternative with mode All goes on as the first one.
        per_slice: counters belong to slices.
        per_name: counters belong to pool names.
        unchecked_operations: ``skipNodeOperations`` is not looked at.
        any_order: the devices of one request are tried in every order.
    """

    __slots__ = (
        "admin_blocks",
        "admin_pays",
        "any_order",
        "capacity",
        "fatal_constraints",
        "first_alternative",
        "forgets_shares",
        "groups",
        "ignores_shares",
        "leaks",
        "misses_shares",
        "negative_blocks",
        "partitions",
        "per_name",
        "per_slice",
        "profile",
        "unchecked_operations",
        "wrong_recheck",
    )

    def __init__(self, profile: AllocatorProfile) -> None:
        features = profile.features
        has = profile.has
        self.profile = profile
        self.capacity = features.consumable_capacity
        self.partitions = features.partitionable_devices
        self.groups = features.compatibility_groups
        self.admin_blocks = has("admin-mark-blocks-normal-request")
        self.admin_pays = has("admin-access-pays-counters")
        self.ignores_shares = has("dedicated-ignores-shares")
        self.fatal_constraints = has("all-constraint-is-fatal")
        self.negative_blocks = has("negative-counter-blocks-pool")
        self.leaks = has("rejected-candidate-keeps-reservation")
        self.forgets_shares = has("counters-forget-shares")
        self.misses_shares = has("share-without-amounts-is-not-in-use")
        self.wrong_recheck = has("capacity-rechecked-on-wrong-device")
        self.first_alternative = has("all-alternative-continues-as-first")
        self.per_slice = "pool counters" in profile.lacks
        self.per_name = has("counters-shared-by-pool-name")
        self.unchecked_operations = not profile.knows_node_operations and (
            has("skip-node-operations-unchecked") or "node operations" in profile.lacks
        )
        # Where undoing restores the state, trying every order finds the same first solution as trying one.
        self.any_order = "combinations" in profile.lacks and (self.capacity or self.partitions)


class ProfileError(ValueError):
    """No such version, or a quirk that does not exist; the message is for the author of a scenario."""


def allocator_profile(
    version: str, gates: Mapping[str, bool], quirks: Mapping[str, bool] | None = None
) -> AllocatorProfile:
    """The profile of a Kubernetes version with these feature gates.

    Args:
        version: ``1.34`` to ``1.38``; a patch version counts as its minor version.
        gates: the value of every gate that is not off.
        quirks: quirks to switch on or off, against the version's own set.

    Raises:
        ProfileError: the version or a quirk is not known.
    """
    minor = ".".join(version.split(".")[:2])
    variants = _VARIANTS.get(minor)
    if variants is None:
        raise ProfileError(f"no allocator profile for Kubernetes `{version}`, only {', '.join(_VARIANTS)}")
    known = variants[-1].supports
    features = features_of_gates({gate: on and _GATES.get(gate) in known for gate, on in gates.items()})
    if not gates.get("DRAResourceClaimDeviceStatus", True):
        features = features_of_gates({**gates, "DRADeviceBindingConditions": False})
    enabled = features.enabled()
    variant = next(variant for variant in variants if variant.supports >= enabled)
    active = {name for name, quirk in QUIRKS.items() if minor in quirk.versions}
    for name, on in (quirks or {}).items():
        if name not in QUIRKS:
            raise ProfileError(f"no quirk `{name}`")
        if on:
            active.add(name)
        else:
            active.discard(name)
    return AllocatorProfile(
        version=minor,
        variant=variant.name,
        features=features,
        supports=variant.supports,
        lacks=variant.lacks,
        quirks=frozenset(active),
    )
