"""What all who watch a story of preemption share: counts, memory, and a look at the cluster."""

from collections import Counter

from stories.preempting_branches import BRANCHES, table

from dralang.api.allocation import AllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.simulation import Simulation
from dralang.scheduler.dynamicresources.nominations import ClaimNomination, Nominations
from dralang.scheduler.preemption import Candidate
from dralang.scheduler.scheduler import Scheduler


class Watched:
    """Counts over many stories, and what is known of the one that is told."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.cascades: list[str] = []
        """Second preemptions of a pod whose first one has not settled."""
        self._watching = False

    def begin(self, simulation: Simulation) -> None:
        """A story begins."""
        self.simulation = simulation
        self.preemptor: Pod | None = None
        self.best: Candidate | None = None
        self.replacing = 0
        self.owners: dict[str, dict[str, set[str]]] = {}
        """Node, victim's claim, and the preemptors that wait for it."""
        self.held_by_victims: dict[str, AllocationResult] = {}
        self.since: dict[str, int] = {}
        self.scheduled: dict[str, ClaimNomination] = {}
        self.impossible: dict[str, str] = {}
        self.surplus: dict[tuple[str, str, str], int] = {}
        self.waiters: dict[str, str] = {}
        self.stolen: set[str] = set()
        self.failed: set[str] = set()
        self.lost: dict[str, ClaimNomination] = {}
        self.late: set[str] = set()
        self._watching = True

    def end(self) -> None:
        """A story has come to rest; what is asked from now on is not part of it."""
        self._watching = False
        simulation = self.simulation
        trace = simulation.trace
        self.counts["stories"] += 1
        self.counts["stories that preempt"] += any(entry.reason == "Preempted" for entry in trace)

    def lines(self) -> list[str]:
        """A table of all counts."""
        return table(self.counts)

    def _count(self, name: str, *, when: bool = True) -> None:
        if when:
            assert name in BRANCHES, name
            self.counts[name] += 1

    # The cluster.

    @property
    def _scheduler(self) -> Scheduler:
        return self.simulation.scheduler

    @property
    def _nominations(self) -> Nominations:
        return self._scheduler.manager.nominations

    def _is_alive(self, uid: str) -> bool:
        """Whether the pod exists and does not end."""
        return any(
            each.metadata.uid == uid and each.metadata.deletion_timestamp is None for each in self.simulation.pods()
        )

    def _exists(self, uid: str) -> bool:
        return any(each.metadata.uid == uid for each in self.simulation.pods())

    def _claim_by_uid(self, uid: str) -> ResourceClaim | None:
        return next((each for each in self.simulation.claims() if each.metadata.uid == uid), None)

    def _users_gone(self, claim: str) -> bool:
        """Whether all pods that a victim's claim was reserved for are gone: t1 is over."""
        found = self._claim_by_uid(claim)
        return found is not None and not any(self._exists(each.uid) for each in found.status.reserved_for)


def devices_of(*allocations: AllocationResult) -> set[tuple[str, str, str]]:
    return {(each.driver, each.pool, each.device) for one in allocations for each in one.devices.results}


def results_of(nominations: list[ClaimNomination]) -> set[tuple[str, str, str]]:
    return devices_of(*(result for held in nominations for _, result in held.results))
