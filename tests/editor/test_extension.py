"""The extension's own tests and its package, by its own tools."""

import json
import re

import pytest
from extension_folder import EXTENSION, install, run

pytestmark = pytest.mark.slow


def test_the_extensions_own_tests_pass() -> None:
    install()
    output = run("npm", "test")
    # As many as there are: a runner that finds nothing also ends with 0.
    passed = re.search(r"^# pass (\d+)$", output, re.M) or re.search(r"pass (\d+)", output)
    assert passed is not None
    assert int(passed[1]) >= 7
    assert "# fail 0" in output or "fail 0" in output


def test_the_package_holds_what_it_should() -> None:
    install()
    output = run("npm", "run", "package")
    assert "12 files, as expected" in output
    assert (EXTENSION / "dralang.vsix").stat().st_size < 100_000


def test_the_lock_file_names_no_registry_and_pins_every_tool() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert all("resolved" not in package for package in lock["packages"].values())
    for name, version in manifest["devDependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
        assert lock["packages"][f"node_modules/{name}"]["integrity"].startswith("sha512-")
