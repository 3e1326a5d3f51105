"""Quantiles of noise sums against closed forms and against exact convolutions."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, lcm, log, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import fftconvolve
from scipy.stats import nbinom

from privmine.errors import ContractError, InputError
from privmine.noise.laws import NoiseSum
from privmine.privacy import DiscreteLaplace, Laplace
from privmine.release.intervals import Interval, NormalLaw, TabulatedLaw, interval, kept_law, law_from_dict

LEVELS = (0.01, 0.5, 0.9, 0.95, 0.999)


def laplace(terms: Any, scale: Any = 1) -> NoiseSum:
    return NoiseSum(Laplace(Fraction(scale)), terms)


def discrete(terms: Any, scale: Any = 1) -> NoiseSum:
    return NoiseSum(DiscreteLaplace(Fraction(scale)), terms)


def exact_distribution(terms: list[tuple[int, Fraction]], scale: float) -> tuple[Fraction, np.ndarray]:
    """The step of the lattice, and the probabilities of 0, ±1, ±2, … steps, by convolving term after term.

    A sum of n discrete Laplace draws is the difference of two sums of n geometric ones, which are negative binomial.
    """
    unit = lcm(*(weight.denominator for _, weight in terms))
    q = exp(-1 / scale)
    pmf = np.array([1.0])
    for draws, weight in terms:
        one_side = nbinom.pmf(np.arange(nbinom.isf(1e-17, draws, 1 - q) + 2), draws, 1 - q)
        sums = fftconvolve(one_side, one_side[::-1])
        stretched = np.zeros((len(sums) - 1) * int(weight * unit) + 1)
        stretched[:: int(weight * unit)] = sums
        pmf = fftconvolve(pmf, stretched)
    return Fraction(1, unit), pmf[len(pmf) // 2 :]


def exact_coverage(terms: list[tuple[int, Fraction]], scale: float) -> tuple[float, np.ndarray]:
    """The step of the lattice, and with which probability the noise is within ±0, ±1, ±2, … steps."""
    step, pmf = exact_distribution(terms, scale)
    return float(step), pmf[0] + 2 * np.concatenate([[0.0], np.cumsum(pmf[1:])])


def exact_half_width(terms: list[tuple[int, Fraction]], scale: float, level: float) -> tuple[float, float]:
    """The least half-width that holds so much, and the step of the lattice."""
    step, within = exact_coverage(terms, scale)
    return step * int(np.argmax(within >= level)), step


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


@pytest.mark.parametrize("scale", [0.3, 1, 2, 4])
@pytest.mark.parametrize(
    "terms",
    [
        [(2, Fraction(1, 2))],
        [(1, Fraction(1)), (2, Fraction(1, 2))],
        [(4, Fraction(2, 3)), (8, Fraction(1, 3))],
        [(2, Fraction(4, 7)), (4, Fraction(2, 7)), (8, Fraction(1, 7))],
        [(16, Fraction(1, 5)), (4, Fraction(4, 5))],
        # Weights of which none is a multiple of another: the step that they have in common is 1/15, or 1/5, or 1/3.
        [(4, Fraction(1, 3)), (4, Fraction(3, 5))],
        [(2, Fraction(1)), (4, Fraction(3, 5))],
        [(3, Fraction(2, 3)), (4, Fraction(1))],
    ],
)
def test_weighted_discrete_draws_never_lose_the_border(terms: list[tuple[int, Fraction]], scale: float) -> None:
    """The least half-width, and a thousandth of a step more where that is no power of two."""
    law = discrete([(draws, float(weight)) for draws, weight in terms], Fraction(scale))
    for level in (*LEVELS, 0.8):
        exact, step = exact_half_width(terms, scale, level)
        more = 0 if Fraction(step).numerator == 1 else 0.001 * step
        # Where no draw is likely to be anything but 0, there is nothing to round.
        assert law.half_width(level) == pytest.approx(exact + more, rel=1e-12) or law.half_width(level) == exact == 0


#: Lattices with more points than are computed at once, where some of them can be taken together and others not.
LARGE = [
    # Smooth sums.
    ([(3, Fraction(1))], 60),
    ([(8, Fraction(1))], 400),
    ([(2048, Fraction(1, 3))], 10),
    # A smooth sum with too few draws to be so between the points.
    ([(2, Fraction(1))], 70),
    ([(2, Fraction(1))], 200),
    # Rough ones that fine terms smooth between their points.
    ([(2, Fraction(2, 3)), (64, Fraction(1, 48))], 40),
    ([(1, Fraction(1, 2)), (512, Fraction(1, 1024))], 2),
    ([(1, Fraction(1, 2)), (4, Fraction(1, 8)), (512, Fraction(1, 1024))], 1),
    # Rough ones that fine terms do not smooth: single draws; a sum that is smooth but for its own lattice.
    ([(1, Fraction(1, 2)), (1, Fraction(1, 2048))], 1),
    ([(64, Fraction(1, 2)), (1, Fraction(1, 64))], 25),
    # A lattice that is finer than any of the terms.
    ([(3, Fraction(1, 3)), (1, Fraction(3, 5))], 40),
]


@pytest.mark.parametrize(("terms", "scale"), LARGE)
def test_large_lattices_are_exact(terms: list[tuple[int, Fraction]], scale: float) -> None:
    """Each point counts: for a level from just above what m steps hold to what m + 1 hold, it is m + 1 steps."""
    law = discrete([(draws, float(weight)) for draws, weight in terms], Fraction(scale))
    step, within = exact_coverage(terms, scale)
    for level in (0.02, 0.3, 0.7, 0.9, 0.99, 0.9999):
        steps = int(np.argmax(within >= level))
        for m in range(steps, steps + 4):
            for just in (within[m] + 1e-12, within[m + 1] - 1e-9):
                assert law.half_width(float(just)) / step == pytest.approx(m + 1, abs=0.002), level


@pytest.mark.parametrize("scale", [0.5, 1, 2, 10])
@pytest.mark.parametrize(
    "terms",
    [[(1, 1.0), (1, sqrt(0.5))], [(1, 1.0), (2, sqrt(0.5))], [(3, pi / 4), (1, 0.5)], [(1, 1.0), (1, pi / 1e4)]],
)
def test_weights_without_a_common_step_are_covered(terms: list[tuple[int, float]], scale: float) -> None:
    """At least as claimed, summed over all pairs of values; the half-width is that of Laplace noise and the weights."""
    values, probabilities = np.zeros(1), np.ones(1)
    for draws, weight in terms:
        pmf = exact_distribution([(draws, Fraction(1))], scale)[1]
        sides = np.concatenate([pmf[:0:-1], pmf])
        sums = weight * np.arange(1 - len(pmf), len(pmf))
        values, probabilities = np.add.outer(values, sums).ravel(), np.outer(probabilities, sides).ravel()
    for level in (0.01, 0.1, 0.3, 0.5, 0.9, 0.95, 0.999):
        half_width = discrete(terms, Fraction(scale)).half_width(level)
        assert probabilities[np.abs(values) <= half_width].sum() >= level
        most = laplace(terms, Fraction(scale)).half_width(level) + sum(weight for _, weight in terms)
        assert half_width <= most * (1 + 1e-12)


@pytest.mark.parametrize("draws", [1, 3, 6])
def test_rounding_loses_no_point_on_the_border(draws: int) -> None:
    """A count whose noise is as large as the half-width lies at most that far from the truth, however it is rounded."""
    law = discrete([(draws, 1 / draws), (4, 1 / 3)] if draws > 1 else [(1, 1 / 3)], 2)
    for level in LEVELS:
        steps = round(law.half_width(level) * 6)
        for truth in range(1, 400):
            low, high = interval(float(6 * truth + steps) / 6, law, level)
            assert low <= truth <= high, level


def test_rare_tails_have_a_bound() -> None:
    """What a lattice cannot tell from nothing is never cut off: the half-width goes on growing with the level."""
    law = discrete([(3, 1.0), (2, 0.5)], 2)
    widths = [law.half_width(1 - tail) for tail in (1e-6, 1e-7, 2e-8, 5e-9, 1e-10, 1e-12, 1e-15)]
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(laplace([(3, 1.0), (2, 0.5)], 2).half_width(1 - 1e-15) + 1.5)


def test_a_lattice_may_be_of_any_size() -> None:
    """Of whole numbers in the millions the half-width is a whole number, and close to that of Laplace noise."""
    width = discrete([(16, 1)], 10**6).half_width(0.95)
    assert width == int(width)
    assert width == pytest.approx(laplace([(16, 1)], 10**6).half_width(0.95), rel=1e-8)


@pytest.mark.parametrize("make", [laplace, discrete])
def test_a_million_draws_are_normal(make: Any) -> None:
    """2^20 draws of equal weight: the standard normal quantile, within what a lattice and kurtosis leave."""
    law = make([(2**20, 1)], 5)
    for level in (0.5, 0.9, 0.95, 0.999):
        normal = NormalLaw(law.standard_error).half_width(level)
        assert law.half_width(level) == pytest.approx(normal, rel=1e-4, abs=1)


@pytest.mark.parametrize("draws", [10**12, 10**15, 10**18, 2**62])
@pytest.mark.parametrize("make", [laplace, discrete])
def test_as_many_draws_as_a_file_may_name_are_normal(make: Any, draws: int) -> None:
    """The error of one logarithm is not multiplied by all draws."""
    law = make([(draws, 1), (draws, 3)], 5)
    for level in (0.5, 0.95, 0.999):
        normal = NormalLaw(law.standard_error).half_width(level)
        assert law.half_width(level) == pytest.approx(normal, rel=1e-6)


#: Sums of noises of different scales: (scale, draws, weight) a term.
MIXED = [
    [(1, 1, Fraction(1)), (3, 1, Fraction(1))],
    [(0.5, 2, Fraction(1, 2)), (4, 1, Fraction(1))],
    [(2, 1, Fraction(3, 4)), (6, 4, Fraction(1, 4)), (1, 3, Fraction(1, 2))],
    [(0.2, 8, Fraction(1)), (20, 1, Fraction(1, 2)), (20, 2, Fraction(1))],
    # Large lattices, where a fine term of a large scale smooths a coarse one, and where it does not.
    [(40, 64, Fraction(1, 32)), (2, 2, Fraction(1, 2))],
    [(1, 1, Fraction(1, 2)), (300, 2, Fraction(1, 64))],
    [(0.1, 1, Fraction(1, 64)), (10, 2, Fraction(1))],
]


def mixed(make: Any, terms: list[tuple[float, int, Fraction]]) -> NoiseSum:
    first, *others = (make([(draws, float(weight))], Fraction(scale)) for scale, draws, weight in terms)
    return sum(others, start=first)


@pytest.mark.parametrize("terms", MIXED)
def test_noises_of_different_scales_add_up_exactly(terms: list[tuple[float, int, Fraction]]) -> None:
    """The least half-width of the convolution of all terms, each with its own scale; also in another order."""
    law = mixed(discrete, terms)
    assert law == mixed(discrete, terms[::-1])
    unit = lcm(*(weight.denominator for *_, weight in terms))
    pmf = np.array([1.0])
    for scale, draws, weight in terms:
        half = exact_distribution([(draws, Fraction(1))], scale)[1]
        stretched = np.zeros(2 * (len(half) - 1) * int(weight * unit) + 1)
        stretched[:: int(weight * unit)] = np.concatenate([half[:0:-1], half])
        pmf = fftconvolve(pmf, stretched)
    within = pmf[len(pmf) // 2] + 2 * np.concatenate([[0.0], np.cumsum(pmf[len(pmf) // 2 + 1 :])])
    for level in (*LEVELS, 0.8):
        assert law.half_width(level) == int(np.argmax(within >= level)) / unit, level
    steps = np.arange(len(pmf)) - len(pmf) // 2
    assert law.standard_error == pytest.approx(sqrt(pmf @ (steps / unit) ** 2), rel=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_continuous_noises_of_different_scales_in_closed_form(level: float) -> None:
    """A scale is a weight: draws of scales 3 and 2 are two draws of scale 1 with these weights."""
    for terms in ([(3, 1, Fraction(1)), (2, 1, Fraction(1))], [(5, 2, Fraction(1, 10)), (2, 7, Fraction(3))]):
        same = laplace([(draws, float(scale * weight)) for scale, draws, weight in terms])
        assert mixed(laplace, terms).half_width(level) == pytest.approx(same.half_width(level), rel=1e-11)
        assert mixed(laplace, terms).standard_error == pytest.approx(same.standard_error)


@pytest.mark.parametrize("scales", [(1, 2), (0.5, 10)])
def test_different_scales_without_a_common_step_are_covered(scales: tuple[float, float]) -> None:
    """By the half-width of Laplace noise and the weights, at most."""
    law = discrete([(1, 1.0)], Fraction(scales[0])) + discrete([(2, sqrt(0.5))], Fraction(scales[1]))
    sides = []
    for draws, scale in zip((1, 2), scales, strict=True):
        half = exact_distribution([(draws, Fraction(1))], scale)[1]
        sides.append((np.concatenate([half[:0:-1], half]), np.arange(1 - len(half), len(half))))
    (first, at), (second, there) = sides
    values, probabilities = np.add.outer(at, sqrt(0.5) * there).ravel(), np.outer(first, second).ravel()
    continuous = laplace([(1, 1.0)], Fraction(scales[0])) + laplace([(2, sqrt(0.5))], Fraction(scales[1]))
    for level in (0.1, 0.5, 0.9, 0.999):
        assert probabilities[np.abs(values) <= law.half_width(level)].sum() >= level
        assert law.half_width(level) <= (continuous.half_width(level) + 1 + sqrt(0.5)) * (1 + 1e-12)


def test_noises_are_added_in_one_form() -> None:
    """Equal noise is one part, what adds nothing is left out, and simulated noise is not added to discrete."""
    assert discrete([(1, 1)]) + discrete([(2, 1), (1, 0.5)]) == discrete([(3, 1), (1, 0.5)])
    assert discrete([(1, 1)], 3) + discrete([], 5) == discrete([(1, 1)], 3)
    assert (discrete([], 3) + discrete([], 5)).half_width(0.95) == 0
    with pytest.raises(InputError, match="Discrete noise and noise in floating point do not add up"):
        discrete([(1, 1)]) + laplace([(1, 1)])
    with pytest.raises(TypeError):
        discrete([(1, 1)]) + 1


def test_a_normal_interval_of_one_draw_covers_too_little() -> None:
    """Which is why the quantiles of the noise itself are used: 93.7 % instead of 95 %."""
    law = laplace([(1, 1)])
    covered = 1 - exp(-NormalLaw(law.standard_error).half_width(0.95))
    assert covered == pytest.approx(0.937, abs=5e-4)
    assert 1 - exp(-law.half_width(0.95)) == pytest.approx(0.95)


terms_of_noise = st.lists(
    st.tuples(st.integers(0, 2**24), st.one_of(st.just(1.0), st.floats(1e-7, 1.0))), min_size=1, max_size=4
)
parts_of_noise = st.lists(
    st.tuples(st.fractions(Fraction(1, 10**4), Fraction(10**9)), terms_of_noise), min_size=1, max_size=2
)


def law_of(make: Any, parts: list[tuple[Fraction, Any]]) -> NoiseSum:
    first, *others = (make(terms, scale) for scale, terms in parts)
    return sum(others, start=first)


laws = st.builds(law_of, st.sampled_from([laplace, discrete]), parts_of_noise)


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
    tiny = discrete([(2**20, 1.0), (5, 0.3)], Fraction(7, 5000))
    assert tiny.half_width(0.999) == 0
    for terms in ([(1, 1.0)], [(3, 0.5), (1, 0.7)]):
        assert (tiny + discrete(terms, 2)).half_width(0.95) == discrete(terms, 2).half_width(0.95)


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
    for law in (laplace([(2, 1)]), NormalLaw(1.0), TabulatedLaw([0.5], [1.0])):
        with pytest.raises(InputError, match=r"between 0 and 1, for instance 0\.95"):
            law.half_width(level)


class Uniform:
    """A law that a plugin might have: noise within ±10."""

    def half_width(self, level: float) -> float:
        return 10 * level


class UniformAtOnce(Uniform):
    """The same, asked for all levels at once; a single level would be wrong."""

    def half_width(self, level: float) -> float:
        raise AssertionError(level)

    def half_widths(self, levels: Any) -> Any:
        return 10 * np.asarray(levels)


def test_a_law_may_answer_many_levels_at_once() -> None:
    """The table is the same, and `half_width` is not asked; too few answers are refused."""
    assert kept_law(UniformAtOnce()) == kept_law(Uniform())
    with pytest.raises(ContractError, match="gives no half-widths"):
        kept_law(type("Short", (UniformAtOnce,), {"half_widths": lambda self, levels: [1.0]})())


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
