"""Noise for releases: integers, exactly distributed, with entropy of the operating system."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from math import inf, isqrt, nextafter
from typing import Any

import numpy as np
from attrs import frozen
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import enable_features

from privmine.errors import InputError
from privmine.model import IntArray
from privmine.noise.elliptope import elliptope_noise
from privmine.noise.faults import fault, faulty_version
from privmine.noise.noisy_top import noisy_top
from privmine.noise.protocol import Tail
from privmine.noise.selection import select
from privmine.noise.sets import select_set
from privmine.noise.vectorised import (
    LARGEST_SCALE,
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    discrete_gaussian,
    discrete_laplace,
)
from privmine.privacy.noise import DiscreteElliptope, DiscreteGaussian, DiscreteLaplace, Noise

# OpenDP takes 9 µs a draw, with any number of threads. So many draws take 10 ms there; for more,
# the vectorised sampler is faster, and below that it pays to rely on code that others review.
LONGEST_FOR_OPENDP = 1_000
# Values beyond this might leave 64 bits when noise is added; OpenDP adds in big integers and saturates.
LARGEST_VALUE = 2**61


@frozen
class SecureNoise:
    """The default source of noise: every answer is an integer, and no probability is rounded.

    Privacy: a draw is distributed as the mechanism's proof says, with a scale that is never below the
    one asked for. Timing is outside the threat model. See docs/privacy-samplers.md.
    """

    private = True

    def __attrs_post_init__(self) -> None:
        # Here, because a run makes its source of noise before it charges anything.
        if faulty := faulty_version(self.name):
            raise InputError(f"{fault(faulty)} Nothing was charged. Upgrade it: pip install --upgrade opendp.")

    @property
    def name(self) -> str:
        """What samples, with its version."""
        return f"exact discrete noise (OpenDP {version('opendp')}), entropy of the operating system"

    def draws(self, noise: Noise) -> Noise:
        """Itself."""
        return noise

    def add(self, values: IntArray, noise: Noise) -> IntArray:
        """Add discrete noise to each value, exactly."""
        if isinstance(noise, DiscreteElliptope) and noise.is_discrete:
            return self.elliptope(values, noise.variables, noise.scale)
        if isinstance(noise, DiscreteGaussian):
            return self.gaussian(values, noise.scale**2)
        if not isinstance(noise, DiscreteLaplace):
            raise InputError(f"There is no exact sampler for {noise.distribution}; use another source of noise.")
        return self.laplace(values, noise.scale)

    def elliptope(self, values: IntArray, variables: int, scale: Fraction) -> IntArray:
        """Add noise of the cone of moment matrices to one: scale·(A − B), rounded to whole numbers, exactly.

        Where a sum does not fit in 64 bits it saturates.
        """
        values = _checked(values, scale, "scale")
        sums = [value + noise for value, noise in zip(values.tolist(), elliptope_noise(variables, scale), strict=True)]
        limit = np.iinfo(np.int64).max
        return np.array([max(-limit, min(total, limit)) for total in sums], dtype=np.int64)

    def laplace(self, values: IntArray, scale: Fraction) -> IntArray:
        """Add independent discrete Laplace noise, Pr[x] ∝ e^(−|x|/scale), to each value.

        Short arrays go through OpenDP with the scale rounded up to a float, long ones through
        `discrete_laplace` with the scale as it is. Where a sum does not fit in 64 bits it saturates.
        """
        # Clamping moves no two values apart, so it costs nothing, and no path is chosen by the values.
        values = np.clip(_checked(values, scale, "scale"), -LARGEST_VALUE, LARGEST_VALUE)
        if values.size > LONGEST_FOR_OPENDP and scale <= LARGEST_SCALE:
            return values + discrete_laplace(values.size, scale).reshape(values.shape)
        return _measure(_laplace_measurement, values, rounded_up(scale))

    def gaussian(self, values: IntArray, variance: Fraction) -> IntArray:
        """Add independent discrete Gaussian noise, Pr[x] ∝ e^(−x²/(2·variance)), to each value.

        Privacy: σ is rounded up to a float whichever sampler draws. Where items are private, how many occur is so as
        well, and noise that depended on it would tell of it, however little.
        """
        values = np.clip(_checked(values, variance, "variance"), -LARGEST_VALUE, LARGEST_VALUE)
        scale = root_rounded_up(variance)
        drawn = Fraction(scale) ** 2
        if values.size > LONGEST_FOR_OPENDP and SMALLEST_VARIANCE <= drawn <= LARGEST_VARIANCE:
            return values + discrete_gaussian(values.size, drawn).reshape(values.shape)
        return _measure(_gaussian_measurement, values, scale)

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw n candidates without replacement, each with weight e^(rate·score), exactly."""
        return select(scores, n, rate, tail)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Name the n candidates whose scores are largest after Laplace noise of this scale, exactly."""
        return noisy_top(scores, n, scale, tail)

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw a set of n candidates with weight e^(−rate·gap), exactly."""
        return select_set(scores, n, rate, tail)

    def below(self, bound: int) -> int:
        """A uniform integer from 0 to bound − 1."""
        return secrets.randbelow(bound)


def rounded_up(exact: Fraction) -> float:
    """The smallest float that is at least this positive number."""
    try:
        nearest = float(exact)
    except OverflowError:
        raise InputError("The noise that is asked for is larger than any number a float can hold.") from None
    return nearest if Fraction(nearest) >= exact else nextafter(nearest, inf)


def root_rounded_up(exact: Fraction) -> float:
    """A float that is at least the square root of this positive number, by at most two places."""
    # ⌈√(a·b)⌉ / b ≥ √(a/b); more digits than a float has come from widening the fraction first.
    widen = 1 << max(0, 128 - exact.numerator.bit_length())
    product = exact.numerator * widen * widen * exact.denominator
    root = isqrt(product - 1) + 1
    return rounded_up(Fraction(root, widen * exact.denominator))


def _checked(values: IntArray, amount: Fraction, what: str) -> IntArray:
    if amount <= 0:
        raise InputError(f"The {what} of noise must be above 0, not {amount}.")
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"Only integers get exact noise; these values are {array.dtype}.")
    return array.astype(np.int64)


def _measure(make: Callable[[float], Any], values: IntArray, scale: float) -> IntArray:
    if not values.size:
        return values
    noisy = make(scale)(values.ravel().tolist())
    return np.array(noisy, dtype=np.int64).reshape(values.shape)


def _laplace_measurement(scale: float) -> Any:
    enable_features("contrib")
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale)


def _gaussian_measurement(scale: float) -> Any:
    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale)
