"""What the scheduler asks its allocator in a story, in the form of recorded cases, with our answers in theirs.

A case is what ``conform`` replays and what the program under ``oracle/`` reads: objects, one step, one answer. What is
in use is told by claims that hold it.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dralang.allocator.allocate import Attempt
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, NodeError, Outcome
from dralang.allocator.profiles import AllocatorProfile, allocator_profile, gates_of
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dralang.api.base import ApiType
from dralang.api.encode import to_json
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimStatus
from dralang.values.quantity import Quantity, parse_quantity

Json: TypeAlias = dict[str, Any]
IN_USE: Final = "in-use"
"""The namespace of the claims that stand for what is in use."""
GAVE_UP: Final = "the search was given up"
QUIRKS: Final = "quirks are switched"
ORDER: Final = "with these gates it visits pools in random order"
STATE: Final = "what is in use is no sum of claims"
_MOST: Final = 4_096


class Question(Struct, frozen=True):
    """One question with our answer.

    Attributes:
        key: equal for equal questions.
        node, labels: who is asked for what: the node, the claims in their order.
        answer: ours, in the form of a recorded one.
    """

    key: bytes
    node: str
    labels: tuple[str, ...]
    answer: Json

    def case(self, id_: str, version: str) -> Json:
        """The case, without an answer."""
        return {"kind": "allocation", "id": id_, "kubernetes": version, **msgspec.json.decode(self.key)}


class Hearing:
    """Hears the questions of one story, each once.

    Attributes:
        questions: by key.
        asked: how often the allocator was asked.
        unsaid: how often for each reason why a question cannot be put.
    """

    def __init__(self, encoder: "Encoder") -> None:
        self.encoder = encoder
        self.questions: dict[bytes, Question] = {}
        self.asked = 0
        self.unsaid: dict[str, int] = {}

    def hear(self, attempt: Attempt, node: Node, outcome: Outcome) -> None:
        """A question was asked and answered."""
        self.asked += 1
        found = self.encoder.question(attempt, node, outcome)
        if isinstance(found, str):
            self.unsaid[found] = self.unsaid.get(found, 0) + 1
        else:
            self.questions.setdefault(found.key, found)


class Encoder:
    """Writes questions as cases; remembers how objects are written, which come again and again."""

    def __init__(self) -> None:
        self._written: dict[int, tuple[ApiType, msgspec.Raw]] = {}
        self._whole: dict[int, tuple[AllocatorProfile, str]] = {}

    def question(self, attempt: Attempt, node: Node, outcome: Outcome) -> Question | str:
        """The question; or why it cannot be put to the allocator of Kubernetes."""
        inventory = attempt.inventory
        problem = self._problem(inventory.profile)
        if problem or isinstance(outcome, GaveUp):
            return problem or GAVE_UP
        if "sorted pools" in inventory.profile.lacks and _has_pools(inventory):
            return ORDER
        holders = holders_of(attempt.state)
        if holders is None:
            return STATE
        claims = [asked(claim) for claim in attempt.claims]
        labels = tuple([f"{claim.metadata.namespace}/{claim.metadata.name}" for claim in claims])
        objects = [
            self._json(node),
            *[self._json(slice_) for slice_ in inventory.slices()],
            *[self._json(inventory.classes[name].api) for name in sorted(inventory.classes)],
            *map(to_json, claims),
            *map(to_json, holders),
        ]
        gates = dict.fromkeys(gates_of(inventory.profile.features), True)
        step = {"node": node.metadata.name, "allocate": labels}
        key = msgspec.json.encode({"featureGates": gates, "objects": objects, "steps": [step]})
        return Question(key, node.metadata.name, labels, answer_of(outcome, labels))

    def _problem(self, profile: AllocatorProfile) -> str:
        known = self._whole.get(id(profile))
        if known is None or known[0] is not profile:
            own = allocator_profile(profile.version, dict.fromkeys(gates_of(profile.features), True))
            known = self._whole[id(profile)] = (profile, "" if own == profile else QUIRKS)
        return known[1]

    def _json(self, value: ApiType) -> msgspec.Raw:
        known = self._written.get(id(value))
        if known is None or known[0] is not value:
            if len(self._written) >= _MOST:
                self._written.clear()
            known = self._written[id(value)] = (value, msgspec.Raw(msgspec.json.encode(to_json(value))))
        return known[1]


def _has_pools(inventory: Inventory) -> bool:
    """Whether there is more than one pool."""
    return len({(each.spec.driver, each.spec.pool.name) for each in inventory.slices()}) > 1


def asked(claim: ResourceClaim) -> ResourceClaim:
    """A claim as the allocator is asked for it: who made it and what it held before is nothing to it."""
    meta = type(claim.metadata)(namespace=claim.metadata.namespace, name=claim.metadata.name)
    return replace(claim, metadata=meta, status=ResourceClaimStatus())


def holders_of(state: AllocatedState) -> list[ResourceClaim] | None:
    """Claims that hold exactly what is in use; None if there are none such."""
    claims: list[ResourceClaim] = []
    for (driver, pool), held in state.pools():
        results = [
            DeviceRequestAllocationResult(request="r", driver=driver, pool=pool, device=name)
            for name in sorted(held.dedicated)
        ]
        for name, shares in sorted(held.shares.items()):
            for share in shares:
                amounts = {key: _quantity(nano) for key, nano in share.consumed.items()}
                results.append(
                    DeviceRequestAllocationResult(
                        request="r",
                        driver=driver,
                        pool=pool,
                        device=name,
                        share_id=share.id,
                        consumed_capacity=amounts or None,
                    )
                )
        for result in results:
            allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
            claims.append(_holder(len(claims) + 1, allocation))
    again = AllocatedState.of(
        [(claim.metadata.name, claim.status.allocation) for claim in claims if claim.status.allocation is not None],
        state.features,
    )
    return claims if _says_the_same(state, again) else None


def _holder(number: int, allocation: AllocationResult) -> ResourceClaim:
    claim = ResourceClaim()
    meta = type(claim.metadata)(namespace=IN_USE, name=f"held-{number}")
    return replace(claim, metadata=meta, status=ResourceClaimStatus(allocation=allocation))


def _says_the_same(state: AllocatedState, again: AllocatedState) -> bool:
    for id_, held in state.pools():
        other = again.pool(id_)
        if held.dedicated.keys() != other.dedicated.keys() or held.consumed != other.consumed:
            return False
        if {name: len(shares) for name, shares in held.shares.items()} != {
            name: len(shares) for name, shares in other.shares.items()
        }:
            return False
    return True


def _quantity(nano: int) -> Quantity:
    return parse_quantity(f"{nano}n").canonical()


def answer_of(outcome: Outcome, labels: tuple[str, ...]) -> Json:
    """Our answer in the form of a recorded one: shares are numbered from 1."""
    match outcome:
        case Allocated(results=results):
            written = {label: to_json(result) for label, result in zip(labels, results, strict=True)}
            number = 0
            for label in labels:
                for result in written[label].get("devices", {}).get("results") or ():
                    if "shareID" in result:
                        number += 1
                        result["shareID"] = f"00000000-0000-4000-8000-{number:012d}"
            return {"status": "allocated", "allocations": written}
        case NodeError(message=message):
            return {"status": "node-error", "message": message}
        case FatalError(message=message):
            return {"status": "error", "message": message}
        case _:
            return {"status": "unallocatable"}


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """In what two answers differ; empty if in nothing."""
    for key in ("status", "allocations", "message"):
        if (ours.get(key) or None) != (theirs.get(key) or None):
            return key
    return ""
