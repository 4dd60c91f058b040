"""Cases answered and judged."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dralang.allocator.profiles import AllocatorProfile, allocator_profile
from dralang.allocator.replay import replay_allocation
from dralang.api.decode import DecodeError
from dralang.api.replay import ReplayError as ValidationReplayError
from dralang.api.replay import replay_validation
from dralang.cel.admission import admission_checker
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions
from dralang.cel.replay import replay_cel
from dralang.conform.cases import Case
from dralang.conform.compare import Difference, TextCheck, compare, text_checks
from dralang.run.replay import ReplayError as SchedulingReplayError
from dralang.run.replay import replay_scheduling

Json: TypeAlias = Any

Verdict = Literal["passed", "failed", "not recorded"]

MAX_SECONDS: Final = 24 * 3600
"""How much time of a cluster one step of a case may take."""
_POD: Final = re.compile(r"[^/]+/[^/]+")
_WAIT: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0}


class UnplayableError(Exception):
    """A case that contradicts itself, or asks for what does not exist; the message says why."""


class Answered(Struct, frozen=True):
    """A case with its answer.

    Attributes:
        case: what was asked.
        version: of which version of Kubernetes.
        verdict: whether the answer is the recorded one.
        answer: in the shape of ``want``; None where nobody wanted to know.
        difference: the first one, of a case that failed.
        texts: what is compared beside, and fails no case.
    """

    case: Case
    version: str
    verdict: Verdict
    answer: Json = None
    difference: Difference | None = None
    texts: tuple[TextCheck, ...] = ()


class Replayer:
    """Answers cases; what it keeps between them only saves work.

    Args:
        version: the version to answer for; None for each case's own.
        answer_all: whether cases without a recorded answer are answered too.
    """

    def __init__(self, version: str | None = None, *, answer_all: bool = False) -> None:
        self.version = version
        self.answer_all = answer_all
        self._expressions: dict[tuple[str, bool], CelExpressions] = {}

    def replay(self, case: Case) -> Answered:
        """Answer one case.

        Raises:
            UnplayableError: it cannot be played.
        """
        version = self.version or case.kubernetes
        want = case.wanted(version)
        if want is None:
            answer = self.answer(case, version) if self.answer_all else None
            return Answered(case, version, "not recorded", answer)
        first: tuple[Json, Difference] | None = None
        for answer in self._answers(case, version, want):
            difference = compare(case.kind, want, answer)
            if difference is None:
                return Answered(case, version, "passed", answer, None, text_checks(case.kind, want, answer))
            first = first or (answer, difference)
        assert first is not None, "every case has an answer"
        answer, difference = first
        return Answered(case, version, "failed", answer, difference, text_checks(case.kind, want, answer))

    def answer(self, case: Case, version: str) -> Json:
        """The answer to a case, whatever was recorded.

        Raises:
            UnplayableError: it cannot be played.
        """
        return next(self._answers(case, version, None))

    def _answers(self, case: Case, version: str, want: Json) -> Iterator[Json]:
        """Our answer, and after it others that are as right as that."""
        try:
            yield from self._players()[case.kind](case.data, version, want)
        except (DecodeError, ValidationReplayError, SchedulingReplayError) as error:
            raise UnplayableError(str(error)) from None
        except RecursionError:
            raise UnplayableError("an object is nested too deeply") from None

    def _players(self) -> Mapping[str, Callable[[Mapping[str, Json], str, Json], Iterator[Json]]]:
        return {
            "validation": self._validation,
            "cel": self._cel,
            "allocation": self._allocation,
            "scheduling": self._scheduling,
        }

    # ---- kinds ------------------------------------------------------------------------------------------------------

    def _validation(self, data: Mapping[str, Json], version: str, _want: Json) -> Iterator[Json]:
        yield replay_validation({**data, "kubernetes": version}, admission_checker)

    def _cel(self, data: Mapping[str, Json], version: str, _want: Json) -> Iterator[Json]:
        try:
            answer = replay_cel(data, version)
        except (ValueError, msgspec.ValidationError) as error:
            raise UnplayableError(f"the device cannot be read: {error}") from None
        yield answer

    def _allocation(self, data: Mapping[str, Json], version: str, want: Json) -> Iterator[Json]:
        _check_allocation(data)
        data = {"featureGates": {}, **data}
        gave_up = [number for number, step in enumerate(want or ()) if step["status"] == "timeout"]
        yield replay_allocation(data, self._of_profile, version, uncommitted=gave_up)
        if "sorted pools" in allocator_profile(version, data["featureGates"]).lacks:
            # The real allocator of this version visits pools in random order: what any order gives is right.
            slices = sum(each["kind"] == "ResourceSlice" for each in data["objects"])
            for rotation in range(1, slices):
                yield replay_allocation(data, self._of_profile, version, rotation=rotation, uncommitted=gave_up)

    def _of_profile(self, profile: AllocatorProfile) -> CelExpressions:
        key = (profile.version, profile.features.list_type_attributes)
        found = self._expressions.get(key)
        if found is None:
            environment = Environment(minor=parse_minor(profile.version), lists=profile.features.list_type_attributes)
            found = self._expressions[key] = CelExpressions(environment)
        return found

    def _scheduling(self, data: Mapping[str, Json], version: str, _want: Json) -> Iterator[Json]:
        _check_scheduling(data)
        yield replay_scheduling({**data, "kubernetes": version})


# ---- what cases must not say ----------------------------------------------------------------------------------------


def _check_allocation(data: Mapping[str, Json]) -> None:
    known: dict[str, set[str]] = {"Node": set(), "ResourceClaim": set()}
    for each in data["objects"]:
        if each["kind"] in known:
            meta = each["metadata"]
            name, namespace = meta.get("name", ""), meta.get("namespace", "")
            known[each["kind"]].add(f"{namespace}/{name}" if each["kind"] == "ResourceClaim" else name)
    for number, step in enumerate(data["steps"]):
        if step["node"] not in known["Node"]:
            raise UnplayableError(f"step {number + 1}: there is no node `{step['node']}`")
        for label in step["allocate"]:
            if label not in known["ResourceClaim"]:
                raise UnplayableError(f"step {number + 1}: there is no claim `{label}`")


def _check_scheduling(data: Mapping[str, Json]) -> None:
    for time in data.get("times", ()):
        if not 0 <= time <= MAX_SECONDS:
            raise UnplayableError(f"time {time} does not lie between 0 and {MAX_SECONDS:,} seconds")
    for number, step in enumerate(data["steps"]):
        for name in (*step.get("start", ()), *step.get("finish", ()), *step.get("fail", ())):
            if not _POD.fullmatch(name):
                raise UnplayableError(f"step {number + 1}: `{name}` is no `namespace/pod`")
        wait = step.get("wait", "")
        found = _WAIT.fullmatch(wait)
        if wait and found is None:
            raise UnplayableError(f"step {number + 1}: `{wait}` is no duration")
        if found is not None and float(found[1]) * _UNITS[found[2]] > MAX_SECONDS:
            raise UnplayableError(f"step {number + 1}: `{wait}` is more than {MAX_SECONDS:,} seconds")
