"""What import writes means what was imported, for objects of every kind that anybody could think of."""

import pytest
from counts import count
from generated import ALL_KINDS, clusters, objects
from hypothesis import HealthCheck, given, settings
from reading import elaborated, imported, meaning, meanings, written

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.interop.exporting import export

CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
OPTIONS = {"derandomize": True, "deadline": None, "suppress_health_check": CHECKS, "database": None}


@pytest.mark.parametrize("info", ALL_KINDS, ids=lambda info: info.name)
def test_yaml_to_a_spec_to_yaml_is_the_same_yaml(info):
    @settings(max_examples=count(100, 2000), **OPTIONS)
    @given(objects(info))
    def run(value):
        yaml, _ = export([value])
        spec = imported(yaml, keep_managed_fields=True)
        (found,) = elaborated(spec.text)
        assert meaning(found) == meaning(value), (yaml, spec.text)

    run()


@pytest.mark.parametrize("info", ALL_KINDS, ids=lambda info: info.name)
def test_a_declaration_means_its_object_and_so_does_its_yaml(info):
    @settings(max_examples=count(100, 2000), **OPTIONS)
    @given(objects(info))
    def run(value):
        text = written([value])
        first = elaborated(text)
        assert [*map(meaning, first)] == [meaning(value)], text
        yaml, _ = export(first)
        again = elaborated(imported(yaml, keep_managed_fields=True).text)
        assert [*map(meaning, again)] == [*map(meaning, first)]
        assert export(again)[0] == yaml

    run()


@settings(max_examples=count(100, 2000), **OPTIONS)
@given(clusters())
def test_many_objects_keep_what_they_say_of_each_other(values):
    text = imported(export(values)[0], keep_managed_fields=True).text
    assert meanings(elaborated(text)) == meanings(values), text


@settings(max_examples=count(50, 1000), **OPTIONS)
@given(clusters())
def test_the_formatter_leaves_imported_text_as_it_is(values):
    text = imported(export(values)[0], keep_managed_fields=True).text
    log = DiagnosticLog()
    assert format_source(SourceFile("spec.dra", text), log) == text
    assert not log
