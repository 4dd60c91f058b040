"""`dralang cel`: what a device expression is, costs and reads, and what it says about devices."""

from collections.abc import Sequence
from typing import Any

import msgspec

from dralang import __version__
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.explain import CelExplanation, explain, render
from dralang.cel.lint import Finding, lint
from dralang.cel.program import compile_expression
from dralang.check.loading import Loaded
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.objects import load_objects
from dralang.diagnostics.render import clean
from dralang.features import DEFAULT_VERSION, FeatureGates
from dralang.testing.discovery import STDIN

_Named = tuple[str, str, Device]


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    files, devices = arguments.all("--file"), arguments.all("--device")
    if len(arguments.positionals) != 1 and not (files and arguments.positionals):
        raise UsageError("`dralang cel` takes one expression", "put it in single quotes; files stand after `-f`")
    # `-f *.yaml` names one file as the option's value, the others behind it.
    files += arguments.positionals[1:]
    config = load(arguments, console)
    if devices and not files:
        raise UsageError("`--device` needs files that have devices", "name them with `-f`")
    loaded = load_objects(files, config, console) if files else None
    if files and loaded is None:
        return exits.UNUSABLE
    expression = _expression(arguments.positionals[0], files, console)
    chosen = _chosen(_devices(loaded), devices)
    environment = _environment(_gates(loaded, config))
    purpose: Any = "derived" if arguments.flag("--derived") else "selector"
    explanation = explain(expression, [(driver, device) for driver, _, device in chosen], environment, purpose)
    findings: Sequence[Finding] = ()
    if not explanation.error:
        compiled = compile_expression(expression, environment, purpose)
        findings = lint(compiled, [(driver, device) for driver, _, device in _devices(loaded)])
    if arguments.text("--format") == "json":
        console.json(_json(explanation, chosen, findings))
    else:
        _show(explanation, findings, console)
    return exits.FAILED if explanation.error or explanation.too_costly else exits.OK


def _expression(given: str, files: list[str], console: Console) -> str:
    if given != STDIN:
        return given
    if STDIN in files:
        raise UsageError("standard input cannot be both the expression and a file")
    try:
        return console.read_bytes().decode("utf-8").rstrip("\n")
    except UnicodeDecodeError:
        raise UsageError("the expression on standard input is not UTF-8") from None


def _gates(loaded: Loaded | None, config: Config) -> FeatureGates:
    if loaded is not None and loaded.gates is not None:
        return loaded.gates
    gates = {**config.defaults.gates, **config.overrides.gates}
    found = FeatureGates.resolve(config.overrides.version or config.defaults.version or DEFAULT_VERSION, gates)
    if not isinstance(found, FeatureGates):
        raise UsageError("; ".join(problem.message for problem in found))
    return found


def _environment(gates: FeatureGates) -> Environment:
    """The environment of new expressions: what the API server compiles before it stores them."""
    return Environment(
        minor=parse_minor(gates.version),
        new=True,
        lists=gates.enabled("DRAListTypeAttributes"),
        multiple=gates.enabled("DRAConsumableCapacity"),
    )


# ---- devices --------------------------------------------------------------------------------------------------------


def _devices(loaded: Loaded | None) -> list[_Named]:
    """Driver, pool and device of every slice; of a pool only its newest generation."""
    slices = [each for each in (loaded.objects.values() if loaded else ()) if isinstance(each, ResourceSlice)]
    newest: dict[tuple[str, str], int] = {}
    for each in slices:
        key = (each.spec.driver, each.spec.pool.name)
        newest[key] = max(newest.get(key, each.spec.pool.generation), each.spec.pool.generation)
    return [
        (each.spec.driver, each.spec.pool.name, device)
        for each in slices
        if each.spec.pool.generation == newest[each.spec.driver, each.spec.pool.name]
        for device in each.spec.devices
    ]


def _chosen(devices: list[_Named], wanted: list[str]) -> list[_Named]:
    """The devices whose driver/pool/device ends in one of the names; all of them without a name."""
    if not wanted:
        return devices
    chosen: list[_Named] = []
    for name in wanted:
        found = [each for each in devices if f"/{_full(each)}".endswith(f"/{name}")]
        if not found:
            known = [*(each[2].name for each in devices), *map(_full, devices)]
            raise UsageError(f"there is no device `{name}`", did_you_mean(name, known))
        chosen += [each for each in found if each not in chosen]
    return chosen


def _full(each: _Named) -> str:
    driver, pool, device = each
    return f"{driver}/{pool}/{device.name}"


# ---- telling --------------------------------------------------------------------------------------------------------


def _show(explanation: CelExplanation, findings: Sequence[Finding], console: Console) -> None:
    lines = render(explanation)
    for finding in findings:
        where = f" (as on {finding.device})" if finding.device else ""
        lines.append(f"warning: {finding.message}{where}")
        if finding.help:
            lines.append(f"help: {finding.help}")
    console.out("".join(f"{clean(line)}\n" for line in lines))


def _json(explanation: CelExplanation, chosen: list[_Named], findings: Sequence[Finding]) -> dict[str, Any]:
    """The explanation in the shape of docs/json.md."""
    plain: dict[str, Any] = msgspec.to_builtins(explanation)
    devices = [
        {"driver": driver, "pool": pool, **_without(result, "driver")}
        for (driver, pool, _), result in zip(chosen, plain["devices"], strict=False)
    ]
    return {
        "schema": "dralang/cel/1",
        "dralang": __version__,
        **_without(plain, "devices", "issues", "readings"),
        "tooCostly": explanation.too_costly,
        "issues": plain["issues"],
        "reads": [{"text": each.text, "guarded": each.guarded} for each in explanation.readings],
        "devices": devices,
        "warnings": [msgspec.to_builtins(finding) for finding in findings],
    }


def _without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}
