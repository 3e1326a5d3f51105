"""The little statistics that summaries need: Student's quantile and a paired permutation test."""

from __future__ import annotations

from functools import cache
from math import exp, lgamma, log, pi, sqrt

import numpy as np

from privmine.model import FloatArray

#: Up to so many pairs all sign patterns are tried; beyond, so many are drawn.
EXACT_PAIRS = 16
SAMPLED_PATTERNS = 99_999
_SEED = 2012


@cache
def t_quantile(confidence: float, freedom: int) -> float:
    """The bound that |t| stays below with this probability, for Student's t with `freedom` degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _within(bound: float, freedom: int) -> float:
    """Pr(|t| < bound): with t = √n·tan(a), the density is cos(a)^(n−1), which any quadrature integrates well."""
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(pi) / 2)
    nodes, weights = _gauss()
    top = np.arctan(bound / sqrt(freedom))
    angles = top * (nodes + 1) / 2
    return float(2 * scale * top / 2 * (weights * np.cos(angles) ** (freedom - 1)).sum())


@cache
def _gauss() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return nodes, weights


def sign_flip_p_value(differences: FloatArray) -> float:
    """How likely paired differences this far from zero are, if each might as well have had the other sign.

    The two-sided permutation test of the mean: exact for up to 16 pairs, by 99,999 fixed-seed draws
    for more. It assumes no distribution. Without pairs, or with all differences zero, it is 1.
    """
    values = np.abs(np.asarray(differences, dtype=np.float64))
    observed = abs(float(np.asarray(differences, dtype=np.float64).sum()))
    size = len(values)
    # Equal sums in another order of addition must count as equal.
    threshold = observed - 1e-9 * float(values.sum())
    if size <= EXACT_PAIRS:
        # Turning all signs changes nothing in |sum|, so the first sign stays.
        patterns = np.arange(1 << max(size - 1, 0))
        sums = np.full(len(patterns), values[0] if size else 0.0)
        for position in range(1, size):
            sums += np.where(patterns >> (position - 1) & 1, -values[position], values[position])
        return float(np.mean(np.abs(sums) >= threshold))
    random = np.random.Generator(np.random.PCG64(_SEED))
    hits = 0
    for start in range(0, SAMPLED_PATTERNS, 8192):
        draws = min(8192, SAMPLED_PATTERNS - start)
        signs = 1.0 - 2.0 * random.integers(0, 2, (draws, size))
        hits += int(np.count_nonzero(np.abs(signs @ values) >= threshold))
    return (hits + 1) / (SAMPLED_PATTERNS + 1)
