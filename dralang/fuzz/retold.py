"""Stories told otherwise: the same story with other names, useless devices, damage elsewhere; it must end the same.

Metamorphic oracles. Each plays a story once more, so each example is asked by one of them at most, and most by none.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from zlib import crc32

from msgspec import Struct, structs

from dralang.allocator.profiles import AllocatorProfile
from dralang.api.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dralang.api.allocation import ResourceClaimConsumerReference as Consumer
from dralang.api.device import DeviceTaint, DeviceToleration
from dralang.api.meta import ObjectMeta
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node
from dralang.api.resourceclaim import DeviceClaim, DeviceRequest, ExactDeviceRequest, ResourceClaim, ResourceClaimSpec
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.api.validation.limits import SLICE_MAX_DEVICES_WITH_ADVANCED_FEATURES
from dralang.cluster.podclaims import used_claim_names
from dralang.features import FeatureGates
from dralang.fuzz.renaming import Renaming, renaming_of
from dralang.run.outcome import Failure, Why
from dralang.run.player import play
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.scenario import steps as s
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared, Scenario
from dralang.values.quantity import Quantity, milli_quantity

SHARE: Final = 5
"""One example in so many is told otherwise."""
_MOST_RESULTS: Final = 32
_MOST_TAINTED: Final = SLICE_MAX_DEVICES_WITH_ADVANCED_FEATURES
_NOWHERE: Final = "zz-elsewhere"
_NO_KEY: Final = ObjectKey("", "", "")
Ending = dict[tuple[str, str], tuple[object, ...]]
Change = Callable[[Any], Any]


class Retold(Struct, frozen=True):
    """A story in two wordings that must come to the same.

    Attributes:
        one: the story.
        other: the story told otherwise.
        names: what was renamed in the other one; None if nothing was.
    """

    one: Scenario
    other: Scenario
    names: Renaming | None = None


class Oracle(Struct, frozen=True):
    """A way to tell a story otherwise.

    Attributes:
        name: of the invariant.
        summary: what holds.
        quirks: faults of Kubernetes that break it; it is not asked while one is on.
        retell: makes the two wordings; None if the story does not allow it.
    """

    name: str
    summary: str
    quirks: tuple[str, ...]
    retell: Callable[[Scenario, AllocatorProfile], Retold | None]


def told_otherwise(story: Scenario, choices: Sequence[int], workshop: Workshop, wanted: str | None) -> Failure | None:
    """Ask the oracle whose turn it is, if it is anybody's.

    Args:
        story: a story that ends well as it stands.
        choices: what filled its holes: decides whose turn it is.
        workshop: makes the environment.
        wanted: the signature of a failure that is looked for, whose oracle is asked; None asks all of them.
    """
    lot = crc32(b"retold" + repr(choices).encode()) % (SHARE * len(ORACLES))
    for number, oracle in enumerate(ORACLES):
        if number == lot or wanted is None or oracle.name in wanted:
            failure = ask(oracle, story, workshop)
            if failure is not None:
                return failure
    return None


def oracle_of(failure: Failure | None) -> Oracle | None:
    """The oracle that has found a failure, if one of these has."""
    for oracle in ORACLES:
        if failure is not None and failure.kind == "invariant" and failure.expected == _broken(oracle):
            return oracle
    return None


def _broken(oracle: Oracle) -> str:
    return f"{oracle.name} (std.invariants): {oracle.summary}"


def ask(oracle: Oracle, story: Scenario, workshop: Workshop) -> Failure | None:
    """Play a story in both wordings; what is different is a failure.

    Args:
        oracle: how to tell it.
        story: a story that ends well as it stands.
        workshop: makes the environment.
    """
    environment = workshop.environment(story.settings)
    if isinstance(environment, tuple) or any(environment.profile.has(quirk) for quirk in oracle.quirks):
        return None
    retold = None if any(map(_takes_its_time, story.steps)) else oracle.retell(_plain(story), environment.profile)
    if retold is None:
        return None
    mine = ending_of(retold.one, workshop)
    theirs = ending_of(retold.other, workshop)
    if retold.names is not None:
        theirs = {(namespace, name): retold.names.back(end) for (namespace, name), end in theirs.items()}
    for key, end in mine.items():
        if theirs.get(key) != end:
            actual = f"{key[1]}: {_said(end)}; told otherwise: {_said(theirs.get(key, ()))}"
            why = (Why(f"otherwise: {oracle.summary}"),)
            return Failure(story.span, "invariant", 0, _broken(oracle), actual, why)
    return None


def ending_of(story: Scenario, workshop: Workshop) -> Ending:
    """Each pod by namespace and name: phase, node, and what its claims have got."""
    seen: list[Simulation] = []
    play(story, workshop, seen.append, closely=False, keeps=True)
    simulation = seen[0]
    ending: Ending = {}
    for pod in simulation.pods():
        claims = [simulation.claim(pod.metadata.namespace, name) for name in used_claim_names(pod)]
        devices = [
            (result.request, result.driver, result.pool, result.device, _amounts(result))
            for claim in claims
            if claim is not None and claim.status.allocation is not None
            for result in claim.status.allocation.devices.results
        ]
        going = pod.metadata.deletion_timestamp is not None
        key = (pod.metadata.namespace, pod.metadata.name)
        ending[key] = (pod.status.phase, pod.spec.node_name, going, *devices)
    simulation.close()
    return ending


def _amounts(result: DeviceRequestAllocationResult) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount.nano) for name, amount in (result.consumed_capacity or {}).items()))


def _said(end: tuple[object, ...]) -> str:
    if not end:
        return "is not there"
    phase, node, _, *devices = end
    names = ", ".join("/".join(map(str, each[1:4])) for each in devices if isinstance(each, tuple))
    return f"{phase or 'Pending'} on {node or 'no node'} with {names or 'no device'}"


# ---- parts of a story -----------------------------------------------------------------------------------------------


def _takes_its_time(step: s.Step) -> bool:
    """Whether how long a step takes depends on names: it looks until it sees what it names."""
    return isinstance(step, s.Expect) and step.when == "within"


def _plain(story: Scenario) -> Scenario:
    """The story without what is expected, which takes its time all the same, and without what is watched."""
    steps: list[s.Step] = []
    for step in story.steps:
        if isinstance(step, s.Expect):
            steps.append(s.Settle(step.span, step.limit) if step.when == "settled" else s.Consequences(step.span))
        elif not isinstance(step, s.Watch):
            steps.append(step)
    steps.append(s.Settle(story.span, None))
    return structs.replace(story, steps=tuple(steps), properties=())


def objects_of(story: Scenario) -> list[Any]:
    """Every object that the story begins with or makes."""
    made = [step.object for step in story.steps if isinstance(step, s.Create | s.Publish)]
    return [*(each.object for each in story.initial), *made]


def with_objects(story: Scenario, change: Change) -> Scenario:
    """The story with every object changed."""
    initial = tuple([structs.replace(each, object=change(each.object)) for each in story.initial])
    steps = tuple(
        [
            structs.replace(step, object=change(step.object)) if isinstance(step, s.Create | s.Publish) else step
            for step in story.steps
        ]
    )
    return structs.replace(story, initial=initial, steps=steps)


def _with_more(story: Scenario, objects: Iterable[Any]) -> Scenario:
    """The story with more objects, made before everything else."""
    made = [s.Create(story.span, _key(each), each) for each in objects]
    return structs.replace(story, steps=(*made, *story.steps))


def _key(value: Any) -> ObjectKey:
    return ObjectKey(type(value).__name__, value.metadata.namespace, value.metadata.name)


def _requests(story: Scenario) -> list[Any]:
    """Every request and alternative of the story's claims and templates."""
    found: list[Any] = []
    for each in objects_of(story):
        spec = each.spec if isinstance(each, ResourceClaim) else getattr(getattr(each, "spec", None), "spec", None)
        if isinstance(spec, ResourceClaimSpec):
            for request in spec.devices.requests:
                found += [request.exactly] if request.exactly is not None else request.first_available
    return found


