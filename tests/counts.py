"""How many cases a random test draws: a sample in every run, the full count in `.ci/long`."""

import os

LONG = bool(os.environ.get("FULL_COUNTS"))


def count(sample: int, full: int) -> int:
    """The sample, or with FULL_COUNTS set the full count; a sample is at least a twentieth of the full count."""
    assert sample * 20 >= full, "a sample is at least 5 % of the full count"
    return full if LONG else sample
