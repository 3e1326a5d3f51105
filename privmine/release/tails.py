"""How likely noise of a given law exceeds a value: its tail, its quantiles and its density.

Intervals of single counts are computed from the law itself, to many digits (`intervals`). What is said here of many
counts at once needs fewer: a table of the tail, made once for each law, gives about six.

Discrete noise is taken for Laplace noise of the same variance. On its lattice that differs by less than a step.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, log, pi, sqrt

import numpy as np
from attrs import frozen

from privmine.model import FloatArray
from privmine.release.intervals import KeptLaw, NormalLaw, TabulatedLaw

#: How far a table reaches; beyond it the tail goes on falling as at its end.
_SMALLEST_TAIL = 1e-12
_POINTS = 1 << 13
_LAPLACE = ("laplace", "discrete laplace")


@frozen(eq=False)
class NoiseTail:
    """The upper half of a symmetric distribution.

    Attributes:
        places: values from 0 on.
        log_tails: the logarithm of Pr[Z ≥ value] at each.
    """

    places: FloatArray
    log_tails: FloatArray

    def above(self, values: FloatArray | float) -> FloatArray:
        """Pr[Z ≥ value]."""
        values = np.asarray(values, dtype=np.float64)
        far = np.abs(values)
        logs = np.interp(far, self.places, self.log_tails)
        slope = (self.log_tails[-1] - self.log_tails[-2]) / (self.places[-1] - self.places[-2])
        logs = np.where(far > self.places[-1], self.log_tails[-1] + slope * (far - self.places[-1]), logs)
        tails = np.exp(logs)
        return np.where(values >= 0, tails, 1 - tails)

    def quantile(self, tail: float) -> float:
        """The value that Z exceeds with this probability, at most one half."""
        wanted = log(tail)
        if wanted < self.log_tails[-1]:
            slope = (self.log_tails[-1] - self.log_tails[-2]) / (self.places[-1] - self.places[-2])
            return float(self.places[-1] + (wanted - self.log_tails[-1]) / slope)
        return float(np.interp(-wanted, -self.log_tails, self.places))


@lru_cache(maxsize=1024)
def tail_of(law: KeptLaw | NormalLaw) -> NoiseTail:
    """The tail of a law."""
    if isinstance(law, NormalLaw):
        return symmetric_table(np.linspace(0, 7, 400) * max(law.standard_error, 1e-9), _normal_tails())
    if isinstance(law, TabulatedLaw):
        return _of_half_widths(law)
    if any(noise.distribution not in _LAPLACE for noise, _ in law.parts):
        return _of_half_widths(TabulatedLaw.of(law))
    # Each term as a number of draws and the variance of one of them.
    terms = [(draws, noise.variance * weight**2) for noise, of_noise in law.parts for draws, weight in of_noise]
    if not any(variance for _, variance in terms):
        return symmetric_table(np.array([0.0, 1e-9]), np.array([0.5, 1e-12]))
    if len(terms) == 1 and terms[0][0] == 1:
        return NoiseTail(np.array([0.0, sqrt(terms[0][1] / 2)]), np.array([log(0.5), log(0.5) - 1]))
    return _of_sum(np.array(terms, dtype=np.float64))


@lru_cache(maxsize=1)
def _normal_tails() -> FloatArray:
    return np.array([erfc(value / sqrt(2)) / 2 for value in np.linspace(0, 7, 400)])


def symmetric_table(places: FloatArray, tails: FloatArray) -> NoiseTail:
    """Keep what is above the smallest tail and falls."""
    logs = np.log(np.maximum(tails, 1e-300))
    kept = np.concatenate([[True, True], (tails[2:] > _SMALLEST_TAIL) & (np.diff(logs)[1:] < 0)])
    last = int(np.argmin(kept)) if not kept.all() else len(kept)
    return NoiseTail(places[:last], logs[:last])


def _of_half_widths(law: TabulatedLaw) -> NoiseTail:
    levels, widths = np.array(law.levels), np.array(law.widths)
    # Equal half-widths at several levels make a jump; the tail at a value is the largest of them.
    places, first = np.unique(widths, return_index=True)
    tails = (1 - levels[first]) / 2
    if not len(places) or places[0] > 0:
        places, tails = np.concatenate([[0.0], places]), np.concatenate([[0.5], tails])
    if len(places) < 2:
        return symmetric_table(np.array([places[0], places[0] + 1e-9]), np.array([0.5, 1e-12]))
    return NoiseTail(places, np.log(tails))


def _of_sum(terms: FloatArray) -> NoiseTail:
    """By a Fourier transform of the characteristic function Π (1 + v·s²/2)^−n over terms of n draws of variance v."""
    draws, half = terms[:, 0], terms[:, 1] / 2
    # Chernoff: Pr[Z ≥ x] ≤ e^(K(s) − s·x) for each s before the first pole.
    s = np.geomspace(1e-6, 0.999, 400) / sqrt(half.max())
    cumulants = -(np.log1p(-np.outer(s * s, half)) @ draws)
    reach = float(((cumulants - log(_SMALLEST_TAIL)) / s).min())
    frequencies = pi / reach * np.arange(_POINTS // 2 + 1)
    values = np.exp(-(np.log1p(np.outer(frequencies**2, half)) @ draws))
    density = np.fft.irfft(values, _POINTS)[: _POINTS // 2]
    # A point stands for a cell around it, and half of the first cell lies above 0.
    tails = 0.5 - np.concatenate([[0.0, density[0] / 2], density[0] / 2 + np.cumsum(density[1:-1])])
    places: FloatArray = 2 * reach / _POINTS * (np.arange(_POINTS // 2, dtype=np.float64) - 0.5)
    places[0] = 0.0
    return symmetric_table(places, tails)
