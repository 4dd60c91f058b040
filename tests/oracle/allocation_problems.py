"""Whole allocation problems, drawn at random: small numbers, exact fits, every feature of the allocator.

The drawing is written against ``Chooser``, so that Hypothesis can shrink what it finds and a plain random generator
can make many problems fast.
"""

import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")
Json = dict[str, Any]

DRIVERS = ("drv-a.example.com", "drv-b.example.com")
GATES = (
    "DRAAdminAccess",
    "DRAPrioritizedList",
    "DRAPartitionableDevices",
    "DRADeviceTaints",
    "DRADeviceBindingConditions",
    "DRAConsumableCapacity",
    "DRAFractionalCapacityRange",
    "DRAListTypeAttributes",
    "DRAOptionalNodeOperations",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
)
NEEDS = {
    "DRAFractionalCapacityRange": "DRAConsumableCapacity",
    "DRADeviceCompatibilityGroups": "DRAPartitionableDevices",
}


class Chooser(Protocol):
    """Where the choices come from."""

    def number(self, least: int, most: int) -> int: ...

    def pick(self, options: Sequence[_T]) -> _T: ...

    def chance(self, percent: int) -> bool: ...


class RandomChooser:
    """Choices of a seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def pick(self, options: Sequence[_T]) -> _T:
        return options[self._random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent


class HypothesisChooser:
    """Choices that Hypothesis can shrink: towards the first option, the least number, and no."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def pick(self, options: Sequence[_T]) -> _T:
        return options[self._draw(st.integers(0, len(options) - 1))]

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(0, 99)) >= 100 - percent


@st.composite
def problems(draw: Any) -> Json:
    """Hypothesis strategy for a whole allocation case."""
    return draw_problem(HypothesisChooser(draw), "drawn")


def random_problem(seed: int) -> Json:
    """The allocation case of a seed."""
    return draw_problem(RandomChooser(seed), f"random-{seed}")