# ---- the oracles ----------------------------------------------------------------------------------------------------


def _renamed(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    names = renaming_of(objects_of(story), story.steps)
    return None if names is None else Retold(story, names.story(story), names)


def _with_useless_devices(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    """In front of each slice's devices stands one like the first of them, with a taint that nobody tolerates."""
    requests = _requests(story)
    if any(each.allocation_mode == "All" or any(map(_tolerates_all, each.tolerations)) for each in requests):
        return None

    slices = [each for each in objects_of(story) if isinstance(each, ResourceSlice)]
    # A name that a pool has twice makes it invalid: a slice has a number, whatever is published under its name.
    numbers = {name: number for number, name in enumerate(sorted({each.metadata.name for each in slices}))}
    prefix = "zz-useless"
    while any(device.name.startswith(prefix) for each in slices for device in each.spec.devices):
        prefix = f"z{prefix}"
    taint = DeviceTaint(key="zz-useless", effect="NoSchedule")

    def change(value: Any) -> Any:
        # One more device with a taint must not be one too many for the API server.
        if not isinstance(value, ResourceSlice) or not 0 < len(value.spec.devices) < _MOST_TAINTED:
            return value
        name = f"{prefix}-{numbers[value.metadata.name]}"
        useless = structs.replace(value.spec.devices[0], name=name, taints=(taint,))
        return structs.replace(value, spec=structs.replace(value.spec, devices=(useless, *value.spec.devices)))

    return Retold(story, with_objects(story, change))


def _tolerates_all(toleration: DeviceToleration) -> bool:
    return not toleration.key


def _with_admin_claim(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    """Somebody with administrative access has had all devices from the start."""
    results = [
        DeviceRequestAllocationResult(
            request="all",
            driver=each.spec.driver,
            pool=each.spec.pool.name,
            device=device.name,
            admin_access=True,
            consumed_capacity={name: capacity.value for name, capacity in device.capacity.items()} or None
            if device.allow_multiple_allocations
            else None,
            share_id="00000000-0000-4000-9000-000000000001" if device.allow_multiple_allocations else None,
        )
        for each in objects_of(story)
        if isinstance(each, ResourceSlice)
        for device in each.spec.devices
    ]
    classes = [each.metadata.name for each in objects_of(story) if type(each).__name__ == "DeviceClass"]
    if not results or not classes:
        return None
    label = {"resource.kubernetes.io/admin-access": "true"}
    asked = ExactDeviceRequest(device_class_name=classes[0], allocation_mode="All", admin_access=True)
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="all", exactly=asked),)))
    user = Consumer(api_group="example.com", resource="monitors", name="zz-monitor", uid="zz-monitor")
    made: list[Any] = [Namespace(metadata=ObjectMeta(name="zz-admin", labels=label))]
    for first in range(0, len(results), _MOST_RESULTS):
        devices = DeviceAllocationResult(results=tuple(results[first : first + _MOST_RESULTS]))
        claim = ResourceClaim(metadata=ObjectMeta(name=f"zz-monitor-{first}", namespace="zz-admin"), spec=spec)
        status = structs.replace(claim.status, allocation=AllocationResult(devices=devices), reserved_for=(user,))
        made.append(structs.replace(claim, status=status))
    return Retold(story, _with_more(story, made))


