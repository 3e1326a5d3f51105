"""The simulation: seeded, honest about what it is, and distributed as the real mechanisms are."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from privmine.errors import InputError
from privmine.noise.protocol import Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy.noise import Gaussian

# The seeds are fixed, so that a statistical test gives the same result on every run: false-alarm rate 0.


def test_same_seed_gives_the_same_answers():
    """Two sources of one seed agree in everything, and each call moves on."""
    first, second = SimulatedNoise(7), SimulatedNoise(7)
    values = np.arange(100)
    once = first.laplace(values, Fraction(3))
    assert np.array_equal(once, second.laplace(values, Fraction(3)))
    assert not np.array_equal(once, first.laplace(values, Fraction(3)))
    second.laplace(values, Fraction(3))
    assert np.array_equal(first.select(values, 10, Fraction(1)), second.select(values, 10, Fraction(1)))
    assert first.below(10**40) == second.below(10**40)


def test_sources_share_no_state():
    """Drawing from one source does not move another."""
    first, second = SimulatedNoise(7), SimulatedNoise(7)
    for _ in range(5):
        first.below(1000)
    assert second.below(10**9) == SimulatedNoise(7).below(10**9)


def test_without_a_seed_answers_differ():
    """Fresh sources disagree; by chance they agree with probability 10^(−40)."""
    assert SimulatedNoise().below(10**40) != SimulatedNoise(None).below(10**40)


def test_says_what_it_is():
    """The name says that it is simulated, and the source says that it is not private."""
    source = SimulatedNoise(7)
    assert "simulated" in source.name
    assert "seed 7" in source.name
    assert "without a seed" in SimulatedNoise().name
    assert source.private is False


def test_laplace_has_its_scale():
    """100,000 draws fit the Laplace distribution of that scale."""
    noise = SimulatedNoise(1).laplace(np.full(100_000, 5), Fraction(7, 2)) - 5
    assert stats.kstest(noise, stats.laplace(scale=3.5).cdf).pvalue > 1e-6


def test_laplace_keeps_the_shape():
    """Arrays of any shape keep it, the empty one too."""
    source = SimulatedNoise(1)
    assert source.laplace(np.zeros((2, 3), dtype=np.int64), Fraction(1)).shape == (2, 3)
    assert source.laplace(np.array([], dtype=np.int64), Fraction(1)).shape == (0,)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_scale_must_be_positive(scale):
    """A scale of 0 or less is refused."""
    with pytest.raises(InputError, match="above 0"):
        SimulatedNoise(1).laplace(np.array([1]), scale)


def test_selection_with_ties_has_exact_probabilities(assert_fits):
    """10,000 ordered selections of 2 of 3 fit their probabilities."""
    source, rate = SimulatedNoise(3), Fraction(1, 2)
    weights = [exp(1), exp(0.5), exp(0.5)]
    expected = {
        (i, j): weights[i] / sum(weights) * weights[j] / (sum(weights) - weights[i])
        for i in range(3)
        for j in range(3)
        if i != j
    }
    draws = (tuple(source.select(np.array([2, 1, 1]), 2, rate).tolist()) for _ in range(10_000))
    assert_fits(draws, expected)


def test_selection_from_a_tail_has_exact_probabilities(assert_fits):
    """A tail of 3 members is drawn as often as three listed candidates would be."""
    source, rate = SimulatedNoise(4), Fraction(1)
    scores, tail = np.array([1, 0]), Tail(0, 3)
    draws = (tuple(source.select(scores, 2, rate, tail).tolist()) for _ in range(10_000))
    one, total = exp(1), exp(1) + 4
    assert_fits(
        draws,
        {
            (0, 1): one / total / 4,
            (0, 2): one / total * 3 / 4,
            (1, 0): 1 / total * one / (total - 1),
            (1, 2): 1 / total * 3 / (total - 1),
            (2, 0): 3 / total * one / (total - 1),
            (2, 1): 3 / total / (total - 1),
            (2, 2): 3 / total * 2 / (total - 1),
        },
    )


@pytest.mark.parametrize("size", [10**12, 10**30, 2**50_000], ids=["10^12", "10^30", "2^50000"])
def test_huge_tail_is_not_enumerated(size, assert_fits):
    """One candidate whose weight is that of a whole tail is drawn half of the time, whatever the size."""
    source, score = SimulatedNoise(5), 10**6
    rate = Fraction(log(size)) / score
    draws = (int(source.select(np.array([score]), 1, rate, Tail(0, size))[0]) for _ in range(2000))
    assert_fits(draws, {0: 0.5, 1: 0.5})


def test_tail_gives_no_more_than_it_has():
    """All candidates are selected when n says so, and an empty tail gives none."""
    source = SimulatedNoise(6)
    assert sorted(source.select(np.array([5, 5]), 5, Fraction(1), Tail(0, 3)).tolist()) == [0, 1, 2, 2, 2]
    assert sorted(source.select(np.array([5, 5]), 2, Fraction(1), Tail(0, 0)).tolist()) == [0, 1]
    assert source.select(np.array([], dtype=np.int64), 2, Fraction(1), Tail(0, 2)).tolist() == [0, 0]
    assert source.select(np.array([1]), 0, Fraction(1)).tolist() == []


def test_too_many_draws_are_refused():
    """More draws than candidates are refused."""
    with pytest.raises(InputError, match="2 of the candidates, 1 and"):
        SimulatedNoise(1).select(np.array([1]), 2, Fraction(1))


def test_below_is_uniform(assert_fits):
    """20,000 draws below 6 are uniform."""
    source = SimulatedNoise(8)
    assert_fits((source.below(6) for _ in range(20_000)), dict.fromkeys(range(6), 1 / 6))


def test_below_reaches_bounds_of_any_size():
    """A bound of one leaves 0, a huge one is used up to its top, none below one is accepted."""
    source = SimulatedNoise(9)
    assert source.below(1) == 0
    assert max(source.below(10**30) for _ in range(100)) > 10**29
    with pytest.raises(InputError):
        source.below(0)


def test_gaussian_noise_has_its_standard_deviation():
    """Of 100,000 seeded draws of σ = 7, the spread is 7, and the shape is no Laplace distribution's."""
    draws = SimulatedNoise(4).add(np.zeros(100_000, dtype=np.int64), Gaussian(7))
    assert np.std(draws) == pytest.approx(7, rel=0.02)
    assert np.mean(np.abs(draws) < 7) == pytest.approx(0.6827, abs=0.01)
