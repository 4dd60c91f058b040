"""The objects of files as a cluster would hold them: for questions that need objects and no scenario."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.check import problems
from dralang.check.admission import FileAdmission, Servers
from dralang.check.analysis import Analyzer
from dralang.check.environment import manifest_object
from dralang.check.files import MANIFEST_SUFFIXES, ReadManifest
from dralang.check.pools import with_slice_counts
from dralang.check.scope import spoken_kind
from dralang.check.settings import settings_of
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.features import FeatureGates
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared, Settings


class Loaded(Struct, frozen=True):
    """What files declare together.

    Attributes:
        objects: as a server stores them: with defaults, without fields of features that are off.
        settings: of the first `.dra` file, else the defaults.
        gates: what they come to; None if no server starts with them.
        diagnostics: sorted.
    """

    objects: Mapping[ObjectKey, ApiType]
    settings: Settings
    gates: FeatureGates | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        """Whether the objects must not be used."""
        return self.gates is None or any(item.severity == "error" for item in self.diagnostics)


def load(paths: Iterable[Path], analyzer: Analyzer, stdin: bytes | None = None) -> Loaded:
    """The objects of `.dra` files (those of the file's own level) and manifests.

    Manifests may be dumps of a cluster: the status of their objects is kept.

    Args:
        paths: the files.
        analyzer: reads them.
        stdin: a manifest that is already here.
    """
    log = DiagnosticLog()
    found: dict[ObjectKey, Declared] = {}
    settings: Settings | None = None
    if stdin is not None:
        read = analyzer.files.manifest_text(Path.cwd() / "<stdin>", "<stdin>", stdin)
        _take(_manifest_objects(read, log), found, log)
    for path in paths:
        if path.suffix in MANIFEST_SUFFIXES:
            manifest = analyzer.files.manifest(path.resolve(), str(path), None, log)
            declared = [] if manifest is None else _manifest_objects(manifest, log)
        else:
            analysis = analyzer.path(path)
            if isinstance(analysis, Diagnostic):
                log.add(analysis)
                continue
            # What is never used in the file's scenarios may be what the question is about.
            log.extend(item for item in analysis.diagnostics if item.severity == "error")
            settings = settings or analysis.settings
            declared = list(analysis.objects)
        _take(declared, found, log)
    settings = settings or settings_of([], {}, log, analyzer.overrides, analyzer.defaults)
    found |= with_slice_counts(found.values())
    servers = Servers()
    admission = FileAdmission(servers, settings, found, log)
    admission.finish()
    server = servers.of(settings)
    stored = {} if server is None else {key: server.stored(item) for key, item in found.items()}
    return Loaded(stored, settings, None if server is None else server.gates, tuple(log.sorted()))


def _take(declared: Iterable[Declared], found: dict[ObjectKey, Declared], log: DiagnosticLog) -> None:
    for item in declared:
        first = found.setdefault(item.key, item)
        # The same file used along two ways brings the same object; that is no second declaration.
        if first is not item and first.span != item.span:
            log.add(problems.duplicate(spoken_kind(item.key.kind), item.key.name, item.span, first.span))


def _manifest_objects(read: ReadManifest, log: DiagnosticLog) -> list[Declared]:
    log.extend(item for item in read.log.sorted() if item.severity != "note")
    declared = [manifest_object(each, log) for each in read.manifest.objects]
    return [item for item in declared if item is not None]
