"""Host ports: who takes one of a node, and who has to wait for it.

Source: kubernetes pkg/scheduler/util (GetHostPorts), plugins/nodeports; pkg/apis/core/v1/defaults.go.
"""

import pytest
from builders import cluster, create, node
from msgspec.structs import replace

from dralang.api.containers import Container, ContainerPort
from dralang.api.meta import ObjectMeta
from dralang.api.pods import Pod, PodSpec


def listening(name, *ports, **fields):
    return Container(name=name, image="app", ports=ports, **fields)


def port(number=80, host=0, **fields):
    return ContainerPort(container_port=number, host_port=host, **fields)


def pod(name, *containers, init=(), **spec):
    made = PodSpec(containers=containers or (listening("main"),), init_containers=init, **spec)
    return Pod(metadata=ObjectMeta(name=name), spec=replace(made, termination_grace_period_seconds=0))


WEB = listening("main", port(80, 8080))
CLASHES = {
    "the same port": (pod("a", WEB), pod("b", WEB)),
    "another port inside, the same outside": (pod("a", WEB), pod("b", listening("main", port(81, 8080)))),
    "any address takes every address": (pod("a", listening("main", port(80, 8080, host_ip="10.0.0.1"))), pod("b", WEB)),
    "a sidecar listens as long as its pod runs": (
        pod("a", init=(listening("proxy", port(80, 8080), restart_policy="Always"),)),
        pod("b", WEB),
    ),
    "on the network of the node the port is that of the container": (
        pod("a", listening("main", port(8080)), host_network=True),
        pod("b", WEB),
    ),
    "a sidecar on the network of the node": (
        pod("a", init=(listening("proxy", port(8080), restart_policy="Always"),), host_network=True),
        pod("b", WEB),
    ),
}
FITS = {
    "another port": (pod("a", WEB), pod("b", listening("main", port(80, 8081)))),
    "a port of the container alone": (pod("a", WEB), pod("b", listening("main", port(8080)))),
    "another protocol": (pod("a", WEB), pod("b", listening("main", port(80, 8080, protocol="UDP")))),
    "two addresses": (
        pod("a", listening("main", port(80, 8080, host_ip="10.0.0.1"))),
        pod("b", listening("main", port(80, 8080, host_ip="10.0.0.2"))),
    ),
    "an init container ends before anybody cares": (
        pod("a", init=(listening("setup", port(80, 8080)),)),
        pod("b", WEB),
    ),
}


@pytest.mark.parametrize(("first", "second"), CLASHES.values(), ids=CLASHES)
def test_the_second_waits_for_the_first(first, second):
    simulation = cluster(node("worker-1"))
    create(simulation, first, second)
    waiting = simulation.pod("default", "b")
    assert waiting.spec.node_name == ""
    assert "didn't have free ports" in waiting.status.conditions[0].message
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert simulation.pod("default", "b").spec.node_name == "worker-1"


@pytest.mark.parametrize(("first", "second"), FITS.values(), ids=FITS)
def test_both_run_side_by_side(first, second):
    simulation = cluster(node("worker-1"))
    create(simulation, first, second)
    assert [each.spec.node_name for each in simulation.pods()] == ["worker-1", "worker-1"]


def test_a_port_of_its_own_is_kept_on_the_network_of_the_node():
    simulation = cluster(node("worker-1"))
    create(simulation, pod("a", listening("main", port(8080), port(81, 81)), host_network=True))
    assert [each.host_port for each in simulation.pod("default", "a").spec.containers[0].ports] == [8080, 81]
