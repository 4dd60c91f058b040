"""What the commands that play scenarios share."""

from collections.abc import Sequence

from dralang.cli.arguments import Arguments
from dralang.cli.console import Console
from dralang.diagnostics.render import clean
from dralang.run.expressions import expressions_for, stored_environment
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import REGRESSION, Scenario


def workshop_of(arguments: Arguments) -> Workshop:
    """What plays scenarios; with `--reference-cel`, cel-python evaluates their device expressions."""
    if not arguments.flag("--reference-cel"):
        return Workshop()
    # cel-python takes longer to import than everything else together.
    from dralang.cel.reference import ReferenceExpressions

    return Workshop(lambda features: ReferenceExpressions(stored_environment(features), ours=expressions_for(features)))


def play_as_test(scenario: Scenario, workshop: Workshop, *, seed: int, examples: int | None = None) -> Played:
    """Play what is one test: a scenario, the finding of a fuzz, or some examples of a fuzz.

    Args:
        scenario: what to play.
        workshop: shared with other scenarios.
        seed: where the examples of a fuzz start.
        examples: how many of them; None for the usual number.
    """
    if scenario.template is not None:
        from dralang.fuzz.tested import EXAMPLES, play_fuzz  # brings Hypothesis, which takes longer than most suites

        return play_fuzz(scenario, workshop, seed=seed, examples=EXAMPLES if examples is None else examples)
    if REGRESSION in scenario.tags:
        from dralang.fuzz.found import play_finding  # few suites have findings

        return play_finding(scenario, workshop)
    return play(scenario, workshop)


def judged_as_test(played: Played, workshop: Workshop) -> Played:
    """What was played for its record, with the verdict that it has as a test."""
    if REGRESSION not in played.scenario.tags:
        return played
    from dralang.fuzz.found import judge_finding  # few suites have findings

    return judge_finding(played, workshop)


def note_fuzzes(scenarios: Sequence[Scenario], console: Console) -> None:
    """Say of fuzzes that what is played is one story of many: the command that asks shows a single run."""
    for scenario in scenarios:
        if scenario.template is not None:
            console.err(
                f"note: `{clean(scenario.node_id)}` is a fuzz: this is its simplest story; "
                "`dralang test` and `dralang fuzz` play others\n"
            )
