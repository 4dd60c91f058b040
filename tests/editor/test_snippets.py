"""What a snippet leaves behind, with its placeholders as they are, is the language."""

import json
import re
from typing import Any

import pytest
from extension_folder import EXTENSION
from language_tokens import NotTheLanguageError, language_tokens

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.syntax.parser import SyntaxFaultError

SNIPPETS: dict[str, dict[str, Any]] = json.loads((EXTENSION / "snippets" / "dra.json").read_text(encoding="utf-8"))
# What stands in the body of a scenario; everything else stands at the top level of a file.
STATEMENTS = ("expect", "at", "within", "taint", "fail")
_PLACEHOLDER = re.compile(
    r"(?P<escaped>\\[$}\\])|\$\{[0-9]+\|(?P<choices>[^|]*)\|\}|\$\{[0-9]+:(?P<default>(?:[^\\}]|\\.)*)\}|\$[0-9]+"
)


def expanded(snippet: dict[str, Any]) -> str:
    """The text that the editor inserts, each placeholder with its default."""

    def text_of(found: re.Match[str]) -> str:
        if found["escaped"]:
            return found["escaped"][1:]
        if found["choices"]:
            return found["choices"].split(",")[0]
        return re.sub(r"\\(.)", r"\1", found["default"] or "")

    return _PLACEHOLDER.sub(text_of, "\n".join(snippet["body"])) + "\n"


def as_file(snippet: dict[str, Any]) -> str:
    """A whole file around a snippet."""
    text = expanded(snippet)
    if text.split()[0] not in STATEMENTS:
        return text
    return 'scenario "around" {\n' + "".join(f"  {line}\n" for line in text.splitlines()) + "}\n"


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_parses(name: str) -> None:
    text = as_file(SNIPPETS[name])
    try:
        tokens = language_tokens(text)
    except (NotTheLanguageError, SyntaxFaultError) as fault:
        pytest.fail(f"{type(fault).__name__} in:\n{text}")
    assert tokens


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_is_written_in_the_one_way(name: str) -> None:
    text = as_file(SNIPPETS[name])
    assert format_source(SourceFile("snippet.dra", text), DiagnosticLog()) == text


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_says_what_it_is_and_ends_where_writing_goes_on(name: str) -> None:
    snippet = SNIPPETS[name]
    assert snippet["description"]
    assert "".join(snippet["body"]).count("$0") == 1
    assert "\t" not in "".join(snippet["body"])


def test_prefixes_are_unique() -> None:
    prefixes = [snippet["prefix"] for snippet in SNIPPETS.values()]
    assert len(prefixes) == len(set(prefixes))
