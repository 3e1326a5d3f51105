"""The vectorised samplers: binary expansions, undecided coins and draws, distributions."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.noise.exponential import exp_minus, working_context
from privmine.noise.vectorised import (
    LARGEST_SCALE,
    Coin,
    Probability,
    _is_kept,
    discrete_gaussian,
    discrete_laplace,
)

# Tests with random bytes take them from a seeded generator: their false-alarm rate is 0. Those on the
# entropy of the operating system are in tests/statistics and in test_secure.py.


def laplace_probabilities(scale, reach):
    """Pr[x] = (1 − r)/(1 + r)·r^|x| with r = e^(−1/scale), for |x| ≤ reach."""
    r = exp(-1 / scale)
    return {x: (1 - r) / (1 + r) * r ** abs(x) for x in range(-reach, reach + 1)}


@settings(max_examples=100, deadline=None)
@given(x=st.fractions(Fraction(1, 10**6), 300, max_denominator=10**6), bits=st.integers(1, 300))
def test_leading_bits_are_exact(x, bits):
    """The first binary places of both kinds of probability are those of a 300-digit computation."""
    exact = Fraction(exp_minus(x, 300))
    assert Probability(x).leading(bits) == int(exact * 2**bits)
    assert Probability(x, odds=True).leading(bits) == int(exact / (1 + exact) * 2**bits)


@pytest.mark.parametrize(("shift", "first_place"), [(-1, 1), (1, 0)], ids=["above", "below"])
def test_leading_bits_next_to_a_carry_are_exact(shift, first_place):
    """A probability that exceeds ½ by 10^(−30), or falls short of it, is told from ½."""
    x = Fraction(working_context(80).ln(2)) + Fraction(shift, 10**30)
    assert Probability(x).leading(1) == first_place
    assert Probability(x).leading(64) == 2**63 - 1 + first_place


def test_leading_bits_need_no_exponential_where_they_are_zero():
    """An x too large for any arithmetic has zeros as far as anybody asks."""
    assert Probability(Fraction(10**400)).leading(10_000) == 0


class ScriptedBytes:
    """A source that hands out given words of 16 bits first, then words of 64 bits."""

    def __init__(self, words, more=()):
        self.words, self.more, self.sizes = words, iter(more), []

    def __call__(self, size):
        """The next bytes of the script."""
        self.sizes.append(size)
        if len(self.sizes) == 1:
            return b"".join(word.to_bytes(2, "little") for word in self.words)
        return next(self.more).to_bytes(8, "little")


def test_coin_compares_a_number_with_its_probability():
    """Words below the leading bits are heads, words above them are tails, and no more bits are used."""
    probability = Probability(Fraction(1, 3))
    first = probability.leading(16)
    source = ScriptedBytes([0, first - 1, first + 1, 2**16 - 1])
    assert Coin(probability, source).flip(4).tolist() == [True, True, False, False]
    assert source.sizes == [8]


def test_undecided_coin_extends_its_number():
    """A word that equals the leading bits goes on with the next 64 places, and on until they differ."""
    probability = Probability(Fraction(1, 3))
    places = probability.leading(16 + 64 + 64)
    first, second, third = places >> 128, places >> 64 & 2**64 - 1, places & 2**64 - 1
    source = ScriptedBytes([first] * 4, [second - 1, second + 1, second, third - 1, second, third + 1])
    assert Coin(probability, source).flip(4).tolist() == [True, False, True, False]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1000, 3)])
def test_draws_have_their_exact_probabilities(scale, assert_fits):
    """400,000 draws fit the discrete Laplace distribution, also at a scale that is no integer."""
    draws = discrete_laplace(400_000, scale, np.random.default_rng(int(scale * 12)).bytes)
    assert_fits(draws.tolist(), laplace_probabilities(float(scale), int(scale * 14) + 3))


def test_every_integer_is_reached_by_its_own_bits():
    """Each noise from −64 to 63 comes from one pattern of coins, so that the support has no holes."""
    scale = Fraction(299, 100)  # 2^5 > 8·2 + 8: five digits, then the coin for more, then the sign
    heads, tails = (0).to_bytes(2, "little"), (2**16 - 1).to_bytes(2, "little")
    reached = []
    for sign in (heads, tails):
        for more in (0, 1):
            for pattern in range(32):
                digits = [heads if pattern >> digit & 1 else tails for digit in range(5)]
                script = iter([*digits, *([heads] * more), tails, sign])
                # A word of 0 is undecided only where the leading bits are 0, and nothing is here.
                reached.append(int(discrete_laplace(1, scale, lambda _, script=script: next(script))[0]))
    assert sorted(reached) == list(range(-64, 64))


def test_tiny_scale_gives_no_noise():
    """At scale 1/1000 a draw other than 0 has probability 10^(−434)."""
    assert not discrete_laplace(50_000, Fraction(1, 1000)).any()


def test_largest_scale_fits():
    """At the largest scale, draws spread as wide as they should and stay in range."""
    draws = discrete_laplace(20_000, Fraction(LARGEST_SCALE), np.random.default_rng(1).bytes)
    spread = float(np.abs(draws.astype(float)).mean())
    assert 0.95 < spread / LARGEST_SCALE < 1.05


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(LARGEST_SCALE + 1)])
def test_scale_out_of_range_is_refused(scale):
    """What does not fit in 64 bits, or is no scale, is refused."""
    with pytest.raises(ValueError, match="scale"):
        discrete_laplace(1, scale)


def test_no_draws():
    """An empty histogram gets no noise."""
    assert discrete_laplace(0, Fraction(3)).shape == (0,)


class WordsThenBytes:
    """A source that hands out given words of 53 bits as a sampler reads them, then what a seeded generator gives."""

    def __init__(self, words):
        self.words, self.generator, self.sizes = list(words), np.random.default_rng(5), []

    def __call__(self, size):
        """The words first, then random bytes."""
        self.sizes.append(size)
        if self.words:
            text = b"".join((word << 11).to_bytes(8, "little") for word in self.words)
            self.words = []
            return text
        return self.generator.bytes(size)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(2, 5), Fraction(9), Fraction(1234, 7)], ids=str)
def test_gaussian_noise_has_its_exact_probabilities(variance, assert_fits):
    """200,000 draws fit, for variances below 1, whole, and fractional."""
    generator = np.random.default_rng(11)
    reach = int(12 * float(variance) ** 0.5) + 2
    weights = {x: exp(-x * x / (2 * float(variance))) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    draws = discrete_gaussian(200_000, variance, generator.bytes)
    assert_fits(draws.tolist(), {x: weight / total for x, weight in weights.items()})


def test_gaussian_noise_of_a_large_variance_is_normal():
    """At σ = 10^9 the share within one and two standard deviations is a normal distribution's (seeded)."""
    draws = discrete_gaussian(100_000, Fraction(10**18), np.random.default_rng(3).bytes)
    for deviations, share in ((1, 0.682689), (2, 0.9545)):
        assert np.mean(np.abs(draws) <= deviations * 10**9) == pytest.approx(share, abs=0.007)


