"""Other names for the drivers, pools, devices and claims of a story, each with a name of its own.

Pools of two drivers that are called alike, and devices of two pools, are called differently afterwards: who tells
them apart by less than their full name is found out. The order of names stays what it was.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from dralang.api.device import CapacityRequirements, DeviceSelector, OpaqueDeviceConfiguration
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.pods import Pod, PodResourceClaim
from dralang.api.resourceclaim import DeviceConstraint, DeviceDerivedAttribute, ResourceClaim
from dralang.api.resourceslice import Device, DeviceCounterConsumption, NodeAllocatableMapping, ResourceSlice
from dralang.api.workloads import PodGroup, PodGroupResourceClaim
from dralang.scenario import steps as s
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Scenario

_PREFIX: Final = "q"
_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")
_LITERAL: Final = re.compile(r'"([^"\\]*)"|\'([^\'\\]*)\'')
_TEXT: Final = r"""(?:"[^"]*"|'[^']*')"""
_FOLLOWED: Final = re.compile(
    rf"""\bdevice\.driver\s*[!=]=\s*{_TEXT}(?!\s*[.+\[])
    |(?<!\+)(?<!\+[ ]){_TEXT}\s*[!=]=\s*device\.driver\b(?!\s*[.+\[])
    |\bdevice\.driver\s+in\s*\[\s*(?:{_TEXT}\s*,?\s*)*\](?!\s*[.+\[])
    |(?<!\+)(?<!\+[ ]){_TEXT}\s+in\s+device\.(?:attributes|capacity)\b(?!\s*[.+\[])
    |\bdevice\.(?:attributes|capacity)\s*\[\s*{_TEXT}\s*\]
    |\bdevice\.allowMultipleAllocations\b""",
    re.VERBOSE,
)
"""Where an expression has the name of a driver and nothing but the driver depends on it."""
_SPACE: Final = re.compile(r"\s+")
_DEVICE: Final = re.compile(r"\bdevice\b")
_SPOKEN: Final = ("ResourceSlice", "DeviceClass", "DeviceTaintRule", "PodGroup", "Workload", *_CLAIMS)
"""Kinds with names in their fields."""
DeviceId = tuple[str, str, str]


class Renaming(Struct, frozen=True):
    """Which names are called how.

    Attributes:
        drivers: new name by old name.
        pools: the same by driver and pool.
        devices: the same by driver, pool and device.
    """

    drivers: Mapping[str, str]
    pools: Mapping[tuple[str, str], str]
    devices: Mapping[DeviceId, str]

    def story(self, story: Scenario) -> Scenario:
        """The story with other names."""
        initial = tuple(
            [structs.replace(each, key=_key(each.key), object=self.object(each.object)) for each in story.initial]
        )
        declared = {_key(key): each for key, each in story.declared.items()}
        steps = tuple([self._step(step) for step in story.steps])
        return structs.replace(story, initial=initial, declared=declared, steps=steps)

    def back(self, end: tuple[object, ...]) -> tuple[object, ...]:
        """The ending of a pod with the names that it would have had."""
        old = {
            (self.drivers[driver], self.pools[driver, pool], new): (driver, pool, device)
            for (driver, pool, device), new in self.devices.items()
        }
        return tuple([(each[0], *old[each[1:4]], each[4]) if isinstance(each, tuple) else each for each in end])

    def _step(self, step: s.Step) -> s.Step:
        changes: dict[str, Any] = {}
        if hasattr(step, "key"):
            changes["key"] = _key(step.key)
        if isinstance(step, s.Create | s.Publish):
            changes["object"] = self.object(step.object)
        if isinstance(step, s.TaintDevice | s.UntaintDevice | s.SetCondition):
            changes["device"] = self._spoken(step.device)
        return structs.replace(step, **changes) if changes else step

    def _spoken(self, name: str) -> str:
        """A device as a statement names it, in full."""
        found = [each for each in self.devices if _is_suffix(name, each)]
        if len(found) != 1:
            return name
        driver, pool, _ = found[0]
        return f"{self.drivers[driver]}/{self.pools[driver, pool]}/{self.devices[found[0]]}"

    def object(self, value: Any) -> Any:
        """An object with other names."""
        if isinstance(value, ResourceSlice):
            return self._slice(value)
        if type(value).__name__ in _CLAIMS:
            value = structs.replace(value, metadata=structs.replace(value.metadata, name=_PREFIX + value.metadata.name))
        return self._parts(value)

    def _slice(self, value: ResourceSlice) -> ResourceSlice:
        spec = value.spec
        pool = (spec.driver, spec.pool.name)
        devices = tuple([self._device(each, self.devices[(*pool, each.name)]) for each in spec.devices])
        kinds = spec.partition_type_attribute
        renamed = structs.replace(
            spec,
            driver=self.drivers[spec.driver],
            pool=structs.replace(spec.pool, name=self.pools[pool]),
            devices=devices,
            shared_counters=tuple([structs.replace(each, name=_PREFIX + each.name) for each in spec.shared_counters]),
            partition_type_attribute=None if kinds is None else self._qualified(kinds),
        )
        return structs.replace(value, spec=renamed)

    def _device(self, device: Device, name: str) -> Device:
        device = self._parts(device)
        attributes = {self._qualified(name): each for name, each in device.attributes.items()}
        capacity = {self._qualified(name): each for name, each in device.capacity.items()}
        return structs.replace(device, name=name, attributes=attributes, capacity=capacity)

    def _parts(self, value: Any) -> Any:
        """A part with other names in all its parts."""
        if isinstance(value, DeviceSelector) and value.cel is not None:
            return structs.replace(value, cel=structs.replace(value.cel, expression=self._cel(value.cel.expression)))
        if isinstance(value, DeviceDerivedAttribute):
            name = self._qualified(value.name)
            return structs.replace(value, name=name, expression=self._cel(value.expression))
        if isinstance(value, CapacityRequirements):
            requests = {self._qualified(name): each for name, each in value.requests.items()}
            return structs.replace(value, requests=requests)
        if isinstance(value, NodeAllocatableMapping) and value.capacity_key is not None:
            return structs.replace(value, capacity_key=self._qualified(value.capacity_key))
        if isinstance(value, PodResourceClaim | PodGroupResourceClaim):
            return structs.replace(
                value,
                resource_claim_name=_prefixed(value.resource_claim_name),
                resource_claim_template_name=_prefixed(value.resource_claim_template_name),
            )
        if isinstance(value, DeviceConstraint):
            names = (value.match_attribute, value.distinct_attribute)
            match, distinct = [None if each is None else self._qualified(each) for each in names]
            return structs.replace(value, match_attribute=match, distinct_attribute=distinct)
        if isinstance(value, OpaqueDeviceConfiguration):
            return structs.replace(value, driver=self.drivers.get(value.driver, value.driver))
        if isinstance(value, DeviceCounterConsumption):
            return structs.replace(value, counter_set=_PREFIX + value.counter_set)
        if isinstance(value, Struct):
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            changed = {name: new for name, old in fields.items() if (new := self._parts(old)) is not old}
            return structs.replace(value, **changed) if changed else value
        if type(value) is tuple:
            return tuple([self._parts(each) for each in value])
        if isinstance(value, Mapping):
            # Labels and resources may have the domain of a driver; who selects them is not looked at, so they stay.
            return {name: self._parts(each) for name, each in value.items()}
        return value

    def _cel(self, expression: str) -> str:
        return _LITERAL.sub(self._literal, expression)

    def _literal(self, found: re.Match[str]) -> str:
        text = found[1] if found[1] is not None else found[2]
        return f'"{self.drivers[text]}"' if text in self.drivers else found[0]

    def _qualified(self, name: str) -> str:
        domain, slash, bare = name.rpartition("/")
        return f"{self.drivers[domain]}{slash}{bare}" if slash and domain in self.drivers else name


