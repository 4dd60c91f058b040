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
from dralang.api.resourceslice import ResourceSlice
from dralang.api.strategies import Operation
from dralang.api.validation.context import CelChecker
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
