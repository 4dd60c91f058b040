"""Does a label selector match?

Source: k8s.io/apimachinery pkg/apis/meta/v1 LabelSelectorAsSelector.
"""

from collections.abc import Mapping

from dralang.api.meta import LabelSelector


def label_selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether all requirements hold; no selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    for key, value in selector.match_labels.items():
        if labels.get(key) != value:
            return False
    for requirement in selector.match_expressions:
        found = labels.get(requirement.key)
        match requirement.operator:
            case "In":
                holds = found is not None and found in requirement.values
            case "NotIn":
                holds = found is None or found not in requirement.values
            case "Exists":
                holds = found is not None
            case "DoesNotExist":
                holds = found is None
            case _:
                holds = False
        if not holds:
            return False
    return True


def is_empty(selector: LabelSelector | None) -> bool:
    """Whether the selector has no requirement."""
    return selector is None or not (selector.match_labels or selector.match_expressions)
