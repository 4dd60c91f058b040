"""PodDisruptionBudgets.

Source: ValidatePodDisruptionBudgetSpec in pkg/apis/policy/validation (1.37).
"""

import re
from typing import Final

from dralang.api.disruption import PodDisruptionBudgetSpec
from dralang.api.validation.errors import Errors, invalid, not_supported
from dralang.api.validation.labelselectors import label_selector

_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_MORE_THAN_INT64: Final = 20
_PERCENT: Final = re.compile("[0-9]+%", re.ASCII)
_BAD_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)


def disruption_budget(spec: PodDisruptionBudgetSpec, path: str, out: Errors) -> None:
    """How many pods must stay, or may go, and which ones."""
    if spec.min_available is not None and spec.max_unavailable is not None:
        out.append(invalid(path, spec, "minAvailable and maxUnavailable cannot be both set"))
    for name, number in (("minAvailable", spec.min_available), ("maxUnavailable", spec.max_unavailable)):
        if number is not None:
            _number_or_percent(number, f"{path}.{name}", out)
    label_selector(spec.selector, f"{path}.selector", out)
    policy = spec.unhealthy_pod_eviction_policy
    if policy is not None and policy not in _POLICIES:
        out.append(not_supported(f"{path}.unhealthyPodEvictionPolicy", policy, _POLICIES))


def _number_or_percent(value: int | str, path: str, out: Errors) -> None:
    if isinstance(value, int):
        if value < 0:
            out.append(invalid(path, value, "must be greater than or equal to 0"))
    elif not _PERCENT.fullmatch(value):
        out.append(invalid(path, value, _BAD_PERCENT))
    elif 100 < int(value[:-1].lstrip("0")[:_MORE_THAN_INT64] or "0") < 2**63:
        # What does not fit into 64 bits is no percentage to the server, and passes.
        out.append(invalid(path, value, "must not be greater than 100%"))
