"""What counts as the same answer, kind by kind, and where the first difference is."""

from copy import deepcopy
from typing import Any

import pytest
from msgspec import UNSET

from dralang.conform.compare import Difference, compare, first_difference, text_checks
from dralang.conform.shapes import Kind

TAKEN: dict[str, Any] = {
    "accepted": True,
    "stored": {
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": "a"}}]},
    },
}
REFUSED: dict[str, Any] = {
    "accepted": False,
    "reason": "Invalid",
    "causes": [
        {"field": "spec.a", "type": "Required", "message": "x"},
        {"field": "spec.b", "type": "Bad", "message": ""},
    ],
}
GROUP: dict[str, Any] = {
    "kind": "PodGroup",
    "metadata": {"name": "a"},
    "spec": {"minCount": 1, "resourceClaims": [{"name": "gpu"}]},
}
ALLOCATED: dict[str, Any] = {
    "status": "allocated",
    "allocations": {"ns/a": {"devices": {"results": [{"device": "gpu-0"}, {"device": "gpu-1"}]}}},
}
STATE: dict[str, Any] = {
    "pods": {
        "ns/a": {
            "phase": "Pending",
            "message": "0/1 nodes",
            "conditions": {"Other": {"status": "True", "message": "m"}},
        }
    },
    "claims": {"ns/c": {"devices": [{"device": "gpu-0", "conditions": {"Ready": {"status": "True", "message": "m"}}}]}},
}


def changed(value: Any, *path: str | int, to: Any) -> Any:
    """A copy in which one value is another; UNSET takes it away."""
    value = deepcopy(value)
    here = value
    for step in path[:-1]:
        here = here[step]
    if to is UNSET:
        del here[path[-1]]
    else:
        here[path[-1]] = to
    return value


SAME: dict[str, tuple[Kind, Any, Any]] = {
    "causes in another order, with other messages, twice": (
        "validation",
        REFUSED,
        {**REFUSED, "causes": [*REFUSED["causes"][::-1], {"field": "spec.a", "type": "Required", "message": "y"}]},
    ),
    "warnings are for information": ("validation", TAKEN, {**TAKEN, "warnings": ["deprecated"]}),
    "an absent member and null": ("validation", TAKEN, changed(TAKEN, "stored", "metadata", "labels", to=None)),
    "of a pod group only its claims count": (
        "validation",
        {"accepted": True, "stored": GROUP},
        {"accepted": True, "stored": changed(GROUP, "spec", "minCount", to=2)},
    ),
    "what an evaluation cost": ("cel", {"cost": 3, "result": True}, {"cost": 3, "result": True, "runtimeCost": 2}),
    "other words of a compile error": ("cel", {"compile": "a\nb"}, {"compile": "c"}),
    "other words of a run-time error": ("cel", {"cost": 3, "error": "a"}, {"cost": 3, "error": "b"}),
    "messages of the allocator": (
        "allocation",
        [{"status": "error", "message": "a"}],
        [{"status": "error", "message": "b"}],
    ),
    "any answer where the real one gave up": ("allocation", [{"status": "timeout"}, ALLOCATED], [ALLOCATED, ALLOCATED]),
    "messages of other conditions": (
        "scheduling",
        [STATE],
        [
            changed(
                changed(STATE, "pods", "ns/a", "conditions", "Other", "message", to="n"),
                "claims", "ns/c", "devices", 0, "conditions", "Ready", "message", to="n",
            )
        ],
    ),
}  # fmt: skip

