"""What a story reaches: states of the cluster, events, refusals, controllers at work, features in use."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

from dralang.api.gated import dropped_fields
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.journal import JournalEntry
from dralang.features import DEFAULT_VERSION, FeatureGates
from dralang.fuzz.catalogue import catalogue, said, without_numbers
from dralang.run.simulation import Simulation

STATES: Final = 1 << 24
"""How many states are told apart."""
_SAMPLED: Final = 4
"""In one story out of so many it is looked at which features are in use: that takes longer than the rest."""
_NONE: Final = FeatureGates(DEFAULT_VERSION, frozenset())


class Reached(Struct, frozen=True):
    """What stories reached, as they said it; ``within`` brings it into the words of the catalogue.

    Attributes:
        events: the reasons of the record.
        messages: why pods were refused, without numbers.
        components: who wrote something.
        features: gates whose fields were used.
        states: numbers below ``STATES``, see ``states_of``.
    """

    events: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    components: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    states: frozenset[int] = frozenset()

    def __or__(self, other: "Reached") -> "Reached":
        return Reached(
            self.events | other.events,
            self.messages | other.messages,
            self.components | other.components,
            self.features | other.features,
            self.states | other.states,
        )


class Coverage(Struct, frozen=True):
    """One part of the catalogue after a run.

    Attributes:
        key: in one word.
        what: for people.
        reached: what was.
        never: what was not.
    """

    key: str
    what: str
    reached: tuple[str, ...]
    never: tuple[str, ...]


def coverage(reached: Reached) -> tuple[Coverage, ...]:
    """What of the catalogue was reached, and what never."""
    known = catalogue()
    found = (
        ("events", "events", known.events, reached.events),
        ("refusals", "reasons of refusals", known.refusals, said(reached.messages, known.refusals)),
        ("controllers", "controllers", known.controllers, reached.components),
        ("features", "features", known.features, reached.features),
    )
    return tuple(
        [
            Coverage(key, what, tuple([e for e in every if e in there]), tuple([e for e in every if e not in there]))
            for key, what, every, there in found
        ]
    )


class Lookout:
    """Looks on while one story is played. It never writes.

    Args:
        number: of the story, whatever that is: one in so many is looked at more closely.
    """

    def __init__(self, number: int) -> None:
        self.closely = number % _SAMPLED == 0
        self.messages: set[str] = set()
        self.components: set[str] = set()
        self.features: set[str] = set()

    def attach(self, simulation: Simulation) -> None:
        """Look on from now on, beside whoever does so already."""
        simulation.scheduler.on_gated = self.messages.add
        already = simulation.store.on_write
        events = simulation.events
        components = self.components

        def written(kind: type[Any], old: Any, new: Any) -> None:
            if already is not None:
                already(kind, old, new)
            components.add(events.running)
            if self.closely and new is not None:
                self._look(old, new)

        simulation.store.on_write = written

    def _look(self, old: Any, new: Any) -> None:
        if old is None or old.spec is not new.spec or (isinstance(new, ResourceClaim) and old.status is not new.status):
            self.features |= features_of(new)

    def result(self, trace: Sequence[JournalEntry]) -> Reached:
        """What was reached in the end."""
        messages = {entry.message for entry in trace if entry.reason == "FailedScheduling"} | self.messages
        return Reached(
            frozenset([entry.reason for entry in trace]),
            frozenset(map(without_numbers, messages)),
            frozenset(self.components),
            frozenset(self.features),
            states_of(trace),
        )


# ---- states ---------------------------------------------------------------------------------------------------------


def states_of(trace: Sequence[JournalEntry]) -> frozenset[int]:
    """The states that the cluster went through, one for each instant.

    A state is what is recorded last of each object that exists. Equal states have equal numbers, whatever led to them.
    """
    states: set[int] = set()
    current: dict[tuple[str, str, str], int] = {}
    state = 0
    for index, entry in enumerate(trace):
        key = (entry.kind, entry.namespace, entry.name)
        state ^= current.pop(key, 0)
        if entry.reason != "Deleted":
            current[key] = number = _number(f"{key} {entry.reason} {entry.message}")
            state ^= number
        if index + 1 == len(trace) or trace[index + 1].time != entry.time:
            states.add(state % STATES)
    return frozenset(states)


def _number(text: str) -> int:
    # No checksum: those of CRC cancel each other out.
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class States:
    """Which states were seen: a bit for each number.

    Attributes:
        count: how many.
        new: how many the last ones brought.
    """

    def __init__(self) -> None:
        self.count = 0
        self.new = 0
        self._bits = bytearray(STATES // 8)

    def add(self, numbers: frozenset[int]) -> None:
        """Note some more."""
        bits = self._bits
        self.new = 0
        for number in numbers:
            byte, bit = number >> 3, 1 << (number & 7)
            if not bits[byte] & bit:
                bits[byte] |= bit
                self.new += 1
        self.count += self.new


# ---- features -------------------------------------------------------------------------------------------------------


def features_of(new: Any) -> frozenset[str]:
    """The gates whose fields an object uses: without such a gate an API server would drop something of it."""
    return frozenset([gate for dropped in dropped_fields(new, _NONE) for gate in dropped.gates])
