"""`dralang allocate`: what the allocator answers for claims on a node, and why."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from dralang import __version__
from dralang.allocator.allocate import allocate
from dralang.allocator.explain import explain
from dralang.allocator.explanation import Explanation
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, NodeError, Outcome, Unallocatable
from dralang.allocator.profiles import allocator_profile
from dralang.allocator.render import outcome_text, render_explanation
from dralang.allocator.state import AllocatedState
from dralang.api.base import ApiType
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.encode import to_json
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.check.loading import Loaded
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean, those_known
from dralang.cli.config import load
from dralang.cli.console import Console
from dralang.cli.objects import load_objects
from dralang.cluster.taint_rules import with_rules
from dralang.diagnostics.render import clean
from dralang.features import FeatureGates
from dralang.interop.yaml_text import yaml_documents
from dralang.readings import faults_of
from dralang.run.expressions import expressions_for
from dralang.values.quantity import Quantity


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    wanted, nodes = arguments.all("--claim"), arguments.all("--node")
    if not arguments.positionals:
        raise UsageError("`dralang allocate` needs files", "name those with nodes, slices, classes and claims")
    if len(nodes) > 1:
        raise UsageError("`dralang allocate` takes one node", "ask for each node with a command of its own")
    if not nodes or not wanted:
        raise UsageError("`dralang allocate` needs a node and a claim", "write `--node NODE --claim CLAIM`")
    config = load(arguments, console)
    loaded = load_objects(arguments.positionals, config, console)
    if loaded is None or loaded.gates is None:
        return exits.UNUSABLE
    question = _Question(loaded, loaded.gates, nodes[0], wanted)
    explanation = question.explanation() if arguments.flag("--why") else None
    outcome = question.outcome() if explanation is None else explanation.outcome
    match arguments.text("--format"):
        case "json":
            console.json(_document(question, outcome, explanation))
        case "yaml":
            console.out(yaml_documents([_document(question, outcome, explanation)]))
        case _:
            console.out("".join(f"{clean(line)}\n" for line in _lines(question, outcome, explanation)))
    return exits.OK if isinstance(outcome, Allocated) else exits.FAILED


class _Question:
    """What is asked; private to this module."""

    def __init__(self, loaded: Loaded, gates: FeatureGates, node: str, claims: list[str]) -> None:
        self.loaded = loaded
        on = dict.fromkeys(sorted(gates.on), True)
        profile = allocator_profile(gates.version, on, faults_of(loaded.settings.quirks))
        objects = loaded.objects.values()
        self.node = self._node(node)
        self.claims = tuple([self._claim(name) for name in dict.fromkeys(claims)])
        slices = _with_taints([each for each in objects if isinstance(each, ResourceSlice)], objects, gates)
        classes = [each for each in objects if isinstance(each, DeviceClass)]
        self.inventory = Inventory.of(slices, classes, profile, expressions_for(gates))
        asked = {_label(claim) for claim in self.claims}
        held = [
            (_label(each), each.status.allocation)
            for each in objects
            if isinstance(each, ResourceClaim) and each.status.allocation is not None and _label(each) not in asked
        ]
        self.state = AllocatedState.of(held, profile.features)

    def outcome(self) -> Outcome:
        return allocate(self.inventory, self.state, self.node, self.claims)

    def explanation(self) -> Explanation:
        return explain(self.inventory, self.state, self.node, self.claims)

    def _node(self, name: str) -> Node:
        nodes = [each for each in self.loaded.objects.values() if isinstance(each, Node)]
        found = next((each for each in nodes if each.metadata.name == name), None)
        if found is None:
            raise _nothing("node", name, [each.metadata.name for each in nodes])
        return found

    def _claim(self, name: str) -> ResourceClaim:
        """A claim by its name, with its namespace where that is needed; or the claim that a template makes."""
        claims: dict[str, list[ResourceClaim]] = {}
        for each in self.loaded.objects.values():
            claim = each if isinstance(each, ResourceClaim) else None
            if isinstance(each, ResourceClaimTemplate):
                claim = ResourceClaim(metadata=each.metadata, spec=each.spec.spec)
            if claim is not None:
                for known in (claim.metadata.name, _label(claim)):
                    claims.setdefault(known, []).append(claim)
        found = claims.get(name, [])
        # A claim is meant before a template of the same name, and the namespace `default` before others.
        real = [claim for claim in found if (("ResourceClaim", *_key(claim)) in self.loaded.objects)] or found
        near = [claim for claim in real if claim.metadata.namespace == "default"] or real
        if not near:
            raise _nothing("claim", name, list(claims))
        if len({_label(claim) for claim in near}) > 1:
            labels = ", ".join(f"`{label}`" for label in sorted({_label(claim) for claim in near}))
            raise UsageError(f"`{name}` can mean {labels}", "write the namespace before the name")
        status = replace(near[0].status, allocation=None)
        return replace(near[0], status=status)

    def was_allocated(self, claim: ResourceClaim) -> bool:
        """Whether the claim has an allocation already, which the question leaves out of account."""
        found = self.loaded.objects.get(("ResourceClaim", *_key(claim)))  # type: ignore[call-overload]  # keys are tuples
        return isinstance(found, ResourceClaim) and found.status.allocation is not None


def _with_taints(slices: list[ResourceSlice], objects: Iterable[ApiType], gates: FeatureGates) -> list[ResourceSlice]:
    """The slices as the scheduler sees them: with the taints of DeviceTaintRules, by the names of these."""
    if not (gates.enabled("DRADeviceTaints") and gates.enabled("DRADeviceTaintRules")):
        return slices
    rules = [each for each in objects if isinstance(each, DeviceTaintRule)]
    rules.sort(key=lambda rule: rule.metadata.name)
    return [with_rules(slice_, rules) for slice_ in slices]


def _key(claim: ResourceClaim) -> tuple[str, str]:
    return claim.metadata.namespace, claim.metadata.name


def _label(claim: ResourceClaim) -> str:
    return "/".join(_key(claim))


def _nothing(what: str, name: str, known: list[str]) -> UsageError:
    way_out = did_you_mean(name, known) or those_known(known) or "the files declare none"
    return UsageError(f"there is no {what} `{name}` in these files", way_out)


# ---- telling --------------------------------------------------------------------------------------------------------


def _lines(question: _Question, outcome: Outcome, explanation: Explanation | None) -> Iterable[str]:
    for claim in question.claims:
        if question.was_allocated(claim):
            yield f"note: claim `{_label(claim)}` is allocated already; this is what it would get now"
    if isinstance(outcome, Allocated):
        yield f"node `{question.node.metadata.name}`: allocated"
        for claim, result in zip(question.claims, outcome.results, strict=True):
            yield f"  claim `{_label(claim)}`:"
            for device in result.devices.results:
                used = ", ".join(f"{name} {amount}" for name, amount in (device.consumed_capacity or {}).items())
                share = f" consuming {used}" if used else ""
                admin = " (admin access)" if device.admin_access else ""
                yield f"    {device.request} = {device.driver}/{device.pool}/{device.device}{share}{admin}"
        if explanation is not None:
            # Its first line says again what has been said.
            yield from render_explanation(explanation)[1:]
    elif explanation is not None:
        yield from render_explanation(explanation)
    else:
        yield f"node `{question.node.metadata.name}`: {outcome_text(outcome)}"
        yield "  `--why` tells what is in the way"


_STATUS = {
    Allocated: "allocated",
    Unallocatable: "unallocatable",
    NodeError: "node-error",
    FatalError: "error",
    GaveUp: "gave-up",
}


def _document(question: _Question, outcome: Outcome, explanation: Explanation | None) -> dict[str, Any]:
    """The answer in the shape of docs/json.md."""
    document: dict[str, Any] = {
        "schema": "dralang/allocate/1",
        "dralang": __version__,
        "kubernetes": question.inventory.profile.version,
        "node": question.node.metadata.name,
        "claims": [_label(claim) for claim in question.claims],
        **_outcome_json(question, outcome),
    }
    if explanation is not None:
        document["why"] = {
            "conflicts": _plain(explanation.conflicts),
            "pools": _plain(explanation.pools),
            "claims": _plain(explanation.claims),
            "quirks": [
                {
                    "name": effect.name,
                    "effect": effect.effect,
                    "source": effect.source,
                    "without": _outcome_json(question, effect.without),
                }
                for effect in explanation.quirks
            ],
        }
    return document


def _outcome_json(question: _Question, outcome: Outcome) -> dict[str, Any]:
    shown: dict[str, Any] = {"status": _STATUS[type(outcome)]}
    if isinstance(outcome, Allocated):
        labels = [_label(claim) for claim in question.claims]
        shown["allocations"] = {label: to_json(result) for label, result in zip(labels, outcome.results, strict=True)}
    elif isinstance(outcome, NodeError | FatalError):
        shown["message"] = outcome.message
    elif isinstance(outcome, GaveUp):
        shown["message"] = outcome_text(outcome)
    return shown


def _plain(value: Any) -> Any:
    """Explanations as JSON: members in the manner of the API's, amounts as text."""
    match value:
        case Quantity():
            return str(value)
        case msgspec.Struct():
            return {_camel(name): _plain(getattr(value, name)) for name in value.__struct_fields__}
        case tuple() | list():
            return [_plain(each) for each in value]
        case Mapping():
            return {name: _plain(each) for name, each in value.items()}
        case _:
            return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