def tight_problem(seed: int) -> Json:
    """A problem without errors in which many devices are alike and there is hardly enough: a long search."""
    choose = RandomChooser(seed)
    gates = dict.fromkeys(GATES, True)
    gates["DRAListTypeAttributes"] = choose.chance(50)
    counters = choose.chance(50)
    shared = choose.chance(30)
    lists = gates["DRAListTypeAttributes"] and choose.chance(40)
    devices = []
    for number in range(choose.number(4, 9)):
        numa = choose.number(0, 2)
        attributes: Json = {"numa": {"ints": sorted({numa, choose.number(0, 2)})} if lists else {"int": numa}}
        attributes["model"] = {"string": choose.pick(("a", "a", "b"))}
        device: Json = {"name": f"dev-{number}", "attributes": attributes}
        if shared and choose.chance(60):
            device |= {"allowMultipleAllocations": True, "capacity": {"mem": {"value": choose.pick(("2", "3"))}}}
        if counters and choose.chance(80):
            device["consumesCounters"] = [
                {"counterSet": "cs-0", "counters": {"mem": {"value": str(choose.number(1, 3))}}}
            ]
            if choose.chance(20):
                device["consumesCounters"][0]["compatibilityGroups"] = choose.pick((["g"], ["h"], ["g", "h"]))
        devices.append(device)
    pool = {"name": "pool-0", "generation": 1, "resourceSliceCount": 2 if counters else 1}
    spec = {"driver": DRIVERS[0], "pool": pool, "nodeName": "node-1"}
    objects: list[Json] = [_node(choose, "node-1", 0), *_classes(choose)]
    objects.append({"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**spec, "devices": devices}})
    if counters:
        sets = [{"name": "cs-0", "counters": {"mem": {"value": str(choose.number(3, 9))}}}]
        objects.append({"kind": "ResourceSlice", "metadata": {"name": "c"}, "spec": {**spec, "sharedCounters": sets}})
    claims = [_tight_claim(choose, number, shared=shared) for number in range(choose.pick((1, 1, 2, 3)))]
    labels = [f"default/{claim['metadata']['name']}" for claim in claims]
    return {
        "kind": "allocation",
        "id": f"tight-{seed}",
        "kubernetes": "1.37",
        "featureGates": gates,
        "objects": [*objects, *claims],
        "steps": [{"node": "node-1", "allocate": labels}],
    }


def _tight_claim(choose: Chooser, number: int, *, shared: bool) -> Json:
    def wish() -> Json:
        result: Json = {
            "deviceClassName": "class-any",
            "allocationMode": "ExactCount",
            "count": choose.pick((1, 1, 2, 2, 3)),
        }
        if choose.chance(5):
            result = {"deviceClassName": "class-any", "allocationMode": "All"}
        if choose.chance(25):
            text = f'device.attributes["{DRIVERS[0]}"].model == "{choose.pick(("a", "b"))}"'
            result["selectors"] = [{"cel": {"expression": text}}]
        if shared and choose.chance(50):
            result["capacity"] = {"requests": {"mem": choose.pick(("1", "2"))}}
        return result

    requests: list[Json] = []
    for index in range(choose.number(1, 4)):
        if choose.chance(30):
            alternatives = [{"name": f"s{inner}", **wish()} for inner in range(choose.number(2, 3))]
            requests.append({"name": f"r{index}", "firstAvailable": alternatives})
        else:
            requests.append({"name": f"r{index}", "exactly": wish()})
    constraints = []
    for _ in range(choose.pick((0, 1, 1, 2))):
        kind = choose.pick(("matchAttribute", "distinctAttribute"))
        constraint: Json = {kind: f"{DRIVERS[0]}/{choose.pick(('numa', 'numa', 'model'))}"}
        if choose.chance(60):
            constraint["requests"] = sorted({choose.pick(_names(requests)) for _ in range(choose.number(1, 3))})
        constraints.append(constraint)
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": f"c{number}", "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": constraints}},
    }


def draw_problem(choose: Chooser, name: str) -> Json:
    """One allocation case, without answers."""
    gates = _gates(choose)
    nodes = ["node-1"] if choose.chance(70) else ["node-1", "node-2"]
    objects: list[Json] = [_node(choose, node, number) for number, node in enumerate(nodes)]
    pools = [(driver, f"pool-{number}") for driver in DRIVERS for number in range(2)]
    style = _Style(choose, gates)
    number_of_pools = choose.pick((1, 1, 2, 2, 3, 4))
    for driver, pool in pools[:number_of_pools] if choose.chance(50) else pools[-number_of_pools:]:
        objects += _pool(choose, style, driver, pool, nodes)
    objects += _classes(choose)
    claims = [_claim(choose, style, number) for number in range(choose.pick((1, 1, 2, 2, 3, 4)))]
    objects += claims
    labels = [f"default/{claim['metadata']['name']}" for claim in claims]
    return {
        "kind": "allocation",
        "id": name,
        "kubernetes": "1.37",
        "featureGates": gates,
        "objects": objects,
        "steps": _steps(choose, labels, nodes),
    }


class _Style:
    """What a problem is about, so that its parts fit together."""

    def __init__(self, choose: Chooser, gates: dict[str, bool]) -> None:
        self.gates = gates
        self.counters = choose.chance(45)
        self.shared = choose.chance(50)
        self.capacity = self.shared or choose.chance(30)
        self.taints = choose.chance(30)
        self.lists = choose.chance(30)
        self.messy = choose.chance(20)
        self.alike = choose.chance(40)


def _gates(choose: Chooser) -> dict[str, bool]:
    if choose.chance(50):
        return dict.fromkeys(GATES, True)
    gates = {gate: choose.chance(80) for gate in GATES}
    for gate, need in NEEDS.items():
        gates[gate] = gates[gate] and gates[need]
    return gates


def _node(choose: Chooser, name: str, number: int) -> Json:
    node: Json = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"zone": f"z{number}", "rack": choose.pick(("r1", "r2")), "size": str(number * 5)},
        },
    }
    if choose.chance(70):
        node["status"] = {"declaredFeatures": ["DRAOptionalNodeOperations"]}
    return node


