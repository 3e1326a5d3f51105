"""Clopper–Pearson bounds on a probability, from counts; with the standard library only.

The bounds are quantiles of beta distributions. The incomplete beta function is summed as a continued
fraction (Lentz's method, good to about 14 digits), and inverted by bisection, which cannot fail to
converge. What is left of error is covered by rounding the bounds outwards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p

_TINY = 1e-300
_CONVERGED = 1e-15
_MOST_TERMS = 10_000
# Far more than the continued fraction and the bisection err, far less than any count resolves.
_OUTWARDS = 1e-9


def incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), the probability that a beta variable with parameters a and b is at most x."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # The fraction converges fast on the other side only.
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    numerator, denominator = 1.0, 1 - (a + b) * x / (a + 1)
    denominator = 1 / _away_from_zero(denominator)
    value = denominator
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            denominator = 1 / _away_from_zero(1 + term * denominator)
            numerator = _away_from_zero(1 + term / numerator)
            step = denominator * numerator
            value *= step
        if abs(step - 1) < _CONVERGED:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _bisected(is_below: Callable[[float], bool]) -> float:
    """The point from 0 to 1 where the condition stops being true, to 13 digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def lower_limit(hits: int, trials: int, error: float) -> float:
    """The probability is at least this, except with a probability of at most `error`."""
    if hits == 0:
        return 0.0
    limit = _bisected(lambda x: incomplete_beta(x, hits, trials - hits + 1) < error)
    return limit * (1 - _OUTWARDS)


def upper_limit(hits: int, trials: int, error: float) -> float:
    """The probability is at most this, except with a probability of at most `error`."""
    if hits == trials:
        return 1.0
    # The upper tail is computed as such: 1 − error would lose the digits that matter.
    limit = _bisected(lambda x: incomplete_beta(1 - x, trials - hits, hits + 1) > error)
    return min(1.0, limit * (1 + _OUTWARDS))