def _with_damage_elsewhere(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    """There is one more node; in the other wording its pools are broken."""
    if "skipped bad pools" in profile.lacks:
        return None  # 1.34 uses them
    if profile.has("all-mode-bad-pool-is-fatal") and any(each.allocation_mode == "All" for each in _requests(story)):
        return None
    objects = objects_of(story)
    nodes = [each for each in objects if isinstance(each, Node)]
    slices = [each for each in objects if isinstance(each, ResourceSlice) and each.spec.devices]
    everywhere = [each for each in slices if not each.spec.node_name]
    if not nodes or not slices or everywhere or any(isinstance(step, s.Publish) for step in story.steps):
        return None
    meta = structs.replace(nodes[0].metadata, name=_NOWHERE, labels={"kubernetes.io/hostname": _NOWHERE})
    node = structs.replace(nodes[0], metadata=meta)
    one = _with_more(story, [node])
    broken: list[ResourceSlice] = []
    for driver in dict.fromkeys(each.spec.driver for each in slices):
        spec = next(each.spec for each in slices if each.spec.driver == driver)
        for number, (count, copies) in enumerate(((3, 1), (2, 2))):
            # The first pool misses slices, the second one has its devices twice.
            pool = structs.replace(spec.pool, name=f"{_NOWHERE}-{number}", resource_slice_count=count)
            broken += [
                ResourceSlice(
                    metadata=ObjectMeta(name=f"{_NOWHERE}-{driver.partition('.')[0]}-{number}-{copy}"),
                    spec=structs.replace(
                        spec,
                        node_name=_NOWHERE,
                        pool=pool,
                        shared_counters=(),
                        devices=tuple([_without_counters(each) for each in spec.devices]),
                    ),
                )
                for copy in range(copies)
            ]
    return Retold(one, _with_more(story, [node, *broken]))


def _without_counters(device: Device) -> Device:
    return structs.replace(device, consumes_counters=())


def _spelled_otherwise(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    """Quantities are written in thousandths, and what stands before the pods is made in another order."""
    return Retold(story, _in_other_order(with_objects(story, _respelled)))


def _respelled(value: Any) -> Any:
    if isinstance(value, Quantity):
        milli, rest = divmod(value.nano, 10**6)
        return value if rest or abs(milli) >= 2**62 else milli_quantity(milli)
    if isinstance(value, Node):
        return value
    return mapped(value, _respelled)


def mapped(value: Any, change: Change) -> Any:
    """A value with all its parts changed; the same object if nothing was."""
    if isinstance(value, Struct):
        found = {name: getattr(value, name) for name in value.__struct_fields__}
        changed = {name: new for name, old in found.items() if (new := change(old)) is not old}
        return structs.replace(value, **changed) if changed else value
    if type(value) is tuple:
        parts = tuple([change(each) for each in value])
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    if isinstance(value, dict) or type(value).__name__ == "mappingproxy":
        return {name: change(each) for name, each in value.items()}
    return value


def _in_other_order(story: Scenario) -> Scenario:
    """Classes, templates and claims that exist before the first pod, the last one first."""
    kinds = ("DeviceClass", "ResourceClaimTemplate", "ResourceClaim")
    initial = _reversed(story.initial, lambda each: isinstance(each, Declared) and each.key.kind in kinds)
    first = next(
        (
            number
            for number, step in enumerate(story.steps)
            if not isinstance(step, s.Create | s.Consequences)
            or (isinstance(step, s.Create) and step.key.kind == "Pod")
        ),
        len(story.steps),
    )
    before = _reversed(story.steps[:first], lambda step: isinstance(step, s.Create) and step.key.kind in kinds)
    return structs.replace(story, initial=initial, steps=(*before, *story.steps[first:]))


def _reversed(items: Sequence[Any], chosen: Callable[[Any], bool]) -> tuple[Any, ...]:
    """Some of the items in the opposite order, the others where they are."""
    moved = [each for each in items if chosen(each)]
    return tuple([moved.pop() if chosen(each) else each for each in items])


_GATES: Final = (
    ("DRAListTypeAttributes", ("ints", "bools", "strings", "versions")),
    ("DRADerivedAttributes", ("derived_attributes",)),
    ("DRADeviceCompatibilityGroups", ("compatibility_groups",)),
    ("DRANodeAllocatableResources", ("node_allocatable_resources",)),
    ("DRAOptionalNodeOperations", ("skip_node_operations",)),
    ("DRAResourcePoolStatus", ()),
    ("GenericWorkload", ("scheduling_group",)),
    ("DRAWorkloadResourceClaims", ("scheduling_group",)),
)
"""Gates that are off by default, and the fields that use them."""


def _with_unused_gates(story: Scenario, profile: AllocatorProfile) -> Retold | None:
    """Gates of features that no object of the story uses are on."""
    settings = story.settings
    used = {name for each in objects_of(story) for name in _used_fields(each)}
    gates = dict(settings.gates)
    for gate, fields in _GATES:
        if gate not in gates and not used.intersection(fields):
            tried = FeatureGates.resolve(settings.version, {**gates, gate: True})
            if isinstance(tried, FeatureGates):
                gates[gate] = True
    if gates == dict(settings.gates):
        return None
    return Retold(story, structs.replace(story, settings=structs.replace(settings, gates=gates)))


def _used_fields(value: Any) -> set[str]:
    """The fields of an object that say something, at any depth."""
    if isinstance(value, Struct):
        found: set[str] = set()
        for name in value.__struct_fields__:
            inner = getattr(value, name)
            if inner is not None and inner not in ((), {}, ""):
                found |= {name} | _used_fields(inner)
        return found
    if isinstance(value, dict) or type(value).__name__ == "mappingproxy":
        value = tuple(value.values())
    return {name for each in value for name in _used_fields(each)} if type(value) is tuple else set()


ORACLES: Final[tuple[Oracle, ...]] = (
    Oracle(
        "names-do-not-matter",
        "Other names for drivers, pools, devices and claims, in the same order, change nothing but the names.",
        ("counters-shared-by-pool-name",),
        _renamed,
    ),
    Oracle(
        "useless-devices-change-nothing",
        "A device that nobody can use, in front of the others, takes nothing from anybody.",
        ("rejected-candidate-keeps-reservation", "any-taint-effect-blocks"),
        _with_useless_devices,
    ),
    Oracle(
        "admin-access-holds-nothing",
        "A claim with administrative access to all devices changes nothing for other claims.",
        (),
        _with_admin_claim,
    ),
    Oracle(
        "damage-stays-local",
        "Broken pools of one node change nothing for what can run on other nodes.",
        (),
        _with_damage_elsewhere,
    ),
    Oracle(
        "spelling-does-not-matter",
        "Neither how a quantity is written changes anything, nor in which order classes and claims were made.",
        (),
        _spelled_otherwise,
    ),
    Oracle(
        "unused-gates-change-nothing",
        "Switching on a feature that no object uses changes nothing.",
        (),
        _with_unused_gates,
    ),
)
