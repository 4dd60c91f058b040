"""Tolerations of pods: which taints of nodes do they cover?

Source: k8s.io/component-helpers scheduling/corev1 (ToleratesTaint).
"""

from dralang.api.affinity import Taint, Toleration


def covers(toleration: Toleration, taint: Taint) -> bool:
    """Whether the toleration is good for the taint, for however long."""
    return (
        (not toleration.effect or toleration.effect == taint.effect)
        and (not toleration.key or toleration.key == taint.key)
        and _value_matches(toleration, taint.value)
    )


def _value_matches(toleration: Toleration, value: str) -> bool:
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == value
