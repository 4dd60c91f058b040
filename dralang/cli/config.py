"""Configuration: options over DRALANG_* variables over the nearest file (``dralang.toml``, or ``[tool.dralang]``).

What a file says of the model (``k8s``, ``feature-gates``) is for specs that do not say it themselves; variables and
options are over what specs say. Feature gates of all three are joined, entry by entry.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from dralang.cli.arguments import MAX_DIGITS, Arguments, UsageError, did_you_mean, unknown_choice, whole_number
from dralang.cli.console import Console

MAX_BYTES: Final = 1024 * 1024
FILE: Final = "dralang.toml"
KEYS: Final = ("color", "fail-level", "feature-gates", "k8s", "paths", "seed")
COLORS: Final = ("auto", "always", "never")
FAIL_LEVELS: Final = ("error", "warning")
VARIABLES: Final = {
    "DRALANG_ADDOPTS": "",
    "DRALANG_COLOR": "color",
    "DRALANG_DEBUG": "",
    "DRALANG_FAIL_LEVEL": "fail-level",
    "DRALANG_FEATURE_GATES": "feature-gates",
    "DRALANG_K8S": "k8s",
    "DRALANG_PATHS": "paths",
    "DRALANG_SEED": "seed",
}


class Model(NamedTuple):
    """A Kubernetes version and feature gates; an empty version says nothing."""

    version: str = ""
    gates: Mapping[str, bool] = {}


class Config(NamedTuple):
    """What holds for one call.

    Attributes:
        root: the project's folder: that of the configuration file, else of `.git`, else the working directory.
        paths: what to test if the command line names nothing.
        color: ``auto``, ``always`` or ``never``.
        fail_level: ``error`` or ``warning``.
        seed: where random choices start.
        defaults: the model for specs that do not say it.
        overrides: the model whatever specs say.
    """

    root: Path
    paths: tuple[str, ...]
    color: str
    fail_level: str
    seed: int
    defaults: Model
    overrides: Model


def load(arguments: Arguments, console: Console, here: Path | None = None) -> Config:
    """The configuration of a call.

    Args:
        arguments: its options.
        console: its environment.
        here: where the search for a file starts, if not in the working directory.

    Raises:
        UsageError: unknown keys, wrong values, a file that cannot be read.
    """
    here = here or Path.cwd()
    root, file_values = _file(arguments, here)
    env_values = _environment(console)
    flags = {
        key: value
        for key in ("color", "fail-level", "k8s", "seed", "feature-gates")
        if (value := arguments.text(f"--{key}")) is not None
    }
    flag_values = {key: _from_text(key, value, f"`--{key}`") for key, value in flags.items()}
    for text in arguments.all("--feature-gates")[:-1]:
        flag_values["feature-gates"] = {**parse_gates(text, "`--feature-gates`"), **flag_values["feature-gates"]}
    merged = {**file_values, **env_values, **flag_values}
    over = {**env_values, **flag_values}
    gates = {**env_values.get("feature-gates", {}), **flag_values.get("feature-gates", {})}
    paths = merged.get("paths", ())
    if "paths" not in env_values:
        paths = [os.path.relpath(root / path, here) for path in paths]
    return Config(
        root,
        tuple(paths),
        merged.get("color", "auto"),
        merged.get("fail-level", "error"),
        merged.get("seed", 0),
        Model(file_values.get("k8s", ""), file_values.get("feature-gates", {})),
        Model(over.get("k8s", ""), gates),
    )


# ---- values ---------------------------------------------------------------------------------------------------------


def parse_gates(text: str, what: str) -> dict[str, bool]:
    """Read ``A=true,B=false``.

    Raises:
        UsageError: it is written otherwise, or a gate is unknown.
    """
    gates: dict[str, bool] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        if value.lower() not in ("true", "false"):
            raise UsageError(f"{what}: `{part.strip()}` is no gate with a value", "write `NAME=true,OTHER=false`")
        gates[name] = value.lower() == "true"
    _check_gates(gates, what)
    return gates


def _check_gates(gates: Mapping[str, bool], what: str) -> None:
    from dralang.features import ALL_ALPHA, ALL_BETA, VERSIONS, gates_of

    known = {ALL_ALPHA, ALL_BETA, *(name for version in VERSIONS for name in gates_of(version))}
    for name in gates:
        if name not in known:
            raise UsageError(f"{what}: there is no feature gate `{name}`", did_you_mean(name, known))


def _check_version(version: str, what: str) -> None:
    from dralang.features import VERSIONS

    if version not in VERSIONS:
        meant = ".".join(version.removeprefix("v").split(".")[:2])
        if meant in VERSIONS:
            raise UsageError(f"{what} cannot be `{version}`", f"did you mean `{meant}`?")
        raise unknown_choice(what, version, VERSIONS)


def _from_text(key: str, text: str, what: str) -> Any:
    """The value of a key as the environment or an option writes it."""
    match key:
        case "color":
            return _choice(text, COLORS, what)
        case "fail-level":
            return _choice(text, FAIL_LEVELS, what)
        case "feature-gates":
            return parse_gates(text, what)
        case "seed":
            return whole_number(text, what, 0)
        case "paths":
            return [path for path in text.split(os.pathsep) if path]
        case _:
            _check_version(text, what)
            return text


def _choice(text: str, choices: tuple[str, ...], what: str) -> str:
    if text not in choices:
        raise unknown_choice(what, text, choices)
    return text


def _environment(console: Console) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in sorted(console.environ.items()):
        if not name.startswith("DRALANG_"):
            continue
        if name not in VARIABLES:
            # Somebody else's variable may well start like ours; only a near miss is worth a word.
            near = did_you_mean(name, VARIABLES)
            if near:
                console.err(f"warning: the variable `{name}` means nothing to dralang; {near}\n")
        elif text and VARIABLES[name]:
            values[VARIABLES[name]] = _from_text(VARIABLES[name], text, f"the variable {name}")
    return values


# ---- files ----------------------------------------------------------------------------------------------------------


def _file(arguments: Arguments, here: Path) -> tuple[Path, dict[str, Any]]:
    """The project's folder and the values of its file."""
    named = arguments.text("--config")
    if named is not None:
        path = Path(named)
        table = _table(path, _read(path))
        if table is None:
            raise UsageError(f"`{named}` has no table `[tool.dralang]`")
        return path.absolute().parent, _checked(table, named)
    for folder in (here, *here.parents):
        for name in (FILE, "pyproject.toml"):
            path = folder / name
            if path.is_file():
                table = _table(path, _read(path))
                if table is not None:
                    return folder, _checked(table, os.path.relpath(path, here))
        if (folder / ".git").exists():
            return folder, {}
    return here, {}


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"`{path}` is larger than {MAX_BYTES:,} bytes")
        return tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {(error.strerror or '').lower()}") from None
    except UnicodeDecodeError:
        raise UsageError(f"`{path}` is not UTF-8") from None
    except RecursionError:
        raise UsageError(f"`{path}` nests too deep") from None
    except ValueError as error:
        message = str(error)
        raise UsageError(f"`{path}` is no TOML: {message[:1].lower()}{message[1:]}") from None


