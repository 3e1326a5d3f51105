"""Distributions of noise as values."""

from __future__ import annotations

from fractions import Fraction
from math import exp, pi

import pytest

from privmine.errors import InputError
from privmine.privacy import (
    ConeSensitivity,
    DiscreteElliptope,
    DiscreteGaussian,
    DiscreteLaplace,
    Laplace,
    Sensitivity,
    noise_from_dict,
)
from privmine.privacy.noise import Elliptope, Gaussian


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_variance_of_noise(scale: Fraction) -> None:
    """2b² of the continuous distribution; of the discrete one the sum of x²·p(x)."""
    weights = {x: exp(-abs(x) / scale) for x in range(-4000, 4001)}
    variance = sum(x * x * weight for x, weight in weights.items()) / sum(weights.values())
    assert DiscreteLaplace(scale).variance == pytest.approx(variance)
    assert Laplace(scale).variance == pytest.approx(2 * float(scale) ** 2)


@pytest.mark.parametrize("scale", ["0.05", "1/5", "0.5", "1", "2.5", "3.99", "4", "4.01", "60", "1e12"])
def test_the_variance_of_gaussian_noise(scale: str) -> None:
    """σ² of the continuous one; of the discrete one by Poisson's sum, where other terms are small."""
    square = float(Fraction(scale)) ** 2
    terms = [exp(-2 * pi**2 * square * n * n) for n in range(1, 40)]
    less = 8 * pi**2 * square**2 * sum(n * n * term for n, term in enumerate(terms, 1)) / (1 + 2 * sum(terms))
    expected = square - less if square > 0.01 else 2 * exp(-1 / (2 * square))
    assert DiscreteGaussian(scale).variance == pytest.approx(expected, rel=1e-9, abs=0)
    assert Gaussian(scale).variance == pytest.approx(square)


def test_gaussian_noise_in_files_and_in_simulations() -> None:
    """The discrete distribution has a continuous one of the same σ."""
    noise = DiscreteGaussian("5/3")
    assert noise.continuous == Gaussian(Fraction(5, 3)) == noise.continuous.continuous != noise
    assert (noise.is_discrete, noise.continuous.is_discrete) == (True, False)
    for each in (noise, noise.continuous):
        assert noise_from_dict(each.to_dict()) == each
    assert [str(each) for each in (noise, noise.continuous)] == [
        "discrete gaussian of scale 5/3 ≈ 1.66667",
        "gaussian of scale 5/3 ≈ 1.66667",
    ]


def test_a_simulation_draws_the_like_in_floating_point() -> None:
    """The discrete distribution has a continuous one of the same scale; that one is its own."""
    assert DiscreteLaplace(3).continuous == Laplace(3) == Laplace(3).continuous
    assert (DiscreteLaplace(3).is_discrete, Laplace(3).is_discrete) == (True, False)


def test_noise_in_words_and_in_files() -> None:
    """A scale is text in a file, so that nothing is rounded; distributions of the same scale differ."""
    noise = DiscreteLaplace(Fraction(1, 3))
    assert str(noise) == "discrete laplace of scale 1/3 ≈ 0.333333"
    assert noise_from_dict(noise.to_dict()) == noise != Laplace(Fraction(1, 3))


@pytest.mark.parametrize("values", [{"distribution": "cauchy", "scale": "1"}, {"distribution": "laplace", "scale": 1}])
def test_unknown_noise_in_a_file_is_refused(values: dict[str, object]) -> None:
    """A file may come from anybody, or from a later version."""
    with pytest.raises(InputError, match="does not know this noise"):
        noise_from_dict(values)


def test_the_variance_of_noise_for_moments() -> None:
    """By hand: the diagonal of A is Gamma of shape M, and the rest is uniform within it, of variance 1/(p + 1)."""
    # p = 2: M = 2, E[a²] = 6, and a third of it above the diagonal; p = 3: M = 4, E[a²] = 20, and a fourth of it.
    for variables, size, above in ((2, 2, 2 * 6 / 3), (3, 4, 2 * 20 / 4)):
        for scale in (1, 3):
            noise = DiscreteElliptope(scale, variables)
            assert noise.size == size
            assert isinstance(noise.size, int)
            assert noise.variance == pytest.approx(above * scale**2)
            assert noise.diagonal_variance == pytest.approx(2 * size * scale**2)
    assert (DiscreteElliptope(1, 1).size, DiscreteElliptope(1, 5).size) == (1, 11)


def test_the_least_that_a_query_moves() -> None:
    """A count by 1, or moments by one matrix: a receipt whose noise is cheaper than that is forged."""
    assert DiscreteLaplace(3).least_sensitivity == Sensitivity(1, 1, 1)
    assert DiscreteElliptope(3, 4).least_sensitivity == ConeSensitivity(7, 7, 1, variables=4)


def test_noise_for_moments_in_files_and_in_simulations() -> None:
    """With its number of variables; the continuous one has the same, and differs."""
    noise = DiscreteElliptope("1/3", 4)
    assert noise.scale == Fraction(1, 3)
    assert noise.to_dict() == {"distribution": "discrete elliptope", "scale": "1/3", "variables": "4"}
    assert noise_from_dict(noise.to_dict()) == noise != noise.continuous == Elliptope(Fraction(1, 3), 4)
    assert noise_from_dict(noise.continuous.to_dict()) == noise.continuous
    assert noise.continuous.to_dict()["distribution"] == "elliptope"
    assert (noise.is_discrete, noise.continuous.is_discrete) == (True, False)


@pytest.mark.parametrize("variables", ["0", "1001", "9999", "00001", "x", "-1", "²", "", None, 3, "9" * 5000])
def test_a_number_of_variables_that_no_noise_has_is_refused(variables: object) -> None:
    """A file may come from anybody; a thousand variables are the most."""
    values = {"distribution": "discrete elliptope", "scale": "1", "variables": variables}
    with pytest.raises(InputError, match="does not know this noise"):
        noise_from_dict(values)
    for most in ("1", "1000"):
        assert noise_from_dict(values | {"variables": most}) == DiscreteElliptope(1, int(most))
