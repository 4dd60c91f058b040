"""Every spec of the project passes, is written in the one way to write it, and says what it shows."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.run.player import play
from dralang.run.workshop import Workshop

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted((ROOT / "specs").rglob("*.dra"))
LIBRARY = sorted((ROOT / "stdlib").rglob("*.dra"))
REMARK = "DRA0312"
ON_PURPOSE = {
    "specs/kep-6406/validation-without-the-gate.dra": {"DRA0314"},
    "specs/language/statements.dra": {"DRA0314"},
    "specs/language/versions-and-gates.dra": {"DRA0314"},
    "specs/scheduling/declared-features.dra": {"DRA0314"},
    "specs/scheduling/requests.dra": {"DRA0504"},
}
"""What is wrong in a spec because it shows what comes of that."""
WITHOUT_SCENARIOS = {"specs/language/lib/cluster.dra"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SPECS, ids=name)
def test_passes(path: Path):
    analysis = Analyzer().text(path, name(path), path.read_bytes())
    # Real manifests may be of versions that the API server calls deprecated.
    found = [d for d in analysis.diagnostics if d.severity in ("error", "warning") and d.code != REMARK]
    assert {d.code for d in found} >= ON_PURPOSE.get(name(path), set())
    found = [d for d in found if d.code not in ON_PURPOSE.get(name(path), set())]
    assert [f"{d.span}: {d.message}" for d in found] == []
    assert bool(analysis.scenarios) == (name(path) not in WITHOUT_SCENARIOS)
    workshop = Workshop()
    for scenario in analysis.scenarios:
        result = play(scenario, workshop)
        assert result.verdict in ("passed", "xfailed"), [
            (str(failure.span), failure.expected, failure.actual) for failure in result.failures
        ]


@pytest.mark.parametrize("path", SPECS + LIBRARY, ids=name)
def test_is_formatted(path: Path):
    text = path.read_text()
    assert format_source(SourceFile(name(path), text), DiagnosticLog()) == text


@pytest.mark.parametrize("example", ["first", "capacity", "locality", "partitions", "preemption-settling", "taints"])
def test_an_example_of_the_language_is_what_it_was(example: str):
    """These are examples of the language's design; tests of other units hold the same text."""
    path = ROOT / "specs" / ("first.dra" if example == "first" else f"examples/{example}.dra")
    assert path.read_bytes() == (ROOT / "tests" / "data" / "examples" / f"{example}.dra").read_bytes()


def test_real_objects_of_at_least_eight_drivers():
    specs = [path for path in SPECS if "drivers" in path.parts]
    assert [name(path) for path in specs if '\nuse "../../manifests/' not in path.read_text()] == []
    assert len({path.parent.name for path in specs}) >= 8
