"""Reports as JSON values. The shapes are described in ``docs/json.md``; a change of meaning raises their number."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from dralang.cluster.journal import JournalEntry
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import json_place, render_json
from dralang.diagnostics.source import Span
from dralang.run.outcome import Failure, Played, Why
from dralang.scenario.model import Scenario
from dralang.testing.report import CollectedFile, Report, ScenarioResult
from dralang.testing.session import Collection

SCHEMA: Final = 1


def report_json(report: Report, version: str, exit_code: int, durations: int | None) -> dict[str, Any]:
    """A test run. Real time stands in ``summary`` only."""
    counts = report.counts()
    summary: dict[str, Any] = {name: getattr(counts, name) for name in counts.__struct_fields__}
    summary["stopped"] = report.stopped or None
    summary["exitCode"] = exit_code
    summary["seconds"] = round(report.seconds, 3)
    if durations is not None:
        slowest = sorted(report.results(), key=lambda result: -result.seconds)[: durations or None]
        summary["durations"] = [
            {"id": result.scenario.node_id, "seconds": round(result.seconds, 6)} for result in slowest
        ]
    return {
        **head("test", version),
        "seed": report.seed,
        "files": [_file(each.file, each.results) for each in report.files],
        "summary": summary,
    }


def head(command: str, version: str) -> dict[str, Any]:
    """What every document starts with."""
    return {"schema": f"dralang/{command}/{SCHEMA}", "dralang": version}


def collection_json(collection: Collection, version: str) -> dict[str, Any]:
    """What ``--collect-only`` found."""
    return {
        **head("collect", version),
        "files": [
            {
                "name": file.name,
                "broken": file.is_broken,
                "diagnostics": render_json(file.diagnostics),
                "scenarios": [scenario_json(scenario) for scenario in file.scenarios],
            }
            for file in collection.files
        ],
    }


def diagnostics_json(diagnostics: Sequence[Diagnostic], version: str, files: int) -> dict[str, Any]:
    """What ``check`` found."""
    severities = [item.severity for item in diagnostics]
    return {
        **head("check", version),
        "diagnostics": render_json(diagnostics),
        "summary": {
            "files": files,
            **{f"{severity}s": severities.count(severity) for severity in ("error", "warning", "note")},
        },
    }


def played_json(played: Iterable[Played], diagnostics: Sequence[Diagnostic], version: str) -> dict[str, Any]:
    """What ``run`` found: timelines and expectations."""
    return {
        **head("run", version),
        "diagnostics": render_json(diagnostics),
        "scenarios": [
            {
                **scenario_json(each.scenario),
                "verdict": each.verdict,
                "end": each.end,
                "timeline": [entry_json(entry) for entry in each.trace],
                "expectations": [
                    {
                        "kind": item.kind,
                        "text": _one_line(item.span),
                        **json_place(item.span),
                        "time": item.time,
                        "holds": item.holds,
                    }
                    for item in each.judged
                ],
                "failures": [failure_json(failure) for failure in each.failures],
                "diagnostics": render_json(each.diagnostics),
            }
            for each in played
        ],
    }


def _file(file: CollectedFile, results: Sequence[ScenarioResult]) -> dict[str, Any]:
    return {
        "name": file.name,
        "broken": file.is_broken,
        "fault": file.fault or None,
        "diagnostics": render_json(file.diagnostics),
        "deselected": file.total - len(file.scenarios),
        "scenarios": [_result(result) for result in results],
    }


def scenario_json(scenario: Scenario) -> dict[str, Any]:
    """What a scenario is."""
    settings = scenario.settings
    return {
        "id": scenario.node_id,
        "file": scenario.file,
        "title": scenario.title,
        "line": scenario.line,
        "lastLine": scenario.last_line,
        "tags": list(scenario.tags),
        "xfail": scenario.xfail,
        "kubernetes": settings.version,
        "gates": dict(sorted(settings.gates.items())),
        "quirks": dict(sorted(settings.quirks.items())),
    }


def _result(result: ScenarioResult) -> dict[str, Any]:
    played = result.played
    return {
        **scenario_json(result.scenario),
        "verdict": result.verdict,
        "fault": result.fault or None,
        "end": played.end,
        "checks": played.checks,
        "failures": [failure_json(failure) for failure in played.failures],
        "diagnostics": render_json(played.diagnostics),
        "trace": [entry_json(entry) for entry in played.trace],
    }


def failure_json(failure: Failure) -> dict[str, Any]:
    """An expectation that did not hold."""
    return {
        "kind": failure.kind,
        **json_place(failure.span),
        "text": _one_line(failure.span),
        "time": failure.time,
        "expected": failure.expected,
        "actual": failure.actual,
        "why": [_why(each) for each in failure.why],
        "after": failure.after,
    }


def _why(why: Why) -> dict[str, Any]:
    return {"text": why.text, "because": [_why(each) for each in why.because]}


def entry_json(entry: JournalEntry) -> dict[str, Any]:
    """Something that happened; times in milliseconds."""
    return {
        "time": entry.time,
        "component": entry.component,
        "kind": entry.kind,
        "namespace": entry.namespace,
        "name": entry.name,
        "reason": entry.reason,
        "message": entry.message,
        "related": list(entry.related),
    }


def _one_line(span: Span) -> str:
    return " ".join(span.text.split())
