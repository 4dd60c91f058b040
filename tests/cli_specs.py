"""Specs for the tests of commands."""

from dralang.cli.init import FIRST_SPEC

DECLARATIONS, _, _ = FIRST_SPEC.partition("scenario ")
REFUSED = "needs what is missing"  # by its title, see the fixture `refusing`
CREATE = "  create train\n  create serve\n"
PASSES = "  expect train runs on worker-1 with gpu-0\n"
FAILS = "  expect serve runs on worker-1 with gpu-0\n"


def scenario(title: str, body: str = CREATE + PASSES, head: str = "") -> str:
    return f'scenario "{title}"{head} {{\n{body}}}\n'


def spec(*scenarios: str) -> str:
    return DECLARATIONS + "\n".join(scenarios)


PASSING = spec(scenario("one fits"))
FAILING = spec(scenario("two fit", CREATE + FAILS))
MIXED = spec(
    scenario("one fits", head=" tagged gpu, fast"),
    scenario("two fit", CREATE + FAILS, " tagged gpu"),
    scenario("known fault", CREATE + FAILS, ' tagged slow xfail "two do not fit"'),
    scenario("fault is gone", CREATE + PASSES, ' xfail "it was broken once"'),
    scenario(REFUSED),
)
BROKEN = "node worker-1\npodd train\n"
