"""DeviceTaintRule.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType
from dralang.api.device import DeviceTaint
from dralang.api.meta import Condition, ObjectMeta


class DeviceTaintSelector(ApiType, frozen=True):
    """resource/v1 DeviceTaintSelector."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(ApiType, frozen=True):
    """resource/v1 DeviceTaintRuleSpec."""

    device_selector: DeviceTaintSelector | None = None
    taint: Always[DeviceTaint] = DeviceTaint()


class DeviceTaintRuleStatus(ApiType, frozen=True):
    """resource/v1 DeviceTaintRuleStatus."""

    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(ApiType, frozen=True):
    """resource/v1 DeviceTaintRule."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[DeviceTaintRuleSpec] = DeviceTaintRuleSpec()
    status: Always[DeviceTaintRuleStatus] = DeviceTaintRuleStatus()
