"""What can happen next in a cluster as it is at the moment, as statements of the language.

A move is a statement's tree and the step that carries it out; both say the same.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dralang.api.device import DeviceTaint
from dralang.api.kinds import KIND_OF_TYPE, KINDS
from dralang.api.nodes import Node
from dralang.api.pods import TERMINAL
from dralang.check import faults
from dralang.diagnostics.source import SourceFile, Span
from dralang.run import view
from dralang.run.actions import ChangeStep
from dralang.run.simulation import Simulation
from dralang.scenario import steps as s
from dralang.scenario.holes import Chooser
from dralang.scenario.keys import ObjectKey
from dralang.syntax import nodes as n
from dralang.values.duration import format_duration

T = TypeVar("T")
NOWHERE: Final = Span(SourceFile("drawn", ""), 0, 0)
TAINT: Final = "broken"
COMPONENTS: Final = tuple(name for name in faults.COMPONENTS if name != "pool-status-controller")
"""Components that may fail, stop and be slow."""
_EFFECTS: Final = ("NoSchedule", "NoExecute", "None")
_LONGEST_DELAY: Final = 3
_FURTHER: Final = 4
"""How many pods beyond those that the fuzz drew."""


class Move(Struct, frozen=True):
    """A statement, and what it does."""

    statement: n.Statement
    steps: tuple[ChangeStep, ...]


Maker: TypeAlias = Callable[[Chooser], Move]


class Moves:
    """The moves of one story: what may come, and what may happen to what is there.

    Args:
        simulation: the cluster.
        coming: the creations that the fuzz drew, in order.
        models: pods that are declared, for further ones like them.
        spoken_of: the objects that the text can name.
    """

    def __init__(
        self,
        simulation: Simulation,
        coming: Sequence[Move],
        models: Sequence[s.Create],
        spoken_of: Iterable[ObjectKey],
    ) -> None:
        self.simulation = simulation
        self.coming = list(coming)
        self.models = tuple(models)
        self.spoken_of = {*spoken_of}
        self.paused: list[str] = []
        self.further = 0

    def draw(self, chooser: Chooser) -> Move:
        """One of the moves that are possible now: which kind, then of what."""
        makers = self._possible()
        return makers[chooser.integer(0, len(makers) - 1)](chooser)

    def endings(self) -> list[Move]:
        """What lets the cluster come to rest."""
        return [self._component("resume", each) for each in list(self.paused)]

    def _possible(self) -> list[Maker]:
        """The kinds of moves, the simplest first. Creations count thrice, because everything else needs them."""
        makers: list[Maker] = []
        if self.coming:
            makers += [lambda _: self.coming.pop(0)] * 3
        elif self.models and self.further < _FURTHER:
            makers.append(self._another)
        there = [pod for pod in self.simulation.pods() if not view.is_terminating(pod)]
        alive = [pod for pod in there if pod.status.phase not in TERMINAL]
        waiting = [pod for pod in alive if not pod.spec.node_name]
        makers += self._each("delete", there)
        makers += self._each("finish", [pod for pod in alive if pod.status.phase == "Running"])
        makers += self._each("fail", [pod for pod in alive if pod.spec.node_name])
        makers += self._failing("bind", waiting)
        makers += self._failing("update", alive)
        claims = [claim for claim in self.simulation.claims() if not view.is_terminating(claim)]
        makers += self._each("delete", claims)
        makers += self._of_devices()
        nodes = self.simulation.nodes()
        makers += self._each("cordon", [node for node in nodes if not node.spec.unschedulable])
        makers += self._each("uncordon", [node for node in nodes if node.spec.unschedulable])
        return [*makers, *self._of_components()]

    # ---- objects ----------------------------------------------------------------------------------------------------

    def _another(self, chooser: Chooser) -> Move:
        """One more pod like one that is declared."""
        model = one(self.models, chooser)
        self.further += 1
        key = ObjectKey("Pod", model.key.namespace, f"further-{self.further}")
        self.spoken_of.add(key)
        pod: Any = model.object
        made = replace(pod, metadata=replace(pod.metadata, name=key.name))
        statement = n.Create(NOWHERE, (_ref(key),), _ref(model.key), None)
        return Move(statement, (s.Create(NOWHERE, key, made),))

    def _each(
        self, action: Literal["delete", "finish", "fail", "cordon", "uncordon"], objects: Iterable[Any]
    ) -> list[Maker]:
        """An action on any of these objects; nothing if the text can name none of them."""
        keys = self._named(objects)

        def make(chooser: Chooser) -> Move:
            key = one(keys, chooser)
            return Move(n.ObjectsAction(NOWHERE, action, (_ref(key),)), (s.Act(NOWHERE, action, key),))

        return [make] if keys else []

    def _failing(self, operation: Literal["bind", "update"], objects: Iterable[Any]) -> list[Maker]:
        """The next call about any of these objects fails."""
        keys = self._named(objects)

        def make(chooser: Chooser) -> Move:
            key = one(keys, chooser)
            return Move(n.FailNext(NOWHERE, None, operation, _ref(key)), (s.FailNext(NOWHERE, operation, key, 1),))

        return [make] if keys else []

    def _named(self, objects: Iterable[Any]) -> list[ObjectKey]:
        keys = [_key(each) for each in objects]
        return [key for key in keys if key in self.spoken_of or key.kind == "Node"]

    # ---- devices ----------------------------------------------------------------------------------------------------

    def _of_devices(self) -> list[Maker]:
        """Taints: on devices that somebody has, on those that nobody has, and away again."""
        held = {
            view.full_device_name(result) for claim in self.simulation.claims() for result in view.results_of(claim)
        }
        published = list(dict.fromkeys(each.full_name for each in view.all_published(self.simulation)))
        tainted = [
            (each.full_name, taint)
            for each in view.all_published(self.simulation)
            for taint in each.device.taints
            if taint.effect
        ]
        free = [name for name in published if name not in held]
        makers = [_tainting(names) for names in ([name for name in published if name in held], free) if names]
        return [*makers, _untainting(tainted)] if tainted else makers

    # ---- components -------------------------------------------------------------------------------------------------

    def _of_components(self) -> list[Maker]:
        """Components restart, stop, go on, and are slow."""
        names = list(self.simulation.components())
        known = [name for name in names if name in COMPONENTS]
        going = [name for name in known if name not in self.paused]
        makers: list[Maker] = [
            lambda chooser: self._component("restart", one(known, chooser)),
            lambda chooser: self._delay(one(known, chooser), chooser.integer(0, _LONGEST_DELAY)),
        ]
        if going:
            makers.append(lambda chooser: self._component("pause", one(going, chooser)))
        if self.paused:
            makers.append(lambda chooser: self._component("resume", one(self.paused, chooser)))
        return makers

    def _component(self, action: Literal["pause", "resume", "restart"], name: str) -> Move:
        if action == "pause":
            self.paused.append(name)
        elif action == "resume":
            self.paused.remove(name)
        return Move(n.ComponentAction(NOWHERE, action, _word(name)), (s.Component(NOWHERE, action, name),))

    def _delay(self, name: str, seconds: int) -> Move:
        statement = n.Delay(NOWHERE, _word(name), _word(format_duration(seconds * 1_000)))
        return Move(statement, (s.Component(NOWHERE, "delay", name, seconds * 1_000),))


def _tainting(names: Sequence[str]) -> Maker:
    def make(chooser: Chooser) -> Move:
        name, effect = one(names, chooser), one(_EFFECTS, chooser)
        target = n.Ref(NOWHERE, "device", _word(name))
        statement = n.TaintObject(NOWHERE, target, n.TaintSpec(NOWHERE, _word(TAINT), None, _word(effect)))
        return Move(statement, (s.TaintDevice(NOWHERE, name, DeviceTaint(key=TAINT, effect=effect)),))

    return make


def _untainting(tainted: Sequence[tuple[str, DeviceTaint]]) -> Maker:
    def make(chooser: Chooser) -> Move:
        name, taint = one(tainted, chooser)
        target = n.Ref(NOWHERE, "device", _word(name))
        statement = n.UntaintObject(NOWHERE, target, _word(taint.key), _word(taint.effect))
        return Move(statement, (s.UntaintDevice(NOWHERE, name, taint.key, taint.effect),))

    return make


def one(choices: Sequence[T], chooser: Chooser) -> T:
    """One of them, the first as the simplest."""
    return choices[chooser.integer(0, len(choices) - 1)]


def _word(text: str) -> n.Word:
    return n.Word(NOWHERE, text)


def _key(found: Any) -> ObjectKey:
    kind = KIND_OF_TYPE[type(found)].name
    return ObjectKey(kind, "" if isinstance(found, Node) else found.metadata.namespace, found.metadata.name)


def _ref(key: ObjectKey) -> n.Ref:
    return n.Ref(NOWHERE, KINDS[key.kind].keyword or "", _word(key.spoken))
