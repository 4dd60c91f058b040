"""What is half-written colours its own block only: the next declaration at column 1 looks as it always does."""

from random import Random
from time import perf_counter

import pytest
from extension_folder import GRAMMAR_TESTS, EditorToken, editor_tokens, install
from sentences import SentenceMaker

pytestmark = pytest.mark.slow

# What follows the broken text: one of each kind of line that ends whatever is still open.
FOLLOWERS = {
    "a scenario": 'scenario "next" {\n  create train\n  expect train runs on worker-1 with gpu-0\n}\n',
    "a fuzz": "fuzz \"next\" {\n  at any 0s..60s create train\n}\n",
    "a node": "node worker-1 { labels { zone: a } }\n",
    "a slice": "slice gpus {\n  driver: gpu.example.com\n  device gpu-[0..3] { capacity { memory: 80Gi } }\n}\n",
    "a class": "class gpu { where `device.driver == \"gpu.example.com\"` }\n",
    "a template": "template one { request gpu: 1 of gpu }\n",
    "a pod": "pod train { claim gpu from one }\n",
    "a fixture": "fixture gpu-node(name, gpus = 8) {\n  node ${name}\n}\n",
    "a version": "kubernetes 1.37\n",
    "a module": "use std.example.gpu-node as gpus\n",
    "gates": "gates { DRAPreemption: true }\n",
    "a property": "never more than 1 pod was preempted\n",
}  # fmt: skip
STRAY = ("{", "[", "(", '"', "`", "${", ",", "}", ")", "]", "'s", "any ", ":")


def broken(text: str, random: Random) -> str:
    """The text, cut off or with one bracket, quote or backtick too few or too many."""
    choice = random.randrange(3)
    at = random.randrange(1, len(text))
    if choice == 0:
        return text[:at]
    if choice == 1:
        return text[:at] + random.choice(STRAY) + text[at:]
    places = [place for place, character in enumerate(text) if character in '{}[]()"`']
    at = random.choice(places or [at])
    return text[:at] + text[at + 1 :]


def test_broken_text_colours_nothing_of_the_declaration_that_follows() -> None:
    install()
    random = Random(20260102)
    maker = SentenceMaker(random)
    sources = [path.read_text(encoding="utf-8") for path in sorted(GRAMMAR_TESTS.glob("*.dra"))]
    cases: list[tuple[str, str, str]] = []
    for number in range(900):
        text = random.choice(sources) if number % 9 == 0 else maker.scenario(6) if number % 2 else maker.item(10)
        name, follower = random.choice(sorted(FOLLOWERS.items()))
        cases.append((name, broken(text, random).rstrip("\n") + "\n" + follower, follower))
    alone = dict(zip(FOLLOWERS, editor_tokens(list(FOLLOWERS.values())), strict=True))
    wrong = []
    for (name, text, follower), lines in zip(cases, editor_tokens([text for _, text, _ in cases]), strict=True):
        found: list[list[EditorToken]] = lines[-follower.count("\n") - 1 :]
        if found != alone[name]:
            wrong.append(f"{name} after:\n{text}")
    assert wrong == [], f"{len(wrong)} of {len(cases)}"


HOSTILE_LINES = {
    "substitutions in a bracket without its end": "pod a[" + "${x}" * 4000,
    "substitutions without their ends": "pod " + "${" * 10_000,
    "brackets": "pod " + "a[" * 10_000,
    "open blocks": "pod a " + "{" * 20_000,
    "digits and units": "at " + "1h1m1s" * 3000 + "x",
    "dots": "pod " + "a." * 10_000,
    "signs": "pod " + "-+" * 10_000,
    "quotes": 'pod "' + '\\"' * 10_000,
    "a name that fills the line": "expect " + "a-" * 10_000,
    "names and commas": "create " + "a, " * 7000,
    "keywords": "expect " + "at least " * 2200,
    "blanks": "at" + " " * 20_000 + "x",
    "blanks and commas": "create a" + " ," * 10_000,
    "backticks": "where " + "`" * 20_000,
    "quotes in CEL": "expect `" + "\"'" * 10_000,
}  # fmt: skip


def test_no_line_keeps_the_editor_busy() -> None:
    install()
    began = perf_counter()
    editor_tokens([f"{line}\n" for line in HOSTILE_LINES.values()])
    # Two seconds on an idle machine; what tries 2**n ways takes longer than any.
    assert perf_counter() - began < 60
