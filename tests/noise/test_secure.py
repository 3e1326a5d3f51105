"""The default source of noise: integers only, scales never rounded down, total at the edges.

The χ² tests here use the entropy of the operating system; `assert_fits` keeps the false-alarm rate of
each below 10^(−6). The tests of 10^6 draws are in tests/statistics.
"""

from __future__ import annotations

from fractions import Fraction
from importlib.metadata import version
from math import exp, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.noise import secure
from privmine.noise.protocol import Tail
from privmine.noise.secure import LARGEST_VALUE, LONGEST_FOR_OPENDP, SecureNoise, root_rounded_up, rounded_up
from privmine.privacy.noise import DiscreteGaussian

LONG = LONGEST_FOR_OPENDP + 1


def laplace_probabilities(scale, reach):
    """Pr[x] = (1 − r)/(1 + r)·r^|x| with r = e^(−1/scale), for |x| ≤ reach."""
    r = exp(-1 / scale)
    return {x: (1 - r) / (1 + r) * r ** abs(x) for x in range(-reach, reach + 1)}


def gaussian_probabilities(variance, reach):
    """Pr[x] ∝ e^(−x²/(2·variance)), for |x| ≤ reach; what lies beyond is negligible."""
    weights = {x: exp(-x * x / (2 * variance)) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def test_says_what_it_is():
    """The name carries the version of OpenDP, and the source says that it is private."""
    assert f"OpenDP {version('opendp')}" in SecureNoise().name
    assert SecureNoise().private is True


@pytest.mark.parametrize("size", [0, 1, LONGEST_FOR_OPENDP, LONG, 5000])
def test_laplace_gives_as_many_integers_as_it_got(size):
    """Integers come out, in an array of the same shape, on either side of the switch of samplers."""
    noisy = SecureNoise().laplace(np.arange(size), Fraction(10, 3))
    assert noisy.dtype == np.int64
    assert noisy.shape == (size,)


def test_nothing_needs_no_type():
    """An empty list is an array of floats to numpy, and there is nothing in it to refuse."""
    assert SecureNoise().laplace([], Fraction(1)).tolist() == []


@pytest.mark.parametrize("shape", [(2, 3), (40, 50), (0, 4)])
def test_noise_keeps_the_shape(shape):
    """Tables keep their shape, and the input is left alone."""
    values = np.zeros(shape, dtype=np.int64)
    assert SecureNoise().laplace(values, Fraction(50)).shape == shape
    assert SecureNoise().gaussian(values, Fraction(50)).shape == shape
    assert not values.any()


# OpenDP before 0.14.2 is biased at a scale of 3 (opendp issue 2638).
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(7, 2)], ids=str)
@pytest.mark.parametrize("size", [LONGEST_FOR_OPENDP, LONG])
def test_laplace_has_its_exact_probabilities(size, scale, assert_fits):
    """About 60,000 draws around 5 fit the discrete Laplace distribution, in short arrays and in long ones."""
    source, values = SecureNoise(), np.full(size, 5)
    draws = [x - 5 for _ in range(60) for x in source.laplace(values, scale).tolist()]
    assert_fits(draws, laplace_probabilities(float(scale), 40))


def test_gaussian_has_its_exact_probabilities(assert_fits):
    """40,000 draws around −3 fit the discrete Gaussian distribution of that variance."""
    draws = (SecureNoise().gaussian(np.full(40_000, -3), Fraction(5, 2)) + 3).tolist()
    assert_fits(draws, gaussian_probabilities(2.5, 15))


@pytest.mark.parametrize("size", [LONGEST_FOR_OPENDP, LONG])
def test_what_is_asked_for_is_added(size, assert_fits):
    """About 40,000 draws of a discrete Gaussian of σ = 5/2, as a measurement asks for it: σ is no variance."""
    source, values = SecureNoise(), np.full(size, 9)
    draws = [x - 9 for _ in range(40) for x in source.add(values, DiscreteGaussian(Fraction(5, 2))).tolist()]
    assert_fits(draws, gaussian_probabilities(6.25, 30))


def test_gaussian_noise_does_not_depend_on_how_many_values_there_are(monkeypatch):
    """How many items occur may be private: both samplers draw with one σ, to the last digit."""
    asked = []

    def opendp(make, values, scale):
        asked.append(Fraction(scale) ** 2)
        return values

    def vectorised(size, variance):
        asked.append(variance)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(secure, "_measure", opendp)
    monkeypatch.setattr(secure, "discrete_gaussian", vectorised)
    for size in (LONGEST_FOR_OPENDP, LONGEST_FOR_OPENDP + 1):
        SecureNoise().gaussian(np.zeros(size, dtype=np.int64), Fraction(1, 3))
    assert asked[0] == asked[1] > Fraction(1, 3)


@pytest.mark.parametrize("size", [10, LONG])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_tiny_scale_gives_almost_no_noise(noise, size):
    """At a scale of 1/1000 and far below, an answer is exact but for probability 10^(−400)."""
    values = np.arange(size)
    for amount in (Fraction(1, 10**6), Fraction(1, 10**400)):
        assert np.array_equal(getattr(SecureNoise(), noise)(values, amount), values)


