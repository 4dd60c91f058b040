import pytest
from builders import claim, cluster, create, devices, gpu_class, gpu_cluster, gpu_slice, node, pod, template, where
from msgspec.structs import replace

from dralang.api.pods import Pod, PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.controllers.claim_templates import generated_base


def test_a_claim_made_from_a_template_is_owned_by_its_pod_and_goes_with_it():
    simulation = gpu_cluster()
    create(simulation, pod("a", from_template="one-gpu"))
    made = simulation.claim("default", "a-gpu-00001")
    owner = simulation.pod("default", "a")
    assert [(each.kind, each.uid, each.controller) for each in made.metadata.owner_references] == [
        ("Pod", owner.metadata.uid, True)
    ]
    assert made.metadata.annotations == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert [(each.name, each.resource_claim_name) for each in owner.status.resource_claim_statuses] == [
        ("gpu", "a-gpu-00001")
    ]
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert simulation.claims() == []


def test_a_missing_template_is_noticed_when_it_appears():
    simulation = cluster(node("n1"), gpu_slice("n1"), gpu_class())
    create(simulation, pod("a", from_template="one-gpu"))
    assert where(simulation, "a") == {"a": None}
    assert [entry.reason for entry in simulation.trace if entry.name == "a"] == [
        "Created",
        "FailedResourceClaimCreation",
    ]
    create(simulation, template())
    assert where(simulation, "a") == {"a": "n1"}


def test_a_refused_claim_is_tried_again():
    simulation = gpu_cluster()
    simulation.store.fail_next("create", ResourceClaim, "default", "a-gpu-00001")
    simulation.create(pod("a", from_template="one-gpu"))
    simulation.advance_to(10)
    assert where(simulation, "a") == {"a": "worker-1"}
    assert devices(simulation, "a-gpu-00002") == ["gpu-0"]


def test_a_template_that_changes_later_changes_nothing_for_claims_that_exist():
    simulation = gpu_cluster(2)
    create(simulation, pod("a", from_template="one-gpu"))
    found = simulation.store.get(ResourceClaimTemplate, "default", "one-gpu")
    simulation.update(replace(template(count=2), metadata=found.metadata))
    create(simulation, pod("b", from_template="one-gpu"))
    assert devices(simulation, "a-gpu-00001") == ["gpu-0"]
    assert devices(simulation, "b-gpu-00001") is None


def test_a_claim_that_is_deleted_in_use_stays_until_its_last_user_has_ended():
    simulation = gpu_cluster(1, claim("mine"))
    create(simulation, pod("a", uses=["mine"]))
    simulation.delete(ResourceClaim, "default", "mine")
    assert simulation.settle()
    assert devices(simulation, "mine") == ["gpu-0"]
    simulation.finish("default", "a")
    assert simulation.settle()
    assert simulation.claim("default", "mine") is None


def test_a_pod_that_bypasses_the_scheduler_joins_an_allocated_claim_and_waits_for_an_unallocated_one():
    simulation = gpu_cluster(1, claim("mine"))
    create(simulation, pod("direct", uses=["mine"], node_name="worker-1"))
    assert simulation.pod("default", "direct").status.phase == "Pending"
    create(simulation, pod("scheduled", uses=["mine"]))
    assert simulation.pod("default", "direct").status.phase == "Running"
    assert [each.name for each in simulation.claim("default", "mine").status.reserved_for] == ["scheduled", "direct"]


def test_a_paused_controller_makes_no_claims_and_frees_none():
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu"))
    simulation.pause("resourceclaim-controller")
    simulation.delete(Pod, "default", "a")
    create(simulation, pod("b", from_template="one-gpu"))
    assert devices(simulation, "a-gpu-00001") == ["gpu-0"]
    assert simulation.claim("default", "b-gpu-00001") is None
    simulation.resume("resourceclaim-controller")
    assert simulation.settle()
    assert where(simulation, "b") == {"b": "worker-1"}


