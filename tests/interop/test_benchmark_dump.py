"""The dump that the benchmark measures is one that imports, and means the same afterwards."""

import importlib.util
from pathlib import Path

from reading import elaborated, imported, meaning

from dralang.interop.exporting import export

PATH = Path(__file__).parent.parent.parent / "benchmarks" / "interop.py"


def test_the_dump_is_taken_and_comes_back():
    spec = importlib.util.spec_from_file_location("benchmark_of_interop", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.dump(1000)
    assert text.count("\n") >= 1000
    found = imported(text)
    assert found.count == text.count("\n  kind: ")
    assert found.notes == (f"left out: the `managedFields` of {found.count - 1} objects",)
    objects = elaborated(found.text)
    again = elaborated(imported(export(objects)[0]).text)
    assert [*map(meaning, again)] == [*map(meaning, objects)]