@pytest.mark.parametrize(("more", "kept"), [(0, True), (2**64 - 1, False)], ids=["below", "above"])
def test_an_undecided_draw_is_extended_and_not_redrawn(more, kept):
    """A number that agrees with the probability in 53 places is decided by its next ones."""
    variance, scale = Fraction(5, 2), 2
    exponent = (3 - variance / scale) ** 2 / (2 * variance)
    first = Probability(exponent).leading(53)
    script = iter([first << 11, more])
    found = _is_kept(np.array([3]), variance, scale, lambda size: next(script).to_bytes(size, "little"))
    assert found.tolist() == [kept]


def test_a_draw_next_to_its_probability_is_decided_exactly():
    """Within the margin of floats, the first 53 places decide where they differ; no more bytes are drawn."""
    variance, scale = Fraction(5, 2), 2
    exponent = (3 - variance / scale) ** 2 / (2 * variance)
    first = Probability(exponent).leading(53)
    for word, kept in ((first - 1, True), (first + 1, False), (first - 2**12, True), (first + 2**12, False)):
        source = WordsThenBytes([word])
        assert _is_kept(np.array([-3]), variance, scale, source).tolist() == [kept]
        assert source.sizes == [8]


@pytest.mark.parametrize("variance", [Fraction(1, 2**21), Fraction(2**81), Fraction(0), Fraction(-1)])
def test_variances_beyond_its_arithmetic_are_refused(variance):
    """Those are for OpenDP."""
    with pytest.raises(ValueError, match="must lie between"):
        discrete_gaussian(1, variance)


@pytest.mark.parametrize("variance", [Fraction(1, 2**20), Fraction((2**40 - 1) ** 2)], ids=["smallest", "largest"])
def test_borders_of_its_arithmetic(variance):
    """The smallest and the largest variance have noise, of as many whole numbers as were asked for; beyond is none."""
    for size in (0, 1, 7):
        found = discrete_gaussian(size, variance)
        assert (found.shape, found.dtype) == ((size,), np.int64)
    beyond = variance / 2 if variance < 1 else variance + 1
    for refused in (beyond, variance + (1 if variance > 1 else -Fraction(1, 10**9))):
        with pytest.raises(ValueError, match="must lie between"):
            discrete_gaussian(1, refused)
    assert discrete_laplace(1, Fraction(2**40)).shape == (1,)


def test_next_places_are_those_behind_the_first():
    """Also where the last of the first places is 1: the next 64 are compared by themselves, with 64 that are drawn."""
    probability = next(p for p in (Probability(Fraction(1, n)) for n in range(3, 99)) if p.leading(16) % 2)
    source = ScriptedBytes([probability.leading(16)], [2**64 - 1])
    assert Coin(probability, source).flip(1).tolist() == [False]
    assert source.sizes == [2, 8]


def test_every_undecided_draw_is_decided():
    """Two in one array, in opposite ways."""
    variance, scale = Fraction(5, 2), 2
    first = Probability((3 - variance / scale) ** 2 / (2 * variance)).leading(53)
    script = iter([(first << 11).to_bytes(8, "little") * 2, bytes(8), b"\xff" * 8])
    assert _is_kept(np.array([3, 3]), variance, scale, lambda _size: next(script)).tolist() == [True, False]


def test_what_is_certain_is_kept():
    """At |y| = σ²/t the probability is 1, which no binary places reach: kept without a comparison."""
    assert _is_kept(np.array([1, -1]), Fraction(2), 2, WordsThenBytes([2**53 - 1] * 2)).tolist() == [True, True]
