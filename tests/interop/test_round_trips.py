"""What import writes means what was imported, for objects of every kind that anybody could think of."""

from pathlib import Path

import pytest
from counts import count
from generated import ALL_KINDS, objects
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dralang.api.defaults import with_defaults
from dralang.api.encode import to_json
from dralang.check.analysis import Analyzer
from dralang.check.pools import with_slice_counts
from dralang.interop.text import write_declarations

NOW = "2026-01-31T12:00:00Z"
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def declared(text):
    analysis = Analyzer().text(Path("spec.dra"), "spec.dra", text.encode())
    errors = [item for item in analysis.diagnostics if item.severity == "error" and not item.code.startswith("DRA02")]
    assert not errors, (errors, text)
    counted = with_slice_counts(analysis.objects)
    return [counted.get(item.key, item).object for item in analysis.objects]


@pytest.mark.parametrize("info", ALL_KINDS, ids=lambda info: info.name)
def test_an_object_written_as_a_declaration_is_the_same_object(info):
    @settings(max_examples=count(100, 2000), derandomize=True, deadline=None, suppress_health_check=CHECKS, database=None)
    @given(objects(info))
    def run(value):
        text = write_declarations([value])
        (found,) = declared(text)
        assert to_json(with_defaults(found, NOW)) == to_json(with_defaults(value, NOW)), text

    run()
