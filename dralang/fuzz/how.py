"""How a run draws and judges its stories: plain data, for worker processes too."""

from typing import Final

from msgspec import Struct

REAL_ALLOCATOR: Final = "real-allocator"
REFERENCE_CEL: Final = "reference-cel"
FROM_SCRATCH: Final = "from-scratch"
ORACLES: Final = (REAL_ALLOCATOR, REFERENCE_CEL, FROM_SCRATCH)
"""What ``--against`` takes."""


class How(Struct, frozen=True):
    """How stories are drawn and judged.

    Attributes:
        stateful: each next step is drawn from what the cluster looks like then.
        against: what else is to come to the same.
        program: of the real allocator, see ``real_allocator.built``.
    """

    stateful: bool = False
    against: tuple[str, ...] = ()
    program: str = ""

    def key(self, node_id: str) -> str:
        """The name under which failing examples of a fuzz are remembered: stateful ones are drawn otherwise."""
        return f"{node_id} (stateful)" if self.stateful else node_id
