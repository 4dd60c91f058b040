"""Where a command reads and writes: streams, environment, colour, width."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

MAX_INPUT: Final = 16 * 1024 * 1024
PIPED_WIDTH: Final = 100
"""Columns where no terminal says otherwise: the same bytes wherever it runs."""


class OutputError(Exception):
    """Standard output cannot be written.

    Attributes:
        reason: why; empty if the reader has gone away.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reason = "" if isinstance(error, BrokenPipeError) else error.strerror or str(error)


class Console:
    """The streams and the environment of one call of ``main``.

    Attributes:
        environ: environment variables.
        debug: whether our own faults show a traceback.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.environ = environ
        self.debug = environ.get("DRALANG_DEBUG", "") not in ("", "0")

    @classmethod
    def of_process(cls) -> "Console":
        """The console of this process. What its encoding cannot show is escaped, never a crash."""
        streams = []
        for stream in (sys.stdout, sys.stderr):
            if stream is None:  # closed by whoever started us
                stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # lives as long as the process
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
            streams.append(stream)
        stdin = sys.stdin if sys.stdin is not None else open(os.devnull, encoding="utf-8")  # noqa: SIM115  # as above
        return cls(stdin, streams[0], streams[1], os.environ)

    def out(self, text: str) -> None:
        """Write a result.

        Raises:
            OutputError: it cannot be written.
        """
        try:
            self.stdout.write(text)
        except OSError as error:
            raise OutputError(error) from None

    def flush(self) -> None:
        """Make sure that all results are written.

        Raises:
            OutputError: they cannot be written.
        """
        try:
            self.stdout.flush()
        except OSError as error:
            raise OutputError(error) from None

    def out_bytes(self, data: bytes) -> None:
        """Write a result that has an encoding of its own (UTF-8), whatever that of the terminal is.

        Raises:
            OutputError: it cannot be written.
        """
        buffer = getattr(self.stdout, "buffer", None)
        if buffer is None:
            self.out(data.decode("utf-8"))
            return
        self.flush()
        try:
            buffer.write(data)
            buffer.flush()
        except OSError as error:
            raise OutputError(error) from None

    def err(self, text: str) -> None:
        """Write a remark about the run itself, after the results so far."""
        self.flush()
        try:
            self.stderr.write(text)
            self.stderr.flush()
        except OSError:
            pass  # there is nowhere left to say it

    def json(self, value: Any) -> None:
        """Write a JSON document; plain ASCII, so that every encoding carries it."""
        import json

        self.out(json.dumps(value, indent=2, ensure_ascii=True) + "\n")

    def read_bytes(self) -> bytes:
        """All of standard input; of one without end so much that whoever reads it as a file refuses it."""
        buffer = getattr(self.stdin, "buffer", None)
        if buffer is not None:
            data: bytes = buffer.read(MAX_INPUT)
            return data
        return self.stdin.read(MAX_INPUT).encode("utf-8", "surrogateescape")

    def has_color(self, mode: str) -> bool:
        """Whether to use colour, by the mode ``auto``, ``always`` or ``never``."""
        if mode != "auto":
            return mode == "always"
        if self.environ.get("NO_COLOR") or self.environ.get("TERM") == "dumb":
            return False
        return self.is_terminal

    @property
    def is_terminal(self) -> bool:
        """Whether results go to a terminal."""
        return self.stdout.isatty()

    @property
    def width(self) -> int:
        """Columns to fill."""
        if not self.is_terminal:
            return PIPED_WIDTH
        try:
            columns = os.get_terminal_size(self.stdout.fileno()).columns
        except (OSError, ValueError):
            return PIPED_WIDTH
        return max(60, min(columns, 160)) if columns else PIPED_WIDTH
