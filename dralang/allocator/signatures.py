"""Numbers for claim specifications that every node serves alike, so that answers can be remembered by number.

Two specifications have one number if they ask for the same of the same classes; classes are the same if they select
alike and configure nothing. What a number stands for never changes.
"""

from collections.abc import Hashable, Iterator
from itertools import count

from dralang.api.resourceclaim import ResourceClaimSpec

_MOST = 4096


class Signatures:
    """What is known of claim specifications, for one set of classes; remembered by whoever finds it out."""

    __slots__ = ("_by_spec", "_counter", "_numbers")

    def __init__(self, before: "Signatures | None" = None) -> None:
        """Start anew.

        Args:
            before: those for other classes; their numbers keep their meaning.
        """
        self._by_spec: dict[int, tuple[ResourceClaimSpec, int | None]] = {}
        self._numbers: dict[Hashable, int] = {} if before is None else before._numbers
        self._counter: Iterator[int] = count() if before is None else before._counter

    def known(self, spec: ResourceClaimSpec) -> tuple[ResourceClaimSpec, int | None] | None:
        """The entry of a specification, recognised by identity: that one, and its number if it has any."""
        return self._by_spec.get(id(spec))

    def keep(self, spec: ResourceClaimSpec, signature: Hashable | None) -> int | None:
        """Remember the signature of a specification; return its number."""
        number = None
        if signature is not None:
            number = self._numbers.get(signature)
            if number is None:
                number = next(self._counter)
                _make_room(self._numbers)
                self._numbers[signature] = number
        _make_room(self._by_spec)
        # The specification is kept alive so that its identity stays its own.
        self._by_spec[id(spec)] = (spec, number)
        return number


def _make_room(entries: dict[Hashable, int] | dict[int, tuple[ResourceClaimSpec, int | None]]) -> None:
    if len(entries) >= _MOST:
        entries.clear()
