"""`dralang fuzz --against ORACLE`: what is compared, what it needs, and what became of it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.console import Console
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.fuzz.campaign import Outcome, Target
from dralang.fuzz.example import Example
from dralang.fuzz.how import REAL_ALLOCATOR, How
from dralang.fuzz.real_allocator import VERSION, built, other_version


def how_of(arguments: Arguments, cache: Path, console: Console) -> How:
    """How the command line wants stories judged.

    Raises:
        UnavailableError: an oracle cannot be had here.
        UsageError: it cannot be had where stories are to be played.
    """
    against = tuple(dict.fromkeys(arguments.all("--against")))
    if REAL_ALLOCATOR in against and arguments.text("--engine") == "dask":
        way_out = "use processes here (`-n`), or leave out this oracle"
        raise UsageError("the real allocator is built on this machine, workers of Dask are elsewhere", way_out)
    program = ""
    if REAL_ALLOCATOR in against:
        program = str(built(cache, lambda: console.err("note: `go build` of the real allocator, this once\n")))
    return How(arguments.flag("--stateful"), against, program)


def admitted(targets: Sequence[Target], how: How) -> tuple[list[Target], list[Diagnostic]]:
    """The fuzzes that the oracles can judge, and why the others are not among them."""
    if REAL_ALLOCATOR not in how.against:
        return list(targets), []
    others = [target for target in targets if target.scenario.settings.version != VERSION]
    refused = [other_version(target.scenario) for target in others]
    return [target for target in targets if target not in others], refused


def counted(outcomes: Iterable[Outcome]) -> list[str]:
    """What was compared, and what could not be: a line each."""
    totals: dict[str, int] = {}
    for outcome in outcomes:
        for name, number in outcome.counts.items():
            totals[name] = totals.get(name, 0) + number
    return [f"{name}: {number:,}" for name, number in sorted(totals.items())]


def store_case(example: Example, folder: Path, name: str) -> Path | None:
    """Write the question that was answered otherwise as a recorded case; None if there is none to write.

    Raises:
        OSError: it cannot be written.
    """
    case = None if example.difference is None else example.difference.case
    if case is None:
        return None
    target = folder / f"{name.removesuffix('.dra')}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    target.write_bytes(msgspec.json.encode({**case, "id": target.stem}) + b"\n")
    return target
