"""How an object is named."""

from typing import NamedTuple


class ObjectKey(NamedTuple):
    """An object's name in a cluster; ``namespace`` is empty for kinds that have none."""

    kind: str
    namespace: str
    name: str

    @property
    def spoken(self) -> str:
        """The name as a spec says it: with its namespace outside of ``default``."""
        return self.name if self.namespace in ("", "default") else f"{self.namespace}/{self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.spoken}"
