"""From the devices that the search chose to the allocation results.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go Allocate,
createNodeSelector.
"""

from collections.abc import Callable, Iterable, Sequence

from dralang.allocator.capacity import Amounts
from dralang.allocator.inventory import Candidate
from dralang.allocator.profiles import AllocatorProfile
from dralang.allocator.requests import AttemptError, ClaimPlan, RequestPlan
from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.allocation import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
)
from dralang.api.device import OpaqueDeviceConfiguration
from dralang.api.nodes import Node


class Pick:
    """One device chosen for one request.

    Attributes:
        plan: the request or alternative.
        candidate: the device.
        amounts: what it takes from a shared device; None for a dedicated one.
    """

    __slots__ = ("amounts", "candidate", "plan")

    def __init__(self, plan: RequestPlan, candidate: Candidate, amounts: Amounts | None) -> None:
        self.plan = plan
        self.candidate = candidate
        self.amounts = amounts


def build_result(
    claim: ClaimPlan,
    chosen: Sequence[RequestPlan],
    picks: Sequence[Pick],
    node: Node,
    profile: AllocatorProfile,
    next_share: Callable[[], str],
) -> AllocationResult:
    """The allocation of one claim.

    Args:
        claim: the claim.
        chosen: for each request, itself or the alternative that was chosen.
        picks: its devices, in the order in which they were chosen.
        node: the node that was tried.
        profile: version, gates and quirks.
        next_share: gives the ID of the next share.

    Raises:
        AttemptError: the node selectors of the devices cannot be combined.
    """
    results = tuple(_device_result(pick, profile, next_share) for pick in picks)
    selector = _node_selector(claim, picks, node, profile)
    return AllocationResult(
        devices=DeviceAllocationResult(results=results, config=_configuration(claim, chosen, profile)),
        node_selector=selector,
    )


def _device_result(
    pick: Pick, profile: AllocatorProfile, next_share: Callable[[], str]
) -> DeviceRequestAllocationResult:
    device = pick.candidate.device
    driver, pool, name = device.id
    conditions = profile.features.binding_conditions
    amounts = pick.amounts
    return DeviceRequestAllocationResult(
        request=pick.plan.full_name,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=True if pick.plan.admin else None,
        tolerations=() if "result tolerations" in profile.lacks else pick.plan.tolerations,
        binding_conditions=device.api.binding_conditions if conditions else (),
        binding_failure_conditions=device.api.binding_failure_conditions if conditions else (),
        share_id=next_share() if amounts is not None else None,
        consumed_capacity={key: value for key, _, value in amounts.taken}
        if amounts is not None and amounts.taken
        else None,
        skip_node_operations=(device.home.api.spec.skip_node_operations if profile.knows_node_operations else ()),
    )


def _configuration(
    claim: ClaimPlan, chosen: Sequence[RequestPlan], profile: AllocatorProfile
) -> tuple[DeviceAllocationConfiguration, ...]:
    """Configuration of the classes, then of the claim; an entry that covers every request names none."""
    if not claim.api.spec.devices.config and not any(plan.class_ and plan.class_.api.spec.config for plan in chosen):
        return ()
    entries: list[tuple[str, list[str], OpaqueDeviceConfiguration | None]] = []
    by_class: dict[str, list[list[str]]] = {}
    for plan in chosen:
        class_ = plan.class_
        if class_ is None:
            continue
        if class_.name in by_class:
            for requests in by_class[class_.name]:
                requests.append(plan.full_name)
            continue
        by_class[class_.name] = []
        for config in class_.api.spec.config:
            requests = [plan.full_name]
            by_class[class_.name].append(requests)
            entries.append(("FromClass", requests, config.opaque))
    repeats = profile.has("claim-config-repeated")
    for own in claim.api.spec.devices.config:
        hits = sum(plan.full_name in own.requests or plan.parent in own.requests for plan in chosen)
        if not own.requests or hits:
            entries += [("FromClaim", list(own.requests), own.opaque)] * (hits if repeats and hits else 1)
    clears = "cleared configuration" not in profile.lacks
    return tuple(
        DeviceAllocationConfiguration(
            source=source,
            requests=() if clears and _covers_all(requests, chosen) else tuple(requests),
            opaque=opaque,
        )
        for source, requests, opaque in entries
    )


def _covers_all(requests: Iterable[str], chosen: Iterable[RequestPlan]) -> bool:
    named = set(requests)
    return all(plan.parent in named or plan.full_name in named for plan in chosen)


def _node_selector(
    claim: ClaimPlan, picks: Iterable[Pick], node: Node, profile: AllocatorProfile
) -> NodeSelector | None:
    """Where the allocation can be used: on one node, where all label selectors match, or everywhere (None)."""
    expressions: list[NodeSelectorRequirement] = []
    fields: list[NodeSelectorRequirement] = []
    binds = "binding to the node" not in profile.lacks
    for pick in picks:
        device = pick.candidate.device
        spec = device.home.api.spec
        source = device.api if spec.per_device_node_selection else spec
        if source.node_name is not None or (binds and device.api.binds_to_node):
            tried = "tried node in selectors" not in profile.lacks
            return _only(node.metadata.name if tried or source.node_name is None else source.node_name)
        if source.node_selector is None:
            continue
        terms = source.node_selector.node_selector_terms
        if len(terms) > 1:
            raise AttemptError(
                f"create NodeSelector for claim {claim.api.metadata.name}: "
                f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms",
                node_only=not profile.has("multi-term-selector-is-fatal"),
                quirk="multi-term-selector-is-fatal",
            )
        for term in terms:
            _add_new(term.match_fields, fields)
            _add_new(term.match_expressions, expressions)
    if not expressions and not fields:
        return None
    return NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields)),)
    )


def _only(node_name: str) -> NodeSelector:
    requirement = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(requirement,)),))


def _add_new(source: Iterable[NodeSelectorRequirement], into: list[NodeSelectorRequirement]) -> None:
    for requirement in source:
        values = set(requirement.values)
        if not any(
            known.key == requirement.key and known.operator == requirement.operator and set(known.values) == values
            for known in into
        ):
            into.append(requirement)
