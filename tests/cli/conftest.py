"""The project folder of a test."""

from pathlib import Path

import pytest
from cli_project import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
