"""Sets drawn at once: their classes and probabilities against a list of all sets, and the edges."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.noise.protocol import Tail
from privmine.noise.secure import SecureNoise
from privmine.noise.sets import select_set, set_classes
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import Sensitivity


def gap(scores, members):
    """The largest score outside less the smallest inside."""
    outside = [score for place, score in enumerate(scores) if place not in members]
    return max(outside) - min(scores[place] for place in members)


def sets(scores, n):
    """All sets of n places."""
    return list(combinations(range(len(scores)), n))


SMALL = st.lists(st.integers(-3, 3), min_size=2, max_size=7)


@given(SMALL, st.data())
def test_classes_hold_each_set_once(scores, data) -> None:
    """For each gap as many sets as a list of all sets has."""
    n = data.draw(st.integers(1, len(scores) - 1))
    falling = sorted(Counter(scores).items(), reverse=True)
    found = Counter()
    for part in set_classes([score for score, _ in falling], [size for _, size in falling], n):
        assert part.size > 0
        found[part.gap] += part.size
    assert found == Counter(gap(scores, members) for members in sets(scores, n))


def probabilities(scores, n, rate, tail=0, tail_score=0):
    """Of all answers; the tail is listed behind the others, and its members are told by its number."""
    every = [*scores, *[tail_score] * tail]
    weights = Counter()
    for members in sets(every, n):
        answer = tuple(min(place, len(scores)) for place in members)
        weights[answer] += exp(-rate * gap(every, members))
    total = sum(weights.values())
    return {answer: weight / total for answer, weight in weights.items()}


CASES = {
    "all apart": ([4, 2, 1, 0], 2, Fraction(1, 3), 0, 0),
    "groups of equal scores": ([3, 1, 3, 1, 1, 0, 3], 3, Fraction(1, 2), 0, 0),
    "a border between groups": ([2, 2, 0, 0, 0], 2, Fraction(1), 0, 0),
    "a tail of its own score": ([5, 1, 3], 2, Fraction(1, 2), 3, 2),
    "a tail of a listed score": ([2, 0, 2, 1], 3, Fraction(1, 2), 2, 2),
    "a tail before all": ([0, 1], 2, Fraction(1), 2, 3),
    "rate 0": ([9, 0, 4, 4], 2, Fraction(0), 0, 0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_sets_have_their_probabilities(case, assert_fits) -> None:
    """4,000 draws with seeded randomness fit the weights of all sets; the code is that of the exact source."""
    scores, n, rate, tail, tail_score = case
    noise = SimulatedNoise(11)
    drawn = (tuple(noise.select_set(np.array(scores), n, rate, Tail(tail_score, tail)).tolist()) for _ in range(4_000))
    assert_fits(drawn, probabilities(scores, n, float(rate), tail, tail_score))


def test_the_exact_source_draws_the_same_sets(assert_fits) -> None:
    """With the operating system's entropy; a false alarm is as rare as `assert_fits` says."""
    scores, n, rate, *_ = CASES["groups of equal scores"]
    noise = SecureNoise()
    drawn = (tuple(noise.select_set(np.array(scores), n, rate).tolist()) for _ in range(4_000))
    assert_fits(drawn, probabilities(scores, n, float(rate)))


@pytest.mark.parametrize("monotone", [True, False])
def test_the_gap_moves_as_its_sensitivity_says(monotone: bool) -> None:
    """On all small scores and all their moves by at most 1: never further, and as far on some of them."""
    moves = (0, 1) if monotone else (-1, 0, 1)
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 4), -1).reshape(-1, 4).tolist()
    steps = np.stack(np.meshgrid(*[np.array(moves)] * 4), -1).reshape(-1, 4).tolist()
    found = {
        gap([score + step for score, step in zip(scores, moved, strict=True)], members) - gap(scores, members)
        for scores in grid
        for moved in steps
        for members in ((0,), (1, 2))
    }
    most = Sensitivity(4, 4, 1, monotone=monotone).of_gap.linf
    assert (min(found), max(found)) == (-most, most)
    assert not Sensitivity(4, 4, 1, monotone=monotone).of_gap.monotone


def test_hundreds_of_many_are_drawn() -> None:
    """200 of 20,000 candidates: more sets than a float can count. With a sharp rate they are the best ones."""
    scores = np.random.default_rng(3).permutation(20_000) // 40
    chosen = select_set(scores, 200, Fraction(1000))
    assert chosen.tolist() == np.flatnonzero(scores >= 495).tolist()


def test_more_unlisted_candidates_than_can_be_counted() -> None:
    """A tail of 10^50 outweighs the listed ones at a low rate and not at a high one."""
    scores = np.array([60, 60, 0])
    assert select_set(scores, 2, Fraction(1, 1000), Tail(0, 10**50)).tolist() == [3, 3]
    assert select_set(scores, 2, Fraction(10**6), Tail(0, 10**50)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("n", "tail", "expected"), [(0, None, []), (3, None, [0, 1, 2]), (5, Tail(7, 2), [0, 1, 2, 3, 3])]
)
def test_none_and_all(n, tail, expected) -> None:
    """There is one such set."""
    assert select_set(np.array([5, 1, 2]), n, Fraction(1), tail).tolist() == expected


def test_scores_at_the_ends_of_64_bits() -> None:
    """No gap overflows."""
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0])
    assert select_set(ends, 1, Fraction(1)).tolist() == [1]
    assert select_set(ends, 2, Fraction(1), Tail(-(10**30), 4)).tolist() == [1, 2]


def test_what_cannot_be_drawn_is_refused() -> None:
    """More than there are, fewer than none, a rate that prefers the worst."""
    for n in (4, -1):
        with pytest.raises(InputError, match="cannot be selected"):
            select_set(np.array([1, 2, 3]), n, Fraction(1))
    with pytest.raises(InputError, match="must not be negative"):
        select_set(np.array([1, 2, 3]), 1, Fraction(-1))
