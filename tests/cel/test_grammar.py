"""The grammar: cel-python's with patches, and its table in the cache."""

import subprocess
import sys

import pytest

from dralang.cel import grammar
from dralang.cel.grammar import GrammarError, build, cache_folder, grammar_text


def test_every_patch_applies_to_the_installed_grammar():
    text = grammar_text()
    assert "optexpr" in text
    assert "WORD_LIT" in text
    assert "multiplication_mul" not in text


def test_another_grammar_is_refused(monkeypatch):
    monkeypatch.setattr(grammar, "_PATCHES", (*grammar._PATCHES, ("expr : nothing like it\n", "")))
    with pytest.raises(GrammarError, match="the grammar of cel-python has no single `expr : nothing like it`"):
        grammar_text()


def test_without_cel_python_it_says_so(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(GrammarError, match="cel-python is not installed"):
        grammar_text()


def test_the_folder_of_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "dralang"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() != tmp_path / "dralang"


def parses(folder):
    return build(None, folder).parse("1 + device.driver.size()") is not None


def test_the_table_is_stored_and_loaded_again(tmp_path):
    assert parses(tmp_path)
    (stored,) = tmp_path.iterdir()
    before = stored.read_bytes()
    assert parses(tmp_path)
    assert stored.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x00" * 40])
def test_a_broken_cache_is_built_again(tmp_path, content):
    assert parses(tmp_path)
    (stored,) = tmp_path.iterdir()
    stored.write_bytes(content)
    assert parses(tmp_path)
    assert len(stored.read_bytes()) > 10_000


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert parses(blocked / "below")
    assert parses(None)


def test_cel_python_is_not_imported():
    code = (
        "import sys\nfrom dralang.cel.expressions import CelExpressions\n"
        'CelExpressions().selector(\'device.driver == "d" && duration("1h") > duration("1m")\')\n'
        "print([name for name in sys.modules if name.split('.')[0] in {'celpy', 'pendulum', 'hypothesis'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
