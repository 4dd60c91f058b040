"""Cases answered: verdicts, versions, and cases that cannot be played."""

from copy import deepcopy
from typing import Any

import pytest
from case_data import ALLOCATION, CASES, CEL, CLAIM, NODE, SCHEDULING, VALIDATION

from dralang.conform.cases import Case
from dralang.conform.replay import Replayer, UnplayableError


def case_of(data: dict[str, Any]) -> Case:
    return Case(data["kind"], data["id"], data, "a.jsonl", 1)


@pytest.mark.parametrize("kind", CASES)
def test_every_kind_is_played(kind: str):
    answered = Replayer().replay(case_of(CASES[kind]))
    assert (answered.verdict, answered.difference, answered.version) == ("passed", None, "1.37")


WRONG = {
    "validation": {"accepted": True, "stored": {}},
    "cel": {"cost": 4, "result": False},
    "allocation": [{"status": "node-error"}],
    "scheduling": [{"pods": {"default/a": {}}, "claims": {}}],
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_record_is_a_difference(kind: str):
    answered = Replayer().replay(case_of({**CASES[kind], "want": WRONG[kind]}))
    assert answered.verdict == "failed"
    assert answered.difference is not None
    assert answered.answer is not None


@pytest.mark.parametrize("kind", CASES)
def test_without_a_record_only_those_who_ask_get_an_answer(kind: str):
    bare = case_of({key: value for key, value in CASES[kind].items() if key != "want"})
    assert Replayer().replay(bare).answer is None
    answered = Replayer(answer_all=True).replay(bare)
    assert (answered.verdict, answered.answer) == ("not recorded", Replayer().replay(case_of(CASES[kind])).answer)
    other = Replayer("1.38", answer_all=True).replay(case_of(CASES[kind]))
    assert (other.verdict, other.version) == ("not recorded", "1.38")
    assert other.answer is not None


def test_the_version_asked_for_is_the_one_that_answers():
    recorded = {**CEL, "expression": "cel.bind(a, 1, a == 1)", "versions": ["1.36", "1.37", "1.38"]}
    costs = {version: Replayer(version).replay(case_of(recorded)).answer["cost"] for version in recorded["versions"]}
    own = {**recorded, "wantByVersion": {v: {"cost": cost, "result": True} for v, cost in costs.items()}}
    assert [Replayer(v).replay(case_of(own)).verdict for v in costs] == ["passed"] * 3
    swapped = {**own, "wantByVersion": {v: {"cost": cost + 1, "result": True} for v, cost in costs.items()}}
    assert [Replayer(v).replay(case_of(swapped)).verdict for v in costs] == ["failed"] * 3


def device(driver_node: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{driver_node}-{name}"},
        "spec": {
            "driver": f"{name}.example.com",
            "nodeName": "node-1",
            "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": name}],
        },
    }


ORDERS = {
    "an order of its own choice": ({}, "passed"),
    "sorted by name": ({"DRAConsumableCapacity": True}, "failed"),
}


@pytest.mark.parametrize("case", ORDERS)
def test_any_order_of_pools_is_right_where_the_real_one_has_none(case: str):
    gates, verdict = ORDERS[case]
    objects = [*ALLOCATION["objects"], device("a", "first"), device("b", "second")]
    two = {**ALLOCATION, "featureGates": gates, "objects": objects}
    (ours,) = Replayer(answer_all=True).replay(case_of({**two, "want": [{"status": "error"}]})).answer
    other = deepcopy(ours)
    (result,) = other["allocations"]["default/one"]["devices"]["results"]
    name = {"first": "second", "second": "first"}[result["device"]]
    result |= {"driver": f"{name}.example.com", "device": name}
    answered = Replayer().replay(case_of({**two, "want": [other]}))
    assert answered.verdict == verdict
    assert answered.answer == [other if verdict == "passed" else ours]