def _table(path: Path, content: dict[str, Any]) -> dict[str, Any] | None:
    """Our table of a file; None if a ``pyproject.toml`` has none."""
    if path.name == "pyproject.toml":
        tool = content.get("tool")
        table = tool.get("dralang") if isinstance(tool, dict) else None
        where = "tool.dralang"
    else:
        for name in content:
            if name != "dralang":
                way_out = f"write it under `[dralang]`: `{name} = ...`" if name in KEYS else ""
                raise UsageError(
                    f"`{path}`: unknown key `{name}`", way_out or did_you_mean(name, ("dralang",)) or "use `[dralang]`"
                )
        table = content.get("dralang", {})
        where = "dralang"
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"`{path}`: `{where}` is no table")
    return table


def _checked(table: dict[str, Any], name: str) -> dict[str, Any]:
    readers: dict[str, Callable[[Any, str], Any]] = {
        "color": lambda value, what: _choice(_text(value, what), COLORS, what),
        "fail-level": lambda value, what: _choice(_text(value, what), FAIL_LEVELS, what),
        "feature-gates": _gates_value,
        "k8s": _version_value,
        "paths": _paths_value,
        "seed": _seed_value,
    }
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = readers.get(key)
        if reader is None:
            way_out = did_you_mean(key, KEYS) or f"it can be {', '.join(f'`{known}`' for known in KEYS)}"
            raise UsageError(f"`{name}`: unknown key `{key}`", way_out)
        values[key] = reader(value, f"`{name}`: `{key}`")
    return values


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{what} is a text, in quotes")
    return value


def _version_value(value: Any, what: str) -> str:
    text = _text(value, what)
    _check_version(text, what)
    return text


def _gates_value(value: Any, what: str) -> dict[str, bool]:
    if isinstance(value, str):
        return parse_gates(value, what)
    if not isinstance(value, dict) or not all(isinstance(each, bool) for each in value.values()):
        raise UsageError(f"{what} is a table of switches", "write `feature-gates = { NAME = true }`")
    _check_gates(value, what)
    return value


def _paths_value(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise UsageError(f"{what} is a list of texts", 'write `paths = ["specs"]`')
    return value


def _seed_value(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"{what} is a whole number from 0 on")
    if value >= 10**MAX_DIGITS:
        raise UsageError(f"{what} is a whole number from 0 on with at most {MAX_DIGITS} digits")
    return value
