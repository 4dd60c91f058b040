"""`dralang evict`: whom a taint rule would evict from the cluster of a dump, and when."""

from typing import Any

from dralang import __version__
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import load
from dralang.cli.console import Console
from dralang.cli.objects import load_objects
from dralang.diagnostics.render import clean
from dralang.run.evicting import Leaving, Preview, preview_eviction
from dralang.run.view import short_names
from dralang.run.workshop import Workshop
from dralang.testing.looks import Look
from dralang.values.duration import format_duration

_GATES = ("DRADeviceTaints", "DRADeviceTaintRules")


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    files = arguments.all("--file")
    if len(arguments.positionals) != 1 or not files:
        raise UsageError("`dralang evict` takes a rule and a cluster", "write `dralang evict RULE.yaml -f DUMP`")
    config = load(arguments, console)
    rules = load_objects(arguments.positionals, config, console)
    loaded = load_objects(files, config, console)
    if rules is None or loaded is None or loaded.gates is None:
        return exits.UNUSABLE
    wanted = [each for each in rules.objects.values() if isinstance(each, DeviceTaintRule)]
    if len(wanted) != 1:
        named = f"`{arguments.positionals[0]}` has {len(wanted) or 'no'} DeviceTaintRule{'s' if wanted else ''}"
        raise UsageError(named, "name a file with one")
    off = [gate for gate in _GATES if not loaded.gates.enabled(gate)]
    if off:
        switches = ",".join([f"{gate}=true" for gate in off])
        raise UsageError(f"gate `{off[0]}` is off: no rule evicts anybody", f"add `--feature-gates {switches}`")
    environment = Workshop().environment(loaded.settings)
    assert not isinstance(environment, tuple)  # load_objects has refused such gates
    objects: list[Any] = list(loaded.objects.values())
    preview = preview_eviction(environment, objects, wanted[0])
    for note in preview.notes:
        console.err(f"note: {clean(note)}\n")
    if arguments.text("--format") == "json":
        console.json(_json(wanted[0], preview))
    else:
        look = Look(console.has_color(config.color), console.width)
        console.out("".join([f"{clean(line)}\n" for line in _lines(wanted[0], preview, look)]))
    return exits.OK


def _lines(rule: DeviceTaintRule, preview: Preview, look: Look) -> list[str]:
    taint = rule.spec.taint
    said = f"{taint.key}={taint.value or ''}:{taint.effect}"
    lines = [f"taint rule {rule.metadata.name} ({said}) selects {_many(len(preview.selected), 'device')}"]
    if taint.effect != "NoExecute":
        lines.append(f"its effect {taint.effect} evicts nobody; with NoExecute it would:")
    leaving = [user for user in preview.users if user.after is not None]
    staying = [user for user in preview.users if user.after is None]
    lines.append(f"evicts {_many(len(leaving), 'pod')}{':' if leaving else ''}")
    times = ["at once" if user.after == 0 else f"after {format_duration(user.after or 0)}" for user in leaving]
    width = max([len(time) for time in times], default=0)
    for time, user in zip(times, leaving, strict=True):
        lines += look.wrapped(_pod(user), f"  {time:<{width}}  ", " " * (width + 6))
    if staying:
        lines.append(f"{_many(len(staying), 'pod')} with such devices stay:")
        lines += [f"  {_pod(user)}" for user in staying]
    if preview.before:
        names = ", ".join([pod.spoken for pod in preview.before])
        lines += look.wrapped(f"evicted for other taints already: {names}", "")
    return lines


def _pod(user: Leaving) -> str:
    return f"pod {user.pod.spoken} on {user.node}: {', '.join(short_names(list(user.devices)))}"


def _many(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _json(rule: DeviceTaintRule, preview: Preview) -> dict[str, object]:
    return {
        "schema": "dralang/evict/1",
        "dralang": __version__,
        "rule": rule.metadata.name,
        "devices": list(preview.selected),
        "pods": [
            {
                "namespace": user.pod.namespace,
                "name": user.pod.name,
                "node": user.node,
                "devices": list(user.devices),
                "after": user.after,
            }
            for user in preview.users
        ],
        "evictedAnyway": [{"namespace": pod.namespace, "name": pod.name} for pod in preview.before],
    }
