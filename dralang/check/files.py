"""Files found, read once and parsed: the spec itself and everything that it uses.

Reading is the only contact with the disk; it happens through ``Files``, which keeps to the project's folder.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

from dralang.check import problems
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.manifest.objects import Manifest, read_manifest
from dralang.manifest.reader import MAX_BYTES
from dralang.resources import stdlib_dir
from dralang.spelling import nearest
from dralang.syntax.nodes import File
from dralang.syntax.reading import decode_source, parse

MANIFEST_SUFFIXES: Final = (".yaml", ".yml", ".json")


class ParsedFile(Struct, frozen=True):
    """A `.dra` file: its tree and what was wrong with its text."""

    path: Path
    source: SourceFile
    tree: File
    log: DiagnosticLog


class ReadManifest(Struct, frozen=True):
    """A YAML or JSON file: its objects and what was wrong with its text."""

    path: Path
    source: SourceFile
    manifest: Manifest
    log: DiagnosticLog


def project_root(path: Path) -> Path:
    """The folder that a spec may use files of: the nearest one above it with a `dralang.toml` or `.git`.

    Without either it is the working directory if the spec lies below it, else the spec's own folder.
    """
    start = path.resolve().parent
    for marker in ("dralang.toml", ".git"):
        for folder in (start, *start.parents):
            if (folder / marker).exists():
                return folder
    here = Path.cwd().resolve()
    return here if start.is_relative_to(here) else start


class Files:
    """Reads and parses; the same file is read once, whoever uses it. Owned by one analysis run."""

    def __init__(self) -> None:
        self._parsed: dict[Path, ParsedFile | None] = {}
        self._manifests: dict[Path, ReadManifest | None] = {}
        self._texts: dict[Path, bytes] = {}

    def spec(self, path: Path, log: DiagnosticLog) -> ParsedFile | None:
        """The spec at a path, or None after a diagnostic."""
        return self.parsed(path.resolve(), _shown(path), None, log)

    def text(self, path: Path, name: str, data: bytes) -> ParsedFile:
        """A spec whose content is already here (standard input, an editor)."""
        own = DiagnosticLog()
        source = decode_source(name, data, own)
        if source is None:
            return ParsedFile(path, SourceFile(name, ""), parse(SourceFile(name, ""), DiagnosticLog()), own)
        return ParsedFile(path, source, parse(source, own), own)

    def parsed(self, path: Path, name: str, span: Span | None, log: DiagnosticLog) -> ParsedFile | None:
        """A `.dra` file by its resolved path."""
        if path not in self._parsed:
            data = self._read(path, name, span, log)
            self._parsed[path] = None if data is None else self.text(path, name, data)
        return self._parsed[path]

    def manifest(self, path: Path, name: str, span: Span | None, log: DiagnosticLog) -> ReadManifest | None:
        """A YAML or JSON file by its resolved path."""
        if path not in self._manifests:
            data = self._read(path, name, span, log)
            self._manifests[path] = None if data is None else self.manifest_text(path, name, data)
        return self._manifests[path]

    def manifest_text(self, path: Path, name: str, data: bytes) -> ReadManifest:
        """A YAML or JSON text whose content is already here (standard input)."""
        own = DiagnosticLog()
        source = decode_source(name, data, own, max_bytes=MAX_BYTES)
        if source is None:
            return ReadManifest(path, SourceFile(name, ""), Manifest((), ()), own)
        return ReadManifest(path, source, read_manifest(source, own), own)

    def _read(self, path: Path, name: str, span: Span | None, log: DiagnosticLog) -> bytes | None:
        try:
            # A pipe that somebody names on the command line is read; one that a file uses may never end.
            if span is not None and path.exists() and not path.is_file() and not path.is_dir():
                log.add(problems.bad_file(f"`{name}` is no regular file", span))
                return None
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or "it cannot be read").lower()
            log.add(problems.bad_file(f"cannot read `{name}`: {reason}", span, _similar(path)))
            return None
        except ValueError:
            log.add(problems.bad_file(f"`{name}` is no path", span))
            return None
        if len(data) > MAX_BYTES:
            log.add(
                Diagnostic(
                    code="DRA0403",
                    message=f"`{name}` is larger than {MAX_BYTES:,} bytes",
                    span=span,
                    help="split the file, or leave out what the scenario does not need",
                )
            )
            return None
        return data

    # ---- use --------------------------------------------------------------------------------------------------------

    def locate(self, target: str, quoted: bool, user: ParsedFile, span: Span, log: DiagnosticLog) -> Path | None:  # noqa: FBT001  # as the node says it
        """The resolved path of what ``use`` names, or None after a diagnostic."""
        if quoted:
            return self._locate_file(target, user, span, log)
        if target != "std" and not target.startswith("std."):
            log.add(
                problems.bad_file(
                    f"`{target}` is no module", span, 'modules start with `std.`; files stand in quotes: `use "x.dra"`'
                )
            )
            return None
        relative = Path(*target.split(".")[1:]).with_suffix(".dra") if target != "std" else Path("std.dra")
        path = stdlib_dir() / relative
        if not path.is_file():
            known = standard_modules()
            near = nearest(target, known)
            way_out = f"did you mean `{near}`?" if near else f"there are {', '.join(f'`{name}`' for name in known)}"
            log.add(problems.bad_file(f"the standard library has no `{target}`", span, way_out))
            return None
        return path.resolve()

    def _locate_file(self, target: str, user: ParsedFile, span: Span, log: DiagnosticLog) -> Path | None:
        try:
            path = (user.path.parent / target).resolve()
        except (OSError, ValueError, RuntimeError):
            log.add(problems.bad_file(f"`{target}` is no path", span))
            return None
        root = stdlib_dir().resolve() if user.path.is_relative_to(stdlib_dir().resolve()) else project_root(user.path)
        if not path.is_relative_to(root):
            way_out = "copy it into the project, or put a `dralang.toml` into the folder that holds both"
            log.add(problems.bad_file(f"`{target}` lies outside of the project", span, way_out))
            return None
        if path.suffix not in (".dra", *MANIFEST_SUFFIXES):
            log.add(
                problems.bad_file(
                    f"`{target}` is neither `.dra` nor YAML nor JSON", span, "files end in .dra, .yaml, .yml or .json"
                )
            )
            return None
        return path


def _shown(path: Path) -> str:
    """A path as people call it: relative to the working directory where that is shorter."""
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except ValueError:
        return str(path)


def shown_beside(path: Path) -> str:
    """The name of a used file, in the manner of the file that uses it."""
    if path.is_relative_to(stdlib_dir().resolve()):
        return "std/" + str(path.relative_to(stdlib_dir().resolve()))
    return _shown(path)


def _similar(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.is_file()] if path.parent.is_dir() else []
    except OSError:
        names = []
    near = nearest(path.name, names[:1000])
    return f"did you mean `{near}`?" if near else ""


def standard_modules() -> list[str]:
    """The modules of the standard library, by the names under which they are used."""
    folder = stdlib_dir()
    return sorted("std." + ".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.dra"))
