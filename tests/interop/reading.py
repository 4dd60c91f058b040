"""What the tests of import and export share: texts in, objects and diagnostics out."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dralang.api.defaults import with_defaults
from dralang.api.kinds import KIND_OF_TYPE
from dralang.check.environment import EnvironmentReader
from dralang.check.files import Files
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.interop.exporting import declared_objects
from dralang.interop.importing import Imported, import_manifests
from dralang.interop.reify import ordered, pool_sizes, reify
from dralang.interop.text import format_declarations
from dralang.interop.yaml_text import exported_json

MANIFESTS = Path(__file__).parent.parent / "data" / "manifests"
NOW = "2026-01-31T12:00:00Z"


def imported(text: str, name: str = "dump.yaml", **options: Any) -> Imported:
    """What a manifest comes to; it must have no errors."""
    log = DiagnosticLog()
    found = import_manifests([SourceFile(name, text)], log, **options)
    assert found is not None, [item.message for item in log.sorted()]
    assert not log, [item.message for item in log.sorted()]
    return found


def refused(text: str, name: str = "dump.yaml") -> list[Diagnostic]:
    """What is wrong with a manifest; something must be."""
    log = DiagnosticLog()
    assert import_manifests([SourceFile(name, text)], log) is None
    assert log.has_errors
    return log.sorted()


def declarations(text: str) -> str:
    """What import writes, without the comments at the head."""
    return imported(text).text.partition("\n\n")[2]


def written(values: Sequence[Any]) -> str:
    """Objects as declarations, without reading them from YAML before."""
    sizes = pool_sizes(values)
    return format_declarations([reify(value, sizes) for value in ordered(values)])


def elaborated(text: str) -> list[Any]:
    """The objects that a spec declares; what they refer to may be missing."""
    log = DiagnosticLog()
    files = Files()
    environment = EnvironmentReader(files).read(files.text(Path("spec.dra"), "spec.dra", text.encode()), log)
    assert not log.has_errors, ([item.message for item in log.sorted()], text)
    return declared_objects(list(environment.objects.values()))


def meaning(value: Any) -> Any:
    """An object as JSON, as the API server would store it."""
    if KIND_OF_TYPE[type(value)].namespaced and not value.metadata.namespace:
        value = replace(value, metadata=replace(value.metadata, namespace="default"))
    return exported_json(with_defaults(value, NOW))


def meanings(values: Iterable[Any]) -> dict[tuple[str, str, str], Any]:
    """Objects as JSON, by kind, namespace and name; no two may share these."""
    found = {}
    for shown in map(meaning, values):
        meta = shown["metadata"]
        key = (shown["kind"], meta.get("namespace", ""), meta["name"])
        assert key not in found
        found[key] = shown
    return found
