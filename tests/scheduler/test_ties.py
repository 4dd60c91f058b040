"""Which of several equals is taken (`ties`)."""

import pytest

from dralang.scheduler.cycle import best_of, first_of_heap

SCORES = {
    "one node": [5],
    "all are equal": [7, 7, 7],
    "two of five": [1, 9, 3, 9, 2],
    "the root of the heap is not the first": [1, 1, 1, 5, 5, 5],
    "all but one": [4, 4, 3, 4],
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())
def test_each_of_the_best_is_taken_in_turn_from_the_usual_one(scores):
    best = [index for index, score in enumerate(scores) if score == max(scores)]
    chosen = [best_of(scores, ties) for ties in range(2 * len(best))]
    assert chosen[0] == first_of_heap(scores)
    assert sorted(chosen[: len(best)]) == best
    assert chosen[len(best) :] == chosen[: len(best)]
    start = best.index(chosen[0])
    assert chosen[: len(best)] == best[start:] + best[:start]
