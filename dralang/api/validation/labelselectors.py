"""Label selectors, as affinity between pods, topology spread and disruption budgets have them.

Source: ValidateLabelSelector in k8s.io/apimachinery pkg/apis/meta/v1/validation (1.37).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from dralang.api.meta import LabelSelector, LabelSelectorRequirement
from dralang.api.validation import formats
from dralang.api.validation.errors import Errors, forbidden, invalid, required

UNKNOWN_OPERATOR: Final = "not a valid selector operator"


def label_selector(selector: LabelSelector | None, path: str, out: Errors) -> None:
    """Keys, values and operators; no selector is fine."""
    if selector is None:
        return
    labels(selector.match_labels, f"{path}.matchLabels", out)
    for index, requirement in enumerate(selector.match_expressions):
        _requirement(requirement, f"{path}.matchExpressions[{index}]", out)


def labels(wanted: Mapping[str, str], path: str, out: Errors) -> None:
    """Labels that something must have, all reported at the place of the whole map."""
    for key, value in wanted.items():
        formats.label_key(key, path, out)
        formats.label_value(value, path, out)


def _requirement(requirement: LabelSelectorRequirement, path: str, out: Errors) -> None:
    operator, values = requirement.operator, requirement.values
    if not are_values_judged(operator, values, path, out):
        out.append(invalid(f"{path}.operator", operator, UNKNOWN_OPERATOR))
    formats.label_key(requirement.key, f"{path}.key", out)
    for index, value in enumerate(values):
        formats.label_value(value, f"{path}.values[{index}]", out)


def are_values_judged(operator: str, values: Sequence[str], path: str, out: Errors) -> bool:
    """Whether the operator is one of those of all selectors; some of them need values, the others have none."""
    if operator in {"In", "NotIn"}:
        if not values:
            out.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            out.append(forbidden(f"{path}.values", text))
    else:
        return False
    return True
