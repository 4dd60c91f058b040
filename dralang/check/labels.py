"""What the parts of taints, tolerations and labels may say.

A scenario that writes another word fails with the text of the API server. What a fuzz cannot do does not happen, so
there every choice is judged before the story.
"""

from collections.abc import Callable, Collection
from typing import TypeAlias

from dralang.api.validation.claims import TAINT_EFFECTS
from dralang.api.validation.nodes import NODE_TAINT_EFFECTS
from dralang.api.verdicts import REFUSED
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.values.names import label_key_errors, label_value_errors

Rule: TypeAlias = Callable[[str, Span], Diagnostic | None]
"""What speaks against a text, if anything does."""


def key(text: str, span: Span) -> Diagnostic | None:
    """The key of a label, taint or toleration."""
    return _refused(text, span, "key", label_key_errors(text))


def value(text: str, span: Span) -> Diagnostic | None:
    """The value of a label, taint or toleration."""
    return _refused(text, span, "value", label_value_errors(text))


def device_effect(text: str, span: Span) -> Diagnostic | None:
    """The effect of a device taint, or of a toleration."""
    return _effect(text, span, TAINT_EFFECTS)


def node_effect(text: str, span: Span) -> Diagnostic | None:
    """The effect of a node taint."""
    return _effect(text, span, NODE_TAINT_EFFECTS)


def _effect(text: str, span: Span, known: Collection[str]) -> Diagnostic | None:
    if text in known:
        return None
    near = nearest(text, known)
    return Diagnostic(
        code=REFUSED,
        message=f"there is no effect `{text}` here",
        span=span,
        expected=tuple(known),
        help=f"did you mean `{near}`?" if near else "",
    )


def _refused(text: str, span: Span, what: str, errors: Collection[str]) -> Diagnostic | None:
    if not errors:
        return None
    return Diagnostic(code=REFUSED, message=f"`{text}` is no {what}: {'; '.join(errors)}", span=span)
