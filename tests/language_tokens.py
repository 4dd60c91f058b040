"""What dralang's own parser says of every token of a text: its kind, and its role in the tree."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax import nodes
from dralang.syntax.parser import grammar, parse_tokens
from dralang.syntax.tokens import Token, lex

# Which attribute of which node holds a name in a role of its own.
_ROLES: Final[dict[type[nodes.Node], dict[str, str]]] = {
    nodes.Field: {"name": "field"},
    nodes.SetField: {"path": "field"},
    nodes.Device: {"name": "declared"},
    nodes.Counters: {"name": "declared"},
    nodes.Consumes: {"name": "declared"},
    nodes.Container: {"name": "declared"},
    nodes.ClaimEntry: {"name": "declared", "target": "reference"},
    nodes.ClaimUse: {"name": "declared"},
    nodes.Decl: {"name": "declared"},
    nodes.Fixture: {"name": "fixture"},
    nodes.Call: {"name": "fixture"},
    nodes.Param: {"name": "parameter"},
    nodes.Arg: {"name": "parameter"},
    nodes.Table: {"names": "parameter"},
    nodes.Use: {"alias": "module"},
    nodes.Scenario: {"tags": "tag"},
    nodes.ComponentAction: {"component": "component"},
    nodes.Delay: {"component": "component"},
    nodes.TaintSpec: {"key": "key", "effect": "effect"},
    nodes.Tolerate: {"key": "key", "effect": "effect"},
    nodes.Constraint: {"attribute": "key", "across": "reference"},
    nodes.Derive: {"name": "key"},
    nodes.ExactSpec: {"class_name": "reference"},
    nodes.OnNode: {"node": "reference"},
    nodes.Ref: {"name": "reference"},
    nodes.ConditionOf: {"condition": "field"},
    nodes.SetCondition: {"condition": "field"},
    nodes.Runs: {"node": "reference", "devices": "reference"},
}


class LanguageToken(NamedTuple):
    """A piece of a text: its place, its terminal (a keyword's is the keyword itself), its role or an empty text."""

    start: int
    end: int
    kind: str
    role: str


class NotTheLanguageError(Exception):
    """The text has lexical errors."""


def language_tokens(text: str) -> list[LanguageToken]:
    """All tokens and comments of a text, in order.

    Raises:
        NotTheLanguageError: the lexer does not take it.
        SyntaxFaultError: the parser does not take it.
    """
    tokens, tree = _parsed(text)
    roles = dict(_roles(tree.items))
    words = {terminal: word for word, terminal in grammar().keywords.items()}
    found = [
        LanguageToken(
            token.span.start,
            token.span.end,
            "STRING" if token.quoted else words.get(token.type, token.type),
            roles.get(token.span.start, ""),
        )
        for token in tokens
        if token.type not in ("NL", "$END")
    ]
    found += [LanguageToken(one.span.start, one.span.end, "COMMENT", "") for one in tree.comments]
    return sorted(found)


def language_tree(text: str) -> nodes.File:
    """The tree of a text, by the grammar alone: states, kinds and names may be any.

    Raises: as ``language_tokens``.
    """
    return _parsed(text)[1]


def _parsed(text: str) -> tuple[list[Token], nodes.File]:
    log = DiagnosticLog()
    source = SourceFile("test.dra", text)
    lexed = lex(source, log)
    if log.has_errors:
        raise NotTheLanguageError
    items = parse_tokens(lexed.tokens)
    return lexed.tokens, nodes.File(Span(source, 0, len(text)), source, items, lexed.comments)


def _roles(node: Any) -> Iterator[tuple[int, str]]:
    """The offset and role of every name and every opening brace below a node that has a role."""
    if isinstance(node, tuple):
        for each in node:
            yield from _roles(each)
    if not isinstance(node, nodes.Node):
        return
    if isinstance(node, nodes.Block | nodes.Body):
        yield node.span.start, "block" if isinstance(node, nodes.Block) else "body"
    for attribute, role in _ROLES.get(type(node), {}).items():
        value = getattr(node, attribute)
        for word in value if isinstance(value, tuple) else (value,):
            if isinstance(word, nodes.Word):
                yield word.span.start, role
    for attribute in node.__struct_fields__:
        yield from _roles(getattr(node, attribute))
