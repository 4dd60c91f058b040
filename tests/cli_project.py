"""A project folder and a way to call the commands in this process."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dralang.cli.main import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Project:
    """A folder that is the working directory; nothing above it is looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8", newline="")
        return path

    def run(self, *argv: str, stdin: str | bytes = "", env: Mapping[str, str] | None = None) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        source = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        code = main(argv, stdin=source, stdout=out, stderr=err, environ=env or {})
        return Ran(code, out.getvalue(), err.getvalue())