def _pool(choose: Chooser, style: _Style, driver: str, pool: str, nodes: list[str]) -> list[Json]:
    generation = choose.number(0, 2)
    counters = style.counters and choose.chance(80)
    device_slices = choose.pick((1, 1, 2))
    total = device_slices + (1 if counters else 0)
    announced = total + (choose.pick((-1, 1)) if style.messy and choose.chance(40) else 0)
    place = choose.pick(("node", "node", "node", "all", "selector", "device"))
    slices: list[Json] = []
    sets = ["cs-0"] if choose.chance(60) else ["cs-0", "cs-1"]
    first = 0
    for number in range(device_slices):
        name = f"s{choose.number(0, 99):02d}-{pool}-{driver[4]}-{number}"
        slice_ = _slice(driver, pool, name, generation, announced)
        spec = slice_["spec"]
        _put_somewhere(choose, spec, place if choose.chance(85) else "all", nodes)
        devices = []
        for _ in range(choose.number(1, 6)):
            twin = 1 if style.messy and choose.chance(10) and first else 0
            devices.append(_device(choose, style, f"dev-{first - twin}", sets if counters else []))
            if spec.get("perDeviceNodeSelection"):
                _put_somewhere(choose, devices[-1], choose.pick(("node", "node", "all", "selector")), nodes)
            first += 1
        spec["devices"] = devices
        if choose.chance(8):
            spec["skipNodeOperations"] = ["*"]
        if style.messy and choose.chance(20):
            spec["pool"]["generation"] = choose.number(0, 3)
        slices.append(slice_)
    if counters:
        slice_ = _slice(driver, pool, f"c{choose.number(0, 99):02d}-{pool}-{driver[4]}", generation, announced)
        _put_somewhere(choose, slice_["spec"], "node" if place == "node" else "all", nodes)
        slice_["spec"]["sharedCounters"] = [
            {"name": name, "counters": {key: {"value": str(choose.number(0, 6))} for key in ("mem", "sm")}}
            for name in sets
        ]
        if not (style.messy and choose.chance(15)):
            slices.insert(choose.number(0, len(slices)), slice_)
    return slices


def _slice(driver: str, pool: str, name: str, generation: int, count: int) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}},
    }


