"""The objects of all specs of this repository, as YAML and back."""

from pathlib import Path

import pytest
from reading import elaborated, imported, meanings

from dralang.check.analysis import Analysis, Analyzer
from dralang.interop.exporting import declared_objects, export

ROOT = Path(__file__).parent.parent.parent
SPECS = {str(path.relative_to(ROOT)): path for folder in ("specs", "stdlib") for path in (ROOT / folder).rglob("*.dra")}


@pytest.mark.parametrize("name", sorted(SPECS))
def test_what_a_spec_declares_means_the_same_after_export_and_import(name):
    analysis = Analyzer().path(SPECS[name])
    assert isinstance(analysis, Analysis)
    objects = declared_objects(analysis.objects)
    if not objects:
        return
    again = elaborated(imported(export(objects)[0]).text)
    assert meanings(again) == meanings(objects)
