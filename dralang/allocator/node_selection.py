"""Does a node selector match a node?

Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity, k8s.io/apimachinery pkg/labels.
"""

import re

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement
from dralang.api.nodes import Node

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
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
    terms = [term for term in selector.node_selector_terms if term.match_expressions or term.match_fields]
    for term in terms:
        for requirement in term.match_expressions:
            _check_label_requirement(requirement)
        for requirement in term.match_fields:
            _check_field_requirement(requirement)
    return any(
        all(_label_matches(requirement, node) for requirement in term.match_expressions)
        and all(_field_matches(requirement, node) for requirement in term.match_fields)
        for term in terms
    )


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
    if requirement.operator in {"Gt", "Lt"} and _int64(requirement.values[0]) is None:
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


def _label_matches(requirement: NodeSelectorRequirement, node: Node) -> bool:
    value = node.metadata.labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            number, bound = _int64(value or ""), _int64(requirement.values[0])
            if number is None or bound is None:
                return False
            return number > bound if requirement.operator == "Gt" else number < bound


def _field_matches(requirement: NodeSelectorRequirement, node: Node) -> bool:
    if not node.metadata.name:
        return True
    actual = node.metadata.name if requirement.key == "metadata.name" else ""
    return (actual == requirement.values[0]) == (requirement.operator == "In")


def _int64(text: str) -> int | None:
    if not _INTEGER.fullmatch(text) or len(text.lstrip("+-0")) > 19:
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None
