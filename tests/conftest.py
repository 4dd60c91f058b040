"""Options of the whole suite. The file also puts this folder on the import path, so that all tests share `builders`."""

from pathlib import Path

import pytest
from cli_project import Project


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="write the results that golden tests compare with; review the difference",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden results are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def real_allocator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the real allocator is built, once for all tests that ask it."""
    return tmp_path_factory.mktemp("real-allocator")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project folder, which is the working directory."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
