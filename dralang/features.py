"""Feature gates, by Kubernetes version.

Source: the version tables of Kubernetes 1.37.2 (1.34 to 1.37) and 1.38.0-beta.0; `DRAPreemption` (KEP-5690) and
`DRAExtendedResourceCapacity` (KEP-6406) are additions of this project, which no release has yet.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from dralang.spelling import nearest

Stage = Literal["alpha", "beta", "GA", "deprecated"]
ProblemKind = Literal["unknown", "not-in-version", "locked", "needs", "unknown-version"]

VERSIONS = ("1.34", "1.35", "1.36", "1.37", "1.38")
DEFAULT_VERSION = "1.37"
ALL_ALPHA = "AllAlpha"
ALL_BETA = "AllBeta"


class GateSpec(Struct, frozen=True):
    """What a version says about a gate.

    Attributes:
        name: its name.
        stage: its maturity.
        default: whether it is on by default.
        locked: whether it refuses the other value.
        needs: gates that must be on for it to be on; those that the version does not have count as on.
    """

    name: str
    stage: Stage
    default: bool
    locked: bool
    needs: tuple[str, ...]


class GateProblem(Struct, frozen=True):
    """Why a set of gates is refused.

    Attributes:
        gate: the gate of the overrides that is at fault, or the one whose needs are not met.
        kind: which rule is broken.
        message: one line for people.
        help: the way out.
        expected: a name that may be meant.
    """

    gate: str
    kind: ProblemKind
    message: str
    help: str = ""
    expected: tuple[str, ...] = ()


def _gate(history: str, *needs: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(entry.strip() for entry in history.split("|")), needs


# One entry per version in VERSIONS. `-`: not yet there; `gone`: removed.
# DRAFractionalCapacityRange is on in 1.37 only with a minimum compatibility version of 1.37, and the default is 1.36.
_HISTORY = {
    "CPUManagerPolicyBetaOptions": _gate("beta on | beta on | beta on | beta on | beta on"),
    "CPUManagerPolicyOptions": _gate("GA locked | GA locked | GA locked | GA locked | GA locked"),
    "CompositePodGroup": _gate(
        "- | - | - | alpha off | beta off", "GenericWorkload", "TopologyAwareWorkloadScheduling"
    ),
    "DRAAdminAccess": _gate("beta on | beta on | GA locked | GA locked | GA locked", "DynamicResourceAllocation"),
    "DRAConsumableCapacity": _gate("alpha off | alpha off | beta on | beta on | GA on", "DynamicResourceAllocation"),
    "DRADerivedAttributes": _gate("- | - | - | alpha off | alpha off", "DynamicResourceAllocation"),
    "DRADeviceBindingConditions": _gate(
        "alpha off | alpha off | beta on | beta on | GA locked",
        "DynamicResourceAllocation",
        "DRAResourceClaimDeviceStatus",
    ),
    "DRADeviceCompatibilityGroups": _gate(
        "- | - | - | alpha off | alpha off", "DynamicResourceAllocation", "DRAPartitionableDevices"
    ),
    "DRADeviceTaintRules": _gate("- | alpha off | beta off | GA on | GA locked", "DRADeviceTaints"),
    "DRADeviceTaints": _gate("alpha off | alpha off | beta on | GA on | GA locked", "DynamicResourceAllocation"),
    "DRAExtendedResource": _gate(
        "alpha off | alpha off | beta on | GA locked | GA locked", "DynamicResourceAllocation"
    ),
    "DRAExtendedResourceCapacity": _gate("- | - | - | - | alpha off", "DRAExtendedResource", "DRAConsumableCapacity"),
    "DRAFractionalCapacityRange": _gate("- | - | - | beta off | GA on", "DRAConsumableCapacity"),
    "DRAListTypeAttributes": _gate("- | - | alpha off | alpha off | alpha off", "DynamicResourceAllocation"),
    "DRANodeAllocatableResources": _gate("- | - | alpha off | alpha off | alpha off", "DynamicResourceAllocation"),
    "DRAOptionalNodeOperations": _gate(
        "- | - | - | alpha off | alpha off", "DynamicResourceAllocation", "NodeDeclaredFeatures"
    ),
    "DRAPartitionableDevices": _gate(
        "alpha off | alpha off | beta on | beta on | GA locked", "DynamicResourceAllocation"
    ),
    "DRAPartitionableDevicesType": _gate(
        "- | - | - | alpha off | alpha off",
        "DynamicResourceAllocation",
        "DRAPartitionableDevices",
        "DRAResourcePoolStatus",
    ),
    "DRAPreemption": _gate("- | - | - | - | alpha off", "DynamicResourceAllocation"),
    "DRAPrioritizedList": _gate("beta on | beta on | GA on | GA locked | GA locked", "DynamicResourceAllocation"),
    "DRAResourceClaimDeviceStatus": _gate("beta on | beta on | beta on | GA locked | GA locked"),
    "DRAResourceClaimGranularStatusAuthorization": _gate(
        "- | - | beta on | beta on | beta on", "DynamicResourceAllocation", "DRAResourceClaimDeviceStatus"
    ),
    "DRAResourcePoolStatus": _gate("- | - | alpha off | alpha off | alpha off", "DynamicResourceAllocation"),
    "DRASchedulerFilterTimeout": _gate("beta on | beta on | beta on | beta on | beta on", "DynamicResourceAllocation"),
    "DRAWorkloadResourceClaims": _gate(
        "- | - | alpha off | beta off | beta off", "DynamicResourceAllocation", "GenericWorkload"
    ),
    "DeclarativeValidation": _gate("beta on | beta on | GA locked | GA locked | GA locked"),
    "DeclarativeValidationBeta": _gate("- | - | beta on | beta on | beta on", "DeclarativeValidation"),
    "DeclarativeValidationTakeover": _gate(
        "beta off | beta off | deprecated off | deprecated off locked | deprecated off locked", "DeclarativeValidation"
    ),
    "DynamicResourceAllocation": _gate("GA on | GA locked | GA locked | GA locked | gone"),
    "ExtendWebSocketsToKubelet": _gate("- | - | beta on | beta on | GA locked", "NodeDeclaredFeatures"),
    "GenericWorkload": _gate("- | alpha off | alpha off | beta off | beta off"),
    "InPlacePodVerticalScalingExclusiveCPUs": _gate(
        "alpha off | alpha off | alpha off | alpha off | alpha off", "InPlacePodVerticalScaling"
    ),
    "InPlacePodVerticalScalingSchedulerPreemption": _gate(
        "- | - | - | alpha off | alpha off", "InPlacePodVerticalScaling"
    ),
    "KubeletPodResourcesDynamicResources": _gate("beta on | beta on | GA locked | GA locked | GA locked"),
    "KubeletPodResourcesGet": _gate("beta on | beta on | GA locked | GA locked | GA locked"),
    "NodeDeclaredFeatures": _gate("- | alpha off | beta on | GA locked | GA locked"),
    "NominatedNodeNameForExpectation": _gate("alpha off | beta on | beta on | beta on | beta on"),
    "OpportunisticBatching": _gate("- | beta on | beta on | beta on | beta on"),
    "PodGroupPreemptionPolicy": _gate("- | - | - | alpha off | gone", "GenericWorkload"),
    "PodLevelResourceManagers": _gate("- | - | alpha off | beta off | beta off", "PodLevelResources"),
    "PodLevelResources": _gate("beta on | beta on | beta on | beta on | beta on"),
    "ResourceHealthStatus": _gate("alpha off | alpha off | beta on | beta on | beta on", "DynamicResourceAllocation"),
    "RestartAllContainersOnContainerExits": _gate(
        "- | alpha off | beta on | beta on | beta on", "ContainerRestartRules", "NodeDeclaredFeatures"
    ),
    "SchedulerAsyncAPICalls": _gate("beta off | beta off | beta off | beta off | beta off"),
    "SchedulerAsyncPreemption": _gate("beta on | beta on | beta on | beta on | beta on"),
    "SchedulerPopFromBackoffQ": _gate("beta on | beta on | beta on | beta on | beta on"),
    "SchedulerPreQueueingHints": _gate("- | - | - | alpha off | beta on"),
    "SupplementalGroupsPolicy": _gate("beta on | GA locked | GA locked | GA locked | gone"),
    "TopologyAwareWorkloadScheduling": _gate("- | - | alpha off | alpha off | beta off", "GenericWorkload"),
    "TopologyManagerPolicyOptions": _gate("GA locked | GA locked | GA locked | GA locked | GA locked"),
    "UserNamespacesHostNetworkSupport": _gate(
        "- | alpha off | alpha off | alpha off | alpha off", "UserNamespacesSupport", "NodeDeclaredFeatures"
    ),
    "VolumeBindMountOptions": _gate("- | - | - | alpha off | alpha off"),
    "WorkloadWithJob": _gate("- | - | alpha off | alpha off | alpha off", "GenericWorkload"),
}

KNOWN_GATES = frozenset(_HISTORY)
"""Names that some version has."""


def _spec(name: str, entry: str, needs: tuple[str, ...]) -> GateSpec:
    stage, *state = entry.split()
    locked = "locked" in state
    default = "on" in state or (locked and "off" not in state)
    return GateSpec(name, stage, default, locked, needs)  # type: ignore[arg-type]


def _table(column: int) -> Mapping[str, GateSpec]:
    present = {name for name, (history, _) in _HISTORY.items() if history[column] not in {"-", "gone"}}
    return MappingProxyType(
        {
            name: _spec(name, history[column], tuple(need for need in needs if need in present))
            for name, (history, needs) in sorted(_HISTORY.items())
            if name in present
        }
    )


_TABLES = MappingProxyType({version: _table(column) for column, version in enumerate(VERSIONS)})


def gates_of(version: str) -> Mapping[str, GateSpec]:
    """The gates that a version has, by name in alphabetical order.

    Raises:
        KeyError: not one of ``VERSIONS``.
    """
    return _TABLES[version]


def _permanent(version: str) -> frozenset[str]:
    """Gates that are gone because their behaviour is there to stay."""
    column = VERSIONS.index(version)
    return frozenset(
        name
        for name, (history, _) in _HISTORY.items()
        if history[column] == "gone" and any(entry.startswith("GA") for entry in history[:column])
    )


class FeatureGates(Struct, frozen=True):
    """The gates of one server: which are on."""

    version: str
    on: frozenset[str]

    def enabled(self, name: str) -> bool:
        """Whether a gate is on; one that became permanent is on, one that the version lacks is off."""
        return name in self.on

    @staticmethod
    def resolve(
        version: str = DEFAULT_VERSION, overrides: Mapping[str, bool] = MappingProxyType({})
    ) -> "FeatureGates | tuple[GateProblem, ...]":
        """The gates of a version with some of them set, or why a server would not start with that.

        ``AllAlpha`` and ``AllBeta`` set what no override names. A gate that is on only through them stays off when
        something that it needs is off: the reference tables call for such gates one by one, and a model that refused
        ``AllAlpha`` alone (an alpha gate may need a beta gate that is off) would be of no use.
        """
        table = _TABLES.get(version)
        if table is None:
            return (_unknown_version(version),)
        problems = [
            problem
            for name, value in overrides.items()
            if (problem := _override_problem(table, version, name, value=value))
        ]
        if problems:
            return tuple(problems)
        on, implied = _initial(table, overrides)
        _drop_unmet(table, on, implied)
        unmet = tuple(
            problem for name in sorted(on) if (problem := _unmet_problem(table[name], on, overrides)) is not None
        )
        return unmet or FeatureGates(version, frozenset(on) | _permanent(version))


def _initial(table: Mapping[str, GateSpec], overrides: Mapping[str, bool]) -> tuple[set[str], set[str]]:
    """The gates that are on before dependencies count, and those of them that only AllAlpha or AllBeta turned on."""
    on: set[str] = set()
    implied: set[str] = set()
    for name, spec in table.items():
        group = {"alpha": ALL_ALPHA, "beta": ALL_BETA}.get(spec.stage, "")
        if name in overrides:
            enabled = overrides[name]
        elif group in overrides:
            enabled = overrides[group]
            if enabled and not spec.default:
                implied.add(name)
        else:
            enabled = spec.default
        if enabled:
            on.add(name)
    return on, implied


def _drop_unmet(table: Mapping[str, GateSpec], on: set[str], implied: set[str]) -> None:
    unmet = {name for name in implied & on if any(need not in on for need in table[name].needs)}
    while unmet:
        on -= unmet
        unmet = {name for name in implied & on if any(need not in on for need in table[name].needs)}


def _override_problem(table: Mapping[str, GateSpec], version: str, name: str, *, value: bool) -> GateProblem | None:
    if name in {ALL_ALPHA, ALL_BETA}:
        return None
    spec = table.get(name)
    if spec is None:
        return _missing_gate(table, version, name)
    if spec.locked and value != spec.default:
        state, other = ("on", "off") if spec.default else ("off", "on")
        return GateProblem(
            name, "locked", f"feature gate `{name}` is locked {state} in {version}; it cannot be switched {other}"
        )
    return None


def _missing_gate(table: Mapping[str, GateSpec], version: str, name: str) -> GateProblem:
    if name in KNOWN_GATES:
        having = [other for other in VERSIONS if name in _TABLES[other]]
        span = having[0] if len(having) == 1 else f"{having[0]} to {having[-1]}"
        fixed = name in _permanent(version)
        return GateProblem(
            name,
            "not-in-version",
            f"Kubernetes {version} has no feature gate `{name}`",
            help=f"it is permanently on in {version}" if fixed else f"versions with this gate: {span}",
        )
    guess = nearest(name, [*table, ALL_ALPHA, ALL_BETA])
    return GateProblem(name, "unknown", f"unknown feature gate `{name}`", expected=() if guess is None else (guess,))


def _unmet_problem(spec: GateSpec, on: set[str], overrides: Mapping[str, bool]) -> GateProblem | None:
    missing = [need for need in spec.needs if need not in on]
    if not missing:
        return None
    listed = " and ".join(f"`{need}`" for need in missing)
    verb = "is" if len(missing) == 1 else "are"
    turn_on = ", ".join(f"{need}: true" for need in missing)
    way = f"set {turn_on}" if spec.name in overrides else f"set {spec.name}: false, or {turn_on}"
    return GateProblem(spec.name, "needs", f"feature gate `{spec.name}` needs {listed}, which {verb} off", help=way)


def _unknown_version(version: str) -> GateProblem:
    guess = version.removeprefix("v")
    return GateProblem(
        version,
        "unknown-version",
        f"unknown Kubernetes version `{version}`",
        help=f"known versions: {', '.join(VERSIONS)}",
        expected=(guess,) if guess in VERSIONS else (),
    )
