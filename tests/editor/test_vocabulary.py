"""One vocabulary: the grammar, the table of words, the editor's grammar and its assertion files know the same words."""

import json
import re
from typing import Any

import pytest
from extension_folder import EXTENSION, GRAMMAR_TESTS, load
from language_tokens import language_tokens

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.resources import grammar_path
from dralang.syntax.parser import grammar
from dralang.syntax.tokens import CONTINUATIONS
from dralang.syntax.vocabulary import CATEGORIES, KEYWORDS, PREDICATE_STARTS, STATES

ASSERTIONS = sorted(path for path in GRAMMAR_TESTS.glob("*.dra") if not path.name.startswith("broken"))
TEXTMATE: dict[str, Any] = json.loads((EXTENSION / "syntaxes" / "dra.tmLanguage.json").read_text(encoding="utf-8"))


def regexes(rule: Any) -> list[str]:
    """Every regular expression of a rule and of the rules in it."""
    if isinstance(rule, list):
        return [each for one in rule for each in regexes(one)]
    if not isinstance(rule, dict):
        return []
    own = [text for key, text in rule.items() if key in ("match", "begin", "end") and isinstance(text, str)]
    return own + [each for value in rule.values() for each in regexes(value)]


def words_of(expressions: list[str]) -> set[str]:
    """The literal words of some regular expressions: what is left without escapes and character classes."""
    found = set()
    for expression in expressions:
        plain = re.sub(r"\[(?:\\.|[^\]\\])*\]|\\.", "-", expression)
        found |= set(re.findall(r"[A-Za-z]{2,}", plain))
    return found


def test_the_table_of_words_has_exactly_the_keywords_of_the_grammar() -> None:
    text = re.sub(r"//.*", "", grammar_path().read_text(encoding="utf-8"))
    written = set(re.findall(r'"([A-Za-z]+)"', text))
    assert written == set(KEYWORDS)
    assert set(grammar().keywords) == set(KEYWORDS)


def test_a_word_stands_in_one_category_and_says_what_it_means() -> None:
    words = [word for entries in CATEGORIES.values() for word in entries]
    assert len(words) == len(set(words))
    for word, meaning in {**KEYWORDS, **STATES}.items():
        assert meaning.strip(), word
        assert "\n" not in meaning, word


def test_words_that_the_lexer_and_parser_treat_apart_are_words() -> None:
    assert set(KEYWORDS) >= CONTINUATIONS
    assert set(KEYWORDS) >= PREDICATE_STARTS


def test_the_editor_knows_every_keyword_by_its_category_and_no_other() -> None:
    scopes = load("grammar_parts").KEYWORD_SCOPES
    by_scope = {rule["name"]: words_of([rule["match"]]) for rule in TEXTMATE["repository"]["keyword"]["patterns"]}
    assert by_scope == {scopes[category]: set(words) for category, words in CATEGORIES.items()}


def test_some_rule_of_the_editor_uses_every_keyword_and_no_word_of_its_own() -> None:
    rules = {name: rule for name, rule in TEXTMATE["repository"].items() if name not in ("keyword", "state")}
    literals = {"true", "false", "null", "ms"}
    assert words_of(regexes(rules)) - literals == set(KEYWORDS)


def test_the_editor_knows_every_state_and_no_other() -> None:
    expression = TEXTMATE["repository"]["state"]["match"]
    alternatives = re.search(r"\(\?:([a-z|-]+)\)", expression)
    assert alternatives is not None
    assert set(alternatives[1].split("|")) == set(STATES)


def test_the_assertion_files_use_every_keyword_and_every_rule_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    callbacks: dict[Any, Any] = dict(grammar().conf.callbacks)
    used: set[str] = set()

    def counting(name: str, callback: Any) -> Any:
        def called(children: Any) -> Any:
            used.add(name)
            return callback(children)

        return called

    names = {rule: str(rule.origin.name) for rule in callbacks}
    for rule, callback in callbacks.items():
        monkeypatch.setitem(grammar().conf.callbacks, rule, counting(names[rule], callback))
    keywords = {token.kind for path in ASSERTIONS for token in language_tokens(path.read_text(encoding="utf-8"))}
    assert set(KEYWORDS) - keywords == set()
    assert {name for name in names.values() if not name.startswith("_")} - used == set()


def test_the_formatter_writes_every_keyword_as_a_keyword() -> None:
    written: set[str] = set()
    for path in ASSERTIONS:
        text = format_source(SourceFile(path.name, path.read_text(encoding="utf-8")), DiagnosticLog())
        assert text is not None, path.name
        written |= {token.kind for token in language_tokens(text)}
    assert set(KEYWORDS) - written == set()


def test_the_editor_completes_nothing_but_what_the_language_has() -> None:
    snippets = json.loads((EXTENSION / "snippets" / "dra.json").read_text(encoding="utf-8"))
    first_words = {snippet["prefix"].split()[0] for snippet in snippets.values()}
    assert first_words - set(KEYWORDS) == {"spec", "partitions"}
