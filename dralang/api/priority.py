"""PriorityClass.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType, Int32
from dralang.api.enums import PreemptionPolicy
from dralang.api.meta import ObjectMeta


class PriorityClass(ApiType, frozen=True):
    """scheduling/v1 PriorityClass."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    value: Always[Int32] = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: PreemptionPolicy | None = None
