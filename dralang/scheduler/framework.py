"""The vocabulary between the scheduling cycle and its plugins.

Source: k8s.io/kube-scheduler framework (Code, Status, CycleState), with typed state instead of a bag of anything.
"""

from collections import Counter
from collections.abc import Container, Hashable, Sequence
from enum import IntEnum
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from dralang.api.pods import Pod
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.node_info import NodeInfo, PodInfo

MAX_NODE_SCORE = 100


NominationEnd: TypeAlias = Literal["scheduled", "ended", "failed"]
"""How a nomination ends: the pod gets its place, or does without it, or its victims could not be deleted."""


class Code(IntEnum):
    """The outcome of a plugin, and what follows from it."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    """Rejected; evicting pods may help."""
    UNRESOLVABLE = 3
    """Upstream's UnschedulableAndUnresolvable: rejected, and evicting pods cannot help."""
    SKIP = 4
    """The plugin has nothing to say about this pod."""


# Looked up once: before Python 3.12 a member of an enumeration costs as much as a call.
_SUCCESS, _UNSCHEDULABLE, _UNRESOLVABLE = Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNRESOLVABLE


class Status:
    """Code, reasons and, once the framework has seen it, the plugin it came from.

    Attributes:
        is_success: whether the plugin agrees.
        personal: the reasons name the pod or what is its own, so they hold for no other pod.
    """

    __slots__ = ("_by", "code", "is_success", "personal", "plugin", "reasons")

    def __init__(self, code: Code, *reasons: str, plugin: str = "", personal: bool = False) -> None:
        self.code = code
        self.is_success = code is _SUCCESS
        self.reasons = reasons
        self.plugin = plugin
        self.personal = personal
        self._by: Status | None = None

    def __repr__(self) -> str:
        return f"Status({self.code.name}, {self.message!r}, plugin={self.plugin!r})"

    @property
    def message(self) -> str:
        """All reasons in one line."""
        return ", ".join(self.reasons)

    @property
    def is_rejected(self) -> bool:
        """Whether the pod was rejected, as opposed to an error."""
        return self.code is _UNSCHEDULABLE or self.code is _UNRESOLVABLE

    def by(self, plugin: str) -> "Status":
        """The same status as that of a plugin."""
        if self.plugin == plugin:
            return self
        known = self._by
        if known is None or known.plugin != plugin:
            # Most are constants of one plugin.
            known = self._by = Status(self.code, *self.reasons, plugin=plugin, personal=self.personal)
        return known


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)

State = TypeVar("State", bound="PluginState")


class PluginState(Protocol):
    """What a plugin keeps for one cycle."""

    def clone(self) -> "PluginState":
        """A copy that can be changed without changing this one."""


class StateKey(Generic[State]):
    """The typed name under which a plugin keeps its state."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class GroupCycle:
    """What the cycles of the members of one group share.

    Attributes:
        pending: the claims that were allocated for a member in this cycle, each with the members that use it.
    """

    __slots__ = ("pending",)

    def __init__(self) -> None:
        self.pending: dict[str, set[str]] = {}


class CycleState:
    """The state of all plugins for one scheduling cycle of one pod; each plugin writes only its own."""

    __slots__ = ("_data", "adders", "filters", "first_pass", "group", "skipped")

    def __init__(self) -> None:
        self._data: dict[str, PluginState] = {}
        self.group: GroupCycle | None = None
        """The cycle of the group that this one belongs to."""
        self.first_pass: CycleState | None = None
        """The state with the nominated pods, while a node that passed with them is looked at without them."""
        self.skipped: frozenset[str] = frozenset()
        """Plugins whose Filter has nothing to say about this pod."""
        self.filters: Sequence[Plugin] = ()
        """The others that have a Filter, in order."""
        self.adders: Sequence[Plugin] = ()
        """The others that want to know of pods that come and go."""

    def write(self, key: StateKey[State], value: State) -> None:
        """Keep a plugin's state."""
        self._data[key.name] = value

    def read(self, key: StateKey[State]) -> State | None:
        """A plugin's state, if it has any."""
        found: Any = self._data.get(key.name)
        answer: State | None = found
        return answer

    def clone(self) -> "CycleState":
        """A copy on which the effect of other pods can be tried."""
        copy = CycleState()
        copy.skipped = self.skipped
        copy.filters = self.filters
        copy.adders = self.adders
        copy.group = self.group
        copy._data = {name: value.clone() for name, value in self._data.items()}
        return copy


