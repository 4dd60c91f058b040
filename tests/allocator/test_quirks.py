"""Each known fault: what happens with it, and what without it."""

import pytest
from problems_by_hand import answers, case, claim, counter_slice, device, held, node, request, slice_

from dralang.allocator.profiles import ProfileError, allocator_profile
from dralang.allocator.quirks import QUIRKS

POLICY = {"requestPolicy": {"default": "2", "validRange": {"min": "2"}}}
LISTED = {"requestPolicy": {"default": "2", "validValues": ["2", "4"]}}
TWO_TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}] * 2}
OFF = {"DRAConsumableCapacity": False, "DRADeviceBindingConditions": False}

CASES = {
    "mode All meets an incomplete pool of another driver": (
        "all-mode-bad-pool-is-fatal",
        case(
            slice_("s", "d"),
            slice_("t", "e", driver="other.example.com", count=2),
            claim("c", request(every=True)),
            steps=["c"],
        ),
        ["error"],
        ["node-error"],
    ),
    "two admin claims on a partition whose counters fit once": (
        "admin-access-pays-counters",
        case(
            slice_("s", device("d", counters={"mem": "4"}), count=2),
            counter_slice("t", mem="6"),
            claim("a", request(adminAccess=True)),
            claim("b", request(adminAccess=True)),
            steps=["ab"],
        ),
        ["unallocatable"],
        [["d", "d"]],
    ),
    "an over-committed counter blocks a device that does not use it": (
        "negative-counter-blocks-pool",
        case(
            slice_("s", device("d", counters={"mem": "4"}), device("e", counters={"sm": "1"}), count=2),
            counter_slice("t", mem="2", sm="2"),
            claim("a", request(), results=[held("d")]),
            claim("b", request()),
            steps=["b"],
        ),
        ["unallocatable"],
        [["e"]],
    ),
    "one device with binding conditions delays its pool": (
        "binding-conditions-delay-pool",
        case(
            slice_("s", device("c", bindingConditions=["ready"]), "d", pool="p1"),
            slice_("t", "e", pool="p2"),
            claim("c", request()),
            steps=["c"],
        ),
        [["e"]],
        [["d"]],
    ),
    "an old generation that is complete here hides a newer one elsewhere": (
        "old-generation-hides-newer",
        case(slice_("s", "d"), slice_("t", "d", node="other", generation=2), claim("c", request()), steps=["c"]),
        [["d"]],
        ["unallocatable"],
    ),
    "a capacity named with its driver": (
        "literal-capacity-names",
        case(
            slice_("s", device("d", capacity={"m": "4"})),
            claim("c", request(capacity={"drv.example.com/m": "1"})),
            steps=["c"],
        ),
        ["unallocatable"],
        [["d"]],
    ),
    "an admin claim, then a normal claim of the same pod": (
        "admin-mark-blocks-normal-request",
        case(slice_("s", "d"), claim("a", request(adminAccess=True)), claim("b", request()), steps=["ab"]),
        ["unallocatable"],
        [["d", "d"]],
    ),
    "a share of a device that is no longer shared": (
        "dedicated-ignores-shares",
        case(
            slice_("s", "d"),
            claim("a", request(), results=[held("d", shareID="x")]),
            claim("b", request()),
            steps=["b"],
        ),
        [["d"]],
        ["unallocatable"],
    ),
    "skipNodeOperations without the gate": (
        "skip-node-operations-unchecked",
        case(slice_("s", "d", skipNodeOperations=["*"]), claim("c", request()), steps=["c"]),
        [["d"]],
        ["unallocatable"],
    ),
    "a node selector with two terms": (
        "multi-term-selector-is-fatal",
        case(node(zone="z"), slice_("s", "d", node=None, nodeSelector=TWO_TERMS), claim("c", request()), steps=["c"]),
        ["error"],
        ["node-error"],
    ),
    "mode All with 33 devices": (
        "all-over-limit-is-fatal",
        case(slice_("s", *(f"d{number}" for number in range(33))), claim("c", request(every=True)), steps=["c"]),
        ["error"],
        ["node-error"],
    ),
    "mode All against a constraint, with another alternative behind it": (
        "all-constraint-is-fatal",
        case(
            slice_("s", device("d", attributes={"x": {"int": 1}}), device("e", attributes={"x": {"int": 2}})),
            claim(
                "c",
                request(first={"all": request(every=True), "one": request()}),
                constraints=[{"matchAttribute": "drv.example.com/x"}],
            ),
            steps=["c"],
        ),
        ["error"],
        [["d"]],
    ),
    "a negative request below a minimum": (
        "negative-request-rounded-up",
        case(
            slice_("s", device("d", capacity={"m": {"value": "4", **POLICY}})),
            claim("c", request(capacity={"m": "-1"})),
            steps=["c"],
        ),
        [["d"]],
        ["error"],
    ),
    "a negative request and listed values": (
        "negative-request-rounded-up",
        case(
            slice_("s", device("d", capacity={"m": {"value": "4", **LISTED}})),
            claim("c", request(capacity={"m": "-1"})),
            steps=["c"],
        ),
        [["d"]],
        ["error"],
    ),
    "a list value under a constraint without the list gate": (
        "list-value-accepted-once",
        case(
            slice_("s", device("d", attributes={"x": {"ints": [1]}})),
            claim("c", request(), constraints=[{"matchAttribute": "drv.example.com/x"}]),
            steps=["c"],
        ),
        [["d"]],
        ["error"],
    ),
    "versions that differ in build metadata": (
        "version-text-comparison",
        case(
            slice_(
                "s",
                device("d", attributes={"v": {"version": "1.0.0+a"}}),
                device("e", attributes={"v": {"version": "1.0.0+b"}}),
            ),
            claim("c", request(count=2), constraints=[{"matchAttribute": "drv.example.com/v"}]),
            steps=["c"],
        ),
        ["unallocatable"],
        [["d", "e"]],
    ),
    "a device with a version that is none": (
        "bad-attribute-poisons-device",
        case(
            slice_("s", device("d", attributes={"v": {"version": "nope"}})),
            claim("c", request(selectors=['device.driver == "drv.example.com"'])),
            steps=["c"],
        ),
        ["error"],
        [["d"]],
    ),
    "slices that do not agree on their number": (
        "first-slice-count-wins",
        case(slice_("s", "d", count=2), slice_("t", "e", count=3), claim("c", request()), steps=["c"]),
        [["d"]],
        ["node-error"],
    ),
    "a newer generation of which every slice is ignored for its groups": (
        "grouped-slices-obsolete-pool",
        case(
            slice_("s", "d", count=2),
            slice_("t", "e", count=2, node="other"),
            slice_("u", device("f", counters={"mem": "1"}, groups=["g"]), node="other", generation=2),
            claim("c", request()),
            steps=["c"],
        ),
        ["unallocatable"],
        [["d"]],
    ),
    "a capacity request where the stable implementation answers": (
        "stable-ignores-capacity-requests",
        case(
            slice_("s", device("d", capacity={"m": "4"})),
            claim("c", request(capacity={"m": "5"})),
            steps=["c"],
            gates=OFF,
        ),
        [["d"]],
        ["error"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_quirk_can_be_switched_off(name):
    quirk, problem, with_it, without_it = CASES[name]
    assert answers(problem) == with_it
    assert answers(problem, quirks={quirk: False}) == without_it


def test_a_quirk_can_be_switched_on_in_a_version_without_it():
    _, problem, with_it, without_it = CASES["a share of a device that is no longer shared"]
    assert answers(problem, version="1.38") == without_it
    assert answers(problem, version="1.38", quirks={"dedicated-ignores-shares": True}) == with_it


def test_every_quirk_says_what_it_does():
    for name, quirk in QUIRKS.items():
        assert quirk.versions <= {"1.34", "1.35", "1.36", "1.37", "1.38"}, name
        assert quirk.off, name
        assert quirk.effect.rstrip(".") == quirk.effect != "", name


@pytest.mark.parametrize(
    ("version", "quirks"), [("1.33", {}), ("2.0", {}), ("1.37", {"no-such-quirk": True})], ids=["old", "odd", "quirk"]
)
def test_an_unknown_version_or_quirk_is_refused(version, quirks):
    with pytest.raises(ProfileError):
        allocator_profile(version, {}, quirks)


@pytest.mark.parametrize(
    ("version", "gates", "variant"),
    [
        ("1.37", {}, "stable"),
        ("1.37.2", {"DRAConsumableCapacity": True}, "incubating"),
        ("1.37", {"DRADerivedAttributes": True}, "experimental"),
        ("1.38", {"DRAConsumableCapacity": True}, "stable"),
        ("1.38", {"DRADerivedAttributes": True}, "incubating"),
        ("1.36", {"DRAListTypeAttributes": True}, "experimental"),
        ("1.36", {"DRADerivedAttributes": True}, "stable"),
        ("1.34", {"DRAAdminAccess": True}, "incubating"),
        ("1.37", {"DRADeviceBindingConditions": True, "DRAResourceClaimDeviceStatus": False}, "stable"),
    ],
)
def test_the_enabled_features_choose_the_implementation(version, gates, variant):
    assert allocator_profile(version, gates).variant == variant
