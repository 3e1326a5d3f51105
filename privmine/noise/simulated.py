"""Noise for research: reproducible from a seed, in floating point, and not private."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np

from privmine.errors import InputError
from privmine.model import FloatArray, IntArray
from privmine.noise.elliptope import simulated_elliptope_noise
from privmine.noise.protocol import Tail
from privmine.noise.sets import select_set
from privmine.privacy.noise import DiscreteElliptope, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Noise
from privmine.privacy.receipt import NOT_PRIVATE


class SimulatedNoise:
    """Seeded numpy noise with the distributions of the real mechanisms, up to rounding.

    Privacy: none. Whoever knows the seed knows the noise, and the low bits of a float betray the exact
    value even to those who do not (tests/noise/test_mironov.py does it).
    """

    private = False

    def __init__(self, seed: int | None = None) -> None:
        """Start the generator.

        Args:
            seed: the same seed gives the same answers to the same questions; None starts anywhere.
        """
        self._generator = np.random.default_rng(seed)
        self._seed = seed

    @property
    def name(self) -> str:
        """That it is simulated, and how."""
        origin = "without a seed" if self._seed is None else f"seed {self._seed}"
        return f"simulated noise, {NOT_PRIVATE} (numpy {np.__version__}, {origin})"

    def draws(self, noise: Noise) -> Noise:
        """Its like in floating point."""
        return noise.continuous

    def add(self, values: IntArray, noise: Noise) -> FloatArray:
        """Add noise in floating point to each value."""
        if isinstance(noise, DiscreteElliptope):
            return values + simulated_elliptope_noise(noise.variables, float(noise.scale), self._generator)
        if isinstance(noise, Gaussian | DiscreteGaussian):
            values = np.asarray(values)
            return values + self._generator.normal(scale=float(noise.scale), size=values.shape)
        if not isinstance(noise, Laplace | DiscreteLaplace):
            raise InputError(f"There is no simulation of {noise.distribution}; use another source of noise.")
        return self.laplace(values, noise.scale)

    def laplace(self, values: IntArray, scale: Fraction) -> FloatArray:
        """Add independent Laplace noise in floating point to each value."""
        if scale <= 0:
            raise InputError(f"The scale of noise must be above 0, not {scale}.")
        values = np.asarray(values)
        return values + self._generator.laplace(scale=float(scale), size=values.shape)

    def select(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw n candidates without replacement, each with weight e^(rate·score), in one pass.

        With independent Gumbel noise on rate·score, the n largest in descending order are distributed
        as n draws without replacement.
        """
        tail_size = tail.size if tail else 0
        if not 0 <= n <= len(scores) + tail_size:
            raise InputError(f"{n} of the candidates, {len(scores)} and the tail, cannot be selected; lower n.")
        keys = np.asarray(scores) * float(rate) + self._generator.gumbel(size=len(scores))
        if tail and tail.size:
            keys = np.append(keys, float(rate) * tail.score + self._largest_gumbels(tail.size, n))
        # A full partition is refused by numpy, and not needed.
        kept = np.argpartition(-keys, n)[:n] if n < len(keys) else np.arange(n)
        ranked = kept[np.argsort(-keys[kept])]
        return np.minimum(ranked, len(scores)).astype(np.int64)

    def noisy_top(self, scores: IntArray, n: int, scale: Fraction, tail: Tail | None = None) -> IntArray:
        """Name the n candidates whose scores are largest after Laplace noise of this scale."""
        tail_size = tail.size if tail else 0
        if not 0 <= n <= len(scores) + tail_size:
            raise InputError(f"{n} of the candidates, {len(scores)} and the tail, cannot be selected; lower n.")
        keys = self.laplace(scores, scale)
        if tail and tail.size:
            keys = np.append(keys, tail.score + float(scale) * self._largest_laplaces(tail.size, n))
        ranked = np.argsort(-keys)[:n]
        return np.minimum(ranked, len(scores)).astype(np.int64)

    def select_set(self, scores: IntArray, n: int, rate: Fraction, tail: Tail | None = None) -> IntArray:
        """Draw a set of n candidates with weight e^(−rate·gap), by the exact sampler with seeded randomness."""
        return select_set(scores, n, rate, tail, random_bits=lambda bits: self.below(1 << bits), below=self.below)

    def below(self, bound: int) -> int:
        """A uniform integer from 0 to bound − 1, for a bound of any size."""
        if bound < 1:
            raise InputError(f"There is no integer from 0 to below {bound}.")
        while True:
            drawn = int.from_bytes(self._generator.bytes(bound.bit_length() // 8 + 1), "little")
            drawn %= 1 << bound.bit_length()
            if drawn < bound:
                return drawn

    def _largest_gumbels(self, size: int, n: int) -> FloatArray:
        """The n largest of `size` Gumbel variables, without drawing the others.

        A Gumbel variable is −ln E of an exponential E, so the largest come from the smallest. The gaps
        of sorted exponentials are independent (Rényi): the (j+1)-th is exponential with mean
        1/(size − j). The factor `size` is taken out of them, so that a huge size does not overflow.
        """
        return log(size) - np.log(self._smallest_exponentials(size, n))

    def _largest_laplaces(self, size: int, n: int) -> FloatArray:
        """The n largest of `size` Laplace variables of scale 1, without drawing the others.

        A uniform number is e^(−E) of an exponential E, so the largest come from the smallest here too.
        The Laplace quantile of u = e^(−E) is −ln(2·(1−u)) in the upper half, else ln 2 − E.
        """
        log_e = np.log(self._smallest_exponentials(size, n)) - log(size)
        e = np.exp(log_e)
        # 1 − e^(−E) is E itself where E is too small for floats to tell, or to hold.
        log_rest = np.where(e > 1e-300, np.log(-np.expm1(-np.maximum(e, 1e-300))), log_e)
        return np.where(e < log(2), -log(2) - log_rest, log(2) - e)

    def _smallest_exponentials(self, size: int, n: int) -> FloatArray:
        """The n smallest of `size` exponential variables, rising, each times `size`."""
        n = min(n, size)
        means = np.array([size / (size - j) for j in range(n)], dtype=np.float64)
        return np.cumsum(self._generator.exponential(size=n) * means)
