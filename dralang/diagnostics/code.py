"""What a diagnostic code means: the long story behind the short message."""

from msgspec import Struct


class Code(Struct, frozen=True):
    """An entry of the registry.

    Attributes:
        title: one line, as in a table of contents.
        explanation: why it is wrong and what to do, in Markdown.
        example: a small text that provokes it.
    """

    title: str
    explanation: str
    example: str
