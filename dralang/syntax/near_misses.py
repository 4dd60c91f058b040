"""Mistakes that many people make, each with a text of its own.

A rule looks at the place of a fault and gives a diagnostic or None; the first rule that answers wins.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.syntax.mistakes_in_entries import (
    blank_before_range,
    cel_without_backticks,
    colon_or_equal,
    entry,
    field_without_name,
    name_before_keyword,
    request_without_count,
)
from dralang.syntax.mistakes_in_propositions import claim_of_pod, conjunction, predicate, runs_where, what_is_left
from dralang.syntax.mistakes_in_statements import (
    body_without_brace,
    brace_on_its_own_line,
    colon_after_keyword,
    not_a_statement,
    second_statement_on_the_line,
    table_head,
    text_without_quotes,
    time_missing,
    word_of_a_head,
)
from dralang.syntax.place import Place

Rule: TypeAlias = Callable[[Place], Diagnostic | None]

_RULES: Final[tuple[Rule, ...]] = (
    brace_on_its_own_line,
    conjunction,
    not_a_statement,
    time_missing,
    word_of_a_head,
    cel_without_backticks,
    colon_after_keyword,
    text_without_quotes,
    table_head,
    colon_or_equal,
    blank_before_range,
    body_without_brace,
    second_statement_on_the_line,
    request_without_count,
    name_before_keyword,
    field_without_name,
    entry,
    claim_of_pod,
    what_is_left,
    predicate,
    runs_where,
)


def near_miss(place: Place) -> Diagnostic | None:
    """The text of the first rule that knows this mistake."""
    for rule in _RULES:
        found = rule(place)
        if found is not None:
            return found
    return None
