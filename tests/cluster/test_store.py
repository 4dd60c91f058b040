import pytest
from builders import claim, features, node, pod, priority
from msgspec.structs import replace

from dralang.api.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dralang.api.device import DeviceTaint
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimConsumerReference
from dralang.api.resourceslice import Device, ResourceSlice, ResourceSliceSpec
from dralang.cluster.clock import EventQueue, Phase
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import Journal
from dralang.cluster.store import ObjectStore
from dralang.features import FeatureGates


@pytest.fixture
def store():
    return ObjectStore(EventQueue(), Journal(), features())


def drain(store):
    while store.events.next_time() is not None:
        store.events.run_next()


def allocation(device="gpu-0"):
    result = DeviceRequestAllocationResult(request="gpu", driver="gpu.example.com", pool="n1", device=device)
    return AllocationResult(devices=DeviceAllocationResult(results=(result,)))


def test_versions_grow_with_every_write_and_uids_are_never_reused(store):
    first = store.create(claim("a"))
    store.delete(ResourceClaim, "default", "a")
    second = store.create(claim("a"))
    assert first.metadata.uid != second.metadata.uid
    assert int(second.metadata.resource_version) > int(first.metadata.resource_version)
    assert second.metadata.creation_timestamp == "2026-01-01T00:00:00Z"


def test_an_outdated_update_is_a_conflict(store):
    old = store.create(claim("a"))
    store.update(replace(old, metadata=replace(old.metadata, labels={"x": "y"})))
    refused = store.update(replace(old, metadata=replace(old.metadata, labels={"x": "z"})))
    assert isinstance(refused, ApiError)
    assert refused.reason == "Conflict"


def test_an_update_keeps_the_status_and_a_status_update_keeps_the_spec(store):
    created = store.create(claim("a"))
    written = store.update_status(replace(created, status=replace(created.status, allocation=allocation())))
    changed = store.update(replace(claim("a", count=3), metadata=written.metadata))
    assert changed.status.allocation == allocation()
    assert changed.spec == claim("a", count=3).spec
    assert changed.metadata.generation == 2


def test_a_write_that_changes_nothing_tells_nobody(store):
    created = store.create(node("n1"))
    seen = []
    store.subscribe("watcher", Phase.CONTROLLER, (Node,), seen.append)
    assert store.update(created) is created
    drain(store)
    assert seen == []


def test_watchers_hear_of_changes_in_the_order_of_the_writes_even_when_their_lag_shrinks(store):
    seen = []
    store.subscribe("watcher", Phase.CONTROLLER, (Node,), lambda event: seen.append((store.events.now, event.new)))
    store.events.slow_down("watcher", 50)
    first = store.create(node("n1"))
    store.events.slow_down("watcher", 0)
    second = store.create(node("n2"))
    drain(store)
    assert seen == [(50, first), (50, second)]


DELETIONS = {
    "a pod without a node is gone at once": (pod("a", grace=30), None),
    "a pod that has ended is gone at once": (pod("a", grace=30, node_name="n1"), "Succeeded"),
    "a pod with grace period 0 is gone at once": (pod("a", grace=0, node_name="n1"), "Running"),
}


@pytest.mark.parametrize(("subject", "phase"), DELETIONS.values(), ids=DELETIONS)
def test_pods_that_nobody_has_to_end_are_deleted_at_once(store, subject, phase):
    store.create(subject)
    if phase is not None:
        store.patch_status(Pod, "default", "a", phase=phase)
    assert store.delete(Pod, "default", "a") is None
    assert store.get(Pod, "default", "a") is None


def test_a_running_pod_is_only_marked_until_its_kubelet_removes_it(store):
    store.create(pod("a", grace=30, node_name="n1"))
    store.delete(Pod, "default", "a")
    marked = store.get(Pod, "default", "a")
    assert marked.metadata.deletion_timestamp == "2026-01-01T00:00:30Z"
    store.delete(Pod, "default", "a", grace_seconds=60)
    assert store.get(Pod, "default", "a") == marked
    store.delete(Pod, "default", "a", grace_seconds=0)
    assert store.get(Pod, "default", "a") is None


