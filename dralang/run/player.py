"""A scenario played: its steps carried out in a simulated cluster, its expectations looked at.

Time: ``at T`` lets everything before T happen and then runs its statement. A bare ``expect`` settles first, never past
the next ``at``; ``at T expect`` looks after everything due at T. Properties are looked at after every single event.
"""

from collections.abc import Callable
from typing import Any, assert_never

from msgspec import Struct, structs

from dralang.cluster.errors import ApiError
from dralang.run import actions
from dralang.run.evaluate import Judgement, judge
from dralang.run.invariants.watch import SUMMARIES, Watch
from dralang.run.outcome import Failure, Judged, Played, Verdict, Why
from dralang.run.simulation import Environment, Simulation
from dralang.run.states import describe_pod
from dralang.run.why import why_claim, why_pod
from dralang.run.workshop import Workshop
from dralang.scenario import steps as s
from dralang.scenario.holes import Drawn, SmallestChooser
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import REGRESSION, Property, Scenario
from dralang.scenario.propositions import CanPreempt, Proposition, Statement
from dralang.values.duration import format_duration

MAX_FAILURES = 20
_NEVER = (-1, -1, -1)


def play(
    scenario: Scenario,
    workshop: Workshop,
    observe: Callable[[Simulation], None] | None = None,
    *,
    closely: bool = True,
    keeps: bool = False,
) -> Played:
    """Play a scenario from time 0 to its end.

    Args:
        scenario: what to play.
        workshop: makes the environment.
        observe: given the cluster before anything happens in it, to look on.
        closely: judge fuzzes as fuzzes are judged; else like any scenario, and nothing happens after its end.
        keeps: leave the cluster as it is, for whoever has looked on; else it is closed.
    """
    scenario = _simplest(scenario)
    if scenario.missing:
        return Played(scenario, "refused", (), scenario.missing, (), 0, 0)
    environment = workshop.environment(scenario.settings)
    if isinstance(environment, tuple):
        # Analysis has refused such gates; an override from the command line gets here.
        raise AssertionError("; ".join(problem.message for problem in environment))
    simulation = Simulation(environment)
    player = _Player(scenario, simulation, environment, closely=closely)
    if observe is not None:
        observe(simulation)
    played = player.run()
    if not keeps:
        simulation.close()
    return played


def _simplest(scenario: Scenario) -> Scenario:
    """Whoever fuzzes draws; who plays a fuzz as it stands sees its simplest story."""
    if scenario.template is None or scenario.missing:
        return scenario
    drawn: Drawn = scenario.template.draw(SmallestChooser())
    return structs.replace(scenario, missing=drawn.diagnostics) if drawn.scenario is None else drawn.scenario


def play_until(scenario: Scenario, workshop: Workshop, instant: int | None) -> tuple[Simulation, Failure | None]:
    """The cluster of a scenario at an instant, after everything that happens then; at its end if None.

    Expectations are not looked at. The second part is a statement before that instant that could not be carried out;
    then the cluster is that of this statement.

    Args:
        scenario: one that can be run: ``missing`` is empty.
        workshop: makes the environment.
        instant: milliseconds since the start.
    """
    scenario = _simplest(scenario)
    environment = workshop.environment(scenario.settings)
    if isinstance(environment, tuple):
        raise AssertionError("; ".join(problem.message for problem in environment))
    player = _PlayerUntil(scenario, Simulation(environment), environment, instant)
    return player.simulation, player.until()


class _Watched(Struct):
    """A property while it is watched."""

    prop: Property
    at_rest: bool
    seen: bool = False
    broken: bool = False


