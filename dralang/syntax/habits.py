"""Words that people bring from elsewhere, and where the language's own words stand."""

from typing import Final

from dralang.syntax.brackets import ITEM_KEYWORDS
from dralang.syntax.vocabulary import ACTIONS, DECLARATIONS, TIME

ITEM_WORDS: Final = ITEM_KEYWORDS
STATEMENT_WORDS: Final = frozenset(
    set(DECLARATIONS)
    | (set(ACTIONS) - {"like", "next", "update", "bind"})
    | set(TIME)
    | {"expect", "always", "never", "witness", "any", "compare", "taint", "kubernetes", "gates", "quirks", "scheduler"}
)

_IN_A_SCENARIO: Final = "in a scenario or fuzz"
_AT_TOP: Final = "at the top level of a file"
WHERE_IT_STANDS: Final[dict[str, str]] = {
    **dict.fromkeys(sorted(set(ACTIONS) - {"like", "next", "update", "bind", "label"}), _IN_A_SCENARIO),
    **dict.fromkeys(sorted(TIME), _IN_A_SCENARIO),
    **dict.fromkeys(("expect", "witness"), _IN_A_SCENARIO),
    **dict.fromkeys(("scenario", "fuzz", "use", "fixture"), _AT_TOP),
    **dict.fromkeys(("tagged", "xfail"), "in the head of a scenario, before its `{`"),
    "taint": "in a device, node or taintrule, or as an action in a scenario or fuzz",
    "device": "in a slice",
    "counters": "in a slice",
    "consumes": "in a device of a slice",
    "where": "in a class, or in a request of a claim or template",
    "request": "in a claim or template",
    "match": "in a claim or template",
    "distinct": "in a claim or template",
    "tolerate": "in a request of a claim or template",
    "derive": "in a request of a claim or template",
    "container": "in a pod",
    "init": "in a pod",
    "because": "at the end of an expectation",
}
# The sugar of a block, by its keyword.
SUGAR_OF: Final[dict[str, tuple[str, ...]]] = {
    "slice": ("device", "counters"),
    "device": ("consumes", "taint"),
    "class": ("where",),
    "claim": ("request", "match", "distinct"),
    "template": ("request", "match", "distinct"),
    "request": ("where", "tolerate", "derive"),
    "pod": ("claim", "container", "init", "on"),
    "container": ("claim",),
    "node": ("taint",),
    "taintrule": ("taint",),
}

_KINDS: Final[dict[str, str]] = {
    "resourceslice": "`slice`",
    "deviceclass": "`class`",
    "resourceclaim": "`claim`",
    "resourceclaimtemplate": "`template`",
    "claimtemplate": "`template`",
    "priorityclass": "`priority`",
    "devicetaintrule": "`taintrule`",
    "resourcepoolstatusrequest": "`poolrequest`",
    "poddisruptionbudget": "`pdb`",
    "ns": "`namespace`",
    "deployment": "`pod`",
    "job": "`pod`",
}
ITEM_HABITS: Final[dict[str, str]] = {
    **_KINDS,
    **dict.fromkeys(("test", "it", "describe", "case", "spec", "example", "feature"), "`scenario`"),
    **dict.fromkeys(("import", "include", "load", "require", "from"), "`use`"),
    **dict.fromkeys(("def", "fn", "func", "function", "macro", "module"), "`fixture`"),
    **dict.fromkeys(("k8s", "version"), "`kubernetes`"),
    **dict.fromkeys(("featuregates", "features", "gate"), "`gates`"),
    **dict.fromkeys(("property", "invariant", "forall"), "`always`, a `fuzz` or `never`"),
}
STATEMENT_HABITS: Final[dict[str, str]] = {
    **_KINDS,
    **dict.fromkeys(("assert", "check", "verify", "should", "ensure", "then", "given", "eventually"), "`expect`"),
    **dict.fromkeys(("add", "apply", "submit", "start", "run", "schedule", "spawn", "launch"), "`create`"),
    **dict.fromkeys(("remove", "rm", "destroy", "evict"), "`delete`"),
    **dict.fromkeys(("complete", "succeed", "end"), "`finish`"),
    **dict.fromkeys(("crash", "kill"), "`fail` (a pod) or `restart` (a component)"),
    **dict.fromkeys(("patch", "modify", "edit", "change", "update"), "`set`"),
    **dict.fromkeys(("wait", "sleep", "advance", "in"), "`after 5s`, `at 10s` or `settle`"),
    **dict.fromkeys(("loop", "while", "foreach", "times", "for", "every"), "`repeat 3 as i { ... }`"),
    **dict.fromkeys(("stop", "freeze", "suspend"), "`pause`"),
    **dict.fromkeys(("shutdown", "reboot", "poweroff"), "`delete` (a node) or `restart` (a component)"),
    **dict.fromkeys(("scale", "replicas"), "`create NAME-[1..3] like POD`"),
    **dict.fromkeys(("if", "unless"), "`maybe` in a fuzz, or two scenarios"),
    "preempt": "`create` a pod of a higher priority",
    **dict.fromkeys(("unpause", "continue"), "`resume`"),
    **dict.fromkeys(("drain", "unschedule"), "`cordon`"),
    **dict.fromkeys(("perhaps", "optionally", "possibly"), "`maybe`"),
    **dict.fromkeys(("invariant", "forall"), "`always`"),
}
ENTRY_HABITS: Final[dict[str, str]] = {
    "counter": "`counters`",
    "consume": "`consumes`",
    "selector": "``where `...` ``",
    "select": "``where `...` ``",
    "when": "``where `...` ``",
    "if": "``where `...` ``",
    "cel": "``where `...` ``",
    "toleration": "`tolerate`",
    "tolerates": "`tolerate`",
    "constraint": "`match` or `distinct`",
    "matches": "`match`",
    "uses": "`claim`",
    "runs": "`on node`",
}
PREDICATE_HABITS: Final[dict[str, str]] = {
    **dict.fromkeys(("scheduled", "bound", "placed", "assigned", "starts", "lands"), "`runs on NODE`"),
    **dict.fromkeys(("should", "must", "will", "to", "shall", "can't", "eventually"), "what is true: `runs`, `is ...`"),
    **dict.fromkeys(("gets", "got", "uses", "holds", "receives", "takes"), "`runs with DEVICES`"),
    **dict.fromkeys(("exists", "exist"), "`is not gone`"),
    **dict.fromkeys(("deleted", "removed", "missing"), "`is gone`"),
    **dict.fromkeys(("contains", "message", "reports"), '`says "..."`'),
    **dict.fromkeys(("isnt", "isn", "not"), "`is not ...` or `does not run`"),
    **dict.fromkeys(("doesnt", "doesn", "didnt", "didn"), "`does not run` or `was not ...`"),
    **dict.fromkeys(("of", "equals"), "`is ...`, or the condition in CEL between backticks"),
    "on": "`runs on NODE`",
    "with": "`runs with DEVICES`",
    **dict.fromkeys(("running",), "`runs` or `is running`"),
    **dict.fromkeys(("waits", "pends", "hangs"), "`is pending`"),
    **dict.fromkeys(("finishes", "completes", "succeeds"), "`is succeeded`"),
    **dict.fromkeys(("fails",), "`is failed`"),
    **dict.fromkeys(("terminates",), "`is terminating`"),
    **dict.fromkeys(("preempts", "evicts"), "`preempted POD`"),
}
