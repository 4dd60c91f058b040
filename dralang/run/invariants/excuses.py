"""The known faults of Kubernetes (quirks) that break an invariant: while one is modelled, the check is left out.

An excuse is for the whole check; a check that excuses less asks the profile itself.
"""

from collections.abc import Mapping
from typing import Final

_OF_THE_SEARCH: Final = (
    "rejected-candidate-keeps-reservation",
    "counters-shared-by-pool-name",
    "counters-forget-shares",
    "share-without-amounts-is-not-in-use",
    "all-skips-exhausted-devices",
    "capacity-arithmetic-wraps",
    "negative-capacity-accepted",
    "distinct-attribute-knows-latest-device",
    "distinct-attribute-compares-identity",
    "list-intersection-not-restored",
    "all-alternative-continues-as-first",
    "second-alternative-reuses-verdicts",
    "capacity-rechecked-on-wrong-device",
    "any-taint-effect-blocks",
)
"""What makes the search find something else, or nothing."""

EXCUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "no-device-over-allocated": ("all-alternative-continues-as-first",),
    "no-capacity-below-zero": (
        "capacity-arithmetic-wraps",
        "negative-capacity-accepted",
        "capacity-rechecked-on-wrong-device",
    ),
    "no-counter-below-zero": ("counters-forget-shares", "counters-shared-by-pool-name"),
    "requests-answered": ("all-alternative-continues-as-first",),
    "all-means-all": (
        "all-skips-exhausted-devices",
        "all-alternative-continues-as-first",
        "second-alternative-reuses-verdicts",
    ),
    "selectors-hold": ("all-alternative-continues-as-first", "second-alternative-reuses-verdicts"),
    "constraints-hold": ("list-intersection-not-restored",),
    "amounts-are-exact": ("capacity-arithmetic-wraps", "negative-capacity-accepted"),
    "first-choice-in-order": _OF_THE_SEARCH,
    "better-alternatives-win": _OF_THE_SEARCH,
    "one-preemption-at-a-time": ("status-says-who-is-nominated",),
    "victims-are-needed": _OF_THE_SEARCH,
    "refusals-are-right": _OF_THE_SEARCH,
}
