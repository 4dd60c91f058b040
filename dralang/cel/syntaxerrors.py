"""Syntax errors in the words of Kubernetes' parser."""

from dralang.cel.issues import Issues


def report_syntax_errors(text: str, issues: Issues) -> None:
    """Find what is wrong with a text that does not parse."""
    issues.add(0, "Syntax error: ")
