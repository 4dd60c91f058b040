"""The words of the language: what each is, and what it means in a line.

`grammar/dra.lark` says which words exist; this table says what they are. A test holds the two, the TextMate grammar,
the formatter and `dralang completion` together.
"""

from typing import Final

DECLARATIONS: Final[dict[str, str]] = {
    "node": "a Node; cpu 64, memory 256Gi, pods 110 unless given",
    "slice": "a ResourceSlice: devices that a driver publishes",
    "class": "a DeviceClass: which devices a request may ask for",
    "claim": "a ResourceClaim, or a claim that a pod or container uses",
    "template": "a ResourceClaimTemplate: a claim of its own for every pod",
    "pod": "a Pod; exists from its `create` on",
    "priority": "a PriorityClass",
    "taintrule": "a DeviceTaintRule",
    "podgroup": "a PodGroup",
    "workload": "a Workload",
    "pdb": "a PodDisruptionBudget",
    "namespace": "a Namespace",
    "poolrequest": "a ResourcePoolStatusRequest",
}
STRUCTURE: Final[dict[str, str]] = {
    "kubernetes": "the version whose behaviour is modelled",
    "gates": "feature gates, by their Kubernetes names",
    "quirks": "known upstream faults, each on or off",
    "scheduler": "fields of a KubeSchedulerConfiguration profile",
    "use": "loads YAML, another .dra file or a module of the standard library",
    "as": "another name: of a module, or of a repetition's index",
    "fixture": "declarations with parameters",
    "scenario": "a story with expectations",
    "fuzz": "a scenario with holes",
    "tagged": "tags of a scenario, for `-m`",
    "xfail": "the scenario is expected to fail, and why",
    "for": "a scenario per row; also which request, consumer or time something is for",
    "in": "the rows of a table",
    "from": "the template of a pod's claim; also where a fuzz draws from",
    "compare": "a fuzz compares with other settings",
}
SUGAR: Final[dict[str, str]] = {
    "device": "a device of a slice",
    "counters": "a counter set of a slice",
    "consumes": "what a device takes from a counter set",
    "taint": "a taint of a device, node or taintrule; as an action, adds one",
    "where": "a CEL selector",
    "request": "a device request",
    "first": "`first available`: alternatives, in order",
    "available": "`first available`: alternatives, in order",
    "match": "all devices have the same value of an attribute",
    "distinct": "all devices have different values of an attribute",
    "across": "the requests that a constraint covers",
    "tolerate": "a toleration of a request",
    "derive": "a derived attribute",
    "container": "a container of a pod",
    "init": "an init container of a pod",
    "on": "a node",
}
TIME: Final[dict[str, str]] = {
    "at": "at a time since the start; in `at least` and `at most` a number",
    "after": "a time after the previous statement",
    "within": "must become true by then",
    "settle": "until only far timers are left",
}
ACTIONS: Final[dict[str, str]] = {
    "create": "create objects",
    "like": "a new object made like a declared one",
    "delete": "delete objects",
    "finish": "a pod succeeds",
    "fail": "a pod fails; `fail next`: a call to the API server fails",
    "set": "change a field of an object",
    "publish": "a new generation of a pool",
    "untaint": "take a taint away",
    "cordon": "a node takes no new pods",
    "uncordon": "a node takes new pods again",
    "label": "set labels of an object",
    "repeat": "statements several times",
    "pause": "a component stops working",
    "resume": "a component works again",
    "restart": "a component loses its memory",
    "next": "`fail next`: the next calls",
    "update": "the update calls of an object",
    "bind": "the bind calls of a pod",
    "delay": "a component answers late",
    "maybe": "a statement that a fuzz may leave out",
}
EXPECTATIONS: Final[dict[str, str]] = {
    "expect": "must be true once things have settled",
    "always": "must be true after every event",
    "never": "must not be true after any event",
    "witness": "must have been true at least once",
    "condition": "a condition of an object's status",
    "exactly": "exactly that many of",
    "least": "`at least`: that many or more",
    "most": "`at most`: that many or fewer",
    "more": "`more than`",
    "fewer": "`fewer than`",
    "than": "`more than`, `fewer than`",
    "none": "none of",
    "all": "all of; `all pods`; in a request, every device",
    "no": "no pod",
    "pods": "pods in general",
    "runs": "is running",
    "run": "are running",
    "does": "`does not run`",
    "do": "`do not run`",
    "not": "the opposite",
    "is": "a state now; in a pod, an existing claim",
    "are": "a state now",
    "was": "something that has happened",
    "were": "something that has happened",
    "preempted": "whom a pod has preempted",
    "has": "what is left of a counter or capacity",
    "have": "what is left of a counter or capacity",
    "left": "what is left of a counter or capacity",
    "says": "the message of a status contains",
    "can": "`can preempt`",
    "with": "which devices; also which taint",
    "by": "by whom; also by how much",
    "because": "the reason contains",
    "consuming": "which capacity a share takes",
    "of": "of what",
}
HOLES: Final[dict[str, str]] = {
    "any": "a hole: the fuzzer chooses",
    "subset": "a hole: some of a list",
    "order": "a hole: statements in any order",
}
CATEGORIES: Final[dict[str, dict[str, str]]] = {
    "declaration": DECLARATIONS,
    "structure": STRUCTURE,
    "sugar": SUGAR,
    "time": TIME,
    "action": ACTIONS,
    "expectation": EXPECTATIONS,
    "hole": HOLES,
}
KEYWORDS: Final[dict[str, str]] = {word: doc for words in CATEGORIES.values() for word, doc in words.items()}

# Words that begin a predicate: after one of them, the word before it is a name whatever it looks like.
PREDICATE_STARTS: Final = frozenset(
    {"runs", "run", "does", "do", "is", "are", "was", "were", "has", "have", "says", "can", "preempted"}
)

# States of a proposition (`is STATE`, `was STATE`), plain names for the grammar.
STATES: Final[dict[str, str]] = {
    "pending": "a pod that has no node",
    "running": "a pod that runs",
    "terminating": "an object that is being deleted",
    "gone": "an object that does not exist",
    "free": "a device that no claim holds",
    "in-use": "a device that a claim holds",
    "settled": "a pod that runs, is finished, or waits with nothing due that could help it",
    "ready": "a pod or node that is ready",
    "succeeded": "a pod that has finished well",
    "failed": "a pod that has failed",
    "allocated": "a claim that holds devices; a device that a claim holds",
    "nominated": "a pod that waits for a node to be freed for it",
    "reserved": "a claim with consumers",
    "tainted": "a device or node with a taint",
    "preempted": "a pod that was preempted",
    "evicted": "a pod that was evicted because of a taint",
    "true": "of a condition",
    "false": "of a condition",
    "unknown": "of a condition",
}
