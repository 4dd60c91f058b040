"""The allocator of Kubernetes itself: a program in Go, built once, asked through a pipe.

Its source lies under ``oracle/``. It is built from the modules that its ``go.mod`` names, and from nothing else.
"""

import os
import shutil
import subprocess
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeAlias

import msgspec

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.fuzz.questions import Question
from dralang.resources import oracle_dir
from dralang.scenario.model import Scenario

Json: TypeAlias = dict[str, Any]
VERSION: Final = "1.37"
"""The version of Kubernetes whose allocator it is."""
SOURCES: Final = ("main.go", "go.mod", "go.sum")
_REMEMBERED: Final = 20_000


class UnavailableError(Exception):
    """The program cannot be had here."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def other_version(fuzz: Scenario) -> Diagnostic:
    """A fuzz is of a version that the program knows nothing of."""
    return Diagnostic(
        code="DRA0802",
        message=f"this fuzz is of Kubernetes {fuzz.settings.version}, the real allocator here is that of {VERSION}",
        span=fuzz.span,
        help=f"choose fuzzes of that version, or play them all as of it: `--k8s {VERSION}`",
    )


def built(cache: Path, begins: Callable[[], None] = lambda: None) -> Path:
    """The program, built in a folder of the cache unless it is there already.

    Args:
        cache: the folder.
        begins: told before the build begins, which takes a while.

    Raises:
        UnavailableError: there is no Go, or it does not build.
    """
    source = oracle_dir()
    digest = sha256(b"".join((source / name).read_bytes() for name in SOURCES)).hexdigest()[:12]
    program = cache / f"real-allocator-{digest}" / "oracle"
    if program.exists():
        return program
    if shutil.which("go") is None:
        message = "the real allocator is built with Go, and there is no `go`"
        raise UnavailableError(
            Diagnostic(code="DRA0801", message=message, help="install Go (go.dev/dl), or leave out this `--against`")
        )
    begins()
    try:
        _build(source, program)
    except OSError as error:
        message = f"cannot write `{program.parent}`: {(error.strerror or '').lower()}"
        raise UnavailableError(
            Diagnostic(code="DRA0801", message=message, help="let the folder of the project be written to")
        ) from None
    return program


def _build(source: Path, program: Path) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        for name in SOURCES:
            shutil.copy(source / name, folder)
        ran = subprocess.run(
            ["go", "build", "-trimpath", "-o", "oracle", "."], cwd=folder, capture_output=True, text=True, check=False
        )
        if ran.returncode:
            said = " ".join(ran.stderr.split())[-300:]
            message = f"`go build` of the real allocator failed: {said}"
            way_out = "it needs Go 1.26 and, the first time, its modules: see `go env GOPROXY`"
            raise UnavailableError(Diagnostic(code="DRA0801", message=message, help=way_out))
        os.replace(Path(folder) / "oracle", program)


class RealAllocator:
    """The running program. Owned by one process; ends with it.

    Args:
        program: see ``built``.
    """

    def __init__(self, program: Path) -> None:
        self.program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._known: OrderedDict[bytes, Json] = OrderedDict()

    def answer(self, case: Mapping[str, Any]) -> Json:
        """The answer to one case or measurement, with everything about it."""
        answered: Json = self._exchange([msgspec.json.encode(case)])[0]
        return answered

    def answers(self, questions: Sequence[Question]) -> list[Json]:
        """The answers to all questions, in their order; those that were given before are remembered."""
        new = [question for question in questions if question.key not in self._known]
        if new:
            for question, answered in zip(new, self._exchange([each.key for each in new]), strict=True):
                self._known[question.key] = answered["steps"][0]
        found = [self._known[question.key] for question in questions]
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            with suppress(OSError):  # nobody reads any more what may be left in the pipe
                process.stdin.close()
            process.stdout.close()
            process.wait()

    def _exchange(self, lines: list[bytes]) -> list[Json]:
        """Write all, read all: in two threads, because neither side of a pipe waits for ever."""
        if self._process is None:
            self._process = subprocess.Popen([str(self.program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        writer = Thread(target=_write, args=(process.stdin, b"".join(line + b"\n" for line in lines)))
        writer.start()
        answers: list[Json] = []
        for _ in lines:
            line = process.stdout.readline()
            if not line:
                break
            answers.append(msgspec.json.decode(line))
        if len(answers) < len(lines):
            process.kill()
        writer.join()
        if len(answers) < len(lines):
            self.close()
            raise RuntimeError(f"the real allocator ended at case {len(answers) + 1} of {len(lines)}")
        return answers


def _write(pipe: Any, data: bytes) -> None:
    try:
        pipe.write(data)
        pipe.flush()
    except OSError:
        # Whoever reads finds out.
        pass
