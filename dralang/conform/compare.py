"""Answers against records, by the rules of each kind.

Source: the rules are those of the recordings' own description (docs/conformance.md).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from dralang.conform.shapes import Kind

Json: TypeAlias = Any


class Difference(Struct, frozen=True):
    """The first place at which an answer is not the recorded one.

    Attributes:
        path: where; list indices and unusual names in brackets.
        recorded: what stands there in the record; UNSET if nothing does.
        answered: what stands there in our answer; UNSET if nothing does.
    """

    path: str
    recorded: Json
    answered: Json


class TextCheck(Struct, frozen=True):
    """A text that should read the same, and fails no case if it does not.

    Attributes:
        what: ``compile`` (the first line of a compile error) or ``error`` (a run-time error).
        recorded: the recorded text.
        answered: ours.
    """

    what: str
    recorded: str
    answered: str

    @property
    def equal(self) -> bool:
        """Whether they read the same."""
        return self.recorded == self.answered


def compare(kind: Kind, want: Json, answer: Json) -> Difference | None:
    """The first difference that counts; None if there is none."""
    return _COMPARISONS[kind](want, answer)


def text_checks(kind: Kind, want: Json, answer: Json) -> tuple[TextCheck, ...]:
    """The texts that both have."""
    if kind != "cel":
        return ()
    pairs = ((what, want.get(what), answer.get(what)) for what in ("compile", "error"))
    return tuple(
        TextCheck(what, one.partition("\n")[0], two.partition("\n")[0])
        for what, one, two in pairs
        if one is not None and two is not None
    )


# ---- JSON values ----------------------------------------------------------------------------------------------------

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def first_difference(want: Json, answer: Json, path: str = "", *, null_is_absent: bool = False) -> Difference | None:
    """The first place at which two JSON values differ, members in the order of their names."""
    if isinstance(want, Mapping) and isinstance(answer, Mapping):
        for name in sorted({*want, *answer}):
            one, two = want.get(name, UNSET), answer.get(name, UNSET)
            if null_is_absent:
                one, two = (UNSET if value is None else value for value in (one, two))
            if one is UNSET and two is UNSET:
                continue
            found = first_difference(one, two, _member(path, name), null_is_absent=null_is_absent)
            if found is not None:
                return found
        return None
    if isinstance(want, list) and isinstance(answer, list):
        for index, (one, two) in enumerate(zip(want, answer, strict=False)):
            found = first_difference(one, two, f"{path}[{index}]", null_is_absent=null_is_absent)
            if found is not None:
                return found
        if len(want) == len(answer):
            return None
        index = min(len(want), len(answer))
        one, two = (value[index] if index < len(value) else UNSET for value in (want, answer))
        return Difference(f"{path}[{index}]", one, two)
    same = want == answer and isinstance(want, bool) == isinstance(answer, bool)
    return None if same else Difference(path, want, answer)


def _member(path: str, name: str) -> str:
    if not _PLAIN.fullmatch(name):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


# ---- validation -----------------------------------------------------------------------------------------------------

_GROUP_PARTS: Final = {
    "PodGroup": (("spec", "resourceClaims"), ("status", "resourceClaimStatuses")),
    "Workload": (("spec", "podGroupTemplates"),),
}


def _compare_validation(want: Json, answer: Json) -> Difference | None:
    if want["accepted"] != answer["accepted"]:
        return Difference("accepted", _verdict(want), _verdict(answer))
    if not want["accepted"]:
        if want.get("reason") != answer["reason"]:
            return Difference("reason", _verdict(want), _verdict(answer))
        recorded, answered = _pairs(want), _pairs(answer)
        if recorded == answered:
            return None
        return Difference("causes", sorted(recorded - answered), sorted(answered - recorded))
    for name in ("stored", "storedAsV1"):
        if want.get(name) is not None:
            one, two = _compared(want[name]), _compared(answer.get(name))
            found = first_difference(one, two, name, null_is_absent=True)
            if found is not None:
                return found
    return None


def _verdict(answer: Json) -> Json:
    """An answer without the object, which says nothing of why it was taken or refused."""
    return {name: value for name, value in answer.items() if name not in ("stored", "storedAsV1")}


def _pairs(answer: Json) -> set[tuple[str, str]]:
    return {(cause["field"], cause["type"]) for cause in answer.get("causes") or ()}


def _compared(stored: Json) -> Json:
    """The part of a stored object that counts."""
    parts = _GROUP_PARTS.get(str(stored.get("kind"))) if isinstance(stored, dict) else None
    if parts is None:
        return stored
    chosen: dict[str, dict[str, Json]] = {}
    for section, name in parts:
        found = stored.get(section)
        value = found.get(name) if isinstance(found, dict) else None
        if name == "podGroupTemplates" and isinstance(value, list):
            value = [
                {"resourceClaims": each.get("resourceClaims")} if isinstance(each, dict) else each for each in value
            ]
        chosen.setdefault(section, {})[name] = value
    return chosen


# ---- cel ------------------------------------------------------------------------------------------------------------


def _compare_cel(want: Json, answer: Json) -> Difference | None:
    for name in ("compile", "error"):
        one, two = want.get(name, UNSET), answer.get(name, UNSET)
        if (one is UNSET) != (two is UNSET):
            # The other answer says what came instead.
            others = [{key: value for key, value in each.items() if key != "runtimeCost"} for each in (want, answer)]
            return Difference(name, *others)
    # An attribute without a value (an empty list) is written as one without members.
    for name in ("cost", "tooCostly", "result", "attribute"):
        found = first_difference(want.get(name, UNSET), answer.get(name, UNSET), name)
        if found is not None:
            return found
    return None


# ---- allocation -----------------------------------------------------------------------------------------------------


def _compare_allocation(want: Json, answer: Json) -> Difference | None:
    for number, (one, two) in enumerate(zip(want, answer, strict=False)):
        if one["status"] == "timeout":
            continue  # the real one gave up: any answer is right
        if one["status"] != two["status"]:
            return Difference(f"step {number + 1}, status", _status(one), _status(two))
        found = first_difference(one.get("allocations", {}), two.get("allocations", {}), "allocations")
        if found is not None:
            return Difference(f"step {number + 1}, {found.path}", found.recorded, found.answered)
    return _compare_lengths(want, answer)


def _status(step: Json) -> Json:
    return step["status"] if "message" not in step else {name: step[name] for name in ("status", "message")}


def _compare_lengths(want: Json, answer: Json) -> Difference | None:
    if len(want) == len(answer):
        return None
    return Difference("number of steps", len(want), len(answer))


# ---- scheduling -----------------------------------------------------------------------------------------------------


def _compare_scheduling(want: Json, answer: Json) -> Difference | None:
    for number, (one, two) in enumerate(zip(want, answer, strict=False)):
        found = first_difference(_without_messages(one), _without_messages(two))
        if found is not None:
            return Difference(f"after step {number + 1}, {found.path}", found.recorded, found.answered)
    return _compare_lengths(want, answer)


def _without_messages(state: Json) -> Json:
    """The state without the messages that need not be equal: those of all conditions but PodScheduled."""
    return {
        section: {name: _entry(found) if isinstance(found, dict) else found for name, found in entries.items()}
        for section, entries in state.items()
    }


def _entry(found: Mapping[str, Json]) -> Json:
    changed = dict(found)
    if isinstance(found.get("conditions"), dict):
        changed["conditions"] = dict(_conditions(found["conditions"]))
    if isinstance(found.get("devices"), list):
        changed["devices"] = [
            {**each, "conditions": dict(_conditions(each["conditions"]))}
            if isinstance(each, dict) and isinstance(each.get("conditions"), dict)
            else each
            for each in found["devices"]
        ]
    return changed


def _conditions(conditions: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, condition in conditions.items():
        kept = condition
        if isinstance(condition, dict):
            kept = {key: value for key, value in condition.items() if key != "message"}
        yield name, kept


_COMPARISONS: Final[Mapping[Kind, Callable[[Json, Json], Difference | None]]] = {
    "validation": _compare_validation,
    "cel": _compare_cel,
    "allocation": _compare_allocation,
    "scheduling": _compare_scheduling,
}
