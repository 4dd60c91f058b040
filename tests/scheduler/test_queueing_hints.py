"""Which change of the cluster makes a plugin that has rejected a pod want another look.

Source: the QueueingHintFn of each plugin, kubernetes pkg/scheduler/framework/plugins (1.37).
"""

import pytest
from builders import gpu_class, node, pod
from msgspec.structs import replace

from dralang.scheduler.cluster_event import ClusterEvent, EventKind, node_aspects
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.node_plugins import NodeUnschedulable
from dralang.scheduler.resource_plugins import NodeResourcesFit


def worker(*, cordoned=False, **more):
    made = node("worker-1", **more)
    return replace(made, spec=replace(made.spec, unschedulable=cordoned))


def changed(old, new):
    return ClusterEvent(EventKind.NODE_UPDATED, old, new, node_aspects(old, new))


CORDONS = {
    "a node that is new": (ClusterEvent(EventKind.NODE_ADDED, None, worker()), True),
    "a node that is new and cordoned": (ClusterEvent(EventKind.NODE_ADDED, None, worker(cordoned=True)), False),
    "uncordoned": (changed(worker(cordoned=True), worker()), True),
    "cordoned": (changed(worker(), worker(cordoned=True)), False),
    "another change of a node that never was": (changed(worker(), worker(labels={"disk": "ssd"})), False),
}


@pytest.mark.parametrize(("event", "helps"), CORDONS.values(), ids=CORDONS)
def test_a_pod_that_a_cordon_keeps_away_waits_for_its_end(event, helps):
    assert NodeUnschedulable().helps(event, PodInfo(pod("p"))) is helps


def class_event(old, new):
    return ClusterEvent(EventKind.CLASS_CHANGED, old, new)


EXTENDED, PLAIN = gpu_class(extended="example.com/gpu"), gpu_class()
IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"
CLASSES = {
    "a new class with the name": ("example.com/gpu", class_event(None, EXTENDED), True),
    "a class that gets the name": ("example.com/gpu", class_event(PLAIN, EXTENDED), True),
    "a class that had it before": ("example.com/gpu", class_event(EXTENDED, EXTENDED), False),
    "a class that loses it": ("example.com/gpu", class_event(EXTENDED, PLAIN), False),
    "a class with another name": ("example.com/other", class_event(None, EXTENDED), False),
    "a new class with its implicit name": (IMPLICIT, class_event(None, PLAIN), True),
    "its implicit name was there before": (IMPLICIT, class_event(PLAIN, PLAIN), False),
    "no extended resource": ("cpu", class_event(None, EXTENDED), False),
}


@pytest.mark.parametrize(("resource", "event", "helps"), CLASSES.values(), ids=CLASSES)
def test_a_pod_that_lacks_a_resource_waits_for_the_class_that_names_it(resource, event, helps):
    fit = NodeResourcesFit(lambda name, _node: name != "cpu", lambda _name: False)
    assert fit.helps(event, PodInfo(pod("p", requests={resource: "1"}))) is helps
