"""Objects as the text of a `.dra` file."""

from collections.abc import Sequence

from dralang.api.base import ApiType
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_file
from dralang.interop.reify import ordered, pool_sizes, reify
from dralang.interop.words import NOWHERE
from dralang.syntax import nodes as n


def write_declarations(objects: Sequence[ApiType]) -> str:
    """Declarations of objects, by kind, formatted.

    Args:
        objects: of kinds with a keyword, no two with the same kind, namespace and name.

    Raises:
        CannotWriteError: one holds something that the language has no form for.
    """
    sizes = pool_sizes(objects)
    return format_declarations([reify(value, sizes) for value in ordered(objects)])


def format_declarations(declarations: Sequence[n.Decl]) -> str:
    """The text of declarations that no author has written; what has several lines stands apart."""
    lines: list[str] = []
    before = ""
    for declaration in declarations:
        text = format_file(n.File(NOWHERE, SourceFile("", ""), (declaration,), ()))
        if lines and (declaration.kind != before or "\n" in lines[-1][:-1] or "\n" in text[:-1]):
            lines.append("\n")
        lines.append(text)
        before = declaration.kind
    return "".join(lines)
