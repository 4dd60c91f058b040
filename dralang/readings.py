"""Where a KEP can be read in two ways, by name: what is done as a rule, and what the other reading does.

The readings of KEP-5690 and KEP-6406 are switched like the faults of the allocator, `quirks { NAME: true }`, and are
off unless they are named. docs/findings.md says what the texts say.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

READ_IN: Final = "1.38"
"""The version that has these KEPs."""

UNUSABLE_NODE_DEFERS: Final = "unusable-node-defers"
TERMINATING_USERS_RELEASE: Final = "terminating-users-release-claims"
TRACKED_CLAIMS_CLOSED: Final = "tracked-claims-take-no-users"
HINT_WITHHOLDS_ALL: Final = "hint-withholds-all-claims"
FAILURE_KEEPS_GONE: Final = "failed-deletion-keeps-gone-victims"
OWN_VICTIMS_DEFER: Final = "only-own-victims-defer"
OTHER_CLAIMS_RELEASED: Final = "extended-resources-free-other-claims"
STATUS_NOMINATES: Final = "status-says-who-is-nominated"
UNITS_SHARE: Final = "units-may-share-a-device"
IMPLICIT_NAMES_PLAIN: Final = "implicit-names-request-no-capacity"


class Reading(Struct, frozen=True):
    """One way to read a KEP that is not the one taken as a rule.

    Attributes:
        kep: the KEP.
        finding: its number in docs/findings.md.
        effect: what holds with it, one sentence.
        off: what holds without it.
    """

    kep: str
    finding: int
    effect: str
    off: str


READINGS: Final[Mapping[str, Reading]] = {
    UNUSABLE_NODE_DEFERS: Reading(
        "KEP-5690",
        2,
        "victims' claims defer the next preemption also if the nominated node cannot be used any more",
        "a nominated node that is unschedulable and unresolvable lifts every deferral, as in 1.37",
    ),
    TERMINATING_USERS_RELEASE: Reading(
        "KEP-5690",
        5,
        "a dry run releases a claim whose other users are all terminating, as the nomination does",
        "a dry run releases a claim only if all of its users are removed",
    ),
    TRACKED_CLAIMS_CLOSED: Reading(
        "KEP-5690",
        6,
        "a victim's claim takes no new user that is not more important than whoever waits for it",
        "whoever names the claim may use it before it is deallocated",
    ),
    HINT_WITHHOLDS_ALL: Reading(
        "KEP-5690",
        8,
        "no claim wakes a preemptor while victims' claims on its node are allocated",
        "only the victims' claims of that node do not wake it",
    ),
    FAILURE_KEEPS_GONE: Reading(
        "KEP-5690",
        9,
        "after a failed deletion the claims of the victims that did go stay tracked",
        "a failed deletion discards all claims that only this preemptor waits for",
    ),
    OWN_VICTIMS_DEFER: Reading(
        "KEP-5690",
        11,
        "a pod is deferred by the claims of its own victims only",
        "a pod is deferred by all victims' claims on its nominated node",
    ),
    OTHER_CLAIMS_RELEASED: Reading(
        "KEP-5690",
        14,
        "a victim with extended resources frees the claims that it names",
        "such a victim frees none of its claims",
    ),
    STATUS_NOMINATES: Reading(
        "KEP-5690",
        16,
        "a pod is nominated if the status that the scheduler has heard of says so, as in 1.37",
        "a pod is nominated if the scheduler's nominator says so",
    ),
    UNITS_SHARE: Reading(
        "KEP-6406",
        17,
        "several units of a class with capacity requests may be shares of one device",
        "several units are on several devices",
    ),
    IMPLICIT_NAMES_PLAIN: Reading(
        "KEP-6406",
        21,
        "the implicit resource name of a class requests devices without its capacity requests",
        "every name of a class requests its capacity",
    ),
}


def readings_of(switches: Mapping[str, bool]) -> frozenset[str]:
    """The readings among switched quirks that are on."""
    return frozenset(name for name, on in switches.items() if on and name in READINGS)


def faults_of(switches: Mapping[str, bool]) -> dict[str, bool]:
    """The other switched quirks: faults of the allocator."""
    return {name: on for name, on in switches.items() if name not in READINGS}
