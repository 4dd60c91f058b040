"""`matchLabelKeys` and `mismatchLabelKeys`: what the API server makes of them when a pod is created.

Source: kubernetes pkg/registry/core/pod/strategy.go (mutatePodAffinity, mutateTopologySpreadConstraints).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from dralang.api.affinity import PodAffinity, PodAffinityTerm, PodAntiAffinity
from dralang.api.meta import LabelSelector, LabelSelectorRequirement
from dralang.api.pods import Pod, PodSpec

A = TypeVar("A", PodAffinity, PodAntiAffinity)
Merge: TypeAlias = Callable[[LabelSelector | None, Sequence[str], Sequence[str]], LabelSelector | None]
"""Puts labels into a selector: those of keys that have to match, and of keys that have to differ."""


def with_label_keys(pod: Pod, *, captured: bool = False) -> PodSpec:
    """The spec of a pod with its own labels in the selectors that ask for them by key.

    Args:
        pod: a new pod.
        captured: the pod may come from a cluster, whose API server has done this already.
    """
    spec, labels = pod.spec, pod.metadata.labels
    if not labels:
        return spec
    merge: Merge = partial(_merged, labels, captured=captured)
    if any(each.match_label_keys for each in spec.topology_spread_constraints):
        spread = tuple(
            replace(each, label_selector=merge(each.label_selector, each.match_label_keys, ()))
            for each in spec.topology_spread_constraints
        )
        spec = replace(spec, topology_spread_constraints=spread)
    affinity = spec.affinity
    if affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None):
        to, from_ = affinity.pod_affinity, affinity.pod_anti_affinity
        merged = replace(
            affinity,
            pod_affinity=to and _between_pods(to, merge),
            pod_anti_affinity=from_ and _between_pods(from_, merge),
        )
        if merged != affinity:
            spec = replace(spec, affinity=merged)
    return spec


def _between_pods(given: A, merge: Merge) -> A:
    required = tuple(_term(each, merge) for each in given.required_during_scheduling_ignored_during_execution)
    preferred = tuple(
        replace(each, pod_affinity_term=_term(each.pod_affinity_term, merge))
        for each in given.preferred_during_scheduling_ignored_during_execution
    )
    return replace(
        given,
        required_during_scheduling_ignored_during_execution=required,
        preferred_during_scheduling_ignored_during_execution=preferred,
    )


def _term(term: PodAffinityTerm, merge: Merge) -> PodAffinityTerm:
    if not term.match_label_keys and not term.mismatch_label_keys:
        return term
    merged = merge(term.label_selector, term.match_label_keys, term.mismatch_label_keys)
    return replace(term, label_selector=merged)


def _merged(
    labels: Mapping[str, str],
    selector: LabelSelector | None,
    matching: Sequence[str],
    differing: Sequence[str],
    *,
    captured: bool,
) -> LabelSelector | None:
    if selector is None:
        return None  # it selects nobody anyhow
    made = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for operator, keys in (("In", matching), ("NotIn", differing))
        for key in keys
        if key in labels
    ]
    added = [each for each in made if not captured or each not in selector.match_expressions]
    return replace(selector, match_expressions=(*selector.match_expressions, *added)) if added else selector
