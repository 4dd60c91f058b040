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

    def key(self, node_id: str, signature: str) -> str:
        """The name under which a failing example of a fuzz is remembered.

        Stateful ones are drawn otherwise; and what an oracle has found is nothing to a run without it.
        """
        own = f"{node_id} (stateful)" if self.stateful else node_id
        found = [name for name in self.against if signature.startswith(f"against {name}:")]
        return f"{own} (against {found[0]})" if found else own

    def keys(self, node_id: str) -> list[str]:
        """The names under which examples that matter to this run are remembered."""
        return [self.key(node_id, signature) for signature in ("", *[f"against {name}:" for name in self.against])]
