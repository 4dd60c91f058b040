"""Where a command reads and writes: streams, environment, colour, width."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

PIPED_WIDTH: Final = 100
"""Columns where no terminal says otherwise: the same bytes wherever it runs."""


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
        stdin = sys.stdin if sys.stdin is not None else open(os.devnull, encoding="utf-8")  # noqa: SIM115
        return cls(stdin, streams[0], streams[1], os.environ)

    def out(self, text: str) -> None:
        """Write a result."""
        self.stdout.write(text)

    def err(self, text: str) -> None:
        """Write a remark about the run itself, after the results so far."""
        self.stdout.flush()
        self.stderr.write(text)
        self.stderr.flush()

    def json(self, value: Any) -> None:
        """Write a JSON document; plain ASCII, so that every encoding carries it."""
        import json

        self.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")

    def read_bytes(self) -> bytes:
        """All of standard input."""
        buffer = getattr(self.stdin, "buffer", None)
        if buffer is not None:
            data: bytes = buffer.read()
            return data
        return self.stdin.read().encode("utf-8", "surrogateescape")

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
