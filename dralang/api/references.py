"""core/v1 types that several other modules refer to.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType
from dralang.values.quantity import ZERO, Quantity


class ObjectFieldSelector(ApiType, frozen=True):
    """core/v1 ObjectFieldSelector."""

    api_version: str = ""
    field_path: Always[str] = ""


class ResourceFieldSelector(ApiType, frozen=True):
    """core/v1 ResourceFieldSelector."""

    container_name: str = ""
    resource: Always[str] = ""
    divisor: Quantity = ZERO
