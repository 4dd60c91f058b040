"""What the API server answers when it refuses a request."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Reason: TypeAlias = Literal[
    "AlreadyExists", "BadRequest", "Conflict", "Forbidden", "InternalError", "Invalid", "NotFound"
]


@dataclass(frozen=True, slots=True)
class ApiError:
    """A refused request: a value that the caller must look at, as a client of the real API must.

    Attributes:
        reason: the machine-readable reason of the API.
        message: the text of the API.
    """

    reason: Reason
    message: str
