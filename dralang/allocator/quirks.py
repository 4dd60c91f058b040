"""The known faults of the real allocator, by name.

Each is on by default in the versions that have it, and each can be switched off; then the documented behaviour holds.
"""

from msgspec import Struct


class Quirk(Struct, frozen=True):
    """A fault of some Kubernetes versions.

    Attributes:
        versions: the minor versions that have it.
        effect: what it does, one sentence.
        off: what happens without it.
        source: a public issue, or the recorded case that shows it.
    """

    versions: frozenset[str]
    effect: str
    off: str
    source: str = ""


_SINCE_134 = frozenset({"1.34", "1.35", "1.36", "1.37", "1.38"})
_UNTIL_137 = frozenset({"1.34", "1.35", "1.36", "1.37"})
_137 = frozenset({"1.37"})

_UNTIL_136 = frozenset({"1.34", "1.35", "1.36"})
_UNTIL_135 = frozenset({"1.34", "1.35"})

QUIRKS: dict[str, Quirk] = {
    "all-mode-bad-pool-is-fatal": Quirk(
        _UNTIL_137,
        "mode All with any incomplete or invalid pool of the node aborts the attempt on every node",
        "only that node is unschedulable",
        "kubernetes/kubernetes#141829",
    ),
    "admin-access-pays-counters": Quirk(
        _SINCE_134,
        "admin requests must find free counters, a second time for a device in use",
        "admin requests reserve no counters",
        "kubernetes/kubernetes#140729",
    ),
    "vanished-devices-free-counters": Quirk(
        _SINCE_134,
        "allocated devices that left the slices free their counters and compatibility groups",
        "they keep charging what they published last",
        "kubernetes/kubernetes#140802",
    ),
    "negative-counter-blocks-pool": Quirk(
        _SINCE_134,
        "one over-committed counter blocks every counter-consuming device of the pool",
        "only the counters that the candidate consumes are checked",
        "case E15",
    ),
    "binding-conditions-delay-pool": Quirk(
        _SINCE_134,
        "one device with binding conditions moves its whole pool to the end, even while the gate is off",
        "with the gate on, devices without binding conditions come first; with the gate off, nothing moves",
        "case E21",
    ),
    "old-generation-hides-newer": Quirk(
        _SINCE_134,
        "an old generation that looks complete for the node hides a newer one published elsewhere",
        "the old pool is obsolete",
        "upstream test multi-host-resource-pool-complete-update-from-node-1-to-node-2",
    ),
    "literal-capacity-names": Quirk(
        _UNTIL_137,
        "capacity names of request and device are compared literally",
        "both are completed with the driver's name",
        "case E37",
    ),
    "admin-mark-blocks-normal-request": Quirk(
        _SINCE_134,
        "an admin request's device cannot be taken by a later normal request of the same pod",
        "admin requests block nobody",
        "case E1",
    ),
    "dedicated-ignores-shares": Quirk(
        _UNTIL_137,
        "a dedicated device that still has a persisted share can be allocated exclusively if the amounts fit",
        "the device is refused",
        "case E34",
    ),
    "skip-node-operations-unchecked": Quirk(
        frozenset({"1.37", "1.38"}),
        "devices of slices with skipNodeOperations are allocated without check, and the field is not copied, "
        "unless the experimental implementation answers",
        "the device is refused",
        "case E18",
    ),
    "multi-term-selector-is-fatal": Quirk(
        _SINCE_134,
        "a node selector with several terms aborts the attempt after the device was chosen",
        "only that node is unschedulable",
        "kubernetes/kubernetes#141212",
    ),
    "all-over-limit-is-fatal": Quirk(
        _SINCE_134,
        "mode All that matches too many devices on one node aborts the attempt on every node",
        "only that node is unschedulable",
        "case E32",
    ),
    "all-constraint-is-fatal": Quirk(
        _SINCE_134,
        "mode All whose devices violate a constraint aborts the attempt",
        "the request, or this alternative of it, fails",
        "upstream test with-constraint-not-matching-int-attribute-all-devices",
    ),
    "negative-request-rounded-up": Quirk(
        _UNTIL_137,
        "a negative capacity request is raised to the policy's minimum or to a listed value",
        "the attempt is aborted",
        "case E35",
    ),
    "list-value-accepted-once": Quirk(
        _UNTIL_137,
        "without list attributes, a list value passes a constraint for the first device only",
        "the attempt is aborted",
        "case E19",
    ),
    "version-text-comparison": Quirk(
        _UNTIL_137,
        "constraints tell versions apart by build metadata",
        "versions are compared by precedence",
    ),
    "bad-attribute-poisons-device": Quirk(
        _UNTIL_137,
        "a device with one unusable attribute fails every selector",
        "only an expression that looks at the attribute fails",
    ),
    "first-slice-count-wins": Quirk(
        _SINCE_134,
        "contradicting resourceSliceCount: the first slice in listing order decides",
        "the pool is invalid",
    ),
    "grouped-slices-obsolete-pool": Quirk(
        frozenset({"1.37", "1.38"}),
        "a newer generation whose slices are all ignored for their compatibility groups makes the old one obsolete",
        "only visible slices count",
        "case E36",
    ),
    "stable-ignores-capacity-requests": Quirk(
        _137,
        "where the stable implementation answers, capacity in a request is ignored",
        "the attempt is aborted",
        "case E31",
    ),
    "rejected-candidate-keeps-reservation": Quirk(
        _UNTIL_135,
        "counters of a candidate that a taint or constraint rejects, and of an undone share, stay reserved; "
        "a candidate of mode All rejected for its capacity stays marked",
        "every rejection gives everything back",
        "kubernetes/kubernetes#140436",
    ),
    "counters-shared-by-pool-name": Quirk(
        frozenset({"1.35"}),
        "counters are kept by pool name alone, so pools of two drivers with one name share the first one's counters",
        "pools are told apart by driver and name",
        "kubernetes/kubernetes#140434",
    ),
    "counters-forget-shares": Quirk(
        _UNTIL_135,
        "devices in use by shares only do not consume counters in the next attempt",
        "they do",
        "kubernetes/kubernetes#139034",
    ),
    "share-without-amounts-is-not-in-use": Quirk(
        _UNTIL_136,
        "a persisted share without consumed capacity is not seen, so the next share pays the device's counters again",
        "it is seen",
        "kubernetes/kubernetes#140433",
    ),
    "all-skips-exhausted-devices": Quirk(
        _UNTIL_136,
        "mode All leaves devices out that have too little capacity left",
        "such a device makes the request fail",
        "kubernetes/kubernetes#140769",
    ),
    "capacity-arithmetic-wraps": Quirk(
        _UNTIL_136,
        "rounding a huge capacity request up wraps around, possibly to a negative amount",
        "the attempt is aborted",
        "kubernetes/kubernetes#140441",
    ),
    "negative-capacity-accepted": Quirk(
        _UNTIL_136,
        "a negative capacity request is accepted and makes room for others",
        "the attempt is aborted",
        "kubernetes/kubernetes#140468",
    ),
    "distinct-attribute-knows-latest-device": Quirk(
        _UNTIL_136,
        "distinctAttribute compares with the latest device of each request only, and forgets the request when one of "
        "its devices is undone",
        "all devices are compared",
        "kubernetes/kubernetes#140438",
    ),
    "distinct-attribute-compares-identity": Quirk(
        frozenset({"1.34"}),
        "distinctAttribute takes equal values of two devices for different ones",
        "values are compared",
    ),
    "claim-named-twice-counts-twice": Quirk(
        _SINCE_134,
        "a claim that a pod names twice is allocated and reserved twice, which the API server refuses each time: the "
        "pod never runs",
        "it is one claim of the pod",
        "case claim-status-update-reserved-same-uid-twice",
    ),
    "failed-binding-forgets-devices": Quirk(
        frozenset({"1.36", "1.37", "1.38"}),
        "a scheduler that hears late takes the devices of a binding that failed after they were written for free",
        "what the API server has answered counts",
        "kubernetes v1.37.2 plugins/dynamicresources, Unreserve (AssumedClaimRestore)",
    ),
    "remade-claim-keeps-devices": Quirk(
        frozenset({"1.36", "1.37", "1.38"}),
        "a claim is deleted and made again under its name while a pod waits for binding conditions: the devices that "
        "it had are never free for the scheduler again, until that restarts",
        "they are free when the pod gives up",
        "kubernetes v1.37.2 plugins/dynamicresources, isPodReadyForBinding and Unreserve",
    ),
    "special-claim-has-no-node-resources": Quirk(
        frozenset({"1.36", "1.37"}),
        "what devices behind an extended resource take of their node is noted under a name that the API server "
        "refuses: the pod never runs",
        "it is noted under the name of the claim",
        "kubernetes v1.37.2 pkg/apis/core/validation, validateNodeAllocatableResourceClaimStatus",
    ),
    "mapped-resources-wake-nobody": Quirk(
        frozenset({"1.36", "1.37", "1.38"}),
        "who was refused because of what devices take of the node is not tried again when another pod leaves it",
        "it is tried again",
        "case mapping-does-not-fit-now",
    ),
    "node-operations-wake-nobody": Quirk(
        frozenset({"1.37", "1.38"}),
        "who was refused because of `skipNodeOperations` is not tried again when the node declares the feature",
        "it is tried again",
        "case skip-node-operations-not-declared",
    ),
    "native-resource-blocks-claims": Quirk(
        _SINCE_134,
        "a pod with claims that gets an extended resource of a class from the node itself is never bound: the "
        "scheduler makes a claim without requests for it, and gives up with `nil or empty request mappings`",
        "no claim is made where the node serves the resource itself",
        "asked of a control plane of 1.37.2; plugins/dynamicresources, patchPodExtendedResourceClaimStatus",
    ),
    "undated-allocation-blocks-claim": Quirk(
        _SINCE_134,
        "with binding conditions on, a claim that was allocated without `allocationTimestamp` (by somebody else, or "
        "before the gate was on) can be reserved for nobody: the scheduler adds it, and the API server refuses that",
        "the time stays away, and the claim is reserved",
        "case allocated-by-hand-never-reserved",
    ),
    "second-mention-replaces-first": Quirk(
        _UNTIL_135,
        "of a claim that a pod names twice, the devices of the last mention are kept from others while those of the "
        "first are written",
        "the devices that are written are kept from others",
    ),
    "list-intersection-not-restored": Quirk(
        frozenset({"1.36"}),
        "matchAttribute over lists keeps the narrowed intersection when a device is undone",
        "the intersection is restored",
        "kubernetes/kubernetes#140300",
    ),
    "claim-config-repeated": Quirk(
        _UNTIL_136,
        "claim configuration that names several requests appears once for each",
        "it appears once",
    ),
    "all-alternative-continues-as-first": Quirk(
        _UNTIL_135,
        "after its first device, an alternative with mode All goes on as the first alternative",
        "it takes its own devices",
    ),
    "second-alternative-reuses-verdicts": Quirk(
        _UNTIL_135,
        "if the first two alternatives have mode All, the second gets the devices that the first one selects",
        "each selects its own",
    ),
    "capacity-rechecked-on-wrong-device": Quirk(
        frozenset({"1.34"}),
        "the last capacity check looks at another device of the slice",
        "it looks at the candidate",
        "kubernetes/kubernetes#133705",
    ),
    "any-taint-effect-blocks": Quirk(
        frozenset({"1.34"}),
        "taints with effect None or an unknown effect prevent allocation too",
        "only NoSchedule and NoExecute do",
    ),
}
