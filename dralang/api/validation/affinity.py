"""Affinity to nodes and between pods.

Source: validateAffinity in pkg/apis/core/validation (1.37).
"""

from collections.abc import Sequence
from typing import Final

from dralang.api.affinity import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, PodAntiAffinity
from dralang.api.meta import LabelSelector
from dralang.api.validation import formats
from dralang.api.validation.errors import Errors, forbidden, invalid, required
from dralang.api.validation.labelselectors import label_selector
from dralang.api.validation.nodeselectors import node_selector, node_selector_term

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity(given: Affinity, path: str, out: Errors) -> None:
    """What a pod wants of its node and of the pods beside it.

    Args:
        given: the affinity.
        path: its place.
        out: takes what is wrong.
    """
    if given.node_affinity is not None:
        _node_affinity(given.node_affinity, f"{path}.nodeAffinity", out)
    for name, between in (("podAffinity", given.pod_affinity), ("podAntiAffinity", given.pod_anti_affinity)):
        if between is not None:
            _between_pods(between, f"{path}.{name}", out)


def _node_affinity(given: NodeAffinity, path: str, out: Errors) -> None:
    wanted = given.required_during_scheduling_ignored_during_execution
    if wanted is not None:
        node_selector(wanted, f"{path}.{_REQUIRED}", out)
    for index, term in enumerate(given.preferred_during_scheduling_ignored_during_execution):
        here = f"{path}.{_PREFERRED}[{index}]"
        _weight(term.weight, here, out)
        # Where only a wish is at stake, values need not be labels.
        node_selector_term(term.preference, f"{here}.preference", out, any_value=True)


def _between_pods(given: PodAffinity | PodAntiAffinity, path: str, out: Errors) -> None:
    for index, term in enumerate(given.required_during_scheduling_ignored_during_execution):
        _term(term, f"{path}.{_REQUIRED}[{index}]", out)
    for index, weighted in enumerate(given.preferred_during_scheduling_ignored_during_execution):
        here = f"{path}.{_PREFERRED}[{index}]"
        _weight(weighted.weight, here, out)
        _term(weighted.pod_affinity_term, f"{here}.podAffinityTerm", out)


def _weight(weight: int, path: str, out: Errors) -> None:
    if not 0 < weight <= 100:
        out.append(invalid(f"{path}.weight", weight, "must be in the range 1-100"))


def _term(term: PodAffinityTerm, path: str, out: Errors) -> None:
    label_selector(term.label_selector, f"{path}.labelSelector", out)
    label_selector(term.namespace_selector, f"{path}.namespaceSelector", out)
    for name in term.namespaces:
        formats.label(name, f"{path}.namespace", out)
    match_label_keys(term.match_label_keys, term.mismatch_label_keys, term.label_selector, path, out)
    if not term.topology_key:
        out.append(required(f"{path}.topologyKey", "can not be empty"))
    formats.label_key(term.topology_key, f"{path}.topologyKey", out)


def match_label_keys(
    matching: Sequence[str],
    differing: Sequence[str],
    selector: LabelSelector | None,
    path: str,
    out: Errors,
) -> None:
    """Keys whose values in the pod's own labels go into the selector.

    Args:
        matching: `matchLabelKeys`.
        differing: `mismatchLabelKeys`.
        selector: the selector, with what these keys have put into it.
        path: of what they belong to.
        out: takes what is wrong.
    """
    for name, keys in (("matchLabelKeys", matching), ("mismatchLabelKeys", differing)):
        if keys and selector is None:
            out.append(forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set"))
        elif keys:
            for index, key in enumerate(keys):
                formats.label_key(key, f"{path}.{name}[{index}]", out)
    if selector is not None:
        known = set(selector.match_labels)
        # What the strategy of pods has put in is among them: a key that stands twice was there before.
        for each in selector.match_expressions:
            key = each.key
            if key in known and key in matching:
                index = len(matching) - 1 - list(reversed(matching)).index(key)
                out.append(invalid(f"{path}[{index}]", key, "exists in both matchLabelKeys and labelSelector"))
            known.add(key)
    for index, key in enumerate(matching):
        if key in differing:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            out.append(invalid(f"{path}.matchLabelKeys[{index}]", key, text))
