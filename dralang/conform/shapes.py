"""The shapes of recorded cases, by kind: what must be there, and of which type, for a case to be played at all."""

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

Kind = Literal["validation", "cel", "allocation", "scheduling"]
Json: TypeAlias = Any
Object: TypeAlias = dict[str, Json]


class _Shape(Struct, frozen=True, kw_only=True, rename="camel"):
    """What cases of every kind have."""

    kind: str
    id: str
    kubernetes: str
    feature_gates: dict[str, bool] = {}
    versions: list[str] | None = None


# ---- validation -----------------------------------------------------------------------------------------------------


class _Cause(Struct, frozen=True):
    field: str
    type: str


class _Verdict(Struct, frozen=True, rename="camel"):
    accepted: bool
    reason: str = ""
    causes: list[_Cause] = []
    stored: Object | None = None
    stored_as_v1: Object | None = msgspec.field(name="storedAsV1", default=None)


class _Validation(_Shape, frozen=True, kw_only=True, rename="camel"):
    operation: Literal["create", "update", "update-status"]
    object: Object
    old: Object | msgspec.UnsetType = msgspec.UNSET
    old_feature_gates: dict[str, bool] = {}
    namespace_labels: dict[str, str] | None = None
    deleting: bool = False
    want: _Verdict | None = None
    want_by_version: dict[str, _Verdict] = {}


# ---- cel ------------------------------------------------------------------------------------------------------------


class _Evaluation(Struct, frozen=True, rename="camel"):
    compile: str = ""
    cost: int = 0
    too_costly: bool = False
    result: bool | None = None
    attribute: Object | None = None
    error: str = ""


class _Amount(Struct, frozen=True):
    value: str | int | float


class _Device(Struct, frozen=True, rename="camel"):
    name: str = ""
    attributes: dict[str, Object] | None = None
    capacity: dict[str, _Amount] | None = None
    allow_multiple_allocations: bool | None = None


class _Cel(_Shape, frozen=True, kw_only=True, rename="camel"):
    expression: str
    purpose: Literal["selector", "derived"]
    driver: str
    device: _Device
    new_expression: bool = False
    want: _Evaluation | None = None
    want_by_version: dict[str, _Evaluation] = {}


# ---- allocation -----------------------------------------------------------------------------------------------------


class _Outcome(Struct, frozen=True):
    status: Literal["allocated", "unallocatable", "node-error", "error", "timeout"]
    allocations: dict[str, Object] = {}


class _Attempt(Struct, frozen=True):
    node: str
    allocate: list[str]
    deallocate: list[str] = []


class _Metadata(Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Typed(Struct, frozen=True):
    kind: str
    metadata: _Metadata


class _Allocation(_Shape, frozen=True, kw_only=True, rename="camel"):
    objects: list[_Typed]
    steps: list[_Attempt]
    want: list[_Outcome] | None = None
    want_by_version: dict[str, list[_Outcome]] = {}


# ---- scheduling -----------------------------------------------------------------------------------------------------


class _Patch(Struct, frozen=True):
    object: str
    patch: Object


class _Step(Struct, frozen=True, forbid_unknown_fields=True):
    create: list[_Typed] = []
    delete: list[str] = []
    remove: list[str] = []
    start: list[str] = []
    finish: list[str] = []
    fail: list[str] = []
    update: list[_Typed] = []
    status: list[_Patch] = []
    wait: str = ""


_States: TypeAlias = list[dict[str, dict[str, Json]]]


class _Scheduling(_Shape, frozen=True, kw_only=True, rename="camel"):
    objects: list[_Typed]
    steps: list[_Step]
    times: list[float] = []
    kubelet: Literal["manual"] | None = None
    want: _States | None = None
    want_by_version: dict[str, _States] = {}


SHAPES: Final[dict[str, type[_Shape]]] = {
    "validation": _Validation,
    "cel": _Cel,
    "allocation": _Allocation,
    "scheduling": _Scheduling,
}
"""The shape of each kind."""


def shape_problem(kind: str, case: Object) -> str:
    """What keeps a JSON object from being a case of a kind; empty if nothing does."""
    try:
        msgspec.convert(case, SHAPES[kind])
    except msgspec.ValidationError as error:
        text = str(error)
        return text[:1].lower() + text[1:]
    return ""
