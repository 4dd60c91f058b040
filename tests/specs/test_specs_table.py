"""The tables of specs/README.md and specs/manifests/README.md say what is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SPECS = Path(__file__).resolve().parents[2] / "specs"
FILES = sorted(SPECS.rglob("*.dra"))


def about(path: Path) -> str:
    """The first paragraph of a spec's opening comment."""
    lines = []
    for line in path.read_text().splitlines():
        text = line.removeprefix("#").strip()
        if not line.startswith("#") or not text:
            break
        lines.append(text)
    return " ".join(lines)


def rows(path: Path) -> Iterator[list[str]]:
    """The cells of a file's tables, without their heads."""
    lines = path.read_text().splitlines()
    for previous, line in zip(["", *lines], lines, strict=False):
        if line.startswith("|") and not line.startswith("|---") and previous.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_a_spec_says_in_a_sentence_what_it_shows(path: Path):
    text = about(path)
    assert text.endswith(".")
    assert 30 <= len(text) <= 240
    assert "|" not in text


def section_rows(prefix: str) -> str:
    """The rows of the specs in a folder, or of one spec."""
    names = (path.relative_to(SPECS).as_posix() for path in FILES)
    return "".join(f"| [{name}]({name}) | {about(SPECS / name)} |\n" for name in names if name.startswith(prefix))


def test_the_tables_of_specs_list_every_spec_with_its_first_sentence(update_golden: bool):
    """A table stands under a comment that names its folder; ``--update-golden`` writes the rows."""
    page = SPECS / "README.md"
    text = page.read_text()
    sections = re.findall(r"<!-- specs of (\S+) -->", text)
    files = [path.relative_to(SPECS).as_posix() for path in FILES]
    assert [name for name in files if sum(name.startswith(prefix) for prefix in sections) != 1] == []
    table = r"(<!-- specs of (\S+) -->\n\| .*\n\|-.*\n)((?:\|.*\n)*)"
    expected = re.sub(table, lambda found: found[1] + section_rows(found[2]), text)
    if update_golden:
        page.write_text(expected)
    else:
        assert text == expected


def test_the_table_of_manifests_lists_every_manifest_with_its_source():
    table = list(rows(SPECS / "manifests" / "README.md"))
    listed = [row[0].strip("`") for row in table]
    there = [p.relative_to(SPECS / "manifests").as_posix() for p in sorted((SPECS / "manifests").rglob("*.yaml"))]
    assert listed == there
    for _, repository, commit, path, licence in table:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", repository)
        assert re.fullmatch(r"[0-9a-f]{7,8}", commit)
        assert re.fullmatch(r"`[\w./+-]+\.yaml`", path)
        assert licence == "Apache-2.0"


def test_every_manifest_is_used():
    used = {
        (path.parent / target).resolve()
        for path in FILES
        for target in re.findall(r'^use "(.+\.yaml)"', path.read_text(), re.MULTILINE)
    }
    folder = (SPECS / "manifests").resolve()
    assert {p.resolve() for p in folder.rglob("*.yaml")} == {path for path in used if path.is_relative_to(folder)}
