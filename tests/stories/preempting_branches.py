"""The rows of docs/kep-5690.md as branches of behaviour that stories can reach."""

from collections import Counter

BRANCHES = (
    "P1 gate off: nobody goes for a device",
    "P2 event, condition and nominated node",
    "P3 several small partitions go for a large one",
    "P4 a share is enough, other users of the device are spared",
    "P5 a victim that waits in PreBind is counted as free",
    "P6 a claim of a device of several nodes is not released",
    "P7 a claim with one such device is not released",
    "P8 a device that a pod on another node has is not offered",
    "P9 a victim in a group frees nothing",
    "P9 a preemptor in a group stays pending",
    "P10 a victim with extended resources frees nothing",
    "P10 a preemptor with extended resources frees nothing",
    "P11 a claim with a surviving user is not released",
    "P11 nor waited for",
    "P12 a claim whose other user is terminating is waited for",
    "P14 a nomination with one result for each claim, and victims' claims",
    "P15 deferred by a terminating pod",
    "P16 deferred by claims",
    "P17 deferred for more than an hour",
    "P17 and over in the end",
    "P18 a pod without a nomination preempts where another preemption settles",
    "P19 equal or lower priority does not get what is held after t3",
    "P20 a more important pod takes what is held",
    "P20 and the preemptor preempts again",
    "P21 a more important pod does not get it before t3",
    "P22 a victim's surplus is not given before t3",
    "P23 a victim's surplus is given after t3",
    "P24 another device that is free is not found",
    "P25 two of the same priority share a terminating victim",
    "P26 after t1 the second one waits and gets the surplus",
    "P27 a second victim is preempted after the first is gone",
    "P28 what victims hold is subtracted before what is held is added",
    "P29 the recorded devices are given",
    "P29 although a search finds others",
    "P30 recorded devices are not possible",
    "P30 others of the node are given",
    "P30 devices of another node are given",
    "P31 the preemptor is deleted before t3",
    "P31 the preemptor is deleted after t3",
    "P31 a synthetic event wakes a pod",
    "P32 the nominated node is cleared",
    "P32 the nominated node is replaced",
    "P32 the victims' claims stay tracked",
    "P33 a victim's claim does not wake the preemptor",
    "P33 the last one does",
    "P34 another claim wakes the preemptor",
    "P34 a victim's claim wakes others",
    "P35 a failed deletion ends the nomination",
    "P35 and the pod preempts again",
    "P36 after t3 another nomination follows",
    "P36 after t3 the nomination is given up",
    "P37 deferred by claims whose preemptor is gone",
    "P38 a restart while a preemption settles",
    "P38 then the pod preempts once more",
    "P38 then others get the devices",
    "P39 another scheduler takes what is held",
    "P40 scheduled on another node",
    "P41 a share is held, the rest of the device is given",
    "P42 the counters of a held partition keep others away",
    "P43 held for longer than any timer",
    "P47 a victim in PreBind goes back to the queue",
    "P47 its claim is freed at once",
)
"""All rows that are branches of behaviour."""
TOGETHER = (
    "P16 deferred by claims",
    "P19 equal or lower priority does not get what is held after t3",
    "P20 and the preemptor preempts again",
    "P31 the preemptor is deleted after t3",
)
"""P45 is no branch of its own: the integration tests that the KEP lists are these four."""
ALWAYS = (
    "P13 a simulation leaves no trace",
    "P44 a nomination exists only with its nominated node",
    "P46 no device twice, no capacity or counter overcommitted",
)
"""What is looked at after every event, or once a story has come to rest."""


def table(counts: Counter[str]) -> list[str]:
    """The counts of all branches, line by line."""
    stories = counts["stories"]
    share = counts["stories that preempt"] * 100 // max(stories, 1)
    rarest = min(counts[name] for name in TOGETHER)
    return [
        f"{stories:8} stories, {share} % of them preempt",
        *(f"{counts[name]:8} {name}" for name in BRANCHES),
        f"{rarest:8} P45 the integration tests: the rarest of P16, P19, P20 and P31",
        *(f"  always {text}" for text in ALWAYS),
    ]
