"""Differential test: the editor's grammar against dralang's parser, token by token."""

from itertools import accumulate
from random import Random

import pytest
from extension_folder import GRAMMAR_TESTS, ROOT, EditorToken, editor_tokens, install, load
from language_tokens import LanguageToken, NotTheLanguageError, language_tokens, language_tree
from sentences import SentenceMaker

from dralang.formatter.format import format_file
from dralang.syntax.parser import SyntaxFaultError
from dralang.syntax.vocabulary import CATEGORIES

pytestmark = pytest.mark.slow

PARTS = load("grammar_parts")
KEYWORD_SCOPES = {word: PARTS.KEYWORD_SCOPES[category] for category, words in CATEGORIES.items() for word in words}
NAME_SCOPES: dict[str, str] = PARTS.NAME_SCOPES
OTHER_SCOPES = {
    "CEL": "punctuation.definition.cel.begin.dra",
    "STRING": "string.quoted.double.dra",
    "COMMENT": "comment.line.number-sign.dra",
    "LBRACE": "punctuation.section.",
    "RBRACE": "punctuation.section.",
    "LPAR": "punctuation.section.",
    "RPAR": "punctuation.section.",
    "LSQB": "punctuation.section.list.begin.dra",
    "RSQB": "punctuation.section.list.end.dra",
    "COMMA": "punctuation.separator.",
    "COLON": "punctuation.separator.key-value.dra",
    "EQUAL": "keyword.operator.assignment.dra",
    "RANGE": "keyword.operator.range.dra",
    "POSSESSIVE": "keyword.operator.possessive.dra",
}
# What a name may be where the tree gives it no role: whatever it looks like, but never a keyword.
ANY_NAME = ("constant.", "support.", "string.unquoted.", "variable.", "entity.")


def scopes_at(text: str, lines: list[list[EditorToken]]) -> list[list[str]]:
    """The scopes of every code point of a text."""
    found: list[list[str]] = []
    for line, tokens in zip(text.split("\n"), lines, strict=True):
        at = 0
        for character in line:
            found.append(next((scopes[1:] for start, end, scopes in tokens if start <= at < end), []))
            at += 2 if ord(character) > 0xFFFF else 1
        found.append([])
    return found


def accepts(token: LanguageToken, scopes: list[str]) -> bool:
    """Whether the scopes of a token's first character are what the parser says of the token."""
    innermost_keyword = any(scope in KEYWORD_SCOPES.values() for scope in scopes)
    if token.kind in KEYWORD_SCOPES:
        return scopes[-1:] == [KEYWORD_SCOPES[token.kind]]
    if innermost_keyword:
        return False
    if token.role in ("block", "body"):
        return scopes[-1:] == [f"punctuation.section.{token.role}.begin.dra"]
    if token.kind in OTHER_SCOPES:
        return any(scope.startswith(OTHER_SCOPES[token.kind]) for scope in scopes)
    if token.role and not (token.role == "effect" and scopes[:1] == [NAME_SCOPES["key"]]):
        return NAME_SCOPES[token.role] in scopes
    return any(scope.startswith(ANY_NAME) for scope in scopes)


def mismatches(text: str, lines: list[list[EditorToken]]) -> list[str]:
    """Every token that the editor sees as something else than the parser."""
    scopes = scopes_at(text, lines)
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    wrong = []
    for token in language_tokens(text):
        bad = not accepts(token, scopes[token.start])
        if token.kind in KEYWORD_SCOPES or token.kind == "COMMENT":
            bad |= any(each != scopes[token.start] for each in scopes[token.start : token.end])
        elif token.kind == "NAME":
            bad |= any(not each or each[0] != scopes[token.start][0] for each in scopes[token.start : token.end])
        elif token.kind == "CEL":
            bad |= any(
                "meta.embedded.inline.cel" not in scopes[at]
                for at in range(token.start + 1, token.end - 1)
                if text[at] != "\n"
            )
        if bad:
            line = sum(start <= token.start for start in starts)
            column = token.start - starts[line - 1] + 1
            shown = text[token.start : token.end]
            wrong.append(f"{line}:{column}: `{shown}` is {token.kind} {token.role}, coloured {scopes[token.start]}")
    return wrong


SPECS = [
    path for folder in ("specs", "stdlib", "tests/data/examples") for path in sorted((ROOT / folder).rglob("*.dra"))
]
ASSERTIONS = sorted(path for path in GRAMMAR_TESTS.glob("*.dra") if not path.name.startswith("broken"))


def test_the_editor_colours_every_spec_as_the_parser_reads_it() -> None:
    install()
    files = SPECS + ASSERTIONS
    texts = [path.read_text(encoding="utf-8") for path in files]
    texts += [format_file(language_tree(text)) for text in texts]
    assert len(SPECS) >= 7
    wrong = [
        f"{path.relative_to(ROOT)}:{fault}"
        for path, text, lines in zip(files * 2, texts, editor_tokens(texts), strict=True)
        for fault in mismatches(text, lines)
    ]
    assert wrong == []


def parsing(texts: list[str]) -> list[str]:
    """Those of some texts that dralang parses."""
    kept = []
    for text in texts:
        try:
            language_tokens(text)
        except (NotTheLanguageError, SyntaxFaultError):
            continue
        kept.append(text)
    return kept


def test_the_editor_colours_sentences_drawn_from_the_grammar_as_the_parser_reads_them() -> None:
    install()
    maker = SentenceMaker(Random(20260101))
    drawn = [maker.item(8 + n % 15) if n % 3 == 0 else maker.scenario(3 + n % 12) for n in range(600)]
    texts = parsing(drawn)
    # A few are no sentences: after `across a, b,` an entry is read as one more name.
    assert len(texts) > 550
    texts += [format_file(language_tree(text)) for text in texts[::3]]
    found = zip(texts, editor_tokens(texts), strict=True)
    assert [fault for text, lines in found for fault in mismatches(text, lines)] == []
    used = {rule for (rule, _), times in maker.used.items() if times}
    assert set(maker.expansions) - used == {"file"}
