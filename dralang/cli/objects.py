"""What the commands on objects share: the files that hold them, read together."""

from pathlib import Path

from dralang.check.files import MANIFEST_SUFFIXES
from dralang.check.loading import Loaded, load
from dralang.cli.arguments import UsageError
from dralang.cli.config import Config
from dralang.cli.console import Console
from dralang.cli.project import analyzer
from dralang.diagnostics.render import render_text
from dralang.testing.discovery import STDIN, SUFFIX

_SUFFIXES = (SUFFIX, *MANIFEST_SUFFIXES)


def load_objects(named: list[str], config: Config, console: Console) -> Loaded | None:
    """The objects of files and folders; None after diagnostics on standard error.

    Raises:
        UsageError: a file does not exist, or is of another kind.
    """
    paths = [path for name in dict.fromkeys(named) if name != STDIN for path in _files(name)]
    loaded = load(paths, analyzer(config), console.read_bytes() if STDIN in named else None)
    shown = [item for item in loaded.diagnostics if item.severity != "note"]
    if shown:
        console.err(render_text(shown, color=console.has_color(config.color), width=console.width) + "\n")
    return None if loaded.has_errors else loaded


def _files(name: str) -> list[Path]:
    if "\0" in name or not name:
        raise UsageError(f"`{name}` is no path")
    path = Path(name)
    if path.is_dir():
        found = [each for each in sorted(path.iterdir()) if each.suffix in _SUFFIXES and not each.name.startswith(".")]
        files = [each for each in found if each.is_file()]
        if not files:
            raise UsageError(f"there is neither `.dra` nor YAML nor JSON in `{name}`")
        return files
    if not path.is_file():
        raise UsageError(f"there is no file `{name}`" if not path.exists() else f"`{name}` is no regular file")
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"`{name}` is neither `.dra` nor YAML nor JSON", "files end in .dra, .yaml, .yml or .json")
    return [path]
