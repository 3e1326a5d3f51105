"""Half-widths of sums of Gaussian noise: exact on a lattice, never too small elsewhere."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from privmine.noise.laws import NoiseSum
from privmine.privacy.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Noise

LEVELS = (0.5, 0.9, 0.95, 0.999)
SCALES = [Fraction(text) for text in ("1/5", "1/2", "9/10", "1", "2", "7/2", "20")]


def probabilities(noise: Noise) -> np.ndarray:
    """Of the whole numbers around 0, as far as any has a probability that matters."""
    scale = float(noise.scale)
    reach = int(60 * scale) + 8 if isinstance(noise, DiscreteLaplace) else int(12 * scale) + 8
    x = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(x) / scale) if isinstance(noise, DiscreteLaplace) else np.exp(-(x**2) / (2 * scale**2))
    return weights / weights.sum()


def convolved(terms: list[tuple[Noise, int, int]]) -> np.ndarray:
    """The exact distribution of a sum of draws with whole weights."""
    total = np.ones(1)
    for noise, draws, weight in terms:
        one = probabilities(noise)
        spread = np.zeros((len(one) - 1) * weight + 1)
        spread[::weight] = one
        for _ in range(draws):
            total = np.convolve(total, spread)
    return total


def exact_half_width(total: np.ndarray, level: float) -> int:
    """The least m that holds so much of a symmetric distribution."""
    centre = len(total) // 2
    within = total[centre] + 2 * np.concatenate([[0.0], np.cumsum(total[centre + 1 :])])
    return int(np.searchsorted(within, level))


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("terms", [[(1, 1)], [(4, 1)], [(3, 1), (2, 2)], [(2, 3), (1, 5)]], ids=str)
def test_on_a_lattice_it_is_exact(scale: Fraction, terms: list[tuple[int, int]]) -> None:
    """The least half-width by convolution, for one draw and for sums of several."""
    noise = DiscreteGaussian(scale)
    total = convolved([(noise, *term) for term in terms])
    for level in LEVELS:
        assert NoiseSum(noise, terms).half_width(level) == pytest.approx(exact_half_width(total, level), abs=0.011)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_without_a_lattice_it_is_never_too_small(scale: Fraction) -> None:
    """Weights near 3, 5 and 7 without a common step: as wide as a lattice law nearby, or hardly wider."""
    noise = DiscreteGaussian(scale)
    weights = (0.3000001, 0.5000003, 0.7000009)
    law = NoiseSum(noise, [(2, weight) for weight in weights])
    total = convolved([(noise, 2, round(10 * weight)) for weight in weights])
    for level in LEVELS:
        least = exact_half_width(total, level) / 10
        found = law.half_width(level)
        # A point on the border moves by a millionth with such weights.
        assert found >= least * (1 - 1e-5)
        if scale == 20:
            assert found <= least * 1.02 + 2 * sum(weights)


def test_with_laplace_noise_beside_it() -> None:
    """Two releases under different definitions, compared: the sum of both kinds, discrete or in floating point."""
    gaussian, laplace = DiscreteGaussian(20), DiscreteLaplace(15)
    law = NoiseSum(gaussian, [(3, 1)]) + NoiseSum(laplace, [(2, 2)])
    total = convolved([(gaussian, 3, 1), (laplace, 2, 2)])
    floating = NoiseSum(gaussian.continuous, [(3, 1)]) + NoiseSum(laplace.continuous, [(2, 2)])
    assert isinstance(gaussian.continuous, Gaussian)
    assert isinstance(laplace.continuous, Laplace)
    for level in LEVELS:
        least = exact_half_width(total, level)
        assert law.half_width(level) == pytest.approx(least, abs=0.011)
        assert floating.half_width(level) == pytest.approx(least, abs=1.5)


def test_in_floating_point_it_is_normal() -> None:
    """Weights and draws only change the standard deviation."""
    law = NoiseSum(Gaussian(5), [(4, 0.5), (9, 2.0)])
    deviation = 5 * (4 * 0.25 + 9 * 4) ** 0.5
    assert law.standard_error == pytest.approx(deviation)
    assert law.half_width(0.95) == pytest.approx(deviation * NormalDist().inv_cdf(0.975))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_variance_of_a_draw(scale: Fraction) -> None:
    """By summation; never above σ²."""
    noise = DiscreteGaussian(scale)
    chances = probabilities(noise)
    x = np.arange(len(chances)) - len(chances) // 2
    assert noise.variance == pytest.approx(float(chances @ x**2), rel=1e-9)
    assert noise.variance <= float(scale) ** 2 * (1 + 1e-12)


def test_tiny_and_huge_scales_have_half_widths() -> None:
    """No overflow at either end; noise that is always 0 has a half-width of 0."""
    assert NoiseSum(DiscreteGaussian(Fraction(1, 1000)), [(10**6, 1)]).half_width(0.95) == 0
    huge = NoiseSum(DiscreteGaussian(10**9), [(1024, 1)])
    assert huge.half_width(0.95) == pytest.approx(1.959964 * 32 * 10**9, rel=1e-5)
    assert NoiseSum(DiscreteGaussian(40), [(1, 1.0)]).half_width(1 - 1e-10) > 40 * 6


@pytest.mark.parametrize("scale", SCALES[1:5], ids=str)
def test_a_level_next_to_a_probability_is_told_from_it(scale: Fraction) -> None:
    """Just below Pr[|Z| ≤ m] m is enough, and just above it is not."""
    noise = DiscreteGaussian(scale)
    total = convolved([(noise, 2, 1)])
    centre = len(total) // 2
    law = NoiseSum(noise, [(2, 1)])
    for m in (1, 2):
        within = float(total[centre - m : centre + m + 1].sum())
        assert law.half_width(within - 1e-8) == m
        assert law.half_width(within + 1e-8) == m + 1