OTHER: dict[str, tuple[Kind, Any, Any, Difference]] = {
    "taken where it was refused": (
        "validation",
        REFUSED,
        TAKEN,
        Difference("accepted", REFUSED, {"accepted": True}),
    ),
    "refused for another reason": (
        "validation",
        REFUSED,
        {**REFUSED, "reason": "Conflict"},
        Difference("reason", REFUSED, {**REFUSED, "reason": "Conflict"}),
    ),
    "another cause": (
        "validation",
        REFUSED,
        changed(REFUSED, "causes", 1, "field", to="spec.c"),
        Difference("causes", [("spec.b", "Bad")], [("spec.c", "Bad")]),
    ),
    "a cause of another type": (
        "validation",
        REFUSED,
        changed(REFUSED, "causes", 1, "type", to="Good"),
        Difference("causes", [("spec.b", "Bad")], [("spec.b", "Good")]),
    ),
    "another object stored": (
        "validation",
        TAKEN,
        changed(TAKEN, "stored", "spec", "selectors", 0, "cel", "expression", to="b"),
        Difference("stored.spec.selectors[0].cel.expression", "a", "b"),
    ),
    "nothing stored": ("validation", TAKEN, {"accepted": True}, Difference("stored", TAKEN["stored"], None)),
    "an empty list is not absent": (
        "validation",
        TAKEN,
        changed(TAKEN, "stored", "metadata", "finalizers", to=[]),
        Difference("stored.metadata.finalizers", UNSET, []),
    ),
    "other claims of a pod group": (
        "validation",
        {"accepted": True, "stored": GROUP},
        {"accepted": True, "stored": changed(GROUP, "spec", "resourceClaims", 0, "name", to="nic")},
        Difference("stored.spec.resourceClaims[0].name", "gpu", "nic"),
    ),
    "it compiles": (
        "cel",
        {"compile": "no"},
        {"cost": 3, "result": True, "runtimeCost": 1},
        Difference("compile", {"compile": "no"}, {"cost": 3, "result": True}),
    ),
    "it fails": (
        "cel",
        {"cost": 3, "result": True},
        {"cost": 3, "error": "no such key"},
        Difference("error", {"cost": 3, "result": True}, {"cost": 3, "error": "no such key"}),
    ),
    "another cost": ("cel", {"cost": 3}, {"cost": 4}, Difference("cost", 3, 4)),
    "too costly": ("cel", {"cost": 3}, {"cost": 3, "tooCostly": True}, Difference("tooCostly", UNSET, True)),
    "another verdict": (
        "cel",
        {"cost": 3, "result": True},
        {"cost": 3, "result": False},
        Difference("result", True, False),
    ),
    "an attribute of another type": (
        "cel",
        {"cost": 3, "attribute": {"int": 1}},
        {"cost": 3, "attribute": {"bool": True}},
        Difference("attribute.bool", UNSET, True),
    ),
    "a number is no truth": (
        "cel",
        {"cost": 3, "attribute": {"int": 1}},
        {"cost": 3, "attribute": {"int": True}},
        Difference("attribute.int", 1, True),
    ),
    "another status": (
        "allocation",
        [ALLOCATED, {"status": "unallocatable"}],
        [ALLOCATED, {"status": "error", "message": "m"}],
        Difference("step 2, status", "unallocatable", {"status": "error", "message": "m"}),
    ),
    "another device": (
        "allocation",
        [ALLOCATED],
        [changed(ALLOCATED, "allocations", "ns/a", "devices", "results", 1, "device", to="gpu-2")],
        Difference("step 1, allocations[ns/a].devices.results[1].device", "gpu-1", "gpu-2"),
    ),
    "devices in another order": (
        "allocation",
        [ALLOCATED],
        [changed(ALLOCATED, "allocations", "ns/a", "devices", "results", 0, "device", to="gpu-1")],
        Difference("step 1, allocations[ns/a].devices.results[0].device", "gpu-0", "gpu-1"),
    ),
    "a step after one in which the real one gave up": (
        "allocation",
        [{"status": "timeout"}, ALLOCATED],
        [ALLOCATED, {"status": "unallocatable"}],
        Difference("step 2, status", "allocated", "unallocatable"),
    ),
    "a step too few": ("allocation", [ALLOCATED], [], Difference("number of steps", 1, 0)),
    "another phase": (
        "scheduling",
        [STATE, STATE],
        [STATE, changed(STATE, "pods", "ns/a", "phase", to="Running")],
        Difference("after step 2, pods[ns/a].phase", "Pending", "Running"),
    ),
    "another message of a pending pod": (
        "scheduling",
        [STATE],
        [changed(STATE, "pods", "ns/a", "message", to="0/2 nodes")],
        Difference("after step 1, pods[ns/a].message", "0/1 nodes", "0/2 nodes"),
    ),
    "a condition of a device": (
        "scheduling",
        [STATE],
        [changed(STATE, "claims", "ns/c", "devices", 0, "conditions", "Ready", "status", to="False")],
        Difference("after step 1, claims[ns/c].devices[0].conditions.Ready.status", "True", "False"),
    ),
    "a pod that is not there": (
        "scheduling",
        [STATE],
        [changed(STATE, "pods", "ns/a", to=UNSET)],
        Difference("after step 1, pods[ns/a]", UNSET, UNSET),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_what_counts_as_the_same(case: str):
    kind, want, answer = SAME[case]
    assert compare(kind, want, answer) is None
    assert compare(kind, want, want) is None


@pytest.mark.parametrize("case", OTHER)
def test_what_counts_as_different(case: str):
    kind, want, answer, difference = OTHER[case]
    found = compare(kind, want, answer)
    assert found is not None
    assert found.path == difference.path
    if case != "a pod that is not there":
        assert (found.recorded, found.answered) == (difference.recorded, difference.answered)


TEXTS: dict[str, tuple[Kind, Any, Any, list[tuple[str, bool]]]] = {
    "the first line of a compile error": ("cel", {"compile": "a\nb"}, {"compile": "a\nc"}, [("compile", True)]),
    "another first line": ("cel", {"compile": "a\nb"}, {"compile": "c\nb"}, [("compile", False)]),
    "a run-time error": ("cel", {"cost": 1, "error": "a"}, {"cost": 1, "error": "b"}, [("error", False)]),
    "nothing to compare": ("cel", {"cost": 1, "error": "a"}, {"cost": 1, "result": True}, []),
    "other kinds have none": ("validation", REFUSED, REFUSED, []),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_are_compared_apart(case: str):
    kind, want, answer, checks = TEXTS[case]
    assert [(check.what, check.equal) for check in text_checks(kind, want, answer)] == checks


def test_lists_of_other_lengths_differ_where_one_ends():
    assert first_difference([1, 2], [1], "a") == Difference("a[1]", 2, UNSET)
    assert first_difference([1], [1, 2], "a") == Difference("a[1]", UNSET, 2)