class Plugin:
    """A plugin with nothing to say; each plugin overrides the extension points it has.

    Attributes:
        name: upstream's name.
        has_filter, has_add_pod, has_score, has_post_filter: which extension points it has; the cycle skips the others.
        weight: of its score.
        wakes_on: the kinds of event for which `helps` can say yes; it is asked for no others.
        signs_pod_alone: whether `sign` depends on nothing but the pod's spec, and is never None.
    """

    name = ""
    wakes_on = frozenset(EventKind)
    signs_pod_alone = False
    weight = 1
    has_pre_filter = False
    has_filter = False
    has_add_pod = False
    has_score = False
    has_post_filter = False
    has_reserve = False
    has_nominations = False
    node_local_score = False
    """Whether the score depends on nothing but pod and node, and is not normalised."""
    score_signed_by = ""
    """The plugin whose Filter signs all of a pod that a node-local score looks at."""

    def switch_off(self, point: str) -> None:
        """Have nothing to say at an extension point, by its name in a KubeSchedulerConfiguration."""
        match point:
            case "preFilter":
                self.has_pre_filter = False
            case "filter":
                self.has_filter = False
            case "postFilter":
                self.has_post_filter = False
            case "score":
                self.has_score = False
            case _:
                pass  # preScore is part of score here

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """Everything about the pod that Filter and a node-local score look at; None if that cannot be said."""
        return None

    def only_node(self, state: CycleState, info: PodInfo) -> str:
        """The one node that Filter may let pass, if it rejects all others without a look at them; else empty."""
        return ""

    def pre_enqueue(self, pod: Pod) -> Status:
        """Whether the pod may enter the active queue."""
        return SUCCESS

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Whether a change may help a pod that this plugin rejected."""
        return False

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Prepare the cycle; may restrict it to the named nodes."""
        return SKIP, None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """Whether the pod can run on the node."""
        return SUCCESS

    def add_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Try what the other pod would change on the node."""
        return SUCCESS

    def remove_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Try what would change if the other pod left the node."""
        return SUCCESS

    def post_filter(self, state: CycleState, info: PodInfo, statuses: "NodeStatuses") -> tuple[Status, str | None]:
        """Try to make the pod schedulable; may nominate a node (an empty name clears the nomination)."""
        return Status(Code.UNSCHEDULABLE), None

    def add_nominated_pod(self, state: CycleState, info: PodInfo, node: NodeInfo, victims: Sequence[PodInfo]) -> None:
        """Preemption has chosen a node for a pod and who has to go."""

    def remove_nominated_pod(self, info: PodInfo, node: str, cause: NominationEnd) -> None:
        """The nomination of a pod has come to its end."""

    def obstacle_to_preemption(self, info: PodInfo, node: str) -> str:
        """Why a pod that is nominated to a node may not preempt again yet; empty if it may."""
        return ""

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Prepare scoring; SKIP leaves the plugin out."""
        return SUCCESS

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """How good the node is, before normalisation."""
        return 0

    def normalize(self, scores: list[int]) -> list[int]:
        """The scores between 0 and 100."""
        return scores

    def reserve(self, state: CycleState, info: PodInfo, node: str) -> Status:
        """Take what the pod needs, in memory."""
        return SUCCESS

    def unreserve(self, state: CycleState, info: PodInfo, node: str) -> None:
        """Give back what was reserved; called also if it was not."""


_UNLOOKED = Status(Code.UNRESOLVABLE)


class NodeStatuses:
    """Why each node was rejected; nodes without an own status share one.

    Attributes:
        own: by name of the node.
        absent: that of all others.
    """

    __slots__ = ("__weakref__", "_codes", "_plugins", "_reasons", "_summary", "absent", "own")

    def __init__(self) -> None:
        self.own: dict[str, Status] = {}
        self.absent = _UNLOOKED
        self._codes: Container[Code] | None = None
        self._plugins: frozenset[str] | None = None
        self._reasons: Counter[tuple[str, ...]] | None = None
        self._summary: tuple[int, str] | None = None

    @staticmethod
    def counted(
        own: dict[str, Status], reasons: Counter[tuple[str, ...]], codes: Counter[Code], plugins: Counter[str]
    ) -> "NodeStatuses":
        """Statuses that somebody has counted already; nothing may be added to them."""
        result = NodeStatuses()
        result.own = own
        result._reasons, result._codes, result._plugins = reasons, codes, frozenset(plugins)
        return result

    @property
    def plugins(self) -> frozenset[str]:
        """Who rejected some node."""
        return self._plugins or frozenset([status.plugin for status in self.own.values()])

    def summary(self, node_count: int) -> str:
        """How many nodes gave each reason, as text sorted by count and reason as one string."""
        if self._summary is not None and self._summary[0] == node_count:
            return self._summary[1]
        counts: dict[str, int] = {}
        if self._reasons is None:
            for status in self.own.values():
                for reason in status.reasons:
                    counts[reason] = counts.get(reason, 0) + 1
        else:
            # Most nodes say the same: what they say is taken apart once.
            for reasons, times in self._reasons.items():
                for reason in reasons:
                    counts[reason] = counts.get(reason, 0) + times
        others = node_count - len(self.own)
        if others > 0:
            for reason in self.absent.reasons:
                counts[reason] = counts.get(reason, 0) + others
        text = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        if self._reasons is not None:
            self._summary = (node_count, text)
        return text

    def of(self, node: str) -> Status:
        """The status of a node."""
        return self.own.get(node, self.absent)

    def any_is(self, code: Code) -> bool:
        """Whether some node can have a status of this kind."""
        if self._codes is not None:
            return code in self._codes or self.absent.code is code
        return self.absent.code is code or code in [status.code for status in self.own.values()]


class Diagnosis:
    """What a failed attempt found out.

    Attributes:
        node_count: how many nodes there were.
        statuses: why each rejected the pod.
        pre_filter_message: the reason if no node was looked at.
        post_filter_message: what was tried then.
        rejectors: the plugins that rejected the pod.
    """

    __slots__ = ("node_count", "post_filter_message", "pre_filter_message", "rejectors", "statuses")

    def __init__(self, node_count: int) -> None:
        self.node_count = node_count
        self.statuses = NodeStatuses()
        self.pre_filter_message = ""
        self.post_filter_message = ""
        self.rejectors: frozenset[str] = frozenset()

    def message(self) -> str:
        """The text of the PodScheduled condition.

        Source: kubernetes pkg/scheduler/framework/types.go FitError.Error.
        """
        text = f"0/{self.node_count} nodes are available:"
        if self.pre_filter_message:
            text += f" {self.pre_filter_message}."
        else:
            summary = self.statuses.summary(self.node_count)
            if summary:
                text += f" {summary}."
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text
