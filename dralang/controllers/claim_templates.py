"""Making a claim from a template, for a pod or for a pod group.

Source: kubernetes pkg/controller/resourceclaim/controller.go (handleClaim, handlePodGroupClaim).
"""

from typing import Any

from dralang.api.meta import ObjectMeta, OwnerReference
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.workloads import PodGroup
from dralang.cluster.errors import ApiError
from dralang.cluster.podclaims import POD_CLAIM_ANNOTATION, SCHEDULING_GROUP
from dralang.cluster.store import ObjectStore

_MAX_BASE = 57
NO_TEMPLATE = "resource claim template"
"""How the message about a missing template begins."""


def generated_base(owner: str, entry: str) -> str:
    """The `generateName` of the claim for an entry of a pod or pod group."""
    base = f"{owner}-{entry}-"
    if len(base) <= _MAX_BASE:
        return base
    return f"{owner[: len(owner) * _MAX_BASE // len(base)]}-{entry[: len(entry) * _MAX_BASE // len(base)]}"


class ClaimMaker:
    """Makes claims, and remembers which it made until it has seen them elsewhere, even after they are gone.

    What it makes for the entries of one pod is not seen before all of them are done (in 1.37 that is a race).

    Source: kubernetes controller.go (claimExists, findPodResourceClaim), client-go tools/cache/mutation_cache.go.

    Args:
        store: the API server.
        asks_memory: whether a claim that is named in a status is looked for among those just made, too (from 1.37 on).
    """

    def __init__(self, store: ObjectStore, *, asks_memory: bool) -> None:
        self._store = store
        self._asks_memory = asks_memory
        self._made: dict[tuple[str, str], tuple[str, str]] = {}
        """The owner's UID and its entry, by namespace and name of the claim."""
        self._names: dict[tuple[str, str], list[str]] = {}
        """The same the other way round: the names of claims, the oldest first."""

    def forget(self) -> None:
        """Forget the claims made so far."""
        self._made.clear()
        self._names.clear()

    def exists(self, namespace: str, name: str) -> bool:
        """Whether a claim is there. Of one that was just made, this is believed once without a look."""
        there = self._store.get(ResourceClaim, namespace, name) is not None
        if not self._asks_memory:
            return there
        made = self._made.pop((namespace, name), None)
        if made is None:
            return there
        names = self._names[made]
        names.remove(name)
        if not names:
            del self._names[made]
        return True

    def existing(self, owner: Pod | PodGroup, entry: str) -> str:
        """The name of the claim made earlier for an entry, empty if there was none."""
        uid = owner.metadata.uid
        for kind, namespace, name in self._store.dependents(uid):
            if kind is ResourceClaim:
                claim = self._store.get(ResourceClaim, namespace, name)
                if claim is not None and claim.metadata.annotations.get(POD_CLAIM_ANNOTATION) == entry:
                    return name
        return next(iter(self._names.get((uid, entry), ())), "")

    def make(self, owner: Pod | PodGroup, entry: str, template_name: str) -> ResourceClaim | str:
        """Make the claim of an entry; return it, or what stands in the way."""
        meta = owner.metadata
        template = self._store.get(ResourceClaimTemplate, meta.namespace, template_name)
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            return f'{NO_TEMPLATE} "{template_name}": {missing}'
        inner = template.spec.metadata
        draft = ResourceClaim(
            metadata=ObjectMeta(
                generate_name=generated_base(meta.name, entry),
                namespace=meta.namespace,
                labels=inner.labels,
                annotations={**inner.annotations, POD_CLAIM_ANNOTATION: entry},
                owner_references=(_reference(owner),),
            ),
            spec=template.spec.spec,
        )
        created = self._store.create(draft)
        if isinstance(created, ApiError):
            return f"create ResourceClaim : {created.message}"
        name = created.metadata.name
        self._made[meta.namespace, name] = made = meta.uid, entry
        self._names.setdefault(made, []).append(name)
        return created


def _reference(owner: Pod | PodGroup) -> OwnerReference:
    kind: Any = type(owner)
    version = "v1" if kind is Pod else f"{SCHEDULING_GROUP}/v1beta1"
    return OwnerReference(
        api_version=version, kind=kind.__name__, name=owner.metadata.name, uid=owner.metadata.uid, controller=True
    )
