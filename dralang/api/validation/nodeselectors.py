"""Node selectors, as slices, devices and allocations have them.

Source: ValidateNodeSelector in pkg/apis/core/validation (1.37).
"""

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.validation import formats
from dralang.api.validation.errors import Errors, invalid, required
from dralang.api.validation.labelselectors import UNKNOWN_OPERATOR, are_values_judged


def node_selector(selector: NodeSelector, path: str, out: Errors) -> None:
    """At least one term; an empty term is fine and matches nothing."""
    terms = f"{path}.nodeSelectorTerms"
    if not selector.node_selector_terms:
        out.append(required(terms, "must have at least one node selector term"))
    for index, term in enumerate(selector.node_selector_terms):
        node_selector_term(term, f"{terms}[{index}]", out)


def node_selector_term(term: NodeSelectorTerm, path: str, out: Errors, *, any_value: bool = False) -> None:
    """The requirements of one term.

    Args:
        term: the term.
        path: its place.
        out: takes what is wrong.
        any_value: whether values may be what no label can have.
    """
    for number, requirement in enumerate(term.match_expressions):
        _label_requirement(requirement, f"{path}.matchExpressions[{number}]", out, any_value=any_value)
    for number, requirement in enumerate(term.match_fields):
        _field_requirement(requirement, f"{path}.matchFields[{number}]", out)


def _label_requirement(requirement: NodeSelectorRequirement, path: str, out: Errors, *, any_value: bool) -> None:
    operator, values = requirement.operator, requirement.values
    if operator in {"Gt", "Lt"}:
        if len(values) != 1:
            out.append(required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    elif not are_values_judged(operator, values, path, out):
        out.append(invalid(f"{path}.operator", operator, UNKNOWN_OPERATOR))
    formats.label_key(requirement.key, f"{path}.key", out)
    for index, value in enumerate(() if any_value else values):
        formats.label_value(value, f"{path}.values[{index}]", out)


def _field_requirement(requirement: NodeSelectorRequirement, path: str, out: Errors) -> None:
    if requirement.operator not in {"In", "NotIn"}:
        out.append(invalid(f"{path}.operator", requirement.operator, UNKNOWN_OPERATOR))
    elif len(requirement.values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        out.append(required(f"{path}.values", text))
    if requirement.key != "metadata.name":
        out.append(invalid(f"{path}.key", requirement.key, "not a valid field selector key"))
        return
    for index, value in enumerate(requirement.values):
        formats.subdomain(value, f"{path}.values[{index}]", out)
