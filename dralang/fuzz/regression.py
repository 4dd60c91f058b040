"""A finding as a plain scenario that anyone can replay: as few lines as still fail, written by the formatter.

What is written is what was tried: the text itself is analysed and played, and must fail for the same reason.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from dralang.run.outcome import Failure, Played
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import REGRESSION, Scenario, Settings
from dralang.syntax import nodes as n
from dralang.syntax.dump import dump

FOUND_BY: Final = "Found by `dralang fuzz`"
"""How the comment at the top of a finding starts."""
MOST_TRIES: Final = 600
_EXPECTATIONS: Final = ("expect", "within", "always", "never", "witness", "invariant")
_SPOKEN_OF: Final = ("pod", "template", "claim", "priority", "podgroup", "workload", "pdb", "namespace")
_NOMINATED: Final = re.compile(r" is pending, nominated on ([^\s,]+)")
_SLUG: Final = re.compile(r"[^a-z0-9]+")


class Written(Struct, frozen=True):
    """A finding as text.

    Attributes:
        name: of the file.
        text: formatted; empty if a plain scenario cannot show the finding.
        lines: of the story itself, for reports.
        failure: what fails in that story, at the place in the fuzz; None if only the fuzz shows it.
    """

    name: str
    text: str
    lines: tuple[str, ...]
    failure: Failure | None = None


class _Candidate(Struct, frozen=True):
    """Items of a file and the statements of its one scenario.

    Attributes:
        items: of the file.
        statements: of the scenario.
        ends: how pods end when the story is told the other way, if that is what is found: its last expectations.
    """

    items: tuple[n.Item, ...]
    statements: tuple[n.Statement, ...]
    ends: tuple[n.Expect, ...] = ()


class _Tried(Struct, frozen=True):
    """What a candidate has come to.

    Attributes:
        candidate: with the ends that belong to it.
        failure: the first one; None if there is none.
        tree: as it was read; None if it could not be.
    """

    candidate: _Candidate
    failure: Failure | None = None
    tree: n.File | None = None

    @property
    def statements(self) -> tuple[n.Statement, ...]:
        """Those of the story as they were read, without the ends; nothing if there is no story."""
        items = () if self.tree is None else self.tree.items
        story = next((item for item in items if isinstance(item, n.Scenario)), None)
        if story is None:
            return ()
        return story.body.statements[: len(story.body.statements) - len(self.candidate.ends)]


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
    writer = _Writer(scenario, tree, folder, example, remark, analyzer, oracles)
    items: tuple[n.Item, ...] = tuple(
        [item for item in _moved(tree.items, path.parent, folder) if not isinstance(item, n.Scenario)]
    )
    statements = story.body.statements
    if example.settings is not None:
        items, statements = _with_settings(items, statements, example.settings)
    return writer.run(_Candidate(items, statements))


def _ends_otherwise(example: Example) -> bool:
    """Whether an oracle sees the story end otherwise."""
    difference, played = example.difference, example.played
    if difference is None or difference.other is None or played is None:
        return False
    return difference.other.final != played.final


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
    items: tuple[n.Item, ...], statements: tuple[n.Statement, ...], settings: Settings
) -> tuple[tuple[n.Item, ...], tuple[n.Statement, ...]]:
    """The story under the other settings."""
    span = _nowhere()
    headers: list[n.Item] = [n.Header(span, "kubernetes", n.Word(span, settings.version))]
    for keyword, switches in (("gates", settings.gates), ("quirks", settings.quirks)):
        entries = [
            n.Field(span, n.Word(span, name), n.Word(span, str(on).lower())) for name, on in sorted(switches.items())
        ]
        if entries:
            headers.append(n.Header(span, keyword, n.Block(span, tuple(entries))))
    kept = [item for item in items if not _is_said_anew(item)]
    story = [each for each in statements if not _is_said_anew(each)]
    return (*headers, *kept), tuple(story)


def _is_said_anew(node: n.Node) -> bool:
    return isinstance(node, n.Header) and node.keyword in ("kubernetes", "gates", "quirks")


def _expected(name: str, text: str | None, other: str | None) -> n.Expect:
    """How a pod ended, as an expectation that its other end does not meet; None where it is not there any more."""
    span = _nowhere()
    word = n.Word(span, name)
    # The name comes first, and may be that of a state.
    end = "is gone" if text is None else text.removeprefix(f"{name} ")
    runs = re.fullmatch(r"runs on (\S+)(?: with (.+))?", end)
    nominated, elsewhere = (_NOMINATED.search(each or "") for each in (text, other))
    predicate: n.Predicate
    if nominated is not None or (elsewhere is not None and end.startswith("is pending")):
        node = None if nominated is None else n.Word(span, nominated[1])
        predicate = n.Is(span, nominated is None, n.Word(span, "nominated"), (), (), node, None)
    elif runs is not None:
        devices = tuple([n.Word(span, device) for device in (runs[2] or "").split(", ") if device])
        predicate = n.Runs(span, False, n.Word(span, runs[1]), devices)  # noqa: FBT003  # fields of the tree
    else:
        # What is behind the state may be the name of a node, or what somebody has said.
        found = re.match(r"(?:has|is) (succeeded|failed|terminating|gone)\b(?!-)", end)
        ended = "pending" if found is None else found[1]
        predicate = n.Is(span, False, n.Word(span, ended), (), (), None, None)  # noqa: FBT003 - the node's own order
    return n.Expect(span, None, n.Simple(span, n.Objects(span, (n.Ref(span, "pod", word),)), predicate, None))


def _nowhere() -> Span:
    return Span(SourceFile("finding", ""), 0, 0)


class _Writer:
    """One finding; private to this module."""

    def __init__(
        self,
        scenario: Scenario,
        tree: n.File,
        folder: Path,
        example: Example,
        remark: str,
        analyzer: Analyzer,
        oracles: Oracles | None,
    ) -> None:
        # What ends otherwise for an oracle is told by expectations; else only the oracle can tell.
        self.by_end = example.settings is not None or _ends_otherwise(example)
        self.oracles = None if example.difference is None or self.by_end else oracles
        self.judges = oracles
        self.oracle = oracle_of(example.failure)
        self.scenario = scenario
        self.folder = folder
        self.example = example
        self.remark = remark
        self.wanted = _wanted(tree, example)
        self.analyzer = analyzer
        self.workshop = Workshop()
        self.tries = 0
        self.readings = 0
        self.actual = ""
        self.failure: Failure | None = None
        digest = sha256(example.signature.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        slug = _SLUG.sub("-", scenario.title.lower()).strip("-")[:60].strip("-") or "fuzz"
        self.name = f"{slug}-{digest}.dra"

    def run(self, first: _Candidate) -> Written:
        candidate = self._repaired(first)
        if candidate is None and self.example.drawn.absent:
            candidate = self._repaired(self._with_the_absent(first))
        if candidate is None:
            return Written(self.name, "", tuple(self._text(first).splitlines()))
        candidate = self._reduced(candidate)
        text = self._text(candidate)
        lines = tuple(_story_lines(text))
        return Written(self.name, "" if self.oracles is not None else text, lines, self._shown())

    def _with_the_absent(self, candidate: _Candidate) -> _Candidate:
        """With a declaration of each pod that only other stories create: what is declared may be spoken of."""
        span = _nowhere()
        pods = [n.Decl(span, "pod", n.Word(span, key.spoken), None, None) for key in self.example.drawn.absent]
        return structs.replace(candidate, items=(*candidate.items, *pods))

    def _shown(self) -> Failure | None:
        """The failure of what is left of the story, where the fuzz has its statement."""
        found = self.example.failure
        if self.by_end or found is None or self.failure is None:
            return None
        return structs.replace(self.failure, span=found.span, kind=found.kind)

    # ---- trying -----------------------------------------------------------------------------------------------------

    def _text(self, candidate: _Candidate) -> str:
        span = _nowhere()
        title = n.Word(span, self.scenario.title.replace("${", "$${"), quoted=True)
        body = n.Body(span, (*candidate.statements, *candidate.ends))
        story = n.Scenario(span, title, self._tags(), None, None, body)
        text = format_file(n.File(span, span.source, (*candidate.items, story), ()))
        comment = "".join(f"# {line}\n" for line in self.remark.splitlines())
        return f"{comment}{text}"

    def _tags(self) -> tuple[n.Word, ...]:
        """The tags as their author has written them, and ours."""
        story = self.example.drawn.tree
        assert isinstance(story, n.Scenario)
        ours = [REGRESSION] if self.oracle is None else [REGRESSION, self.oracle.name]
        words = {tag.text: tag for tag in (*story.tags, *[n.Word(_nowhere(), name) for name in ours])}
        return tuple(words.values())

    def _try(self, candidate: _Candidate) -> _Tried:
        """Read a candidate and play it."""
        self.tries += 1
        if self.by_end:
            try:
                return self._told_both_ways(candidate)
            except Exception:  # a fault of dralang is not what was found
                return _Tried(candidate)
        return _Tried(candidate, *self._failure(candidate))

    def _read(self, candidate: _Candidate) -> tuple[Scenario | None, Failure | None, n.File]:
        """The story of a candidate, or what is wrong with it; and its tree as it was read."""
        self.readings += 1  # the analyzer knows a file by its path
        path = self.folder / f"{self.readings}-{self.name}"
        analysis = self.analyzer.text(path, str(path), self._text(candidate).encode())
        errors = [item for item in analysis.diagnostics if item.severity == "error" and item.span is not None]
        if errors and errors[0].span is not None:
            return None, Failure(errors[0].span, "analysis", 0, "", errors[0].message), analysis.tree
        if analysis.has_errors or len(analysis.scenarios) != 1:
            return None, None, analysis.tree
        return analysis.scenarios[0], None, analysis.tree

    def _other(self, story: Scenario) -> Played:
        """The story told the other way: under the settings of the fuzz itself, or by the oracle."""
        if self.example.settings is not None:
            drawn = self.example.drawn.scenario
            assert drawn is not None
            return play(structs.replace(story, settings=drawn.settings), self.workshop)
        assert self.judges is not None
        assert self.example.difference is not None
        return self.judges.told(self.example.difference.how, story)

    def _told_both_ways(self, candidate: _Candidate) -> _Tried:
        """The story with the ends that hold when it is told the other way, and do not as it is written.

        What is left of a story may end otherwise than the whole one, so its ends are looked up anew.
        """
        candidate = structs.replace(candidate, ends=())
        story, failure, tree = self._read(candidate)
        if story is None:
            return _Tried(candidate, failure, tree)
        drawn = structs.replace(story, fuzz=True)  # of drawn stories it is known how each pod ends
        mine, theirs = dict(play(drawn, self.workshop).final), dict(self._other(drawn).final)
        names = [name for name in sorted({*theirs, *mine}) if mine.get(name) != theirs.get(name)]
        if not names:
            return _Tried(candidate)
        candidate = structs.replace(
            candidate, ends=tuple([_expected(name, theirs.get(name), mine.get(name)) for name in names])
        )
        story, _, tree = self._read(candidate)
        if story is None:
            return _Tried(candidate)
        tried = _Tried(candidate, None, tree)
        whole = next(item for item in tree.items if isinstance(item, n.Scenario)).body.statements
        spans = [end.span for end in whole[len(tried.statements) :]]
        here, there = play(story, self.workshop), self._other(story)
        for failed in (*here.failures, *there.failures):
            if failed.kind not in _EXPECTATIONS:
                return structs.replace(tried, failure=failed)
        if any(failed.span not in spans for failed in there.failures):
            return _Tried(candidate)
        unlike = {spans.index(each.span): each for each in here.failures if each.span in spans}
        for failed in there.failures:  # no words of ours say how this pod ends
            unlike.pop(spans.index(failed.span), None)
        if not unlike:
            return _Tried(candidate)
        ends = tuple([candidate.ends[number] for number in sorted(unlike)])
        seen = "; ".join(f"{each.expected}: {each.actual}" for _, each in sorted(unlike.items()))
        first = structs.replace(unlike[min(unlike)], actual=seen)
        return _Tried(structs.replace(candidate, ends=ends), first, tree)

    def _failure(self, candidate: _Candidate) -> tuple[Failure | None, n.File | None]:
        """The first failure of a candidate, and its tree as it was read."""
        try:
            story, wrong, tree = self._read(candidate)
            if story is None:
                return wrong, tree
            played = play(story, self.workshop, None if self.oracles is None else self.oracles.observe)
            difference = None
            if self.oracle is not None and played.verdict == "passed":
                return ask(self.oracle, story, self.workshop), tree
            if self.oracles is not None and played.verdict == "passed":
                difference = self.oracles.difference(story, played)
        except Exception as error:  # a fault of dralang is what was found
            fault = fault_of(error)
            return Failure(self.scenario.span, f"fault {fault.partition(': ')[0]}", 0, "", fault), None
        if played.verdict == "refused":
            return Failure(self.scenario.span, "refused", 0, "", played.diagnostics[0].message), tree
        if difference is not None:
            return difference.failure, tree
        return (played.failures[0] if played.failures else None), tree

    def _is_it(self, tried: _Tried) -> bool:
        failure = tried.failure
        if failure is None:
            return False
        wanted = self.example.signature
        if self.by_end:
            return failure.kind == "expect" and bool(tried.candidate.ends)
        if wanted.startswith("fault "):
            return failure.kind == wanted
        return signature_of(failure) == wanted or self._says_the_same(tried)

    def _says_the_same(self, tried: _Tried) -> bool:
        """Whether it is the expectation that has failed, in other words: the formatter has some of its own."""
        failure, found = tried.failure, self.example.failure
        if failure is None or found is None or tried.tree is None or failure.kind != found.kind:
            return False
        if is_about_nothing(failure) != is_about_nothing(found):
            return False
        return not self.wanted.isdisjoint(_said_at(tried.tree.items, failure.span))

    def _repaired(self, candidate: _Candidate) -> _Candidate | None:
        """Without what could not be carried out, and with times that have passed as now: a fuzz passes over both."""
        while self.tries < MOST_TRIES:
            tried = self._try(candidate)
            failure = tried.failure
            if failure is not None and self._is_it(tried):
                self.actual, self.failure = failure.actual, failure
                return tried.candidate
            if failure is None or failure.kind in _EXPECTATIONS:
                return None
            statements = _without(tried.statements, failure.span)
            if statements == tried.statements:
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
                    same = self._the_same(less, exactly=field == "items") if _can_go(all_[number]) else None
                    if same is not None:
                        candidate, shrunk = same, True
                    number -= 1
        return candidate

    def _the_same(self, candidate: _Candidate, *, exactly: bool) -> _Candidate | None:
        """A candidate that fails for the same reason, and ``exactly`` with the same to be seen; else None."""
        tried = self._try(candidate)
        failure = tried.failure
        if failure is None or not self._is_it(tried):
            return None
        if not exactly and not is_about_nothing(failure):
            self.actual = failure.actual
        if failure.actual != self.actual:
            return None
        self.failure = failure
        return tried.candidate


def _wanted(tree: n.File, example: Example) -> frozenset[str]:
    """What the expectation that has failed says: once for each time it stands in the story, its holes filled."""
    story, failure = example.drawn.tree, example.failure
    assert isinstance(story, n.Scenario)
    properties = [item for item in tree.items if isinstance(item, n.Property)]
    return frozenset() if failure is None else frozenset(_said_at((*properties, story), failure.span))


def _said_at(items: Iterable[n.Item | n.Statement], span: Span) -> Iterator[str]:
    """What the expectations and properties say that stand at a place."""
    for item in items:
        inner: Any = item.body if isinstance(item, n.Scenario | n.At | n.After | n.Repeat) else None
        if isinstance(item, n.Expect | n.Property) and item.span == span:
            yield dump(item.proposition)
        elif isinstance(inner, n.Body):
            yield from _said_at(inner.statements, span)
        elif inner is not None:
            yield from _said_at((inner,), span)


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
