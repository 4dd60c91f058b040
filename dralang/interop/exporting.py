"""Declared objects, or those of a scenario at an instant, as manifests."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from dralang.api.conversion import not_carried
from dralang.api.kinds import KIND_OF_TYPE
from dralang.check.pools import with_slice_counts
from dralang.interop.reify import ordered
from dralang.interop.yaml_text import exported_json, yaml_documents
from dralang.run.outcome import Failure
from dralang.run.player import play_until
from dralang.run.workshop import Workshop
from dralang.scenario.model import Declared, Scenario

Lost: TypeAlias = tuple[str, tuple[str, ...]]
"""An object, and the paths of what its older version cannot carry."""


def declared_objects(declared: Sequence[Declared]) -> list[Any]:
    """The objects of a file's own level, as they exist when a scenario begins."""
    counted = with_slice_counts(declared)
    return [counted.get(item.key, item).object for item in declared]


def objects_at(scenario: Scenario, workshop: Workshop, instant: int | None) -> tuple[list[Any], Failure | None]:
    """All objects of a scenario at an instant, or at its end; and a statement before it that failed.

    ``resourceVersion`` is left out: a server refuses new objects that have one.
    """
    simulation, failure = play_until(scenario, workshop, instant)
    found: list[Any] = []
    for kind in simulation.store.kinds():
        for value in simulation.store.objects(kind):
            found.append(replace(value, metadata=replace(value.metadata, resource_version="")))
    return found, failure


def export(objects: Sequence[Any], version: str = "v1") -> tuple[str, list[Lost]]:
    """Objects as YAML documents, what others refer to first.

    Args:
        objects: of any kinds.
        version: of the resource API; kinds that do not have it are written in their current version.

    Returns:
        The YAML, and what that version could not carry.
    """
    documents = []
    lost: list[Lost] = []
    for value in ordered(objects):
        info = KIND_OF_TYPE[type(value)]
        wanted = version if version in info.versions else info.versions[0]
        documents.append(exported_json(value, wanted))
        paths = not_carried(value, wanted)
        if paths:
            lost.append((f"{info.name} {value.metadata.name}", paths))
    return yaml_documents(documents), lost
