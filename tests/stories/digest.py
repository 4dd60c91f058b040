"""The traces and last states of some stories as one number: `python -m stories.digest FIRST COUNT`."""

import hashlib
import sys

from stories.story import Story

from dralang.api.encode import to_json
from dralang.cluster.journal import JournalEntry


def course_of(story) -> list[JournalEntry]:
    """Tell a story; what happened in it, entry by entry."""
    story.tell()
    return list(story.simulation.trace)


def digest(first: int, count: int) -> str:
    """The same stories give the same number, whatever the process."""
    sums = hashlib.sha256()
    for seed in range(first, first + count):
        story = Story(seed)
        sums.update(repr(course_of(story)).encode())
        store = story.simulation.store
        for kind in store.kinds():
            for each in store.objects(kind):
                sums.update(repr(to_json(each)).encode())
    return sums.hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1]), int(sys.argv[2])))  # noqa: T201 - the answer of a process
