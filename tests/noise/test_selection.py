"""The exact selection: its intervals against a reference of many digits, its distribution, its edges.

Tests with random bits take them from a seeded generator, through the argument that is made for it. They
give the same result on every run: their false-alarm rate is 0.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, permutations
from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.noise.exponential import exp_minus, working_context
from privmine.noise.protocol import Tail
from privmine.noise.selection import (
    FLOAT_EXPONENT,
    FloatWeights,
    Ladder,
    Peeling,
    _decimal,
    distinct_ranks,
    score_classes,
    select,
)

NO_TAIL = Tail(0, 0)
DIGITS = 120


class SeededSource:
    """Reproducible random bits and bounded integers."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def bits(self, bits):
        """That many random bits."""
        return int.from_bytes(self.generator.bytes(bits // 8))

    def below(self, bound):
        """A uniform integer below the bound."""
        return int(self.generator.integers(bound))


class ScriptedBits:
    """A source of bits that reads a fixed number from its first binary place on, and keeps account."""

    def __init__(self, number, places=4096):
        self.number, self.places, self.requests = number, places, []

    @property
    def used(self):
        """How many bits were read."""
        return sum(self.requests)

    def __call__(self, bits):
        """The next bits of the number."""
        self.requests.append(bits)
        assert self.used <= self.places, "the sampler should have decided long ago"
        return (self.number >> (self.places - self.used)) & ((1 << bits) - 1)


def boundaries(scores, sizes, rate, tail=NO_TAIL, digits=DIGITS):
    """Where the classes end in [0, 1], as fractions that are right to that many digits."""
    sizes, scores = [*sizes, tail.size], [*scores, tail.score]
    top = max(score for score, size in zip(scores, sizes, strict=True) if size)
    gaps = [rate * (top - score) for score in scores]
    weights = [
        # The u of these tests have 4096 places: below 2^(−10000), a weight is the same to them as 0.
        size * Fraction(exp_minus(gap, digits)) if gap < 7000 else Fraction(0)
        for size, gap in zip(sizes, gaps, strict=True)
        if size
    ]
    total = sum(weights)
    return [rung / total for rung in accumulate(weights)]


def draw_at(number, scores, sizes, rate, tail=NO_TAIL, places=4096):
    """The class that is drawn at u = number/2^places, and how many bits of u that took."""
    bits = ScriptedBits(number, places)
    drawn = Peeling(np.array(scores), np.array(sizes), rate, tail, bits).draw()
    return drawn, bits


CLASSES = {
    "two": ([0, 3], [5, 2], Fraction(1, 3), NO_TAIL),
    "heavy tailed": ([0, 1, 2, 3, 5, 9, 40], [10**6, 4000, 300, 40, 7, 1, 1], Fraction(1, 5), NO_TAIL),
    "negative": ([-50, -20, -7], [4, 4, 4], Fraction(1, 10), NO_TAIL),
    "equal rate": ([1, 2, 3], [1, 2, 3], Fraction(0), NO_TAIL),
    "far apart": ([-(10**6), 0, 10**6], [3, 3, 3], Fraction(10), NO_TAIL),
    "edges of int64": ([-(2**63), 2**63 - 1], [1, 1], Fraction(1, 2**63), NO_TAIL),
    "tail below": ([10, 12], [1, 1], Fraction(3, 2), Tail(0, 10**6)),
    "tail inside": ([0, 100], [9, 1], Fraction(1, 4), Tail(50, 77)),
    "tail of 10^30": ([0, 60, 70], [1, 1, 1], Fraction(1), Tail(0, 10**30)),
    "tail beyond floats": ([0, 3465, 3467], [1, 1, 1], Fraction(1), Tail(0, 2**5000)),
}


@pytest.mark.parametrize(("scores", "sizes", "rate", "tail"), CLASSES.values(), ids=CLASSES)
def test_class_of_every_u_on_a_grid_is_that_of_a_120_digit_computation(scores, sizes, rate, tail):
    """Each u on a fine grid, and next to each boundary, falls in the class of the reference."""
    ends = boundaries(scores, sizes, rate, tail)
    places, filler = 4096, SeededSource(5).bits(4032)
    starts = [i * 2**64 // 1000 + 12345 for i in range(1000)]
    starts += [int(end * 2**64) + near for end in ends for near in (-(2**27), -2, -1, 0, 1, 2, 2**27)]
    for start in starts:
        if not 0 <= start < 2**64:
            continue
        drawn, bits = draw_at(start << 4032 | filler, scores, sizes, rate, tail, places)
        low = Fraction((start << 4032 | filler) >> (places - bits.used), 2**bits.used)
        high = low + Fraction(1, 2**bits.used)
        assert drawn == 0 or ends[drawn - 1] <= low
        assert high <= ends[drawn] or drawn == len(ends) - 1


def test_undecided_draw_extends_the_same_u():
    """64 bits that lie on a boundary are kept, and the next 64 decide on which side u is."""
    scores, sizes, rate, _ = CLASSES["heavy tailed"]
    for number, end in enumerate(boundaries(scores, sizes, rate)[:-1]):
        first = int(end * 2**64)
        below, bits = draw_at(first << 4032 | 1 << 4000, scores, sizes, rate)
        assert (below, bits.requests) == (number, [64, 64])
        above, bits = draw_at((first + 1 << 4032) - (1 << 4000), scores, sizes, rate)
        assert (above, bits.requests) == (number + 1, [64, 64])


def test_undecided_draw_extends_until_the_digits_differ():
    """A u that agrees with a boundary in its first 600 places is extended beyond them."""
    scores, sizes, rate = [0, 2, 5], [3, 3, 3], Fraction(1, 2)
    end = int(boundaries(scores, sizes, rate, digits=400)[0] * 2**600)
    below, bits = draw_at((end - 1) << 3496, scores, sizes, rate)
    assert (below, bits.requests) == (0, [64, 64, 128, 256, 512])
    above, bits = draw_at((end + 2) << 3496, scores, sizes, rate)
    assert (above, bits.requests) == (1, [64, 64, 128, 256, 512])


@pytest.mark.parametrize("gap", [45, 300, 720, 1000])
def test_tiny_class_is_never_dropped(gap):
    """A class of weight e^(−gap), far below what a float can hold, is hit by the u that belong to it."""
    places = 4096
    weight = Fraction(exp_minus(Fraction(gap), 50))
    inside = int(weight / 2 * 2**places)
    assert draw_at(inside, [0, gap], [1, 1], Fraction(1), places=places)[0] == 0
    outside = int(weight * 2 * 2**places)
    assert draw_at(outside, [0, gap], [1, 1], Fraction(1), places=places)[0] == 1


def test_tiny_class_before_the_tail_is_never_dropped():
    """The classes that the float path leaves out lie where their order says, next to a huge tail."""
    # Class 0 has weight e^(−900) of the top and lies below it, so that the tail is the last class.
    weight = Fraction(exp_minus(Fraction(900), 50)) / 4
    assert draw_at(int(weight * 2**4095), [-900], [1], Fraction(1), Tail(0, 4))[0] == 0
    assert draw_at(int(weight * 2**4097), [-900], [1], Fraction(1), Tail(0, 4))[0] == 1


def test_float_path_decides_nearly_all_draws():
    """10,000 draws of 5,000 classes take 64 bits each and no more."""
    requests = []
    source = SeededSource(3)

    def counted(bits):
        requests.append(bits)
        return source.bits(bits)

    scores = np.arange(5000)
    peeling = Peeling(scores, np.full(5000, 40), Fraction(1, 1000), NO_TAIL, counted)
    for _ in range(10_000):
        peeling.draw()
    assert requests == [64] * 10_000


def assert_within_error(weights, sizes, gaps, rate):
    """Every rung is within the error that its ladder states, and the error is small."""
    unit = Fraction(2) ** -weights._shift
    true = [size * Fraction(exp_minus(rate * gap, 60)) / unit for size, gap in zip(sizes, gaps, strict=True)]
    for rung, exact in zip(weights.ladder.rungs.tolist(), accumulate(true), strict=True):
        assert abs(rung - exact) <= weights.ladder.error
    assert weights.ladder.error < 2**22 + 2 * len(sizes)


@pytest.mark.parametrize("seed", range(8))
def test_float_weights_are_within_their_error(seed):
    """Float cumulative weights differ from those of 60 digits by no more than the stated error."""
    generator = np.random.default_rng(seed)
    rate = Fraction(int(generator.integers(1, 1000)), int(generator.integers(1, 10**6)))
    reach = int(FLOAT_EXPONENT / rate)
    gaps = sorted({0, *generator.integers(reach, size=300).tolist()}, reverse=True)
    sizes = generator.choice([1, 2, 1000, 10**7], len(gaps)).tolist()
    weights = FloatWeights(0, np.array(sizes, dtype=float), np.array(gaps, dtype=float), rate)
    assert_within_error(weights, sizes, gaps, rate)
    for number in generator.permutation(len(gaps))[:100].tolist():
        sizes[number] = int(generator.integers(sizes[number]))
        weights.resize(number, sizes[number])
    assert_within_error(weights, sizes, gaps, rate)


def test_exp_of_numpy_is_as_accurate_as_the_float_path_assumes():
    """On this machine np.exp has a relative error below 2^(−46) on the whole window; 2^(−43) is assumed."""
    exponents = np.linspace(0, FLOAT_EXPONENT + 1, 4001)
    for exponent, value in zip(exponents.tolist(), np.exp(-exponents).tolist(), strict=True):
        exact = Fraction(exp_minus(Fraction(exponent), 40))
        assert abs(Fraction(value) / exact - 1) < Fraction(1, 2**46)


def test_exp_minus_keeps_its_error():
    """e^(−x) to 40 digits agrees with itself to 400 digits, for small and for large x."""
    for x in (Fraction(0), Fraction(1, 3), Fraction(10**9 + 1, 7), Fraction(10**16), Fraction(1, 10**30)):
        with localcontext(working_context(400)):
            reference = exp_minus(x, 390)
            assert abs(exp_minus(x, 40) / reference - 1) < Decimal(10) ** -40


def ordered_probabilities(scores, n, rate, tail=NO_TAIL):
    """The exact probability of each ordered outcome of n draws without replacement."""
    outcomes = {(): 1.0}
    for _ in range(n):
        longer = {}
        for drawn, probability in outcomes.items():
            weights = {i: exp(float(rate) * s) for i, s in enumerate(scores) if i not in drawn}
            tail_left = tail.size - drawn.count(len(scores))
            if tail_left:
                weights[len(scores)] = tail_left * exp(float(rate) * tail.score)
            total = sum(weights.values())
            for index, weight in weights.items():
                longer[*drawn, index] = probability * weight / total
        outcomes = longer
    return outcomes


@pytest.mark.parametrize(
    ("scores", "n", "tail"),
    [([4, 2, 2, 0], 3, NO_TAIL), ([3, 3, 1], 3, Tail(1, 2)), ([0, 0, 0, 0], 2, NO_TAIL)],
    ids=["ties", "tail", "all ties"],
)
def test_ordered_outcomes_have_their_exact_probabilities(scores, n, tail, assert_fits):
    """4,000 selections fit the probabilities of all ordered outcomes."""
    source, rate = SeededSource(11), Fraction(2, 5)
    array = np.array(scores)
    draws = (
        tuple(select(array, n, rate, tail, random_bits=source.bits, below=source.below).tolist()) for _ in range(4_000)
    )
    assert_fits(draws, ordered_probabilities(scores, n, rate, tail))


def test_members_of_a_class_are_drawn_uniformly_without_repetition(assert_fits):
    """Three draws from a class of five give each of the 60 ordered triples equally often."""
    source = SeededSource(2)
    draws = (tuple(distinct_ranks([0, 0, 0], np.array([5]), source.below)) for _ in range(30_000))
    assert_fits(draws, dict.fromkeys(permutations(range(5), 3), factorial(2) / factorial(5)))


@settings(max_examples=100, deadline=None)
@given(
    scores=st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1), max_size=12),
    tail=st.none() | st.builds(Tail, st.integers(-10, 10), st.integers(0, 5) | st.just(10**30)),
    rate=st.fractions(0, 20, max_denominator=50),
    data=st.data(),
)
def test_answer_is_a_sample_without_replacement(scores, tail, rate, data):
    """Whatever the scores: n answers, none twice, and no more from the tail than it has members."""
    tail_size = tail.size if tail else 0
    n = data.draw(st.integers(0, min(len(scores) + tail_size, 20)))
    answer = select(np.array(scores, dtype=np.int64), n, rate, tail).tolist()
    listed = [index for index in answer if index < len(scores)]
    assert len(answer) == n
    assert len(set(listed)) == len(listed)
    assert all(0 <= index <= len(scores) for index in answer)
    assert n - len(listed) <= tail_size


def test_all_candidates_can_be_selected():
    """Drawing as many as there are gives each of them, and the tail as often as it has members."""
    answer = select(np.array([3, 3, 0]), 5, Fraction(1), Tail(1, 2))
    assert sorted(answer.tolist()) == [0, 1, 2, 3, 3]


def test_no_draw_needs_no_candidate():
    """No draw gives nothing, even from nothing."""
    assert select(np.array([], dtype=np.int64), 0, Fraction(1)).tolist() == []


def test_weights_are_taken_relative_to_the_best_that_is_left():
    """Candidates e^100 apart come out in order of their scores: another order has probability 10^(−42)."""
    scores = np.arange(0, 6000, 100)
    assert select(scores, 60, Fraction(1)).tolist() == list(range(59, -1, -1))


def test_astronomic_tail_wins():
    """A tail of 2^100000 members outweighs any score it is compared with here."""
    answer = select(np.array([0, 10, 500]), 3, Fraction(1), Tail(0, 2**100_000))
    assert answer.tolist() == [3, 3, 3]


def test_huge_rate_selects_the_best():
    """A rate beyond the range of floats leaves no chance to anything but the maximum."""
    assert select(np.array([1, 3, 2]), 3, Fraction(10**400)).tolist() == [1, 2, 0]


def test_tiny_rate_is_not_lost():
    """A rate below the range of floats is as good as 0, and does no harm."""
    assert sorted(select(np.array([1, 3, 2]), 3, Fraction(1, 10**400)).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("n", [-1, 3])
def test_impossible_number_of_draws_is_refused(n):
    """More draws than candidates, or fewer than none, are refused with both numbers."""
    with pytest.raises(InputError, match=rf"{n} of the candidates, 2 and the tail"):
        select(np.array([1, 2]), n, Fraction(1))


def test_negative_rate_is_refused():
    """A negative rate, which would prefer the worst, is refused."""
    with pytest.raises(InputError, match="must not be negative"):
        select(np.array([1, 2]), 1, Fraction(-1))


@pytest.mark.parametrize("spread", [3, 10**12])
def test_score_classes_are_those_of_sorting(spread):
    """Counting and sorting give the same classes."""
    scores = np.random.default_rng(0).integers(-spread, spread, 5000)
    expected = np.unique(scores, return_counts=True)
    for found, right in zip(score_classes(scores), expected, strict=True):
        assert np.array_equal(found, right)


def test_a_draw_near_a_rung_is_left_open():
    """Decided is only what no error of the rungs, and no further bit of u, could change."""
    ladder = Ladder(3, [100, 200], 10)
    # Class 3 has all u with ⌊numerator·190/256⌋ ≥ 10 and ⌈(numerator + 1)·210/256⌉ ≤ 90.
    assert [ladder.class_at(numerator, 8) for numerator in (13, 14, 108, 109)] == [None, 3, 3, None]


@pytest.mark.parametrize("size", [1, 2**191 - 1, 2**192 + 1, 2**1000 - 1])
def test_an_astronomic_size_keeps_the_digits_that_count(size):
    """The size of a class is cut only far below the last of the bits that decide."""
    with localcontext(prec=400):
        cut = Fraction(_decimal(size, 128))
    assert 0 <= size - cut <= Fraction(size, 2 ** (128 + 63))


@pytest.mark.parametrize("bits", [8, 64, 200])
@pytest.mark.parametrize("size", [1, 12345, 2**64 + 1, 2**300 + 2**100 + 1, 3**4000])
def test_an_astronomic_size_keeps_more_digits_than_the_ladder_has(size, bits):
    """It is cut to a relative error of 2^(−bits−63), and never made larger; a size of few bits is kept whole."""
    with localcontext(working_context(5000)):
        kept = Fraction(_decimal(size, bits))
    assert 0 <= size - kept <= Fraction(size, 2 ** (bits + 63))
    assert kept == size or size.bit_length() > bits + 64
