"""The real allocator, asked for cases, and the comparison with ours."""

import json
import shutil
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from dralang.allocator.profiles import AllocatorProfile, allocator_profile
from dralang.allocator.replay import replay_allocation
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions
from dralang.fuzz.real_allocator import RealAllocator, built

Json = dict[str, Any]
FOLDER = Path(__file__).parent


def build(target: Path) -> Path:
    """Build the program in a folder; needs Go and, the first time, its modules."""
    return built(target)


def is_available() -> bool:
    """Whether the program can be built here."""
    return shutil.which("go") is not None


class Oracle:
    """The running program; use it in a ``with`` statement."""

    def __init__(self, program: Path) -> None:
        self._real = RealAllocator(program)

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._real.close()

    def answer(self, case: Json) -> Json:
        """The answer to one case or measurement."""
        return self._real.answer(case)


@cache
def _environment(version: str, *, lists: bool) -> CelExpressions:
    return CelExpressions(Environment(minor=parse_minor(version), lists=lists))


def expressions(profile: AllocatorProfile) -> CelExpressions:
    """Compiled expressions, shared by all cases."""
    return _environment(profile.version, lists=profile.features.list_type_attributes)


def difference(oracle: Oracle, case: Json) -> str | None:
    """How our answer differs from the real one; None if it does not, or if the real one gave up or crashed."""
    if "sorted pools" in allocator_profile(case["kubernetes"], case["featureGates"]).lacks:
        return _difference_in_any_order(oracle, {**case, "steps": case["steps"][:1]})
    steps = oracle.answer(case)["steps"]
    return _difference(steps, replay_allocation(case, expressions))


def _difference_in_any_order(oracle: Oracle, case: Json) -> str | None:
    """The same where the real one visits pools in random order, anew in each step: what one of the orders gives."""
    steps = oracle.answer(case)["steps"]
    orders = max(1, sum(each["kind"] == "ResourceSlice" for each in case["objects"]))
    found = [_difference(steps, replay_allocation(case, expressions, rotation=turn)) for turn in range(orders)]
    return None if None in found else found[0]


def _difference(steps: list[Json], answered: list[Json]) -> str | None:
    if any(step["status"] in {"timeout", "panic"} for step in steps):
        return None
    for number, (want, got) in enumerate(zip(steps, answered, strict=True)):
        for key in ("status", "allocations", "message"):
            if (want.get(key) or None) != (got.get(key) or None):
                return f"step {number}: {key}: the real one says {want.get(key)}, we say {got.get(key)}"
    return None


def shrunk(oracle: Oracle, case: Json) -> Json:
    """A smaller case that still shows a difference: nothing can be taken out of it any more."""
    smaller = case
    progress = True
    while progress:
        progress = False
        for path in _paths(smaller):
            candidate = _without(smaller, path)
            if _is_whole(candidate) and _differs(oracle, candidate):
                smaller, progress = candidate, True
                break
    return smaller


def _differs(oracle: Oracle, case: Json) -> bool:
    try:
        return difference(oracle, case) is not None
    except (KeyError, ValueError, TypeError):
        return False


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places in a JSON value that can be left out, large parts first."""
    found: list[tuple[Any, ...]] = []
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, part in items:
        found.append((*path, key))
        found += _paths(part, (*path, key))
    return sorted(found, key=len)


def _without(case: Json, path: tuple[Any, ...]) -> Json:
    copy: Json = json.loads(json.dumps(case))
    holder: Any = copy
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return copy


_NEEDED = {
    "Node": ("metadata",),
    "DeviceClass": ("metadata", "spec"),
    "ResourceSlice": ("metadata", "spec"),
    "ResourceClaim": ("metadata", "spec"),
}


def _is_whole(case: Json) -> bool:
    """Whether the case can be played: nothing is named that is not there."""
    if not {"id", "kubernetes", "featureGates", "objects", "steps"} <= case.keys():
        return False
    names: dict[str, set[str]] = {kind: set() for kind in _NEEDED}
    for part in case["objects"]:
        kind = part.get("kind")
        if kind not in _NEEDED or not all(key in part for key in _NEEDED[kind]) or "name" not in part["metadata"]:
            return False
        metadata = part["metadata"]
        name = metadata["name"]
        names[kind].add(f"{metadata['namespace']}/{name}" if "namespace" in metadata else name)
        requests = part.get("spec", {}).get("devices", {}).get("requests", ()) if kind == "ResourceClaim" else ()
        if not all(_is_request(request) for request in requests):
            return False
    return all(
        step.get("node") in names["Node"]
        and "allocate" in step
        and {*step["allocate"], *step.get("deallocate", ())} <= names["ResourceClaim"]
        for step in case["steps"]
    )


def _is_request(request: Json) -> bool:
    return "name" in request and (bool(request.get("firstAvailable")) or "exactly" in request)