SECOND_DELETIONS = {
    "without a period of its own: stays": (None, 5, "Running", (30, "30")),
    "also of a pod that has ended": (None, 5, "Succeeded", (30, "30")),
    "the same period": (30, 5, "Running", (30, "30")),
    "a longer one": (60, 5, "Running", (30, "30")),
    "a shorter one counts from the first deletion": (10, 5, "Running", (10, "10")),
    "also of a pod that has ended, if it is asked for": (10, 5, "Failed", (10, "10")),
    "a negative one is one second": (-3, 0, "Running", (1, "01")),
    "one that is over by now is one second from now": (10, 20, "Running", (1, "20")),
    "none: gone": (0, 5, "Running", None),
    "none, of a pod that has ended: gone": (0, 5, "Succeeded", None),
}


@pytest.mark.parametrize(("asked", "now", "phase", "left"), SECOND_DELETIONS.values(), ids=SECOND_DELETIONS)
def test_a_deletion_that_is_under_way_can_only_be_shortened(store, asked, now, phase, left):
    store.create(pod("a", grace=30, node_name="n1"))
    store.delete(Pod, "default", "a")
    store.patch_status(Pod, "default", "a", phase=phase)
    store.events.schedule(Phase.SCENARIO, "clock", lambda _: None, None, delay=now * 1000)
    drain(store)
    assert store.delete(Pod, "default", "a", grace_seconds=asked) is None
    found = store.get(Pod, "default", "a")
    meta = found.metadata if found is not None else None
    end = f"2026-01-01T00:00:{left[1]}Z" if left is not None else None
    assert (meta and meta.deletion_timestamp) == end
    assert (meta and meta.deletion_grace_period_seconds) == (left[0] if left is not None else None)


def test_the_period_of_the_first_deletion_counts(store):
    store.create(pod("a", grace=5, node_name="n1"))
    store.delete(Pod, "default", "a", grace_seconds=60)
    store.delete(Pod, "default", "a")
    assert store.get(Pod, "default", "a").metadata.deletion_grace_period_seconds == 60


def test_finalizers_hold_an_object_until_the_last_one_is_removed(store):
    created = store.create(replace(claim("a"), metadata=ObjectMeta(name="a", finalizers=("one", "two"))))
    store.delete(ResourceClaim, "default", "a")
    marked = store.get(ResourceClaim, "default", "a")
    assert marked.metadata.deletion_timestamp is not None
    left = store.update(replace(marked, metadata=replace(marked.metadata, finalizers=("two",))))
    assert store.get(ResourceClaim, "default", "a") is not None
    store.update(replace(left, metadata=replace(left.metadata, finalizers=())))
    assert store.get(ResourceClaim, "default", "a") is None
    assert created.metadata.uid == marked.metadata.uid


def test_a_deletion_with_the_uid_of_another_object_is_refused(store):
    store.create(claim("a"))
    refused = store.delete(ResourceClaim, "default", "a", uid="somebody-else")
    assert refused is not None
    assert refused.reason == "Conflict"


CLAIM_STATUS_RULES = {
    "an allocation never changes": (
        {"allocation": allocation("gpu-0")},
        {"allocation": allocation("gpu-1")},
        "field cannot be modified once set",
    ),
    "a reservation needs an allocation": (
        {},
        {"reserved_for": (ResourceClaimConsumerReference(resource="pods", name="a", uid="u"),)},
        "may not be specified when `allocated` is not set",
    ),
    "consumers are limited": (
        {"allocation": allocation()},
        {
            "reserved_for": tuple(
                ResourceClaimConsumerReference(resource="pods", name=f"p{index}", uid=f"u{index}")
                for index in range(257)
            )
        },
        "Too many: 257: must have at most 256 items",
    ),
}


@pytest.mark.parametrize(("before", "change", "text"), CLAIM_STATUS_RULES.values(), ids=CLAIM_STATUS_RULES)
def test_claim_status_rules_are_enforced(store, before, change, text):
    store.create(claim("a"))
    if before:
        assert not isinstance(store.patch_status(ResourceClaim, "default", "a", **before), ApiError)
    refused = store.patch_status(ResourceClaim, "default", "a", **change)
    assert isinstance(refused, ApiError)
    assert text in refused.message


def test_priority_comes_from_the_class_and_an_unknown_class_is_refused(store):
    store.create(priority("high", 1000))
    created = store.create(pod("a", priority_class_name="high"))
    assert created.spec.priority == 1000
    refused = store.create(pod("b", priority_class_name="missing"))
    assert refused == ApiError("Forbidden", "no PriorityClass with name missing was found")
    assert store.create(pod("c", priority=7)).spec.priority == 7