def _prefixed(name: str | None) -> str | None:
    return _PREFIX + name if name else None


def _key(key: ObjectKey) -> ObjectKey:
    return key._replace(name=_PREFIX + key.name) if key.kind in _CLAIMS else key


def _is_suffix(name: str, device: DeviceId) -> bool:
    return f"/{'/'.join(device)}".endswith(f"/{name}")


def renaming_of(objects: Iterable[Any], steps: Sequence[s.Step]) -> Renaming | None:
    """Other names for a story; None if it speaks of names in a way that is not followed here."""
    objects = list(objects)
    slices = [each for each in objects if isinstance(each, ResourceSlice)]
    drivers = sorted({each.spec.driver for each in slices})
    if not slices or any(_names_by_hand(each, drivers) for each in objects):
        return None
    if any(isinstance(step, s.SetField) and step.key.kind in _SPOKEN for step in steps):
        return None
    pools = sorted({(each.spec.driver, each.spec.pool.name) for each in slices})
    devices = sorted({(*_pool(each), device.name) for each in slices for device in each.spec.devices})
    # A tail keeps the order of names of which none begins with another and a letter before `-`.
    renaming = Renaming(
        {each: _PREFIX + each for each in drivers},
        {pool: f"{pool[1]}--{drivers.index(pool[0])}" for pool in pools},
        {device: f"{device[2]}--{pools.index(device[:2])}" for device in devices},
    )
    names = [(renaming.drivers[driver], renaming.pools[driver, pool]) for driver, pool in pools]
    return renaming if names == sorted(names) else None


def _pool(slice_: ResourceSlice) -> tuple[str, str]:
    return slice_.spec.driver, slice_.spec.pool.name


def _names_by_hand(value: Any, drivers: Collection[str]) -> bool:
    """Whether an object has names in places that are not looked at."""
    if isinstance(value, DeviceTaintRule):
        return True
    if isinstance(value, ResourceClaim) and value.status.allocation is not None:
        return True
    if isinstance(value, Pod | PodGroup) and value.status.resource_claim_statuses:
        return True
    return not all(_is_followed(text, drivers) for text in _expressions(value))


def _is_followed(text: str, drivers: Collection[str]) -> bool:
    """Whether an expression with other names for drivers says the same of devices with these names."""
    if "\\" in text or "//" in text or '"""' in text or "'''" in text:
        return False  # what is a text in it takes more than a look
    rest = _FOLLOWED.sub(" ", _SPACE.sub(" ", text))
    literals = {found[1] if found[1] is not None else found[2] for found in _LITERAL.finditer(rest)}
    known = {*drivers, *(_PREFIX + each for each in drivers)}
    return _DEVICE.search(_LITERAL.sub(" ", rest)) is None and literals.isdisjoint(known)


def _expressions(value: Any) -> Iterator[str]:
    """The CEL expressions in an object."""
    if isinstance(value, DeviceSelector):
        yield "" if value.cel is None else value.cel.expression
    elif isinstance(value, DeviceDerivedAttribute):
        yield value.expression
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _expressions(getattr(value, name))
    elif type(value) is tuple:
        for each in value:
            yield from _expressions(each)
