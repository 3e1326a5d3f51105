"""The largest noisy scores: bounds against many digits, distributions against integrals, undecided orders.

Tests with random bits take them from a seeded generator: they give the same result on every run.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from scipy import stats

from privmine.errors import InputError
from privmine.noise import noisy_top as module
from privmine.noise.exponential import working_context
from privmine.noise.noisy_top import _Bounds, _Rounded, noisy_top
from privmine.noise.protocol import Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.noise.uniform import Uniform

NO_TAIL = Tail(0, 0)


def seeded(seed):
    """Random bits that are the same on every run."""
    return Random(seed).getrandbits  # noqa: S311 - repeatable on purpose


def ordered_probabilities(scores, n, scale, tail=NO_TAIL):
    """The probability of each ordered answer, by numeric integration over the noisy score of the last one."""
    everybody = [*scores, *[tail.score] * tail.size]
    grid = np.linspace(min(everybody) - 30 * scale, max(everybody) + 30 * scale, 60_001)
    densities = [stats.laplace.pdf(grid, score, scale) for score in everybody]
    below = [stats.laplace.cdf(grid, score, scale) for score in everybody]
    step = grid[1] - grid[0]
    answers = Counter()
    for chosen in permutations(range(len(everybody)), n):
        above = np.ones(len(grid))
        for index in chosen[:-1]:
            values = densities[index] * above
            above = np.append(np.cumsum((values[1:] + values[:-1])[::-1] * step / 2)[::-1], 0.0)
        others = np.prod([below[index] for index in range(len(everybody)) if index not in chosen], axis=0)
        probability = float(np.trapezoid(densities[chosen[-1]] * above * others, grid))
        answers[tuple(min(index, len(scores)) for index in chosen)] += probability
    assert sum(answers.values()) == pytest.approx(1, abs=1e-5)
    return answers


CASES = {
    "ties": ([4, 2, 2, 0], 2, Fraction(3, 2), NO_TAIL),
    "tail": ([3, 1], 2, Fraction(2), Tail(1, 3)),
    "below a tail": ([2], 2, Fraction(1), Tail(3, 4)),
    "everybody": ([3, 0], 3, Fraction(3), Tail(1, 1)),
    "all of a tail": ([1, 0], 4, Fraction(3), Tail(1, 2)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_exact_answers_have_their_probabilities(case, assert_fits):
    """3,000 exact answers fit the integrals of all ordered answers."""
    scores, n, scale, tail = case
    bits = seeded(17)
    draws = (tuple(noisy_top(np.array(scores), n, scale, tail, random_bits=bits).tolist()) for _ in range(3_000))
    assert_fits(draws, ordered_probabilities(scores, n, float(scale), tail))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_simulated_answers_have_their_probabilities(case, assert_fits):
    """20,000 simulated answers fit the same integrals."""
    scores, n, scale, tail = case
    noise = SimulatedNoise(23)
    draws = (tuple(noise.noisy_top(np.array(scores, dtype=np.int64), n, scale, tail).tolist()) for _ in range(20_000))
    assert_fits(draws, ordered_probabilities(scores, n, float(scale), tail))


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("numerator", [0, 1, 2, 12345, 2**32, 2**63, 2**64 - 2, 2**64 - 1])
def test_bounds_of_an_exponential_hold_it(numerator, bits):
    """−ln u of both ends, to 200 digits, lies within the bounds, which are not much wider than that."""
    found = _Rounded(bits // 3 + 20).exponential(Uniform(numerator, bits))
    with localcontext(working_context(200)):
        low = -(Decimal(numerator + 1) / 2**bits).ln()
        assert found.low <= low
        if not numerator:
            assert found.high == Decimal("Infinity")
            return
        high = -(Decimal(numerator) / 2**bits).ln()
        assert high <= found.high
        assert found.high - found.low <= 3 * (high - low) + Decimal(10) ** (5 - bits // 3)


@pytest.mark.parametrize(
    "s", ["1e-40", "1e-12", "0.01", "0.6931471805599453", "0.69314718055994530942", "0.6931471806", "0.7", "3", "80"]
)
def test_bounds_of_a_quantile_hold_it(s):
    """The Laplace quantile of e^(−s), to 200 digits, lies within narrow bounds, also around its kink at ln 2."""
    exact = Decimal(s)
    found = _Rounded(90).laplace_quantile(_Bounds(exact, exact))
    with localcontext(working_context(200)):
        rest = 1 - (-exact).exp()
        quantile = -(2 * rest).ln() if rest <= Decimal("0.5") else Decimal(2).ln() - exact
        assert found.low <= quantile <= found.high
        assert found.high - found.low < Decimal("1e-40")


class ScriptedBits:
    """Answers requests for bits from a list, then from a seeded generator, and notes them."""

    def __init__(self, *script):
        self.script, self.requests, self.more = list(script), [], seeded(1)

    def __call__(self, bits):
        """So many bits."""
        self.requests.append(bits)
        return self.script.pop(0) if self.script else self.more(bits)


def test_an_undecided_order_draws_more_bits_of_the_same_noise():
    """Two equal scores with the same first 64 bits of noise are told apart by the next 64."""
    word = 2**63 + 5
    for first, second, winner in ((2**40, 2**50, 0), (2**50, 2**40, 1)):
        # Both noises positive; the smaller u has the larger −ln u.
        bits = ScriptedBits(word | word << 64, 0, first, second)
        assert noisy_top(np.array([3, 3]), 1, Fraction(2), random_bits=bits).tolist() == [winner]
        assert bits.requests == [128, 16, 64, 64]


def test_an_undecided_order_of_those_not_chosen_does_not_matter():
    """Candidates that are not among the n largest are not told apart."""
    word = 2**63 + 5
    bits = ScriptedBits(word | word << 64 | word << 128, 0)
    assert noisy_top(np.array([0, 0, 50]), 1, Fraction(2), random_bits=bits).tolist() == [2]
    assert len(bits.requests) == 2


def test_noise_of_nothing_but_zeros_is_extended():
    """64 zeros in a row leave a noise without an upper bound, until more bits are drawn."""
    bits = ScriptedBits(0 | 2**63 << 64, 0, 2**40)
    assert noisy_top(np.array([0, 1000]), 2, Fraction(1), random_bits=bits).tolist() == [1, 0]
    assert bits.requests == [128, 16, 64, 64]


def test_what_floats_leave_out_has_no_chance(monkeypatch):
    """The answer is the same when every candidate is looked at with all digits."""
    scores = np.random.default_rng(5).integers(0, 60, 300)
    quick = [noisy_top(scores, 20, Fraction(10), Tail(3, 999), random_bits=seeded(seed)).tolist() for seed in range(20)]

    def everything(scores, words, negative, scale):
        return np.full(len(scores), -np.inf), np.full(len(scores), np.inf)

    monkeypatch.setattr(module, "_float_bounds", everything)
    for seed, answer in enumerate(quick):
        slow = noisy_top(scores, 20, Fraction(10), Tail(3, 999), random_bits=seeded(seed))
        # The order of requests for bits differs once an order is undecided, which 64 bits never leave here.
        assert slow.tolist() == answer


def test_float_bounds_hold_the_noisy_score():
    """Floats bound what many digits give, at the edges of words, scores and scales."""
    words = np.array([0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**53 + 1, 2**63, 2**64 - 1], dtype=np.uint64)
    arithmetic = _Rounded(60)
    for score in (0, 1, 10**7, 2**62):
        for scale in (Fraction(1, 1000), Fraction(1), Fraction(10**12, 7)):
            for negative in (False, True):
                sign = np.full(len(words), negative)
                low, high = module._float_bounds(np.full(len(words), score), words, sign, float(scale))
                for index, word in enumerate(words.tolist()):
                    noise = arithmetic.exponential(Uniform(word))
                    noise = _Bounds(noise.high.copy_negate(), noise.low.copy_negate()) if negative else noise
                    exact = module._noisy(arithmetic, arithmetic.ratio(scale), score, noise)
                    assert low[index] <= exact.low
                    assert exact.high <= high[index]


def test_the_largest_of_an_astronomic_tail_are_where_they_must_be():
    """The largest of 10^100 Laplace noises lies near ln(10^100/2), exact and simulated."""
    expected = 100 * np.log(10) - np.log(2)
    # Within ±40 of there but for a probability of e^(−40).
    for score, winner in ((round(expected) + 40, 0), (round(expected) - 40, 1)):
        for answer in (
            noisy_top(np.array([10**6]), 1, Fraction(1), Tail(10**6 - score, 10**100)),
            SimulatedNoise(2).noisy_top(np.array([10**6]), 1, Fraction(1), Tail(10**6 - score, 10**100)),
        ):
            assert answer.tolist() == [winner]
    assert SimulatedNoise(2).noisy_top(np.array([0]), 2, Fraction(1), Tail(0, 10**400)).tolist() == [1, 1]


def test_all_candidates_can_be_named():
    """With n equal to the number of candidates each is named once, and the tail as often as it has members."""
    assert sorted(noisy_top(np.array([3, 3, 0]), 5, Fraction(1), Tail(1, 2)).tolist()) == [0, 1, 2, 3, 3]
    assert noisy_top(np.array([], dtype=np.int64), 0, Fraction(1)).tolist() == []


@pytest.mark.parametrize("source", [noisy_top, SimulatedNoise(0).noisy_top], ids=["exact", "simulated"])
def test_senseless_requests_are_refused(source):
    """More candidates than there are, or noise of scale 0, are refused."""
    with pytest.raises(InputError, match="cannot be selected"):
        source(np.array([1, 2]), 3, Fraction(1))
    with pytest.raises(InputError, match="must be above 0"):
        source(np.array([1, 2]), 1, Fraction(0))
