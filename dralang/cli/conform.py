"""`dralang conform`: recorded answers of real Kubernetes, asked again."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Final

from msgspec import UNSET

from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import load
from dralang.cli.console import Console
from dralang.cli.project import fault_text, wanted_expression
from dralang.conform.cases import Case, find_case_files, read_bytes, read_cases
from dralang.conform.compare import Difference
from dralang.conform.replay import Answered, Replayer, UnplayableError
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import clean, render_text
from dralang.testing.discovery import STDIN
from dralang.testing.looks import Look
from dralang.testing.selection import Expression

_MAX_VALUE: Final = 600
_TEXTS: Final = {"compile": "first lines of compile errors", "error": "texts of run-time errors"}


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if not arguments.positionals:
        raise UsageError("`dralang conform` needs files", "write `dralang conform cases.jsonl`")
    # Of the configuration only the looks count: a case is played with what it says, or with an option.
    look = Look(console.has_color(load(arguments, console).color), console.width)
    files = _files(arguments.positionals)
    answers = _open_answers(arguments.text("--answers"))
    try:
        session = _Session(arguments, console, look, answers)
        session.run(files)
    finally:
        if answers is not None:
            answers.close()
    session.report()
    return session.exit_code()


def _files(named: list[str]) -> list[Path | None]:
    """The files; None is standard input."""
    files: list[Path | None] = []
    for name in dict.fromkeys(named):
        if name == STDIN:
            files.append(None)
            continue
        if "\0" in name or not name:
            raise UsageError(f"`{name}` is no path")
        path = Path(name)
        found = find_case_files(path)
        if not found:
            raise UsageError(f"there are no cases in `{name}`", "files of cases end in .jsonl or .jsonl.gz")
        if found == (path,) and not path.is_file():
            raise UsageError(f"there is no file `{name}`" if not path.exists() else f"`{name}` is no regular file")
        files += found
    return files


def _open_answers(name: str | None) -> IO[str] | None:
    if name is None:
        return None
    try:
        return open(name, "w", encoding="ascii", newline="\n")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise UsageError(f"cannot write `{name}`: {reason}") from None


class _Session:
    """One call; private to this module."""

    def __init__(self, arguments: Arguments, console: Console, look: Look, answers: IO[str] | None) -> None:
        self.console = console
        self.look = look
        self.answers = answers
        self.chosen: Expression | None = wanted_expression(arguments, "-k")
        self.stops_at_first = arguments.flag("--exitfirst")
        self.durations = arguments.number("--durations")
        self.replayer = Replayer(arguments.text("--k8s"), answer_all=answers is not None)
        self.fault: Callable[[Exception], str] = fault_text(console)
        self.log = DiagnosticLog()
        self.counts: Counter[str] = Counter()
        self.texts: Counter[tuple[str, bool]] = Counter()
        self.odd_texts: list[Answered] = []
        self.times: list[tuple[float, Case]] = []
        self.faults: list[str] = []

    # ---- playing ----------------------------------------------------------------------------------------------------

    def run(self, files: list[Path | None]) -> None:
        for path in files:
            for case in self._cases(path):
                if self.chosen is not None and not self.chosen.holds(_contains(case)):
                    continue
                self._play(case)
                if self.stops_at_first and self.counts["failed"]:
                    return

    def _cases(self, path: Path | None) -> Iterator[Case]:
        if path is None:
            return read_bytes(self.console.read_bytes(), "<stdin>", self.log)
        return read_cases(path, str(path), self.log)

    def _play(self, case: Case) -> None:
        started = perf_counter()
        try:
            answered = self.replayer.replay(case)
        except UnplayableError as error:
            self.log.add(case.problem(f"case `{case.id}` cannot be played: {error}"))
            return
        except Exception as error:  # our own bug must not take the other cases along
            self.faults.append(f"{case.place}: {case.id}: {self.fault(error)}")
            return
        if self.durations is not None:
            self.times.append((perf_counter() - started, case))
        self.counts[answered.verdict] += 1
        self.texts.update((check.what, check.equal) for check in answered.texts)
        if not all(check.equal for check in answered.texts):
            self.odd_texts.append(answered)
        if self.answers is not None:
            self._write(self.answers, case, answered.answer)
        if answered.difference is not None:
            self._show(answered, answered.difference)

    def _write(self, file: IO[str], case: Case, answer: Any) -> None:
        try:
            file.write(json.dumps({"id": case.id, "answer": answer}) + "\n")
        except OSError as error:
            raise UsageError(f"cannot write the answers: {(error.strerror or str(error)).lower()}") from None

    # ---- telling ----------------------------------------------------------------------------------------------------

    def _show(self, answered: Answered, difference: Difference) -> None:
        case = answered.case
        head = f"{self.look.paint('red', 'DIFFERS')} {clean(case.id)} ({case.kind}, Kubernetes {answered.version})"
        lines = [head, f"  in {clean(case.place)}", f"  at {clean(difference.path)}"]
        lines += _values(self.look, _shown(difference.recorded), _shown(difference.answered))
        self.console.out("\n".join(lines) + "\n\n")

    def report(self) -> None:
        """Everything that is to be said after the run."""
        self._text_differences()
        self._durations()
        found = self.log.sorted()
        if found:
            self.console.err(render_text(found, color=self.look.color, width=self.look.width) + "\n")
        for text in self.faults:
            self.console.err(f"error: dralang has a fault: {text}; please report it with this case\n")
        counts = self.counts
        last = f"{counts['passed']} passed, {counts['failed']} failed"
        if counts["not recorded"]:
            last += f", {counts['not recorded']} not recorded"
        self.console.out(self.look.paint("red" if counts["failed"] else "green", last) + "\n")

    def _text_differences(self) -> None:
        if self.odd_texts:
            self.console.out("texts that read differently (they fail no case):\n")
        for answered in self.odd_texts:
            case = answered.case
            for check in answered.texts:
                if not check.equal:
                    lines = [f"  {clean(case.id)}, {check.what}, in {clean(case.place)}"]
                    lines += _values(self.look, check.recorded, check.answered)
                    self.console.out("\n".join(lines) + "\n")
        for what, name in _TEXTS.items():
            equal, other = self.texts[what, True], self.texts[what, False]
            if equal + other:
                self.console.out(f"{name}: {equal} of {equal + other} equal\n")

    def _durations(self) -> None:
        if self.durations is None or not self.times:
            return
        slowest = sorted(self.times, key=lambda entry: -entry[0])[: self.durations or None]
        self.console.out(f"slowest {len(slowest)} cases:\n")
        for seconds, case in slowest:
            self.console.out(f"{seconds:>8.3f}s {clean(case.id)} in {clean(case.place)}\n")

    def exit_code(self) -> int:
        if self.faults:
            return exits.INTERNAL
        if self.counts["failed"]:
            return exits.FAILED
        if self.log.has_errors:
            return exits.UNUSABLE
        return exits.OK if self.counts.total() else exits.NOTHING


def _contains(case: Case) -> Callable[[str], bool]:
    """Whether a phrase of ``-k`` stands in the id, kind or file of a case."""
    text = f"{case.id}\n{case.kind}\n{case.file}".lower()
    return lambda phrase: phrase in text


def _values(look: Look, recorded: str, answered: str) -> list[str]:
    lines = []
    for label, text, style in (("recorded", recorded, "green"), ("answered", answered, "red")):
        label = look.paint(style, label)  # type: ignore[arg-type]  # the two styles above
        lines.append(f"    {label}  {text}")
    return lines


def _shown(value: Any) -> str:
    """A JSON value on one line, so that two can be compared with the eye."""
    if value is UNSET:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return clean(text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}... ({len(text):,} characters)")
