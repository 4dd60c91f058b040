"""What the scheduler decides by in a pod: a word that it does not know would be passed over in silence.

Source: ValidatePodSpec and ValidateTolerations in pkg/apis/core/validation (1.37).
"""

from typing import Final

from dralang.api.affinity import Toleration, TopologySpreadConstraint
from dralang.api.pods import PodSpec
from dralang.api.validation import formats
from dralang.api.validation.affinity import affinity, match_label_keys
from dralang.api.validation.claims import TOLERATION_OPERATORS
from dralang.api.validation.errors import Errors, duplicate, invalid, not_supported, out_of_range, required
from dralang.api.validation.labelselectors import label_selector
from dralang.api.validation.labelselectors import labels as wanted_labels
from dralang.api.validation.nodes import NODE_TAINT_EFFECTS

_RESTART: Final = ("Always", "OnFailure", "Never")
LONGEST_DEADLINE: Final = 2**31 - 1
"""Seconds that a pod may run, at most."""
_DNS: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION: Final = ("PreemptLowerPriority", "Never")
_COMPARISONS: Final = ("Lt", "Gt")
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION: Final = ("Ignore", "Honor")


def scheduling(spec: PodSpec, path: str, out: Errors) -> None:
    """The parts of a pod's spec that say where it may run, whom it may preempt and when it is done.

    Args:
        spec: of the pod.
        path: of the spec.
        out: takes what is wrong.
    """
    if spec.restart_policy and spec.restart_policy not in _RESTART:
        out.append(not_supported(f"{path}.restartPolicy", spec.restart_policy, _RESTART, as_listed=True))
    if spec.dns_policy and spec.dns_policy not in _DNS:
        out.append(not_supported(f"{path}.dnsPolicy", spec.dns_policy, _DNS, as_listed=True))
    wanted_labels(spec.node_selector, f"{path}.nodeSelector", out)
    if spec.affinity is not None:
        affinity(spec.affinity, f"{path}.affinity", out)
    for index, readiness in enumerate(spec.readiness_gates):
        formats.label_key(readiness.condition_type, f"{path}.readinessGates[{index}].conditionType", out)
    _spreads(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints", out)
    gates: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        formats.label_key(gate.name, f"{path}.schedulingGates[{index}]", out)
        if gate.name in gates:
            out.append(duplicate(f"{path}.schedulingGates[{index}]", gate.name))
        gates.add(gate.name)
    if spec.node_name:
        formats.subdomain(spec.node_name, f"{path}.nodeName", out)
    seconds = spec.active_deadline_seconds
    if seconds is not None and not 1 <= seconds <= LONGEST_DEADLINE:
        out.append(out_of_range(f"{path}.activeDeadlineSeconds", seconds, 1, LONGEST_DEADLINE))
    for index, toleration in enumerate(spec.tolerations):
        _toleration(toleration, f"{path}.tolerations[{index}]", out)
    preemption_policy(spec.preemption_policy, f"{path}.preemptionPolicy", out)


def preemption_policy(policy: str | None, path: str, out: Errors) -> None:
    """One of the two there are; None where nothing was said."""
    if policy is not None and not policy:
        out.append(required(path))
    elif policy is not None and policy not in _PREEMPTION:
        out.append(not_supported(path, policy, _PREEMPTION))


def _spreads(constraints: tuple[TopologySpreadConstraint, ...], path: str, out: Errors) -> None:
    for index, constraint in enumerate(constraints):
        here = f"{path}[{index}]"
        _spread(constraint, here, out)
        key, action = constraint.topology_key, constraint.when_unsatisfiable
        if any((each.topology_key, each.when_unsatisfiable) == (key, action) for each in constraints[index + 1 :]):
            out.append(duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        match_label_keys(constraint.match_label_keys, (), constraint.label_selector, here, out)
        label_selector(constraint.label_selector, f"{here}.labelSelector", out)


def _spread(constraint: TopologySpreadConstraint, path: str, out: Errors) -> None:
    if constraint.max_skew <= 0:
        out.append(invalid(f"{path}.maxSkew", constraint.max_skew, "must be greater than zero"))
    if not constraint.topology_key:
        out.append(required(f"{path}.topologyKey", "can not be empty"))
    if constraint.when_unsatisfiable not in _ACTIONS:
        out.append(not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, _ACTIONS))
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            out.append(invalid(f"{path}.minDomains", constraint.min_domains, "must be greater than zero"))
        if constraint.when_unsatisfiable != "DoNotSchedule":
            text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {constraint.when_unsatisfiable}"
            out.append(invalid(f"{path}.minDomains", constraint.min_domains, text))
    for name, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None and policy not in _INCLUSION:
            out.append(not_supported(f"{path}.{name}", policy, _INCLUSION))


def _toleration(toleration: Toleration, path: str, out: Errors) -> None:
    operator, effect = toleration.operator, toleration.effect
    if toleration.key:
        formats.label_key(toleration.key, f"{path}.key", out)
    elif operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        out.append(invalid(f"{path}.operator", operator, text))
    if toleration.toleration_seconds is not None and effect != "NoExecute":
        out.append(invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    if operator in ("", "Equal"):
        formats.label_value(toleration.value, f"{path}.operator", out)
    elif operator == "Exists":
        if toleration.value:
            out.append(invalid(f"{path}.operator", toleration.value, "value must be empty when `operator` is 'Exists'"))
    else:
        # Comparisons need the gate TaintTolerationComparisonOperators, which is off by default and not modelled; the
        # server lists them among what it supports all the same.
        known = (*TOLERATION_OPERATORS, *_COMPARISONS) if operator in _COMPARISONS else TOLERATION_OPERATORS
        out.append(not_supported(f"{path}.operator", operator, known, as_listed=True))
    if effect and effect not in NODE_TAINT_EFFECTS:
        out.append(not_supported(f"{path}.effect", effect, NODE_TAINT_EFFECTS, as_listed=True))
