"""What the scheduler decides by in a pod: a word that it does not know would be passed over in silence.

Affinity between pods is carried, not checked.

Source: ValidatePodSpec and ValidateTolerations in pkg/apis/core/validation (1.37).
"""

from typing import Final

from dralang.api.affinity import Toleration, TopologySpreadConstraint
from dralang.api.pods import PodSpec
from dralang.api.validation import formats
from dralang.api.validation.claims import TOLERATION_OPERATORS
from dralang.api.validation.errors import Errors, duplicate, invalid, not_supported, required
from dralang.api.validation.nodes import NODE_TAINT_EFFECTS
from dralang.api.validation.nodeselectors import node_selector

_RESTART: Final = ("Always", "OnFailure", "Never")
_PREEMPTION: Final = ("PreemptLowerPriority", "Never")
_COMPARISONS: Final = ("Lt", "Gt")
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION: Final = ("Ignore", "Honor")


def scheduling(spec: PodSpec, path: str, out: Errors) -> None:
    """The parts of a pod's spec that say where it may run, whom it may preempt and when it is done."""
    if spec.restart_policy and spec.restart_policy not in _RESTART:
        out.append(not_supported(f"{path}.restartPolicy", spec.restart_policy, _RESTART, as_listed=True))
    for key, value in spec.node_selector.items():
        formats.label_key(key, f"{path}.nodeSelector", out)
        formats.label_value(value, f"{path}.nodeSelector", out)
    affinity = None if spec.affinity is None else spec.affinity.node_affinity
    wanted = None if affinity is None else affinity.required_during_scheduling_ignored_during_execution
    if wanted is not None:
        field = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        node_selector(wanted, f"{path}.{field}", out)
    for index, constraint in enumerate(spec.topology_spread_constraints):
        _spread(constraint, f"{path}.topologySpreadConstraints[{index}]", out)
    gates: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        formats.label_key(gate.name, f"{path}.schedulingGates[{index}]", out)
        if gate.name in gates:
            out.append(duplicate(f"{path}.schedulingGates[{index}]", gate.name))
        gates.add(gate.name)
    for index, toleration in enumerate(spec.tolerations):
        _toleration(toleration, f"{path}.tolerations[{index}]", out)
    if spec.preemption_policy is not None and spec.preemption_policy not in _PREEMPTION:
        out.append(not_supported(f"{path}.preemptionPolicy", spec.preemption_policy, _PREEMPTION))


def _spread(constraint: TopologySpreadConstraint, path: str, out: Errors) -> None:
    if constraint.max_skew <= 0:
        out.append(invalid(f"{path}.maxSkew", constraint.max_skew, "must be greater than zero"))
    if not constraint.topology_key:
        out.append(required(f"{path}.topologyKey", "can not be empty"))
    if constraint.when_unsatisfiable not in _ACTIONS:
        out.append(not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, _ACTIONS))
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