def test_a_node_gets_the_size_and_labels_that_its_kubelet_would_report(store):
    created = store.create(node("n1", cpu="4"))
    sizes = {name: str(quantity) for name, quantity in created.status.allocatable.items()}
    assert sizes == {"cpu": "4", "memory": "256Gi", "pods": "110"}
    assert created.metadata.labels == {"kubernetes.io/hostname": "n1"}


def test_a_taint_rule_is_dated_when_its_effect_begins(store):
    rule = DeviceTaintRule(metadata=ObjectMeta(name="broken"))
    created = store.create(replace(rule, spec=replace(rule.spec, taint=replace(rule.spec.taint, effect="None"))))
    assert created.spec.taint.time_added == "2026-01-01T00:00:00Z"
    store.events.now = 5_000
    taint = replace(created.spec.taint, effect="NoExecute")
    changed = store.update(replace(created, spec=replace(created.spec, taint=taint)))
    assert changed.spec.taint.time_added == "2026-01-01T00:00:05Z"


def test_injected_failures_refuse_exactly_the_next_requests(store):
    store.fail_next("create", ResourceClaim, "default", "a", count=2)
    assert isinstance(store.create(claim("a")), ApiError)
    assert isinstance(store.create(claim("b")), ResourceClaim)
    assert isinstance(store.create(claim("a")), ApiError)
    assert isinstance(store.create(claim("a")), ResourceClaim)


def tainted(name="s"):
    device = Device(name="d", taints=(DeviceTaint(key="k", effect="NoSchedule", time_added="2000-01-01T00:00:00Z"),))
    return ResourceSlice(metadata=ObjectMeta(name=name), spec=ResourceSliceSpec(driver="d", devices=(device,)))


def without_device_taints():
    on = features().on - {"DRADeviceTaints", "DRADeviceTaintRules"}
    return ObjectStore(EventQueue(), Journal(), FeatureGates("1.37", frozenset(on)))


def test_fields_of_features_that_are_off_are_forgotten_by_create_and_update():
    off = without_device_taints()
    assert off.create(tainted()).spec.devices[0].taints == ()
    stored = off.get(ResourceSlice, "", "s")
    assert off.update(replace(stored, spec=tainted().spec)) is stored


def test_what_is_in_use_may_stay(store):
    stored = store.create(tainted())
    store.features = without_device_taints().features
    other = replace(tainted().spec.devices[0], name="e")
    changed = store.update(replace(stored, spec=replace(stored.spec, devices=(*stored.spec.devices, other))))
    assert [len(device.taints) for device in changed.spec.devices] == [1, 1]


def test_a_status_is_gated_too():
    off = ObjectStore(EventQueue(), Journal(), features("1.35", NodeDeclaredFeatures=False))
    stored = off.create(node("n"))
    status = replace(stored.status, declared_features=("A",))
    assert off.update_status(replace(stored, status=status)) is stored
    held = off.create(claim("c"))
    result = DeviceRequestAllocationResult(request="r", driver="d", pool="p", device="x", binding_conditions=("b",))
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
    written = off.patch_status(ResourceClaim, "default", "c", allocation=allocation)
    assert written.status.allocation.devices.results == (replace(result, binding_conditions=()),)
    assert held.status.allocation is None


def test_a_store_that_is_filled_is_like_the_one_that_was_written(store):
    made = [
        priority("high", 10),
        node("n1"),
        claim("a"),
        replace(claim(""), metadata=ObjectMeta(generate_name="b-", namespace="default")),
        pod("p", priority_class_name="high"),
    ]
    for each in made:
        assert not isinstance(store.create(each), ApiError)
    other = ObjectStore(EventQueue(), Journal(), features())
    told = []
    for kind in (Node, ResourceClaim, Pod):
        other.subscribe("test", Phase.CONTROLLER, (kind,), lambda event: told.append(event.new.metadata.name))
    other.fill(store.contents())
    drain(other)
    assert told == ["n1", "a", "b-00001", "p"]
    for kind in store.kinds():
        assert other.objects(kind) == store.objects(kind)
    # What comes later is the same in both.
    after = replace(claim(""), metadata=ObjectMeta(generate_name="b-", namespace="default"))
    assert other.create(after) == store.create(after)
    assert other.revision == store.revision
