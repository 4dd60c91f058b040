"""Declarations that no author has written, as the text of a `.dra` file."""

from collections.abc import Sequence

from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_file
from dralang.interop.words import NOWHERE
from dralang.syntax import nodes as n


def format_declarations(declarations: Sequence[n.Decl]) -> str:
    """The text of declarations, formatted; what has several lines stands apart."""
    lines: list[str] = []
    before = ""
    for declaration in declarations:
        text = format_file(n.File(NOWHERE, SourceFile("", ""), (declaration,), ()))
        if lines and (declaration.kind != before or "\n" in lines[-1][:-1] or "\n" in text[:-1]):
            lines.append("\n")
        lines.append(text)
        before = declaration.kind
    return "".join(lines)
