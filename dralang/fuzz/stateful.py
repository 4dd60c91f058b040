"""State-machine mode: each next step of a story is drawn from what the simulated cluster looks like at that moment.

The fuzz gives the cluster, the pods that come (its holes filled) and what is expected in the end. What else happens,
and when, is drawn while the story is played: from the objects that exist, the pods that run, the devices that are
held, the events that are due. What comes out is a plain story, in time order: played, judged, shrunk and written down
as every other one.

Hypothesis' own state machines draw rules inside of Hypothesis; here a list of numbers is a whole example, because
that is what is replayed, remembered, and sent by worker processes. So the steps are drawn through the same chooser as
holes: Hypothesis shrinks and deletes numbers, which are steps.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from dralang.fuzz.moves import NOWHERE, Move, Moves
from dralang.run.actions import carry_out
from dralang.run.player import play_until
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.scenario import steps as s
from dralang.scenario.holes import Chooser, Drawn, Template
from dralang.scenario.model import Scenario
from dralang.syntax import nodes as n
from dralang.values.duration import format_duration

MOST_STEPS: Final = 40
_ONE_IN: Final = 16
"""A story ends after each step with this chance."""
_MOST_WAIT: Final = 60
_NEAR: Final = 60_000
"""Events that are due later are not waited for, in milliseconds."""


def draw_stateful(template: Template, chooser: Chooser, workshop: Workshop) -> Drawn:
    """Draw a story step by step.

    Args:
        template: the fuzz.
        chooser: answers everything that is drawn.
        workshop: makes the cluster in which the story unfolds.
    """
    filled = template.fill(chooser)
    if filled.diagnostics:
        return filled
    assert isinstance(filled.tree, n.Scenario)
    parts = _Parts(filled.tree)
    # With everything that may come: what exists from the start must not be what is created later.
    whole = template.tell(replace(filled, tree=parts.tree([*parts.frame, *parts.coming])))
    scenario = whole.scenario
    if scenario is None:
        return whole
    first = _first_step(scenario.steps, len(parts.coming))
    start = replace(scenario, steps=scenario.steps[:first], properties=())
    # Where even the beginning cannot be, the story is as it was drawn, and its failure is told.
    simulation, failure = play_until(start, workshop, 0)
    told: list[n.Statement] = []
    if failure is None:
        coming = _moves(parts.coming, scenario.steps[first:])
        told = _unfold(_moves_of(simulation, coming, scenario), chooser)
    return template.tell(replace(filled, tree=parts.tree([*parts.frame, *told, *parts.ending])))


def _first_step(steps: Sequence[s.Step], creations: int) -> int:
    """Where the steps of the last statements begin, which create pods: steps that create, then their consequences."""
    number = len(steps)
    while number and (creations or not isinstance(steps[number - 1], s.Consequences)):
        step = steps[number - 1]
        if not isinstance(step, s.Create | s.Consequences):
            break
        creations -= isinstance(step, s.Consequences)
        number -= 1
    return number


class _Parts:
    """The statements of a drawn story by their part in it; private to this module.

    Attributes:
        frame: what comes first: declarations, settings, properties and what else has no time of its own.
        coming: the creations of pods, in the order of their times.
        ending: what is expected in the end.
    """

    def __init__(self, tree: n.Scenario) -> None:
        self.original = tree
        self.frame: list[n.Statement] = []
        self.coming: list[n.Statement] = []
        self.ending: list[n.Statement] = []
        for statement in tree.body.statements:
            self._take(statement, timed=False)

    def _take(self, statement: n.Statement, *, timed: bool) -> None:
        match statement:
            case n.At() | n.After():
                inner = statement.body
                for each in inner.statements if isinstance(inner, n.Body) else (() if inner is None else (inner,)):
                    self._take(each, timed=True)
            case n.Create() if _is_of_pods(statement):
                self.coming.append(statement)
            case n.Expect():
                # What was to hold at a time need not hold at another one.
                if not timed and statement.within is None:
                    self.ending.append(statement)
            case n.Settle() | n.ObjectsAction() | n.FailNext() | n.SetCondition():
                # What happens to the cluster is drawn from what it looks like then.
                pass
            case n.Create() | n.Decl() | n.Call() | n.Property():
                self.frame.append(statement)
            case _:
                # Slow components, labels, fields: what was so from the start stays.
                if not timed and not self.coming:
                    self.frame.append(statement)

    def tree(self, statements: Sequence[n.Statement]) -> n.Scenario:
        """A scenario with these statements."""
        old = self.original
        return n.Scenario(old.span, old.title, old.tags, old.xfail, None, n.Body(old.body.span, tuple(statements)))


def _is_of_pods(statement: n.Create) -> bool:
    return all(ref.kind in ("", "pod") for ref in statement.objects)


def _moves(statements: Sequence[n.Statement], steps: Sequence[s.Step]) -> list[Move]:
    """The creations with what they do: after each the consequences are waited for."""
    moves: list[Move] = []
    done: list[Any] = []
    left = iter(statements)
    for step in steps:
        if isinstance(step, s.Consequences):
            moves.append(Move(next(left), tuple(done)))
            done = []
        else:
            done.append(step)
    return moves


def _moves_of(simulation: Simulation, coming: list[Move], scenario: Scenario) -> Moves:
    created = [step for move in coming for step in move.steps if isinstance(step, s.Create)]
    pods = [item for key, item in scenario.declared.items() if key.kind == "Pod"]
    known = {step.key for step in created}
    models = [s.Create(NOWHERE, item.key, item.object) for item in pods if item.key not in known]
    return Moves(simulation, coming, models or created, [*scenario.declared, *known])


def _unfold(moves: Moves, chooser: Chooser) -> list[n.Statement]:
    """Draw steps and carry them out, until the story is long enough."""
    simulation = moves.simulation
    told: list[n.Statement] = []
    while len(told) < MOST_STEPS and chooser.integer(0, _ONE_IN - 1):
        simulation.advance_before(_next_instant(simulation, chooser))
        told.append(_done(simulation, moves.draw(chooser)))
    return told + [_done(simulation, move) for move in moves.endings()]


def _done(simulation: Simulation, move: Move) -> n.Statement:
    """Carry out a move; what cannot be done does not happen, as in every drawn story."""
    for step in move.steps:
        carry_out(simulation, step)
    if not isinstance(move.statement, n.FailNext | n.Delay):  # which do nothing yet: nothing follows from them
        simulation.advance_to(simulation.now)
    if simulation.now == 0:
        return move.statement
    return n.At(NOWHERE, n.Word(NOWHERE, format_duration(simulation.now)), move.statement)


def _next_instant(simulation: Simulation, chooser: Chooser) -> int:
    """When the next step is taken: now, when something is due, right after it, once all is at rest, or later."""
    now = simulation.now
    due = simulation.events.next_time()
    near = due if due is not None and due <= now + _NEAR else now
    match chooser.integer(0, 4):
        case 0:
            return now
        case 1:
            return near
        case 2:
            return near + 1
        case 3:
            simulation.settle(now + _NEAR)
            return simulation.now + 1
        case _:
            return now + 1_000 * chooser.integer(1, _MOST_WAIT)
