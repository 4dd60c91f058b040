"""`dralang why`: why a pod, a claim or a node is in the state in which it is, from a cluster dump or a scenario."""

from typing import Final, NamedTuple

from dralang import __version__
from dralang.check.scope import spoken_kind
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean, those_known
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.objects import load_objects
from dralang.cli.playing import note_fuzzes
from dralang.cli.scenarios import instant_of, one_scenario
from dralang.diagnostics.render import clean
from dralang.run.answer import Answer, answer, known_names
from dralang.run.dump import open_cluster
from dralang.run.outcome import Why
from dralang.run.player import play_until
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.keys import ObjectKey
from dralang.testing.looks import Look, why_tree

_KINDS: Final = {
    "pod": "Pod", "pods": "Pod", "po": "Pod",
    "claim": "ResourceClaim", "claims": "ResourceClaim", "resourceclaim": "ResourceClaim",
    "resourceclaims": "ResourceClaim",
    "node": "Node", "nodes": "Node", "no": "Node",
}  # fmt: skip
_DUMP: Final = "kubectl get nodes,pods,resourceslices,deviceclasses,resourceclaims,devicetaintrules -A -o yaml"
_MOST: Final = 2_000


class _Cluster(NamedTuple):
    """What is asked; private to this module."""

    simulation: Simulation
    notes: list[str]


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if len(arguments.positionals) != 1:
        raise UsageError("`dralang why` takes one object", "write `dralang why pod/NAME -f FILE`")
    config = load(arguments, console)
    key = _key(arguments.positionals[0], arguments.text("--namespace") or "default")
    cluster = _cluster(arguments, config, console)
    if cluster is None:
        return exits.UNUSABLE
    for note in cluster.notes:
        console.err(f"note: {clean(note)}\n")
    found = answer(cluster.simulation, key)
    if found is None:
        raise _nothing(cluster.simulation, key)
    if arguments.text("--format") == "json":
        console.json(_json(key, found, cluster.simulation.now))
        return exits.OK
    look = Look(console.has_color(config.color), console.width)
    lines = look.wrapped(found.state, "")
    if found.why:
        lines += ["", f"{look.paint('cyan', 'why')}:", *[line[2:] for line in why_tree(look, found.why, most=_MOST)]]
    console.out("\n".join(lines) + "\n")
    return exits.OK


def _key(text: str, namespace: str) -> ObjectKey:
    kind, slash, name = text.partition("/")
    if not slash:
        kind, name = "pod", text
    if "/" in name:
        namespace, _, name = name.partition("/")
    known = _KINDS.get(kind.lower())
    if known is None or not name:
        way_out = did_you_mean(kind.lower(), _KINDS) if known is None else ""
        raise UsageError(f"`{text}` is no object", way_out or "write `pod/NAME`, `claim/NAME` or `node/NAME`")
    return ObjectKey(known, "" if known == "Node" else namespace, name)


def _cluster(arguments: Arguments, config: Config, console: Console) -> _Cluster | None:
    files = arguments.all("--file")
    if not files:
        raise UsageError("`dralang why` needs a cluster: `-f FILE`", f"make a dump: `{_DUMP} > dump.yaml`")
    at = arguments.text("--at")
    instant = None if at is None else instant_of(at)
    if len(files) == 1 and files[0].partition("::")[0].endswith(".dra"):
        scenario = one_scenario(files[0], config, console, needed="::" in files[0] or instant is not None)
        if isinstance(scenario, int):
            return None
        if scenario is not None:
            note_fuzzes([scenario], console)
            simulation, failure = play_until(scenario, Workshop(), instant)
            notes = [] if failure is None else [f"the story ends at {failure.span}: {failure.actual}"]
            return _Cluster(simulation, notes)
    loaded = load_objects(files, config, console)
    if loaded is None:
        return None
    environment = Workshop().environment(loaded.settings)
    assert not isinstance(environment, tuple)  # load_objects has refused such gates
    objects: list[object] = list(loaded.objects.values())
    simulation, notes = open_cluster(environment, objects, runs=instant is not None)  # type: ignore[arg-type]  # kinds of the API
    if instant is not None:
        simulation.advance_to(max(instant, simulation.now))
    return _Cluster(simulation, notes)


def _nothing(simulation: Simulation, key: ObjectKey) -> UsageError:
    kind = spoken_kind(key.kind)
    known = known_names(simulation, key.kind)
    elsewhere = [name for name in known if name.rpartition("/")[2] == key.name]
    if elsewhere:
        return UsageError(
            f"there is no {kind} `{key.name}` in namespace `{key.namespace}`", f"did you mean `{kind}/{elsewhere[0]}`?"
        )
    way_out = did_you_mean(key.spoken, known) or those_known(known)
    return UsageError(f"there is no {kind} `{key.spoken}`", way_out or f"a dump with all of it: `{_DUMP}`")


def _json(key: ObjectKey, found: Answer, now: int) -> dict[str, object]:
    return {
        "schema": "dralang/why/1",
        "dralang": __version__,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "time": now,
        "state": found.state,
        "why": [_why(each) for each in found.why],
    }


def _why(why: Why) -> dict[str, object]:
    return {"text": why.text, "because": [_why(each) for each in why.because]}
