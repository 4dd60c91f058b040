"""`matchLabelKeys` and `mismatchLabelKeys`: what the API server makes of them when a pod is created.

Source: kubernetes pkg/registry/core/pod/strategy.go (mutatePodAffinity, mutateTopologySpreadConstraints).
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from dralang.api.affinity import PodAffinity, PodAffinityTerm, PodAntiAffinity
from dralang.api.meta import LabelSelector, LabelSelectorRequirement
from dralang.api.pods import Pod, PodSpec

A = TypeVar("A", PodAffinity, PodAntiAffinity)


def with_label_keys(pod: Pod) -> PodSpec:
    """The spec of a pod with its own labels in the selectors that ask for them by key."""
    spec, labels = pod.spec, pod.metadata.labels
    if not labels:
        return spec
    if any(each.match_label_keys for each in spec.topology_spread_constraints):
        spread = tuple(
            replace(each, label_selector=_merged(each.label_selector, each.match_label_keys, (), labels))
            for each in spec.topology_spread_constraints
        )
        spec = replace(spec, topology_spread_constraints=spread)
    affinity = spec.affinity
    if affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None):
        to, from_ = affinity.pod_affinity, affinity.pod_anti_affinity
        merged = replace(
            affinity,
            pod_affinity=to and _between_pods(to, labels),
            pod_anti_affinity=from_ and _between_pods(from_, labels),
        )
        if merged != affinity:
            spec = replace(spec, affinity=merged)
    return spec


def _between_pods(given: A, labels: Mapping[str, str]) -> A:
    required = tuple(_term(each, labels) for each in given.required_during_scheduling_ignored_during_execution)
    preferred = tuple(
        replace(each, pod_affinity_term=_term(each.pod_affinity_term, labels))
        for each in given.preferred_during_scheduling_ignored_during_execution
    )
    return replace(
        given,
        required_during_scheduling_ignored_during_execution=required,
        preferred_during_scheduling_ignored_during_execution=preferred,
    )


def _term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    if not term.match_label_keys and not term.mismatch_label_keys:
        return term
    merged = _merged(term.label_selector, term.match_label_keys, term.mismatch_label_keys, labels)
    return replace(term, label_selector=merged)


def _merged(
    selector: LabelSelector | None, matching: Sequence[str], differing: Sequence[str], labels: Mapping[str, str]
) -> LabelSelector | None:
    """The selector with a requirement for each key that is a label; one without a selector selects nobody anyhow."""
    if selector is None:
        return None
    made = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for operator, keys in (("In", matching), ("NotIn", differing))
        for key in keys
        if key in labels
    ]
    # A pod that was read from a cluster has them already.
    added = [each for each in made if each not in selector.match_expressions]
    return replace(selector, match_expressions=(*selector.match_expressions, *added)) if added else selector