@pytest.mark.parametrize("size", [10, LONG])
def test_huge_scale_saturates(size):
    """Noise beyond 64 bits ends at their limits rather than wrapping around; false alarm below 10^(−200)."""
    noisy = SecureNoise().laplace(np.zeros(size, dtype=np.int64), Fraction(10**250))
    limits = np.iinfo(np.int64)
    assert set(noisy.tolist()) <= {limits.min, limits.max}


@pytest.mark.parametrize("size", [10, LONG])
def test_values_at_the_limits_do_not_wrap(size):
    """A value at the end of the range is clamped and stays there: false alarm below 10^(−400)."""
    limits = np.iinfo(np.int64)
    for limit in (limits.min, limits.max):
        noisy = SecureNoise().laplace(np.full(size, limit), Fraction(100))
        clamped = max(-LARGEST_VALUE, min(int(limit), LARGEST_VALUE))
        assert all(abs(x - clamped) < 10**5 for x in noisy.tolist())


@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1, 3)])
def test_noise_must_be_positive(amount):
    """A scale or variance of 0 or less is refused."""
    with pytest.raises(InputError, match="scale of noise must be above 0"):
        SecureNoise().laplace(np.array([1]), amount)
    with pytest.raises(InputError, match="variance of noise must be above 0"):
        SecureNoise().gaussian(np.array([1]), amount)


def test_scale_beyond_floats_is_refused():
    """A scale that no float can hold is refused in words."""
    with pytest.raises(InputError, match="larger than any number"):
        SecureNoise().laplace(np.array([1]), Fraction(10**400))


def test_floats_are_refused():
    """Values with fractions cannot get exact noise; they are not truncated silently."""
    with pytest.raises(InputError, match="Only integers"):
        SecureNoise().laplace(np.array([1.5]), Fraction(1))


positive = st.fractions(Fraction(1, 10**30), 10**30)


@given(exact=positive | st.floats(1e-300, 1e300).map(Fraction))
def test_scale_is_rounded_up_to_the_next_float(exact):
    """The float is the smallest one that is not below the fraction."""
    scale = rounded_up(exact)
    assert Fraction(scale) >= exact
    assert Fraction(nextafter(scale, 0)) < exact


@given(exact=positive | st.floats(1e-300, 1e300).map(Fraction))
def test_root_is_rounded_up(exact):
    """The float is not below the square root, and at most two places above it."""
    root = root_rounded_up(exact)
    assert Fraction(root) ** 2 >= exact
    assert Fraction(nextafter(nextafter(root, 0), 0)) ** 2 < exact


def test_root_just_above_a_float_is_rounded_up():
    """A variance that exceeds 1.5² by 10^(−100) needs more than 1.5, and 1.5² itself does not."""
    assert root_rounded_up(Fraction(9 * 10**100 + 1, 4 * 10**100)) == nextafter(1.5, 2)
    assert root_rounded_up(Fraction(9, 4)) == 1.5


def test_opendp_is_given_the_scale_rounded_up(monkeypatch):
    """1/10, whose float lies above, and 1/3 and √2, whose floats lie below, all reach OpenDP at or above."""
    given_scales = []

    def recording(make):
        def record(domain, metric, scale):
            given_scales.append(Fraction(scale))
            return make(domain, metric, scale)

        return record

    for name in ("make_laplace", "make_gaussian"):
        monkeypatch.setattr(secure, name, recording(getattr(secure, name)))
    source = SecureNoise()
    for denominator in (3, 10, 49, 107):
        source.laplace(np.array([1]), Fraction(1, denominator))
        source.gaussian(np.array([1]), Fraction(2, denominator))
        laplace_scale, gaussian_scale = given_scales[-2:]
        assert laplace_scale >= Fraction(1, denominator)
        assert gaussian_scale**2 >= Fraction(2, denominator)


def test_selection_answers_the_tail_as_one_more_candidate():
    """Listed candidates come as their index, members of the tail as the number of listed ones."""
    answer = SecureNoise().select(np.array([0, 900]), 3, Fraction(1), Tail(450, 10**30))
    assert answer.tolist() == [1, 2, 2]


def test_selection_without_candidates():
    """Nothing selected of nothing is nothing."""
    assert SecureNoise().select(np.array([], dtype=np.int64), 0, Fraction(1)).tolist() == []


def test_below_is_uniform(assert_fits):
    """60,000 draws below 6 are uniform."""
    source = SecureNoise()
    assert_fits((source.below(6) for _ in range(60_000)), dict.fromkeys(range(6), 1 / 6))


def test_below_takes_bounds_of_any_size():
    """A bound of 10^40 is used up to its top; 100 draws below a tenth of it have probability 10^(−100)."""
    assert max(SecureNoise().below(10**40) for _ in range(100)) > 10**39
