"""Every code of reading objects is provoked by its own example."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.diagnostics.codes_api import API_CODES

# DRA0306 is an answer of the server; tests/api/test_verdicts.py has it.
READING = sorted(set(API_CODES) - {"DRA0306"})


@pytest.mark.parametrize("code", READING)
def test_the_example_provokes_its_code(code, tmp_path: Path):
    analysis = Analyzer().text(tmp_path / "example.dra", "example.dra", API_CODES[code].example.encode())
    assert [diagnostic.code for diagnostic in analysis.diagnostics] == [code]