def test_what_the_real_one_gave_up_on_is_not_kept_for_later_steps():
    steps = [{"node": "node-1", "allocate": ["default/one"]}, {"node": "node-1", "allocate": ["default/two"]}]
    two = {**CLAIM, "metadata": {"name": "two", "namespace": "default"}}
    case = {**ALLOCATION, "objects": [*ALLOCATION["objects"], two, device("a", "first")], "steps": steps}
    first, second = Replayer().replay(case_of({**case, "want": [{"status": "timeout"}] * 2})).answer
    assert (first["status"], second["status"]) == ("allocated", "allocated")
    kept = Replayer().replay(case_of({**case, "want": [first, {"status": "unallocatable"}]}))
    assert kept.verdict == "passed"


UNPLAYABLE = {
    "an allocation on a node that is not there": (
        {**ALLOCATION, "steps": [{"node": "b", "allocate": []}]},
        "step 1: there is no node `b`",
    ),
    "an allocation of a claim that is not there": (
        {**ALLOCATION, "steps": [{"node": "node-1", "allocate": ["default/two"]}]},
        "step 1: there is no claim `default/two`",
    ),
    "an object that does not decode": (
        {**ALLOCATION, "objects": [*ALLOCATION["objects"], {**NODE, "spec": {"unschedulable": 1}}]},
        "",
    ),
    "gates with which no server starts": ({**VALIDATION, "featureGates": {"NoSuchGate": True}}, "NoSuchGate"),
    "an old object that is refused": (
        {**VALIDATION, "operation": "update", "old": VALIDATION["object"]},
        "`old` is refused",
    ),
    "a device with a wrong attribute": (
        {**CEL, "device": {"attributes": {"a": {"int": "one"}}}},
        "the device cannot be read",
    ),
    "a device with a wrong capacity": (
        {**CEL, "device": {"capacity": {"a": {"value": "many"}}}},
        "the device cannot be read",
    ),
    "a pod without namespace": ({**SCHEDULING, "steps": [{"start": ["a"]}]}, "step 1: `a` is no `namespace/pod`"),
    "a wait that is no duration": ({**SCHEDULING, "steps": [{"wait": "soon"}]}, "step 1: `soon` is no duration"),
    "a wait without end": ({**SCHEDULING, "steps": [{"wait": "999999999m"}]}, "step 1: `999999999m` is more than"),
    "a time without end": ({**SCHEDULING, "times": [1e300]}, "time 1e+300 does not lie between 0 and"),
    "a kind that is not there": (
        {**SCHEDULING, "objects": [{"kind": "Gadget", "metadata": {"name": "a"}}]},
        "no kind `Gadget`",
    ),
}


@pytest.mark.parametrize("case", UNPLAYABLE)
def test_a_case_that_cannot_be_played_says_why(case: str):
    data, message = UNPLAYABLE[case]
    with pytest.raises(UnplayableError) as raised:
        Replayer(answer_all=True).replay(case_of(data))
    assert message in str(raised.value)


ODD_OBJECTS = {
    "no kind": {"apiVersion": "v1"},
    "a kind that is no text": {"apiVersion": "v1", "kind": ["Pod"]},
    "metadata that is a list": {"apiVersion": "v1", "kind": "Pod", "metadata": []},
    "a namespace that is a map": {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": {}}},
    "a foreign kind without version": {"kind": "Deployment"},
}


ODD_PODS: dict[str, tuple[dict[str, Any], str]] = {
    "a spec that is a list": ({"spec": []}, "spec: a map with the fields of PodSpec is needed here"),
    "claims that are none": ({"spec": {"resourceClaims": ["a", {"resourceClaimName": 1}, None]}}, "resourceClaims"),
}


@pytest.mark.parametrize("case", ODD_PODS)
def test_an_odd_pod_cannot_be_played(case: str):
    more, message = ODD_PODS[case]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}, **more}
    with pytest.raises(UnplayableError) as raised:
        Replayer(answer_all=True).replay(case_of({**SCHEDULING, "objects": [NODE, pod]}))
    assert message in str(raised.value)


def test_a_pod_without_spec_is_played():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}}
    answered = Replayer(answer_all=True).replay(case_of({**SCHEDULING, "objects": [NODE, pod]}))
    assert list(answered.answer[0]["pods"]) == ["default/a"]
