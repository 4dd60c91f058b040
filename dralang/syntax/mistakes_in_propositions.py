"""Common mistakes in what is expected."""

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.syntax.habits import PREDICATE_HABITS
from dralang.syntax.mistakes import CLOSED_OR_SEPARATED, NUMBER, PROPOSITION_STARTS, in_backticks, miss
from dralang.syntax.place import Place
from dralang.syntax.vocabulary import KEYWORDS, PREDICATE_STARTS, STATES


def conjunction(place: Place) -> Diagnostic | None:
    """`a runs and b runs`, `a and b run`, `a runs, b runs`."""
    word = place.found.text
    if word == "," and "BECAUSE" in place.expected and any(text in PROPOSITION_STARTS for text in place.words):
        keyword = next(text for text in place.words if text in PROPOSITION_STARTS)
        way_out = f"write two statements: `{keyword} ...; {keyword} ...`"
        return miss("DRA0120", "propositions are not joined by `,`", place.found.span, way_out)
    if place.found.quoted or word not in ("and", "or", "but") or not place.words:
        return None
    starts = [text for text in place.words if text in PROPOSITION_STARTS]
    if not starts:
        if "COMMA" not in place.expected:
            return None
        return miss("DRA0120", f"`{word}` does not join names", place.found.span, "separate them with `,`", "`,`")
    keyword = starts[-1]
    if word == "or":
        way_out = "say what holds in each case, or write the condition in CEL between backticks"
    elif "RUNS" in place.expected and "COMMA" in place.expected:
        way_out = f"separate names with `,`: `{keyword} {place.back(1).text}, {place.ahead().text} ...`"
    else:
        way_out = f"write two statements: `{keyword} ...; {keyword} ...`"
    return miss("DRA0120", f"propositions are not joined by `{word}`", place.found.span, way_out)


def predicate(place: Place) -> Diagnostic | None:
    """What stands after the subject of a proposition."""
    found = place.found
    if found.quoted or not {"RUNS", "IS"} & place.expected:
        return None
    text = found.text
    taken = place.back(1)
    if taken.text in PREDICATE_STARTS and place.back(2).text in PROPOSITION_STARTS and not taken.quoted:
        span = Span(found.span.source, place.back(2).span.end, place.back(2).span.end)
        way_out = f"write `{place.back(2).text} NAME {place.rest(place.index - 1)}`"
        return miss("DRA0110", f"a subject is missing before `{taken.text}`", span, way_out, "the name of an object")
    if text in ("pod", "pods") and NUMBER.match(place.back(1).text):
        way_out = f"write `exactly {place.back(1).text} {text} ...`, or `at least`, `at most`"
        return miss("DRA0126", "a number of pods needs a quantifier", place.back(1).span, way_out)
    if place.back(1).text == "not" and place.back(2).text in PROPOSITION_STARTS:
        way_out = f"write `{text} does not run` or `{text} is not ...`"
        return miss("DRA0126", "`not` stands before the state", place.back(1).span, way_out)
    if text.startswith("//") or "//" in text:
        return miss("DRA0108", "comments start with `#`", found.span, "put a blank and `#` before the comment")
    if text in STATES:
        return miss("DRA0126", f"`is` is missing before `{text}`", found.span, f"write `is {text}`", "`is`")
    meant = PREDICATE_HABITS.get(text)
    if meant is not None:
        return miss("DRA0126", f"`{text}` is not a word of the language", found.span, f"write {meant}")
    return None


def what_is_left(place: Place) -> Diagnostic | None:
    """`has 2Gi left`."""
    if place.expected != {"LEFT"} or place.back(1).text != "left":
        return None
    way_out = f"write `{place.back(2).text} memory left`, for example"
    span = Span(place.found.span.source, place.back(2).span.end, place.back(2).span.end)
    return miss("DRA0110", "what is left has a name", span, way_out, "a name")


def claim_of_pod(place: Place) -> Diagnostic | None:
    """`claim gpu of train`, `allocated to gpu-0`."""
    if place.found.text == "of" and place.back(2).type == "CLAIM" and {"IS", "RUNS"} <= place.expected:
        way_out = f"write `{place.ahead().text}'s claim {place.back(1).text}`"
        return miss("DRA0126", "a claim of a pod is written with `'s`", place.found.span, way_out)
    if place.back(1).text in ("to", "at", "as") and place.back(2).text == "allocated" and place.found.type == "NAME":
        way_out = f"write `allocated {place.rest(place.index)}`"
        return miss("DRA0126", f"no `{place.back(1).text}` stands after `allocated`", place.back(1).span, way_out)
    return None


def runs_where(place: Place) -> Diagnostic | None:
    """`runs worker-1`, `runs with gpu-0 on worker-1`, `is running on worker-1 with gpu-0`."""
    found, before = place.found, place.back(1)
    if found.quoted or found.type in CLOSED_OR_SEPARATED:
        return None
    if found.text == "with" and "running" in place.words:
        return miss("DRA0126", "`is running` takes no devices", found.span, "write `runs on NODE with DEVICES`")
    if found.text == "on" and any(token.type == "WITH" for token in place.tokens[place.start : place.index]):
        return miss("DRA0110", "`on` stands before `with`", found.span, "write `runs on NODE with DEVICES`")
    if before.type in ("RUNS", "RUN") and {"ON", "WITH"} <= place.expected and found.text not in KEYWORDS:
        way_out = f"write `{before.text} on {found.text}`, or `with` before devices"
        message = f"`on` is missing after `{before.text}`"
        return miss("DRA0126", message, place.end_of_before, way_out, *in_backticks("on", "with"))
    return None
