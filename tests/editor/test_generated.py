"""The committed grammar of the editor is what its generator writes."""

import pytest
from extension_folder import EXTENSION, load


def test_the_committed_grammar_is_what_the_generator_writes() -> None:
    committed = (EXTENSION / "syntaxes" / "dra.tmLanguage.json").read_bytes()
    assert committed == load("generate").render().encode(), "run: python vscode-extension/generate.py"


def test_a_word_that_the_language_does_not_have_cannot_come_into_the_grammar() -> None:
    with pytest.raises(KeyError, match="schedule"):
        load("grammar_parts").keyword("create", "schedule")
