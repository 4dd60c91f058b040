"""Which features the scheduler of each version infers from a pod, and what wakes a pod that waits for one."""

import pytest
from builders import cluster, create, message, node, pod, where
from msgspec.structs import replace

from dralang.api.containers import Container, ContainerRestartRule, EphemeralContainer, VolumeMount
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.volumes import PodCertificateProjection, ProjectedVolumeSource, Volume, VolumeProjection
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.declared_features import NodeDeclaredFeatures, needed_features
from dralang.scheduler.node_info import PodInfo

RULE = (ContainerRestartRule(action="RestartAllContainers"),)
MOUNT = (VolumeMount(name="v", mount_path="/v", bind_mount_options=("noexec",)),)
RESTART = "RestartAllContainersOnContainerExits"
ALL = ("1.34", "1.35", "1.36", "1.37", "1.38")


def certificate(key_type):
    source = VolumeProjection(pod_certificate=PodCertificateProjection(signer_name="s/x", key_type=key_type))
    return (Volume(name="v", projected=ProjectedVolumeSource(sources=(source,))),)


def with_containers(**changes):
    made = pod("p")
    return replace(made, spec=replace(made.spec, **changes))


CASES = {
    "a plain pod": (pod("p"), "", "never"),
    "a rule of a container": (
        with_containers(containers=(Container(name="c", restart_policy_rules=RULE),)), RESTART, "1.35",
    ),
    "a rule of an init container": (
        with_containers(init_containers=(Container(name="c", restart_policy_rules=RULE),)), RESTART, "1.35",
    ),
    "a rule that restarts one container": (
        with_containers(containers=(Container(name="c", restart_policy_rules=(ContainerRestartRule("Restart"),)),)),
        "", "never",
    ),
    "own users on the network of the host": (
        pod("p", host_network=True, host_users=False), "UserNamespacesHostNetworkSupport", "1.36",
    ),
    "own users on their own network": (pod("p", host_users=False), "", "never"),
    "the users of the host on its network": (pod("p", host_network=True, host_users=True), "", "never"),
    "options of a mount": (
        with_containers(containers=(Container(name="c", volume_mounts=MOUNT),)), "VolumeBindMountOptions", "1.37",
    ),
    "options of a mount of an ephemeral container": (
        with_containers(ephemeral_containers=(EphemeralContainer(name="c", volume_mounts=MOUNT),)),
        "VolumeBindMountOptions", "1.37",
    ),
    "a certificate with such a key": (pod("p", volumes=certificate("MLDSA65")), "PodCertificateMLDSA", "1.38"),
    "a certificate with another key": (pod("p", volumes=certificate("ED25519")), "", "never"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "feature", "since"), CASES.values(), ids=CASES.keys())
def test_what_each_version_infers(made, feature, since):
    for version in ALL:
        assert needed_features(made, version) == ({feature} if version >= since else set())


def declaring(name, *names):
    made = node(name)
    return replace(made, status=replace(made.status, declared_features=names))


def restarter(name="p"):
    made = pod(name)
    return replace(made, spec=replace(made.spec, containers=(Container(name="c", restart_policy_rules=RULE),)))


def test_all_needs_must_be_declared_and_unknown_names_do_not_matter():
    both = replace(restarter(), spec=replace(restarter().spec, host_network=True, host_users=False))
    simulation = cluster(
        declaring("n1", RESTART),
        declaring("n2", "Another", RESTART, "UserNamespacesHostNetworkSupport"),
        gates={"UserNamespacesHostNetworkSupport": True},
    )
    create(simulation, both)
    assert where(simulation, "p") == {"p": "n2"}


def tries(simulation, name):
    uid = simulation.pod("default", name).metadata.uid
    return simulation.scheduler.queue.get(uid).attempts


def test_only_events_that_can_help_lead_to_another_attempt():
    simulation = cluster(declaring("n1"))
    create(simulation, restarter())
    assert message(simulation, "p").startswith(
        "0/1 nodes are available: 1 node(s) didn't match Pod's required features."
    )
    assert tries(simulation, "p") == 1
    found = simulation.store.get(Node, "", "n1")
    simulation.update(replace(found, metadata=replace(found.metadata, labels={**found.metadata.labels, "a": "b"})))
    simulation.cordon("n1")
    assert simulation.settle()
    assert tries(simulation, "p") == 1
    simulation.uncordon("n1")
    create(simulation, node("n2"))
    assert tries(simulation, "p") == 2
    found = simulation.store.get(Node, "", "n1")
    simulation.update_status(replace(found, status=replace(found.status, declared_features=("Another",))))
    assert simulation.settle()
    assert tries(simulation, "p") == 3


def test_a_pod_that_needs_something_else_may_fit():
    plugin = NodeDeclaredFeatures("1.37")
    needs, labelled = restarter(), replace(restarter(), metadata=replace(restarter().metadata, labels={"a": "b"}))
    for old, new, helps in ((needs, labelled, False), (needs, pod("p"), True), (pod("p"), needs, True)):
        assert plugin.helps(ClusterEvent(EventKind.TARGET_POD_UPDATED, old, new), PodInfo(new)) is helps


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_the_plugin_is_off_where_its_gate_is(version):
    simulation = cluster(node("n1"), version=version)
    create(simulation, restarter())
    assert where(simulation, "p") == {"p": "n1"}


def test_the_gate_of_1_35():
    simulation = cluster(node("n1"), version="1.35", gates={"NodeDeclaredFeatures": True})
    create(simulation, restarter())
    assert simulation.store.objects(Pod)[0].spec.node_name == ""
