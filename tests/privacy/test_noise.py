"""Distributions of noise as values."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from privmine.errors import InputError
from privmine.privacy import DiscreteLaplace, Laplace, noise_from_dict


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_variance_of_noise(scale: Fraction) -> None:
    """2b² of the continuous distribution; of the discrete one the sum of x²·p(x)."""
    weights = {x: exp(-abs(x) / scale) for x in range(-4000, 4001)}
    variance = sum(x * x * weight for x, weight in weights.items()) / sum(weights.values())
    assert DiscreteLaplace(scale).variance == pytest.approx(variance)
    assert Laplace(scale).variance == pytest.approx(2 * float(scale) ** 2)


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
    with pytest.raises(InputError, match="no noise that this version"):
        noise_from_dict(values)
