"""IDs of shares stand for random ones: they never come again, whatever becomes of the scheduler. A fuzz found it."""

from pathlib import Path

from dralang.check.analysis import Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop

STORY = """
kubernetes 1.37
node w
slice s { driver: d.example.com; nodeName: w; device x { allowMultipleAllocations: true; capacity { b: 10Gi } } }
class d { where `device.driver == "d.example.com"` }
template t { request r: 1 of d { capacity: { requests: { b: 3Gi } } } }
pod a { claim r from t }
pod b { claim r from t }
scenario "shares after a restart" tagged regression {
  create a
  restart scheduler
  create b
  expect a, b run on w with x
  delete a
  expect a is gone
  expect device x has 7Gi b left
}
"""


def test_a_scheduler_that_starts_again_numbers_no_share_twice():
    analysis = Analyzer().text(Path("s.dra"), "s.dra", STORY.encode())
    assert not analysis.has_errors, analysis.diagnostics
    played = play(analysis.scenarios[0], Workshop())
    assert [failure.actual for failure in played.failures] == []
