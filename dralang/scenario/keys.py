"""How an object is named."""

from fnmatch import fnmatchcase
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

    def is_meant_by(self, glob: "ObjectKey") -> bool:
        """Whether the namespace is that of a glob, and the name is one of those that it stands for; of any kind."""
        return self.namespace == glob.namespace and fnmatchcase(self.name, glob.name)

    def __str__(self) -> str:
        return f"{self.kind} {self.spoken}"
