"""Switching a rule of KEP-5690 or KEP-6406 off makes a spec of that very clause fail; docs/rule-mutants.md has all."""

import pytest
from counts import LONG
from rule_mutants import MUTANTS, PAGE, ROOT, attempt

SAMPLE = MUTANTS if LONG else MUTANTS[::12]


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda mutant: mutant.rule)
def test_a_spec_of_the_clause_notices(mutant):
    outcome = attempt(mutant)
    assert outcome.caught, outcome


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_the_rule_is_where_it_was(mutant):
    for file, old, _ in ((mutant.file, mutant.old, mutant.new), *mutant.more):
        assert (ROOT / file).read_text(encoding="utf-8").count(old) == 1, file


def test_the_table_has_every_rule_and_no_survivor():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [mutant.rule for mutant in MUTANTS]
    assert [row for row in rows if not row.endswith("| yes |")] == []