class _Player:
    """One run; private to this module."""

    def __init__(
        self, scenario: Scenario, simulation: Simulation, environment: Environment, *, closely: bool = True
    ) -> None:
        self.scenario = scenario
        self.simulation = simulation
        # What a fuzz has found is looked at as closely later.
        self.thorough = closely and (scenario.fuzz or REGRESSION in scenario.tags)
        self.watch = Watch(simulation, environment, thorough=self.thorough)
        self.passed_over = 0
        self.failures: list[Failure] = []
        self.judged: list[Judged] = []
        self.stopped = False
        self.previous = 0
        self.rested = _NEVER
        """Time, events and revision when the cluster at rest was looked at last."""
        self.watched = [_watched(prop) for prop in scenario.properties]

    def run(self) -> Played:
        self._start()
        for step in self.scenario.steps:
            if self.stopped:
                break
            self.step(step)
            if self.watch.violations:
                self._break_invariants()
        if not self.stopped and (self.watched or self.thorough):
            self._settle(None)
        self._finish_properties()
        if not self.stopped:
            self._look_at_rest()
        trace, end = tuple(self.simulation.trace), self.simulation.now
        final = self._final() if self.scenario.fuzz else ()
        self._break_invariants()
        if self.thorough and not self.stopped:
            # The story is told; what happens from here on belongs to nobody's record.
            self.watch.look_after_restart()
            self._break_invariants()
        return Played(
            self.scenario,
            self._verdict(),
            tuple(self.failures),
            (),
            trace,
            end,
            len(self.judged),
            tuple(self.judged),
            final,
        )

    def _final(self) -> tuple[tuple[str, str], ...]:
        """How each pod ended, for those who compare."""
        simulation = self.simulation
        keys = [ObjectKey("Pod", pod.metadata.namespace, pod.metadata.name) for pod in simulation.pods()]
        described = [
            (key.spoken, describe_pod(simulation, key.spoken, simulation.pod(key.namespace, key.name))) for key in keys
        ]
        return tuple([(name, text.partition(" because ")[0]) for name, text in sorted(described)])

    def _start(self) -> None:
        # What is declared exists together, whatever the order of the text; a namespace lets its objects in.
        initial = sorted(self.scenario.initial, key=lambda declared: declared.key.kind != "Namespace")
        refused = self.simulation.load([declared.object for declared in initial])  # type: ignore[misc]  # kinds of the API
        for error in refused:
            self._fail(Failure(self.scenario.span, "create", 0, "the declared objects exist", error.message))
        # The story begins with a cluster at rest: what was declared is known to every component.
        self.simulation.advance_to(0)
        self.simulation.journal.entries.clear()
        self.watch.begin()
        if self.watched:
            self._look_on()
        if refused:
            self.stopped = True

    def _verdict(self) -> Verdict:
        if self.scenario.xfail is not None:
            return "xfailed" if self.failures else "xpassed"
        return "failed" if self.failures else "passed"

    def _fail(self, failure: Failure) -> None:
        self.failures.append(failure)
        if len(self.failures) >= MAX_FAILURES:
            self.stopped = True

    # ---- steps ------------------------------------------------------------------------------------------------------

    def step(self, step: s.Step) -> None:
        """Carry out one step."""
        match step:
            case s.Advance():
                self._advance(step)
                return
            case s.Consequences():
                self.simulation.advance_to(self.simulation.now)
            case s.Settle():
                self._settle(step.limit)
            case s.Expect():
                self._expect(step)
            case s.Watch():
                self._watch(step)
            case _:
                error = actions.carry_out(self.simulation, step)
                if isinstance(step, s.Component):
                    self.watch.slowed_down()
                    self.rested = _NEVER
                if error is not None:
                    self._fail_action(step, error)
                self._look_at_properties(self.simulation)
        self.previous = self.simulation.now

    def _advance(self, step: s.Advance) -> None:
        target = self.previous + step.time if step.relative else step.time
        if self.scenario.fuzz:
            target = max(target, self.simulation.now)  # a drawn time that has passed is now
        if target < self.simulation.now:
            now = format_duration(self.simulation.now)
            self._fail(
                Failure(
                    step.span,
                    "at",
                    self.simulation.now,
                    f"the clock stands at {format_duration(target)} or before",
                    f"it is {now} already: time only moves forward",
                    after=len(self.simulation.trace),
                )
            )
            self.stopped = True
            return
        if not self.simulation.advance_before(target):
            if self.thorough:
                self.watch.look_at_unrest()
                self.stopped = True
                return
            actual = f"too much happens before: it is {format_duration(self.simulation.now)}"
            before = len(self.simulation.trace)
            wanted = f"the clock reaches {format_duration(target)}"
            self._fail(Failure(step.span, "at", self.simulation.now, wanted, actual, after=before))
            self.stopped = True

    def _settle(self, limit: int | None) -> bool:
        settled = self.simulation.settle(limit)
        if self.thorough:
            if settled:
                self._look_at_rest()
            elif limit is None and self.simulation.events.next_time() is not None:
                self.watch.look_at_unrest()
        return settled

    def _look_at_rest(self) -> None:
        """Look at the cluster at rest, unless it was looked at and nothing has happened since."""
        simulation = self.simulation
        seen = (simulation.now, simulation.events.executed, simulation.store.revision)
        if seen != self.rested:
            self.rested = seen
            self.watch.look_at_rest()

    def _break_invariants(self) -> None:
        """An invariant that did not hold is a failure of the whole scenario."""
        self.watch.look_back()
        found, self.watch.violations = self.watch.violations, []
        for violation in found:
            self._fail(
                Failure(
                    self.scenario.span,
                    "invariant",
                    violation.time,
                    f"{violation.invariant} (std.invariants): {SUMMARIES[violation.invariant]}",
                    violation.actual,
                    after=violation.after,
                )
            )
        if found:
            self.stopped = True

    def _fail_action(self, step: s.Step, error: ApiError | str) -> None:
        if self.scenario.fuzz:
            # Drawn stories delete what has gone already: what cannot be done does not happen.
            self.passed_over += 1
            return
        message = error if isinstance(error, str) else f"{error.reason}: {error.message}"
        # `create a, b` is a step for each, whose place is the name.
        keyword = (
            "create"
            if isinstance(step, s.Create)
            else step.action
            if isinstance(step, s.Act)
            else step.span.text.split(None, 1)[0]
        )
        self._fail(
            Failure(
                step.span,
                keyword,
                self.simulation.now,
                "the API server takes it",
                message,
                after=len(self.simulation.trace),
            )
        )
        self.stopped = True

    # ---- expectations -----------------------------------------------------------------------------------------------

    def _expect(self, step: s.Expect) -> None:
        restless = ""
        match step.when:
            case "settled":
                if not self._settle(step.limit) and step.limit is None:
                    restless = "; the cluster never comes to rest"
                judgement = judge(self.simulation, step.proposition)
            case "due":
                if not self.simulation.advance_to(self.simulation.now):
                    restless = "; too much happens at this instant"
                judgement = judge(self.simulation, step.proposition)
            case "within":
                judgement = self._within(step)
            case _:
                assert_never(step.when)
        kind = "within" if step.when == "within" else "expect"
        self.judged.append(Judged(step.span, kind, self.simulation.now, judgement.holds))
        if not judgement.holds:
            self._fail(self._failure(step.span, kind, step.proposition, judgement, restless))

    def _within(self, step: s.Expect) -> Judgement:
        """Look now and after every event until the time is over."""
        deadline = self.simulation.now + step.duration
        judgement = judge(self.simulation, step.proposition)
        while not judgement.holds:
            due = self.simulation.events.next_time()
            if due is None or due > deadline:
                self.simulation.advance_to(deadline)
                break
            self.simulation.step()
            judgement = judge(self.simulation, step.proposition)
        return judgement

    def _failure(self, span: Any, kind: str, proposition: Proposition, judgement: Judgement, more: str = "") -> Failure:
        why: list[Why] = []
        for key in judgement.pods[:3]:
            reasons = why_pod(self.simulation, key)
            why += [Why(f"pod {key.name}", reasons)] if len(judgement.pods) > 1 and reasons else reasons
        for key in judgement.claims[:3]:
            why += why_claim(self.simulation, key)
        return Failure(
            span,
            kind,
            self.simulation.now,
            _said(proposition) if kind in ("expect", "within") else f"{kind} {_said(proposition)}",
            judgement.actual + more,
            tuple(why),
            len(self.simulation.trace),
        )

    # ---- properties -------------------------------------------------------------------------------------------------

    def _watch(self, step: s.Watch) -> None:
        self.watched.append(_watched(Property(step.keyword, step.proposition, step.span)))
        self._look_on()

    def _look_on(self) -> None:
        at_rest = all(watched.at_rest for watched in self.watched)
        self.simulation.look_on(self._look_at_properties, at_rest=at_rest)
        self._look_at_properties(self.simulation)

    def _look_at_properties(self, simulation: Simulation) -> None:
        for watched in self.watched:
            if watched.broken or (watched.seen and watched.prop.keyword == "witness"):
                continue
            if watched.at_rest and simulation.events.near_count:
                continue
            keyword = watched.prop.keyword
            judgement = judge(simulation, watched.prop.proposition)
            watched.seen = watched.seen or judgement.holds
            if keyword != "witness" and judgement.holds == (keyword == "never"):
                watched.broken = True
                self._fail(self._failure(watched.prop.span, keyword, watched.prop.proposition, judgement))

    def _finish_properties(self) -> None:
        for watched in self.watched:
            prop = watched.prop
            holds = watched.seen if prop.keyword == "witness" else not watched.broken
            self.judged.append(Judged(prop.span, prop.keyword, self.simulation.now, holds))
            if watched.prop.keyword == "witness" and not watched.seen:
                judgement = judge(self.simulation, watched.prop.proposition)
                self._fail(self._failure(watched.prop.span, "witness", watched.prop.proposition, judgement))


