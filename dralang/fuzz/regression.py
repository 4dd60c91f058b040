"""A finding as a plain scenario that anyone can replay: as few lines as still fail, written by the formatter.

What is written is what was tried: the text itself is analysed and played, and must fail for the same reason.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs

from dralang.check.analysis import Analyzer
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter.format import format_file, format_source
from dralang.fuzz.against import Oracles
from dralang.fuzz.example import Example, is_about_nothing, signature_of
from dralang.fuzz.explore import fault_of
from dralang.fuzz.retold import ask, oracle_of
from dralang.run.outcome import Failure
from dralang.run.player import REGRESSION, play
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario, Settings
from dralang.syntax import nodes as n

FOUND_BY: Final = "Found by `dralang fuzz`"
"""How the comment at the top of a finding starts."""
MOST_TRIES: Final = 600
_EXPECTATIONS: Final = ("expect", "within", "always", "never", "witness", "invariant")
_SPOKEN_OF: Final = ("pod", "template", "claim", "priority", "podgroup", "workload", "pdb", "namespace")
_SLUG: Final = re.compile(r"[^a-z0-9]+")


class Written(Struct, frozen=True):
    """A finding as text.

    Attributes:
        name: of the file.
        text: formatted; empty if a plain scenario cannot show the finding.
        lines: of the story itself, for reports.
    """

    name: str
    text: str
    lines: tuple[str, ...]


class _Candidate(Struct, frozen=True):
    """Items of a file and the statements of its one scenario."""

    items: tuple[n.Item, ...]
    statements: tuple[n.Statement, ...]


def write_down(
    scenario: Scenario,
    tree: n.File,
    path: Path,
    folder: Path,
    example: Example,
    *,
    remark: str,
    analyzer: Analyzer,
    oracles: Oracles | None = None,
) -> Written:
    """Write down a finding.

    Args:
        scenario: the fuzz.
        tree: its file.
        path: of its file.
        folder: where the text will lie.
        example: what failed.
        remark: where it comes from, for the comment at the top.
        analyzer: with the settings of the run; used for this alone.
        oracles: what else judged it.
    """
    story = example.drawn.tree
    assert isinstance(story, n.Scenario)
    writer = _Writer(scenario, folder, example, remark, analyzer, oracles)
    items: tuple[n.Item, ...] = tuple(
        [item for item in _moved(tree.items, path.parent, folder) if not isinstance(item, n.Scenario)]
    )
    statements = story.body.statements
    if example.settings is not None:
        items, statements = _with_settings(items, statements, example.settings, example)
    ends = _other_ends(example)
    if ends:
        span = _nowhere()
        statements = (*statements, *[_expected(span, name, text) for name, text in ends])
    return writer.run(_Candidate(items, statements))


def _other_ends(example: Example) -> tuple[tuple[str, str], ...]:
    """How the pods end for an oracle that sees the story end otherwise; else nothing."""
    difference, played = example.difference, example.played
    if difference is None or difference.other is None or played is None:
        return ()
    return difference.other.final if difference.other.final != played.final else ()


def _moved(items: Sequence[n.Item], old: Path, new: Path) -> Iterator[n.Item]:
    """The items as they stand in a file of another folder: relative paths lead to the same files."""
    for item in items:
        if isinstance(item, n.Use) and item.target.quoted and not os.path.isabs(item.target.text):
            target = Path(os.path.relpath(old.resolve() / item.target.text, new.resolve())).as_posix()
            word = n.Word(item.target.span, target, quoted=True)
            yield n.Use(item.span, word, item.alias)
        else:
            yield item


def _with_settings(
    items: tuple[n.Item, ...], statements: tuple[n.Statement, ...], settings: Settings, example: Example
) -> tuple[tuple[n.Item, ...], tuple[n.Statement, ...]]:
    """The story under the other settings, with what must be the case as expectations."""
    span = _nowhere()
    headers: list[n.Item] = [n.Header(span, "kubernetes", n.Word(span, settings.version))]
    for keyword, switches in (("gates", settings.gates), ("quirks", settings.quirks)):
        entries = [
            n.Field(span, n.Word(span, name), n.Word(span, str(on).lower())) for name, on in sorted(switches.items())
        ]
        if entries:
            headers.append(n.Header(span, keyword, n.Block(span, tuple(entries))))
    kept = [item for item in items if not isinstance(item, n.Header)]
    story = [each for each in statements if not isinstance(each, n.Header)]
    played = example.played
    assert played is not None
    story += [_expected(span, name, text) for name, text in played.final]
    return (*headers, *kept), tuple(story)


def _expected(span: Span, name: str, text: str) -> n.Expect:
    """How a pod ended, as an expectation."""
    word = n.Word(span, name)
    runs = re.fullmatch(r"\S+ runs on (\S+)(?: with (.+))?", text)
    predicate: n.Predicate
    if runs is not None:
        devices = tuple([n.Word(span, device) for device in (runs[2] or "").split(", ") if device])
        predicate = n.Runs(span, False, n.Word(span, runs[1]), devices)  # noqa: FBT003  # fields of the tree
    else:
        ended = next((state for state in ("succeeded", "failed", "terminating") if state in text), "pending")
        predicate = n.Is(span, False, n.Word(span, ended), (), (), None, None)  # noqa: FBT003 - the node's own order
    return n.Expect(span, None, n.Simple(span, n.Objects(span, (n.Ref(span, "pod", word),)), predicate, None))


def _nowhere() -> Span:
    return Span(SourceFile("finding", ""), 0, 0)


class _Writer:
    """One finding; private to this module."""

    def __init__(
        self,
        scenario: Scenario,
        folder: Path,
        example: Example,
        remark: str,
        analyzer: Analyzer,
        oracles: Oracles | None,
    ) -> None:
        # What ends otherwise for an oracle is told by expectations; else only the oracle can tell.
        self.by_end = example.settings is not None or bool(_other_ends(example))
        self.oracles = None if example.difference is None or self.by_end else oracles
        self.oracle = oracle_of(example.failure)
        self.scenario = scenario
        self.folder = folder
        self.example = example
        self.remark = remark
        self.analyzer = analyzer
        self.workshop = Workshop()
        self.tries = 0
        self.actual = ""
        digest = sha256(example.signature.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        slug = _SLUG.sub("-", scenario.title.lower()).strip("-")[:60].strip("-") or "fuzz"
        self.name = f"{slug}-{digest}.dra"

    def run(self, first: _Candidate) -> Written:
        candidate = self._repaired(first)
        if candidate is None:
            return Written(self.name, "", tuple(self._text(first).splitlines()))
        candidate = self._reduced(candidate)
        text = self._text(candidate)
        return Written(self.name, "" if self.oracles is not None else text, tuple(_story_lines(text)))

    # ---- trying -----------------------------------------------------------------------------------------------------

    def _text(self, candidate: _Candidate) -> str:
        span = _nowhere()
        title = n.Word(span, self.scenario.title, quoted=True)
        oracle = [] if self.oracle is None else [self.oracle.name]
        tags = dict.fromkeys([*self.scenario.tags, REGRESSION, *oracle])
        body = n.Body(span, candidate.statements)
        story = n.Scenario(span, title, tuple([n.Word(span, tag) for tag in tags]), None, None, body)
        text = format_file(n.File(span, span.source, (*candidate.items, story), ()))
        comment = "".join(f"# {line}\n" for line in self.remark.splitlines())
        return f"{comment}{text}"

    def _failure(self, candidate: _Candidate) -> tuple[Failure | None, n.File | None]:
        """The first failure of a candidate, and its tree as it was read."""
        self.tries += 1
        text = self._text(candidate)
        path = self.folder / f"{self.tries}-{self.name}"
        try:
            analysis = self.analyzer.text(path, str(path), text.encode())
            errors = [item for item in analysis.diagnostics if item.severity == "error" and item.span is not None]
            if errors and errors[0].span is not None:
                return Failure(errors[0].span, "analysis", 0, "", errors[0].message), analysis.tree
            if analysis.has_errors or len(analysis.scenarios) != 1:
                return None, None
            story = analysis.scenarios[0]
            played = play(story, self.workshop, None if self.oracles is None else self.oracles.observe)
            difference = None
            if self.oracle is not None and played.verdict == "passed":
                return ask(self.oracle, story, self.workshop), analysis.tree
            if self.oracles is not None and played.verdict == "passed":
                difference = self.oracles.difference(story, played)
        except Exception as error:  # a fault of dralang is what was found
            fault = fault_of(error)
            return Failure(self.scenario.span, f"fault {fault.partition(': ')[0]}", 0, "", fault), None
        if played.verdict == "refused":
            return Failure(self.scenario.span, "refused", 0, "", played.diagnostics[0].message), analysis.tree
        if difference is not None:
            return difference.failure, analysis.tree
        return (played.failures[0] if played.failures else None), analysis.tree

    def _is_it(self, failure: Failure | None) -> bool:
        if failure is None:
            return False
        wanted = self.example.signature
        if self.by_end:
            return failure.kind == "expect"
        if wanted.startswith("fault "):
            return failure.kind == wanted
        return signature_of(failure) == wanted

    def _repaired(self, candidate: _Candidate) -> _Candidate | None:
        """Without what could not be carried out, and with times that have passed as now: a fuzz passes over both."""
        while self.tries < MOST_TRIES:
            failure, tree = self._failure(candidate)
            if failure is not None and self._is_it(failure):
                self.actual = failure.actual
                return candidate
            if failure is None or tree is None or failure.kind in _EXPECTATIONS:
                return None
            story = next(item for item in tree.items if isinstance(item, n.Scenario))
            statements = _without(story.body.statements, failure.span)
            if statements == story.body.statements:
                return None
            candidate = structs.replace(candidate, statements=statements)
        return None

    def _reduced(self, candidate: _Candidate) -> _Candidate:
        """Leave out one thing after the other, as long as it still fails for the same reason."""
        shrunk = True
        while shrunk and self.tries < MOST_TRIES:
            shrunk = False
            for field in ("statements", "items"):
                number = len(getattr(candidate, field)) - 1
                while number >= 0 and self.tries < MOST_TRIES:
                    all_ = getattr(candidate, field)
                    less = structs.replace(candidate, **{field: (*all_[:number], *all_[number + 1 :])})
                    if _can_go(all_[number]) and self._is_the_same(less, exactly=field == "items"):
                        candidate, shrunk = less, True
                    number -= 1
        return candidate

    def _is_the_same(self, candidate: _Candidate, *, exactly: bool) -> bool:
        """Whether a candidate fails for the same reason, and ``exactly`` with the same to be seen."""
        failure = self._failure(candidate)[0]
        if failure is None or not self._is_it(failure):
            return False
        if not exactly and not is_about_nothing(failure):
            self.actual = failure.actual
        return failure.actual == self.actual


def _can_go(node: n.Node) -> bool:
    """Whether something may be left out: the cluster and what it runs stay, what nobody speaks of goes."""
    if isinstance(node, n.Decl):
        return node.kind in _SPOKEN_OF
    return not isinstance(node, n.Header | n.Call)


def _without(statements: Sequence[n.Statement], span: Span) -> tuple[n.Statement, ...]:
    """The statements without one that stands at a place; a time that has passed is taken away, its statement stays."""
    result: list[n.Statement] = []
    for each in statements:
        inside = each.span.start <= span.start and span.end <= each.span.end
        if not inside:
            result.append(each)
        elif isinstance(each, n.At | n.After):
            body: Any = each.body
            if each.span == span:
                result += body.statements if isinstance(body, n.Body) else [body] if body is not None else []
            elif isinstance(body, n.Body):
                left = _without(body.statements, span)
                result.append(_with_body(each, n.Body(body.span, left)))
        # A whole statement that could not be carried out goes.
    return tuple(result)


def _with_body(node: n.At | n.After, body: n.Body) -> n.Statement:
    return n.At(node.span, node.time, body) if isinstance(node, n.At) else n.After(node.span, node.duration, body)


def _story_lines(text: str) -> list[str]:
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith("scenario ")), 0)
    return lines[first:]


def is_formatted(text: str) -> bool:
    """Whether the formatter would leave a text as it is."""
    return format_source(SourceFile("finding", text), DiagnosticLog()) == text


def store(written: Written, folder: Path, report: Callable[[str], None], *, keep: bool = False) -> Path | None:
    """Put a text into its folder; None, after a report, if that cannot be done.

    What is not of our making is never written over: somebody has made it theirs.

    Args:
        written: what to store.
        folder: where.
        report: takes what goes wrong.
        keep: leave a file alone that is there already.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target = _free(written.name, folder, keep=keep)
        if not (keep and target.exists()):
            target.write_text(written.text, encoding="utf-8")
    except OSError as error:
        report(f"cannot write `{folder / written.name}`: {(error.strerror or '').lower()}")
        return None
    return target


def _free(name: str, folder: Path, *, keep: bool) -> Path:
    """The name, or the next one that nobody else has taken."""
    stem = name.removesuffix(".dra")
    number = 1
    while True:
        target = folder / (name if number == 1 else f"{stem}-{number}.dra")
        if not target.exists() or keep:
            return target
        with target.open("rb") as file:
            if file.readline().startswith(f"# {FOUND_BY}".encode()):
                return target
        number += 1
