"""One rule of the two KEPs switched off at a time: does a spec of that very clause notice?

`python tests/rule_mutants.py` tries all and writes docs/rule-mutants.md; a test tries a sample.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "rule-mutants.md"
MOST = 10
"""A change that breaks more specs than this says nothing about one rule."""
_PLAY = """
import json, sys
from pathlib import Path
from dralang.check.analysis import Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop
workshop, failed = Workshop(), []
for folder in ("specs/kep-5690", "specs/kep-6406"):
    for path in sorted(Path(folder).glob("*.dra")):
        for scenario in Analyzer().path(path).scenarios:
            try:
                verdict = play(scenario, workshop).verdict
            except Exception as error:
                verdict = type(error).__name__
            if verdict != "passed":
                failed.append((path.parent.name + "/" + path.name, scenario.title, list(scenario.tags)))
json.dump(failed, sys.stdout)
"""


class Mutant(NamedTuple):
    """A rule, and how to switch it off.

    Attributes:
        rule: what holds.
        rows: the rows of docs/kep-5690.md, or the spec, that must notice.
        file: where it is done.
        old: the code that does it.
        new: the code that does not.
        more: further changes that belong to it: file, old, new.
    """

    rule: str
    rows: tuple[str, ...]
    file: str
    old: str
    new: str
    more: tuple[tuple[str, str, str], ...] = ()


_SIMULATE = "dralang/scheduler/dynamicresources/simulate.py"
_HOLDING = "dralang/scheduler/dynamicresources/holding.py"
_PLUGIN = "dralang/scheduler/dynamicresources/plugin.py"
_RESERVATIONS = "dralang/scheduler/dynamicresources/binding.py"
_CYCLE = "dralang/scheduler/cycle.py"
_PREEMPTION = "dralang/scheduler/preemption.py"
_EXTENDED = "dralang/scheduler/dynamicresources/extended_resources.py"
_DATA = "dralang/scheduler/dynamicresources/cycle_data.py"
_VERIFY = "dralang/allocator/verify.py"
_NOMINATIONS = "dralang/scheduler/dynamicresources/nominations.py"
_UNITS = "dralang/scheduler/dynamicresources/units.py"

MUTANTS = (
    Mutant(
        "the gate decides",
        ("P1",),
        _PLUGIN,
        'self.has_nominations = features.enabled("DRAPreemption")',
        "self.has_nominations = True",
    ),
    Mutant(
        "a claim is released only if all of its users are gone",
        ("P11",),
        _SIMULATE,
        "        if not users <= set(gone):\n            return False\n",
        "",
    ),
    Mutant(
        "all devices of a claim must be local",
        ("P7",),
        _SIMULATE,
        "return all(is_local(inventory, each)",
        "return any(is_local(inventory, each)",
    ),
    Mutant(
        "only devices of a named node are local",
        ("P6",),
        _SIMULATE,
        "        return spec.node_name is not None\n",
        "        return True\n",
    ),
    Mutant(
        "a member of a PodGroup frees nothing",
        ("P9",),
        _SIMULATE,
        "if in_group(victim) or (not self._frees_named and self._has_extended_resources(victim)):",
        "if self._has_extended_resources(victim):",
    ),
    Mutant(
        "a preemptor with extended resources frees nothing",
        ("P10",),
        _PLUGIN,
        "hopeful = refused is CANNOT_ALLOCATE and self.preempts and special is None",
        "hopeful = refused is CANNOT_ALLOCATE and self.preempts",
        ((_SIMULATE, "return not data.special and not in_group", "return not in_group"),),
    ),
    Mutant(
        "one user that is put back holds a shared claim again",
        ("P11",),
        _SIMULATE,
        "            data.change(self._manager, self._manager.plus(data.allocated, claim, allocation))\n",
        "            if len(claim.status.reserved_for) < 2:\n"
        "                data.change(self._manager, self._manager.plus(data.allocated, claim, allocation))\n",
    ),
    Mutant(
        "users that are terminating do not count",
        ("P12",),
        _HOLDING,
        "self._simulator.is_releasable(victim, claim, allocation, gone | self._simulator.going(claim))",
        "self._simulator.is_releasable(victim, claim, allocation, gone)",
    ),
    Mutant(
        "clones keep their own state",
        ("P27",),
        _DATA,
        "copy = StateData(self.effects.clone())",
        "copy = StateData(self.effects)",
    ),
    Mutant(
        "a nomination holds the preemptor's devices",
        ("P19",),
        _SIMULATE,
        "                data.change(manager, manager.plus(data.allocated, claim, result))\n",
        "                pass\n",
    ),
    Mutant(
        "what victims still hold is not counted beside what the preemptor takes",
        ("P27", "P28"),
        _SIMULATE,
        "                data.change(manager, manager.without(data.allocated, allocation))\n"
        "        for claim, result in nomination.results:\n",
        "        for claim, result in nomination.results:\n",
    ),
    Mutant(
        "nominated pods count for pods of the same priority",
        ("P19", "P25"),
        _CYCLE,
        "if other.priority >= info.priority and other.uid != info.uid\n",
        "if other.priority > info.priority and other.uid != info.uid\n",
    ),
    Mutant(
        "nominated pods do not count for more important pods",
        ("P20",),
        _CYCLE,
        "if other.priority >= info.priority and other.uid != info.uid\n",
        "if other.uid != info.uid\n",
    ),
    Mutant(
        "there is a second pass",
        ("P22",),
        _CYCLE,
        "            state.first_pass = tried_state\n"
        "            status = self._run_filters(state, info, node)\n"
        "            state.first_pass = None\n"
        "            return status\n",
        "            return status\n",
    ),
    Mutant(
        "the second pass does not search",
        ("P24",),
        _CYCLE,
        "            state.first_pass = tried_state\n",
        "",
    ),
    Mutant(
        "the second pass checks the result of the first",
        ("P22",),
        _PLUGIN,
        "if is_feasible(attempt, node.api, checked):",
        "if final or is_feasible(attempt, node.api, checked):",
    ),
    Mutant(
        "the recorded results are used first",
        ("P29",),
        _HOLDING,
        "        held = self._manager.nominations.on(info.uid, node.name)\n        if held is None or data.special",
        "        held = None\n        if held is None or data.special",
    ),
    Mutant(
        "recorded results that are impossible are given up",
        ("P30",),
        _PLUGIN,
        "        if final:\n            return CANNOT_ALLOCATE",
        "        if final or results is not None:\n            return CANNOT_ALLOCATE",
    ),
    Mutant(
        "victims' claims defer the next preemption",
        ("P16",),
        _HOLDING,
        '        return STILL_RECLAIMED if nominations.victims_on(node) else ""',
        '        return ""',
    ),
    Mutant(
        "terminating pods defer the next preemption",
        ("P15",),
        _PREEMPTION,
        "                if other.priority < info.priority and _is_being_preempted(other.pod):\n",
        "                if other.priority > info.priority and _is_being_preempted(other.pod):\n",
    ),
    Mutant(
        "after t3 a pod may preempt again",
        ("P36", "P20"),
        _PREEMPTION,
        "return self._scheduler.algorithm.obstacle_to_preemption(info, nominated)\n",
        "return self._scheduler.algorithm.obstacle_to_preemption(info, nominated) or 'not again'\n",
    ),
    Mutant(
        "victims' claims are waited for by node, although their preemptor is gone",
        ("P37",),
        _HOLDING,
        '        if cause == "failed":\n            nominations.forget_victims',
        '        if cause != "scheduled":\n            nominations.forget_victims',
    ),
    Mutant(
        "a failed deletion ends the wait",
        ("P35",),
        _HOLDING,
        '        if cause == "failed":\n            nominations.forget_victims(',
        '        if cause == "never":\n            nominations.forget_victims(',
    ),
    Mutant(
        "a failed deletion ends the wait also where the nomination had ended before",
        ("P35",),
        _PREEMPTION,
        '            scheduler.algorithm.remove_nominated_pod(info, node, "failed")\n',
        "            pass\n",
    ),
    Mutant(
        "a failed deletion ends the nomination",
        ("P35", "open-questions.dra"),
        _PREEMPTION,
        '        if "refused" in outcomes and scheduler.algorithm.knows_nominations:\n',
        "        if False:\n",
    ),
    Mutant(
        "the end of a nomination after t3 wakes who was blocked",
        ("P31",),
        _HOLDING,
        "        for claim, result in removed.results:\n            held = replace",
        "        for claim, result in ():\n            held = replace",
    ),
    Mutant(
        "the first of several victims' claims does not wake the preemptor",
        ("P33",),
        _HOLDING,
        "        if held is None:\n            return True\n        claim: ResourceClaim",
        "        return True\n        claim: ResourceClaim",
    ),
    Mutant(
        "other claims wake the preemptor as ever",
        ("P34",),
        _HOLDING,
        "return not (nominations.was_waited_for(claim.metadata.uid, held.node) and nominations.victims_on(held.node))",
        "return not nominations.victims_on(held.node)",
    ),
    Mutant(
        "a nomination ends with the nominated node",
        ("P32", "P31"),
        "dralang/scheduler/nominator.py",
        "            self._ended(info, node, cause)\n",
        '            if cause != "ended":\n                self._ended(info, node, cause)\n',
    ),
    Mutant(
        "a victim that waits in PreBind gives its devices back",
        ("P47",),
        _RESERVATIONS,
        "    if deallocates and not remaining:\n",
        "    if False:\n",
    ),
    Mutant(
        "and also one whose binding fails before it is told",
        ("P47",),
        _PREEMPTION,
        "                self._scheduler.binder.foretell(binding)\n",
        "                pass\n",
    ),
    Mutant(
        "and the scheduler knows at once that they are free",
        ("P47",),
        _RESERVATIONS,
        "        manager.assume(written)  #",
        "        pass  #",
    ),
    Mutant(
        "a share that is held is a share, not a device",
        ("P41", "P28"),
        _VERIFY,
        "    return recorded == {name: amount for name, amount, _ in amounts.taken}\n",
        "    return not recorded\n",
    ),
    Mutant(
        "a refusal by the second pass can be helped by preemption",
        ("P18", "P25"),
        _PLUGIN,
        "return CANNOT_ALLOCATE if data.special else _CANNOT_ALLOCATE_NOW",
        "return CANNOT_ALLOCATE",
    ),
    Mutant(
        "the least important pods are the victims",
        ("preemption-simulation.dra",),
        _PREEMPTION,
        "        return -info.priority, parse_time(started)",
        "        return info.priority, parse_time(started)",
    ),
    Mutant(
        "only what is needed goes",
        ("P3", "P4"),
        _PREEMPTION,
        "                    spared.append(other)\n                    continue\n",
        "                    pass\n",
    ),
    Mutant(
        "nobody of the same priority goes",
        ("preemption-simulation.dra",),
        _PREEMPTION,
        "possible = [other for other in node.pods.values() if other.priority < info.priority]",
        "possible = [other for other in node.pods.values() if other.priority <= info.priority]",
    ),
    Mutant(
        "KEP-6406: the amounts of the class stand in its requests",
        ("scheduler-changes.dra",),
        _EXTENDED,
        "capacity=class_.spec.extended_resource_capacity_requests,",
        "capacity=class_.spec.extended_resource_capacity_requests if wanted - have > 1 else None,",
    ),
    Mutant(
        "KEP-6406: also in those for several units",
        ("notes-constraints-caveats.dra",),
        _EXTENDED,
        "capacity=class_.spec.extended_resource_capacity_requests,",
        "capacity=class_.spec.extended_resource_capacity_requests if wanted - have == 1 else None,",
    ),
    Mutant(
        "KEP-6406: without the gate the field is dropped",
        ("validation-without-the-gate.dra",),
        "dralang/api/gated.py",
        '_field("DRAExtendedResourceCapacity", "extended_resource_capacity_requests"),',
        "",
    ),
    Mutant(
        "KEP-6406: each container has requests of its own",
        ("notes-constraints-caveats.dra",),
        _EXTENDED,
        '    name = f"container-{index}-request-{sorted(requested).index(resource)}"\n',
        '    wanted = min(wanted, 1)\n    name = f"container-{index}-request-{sorted(requested).index(resource)}"\n',
    ),
    Mutant(
        "read so: a node that cannot be used defers",
        ("other-readings.dra",),
        _PREEMPTION,
        "defers = UNUSABLE_NODE_DEFERS in self._scheduler.readings",
        "defers = False",
    ),
    Mutant(
        "read so: a dry run ignores users that are terminating",
        ("other-readings.dra",),
        _SIMULATE,
        "self._ignores_terminating = TERMINATING_USERS_RELEASE in readings",
        "self._ignores_terminating = False",
    ),
    Mutant(
        "read so: a claim that is waited for takes no users",
        ("other-readings.dra",),
        _PLUGIN,
        "self._closes_claims = self.preempts and TRACKED_CLAIMS_CLOSED in readings",
        "self._closes_claims = False",
    ),
    Mutant(
        "read so: except more important ones",
        ("other-readings.dra",),
        _NOMINATIONS,
        "return all(self._by_pod[pod].priority < priority for",
        "return all(self._by_pod[pod].priority < 0 for",
    ),
    Mutant(
        "read so: no claim wakes the preemptor",
        ("other-readings.dra",),
        _HOLDING,
        "if HINT_WITHHOLDS_ALL in self._readings:",
        "if False:",
    ),
    Mutant(
        "read so: claims of victims that did go stay tracked",
        ("other-readings.dra",),
        _HOLDING,
        "self._leaving(node) if FAILURE_KEEPS_GONE in self._readings else ()",
        "()",
    ),
    Mutant(
        "read so: only the claims of its own victims defer a pod",
        ("other-readings.dra",),
        _HOLDING,
        "if OWN_VICTIMS_DEFER in self._readings:",
        "if False:",
    ),
    Mutant(
        "read so: a victim with extended resources frees its other claims",
        ("other-readings.dra",),
        _SIMULATE,
        "self._frees_named = OTHER_CLAIMS_RELEASED in readings",
        "self._frees_named = False",
    ),
    Mutant(
        "read so: the status says who is nominated",
        ("other-readings.dra",),
        _CYCLE,
        "if not self._nominating or self._nominates_by_status:",
        "if not self._nominating:",
    ),
    Mutant(
        "KEP-6406, read so: units may share a device",
        ("other-readings.dra",),
        _PLUGIN,
        "self._units_share = UNITS_SHARE in readings",
        "self._units_share = False",
    ),
    Mutant(
        "KEP-6406, read so: units are results of one request",
        ("other-readings.dra",),
        _UNITS,
        "results = tuple(replace(each, request=names.get(each.request, each.request)) for",
        "results = tuple(each for",
    ),
    Mutant(
        "KEP-6406, read so: implicit names request no capacity",
        ("other-readings.dra",),
        _PLUGIN,
        "implicit_plain=IMPLICIT_NAMES_PLAIN in readings",
        "implicit_plain=False",
    ),
)


class Outcome(NamedTuple):
    """What noticed a mutant: the specs, and whether one of its own clause did."""

    specs: tuple[str, ...]
    scenarios: int
    caught: bool


def attempt(mutant: Mutant) -> Outcome:
    """Play all specs with one rule switched off."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for entry in ROOT.iterdir():
            if not entry.name.startswith(".") and entry.name != "dralang":
                (copy / entry.name).symlink_to(entry)
        shutil.copytree(ROOT / "dralang", copy / "dralang", ignore=shutil.ignore_patterns("__pycache__"))
        for file, old, new in ((mutant.file, mutant.old, mutant.new), *mutant.more):
            changed = copy / file
            text = changed.read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{mutant.rule}: the code has changed"
            changed.write_text(text.replace(old, new), encoding="utf-8")
        played = subprocess.run(
            [sys.executable, "-c", _PLAY], cwd=copy, capture_output=True, text=True, check=False, timeout=60
        )
    assert played.returncode == 0, f"{mutant.rule}: {played.stderr[-500:]}"
    failed = json.loads(played.stdout)
    specs = tuple(dict.fromkeys(spec for spec, _, _ in failed))
    own = [
        title
        for spec, title, tags in failed
        if set(tags) & set(mutant.rows) or any(spec.endswith("/" + row) for row in mutant.rows)
    ]
    return Outcome(specs, len(failed), bool(own) and len(specs) <= MOST)