def _put_somewhere(choose: Chooser, spec: Json, place: str, nodes: list[str]) -> None:
    match place:
        case "node":
            spec["nodeName"] = choose.pick(nodes)
        case "all":
            spec["allNodes"] = True
        case "device":
            spec["perDeviceNodeSelection"] = True
        case _:
            requirement: Json = choose.pick(
                (
                    {"key": "zone", "operator": "In", "values": ["z0", "z1"]},
                    {"key": "zone", "operator": "In", "values": ["z0"]},
                    {"key": "rack", "operator": "NotIn", "values": ["r2"]},
                    {"key": "rack", "operator": "Exists"},
                    {"key": "size", "operator": "Gt", "values": ["2"]},
                    {"key": "size", "operator": "Lt", "values": ["9"]},
                    {"key": "nope", "operator": "DoesNotExist"},
                )
            )
            terms: list[Json] = [{"matchExpressions": [requirement]}]
            if choose.chance(15):
                terms[0]["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [choose.pick(nodes)]}]
            if choose.chance(5):
                terms.append({"matchExpressions": [{"key": "zone", "operator": "Exists"}]})
            spec["nodeSelector"] = {"nodeSelectorTerms": terms}


def _device(choose: Chooser, style: _Style, name: str, sets: list[str]) -> Json:
    device: Json = {"name": name}
    attributes: Json = {}
    if choose.chance(85):
        numa = choose.number(0, 2)
        if style.lists and choose.chance(60):
            attributes["numa"] = {"ints": sorted({numa, choose.number(0, 3)})}
        elif choose.chance(90):
            attributes["numa"] = {"int": numa}
        else:
            attributes["numa"] = choose.pick(
                ({"string": "0"}, {"bool": True}, {"strings": ["0"]}, {"versions": ["1.0.0"]})
            )
    if choose.chance(60):
        attributes["model"] = {"string": choose.pick(("a", "a", "b"))}
    if choose.chance(25):
        attributes["std.example.com/ver"] = {"version": choose.pick(("1.0.0", "1.0.0+x", "2.0.0-rc.1"))}
    if choose.chance(20):
        attributes["ok"] = {"bool": choose.chance(50)}
    if attributes:
        device["attributes"] = attributes
    if style.shared and choose.chance(60):
        device["allowMultipleAllocations"] = True
    if style.capacity and choose.chance(80):
        device["capacity"] = _capacity(choose)
    if sets and choose.chance(80):
        device["consumesCounters"] = [
            _consumption(choose, style, name) for name in (sets if choose.chance(30) else [choose.pick(sets)])
        ]
    if style.taints and choose.chance(40):
        device["taints"] = [
            {"key": "t", "value": choose.pick(("x", "y")), "effect": choose.pick(("NoSchedule", "NoExecute", "None"))}
            for _ in range(choose.pick((1, 1, 2)))
        ]
    if choose.chance(6):
        device["bindingConditions"] = ["ready"]
        device["bindingFailureConditions"] = ["failed"]
    if choose.chance(5):
        device["bindsToNode"] = True
    return device


def _capacity(choose: Chooser) -> Json:
    capacity: Json = {}
    for name in ("mem", "bw") if choose.chance(40) else ("mem",):
        entry: Json = {"value": choose.pick(("2", "4", "4", "6", "4Gi", "2500m", "1e3"))}
        match choose.pick(("none", "none", "range", "step", "values", "fraction")):
            case "range":
                entry["requestPolicy"] = {"default": "1", "validRange": {"min": "1", "max": "4"}}
            case "step":
                entry["requestPolicy"] = {"default": "2", "validRange": {"min": "2", "step": "2"}}
            case "fraction":
                entry["requestPolicy"] = {"default": "500m", "validRange": {"min": "500m", "step": "500m"}}
            case "values":
                entry["requestPolicy"] = {"default": "1", "validValues": ["1", "3"]}
            case _:
                pass
        capacity[name] = entry
    return capacity


def _consumption(choose: Chooser, style: _Style, name: str) -> Json:
    keys = ("mem", "sm") if choose.chance(40) else ("mem",)
    entry: Json = {"counterSet": name, "counters": {key: {"value": str(choose.number(0, 3))} for key in keys}}
    if style.messy and choose.chance(5):
        entry["counters"]["none"] = {"value": "1"}
    if choose.chance(12):
        entry["compatibilityGroups"] = choose.pick((["g1"], ["g2"], ["g1", "g2"]))
    return entry


def _classes(choose: Chooser) -> list[Json]:
    def one(name: str, selectors: list[str], config: list[Json]) -> Json:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": text}} for text in selectors], "config": config},
        }

    config = [{"opaque": {"driver": DRIVERS[0], "parameters": {"k": "v"}}}] if choose.chance(30) else []
    return [
        one("class-a", ['device.driver == "drv-a.example.com"'], config),
        one("class-b", ['device.driver == "drv-b.example.com"'], []),
        one("class-any", ['device.driver.endsWith("example.com")'], []),
    ]


SELECTORS = (
    'device.attributes["DRIVER"].?model.orValue("") == "a"',
    '"numa" in device.attributes["DRIVER"] && device.attributes["DRIVER"].numa.includes(0)',
    '!has(device.attributes["DRIVER"].ok) || device.attributes["DRIVER"].ok',
    '"mem" in device.capacity["DRIVER"] && device.capacity["DRIVER"].mem.compareTo(quantity("4")) >= 0',
    "true",
)
FAILING_SELECTOR = 'device.attributes["DRIVER"].model == "a"'
DERIVED = (
    'device.attributes["DRIVER"].?model.orValue("none")',
    "size(device.attributes)",
    "device.driver",
    'device.attributes["DRIVER"].model',
)


