"""Random problems, answered by the real allocator and by ours."""

import json

import pytest
from allocation_problems import problems, random_problem, tight_problem
from counts import count
from hypothesis import HealthCheck, given, settings
from real_allocator import Oracle, build, difference, is_available, shrunk

pytestmark = pytest.mark.skipif(not is_available(), reason="the real allocator is built with Go")


@pytest.fixture(scope="session")
def oracle(real_allocator_folder):
    with Oracle(build(real_allocator_folder)) as running:
        yield running


@settings(
    max_examples=count(1_000, 20_000),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(case=problems())
def test_the_real_allocator_gives_the_same_answer(oracle, case):
    assert difference(oracle, case) is None, json.dumps(case)


def test_long_searches_end_alike(oracle):
    differing = [seed for seed in range(200) if difference(oracle, tight_problem(seed)) is not None]
    assert differing == []


def test_a_difference_is_found_and_shrunk(oracle, monkeypatch):
    case = next(
        case for case in map(random_problem, range(100)) if oracle.answer(case)["steps"][0]["status"] == "allocated"
    )
    monkeypatch.setattr(
        "real_allocator.replay_allocation", lambda case, _: [{"status": "wrong"} for _ in case["steps"]]
    )
    assert difference(oracle, case) is not None
    smaller = shrunk(oracle, case)
    assert len(json.dumps(smaller)) < len(json.dumps(case))
    assert difference(oracle, smaller) is not None
