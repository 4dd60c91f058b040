"""How an object is named."""

from typing import NamedTuple


class ObjectKey(NamedTuple):
    """An object's name in a cluster; ``namespace`` is empty for kinds that have none."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = self.name if self.namespace in ("", "default") else f"{self.namespace}/{self.name}"
        return f"{self.kind} {name}"