def _claim(choose: Chooser, style: _Style, number: int) -> Json:
    requests = [_request(choose, style, f"r{index}") for index in range(choose.pick((1, 1, 2, 2, 3)))]
    devices: Json = {"requests": requests}
    constraints = [_constraint(choose, requests) for _ in range(choose.pick((0, 0, 1, 1, 2)))]
    if constraints:
        devices["constraints"] = constraints
    if choose.chance(20):
        config: Json = {"opaque": {"driver": DRIVERS[0], "parameters": {"claim": number}}}
        if choose.chance(60):
            config["requests"] = [choose.pick(_names(requests)) for _ in range(choose.number(1, 2))]
        devices["config"] = [config]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": f"c{number}", "namespace": "default", "uid": f"uid-{number}"},
        "spec": {"devices": devices},
    }


def _names(requests: list[Json]) -> list[str]:
    names = []
    for request in requests:
        names.append(request["name"])
        names += [f"{request['name']}/{alternative['name']}" for alternative in request.get("firstAvailable", ())]
    return names


def _request(choose: Chooser, style: _Style, name: str) -> Json:
    if choose.chance(25):
        alternatives = []
        for index in range(choose.number(1, 3)):
            alternatives.append({"name": f"s{index}", **_wish(choose, style)})
        return {"name": name, "firstAvailable": alternatives}
    wish = _wish(choose, style)
    if choose.chance(8):
        wish["adminAccess"] = True
    return {"name": name, "exactly": wish}


def _wish(choose: Chooser, style: _Style) -> Json:
    class_ = choose.pick(("class-a", "class-a", "class-b", "class-any", "class-any"))
    driver = DRIVERS[1] if class_ == "class-b" else DRIVERS[0]
    wish: Json = {"deviceClassName": class_}
    if choose.chance(12):
        wish["allocationMode"] = "All"
    else:
        wish["allocationMode"] = "ExactCount"
        wish["count"] = choose.pick((1, 1, 1, 1, 2, 2, 3)) if not choose.chance(2) else 33
    if choose.chance(25):
        text = FAILING_SELECTOR if choose.chance(8) else choose.pick(SELECTORS)
        wish["selectors"] = [{"cel": {"expression": text.replace("DRIVER", driver)}}]
    if style.taints and choose.chance(40):
        wish["tolerations"] = [
            choose.pick(
                (
                    {"key": "t", "operator": "Exists"},
                    {"key": "t", "value": "x"},
                    {"operator": "Exists", "effect": "NoExecute"},
                    {"key": "u", "operator": "Exists"},
                )
            )
        ]
    if style.capacity and style.gates["DRAConsumableCapacity"] and choose.chance(60):
        names = ("mem", "bw") if choose.chance(15) else ("mem",)
        wish["capacity"] = {"requests": {key: choose.pick(("1", "2", "3", "1500m", "5")) for key in names}}
        if choose.chance(2):
            wish["capacity"]["requests"]["mem"] = choose.pick(("-1", "9300P", "1000001u", "0", "1Ki"))
    if style.gates["DRADerivedAttributes"] and choose.chance(10):
        text = choose.pick(DERIVED).replace("DRIVER", driver)
        wish["derivedAttributes"] = [{"name": f"{driver}/numa", "expression": text}]
    return wish


def _constraint(choose: Chooser, requests: list[Json]) -> Json:
    name = choose.pick(("drv-a.example.com/numa",) * 4 + ("drv-b.example.com/numa",) * 2 + ("std.example.com/ver",))
    kind = "matchAttribute" if choose.chance(65) else "distinctAttribute"
    constraint: Json = {kind: name}
    if choose.chance(50):
        names = _names(requests)
        constraint["requests"] = sorted({choose.pick(names) for _ in range(choose.number(1, 3))})
    return constraint


def _steps(choose: Chooser, labels: list[str], nodes: list[str]) -> list[Json]:
    steps: list[Json] = []
    waiting = list(labels)
    while waiting:
        size = choose.number(1, len(waiting)) if choose.chance(60) else 1
        steps.append({"node": choose.pick(nodes), "allocate": waiting[:size]})
        waiting = waiting[size:]
    if choose.chance(30):
        again = choose.pick(labels)
        steps.append({"deallocate": [again], "node": choose.pick(nodes), "allocate": [again]})
    return steps
