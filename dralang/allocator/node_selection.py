"""Does a node selector that may be faulty match a node?

Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity, k8s.io/apimachinery pkg/labels.
"""

import re

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement
from dralang.api.nodes import Node
from dralang.api.selectors import as_int64, matches_node

_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_LABEL_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_COUNTS = {"In": (1, None), "NotIn": (1, None), "Exists": (0, 0), "DoesNotExist": (0, 0), "Gt": (1, 1), "Lt": (1, 1)}


class NodeSelectorError(Exception):
    """The selector cannot be used; the message is the cause."""


def node_matches(node: Node, node_name: str | None, selector: NodeSelector | None, *, all_nodes: bool | None) -> bool:
    """Whether one of the three ways of saying "for these nodes" admits the node.

    Raises:
        NodeSelectorError: the selector, if it is the one that decides, cannot be used.
    """
    if node_name:
        return node.metadata.name == node_name
    if all_nodes:
        return True
    return selector is not None and selector_matches(selector, node)


def selector_matches(selector: NodeSelector, node: Node) -> bool:
    """Whether any term matches; a term without requirements matches nothing.

    Raises:
        NodeSelectorError: any term cannot be used, matching or not.
    """
    named = only_name(selector)
    if named is not None and node.metadata.name:
        return node.metadata.name == named
    for term in selector.node_selector_terms:
        for requirement in term.match_expressions:
            _check_label_requirement(requirement)
        for requirement in term.match_fields:
            _check_field_requirement(requirement)
    return matches_node(selector, node)


def only_name(selector: NodeSelector) -> str | None:
    """The name of the one node that a selector is for, as allocations of local devices have it; None for others."""
    terms = selector.node_selector_terms
    if len(terms) != 1 or terms[0].match_expressions or len(terms[0].match_fields) != 1:
        return None
    field = terms[0].match_fields[0]
    if field.key != "metadata.name" or field.operator != "In" or len(field.values) != 1:
        return None
    return field.values[0]


def _check_label_requirement(requirement: NodeSelectorRequirement) -> None:
    bounds = _COUNTS.get(requirement.operator)
    if bounds is None:
        raise NodeSelectorError(f'operator: Unsupported value: "{requirement.operator}"')
    least, most = bounds
    count = len(requirement.values)
    if not _is_label_key(requirement.key):
        raise NodeSelectorError(f'key: Invalid value: "{requirement.key}"')
    if count < least or (most is not None and count > most):
        raise NodeSelectorError(f"values: Invalid value for operator {requirement.operator}")
    if requirement.operator in {"Gt", "Lt"} and as_int64(requirement.values[0]) is None:
        raise NodeSelectorError(
            f'values[0]: Invalid value: "{requirement.values[0]}": '
            "for 'Gt', 'Lt' operators, the value must be an integer"
        )
    for value in requirement.values:
        if len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            raise NodeSelectorError(f'values: Invalid value: "{value}"')


def _check_field_requirement(requirement: NodeSelectorRequirement) -> None:
    if requirement.operator not in {"In", "NotIn"}:
        raise NodeSelectorError(f'operator: Unsupported value: "{requirement.operator}"')
    if len(requirement.values) != 1:
        raise NodeSelectorError("values: must have one element")


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (0 < len(prefix) <= 253 and _DNS_SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(name) <= 63 and _LABEL_NAME.fullmatch(name) is not None