def test_a_slow_controller_frees_devices_late():
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu"), pod("b", from_template="one-gpu"))
    simulation.delay("resourceclaim-controller", 5_000)
    simulation.delete(Pod, "default", "a")
    simulation.advance_to(4_999)
    assert where(simulation, "b") == {"b": None}
    simulation.advance_to(5_000)
    assert where(simulation, "b") == {"b": "worker-1"}


def test_a_restarted_controller_goes_on_where_it_was():
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu"))
    simulation.delete(Pod, "default", "a")
    simulation.create(pod("b", from_template="one-gpu"))
    simulation.restart("resourceclaim-controller")
    assert simulation.settle()
    assert where(simulation, "b") == {"b": "worker-1"}


BASES = {
    "short names are joined": ("pod", "gpu", "pod-gpu-"),
    "long names are cut in proportion": ("p" * 60, "c" * 40, "p" * 33 + "-" + "c" * 22),
}


@pytest.mark.parametrize(("owner", "entry", "want"), BASES.values(), ids=BASES)
def test_the_name_of_a_generated_claim_tells_pod_and_entry(owner, entry, want):
    assert generated_base(owner, entry) == want


def test_a_claim_reserved_for_a_pod_that_does_not_exist_is_freed():
    simulation = gpu_cluster(1, claim("mine"))
    create(simulation, pod("a", uses=["mine"]))
    simulation.pause("resourceclaim-controller")
    simulation.delete(Pod, "default", "a")
    create(simulation, pod("a"))
    simulation.resume("resourceclaim-controller")
    assert simulation.settle()
    assert devices(simulation, "mine") is None
    assert simulation.claim("default", "mine").metadata.finalizers == ()


def test_the_name_of_a_claim_that_was_not_written_is_written_later():
    simulation = gpu_cluster()
    simulation.store.fail_next("update", Pod, "default", "a")
    create(simulation, pod("a", from_template="one-gpu"))
    assert where(simulation, "a") == {"a": "worker-1"}


def _change(simulation):
    found = simulation.pod("default", "a")
    label = str(len(simulation.trace))
    simulation.update(replace(found, metadata=replace(found.metadata, labels={"change": label})))
    assert simulation.settle()


def _delete(simulation, name):
    simulation.delete(ResourceClaim, "default", name)
    assert simulation.settle()


def _claims(simulation):
    return [each.metadata.name for each in simulation.claims()]


@pytest.mark.parametrize(("version", "again"), [("1.36", []), ("1.37", ["a-gpu-00002"]), ("1.38", ["a-gpu-00002"])])
def test_a_generated_claim_that_is_gone_is_missed_at_the_second_look(version, again):
    """Up to 1.36 the controller goes on believing in what it made; from 1.37 on it does so once."""
    simulation = gpu_cluster(0, version=version)
    create(simulation, pod("a", from_template="one-gpu"))
    _delete(simulation, "a-gpu-00001")
    assert _claims(simulation) == []
    _change(simulation)
    assert _claims(simulation) == again


def test_each_claim_that_is_made_is_believed_in_once():
    simulation = gpu_cluster(0)
    create(simulation, pod("a", from_template="one-gpu"))
    _delete(simulation, "a-gpu-00001")
    _change(simulation)
    _delete(simulation, "a-gpu-00002")
    assert _claims(simulation) == []
    _change(simulation)
    assert _claims(simulation) == ["a-gpu-00003"]


def test_a_look_at_one_claim_of_a_pod_is_one_at_all_of_them():
    simulation = gpu_cluster(0)
    entries = tuple(PodResourceClaim(name=each, resource_claim_template_name="one-gpu") for each in "xy")
    subject = pod("a")
    create(simulation, replace(subject, spec=replace(subject.spec, resource_claims=entries)))
    _delete(simulation, "a-x-00001")
    assert _claims(simulation) == ["a-y-00001"]
    _delete(simulation, "a-y-00001")
    assert _claims(simulation) == ["a-x-00002", "a-y-00002"]


def test_a_pod_that_has_ended_gets_no_claim_a_second_time():
    simulation = gpu_cluster()
    create(simulation, pod("a", from_template="one-gpu"))
    simulation.finish("default", "a")
    for _ in range(3):
        _change(simulation)
        assert _claims(simulation) == []
