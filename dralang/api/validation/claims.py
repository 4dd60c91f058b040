"""ResourceClaim and ResourceClaimTemplate: the handwritten rules for requests, constraints and configuration.

Source: validateDeviceClaim and below in pkg/apis/resource/validation (1.37).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dralang.api.device import CELDeviceSelector, DeviceSelector, DeviceToleration, OpaqueDeviceConfiguration
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
)
from dralang.api.validation import formats, limits
from dralang.api.validation.context import ValidationContext
from dralang.api.validation.errors import (
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from dralang.values.names import byte_length

ALLOCATION_MODES = ("ExactCount", "All")
TAINT_EFFECTS = ("None", "NoSchedule", "NoExecute")
TOLERATION_OPERATORS = ("Equal", "Exists")
_NOT_CONSTRAINED = (
    "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
)
_TOO_COMPLEX = "too complex, exceeds cost limit"
_NO_SUCH_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
RequestNames = Mapping[str, frozenset[str]]


def duplicates(keys: Iterable[object], path: str, out: Errors, *, covered: bool = False) -> None:
    """Report each element whose key came before."""
    seen: set[object] = set()
    for index, key in enumerate(keys):
        if key in seen:
            out.append(duplicate(f"{path}[{index}]", key, covered=covered))
        seen.add(key)


def request_names(claim: DeviceClaim) -> RequestNames:
    """The names of requests, each with the names of its subrequests."""
    return {request.name: frozenset(sub.name for sub in request.first_available) for request in claim.requests}


def device_claim(claim: DeviceClaim, path: str, context: ValidationContext, out: Errors) -> None:
    """The spec of a new claim."""
    names = request_names(claim)
    checks = _RequestChecks(claim, context, out)
    if len(claim.requests) > limits.CLAIM_MAX_REQUESTS:
        _too_many(claim.requests, limits.CLAIM_MAX_REQUESTS, f"{path}.requests", out)
    else:
        for index, request in enumerate(claim.requests):
            checks.request(request, f"{path}.requests[{index}]")
        duplicates((request.name for request in claim.requests), f"{path}.requests", out, covered=True)
    if len(claim.constraints) > limits.CLAIM_MAX_CONSTRAINTS:
        _too_many(claim.constraints, limits.CLAIM_MAX_CONSTRAINTS, f"{path}.constraints", out)
    else:
        for index, constraint in enumerate(claim.constraints):
            _constraint(constraint, f"{path}.constraints[{index}]", names, context, out)
    if len(claim.config) > limits.CLAIM_MAX_CONFIGS:
        _too_many(claim.config, limits.CLAIM_MAX_CONFIGS, f"{path}.config", out)
    else:
        for index, config in enumerate(claim.config):
            here = f"{path}.config[{index}]"
            request_references(config.requests, f"{here}.requests", names, out)
            configuration(config.opaque, here, out)
    if checks.derived_cost > limits.CLAIM_DERIVED_ATTRIBUTES_MAX_COST:
        text = "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
        out.append(forbidden(path, text))


def _too_many(elements: tuple[Any, ...], limit: int, path: str, out: Errors) -> None:
    out.append(too_many(path, len(elements), limit, covered=True))


def selector_list(
    selectors: tuple[DeviceSelector, ...], path: str, context: ValidationContext, out: Errors, *, stored: bool
) -> None:
    """Selectors; the expressions of stored ones are not compiled again."""
    if len(selectors) > limits.REQUEST_MAX_SELECTORS:
        _too_many(selectors, limits.REQUEST_MAX_SELECTORS, path, out)
        return
    for index, selector in enumerate(selectors):
        if selector.cel is None:
            out.append(required(f"{path}[{index}].cel"))
        elif not stored:
            _selector(selector.cel, f"{path}[{index}].cel.expression", context, out)


def _selector(selector: CELDeviceSelector, path: str, context: ValidationContext, out: Errors) -> None:
    expression = selector.expression
    if byte_length(expression) > limits.SELECTOR_MAX_LENGTH:
        out.append(too_long(path, limits.SELECTOR_MAX_LENGTH))
        return
    verdict = context.cel.check_selector(expression)
    if verdict.error:
        out.append(invalid(path, expression, verdict.error))
    elif verdict.cost > limits.SELECTOR_MAX_COST:
        out.append(forbidden(path, _TOO_COMPLEX))


class _RequestChecks:
    """The checks of the requests of one claim, which share the budget for derived attributes."""

    def __init__(self, claim: DeviceClaim, context: ValidationContext, out: Errors) -> None:
        self.context = context
        self.out = out
        self.derived_cost = 0
        self.constrained = _constrained_attributes(claim.constraints)

    def request(self, request: DeviceRequest, path: str) -> None:
        out = self.out
        formats.label(request.name, f"{path}.name", out)
        if request.exactly is None and not request.first_available:
            out.append(required(path, "exactly one of `exactly` or `firstAvailable` is required"))
        elif request.exactly is not None and request.first_available:
            text = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
            out.append(invalid(path, None, text))
        elif request.exactly is not None:
            self._class_name(request.exactly.device_class_name, f"{path}.exactly.deviceClassName", covered=False)
            self._body(request.exactly, f"{path}.exactly", request.name)
        else:
            self._alternatives(request, f"{path}.firstAvailable")

    def _alternatives(self, request: DeviceRequest, path: str) -> None:
        subrequests = request.first_available
        if len(subrequests) > limits.REQUEST_MAX_ALTERNATIVES:
            _too_many(subrequests, limits.REQUEST_MAX_ALTERNATIVES, path, self.out)
            return
        for index, sub in enumerate(subrequests):
            here = f"{path}[{index}]"
            formats.label(sub.name, f"{here}.name", self.out)
            self._class_name(sub.device_class_name, f"{here}.deviceClassName", covered=True)
            self._body(sub, here, f"{request.name}/{sub.name}")
        duplicates((sub.name for sub in subrequests), path, self.out, covered=True)

    def _class_name(self, name: str, path: str, *, covered: bool) -> None:
        if not name:
            self.out.append(required(path, covered=covered))
        else:
            formats.subdomain(name, path, self.out, covered=covered)

    def _body(self, request: ExactDeviceRequest | DeviceSubRequest, path: str, reference: str) -> None:
        out = self.out
        selector_list(request.selectors, f"{path}.selectors", self.context, out, stored=False)
        for index, attribute in enumerate(request.derived_attributes):
            self._derived_attribute(attribute, f"{path}.derivedAttributes[{index}]", reference)
        duplicates((attribute.name for attribute in request.derived_attributes), f"{path}.derivedAttributes", out)
        if request.allocation_mode == "All":
            if request.count:
                text = "must not be specified when allocationMode is 'All'"
                out.append(invalid(f"{path}.count", request.count, text))
        elif request.allocation_mode == "ExactCount":
            if request.count <= 0:
                out.append(invalid(f"{path}.count", request.count, "must be greater than zero"))
        else:
            here = f"{path}.allocationMode"
            out.append(not_supported(here, request.allocation_mode, ALLOCATION_MODES, covered=True))
        for index, item in enumerate(request.tolerations):
            toleration(item, f"{path}.tolerations[{index}]", out)

    def _derived_attribute(self, attribute: DeviceDerivedAttribute, path: str, reference: str) -> None:
        out = self.out
        if attribute.name and not self._is_constrained(attribute.name, reference):
            out.append(invalid(f"{path}.name", attribute.name, _NOT_CONSTRAINED))
        expression, here = attribute.expression, f"{path}.expression"
        if not expression:
            return
        if byte_length(expression) > limits.SELECTOR_MAX_LENGTH:
            out.append(too_long(here, limits.SELECTOR_MAX_LENGTH))
            return
        verdict = self.context.cel.check_derived(expression)
        if verdict.error:
            out.append(invalid(here, expression, verdict.error))
            return
        if verdict.cost > limits.CLAIM_DERIVED_ATTRIBUTES_MAX_COST:
            out.append(forbidden(here, _TOO_COMPLEX))
        # Go adds without noticing an overflow.
        self.derived_cost = (self.derived_cost + verdict.cost) % (1 << 64)

    def _is_constrained(self, name: str, reference: str) -> bool:
        parent = reference.partition("/")[0]
        return any(name in self.constrained.get(target, ()) for target in ("", reference, parent))


def _constrained_attributes(constraints: tuple[DeviceConstraint, ...]) -> Mapping[str, set[str]]:
    """Attribute names of constraints by the request they are about; the empty name stands for all requests."""
    found: dict[str, set[str]] = {}
    for constraint in constraints:
        name = constraint.match_attribute
        if name is None:
            name = constraint.distinct_attribute
        if name is not None:
            for target in constraint.requests or ("",):
                found.setdefault(target, set()).add(name)
    return found


def _constraint(
    constraint: DeviceConstraint, path: str, names: RequestNames, context: ValidationContext, out: Errors
) -> None:
    request_references(constraint.requests, f"{path}.requests", names, out)
    if constraint.match_attribute is not None:
        formats.fully_qualified_name(constraint.match_attribute, f"{path}.matchAttribute", out, covered=True)
    elif constraint.distinct_attribute is not None:
        formats.fully_qualified_name(constraint.distinct_attribute, f"{path}.distinctAttribute", out, covered=True)
    elif context.gates.enabled("DRAConsumableCapacity"):
        text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        out.append(required(path, text))
    else:
        out.append(required(f"{path}.matchAttribute"))


def request_references(references: tuple[str, ...], path: str, names: RequestNames, out: Errors) -> None:
    """References to requests or subrequests of the claim, each once."""
    if len(references) > limits.CLAIM_MAX_REQUESTS:
        _too_many(references, limits.CLAIM_MAX_REQUESTS, path, out)
        return
    for index, reference in enumerate(references):
        request_reference(reference, f"{path}[{index}]", names, out)
    duplicates(references, path, out, covered=True)


def request_reference(reference: str, path: str, names: RequestNames, out: Errors) -> None:
    """One reference: the name of a request, or of a request and a subrequest."""
    parts = reference.split("/")
    if len(parts) > 2:
        out.append(invalid(path, reference, _NO_SUCH_REQUEST))
        return
    for part in parts:
        formats.label(part, path, out)
    if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        out.append(invalid(path, reference, _NO_SUCH_REQUEST))


def toleration(item: DeviceToleration, path: str, out: Errors) -> None:
    """A toleration of a request or of a result."""
    if item.key:
        formats.label_key(item.key, f"{path}.key", out, covered=True)
    if item.operator == "Exists":
        if item.value:
            out.append(invalid(f"{path}.value", item.value, "must be empty for operator `Exists`"))
    elif item.operator == "Equal":
        formats.label_value(item.value, f"{path}.value", out)
    elif not item.operator:
        out.append(required(f"{path}.operator", covered=True))
    else:
        out.append(not_supported(f"{path}.operator", item.operator, TOLERATION_OPERATORS, covered=True))
    if item.effect and item.effect not in TAINT_EFFECTS:
        out.append(not_supported(f"{path}.effect", item.effect, TAINT_EFFECTS, covered=True))


def configuration(opaque: OpaqueDeviceConfiguration | None, path: str, out: Errors, *, stored: bool = False) -> None:
    """Configuration for a driver."""
    if opaque is None:
        out.append(required(f"{path}.opaque"))
        return
    formats.driver_name(opaque.driver, f"{path}.opaque.driver", out, covered=True)
    limit = limits.OPAQUE_PARAMETERS_MAX_LENGTH
    raw_object(opaque.parameters, f"{path}.opaque.parameters", limit, out, stored=stored)


def raw_object(value: Any, path: str, limit: int, out: Errors, *, stored: bool = False) -> None:
    """A JSON object that Kubernetes does not look into; the limit is not for stored ones."""
    if value is None:
        out.append(required(path))
    elif not stored and raw_length(value, limit) > limit:
        out.append(too_long(path, limit))
    elif not isinstance(value, Mapping):
        out.append(invalid(path, "<value omitted>", "must be a valid JSON object"))


def raw_length(value: Any, enough: int) -> int:
    """Bytes of the compact JSON text; the white space with which a value was sent is not known any more."""
    total = 0
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    for piece in encoder.iterencode(value):
        total += byte_length(piece)
        if total > enough:
            break
    return total
