"""Label selectors and node selectors: do they match?

Selectors are taken as validated; a requirement that could not be stored matches nothing.

Source: k8s.io/apimachinery pkg/labels and LabelSelectorAsSelector, k8s.io/component-helpers
scheduling/corev1/nodeaffinity (1.37).
"""

import re
from collections.abc import Mapping

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.meta import LabelSelector
from dralang.api.nodes import Node

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def matches_labels(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether labels are selected; no selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(name) != value for name, value in selector.match_labels.items()):
        return False
    return all(_requirement(item.operator, item.key, item.values, labels) for item in selector.match_expressions)


def is_empty(selector: LabelSelector | None) -> bool:
    """Whether the selector has no requirement."""
    return selector is None or not (selector.match_labels or selector.match_expressions)


def matches_node(selector: NodeSelector, node: Node) -> bool:
    """Whether any term matches; a term without requirements matches nothing."""
    return any(_term(term, node) for term in selector.node_selector_terms)


def _term(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    labels = node.metadata.labels
    if not all(_requirement(item.operator, item.key, item.values, labels) for item in term.match_expressions):
        return False
    return all(_field(item, node) for item in term.match_fields)


def _field(requirement: NodeSelectorRequirement, node: Node) -> bool:
    if not node.metadata.name:
        # A node without a name has no fields, and then nothing is asked of them.
        return True
    actual = node.metadata.name if requirement.key == "metadata.name" else ""
    match requirement.operator:
        case "In":
            return actual in requirement.values
        case "NotIn":
            return actual not in requirement.values
        case _:
            return False


def _requirement(operator: str, key: str, values: tuple[str, ...], labels: Mapping[str, str]) -> bool:
    value = labels.get(key)
    match operator:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            have, want = as_int64(value or ""), as_int64(values[0] if len(values) == 1 else "")
            if have is None or want is None:
                return False
            return have > want if operator == "Gt" else have < want
        case _:
            return False


def as_int64(text: str) -> int | None:
    """The number that a label holds, None if it is none of 64 bits."""
    if not _INTEGER.fullmatch(text) or len(text.lstrip("+-0")) > 19:
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None
