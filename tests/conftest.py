"""Options of the whole suite. The file also puts this folder on the import path, so that all tests share `builders`."""

import pytest


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
