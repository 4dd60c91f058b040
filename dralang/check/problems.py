"""The diagnostics of this package: one function for each, so that wording is read in one place."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic, Related
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.tokens import MAX_NESTING

NOTHING_THERE: Final = "DRA0218"
"""The code of what is always left out of a fuzz."""
_CEL_WORD: Final = re.compile(r"\w*")


def _meant(name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    if near is None:
        # A module's names stand behind its alias.
        near = next((other for other in sorted(known) if other.endswith("." + name)), None)
    return f"did you mean `{near}`?" if near else ""


def undefined(kind: str, name: str, span: Span, known: Iterable[str], *, way_out: str = "") -> Diagnostic:
    """A name that nothing declares."""
    known = sorted(set(known))
    listed = tuple(known) if len(known) <= 6 else (*known[:5], f"{len(known) - 5} more")
    return Diagnostic(
        code="DRA0201",
        message=f"there is no {kind} `{name}`",
        span=span,
        expected=listed,
        help=(way_out if way_out.startswith("did you mean") else "")
        or _meant(name, known)
        or way_out
        or f"declare it: `{_keyword(kind)} {name} {{ ... }}`",
    )


def _keyword(kind: str) -> str:
    return kind.split(" or ")[0]


def duplicate(kind: str, name: str, span: Span, first: Span) -> Diagnostic:
    """A name that is declared twice."""
    return Diagnostic(
        code="DRA0202",
        message=f"{kind} `{name}` is declared twice",
        span=span,
        related=(Related("first declared here", first),),
        help="give one of them another name",
    )


def unused(kind: str, name: str, span: Span, way_out: str) -> Diagnostic:
    """A name that nothing uses."""
    return Diagnostic(
        code="DRA0203", severity="warning", message=f"{kind} `{name}` is never used", span=span, help=way_out
    )


def ambiguous(name: str, span: Span, choices: list[str]) -> Diagnostic:
    """A name that means several objects."""
    return Diagnostic(
        code="DRA0204",
        message=f"`{name}` can mean {' or '.join(f'`{choice}`' for choice in choices)}",
        span=span,
        expected=tuple(choices),
        help=f"write `{choices[0]}`",
    )


def bad_substitution(message: str, span: Span, way_out: str = "") -> Diagnostic:
    """``${...}`` that cannot be computed."""
    return Diagnostic(code="DRA0205", message=message, span=span, help=way_out)


def bad_range(message: str, span: Span, way_out: str = "write `name-[0..3]`") -> Diagnostic:
    """A range in a name that cannot be read, or is too large."""
    return Diagnostic(code="DRA0206", message=message, span=span, help=way_out)


def misplaced(what: str, where: str, span: Span, way_out: str) -> Diagnostic:
    """A line that makes no sense in the block in which it stands."""
    return Diagnostic(code="DRA0207", message=f"{what} has no place in {where}", span=span, help=way_out)


def given_twice(name: str, span: Span, first: Span) -> Diagnostic:
    """A field that is set twice in one block."""
    return Diagnostic(
        code="DRA0208",
        message=f"`{name}` is given twice",
        span=span,
        related=(Related("first given here", first),),
        help="keep one of them",
    )


def bad_file(message: str, span: Span | None, way_out: str = "") -> Diagnostic:
    """A file that cannot be used."""
    return Diagnostic(code="DRA0210", message=message, span=span, help=way_out)


def bad_call(message: str, span: Span, way_out: str = "", related: tuple[Related, ...] = ()) -> Diagnostic:
    """Arguments that do not fit a fixture."""
    return Diagnostic(code="DRA0211", message=message, span=span, help=way_out, related=related)


def bad_table(message: str, span: Span, way_out: str = "") -> Diagnostic:
    """A scenario table that cannot be read."""
    return Diagnostic(code="DRA0212", message=message, span=span, help=way_out)


def only_in_fuzz(what: str, span: Span) -> Diagnostic:
    """A hole outside of a fuzz."""
    return Diagnostic(
        code="DRA0213",
        message=f"{what} stands only in a `fuzz`",
        span=span,
        help="choose a value, or write `fuzz` in place of `scenario`",
    )


def bad_setting(message: str, span: Span | None, way_out: str = "", expected: tuple[str, ...] = ()) -> Diagnostic:
    """A version, gate or quirk that does not exist."""
    return Diagnostic(code="DRA0214", message=message, span=span, help=way_out, expected=expected)


def wrong_value(message: str, span: Span, way_out: str = "", expected: tuple[str, ...] = ()) -> Diagnostic:
    """A value of a wrong type or form."""
    return Diagnostic(code="DRA0302", message=message, span=span, help=way_out, expected=expected)


def no_reason(what: str, span: Span) -> Diagnostic:
    """A `because` where nothing says why."""
    return Diagnostic(
        code="DRA0302",
        message=f"{what} has no reason that `because` could look at",
        span=span,
        help="reasons are given where a pod waits, is nominated, was preempted or evicted, and in conditions",
    )


def empty_text(what: str, span: Span, way_out: str) -> Diagnostic:
    """A text that is part of every text."""
    return Diagnostic(code="DRA0302", message=f"an empty {what} is part of every {what}", span=span, help=way_out)


def bad_duration(reason: str, span: Span) -> Diagnostic:
    """A time that is no duration."""
    return Diagnostic(
        code="DRA0307", message=reason, span=span, help="write a number and a unit: `10s`, `1m30s`, `250ms`"
    )


def bad_number(message: str, span: Span, way_out: str = "") -> Diagnostic:
    """A count that is no number, or one that makes no sense."""
    return Diagnostic(code="DRA0308", message=message, span=span, help=way_out)


def bad_name(message: str, span: Span, way_out: str = "") -> Diagnostic:
    """A name that Kubernetes does not take."""
    return Diagnostic(code="DRA0309", message=message, span=span, help=way_out)


def bad_state(state: str, subject: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """A state that the subject cannot have."""
    known = sorted(known)
    return Diagnostic(
        code="DRA0310",
        message=f"a {subject} cannot be `{state}`",
        span=span,
        expected=tuple(known),
        help=_meant(state, known),
    )


def time_goes_back(message: str, span: Span, way_out: str) -> Diagnostic:
    """A statement whose time has passed."""
    return Diagnostic(code="DRA0311", message=message, span=span, help=way_out)


def bad_quantity(text: str, span: Span) -> Diagnostic:
    """A text that is no quantity."""
    return Diagnostic(
        code="DRA0303",
        message=f"`{text}` is no quantity",
        span=span,
        help="quantities are written `80Gi`, `1500m`, `4`",
    )


def not_yet(what: str, span: Span | None) -> Diagnostic:
    """Something that the language knows and this version cannot run."""
    return Diagnostic(
        code="DRA0690",
        message=f"{what} cannot be run by this version of dralang",
        span=span,
        help="the file is checked all the same; only scenarios that depend on it are refused",
    )


def dangling(kind: str, name: str, span: Span) -> Diagnostic:
    """A manifest that refers to something that no file declares."""
    return Diagnostic(
        code="DRA0216",
        severity="warning",
        message=f"there is no {kind} `{name}` in these files",
        span=span,
        help="load the manifest that has it, or declare it in the spec",
    )


def checks_nothing(title: str, span: Span) -> Diagnostic:
    """A scenario without any expectation."""
    return Diagnostic(
        code="DRA0217",
        severity="warning",
        message=f"scenario `{title}` expects nothing",
        span=span,
        help="say what should happen: `expect POD runs`",
    )


def nothing_to_choose(span: Span) -> Diagnostic:
    """A hole with an empty list."""
    return bad_table("`any of []` leaves nothing to choose", span)


def nothing_there(kind: str, span: Span) -> Diagnostic:
    """A statement of a fuzz with a hole for which there is no object."""
    return Diagnostic(
        code=NOTHING_THERE,
        severity="warning",
        message=f"there is no {kind} here, neither in the smallest story nor in the largest",
        span=span,
        help=f"without one the statement is left out; write it where a {kind} exists",
    )


def never_created(pod: str, span: Span) -> Diagnostic:
    """A pod that a scenario speaks of and that does not exist in it."""
    return Diagnostic(
        code="DRA0219",
        severity="warning",
        message=f"pod `{pod}` does not exist in this scenario: no statement creates it",
        span=span,
        help=f"write `create {pod}` before, or leave the sentence away",
    )


def always_the_same(said: str, span: Span, *, so: bool, of: int | None) -> Diagnostic:
    """A count that settles a sentence by itself."""
    among = "" if of is None else f" of {of}"
    return Diagnostic(
        code="DRA0220",
        severity="warning",
        message=f"`{said}`{among} is {'true' if so else 'false'} whatever happens",
        span=span,
        help="write a number that can be exceeded and missed",
    )


def idle_rule(name: str, span: Span) -> Diagnostic:
    """A taint rule without a device to taint."""
    return Diagnostic(
        code="DRA0221",
        severity="warning",
        message=f"taintrule `{name}` selects no device of any slice of this file",
        span=span,
        help="driver, pool and device of its selector must all be those of one device",
    )


def late_fault(said: str, span: Span) -> Diagnostic:
    """A fault with which a story ends."""
    return Diagnostic(
        code="DRA0222",
        severity="warning",
        message=f"nothing comes after `{said}` that it could change",
        span=span,
        help="write what happens then and what is expected of it, or leave the statement away",
    )


def idle_pause(component: str, span: Span, *, paused: bool) -> Diagnostic:
    """A `pause` of what is paused, a `resume` of what is not."""
    return Diagnostic(
        code="DRA0222",
        severity="warning",
        message=f"`{component}` is {'paused already' if paused else 'not paused'}",
        span=span,
        help="leave the statement away; or is another component meant?",
    )


def replaced_fault(said: str, span: Span, later: Span) -> Diagnostic:
    """A fault in whose place another one comes before anything happens."""
    return Diagnostic(
        code="DRA0222",
        severity="warning",
        message=f"`{said}` is replaced before anything happens",
        span=span,
        related=(Related("by this", later),),
        help="say it once: `fail next 3 bind of NAME` for three failures, `delay COMPONENT by 5s` for all of the delay",
    )


def looks_at_nothing(span: Span) -> Diagnostic:
    """An expression about objects that reads none."""
    return Diagnostic(
        code="DRA0220",
        severity="warning",
        message="this expression looks at nothing of the cluster: it is the same whatever happens",
        span=span,
        help='say something of an object: `pods["NAME"].status.phase == "Running"`',
    )


def too_deep(span: Span) -> Diagnostic:
    """Statements inside of statements without end."""
    return Diagnostic(
        code="DRA0104",
        message=f"nested more than {MAX_NESTING} levels deep",
        span=Span(span.source, span.start, min(span.end, span.start + 20)),
        help="write the statements one after the other",
    )


def bad_cel(message: str, span: Span, offset: int | None, way_out: str) -> Diagnostic:
    """CEL of an expectation that does not compile; ``offset`` points into the text of the span."""
    if offset is not None and span.start + offset < span.end:
        start = span.start + offset
        rest = span.source.text[start : span.end]
        span = Span(span.source, start, start + max(1, len(_CEL_WORD.match(rest)[0])))  # type: ignore[index]
    return Diagnostic(code="DRA0501", message=message, span=span, help=way_out)
