"""Quantiles of noise sums against closed forms and against exact convolutions."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, lcm, log
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.errors import ContractError, InputError
from privmine.intervals import Interval, NoiseSum, NormalLaw, TabulatedLaw, interval, kept_law, law_from_dict
from privmine.privacy import Noise

LEVELS = (0.01, 0.5, 0.9, 0.95, 0.999)


def laplace(terms: Any, scale: Any = 1) -> NoiseSum:
    return NoiseSum(Noise("laplace", Fraction(scale)), terms)


def discrete(terms: Any, scale: Any = 1) -> NoiseSum:
    return NoiseSum(Noise("discrete laplace", Fraction(scale)), terms)


def exact_distribution(terms: list[tuple[int, Fraction]], scale: float) -> tuple[Fraction, np.ndarray]:
    """The step of the lattice, and the probabilities of 0, ±1, ±2, … steps, by convolving draw after draw."""
    unit = lcm(*(weight.denominator for _, weight in terms))
    q = exp(-1 / scale)
    reach = int(45 * scale) + 2
    pmf = np.array([1.0])
    for draws, weight in terms:
        stretch = int(weight * unit)
        one = np.zeros(2 * reach * stretch + 1)
        one[::stretch] = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
        for _ in range(draws):
            pmf = np.convolve(pmf, one)
    half = len(pmf) // 2
    return Fraction(1, unit), pmf[half:]


def exact_half_width(terms: list[tuple[int, Fraction]], scale: float, level: float) -> tuple[float, float]:
    """The least half-width that holds so much, and the step of the lattice."""
    step, pmf = exact_distribution(terms, scale)
    within = pmf[0] + 2 * np.concatenate([[0.0], np.cumsum(pmf[1:])])
    return float(step) * int(np.argmax(within >= level)), float(step)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.05, 0.3, 1, 2.5, 20, 1000])
def test_one_discrete_draw_has_a_closed_form(scale: float, level: float) -> None:
    """Pr[|X| ≤ m] = 1 − 2·q^(m+1)/(1 + q), summed here term by term."""
    q = exp(-1 / scale)
    within, m = (1 - q) / (1 + q), 0
    while within < level:
        m += 1
        within += 2 * (1 - q) / (1 + q) * q**m
    assert discrete([(1, 1)], scale).half_width(level) == m
    assert discrete([(1, 0.25)], scale).half_width(level) == m / 4


@pytest.mark.parametrize("level", LEVELS)
def test_continuous_draws_in_closed_form(level: float) -> None:
    """One draw, two of equal weight, and two of different weight; the tail at the half-width is what is left."""
    left = 1 - level
    assert laplace([(1, 1)], 3).half_width(level) == pytest.approx(-3 * log(left), rel=1e-12)
    x = laplace([(2, 1)]).half_width(level)
    assert (1 + x / 2) * exp(-x) == pytest.approx(left, rel=1e-9)
    x, w = laplace([(1, 1), (1, 0.3)]).half_width(level), 0.3
    assert (exp(-x) - w**2 * exp(-x / w)) / (1 - w**2) == pytest.approx(left, rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.2, 0.7, 2, 6])
@pytest.mark.parametrize("draws", [2, 3, 8, 40])
def test_equal_discrete_draws_are_exact(draws: int, scale: float, level: float) -> None:
    """On the integers the half-width is the least one, neither more nor less."""
    exact, _ = exact_half_width([(draws, Fraction(1))], scale, level)
    assert discrete([(draws, 1)], Fraction(scale)).half_width(level) == exact


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.3, 1, 4])
@pytest.mark.parametrize(
    "terms",
    [
        [(2, Fraction(1, 2))],
        [(1, Fraction(1)), (2, Fraction(1, 2))],
        [(4, Fraction(2, 3)), (8, Fraction(1, 3))],
        [(2, Fraction(4, 7)), (4, Fraction(2, 7)), (8, Fraction(1, 7))],
        [(16, Fraction(1, 5)), (4, Fraction(4, 5))],
    ],
)
def test_weighted_discrete_draws_never_lose_the_border(
    terms: list[tuple[int, Fraction]], scale: float, level: float
) -> None:
    """Never less than the least half-width, and hardly more: a thousandth of a step, or of the standard error."""
    law = discrete([(draws, float(weight)) for draws, weight in terms], Fraction(scale))
    exact, step = exact_half_width(terms, scale, level)
    assert exact <= law.half_width(level) <= exact + max(0.002 * step, 0.003 * law.standard_error)


@pytest.mark.parametrize("make", [laplace, discrete])
def test_a_million_draws_are_normal(make: Any) -> None:
    """2^20 draws of equal weight: the standard normal quantile, within what a lattice and kurtosis leave."""
    law = make([(2**20, 1)], 5)
    for level in (0.5, 0.9, 0.95, 0.999):
        normal = NormalLaw(law.standard_error).half_width(level)
        assert law.half_width(level) == pytest.approx(normal, rel=1e-4, abs=1)


def test_a_normal_interval_of_one_draw_covers_too_little() -> None:
    """Which is why the quantiles of the noise itself are used: 93.7 % instead of 95 %."""
    law = laplace([(1, 1)])
    covered = 1 - exp(-NormalLaw(law.standard_error).half_width(0.95))
    assert covered == pytest.approx(0.937, abs=5e-4)
    assert 1 - exp(-law.half_width(0.95)) == pytest.approx(0.95)


laws = st.builds(
    lambda distribution, scale, terms: NoiseSum(Noise(distribution, scale), terms),
    st.sampled_from(["laplace", "discrete laplace"]),
    st.fractions(Fraction(1, 10**4), Fraction(10**9)),
    st.lists(st.tuples(st.integers(0, 2**24), st.one_of(st.just(1.0), st.floats(1e-7, 1.0))), min_size=1, max_size=4),
)


@given(law=laws, levels=st.lists(st.floats(1e-6, 1 - 1e-12), min_size=2, max_size=2).map(sorted))
def test_any_noise_has_a_half_width_that_grows_with_the_level(law: NoiseSum, levels: list[float]) -> None:
    """Finite, not negative and monotone, whatever the terms."""
    low, high = (law.half_width(level) for level in levels)
    assert 0 <= low <= high * (1 + 1e-9) < inf


@given(law=laws)
def test_laws_survive_json(law: NoiseSum) -> None:
    """Terms, distribution and scale, exactly."""
    assert law_from_dict(law.to_dict()) == law


def test_terms_are_brought_into_one_form() -> None:
    """Order, sign, empty terms and equal weights make no difference."""
    assert laplace([(2, 1), (0, 7), (3, -1), (1, 0.5), (4, 0)]) == laplace([(1, 0.5), (5, 1.0)])
    assert laplace([]).half_width(0.95) == 0
    with pytest.raises(InputError, match="A term of noise"):
        laplace([(1, inf)])


def test_tiny_noise_is_none() -> None:
    """Where all draws are 0 with the wanted probability, the interval is a point."""
    assert discrete([(2**20, 1.0), (5, 0.3)], Fraction(7, 5000)).half_width(0.999) == 0


def test_an_interval_ends_where_counts_end() -> None:
    """At 0 and at the most that there can be; one that lies wholly outside becomes the nearest count."""
    law = laplace([(1, 1)], 10)
    reach = law.half_width(0.9)
    assert interval(100, law, 0.9) == Interval(100 - reach, 100 + reach)
    assert interval(5, law, 0.9) == Interval(0, 5 + reach)
    assert interval(-90, law, 0.9) == Interval(0, 0)
    assert interval(95, law, 0.9, most=100) == Interval(95 - reach, 100)
    assert interval(190, law, 0.9, most=100) == Interval(100, 100)


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, 95, "0.9", True, float("nan"), None])
def test_a_level_is_a_probability(level: Any) -> None:
    """Anything else is refused with an example."""
    for law in (laplace([(2, 1)]), NormalLaw(1.0), TabulatedLaw([(0.5, 1.0)])):
        with pytest.raises(InputError, match=r"between 0 and 1, for instance 0\.95"):
            law.half_width(level)


class Uniform:
    """A law that a plugin might have: noise within ±10."""

    def half_width(self, level: float) -> float:
        return 10 * level


def test_the_law_of_a_plugin_is_kept_as_a_table() -> None:
    """It can be saved then; between two levels of the table the higher one counts, beyond the last there is none."""
    law = kept_law(Uniform())
    assert isinstance(law, TabulatedLaw)
    assert law.half_width(0.95) == 9.5
    assert law.half_width(0.945) == 9.5
    assert law_from_dict(law.to_dict()) == law
    with pytest.raises(InputError, match=r"up to a level of 0\.9999"):
        law.half_width(0.99999)


@pytest.mark.parametrize(
    "width", [lambda level: -level, lambda level: inf, lambda level: 1 / 0, lambda level: 1 - level]
)
def test_a_law_without_sensible_widths_is_refused(width: Any) -> None:
    """Negative, infinite, failing or shrinking: the law is named."""

    class Odd:
        def half_width(self, level: float) -> float:
            return width(level)

    with pytest.raises(ContractError, match="law Odd"):
        kept_law(Odd())


def test_normal_laws_are_normal() -> None:
    """The familiar 1.96."""
    assert NormalLaw(2.0).half_width(0.95) == pytest.approx(2 * NormalDist().inv_cdf(0.975))
