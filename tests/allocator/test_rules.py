"""One small case per rule; the answers were checked with the allocator of Kubernetes 1.37.2."""

import pytest
from problems_by_hand import answers, case, claim, counter_slice, device, expressions, held, node, request, slice_

from dralang.allocator.replay import replay_allocation

X = "drv.example.com/x"
EVERYWHERE = {"node": None, "allNodes": True}
ZONE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}
ZONE_TURNED = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b", "a"]}]}]}
UNUSABLE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Nope"}]}]}
RANGE = {"requestPolicy": {"default": "1", "validRange": {"min": "2", "step": "2", "max": "6"}}}
MANY = [f"d{number:02d}" for number in range(40)]


def values(*numbers, **fields):
    return [device(f"d{index}", attributes={"x": {"int": number}}, **fields) for index, number in enumerate(numbers)]


CASES = {
    "E30: a request is rounded up to a step": (
        case(
            slice_("s", device("d", capacity={"m": {"value": "9", **RANGE}}, shared=True)),
            claim("c", request(capacity={"m": "5"})),
            steps=["c"],
        ),
        [["d"]],
    ),
    "E32: mode All over the limit is only one alternative": (
        case(
            slice_("s", *MANY),
            claim("c", request(first={"all": request(every=True), "one": request()})),
            steps=["c"],
        ),
        [["d00"]],
    ),
    "E34: a persisted share with an amount, and a dedicated request for the rest": (
        case(
            slice_("s", device("d", capacity={"m": "4"})),
            claim("a", request(), results=[held("d", shareID="x", consumedCapacity={"m": "1"})]),
            claim("b", request(capacity={"m": "1"})),
            claim("c", request()),
            steps=["c", "b"],
        ),
        ["unallocatable", ["d"]],
    ),
    "E35: a negative request without a policy": (
        case(slice_("s", device("d", capacity={"m": "4"})), claim("c", request(capacity={"m": "-1"})), steps=["c"]),
        ["error"],
    ),
    "E36: a single slice of an old generation is enough": (
        case(
            slice_("s", "d"),
            slice_("t", device("e", counters={"m": "1"}, groups=["g"]), node="other", generation=2),
            claim("c", request()),
            steps=["c"],
        ),
        [["d"]],
    ),
    "E38: no devices wanted, no requests at all": (
        case(slice_("s", "d"), claim("a", request(count=0)), claim("b"), steps=["a", "b"]),
        [[], []],
    ),
    "E39: a constraint that cannot be met hides a failing derived attribute": (
        case(
            slice_("s", "d"),
            claim(
                "c",
                request(derivedAttributes=[{"name": "a/b", "expression": 'device.attributes["x.y"].z'}]),
                constraints=[{"matchAttribute": X}, {"matchAttribute": "a/b"}],
            ),
            steps=["c"],
            alpha=True,
        ),
        ["unallocatable"],
    ),
    "E40: an empty node name counts as none": (
        case(slice_("s", "d", node="", allNodes=True), claim("c", request()), steps=["c"]),
        [["d"]],
    ),
    "a device at the limit of its counters": (
        case(
            slice_("s", device("d", counters={"mem": "2"}), device("e", counters={"mem": "2"}), count=2),
            counter_slice("t", mem="3"),
            claim("c", request()),
            claim("b", request()),
            steps=["c", "b"],
        ),
        [["d"], "unallocatable"],
    ),
    "counters without the gate": (
        case(
            slice_("s", device("d", counters={"mem": "2"}), "e"),
            claim("c", request()),
            steps=["c"],
            gates={"DRAPartitionableDevices": False},
        ),
        [["e"]],
    ),
    "a share takes the counters of its device once": (
        case(
            slice_("s", device("d", counters={"mem": "2"}, shared=True), count=2),
            counter_slice("t", mem="3"),
            claim("a", request()),
            claim("b", request()),
            steps=["a", "b"],
        ),
        [["d"], ["d"]],
    ),
    "capacity that several shares use up": (
        case(
            slice_("s", device("d", capacity={"m": "4"}, shared=True), device("e", capacity={"m": "4"}, shared=True)),
            claim(
                "a", request(capacity={"m": "3"}), request("q", capacity={"m": "1"}), request("t", capacity={"m": "2"})
            ),
            steps=["a"],
        ),
        [["d", "d", "e"]],
    ),
    "backtracking over two requests": (
        case(
            slice_("s", *values(1, 2, 2)),
            claim("c", request("a"), request("b"), constraints=[{"matchAttribute": X}]),
            steps=["c"],
        ),
        [["d1", "d2"]],
    ),
    "distinct values within one request": (
        case(
            slice_("s", *values(1, 2, 1, 3)),
            claim("c", request(count=3), constraints=[{"distinctAttribute": X}]),
            steps=["c"],
        ),
        [["d0", "d1", "d3"]],
    ),
    "a constraint on an alternative that is not chosen": (
        case(
            slice_("s", *values(1, 2)),
            claim(
                "c",
                request(first={"two": request(count=2), "one": request()}),
                constraints=[{"matchAttribute": X, "requests": ["r/two"]}],
            ),
            steps=["c"],
        ),
        [["d0"]],
    ),
    "an admin claim on a device in use": (
        case(
            slice_("s", "d"),
            claim("a", request(), results=[held("d")]),
            claim("b", request(adminAccess=True)),
            steps=["b"],
        ),
        [["d"]],
    ),
    "admin access without the gate": (
        case(slice_("s", "d"), claim("b", request(adminAccess=False)), steps=["b"], gates={"DRAAdminAccess": False}),
        ["error"],
    ),
    "alternatives without the gate": (
        case(
            slice_("s", "d"),
            claim("b", request(first={"x": request()})),
            steps=["b"],
            gates={"DRAPrioritizedList": False},
        ),
        ["error"],
    ),
    "an empty constraint": (case(slice_("s", "d"), claim("b", request(), constraints=[{}]), steps=["b"]), ["error"]),
    "a mode that does not exist": (
        case(slice_("s", "d"), claim("b", request(allocationMode="Most")), steps=["b"]),
        ["error"],
    ),
    "a class that does not exist": (
        case(slice_("s", "d"), claim("b", request(deviceClassName="nope")), steps=["b"]),
        ["error"],
    ),
    "no class at all": (case(slice_("s", "d"), claim("b", request(deviceClassName="")), steps=["b"]), ["error"]),
    "a selector without expression": (
        case(
            slice_("s", "d"),
            claim("b", request() | {"exactly": {**request()["exactly"], "selectors": [{}]}}),
            steps=["b"],
        ),
        ["error"],
    ),
    "too many devices in two requests": (
        case(slice_("s", *MANY), claim("b", request(count=20), request("q", count=13)), steps=["b"]),
        ["error"],
    ),
    "a node selector that cannot be used, even on a slice of another driver": (
        case(
            slice_("s", "d"),
            slice_("t", "e", node=None, nodeSelector=UNUSABLE, driver="other.example.com"),
            claim("b", request()),
            steps=["b"],
        ),
        ["error"],
    ),
    "a selector that fails on a device in use is not asked": (
        case(
            slice_("s", "d", *values(1)),
            claim("a", request(), results=[held("d")]),
            claim("b", request(selectors=[f'device.attributes["{X.partition("/")[0]}"].x == 1'])),
            steps=["b"],
        ),
        [["d0"]],
    ),
    "skipped node operations with gate and declared feature": (
        case(
            node(declares=["DRAOptionalNodeOperations"]),
            slice_("s", "d", skipNodeOperations=["*"]),
            claim("b", request()),
            steps=["b"],
            alpha=True,
        ),
        [["d"]],
    ),
    "skipped node operations that the node does not know": (
        case(slice_("s", "d", skipNodeOperations=["*"]), claim("b", request()), steps=["b"], alpha=True),
        ["unallocatable"],
    ),
    "compatibility groups on one counter set": (
        case(
            slice_(
                "s",
                device("d", counters={"m": "1"}, groups=["a", "b"]),
                device("e", counters={"m": "1"}, groups=["c"]),
                device("f", counters={"m": "1"}, groups=["b", "c"]),
                count=2,
            ),
            counter_slice("t", m="9"),
            claim("a", request()),
            claim("b", request()),
            claim("c", request()),
            steps=["a", "b", "c"],
            alpha=True,
        ),
        [["d"], ["f"], "unallocatable"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_rule_holds(name):
    problem, wanted = CASES[name]
    assert answers(problem) == wanted


def result_of(problem):
    return next(iter(replay_allocation(problem, expressions)[-1]["allocations"].values()))


def test_node_selectors_that_say_the_same_are_one_requirement():
    problem = case(
        node(zone="a"),
        slice_("s", "d", pool="p1", node=None, nodeSelector=ZONE),
        slice_("t", "e", pool="p2", node=None, nodeSelector=ZONE_TURNED),
        slice_("u", "f", pool="p3", **EVERYWHERE),
        claim("c", request(count=3)),
        steps=["c"],
    )
    requirement = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    assert result_of(problem)["nodeSelector"] == {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}


def test_devices_for_all_nodes_need_no_node_selector():
    assert "nodeSelector" not in result_of(case(slice_("s", "d", **EVERYWHERE), claim("c", request()), steps=["c"]))


def test_a_device_that_binds_pins_the_allocation():
    problem = case(slice_("s", device("d", bindsToNode=True), **EVERYWHERE), claim("c", request()), steps=["c"])
    terms = result_of(problem)["nodeSelector"]["nodeSelectorTerms"]
    assert terms == [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]


def test_a_share_records_what_it_consumes():
    problem = case(
        slice_("s", device("d", capacity={"m": {"value": "9", **RANGE}}, shared=True)),
        claim("c", request(capacity={"m": "3"})),
        steps=["c"],
    )
    result = result_of(problem)["devices"]["results"][0]
    assert result["consumedCapacity"] == {"m": "4"}
    assert result["shareID"] == "00000000-0000-4000-8000-000000000001"


def test_configuration_of_class_and_claim_is_merged():
    opaque = {"driver": "drv.example.com", "parameters": {"k": 1}}
    configured = {
        "kind": "DeviceClass",
        "metadata": {"name": "any"},
        "spec": {"selectors": [], "config": [{"opaque": opaque}]},
    }
    wish = claim("c", request("a"), request("b"), config=[{"requests": ["a"], "opaque": opaque}, {"opaque": opaque}])
    problem = case(configured, slice_("s", "d", "e"), wish, steps=["c"])
    assert result_of(problem)["devices"]["config"] == [
        {"source": "FromClass", "opaque": opaque},
        {"source": "FromClaim", "requests": ["a"], "opaque": opaque},
        {"source": "FromClaim", "opaque": opaque},
    ]
