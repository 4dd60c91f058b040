"""What imported objects look like: `imported.md` says it."""

import re
from pathlib import Path

import pytest
from reading import declarations, elaborated, imported, meaning

from dralang.interop.exporting import export

SECTION = re.compile(r"^## ([^\n]+)\n\n```yaml\n(.*?)```\n\n```dra\n(.*?)```$", re.M | re.S)
TEXT = Path(__file__).with_name("imported.md").read_text(encoding="utf-8")
LOOKS = {title: (yaml, text) for title, yaml, text in SECTION.findall(TEXT)}


def test_every_section_is_read():
    assert len(LOOKS) == TEXT.count("\n## ") > 20


@pytest.mark.parametrize(("yaml", "text"), LOOKS.values(), ids=LOOKS)
def test_an_object_looks_like_this(yaml, text):
    assert declarations(yaml) == text


@pytest.mark.parametrize(("yaml", "text"), LOOKS.values(), ids=LOOKS)
def test_what_it_looks_like_means_the_same_as_yaml(yaml, text):
    first = elaborated(text)
    again = elaborated(imported(export(first)[0]).text)
    assert [*map(meaning, again)] == [*map(meaning, first)]