class _PlayerUntil(_Player):
    """A run that stops at an instant; private to this module."""

    def __init__(
        self, scenario: Scenario, simulation: Simulation, environment: Environment, instant: int | None
    ) -> None:
        super().__init__(scenario, simulation, environment)
        self.instant = instant
        self.watched = []

    def until(self) -> Failure | None:
        """Run; returns what could not be carried out."""
        self._start()
        for step in self.scenario.steps:
            if self.stopped:
                break
            self.step(step)
        if self.failures:
            return self.failures[0]
        if self.instant is not None:
            self.simulation.advance_to(self.instant)
        elif self.scenario.properties or self.thorough:
            self.simulation.settle()
        return None

    def _advance(self, step: s.Advance) -> None:
        target = self.previous + step.time if step.relative else step.time
        if self.instant is not None and target > self.instant:
            self.stopped = True
        else:
            super()._advance(step)

    def _settle(self, limit: int | None) -> bool:
        if self.instant is not None:
            limit = self.instant if limit is None else min(limit, self.instant)
        rests = self.simulation.settle(limit)
        # What comes next in the text happens later than the instant.
        self.stopped = self.stopped or (not rests and self.simulation.now == self.instant)
        return rests

    def _expect(self, step: s.Expect) -> None:
        """Only the time that an expectation takes."""
        if step.when == "settled":
            self._settle(step.limit)
        elif step.when == "due":
            self.simulation.advance_to(self.simulation.now)
        else:
            self._within_until(step)

    def _within_until(self, step: s.Expect) -> None:
        deadline = self.simulation.now + step.duration
        while not judge(self.simulation, step.proposition).holds:
            due = self.simulation.events.next_time()
            if self.instant is not None and min(deadline, deadline if due is None else due) > self.instant:
                self.stopped = True
                return
            if due is None or due > deadline:
                self.simulation.advance_to(deadline)
                return
            self.simulation.step()

    def _watch(self, step: s.Watch) -> None:
        """Properties take no time."""


def _watched(prop: Property) -> _Watched:
    """Nobody starves as long as something is being done that may help: such a property means a cluster at rest."""
    proposition = prop.proposition
    about_rest = isinstance(proposition, Statement) and isinstance(proposition.predicate, CanPreempt)
    return _Watched(prop, about_rest and prop.keyword != "witness")


def _said(proposition: Proposition) -> str:
    return " ".join(proposition.span.text.split())
