"""The page of `dralang run --format html`: what it shows, that it needs nothing else, that it is always the same."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.lanes import LaneRecorder, Lanes
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.testing.page import Shown, page
from dralang.testing.timescale import MOST, TimeScale

CLUSTER = """
kubernetes 1.37
gates { DRADeviceTaintRules: true }
node worker-1
node worker-2
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..1] }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
template two { request gpu: 2 of gpu }
pod train { claim gpu from one }
pod big { claim gpu from two }
pod plain { on node worker-2 }
"""
STORY = """
scenario "two on one node" {
  create train
  at 5s create big
  create plain
  at 10s cordon worker-2
  at 20s taint device gpu-1 with broken:NoSchedule
  at 30s expect big runs
  at 40s untaint device gpu-1 broken
  at 1m finish train
  at 2m expect big runs
  at 3m delete big
  at 4m expect big is gone
}
"""


def shown(text: str) -> list[Shown]:
    analysis = Analyzer().text(Path("a.dra"), "a.dra", text.encode())
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    result = []
    for scenario in analysis.scenarios:
        recorder = LaneRecorder()
        result.append(Shown(play(scenario, Workshop(), recorder.attach), recorder.lanes()))
    return result


def lanes() -> Lanes:
    return shown(CLUSTER + STORY)[0].lanes


def test_a_pod_is_where_it_is_when_it_is():
    pods = {
        pod.name: [(each.what.state, each.what.node, each.start, each.end) for each in pod.states]
        for pod in lanes().pods
    }
    assert pods["train"] == [("running", "worker-1", 0, 60_000), ("finished", "worker-1", 60_000, None)]
    waiting = [each for each in pods["big"] if each[0] == "waiting"]
    assert (waiting[0][2], waiting[-1][3]) == (5_000, 60_000)
    assert len(waiting) == 2  # the scheduler says something else once the taint is there
    assert pods["big"][2:] == [("running", "worker-1", 60_000, 180_000), ("ending", "worker-1", 180_000, 210_000)]
    assert pods["plain"] == [("running", "worker-2", 5_000, None)]


def test_a_device_is_held_and_tainted_when_it_is():
    devices = {device.name.rpartition("/")[2]: device for device in lanes().devices}
    held = [(each.what.users, each.start, each.end) for each in devices["gpu-0"].holdings]
    assert held == [(("train",), 0, 60_000), (("big",), 60_000, 210_000)]
    assert [(each.what, each.start, each.end) for each in devices["gpu-1"].taints] == [
        ("broken=:NoSchedule", 20_000, 40_000)
    ]
    assert {device.node for device in devices.values()} == {"worker-1"}


def test_a_node_is_cordoned_when_it_is():
    assert [(node.name, [(each.what, each.start) for each in node.marks]) for node in lanes().nodes] == [
        ("worker-1", []),
        ("worker-2", [("cordoned", 10_000)]),
    ]


def test_watching_changes_nothing():
    analysis = Analyzer().text(Path("a.dra"), "a.dra", (CLUSTER + STORY).encode())
    alone = play(analysis.scenarios[0], Workshop())
    watched = play(analysis.scenarios[0], Workshop(), LaneRecorder().attach)
    assert watched.trace == alone.trace
    assert watched.judged == alone.judged


class _Checked(HTMLParser):
    """Every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def checked(text: str) -> _Checked:
    parser = _Checked()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


def test_the_page_is_whole_and_shows_what_happened():
    found = checked(page(shown(CLUSTER + STORY), "a.dra"))
    text = "\n".join(found.texts)
    for part in (
        "two on one node", "node worker-1", "node worker-2", "no node yet", "gpu-1", "big", "3m", "expectations",
        "expect big runs", "pod big: waiting, 5s to 20s", "held by claim train-gpu-00001 (gpu), reserved for train",
        "tainted broken=:NoSchedule", "node worker-2 is cordoned", "FAILED: expect big runs", "why",
    ):  # fmt: skip
        assert part in text, part
    verdicts = [
        attrs["class"] for tag, attrs in found.tags if tag == "span" and "verdict" in (attrs.get("class") or "")
    ]
    assert verdicts == ["verdict failed"]


def test_the_page_needs_no_network_and_names_no_date():
    text = page(shown(CLUSTER + STORY), "a.dra")
    assert not re.search(r"https?:|//[a-z]|@import|<link|<img|src=|20\d\d-", text)


def test_the_same_bytes_in_every_run():
    assert page(shown(CLUSTER + STORY), "a.dra") == page(shown(CLUSTER + STORY), "a.dra")


def test_names_are_shown_and_never_obeyed():
    text = CLUSTER + 'scenario "<script>alert(1)</script> & \\"x\\"" {\n  create plain\n  expect plain runs\n}\n'
    found = checked(page(shown(text), "<b>.dra"))
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert [tag for tag, _ in found.tags].count("b") == 0


def test_a_scenario_in_which_nothing_happens_is_drawn_too():
    checked(page(shown('kubernetes 1.37\nscenario "empty" {\n  expect all pods are settled\n}\n'), "a.dra"))


@pytest.mark.parametrize("instants", [[], [0], [5], [0, 1, 2, 3_600_000], list(range(0, 3_000_000, 1000))])
def test_the_axis_keeps_the_order_and_its_bounds(instants):
    scale = TimeScale(instants, 800.0)
    places = [scale.x(instant) for instant in sorted({0, *instants})]
    assert places == sorted(set(places))
    assert places[0] == 0.0
    assert 800.0 - 1e-6 <= scale.width <= MOST + 1e-6
    assert scale.x(None) == scale.width
    marks = [place for _, place in scale.ticks(58)]
    assert all(after - before >= 58 for before, after in pairwise(marks))
