"""What the commands that play scenarios share."""

from dralang.cli.arguments import Arguments
from dralang.run.expressions import expressions_for, stored_environment
from dralang.run.workshop import Workshop


def workshop_of(arguments: Arguments) -> Workshop:
    """What plays scenarios; with `--reference-cel`, cel-python evaluates their device expressions."""
    if not arguments.flag("--reference-cel"):
        return Workshop()
    # cel-python takes longer to import than everything else together.
    from dralang.cel.reference import ReferenceExpressions

    return Workshop(lambda features: ReferenceExpressions(stored_environment(features), ours=expressions_for(features)))
