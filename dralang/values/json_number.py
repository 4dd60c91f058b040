"""Numbers of YAML as they are in JSON."""

from math import copysign
from typing import Final

_EXACT: Final = 2**53


def json_number(number: float) -> int | float:
    """A number as the Kubernetes tools send it: they write JSON, and a whole one without a point there.

    From YAML, `count: 1.0` is a whole number for them. What is too large to be exact, and minus zero, stay as they are.

    Source: encoding/json floatEncoder, sigs.k8s.io/yaml.
    """
    is_minus_zero = not number and copysign(1.0, number) < 0
    return int(number) if number.is_integer() and abs(number) <= _EXACT and not is_minus_zero else number
