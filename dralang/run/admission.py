"""What a user writes, before the API server: whole objects, as they come and as they change.

Components are not asked: the rules that they can run into are the store's (`cluster/admission.py`), and a test brings
all that they write in random stories before the same server.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dralang.api.admission import Accepted, AdmissionContext, Refused, admit_object
from dralang.api.base import ApiType
from dralang.api.kinds import KIND_OF_TYPE
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.priority import PriorityClass
from dralang.api.resourceslice import ResourceSlice
from dralang.api.strategies import Operation
from dralang.api.validation.context import CelChecker
from dralang.api.workloads import PodGroup
from dralang.cluster.admission import PREEMPTS, SYSTEM_PRIORITIES
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore
from dralang.cluster.timestamps import format_time


class ServerAdmission:
    """Judges requests; it changes nothing.

    Args:
        store: what exists.
        cel: compiles expressions as the server does.
    """

    def __init__(self, store: ObjectStore, cel: CelChecker) -> None:
        self._store = store
        self._cel = cel

    def refusal(self, operation: Operation, new: Any, old: Any = None) -> ApiError | None:
        """Why a request is refused, if it is."""
        if not isinstance(new, ApiType) or type(new) not in KIND_OF_TYPE:
            return None
        if operation == "create" and isinstance(new, Pod | PodGroup):
            # Before anything is validated: this admission fills in fields.
            refused = _refused_for_priority(new, self._store)
            if refused is not None:
                return refused
        context = self._context(new)
        if operation == "update":
            # The store fills in less than the server; what only that adds is no change.
            same = admit_object("update", old, old, context)
            old = same.object if isinstance(same, Accepted) else old
        answer = admit_object(operation, new, old, context)
        return None if isinstance(answer, Accepted) else _as_error(answer, new)

    def objections(self) -> list[ApiError]:
        """What speaks against slices that exist, given the nodes that exist."""
        gates = self._store.features
        if not gates.enabled("DRANodeAllocatableResources"):
            return []
        answers = [self.refusal("create", each) for each in self._store.objects(ResourceSlice)]
        return [each for each in answers if each is not None and each.reason == "Forbidden"]

    def _context(self, new: ApiType) -> AdmissionContext:
        store = self._store
        nodes = tuple(store.objects(Node)) if isinstance(new, ResourceSlice) else ()
        now = format_time(store.events.now)
        return AdmissionContext(store.features, self._cel, now, _Namespaces(store), nodes)


def _refused_for_priority(new: Pod | PodGroup, store: ObjectStore) -> ApiError | None:
    """What the Priority admission has against the class and the policy of a new pod or group.

    An integer priority is taken as it is, and nobody asks then.

    Source: plugin/pkg/admission/priority/admission.go (1.37).
    """
    spec = new.spec
    if spec.priority is not None:
        return None
    classes = store.objects(PriorityClass)
    wanted: str | None = PREEMPTS
    if spec.priority_class_name:
        named = next((each for each in classes if each.metadata.name == spec.priority_class_name), None)
        if named is None and spec.priority_class_name not in SYSTEM_PRIORITIES:
            return _forbidden(new, f"no PriorityClass with name {spec.priority_class_name} was found")
        wanted = wanted if named is None else named.preemption_policy
    elif defaults := [each for each in classes if each.global_default]:
        wanted = min(defaults, key=lambda each: each.value).preemption_policy
    said = spec.preemption_policy
    if isinstance(new, PodGroup):
        if not store.features.enabled("PodGroupPreemptionPolicy"):
            return None
        said = said or PREEMPTS  # filled in before anybody looks
    if said is None or wanted is None or said == wanted:
        return None
    what = "pod group" if isinstance(new, PodGroup) else "pod"
    return _forbidden(
        new,
        f"the string value of PreemptionPolicy ({said}) must not be provided in {what} spec; priority admission "
        f"controller computed {wanted} from the given PriorityClass name",
    )


def _forbidden(new: Pod | PodGroup, why: str) -> ApiError:
    info = KIND_OF_TYPE[type(new)]
    plural = f"{info.plural}.{info.group}" if info.group else info.plural
    return ApiError("Forbidden", f'{plural} "{new.metadata.name}" is forbidden: {why}')


class _Namespaces(Mapping[str, Mapping[str, str]]):
    """Every namespace exists; those that are declared have labels."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Mapping[str, str]:
        found = self._store.get(Namespace, "", name)
        return {} if found is None else found.metadata.labels

    def __iter__(self) -> Iterator[str]:
        return iter([each.metadata.name for each in self._store.objects(Namespace)])

    def __len__(self) -> int:
        return len(self._store.objects(Namespace))


def _as_error(refused: Refused, new: Any) -> ApiError:
    """The refusal in the words of the server."""
    if not refused.causes:
        return ApiError(refused.reason, refused.message)
    info = KIND_OF_TYPE[type(new)]
    kind = f"{info.name}.{info.group}" if info.group else info.name
    causes = [f"{cause.field}: {cause.message}" for cause in refused.causes]
    listed = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
    return ApiError(refused.reason, f'{kind} "{new.metadata.name}" is invalid: {listed}')