def page(outcomes: list[tuple[Mutant, Outcome]]) -> str:
    """The table for docs."""
    lines = [
        "# Rules switched off, one at a time",
        "",
        f"`python tests/rule_mutants.py` switches off one rule of KEP-5690 or KEP-6406 at a time, {len(outcomes)} in",
        "all, and plays all of their specs. A rule is held by its specs if a scenario of that very clause fails, and",
        f"no more than {MOST} specs do. A test tries a sample with every change, all of them with `.ci/long`.",
        "",
        "| rule | clause | specs that notice | scenarios | held |",
        "|---|---|---|---|---|",
    ]
    for mutant, outcome in outcomes:
        named = ", ".join(spec.removesuffix(".dra") for spec in outcome.specs) or "none"
        held = "yes" if outcome.caught else "NO"
        lines.append(f"| {mutant.rule} | {', '.join(mutant.rows)} | {named} | {outcome.scenarios} | {held} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Try all mutants and write the table; with arguments only those whose rule contains one, without the table."""
    outcomes = []
    wanted = [each for each in MUTANTS if not sys.argv[1:] or any(word in each.rule for word in sys.argv[1:])]
    for mutant in wanted:
        outcome = attempt(mutant)
        outcomes.append((mutant, outcome))
        sys.stdout.write(
            f"{'held' if outcome.caught else 'NOT HELD'}: {mutant.rule}: {outcome.scenarios} scenarios in "
        )
        sys.stdout.write(f"{len(outcome.specs)} specs\n")
        sys.stdout.flush()
    if len(wanted) == len(MUTANTS):
        PAGE.write_text(page(outcomes), encoding="utf-8")
    return 0 if all(outcome.caught for _, outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
