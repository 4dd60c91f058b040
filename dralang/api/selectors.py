"""Label selectors and node selectors: do they match?

Selectors are taken as validated; a requirement that could not be stored matches nothing.

Source: k8s.io/apimachinery/pkg/labels, k8s.io/component-helpers scheduling/corev1/nodeaffinity (1.37).
"""

import re
from collections.abc import Mapping

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.meta import LabelSelector
from dralang.api.nodes import Node

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_MAX_INT64 = (1 << 63) - 1


def matches_labels(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether labels are selected; no selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(name) != value for name, value in selector.match_labels.items()):
        return False
    return all(_requirement(item.operator, item.key, item.values, labels) for item in selector.match_expressions)


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
    if requirement.key != "metadata.name" or len(requirement.values) != 1:
        return False
    same = requirement.values[0] == node.metadata.name
    return same if requirement.operator == "In" else not same if requirement.operator == "NotIn" else False


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
            have, want = _integer(value), _integer(values[0] if len(values) == 1 else None)
            if have is None or want is None:
                return False
            return have > want if operator == "Gt" else have < want
        case _:
            return False


def _integer(text: str | None) -> int | None:
    if text is None or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_MAX_INT64 - 1 <= number <= _MAX_INT64 else None
