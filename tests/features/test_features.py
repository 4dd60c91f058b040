"""Feature gates: stages, defaults, dependencies, by version."""

import pytest

from dralang.features import VERSIONS, FeatureGates, gates_of


def resolved(version, overrides=None):
    gates = FeatureGates.resolve(version, overrides or {})
    assert isinstance(gates, FeatureGates), gates
    return gates


def problems(version, overrides):
    found = FeatureGates.resolve(version, overrides)
    assert not isinstance(found, FeatureGates)
    return found


DEFAULTS = {
    "consumable capacity came in 1.36": ("DRAConsumableCapacity", [False, False, True, True, True]),
    "fractional ranges need a flag in 1.37": ("DRAFractionalCapacityRange", [False, False, False, False, True]),
    "taint rules came after taints": ("DRADeviceTaintRules", [False, False, False, True, True]),
    "lists are still alpha": ("DRAListTypeAttributes", [False] * 5),
    "the gate of DRA itself is gone but on": ("DynamicResourceAllocation", [True] * 5),
    "group claims follow the gate of groups": ("DRAWorkloadResourceClaims", [False] * 5),
    "a dropped gate is off": ("PodGroupPreemptionPolicy", [False] * 5),
}


@pytest.mark.parametrize(("gate", "enabled"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults(gate, enabled):
    assert [resolved(version).enabled(gate) for version in VERSIONS] == enabled


def test_all_alpha_turns_on_what_can_be_on():
    plain, alpha = resolved("1.37"), resolved("1.37", {"AllAlpha": True})
    table = gates_of("1.37")
    assert alpha.enabled("DRADerivedAttributes")
    assert alpha.enabled("DRAPartitionableDevicesType")
    # Needs GenericWorkload, which is beta and off.
    assert not alpha.enabled("WorkloadWithJob")
    assert {table[name].stage for name in alpha.on - plain.on} == {"alpha"}


def test_all_alpha_and_all_beta_together():
    gates = resolved("1.37", {"AllAlpha": True, "AllBeta": True})
    assert gates.enabled("WorkloadWithJob")
    assert gates.enabled("DRAWorkloadResourceClaims")
    assert gates.enabled("DRAFractionalCapacityRange")


def test_an_override_wins_over_all_alpha():
    gates = resolved("1.37", {"AllAlpha": True, "DRAResourcePoolStatus": False})
    assert not gates.enabled("DRAResourcePoolStatus")
    assert not gates.enabled("DRAPartitionableDevicesType"), "which needs it"


def test_all_beta_off_leaves_only_what_is_ga():
    gates = FeatureGates.resolve("1.36", {"AllBeta": False})
    assert isinstance(gates, FeatureGates)
    assert not gates.enabled("DRAConsumableCapacity")
    assert gates.enabled("DRAPrioritizedList")


def test_the_gates_of_this_project_are_in_1_38():
    gates = resolved("1.38", {"AllAlpha": True})
    assert gates.enabled("DRAPreemption")
    assert gates.enabled("DRAExtendedResourceCapacity")
    assert not resolved("1.38").enabled("DRAPreemption")


PROBLEMS = {
    "a slip of the pen": ("1.37", {"DRADevceTaints": True}, "unknown", "unknown feature gate `DRADevceTaints`"),
    "of a later version": ("1.37", {"DRAPreemption": True}, "not-in-version", "Kubernetes 1.37 has no feature gate"),
    "of an earlier version": ("1.38", {"DynamicResourceAllocation": True}, "not-in-version", "Kubernetes 1.38 has no"),
    "locked": ("1.37", {"DRAAdminAccess": False}, "locked", "is locked on in 1.37"),
    "a need that is off": (
        "1.37",
        {"DRAWorkloadResourceClaims": True},
        "needs",
        "needs `GenericWorkload`, which is off",
    ),
    "a need turned off": ("1.37", {"DRADeviceTaints": False}, "needs", "`DRADeviceTaintRules` needs `DRADeviceTaints`"),
    "an unknown version": ("1.33", {}, "unknown-version", "unknown Kubernetes version `1.33`"),
}


@pytest.mark.parametrize(("version", "overrides", "kind", "text"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems(version, overrides, kind, text):
    (problem,) = problems(version, overrides)
    assert problem.kind == kind
    assert text in problem.message


def test_suggestions():
    (problem,) = problems("1.37", {"draDeviceTaints": True})
    assert problem.expected == ("DRADeviceTaints",)
    (problem,) = problems("v1.37", {})
    assert problem.expected == ("1.37",)
    (problem,) = problems("1.37", {"DRAPreemption": True})
    assert problem.help == "versions with this gate: 1.38"


def test_a_locked_gate_may_be_set_to_its_value():
    assert resolved("1.37", {"DRAAdminAccess": True}).enabled("DRAAdminAccess")


def test_every_need_is_a_gate_of_the_same_version():
    for version in VERSIONS:
        table = gates_of(version)
        assert {need for spec in table.values() for need in spec.needs} <= set(table)
