"""The exact expansion of every line that is no field."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from dralang.api.base import ApiType
from dralang.api.containers import Container as ContainerType
from dralang.api.located import Located
from dralang.api.resourceclaim import DeviceSubRequest, ExactDeviceRequest
from dralang.api.resourceslice import CounterSet, Device, DeviceCounterConsumption
from dralang.api.schema import fields_of
from dralang.check import labels, problems
from dralang.check.expand import Bindings, names, scalar
from dralang.check.parts import HOSTNAME, Members, ObjectParts, entries_of, is_no_map, resource_list_schema
from dralang.check.values import Converter, cel_text, misplaced_sugar, text_of
from dralang.syntax import nodes as n
from dralang.values.duration import parse_duration


def _device(parts: ObjectParts, entry: n.Device) -> None:
    for name in names(entry.name, parts.bindings, parts.log):
        members: Members = {"name": Located(name.text, name.span)}
        if entry.body is not None:
            _device_body(parts, entry.body, name.bindings, members)
        parts.append("devices", Located(members, entry.span))


def _device_body(parts: ObjectParts, body: n.Block, bindings: Bindings, members: Members) -> None:
    consumes: list[Located] = []
    taints: list[Located] = []
    for item in body.entries:
        if isinstance(item, n.Field):
            parts.builder.field(item, Device, bindings, "a device", members)
        elif isinstance(item, n.Consumes):
            consumes += _counter_set(parts, item, bindings, "counterSet", DeviceCounterConsumption)
        elif isinstance(item, n.Taint):
            taints += _taint_of(parts, item.taint, bindings)
        else:
            parts.log.add(misplaced_sugar(item, "a device"))
    for key, items in (("consumesCounters", consumes), ("taints", taints)):
        if items:
            given = members.get(key)
            before = given.value if given is not None and isinstance(given.value, tuple) else ()
            members[key] = Located((*before, *items), items[0].span.to(items[-1].span))


def _counter_set(
    parts: ObjectParts, entry: n.Counters | n.Consumes, bindings: Bindings, name_field: str, struct: type[ApiType]
) -> list[Located]:
    counters = parts.builder.member(entry.body, fields_of(struct)["counters"], bindings)
    if counters is None:
        return []
    return [
        Located({name_field: Located(name.text, name.span), "counters": counters}, entry.span)
        for name in names(entry.name, bindings, parts.log)
    ]


def _counters(parts: ObjectParts, entry: n.Counters) -> None:
    for located in _counter_set(parts, entry, parts.bindings, "name", CounterSet):
        parts.append("sharedCounters", located)


def _taint_of(parts: ObjectParts, taint: n.TaintSpec, bindings: Bindings) -> list[Located]:
    located = taint_spec(parts.builder, taint, bindings, labels.device_effect)
    return [] if located is None else [located]


def taint_spec(builder: Converter, taint: n.TaintSpec, bindings: Bindings, effect_rule: labels.Rule) -> Located | None:
    """``KEY[=VALUE]:EFFECT`` as the API writes it."""
    key = builder.text(taint.key, bindings, labels.key)
    effect = builder.text(taint.effect, bindings, effect_rule)
    value = None if taint.value is None else builder.text(taint.value, bindings, labels.value)
    if key is None or effect is None or (taint.value is not None and value is None):
        return None
    members: Members = {"key": key}
    if value is not None:
        members["value"] = value
    members["effect"] = effect
    return Located(members, taint.span)


def _object_taint(parts: ObjectParts, entry: n.Taint) -> None:
    rule = labels.node_effect if parts.keyword == "node" else labels.device_effect
    located = taint_spec(parts.builder, entry.taint, parts.bindings, rule)
    if located is None:
        return
    if parts.keyword == "taintrule":
        if "taint" in parts.spec and "taint" not in getattr(parts, "inherited", ()):
            parts.log.add(problems.given_twice("taint", entry.span, parts.spec["taint"].span))
        parts.spec["taint"] = located
    else:
        parts.append("taints", located)


def _class_where(parts: ObjectParts, entry: n.Where) -> None:
    parts.append("selectors", _selector(entry, parts.bindings, parts))


def _selector(entry: n.Where, bindings: Bindings, parts: ObjectParts) -> Located | None:
    expression = cel_text(entry.expression, bindings, parts.log)
    if expression is None:
        return None
    return Located({"cel": Located({"expression": expression}, entry.span)}, entry.span)


def _request(parts: ObjectParts, entry: n.Request) -> None:
    for name in names(entry.name, parts.bindings, parts.log):
        members: Members = {"name": Located(name.text, name.span)}
        if isinstance(entry.spec, n.ExactSpec):
            exact = _exact(parts, entry.spec, name.bindings, ExactDeviceRequest)
            if exact is None:
                continue
            members["exactly"] = Located(exact, entry.spec.span)
        else:
            members["firstAvailable"] = _alternatives(parts, entry.spec, name.bindings)
        parts.append("requests", Located(members, entry.span))


def _alternatives(parts: ObjectParts, spec: n.FirstAvailable, bindings: Bindings) -> Located:
    items = []
    for item in spec.body.entries:
        if not isinstance(item, n.Request) or not isinstance(item.spec, n.ExactSpec):
            way_out = "alternatives are written `name: 1 of class`"
            parts.log.add(problems.misplaced("this", "`first available`", item.span, way_out))
            continue
        for name in names(item.name, bindings, parts.log):
            exact = _exact(parts, item.spec, name.bindings, DeviceSubRequest)
            if exact is not None:
                items.append(Located({"name": Located(name.text, name.span), **exact}, item.span))
    return Located(tuple(items), spec.span)


def _exact(parts: ObjectParts, spec: n.ExactSpec, bindings: Bindings, struct: type[ApiType]) -> Members | None:
    class_name = parts.builder.reference(spec.class_name, "class", bindings)
    members: Members = {}
    if class_name is not None:
        members["deviceClassName"] = class_name
    if spec.count is None:
        members["allocationMode"] = Located("All", spec.span)
    else:
        count = parts.builder.first(spec.count, lambda value: _count(parts, value, bindings))
        if count is None:
            return None
        members["allocationMode"] = Located("ExactCount", spec.count.span)
        members["count"] = Located(count, spec.count.span)
    selectors = [_selector(where, bindings, parts) for where in spec.where]
    if spec.body is not None:
        selectors += _request_body(parts, spec.body, bindings, struct, members)
    found = [selector for selector in selectors if selector is not None]
    if found:
        given = members.get("selectors")
        before = given.value if given is not None and isinstance(given.value, tuple) else ()
        members["selectors"] = Located((*before, *found), found[0].span.to(found[-1].span))
    return members


def _count(parts: ObjectParts, value: n.Value, bindings: Bindings) -> int | None:
    resolved = parts.builder.resolve(value, bindings)
    count = scalar(resolved) if isinstance(resolved, n.Word) else None
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        shown = resolved.text if isinstance(resolved, n.Word) else value.span.text
        way_out = "write a number from 1, or `all of`"
        parts.log.add(problems.bad_number(f"`{shown}` devices cannot be requested", value.span, way_out))
        return None
    return count


def _request_body(
    parts: ObjectParts, body: n.Block, bindings: Bindings, struct: type[ApiType], members: Members
) -> list[Located | None]:
    selectors: list[Located | None] = []
    added: dict[str, list[Located]] = {}
    for item in body.entries:
        if isinstance(item, n.Field):
            parts.builder.field(item, struct, bindings, "a request", members)
        elif isinstance(item, n.Where):
            selectors.append(_selector(item, bindings, parts))
        elif isinstance(item, n.Tolerate):
            toleration = _toleration(parts, item, bindings)
            if toleration is not None:
                added.setdefault("tolerations", []).append(toleration)
        elif isinstance(item, n.Derive):
            name = text_of(item.name, bindings, parts.log)
            expression = cel_text(item.expression, bindings, parts.log)
            if name is not None and expression is not None:
                derived = Located({"name": name, "expression": expression}, item.span)
                added.setdefault("derivedAttributes", []).append(derived)
        else:
            parts.log.add(misplaced_sugar(item, "a request"))
    for key, items in added.items():
        given = members.get(key)
        before = given.value if given is not None and isinstance(given.value, tuple) else ()
        members[key] = Located((*before, *items), items[0].span.to(items[-1].span))
    return selectors


def _toleration(parts: ObjectParts, entry: n.Tolerate, bindings: Bindings) -> Located | None:
    key = parts.builder.text(entry.key, bindings, labels.key)
    if key is None:
        return None
    members: Members = {"key": key}
    if entry.value is None:
        members["operator"] = Located("Exists", entry.span)
    else:
        members["operator"] = Located("Equal", entry.span)
        value = parts.builder.text(entry.value, bindings, labels.value)
        if value is not None:
            members["value"] = value
    if entry.effect is not None:
        effect = parts.builder.text(entry.effect, bindings, labels.device_effect)
        if effect is not None:
            members["effect"] = effect
    if entry.duration is not None:
        seconds = parts.builder.first(entry.duration, lambda value: _whole_seconds(parts, value, bindings))
        if seconds is not None:
            members["tolerationSeconds"] = seconds
    return Located(members, entry.span)


def _whole_seconds(parts: ObjectParts, value: n.Value, bindings: Bindings) -> Located | None:
    text = text_of(value, bindings, parts.log) if isinstance(value, n.Word) else Located(value.span.text, value.span)
    if text is None or not isinstance(text.value, str):
        return None
    try:
        milliseconds = parse_duration(text.value)
    except ValueError as error:
        parts.log.add(problems.bad_duration(str(error), value.span))
        return None
    if milliseconds % 1000:
        parts.log.add(problems.bad_duration("a toleration lasts whole seconds", value.span))
        return None
    return Located(milliseconds // 1000, value.span)


def _constraint(parts: ObjectParts, entry: n.Constraint) -> None:
    attribute = text_of(entry.attribute, parts.bindings, parts.log)
    if attribute is None:
        return
    members: Members = {}
    across = [name for word in entry.across for name in names(word, parts.bindings, parts.log)]
    if across:
        members["requests"] = Located(tuple([Located(name.text, name.span) for name in across]), entry.span)
    members["matchAttribute" if entry.kind == "match" else "distinctAttribute"] = attribute
    parts.append("constraints", Located(members, entry.span))


def _pod_claim(parts: ObjectParts, entry: n.ClaimEntry) -> None:
    is_template = entry.relation == "from"
    target = parts.builder.reference(entry.target, "template" if is_template else "claim", parts.bindings)
    field = "resourceClaimTemplateName" if is_template else "resourceClaimName"
    for name in names(entry.name, parts.bindings, parts.log):
        if target is not None:
            members = {"name": Located(name.text, name.span), field: target}
            parts.append("resourceClaims", Located(members, entry.span))


def _container(parts: ObjectParts, entry: n.Container) -> None:
    for name in names(entry.name, parts.bindings, parts.log):
        members: Members = {"name": Located(name.text, name.span)}
        uses: list[Located] = []
        for item in entry.body.entries if entry.body is not None else ():
            if isinstance(item, n.Field):
                _container_field(parts, item, name.bindings, members)
            elif isinstance(item, n.ClaimUse):
                uses += _claim_use(parts, item, name.bindings)
            else:
                parts.log.add(misplaced_sugar(item, "a container"))
        members.setdefault("image", Located("pause", entry.span))
        if uses and not is_no_map(members.get("resources")):
            resources = dict(entries_of(members["resources"])) if "resources" in members else {}
            resources["claims"] = Located(tuple(uses), uses[0].span.to(uses[-1].span))
            members["resources"] = Located(resources, entry.span)
            parts.root["$uses"] = Located("claims", entry.span)
        parts.append("initContainers" if entry.init else "containers", Located(members, entry.span))


def _container_field(parts: ObjectParts, entry: n.Field, bindings: Bindings, members: Members) -> None:
    """``requests`` and ``limits`` may stand in a container without the ``resources`` around them."""
    if entry.name.text not in ("requests", "limits"):
        parts.builder.field(entry, ContainerType, bindings, "a container", members)
        return
    located = parts.builder.member(entry.value, resource_list_schema(entry.name.text), bindings)
    if located is not None and not is_no_map(members.get("resources")):
        resources = dict(entries_of(members["resources"])) if "resources" in members else {}
        resources[entry.name.text] = Located(located.value, located.span, entry.name.span)
        members["resources"] = Located(resources, entry.span)


def _claim_use(parts: ObjectParts, entry: n.ClaimUse, bindings: Bindings) -> list[Located]:
    request = None if entry.request is None else text_of(entry.request, bindings, parts.log)
    result = []
    for name in names(entry.name, bindings, parts.log):
        members: Members = {"name": Located(name.text, name.span)}
        if request is not None:
            members["request"] = request
        result.append(Located(members, entry.span))
    return result


def _on_node(parts: ObjectParts, entry: n.OnNode) -> None:
    node = parts.builder.reference(entry.node, "node", parts.bindings)
    if node is not None and not is_no_map(parts.spec.get("nodeSelector")):
        selector = dict(entries_of(parts.spec["nodeSelector"])) if "nodeSelector" in parts.spec else {}
        selector[HOSTNAME] = node
        parts.spec["nodeSelector"] = Located(selector, entry.span)


_Handler: TypeAlias = Callable[[ObjectParts, n.Entry], None]


def _typed(handler: object) -> _Handler:
    return handler  # type: ignore[return-value]  # the table below pairs each handler with its node type


SUGAR_HANDLERS: Final[Mapping[tuple[str, type], _Handler]] = {
    ("slice", n.Device): _typed(_device),
    ("slice", n.Counters): _typed(_counters),
    ("node", n.Taint): _typed(_object_taint),
    ("taintrule", n.Taint): _typed(_object_taint),
    ("class", n.Where): _typed(_class_where),
    ("claim", n.Request): _typed(_request),
    ("template", n.Request): _typed(_request),
    ("claim", n.Constraint): _typed(_constraint),
    ("template", n.Constraint): _typed(_constraint),
    ("pod", n.ClaimEntry): _typed(_pod_claim),
    ("pod", n.Container): _typed(_container),
    ("pod", n.OnNode): _typed(_on_node),
}
