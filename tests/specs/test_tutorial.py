"""Every block of docs/tutorial.md: files are written, commands are run, and their output is what the page shows.

A block after `<!-- file: NAME -->` is a file, one after `<!-- shown: NAME -->` is a file that is there by then, and a
`console` block is a command (`$ ...`) with its output. Times that a command took are left out of the comparison.
`--update-golden` writes the output into the page.
"""

import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from dralang.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
FENCED = re.compile(
    r"(?:<!-- (?P<order>[^>]+) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    order: str
    language: str
    body: str


def blocks() -> Iterator[Block]:
    for found in FENCED.finditer(PAGE.read_text()):
        yield Block(found["order"] or "", found["language"], found["body"])


def without_times(text: str) -> str:
    """Output without the time that it took, and so without the length of the rule around it."""
    return re.sub(r"=+ (.*) in [\d.]+m?s =+", r"= \1 =", text)


def run(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "dralang"
    out, err = io.StringIO(), io.StringIO()
    main(words[1:], stdin=io.StringIO(), stdout=out, stderr=err, environ={})
    return out.getvalue() + err.getvalue()


class Reader:
    """Follows the page in a folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        self.answers: dict[str, str] = {}
        """Console blocks that show something else than what happens: the block, and as it should be."""
        self.commands = 0

    def follow(self, block: Block) -> None:
        what, _, name = block.order.partition(": ")
        if what == "file":
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body)
        elif what == "shown":
            assert (self.folder / name).read_text() == block.body
        else:
            assert (block.language, block.order) == ("console", "")
            self.type_in(block.body)

    def type_in(self, body: str) -> None:
        command, _, shown = body.partition("\n")
        assert command.startswith("$ ")
        if command.startswith("$ cd "):
            self.folder /= command.removeprefix("$ cd ")
            self.monkeypatch.chdir(self.folder)
            return
        self.commands += 1
        output = run(command.removeprefix("$ ")).rstrip() + "\n"
        if without_times(output) != without_times(shown):
            self.answers[body] = f"{command}\n{output}"


def test_the_page_works_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool):
    reader = Reader(tmp_path, monkeypatch)
    for block in blocks():
        reader.follow(block)
    if update_golden:
        text = PAGE.read_text()
        for shown, answer in reader.answers.items():
            text = text.replace(f"```console\n{shown}```", f"```console\n{answer}```")
        PAGE.write_text(text)
    else:
        assert list(reader.answers) == list(reader.answers.values())
    assert reader.commands >= 6


def test_specs_of_the_page_are_formatted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    specs = [block for block in blocks() if block.language == "dra"]
    assert len(specs) >= 4
    for number, block in enumerate(specs):
        (tmp_path / f"{number}.dra").write_text(block.body)
    assert "would format" not in run("dralang fmt --check .")
