"""From which noisy weight on an item may be named although nobody said before that it exists.

Every transaction adds a weight to each of its items, which is less, the more items it has. Gaussian noise is added to
the weight of every item that occurs, and an item is named if its noisy weight reaches a threshold. Whoever sees the
name of an item that only one unit has learns of that unit, whatever the noise. So the threshold is such that a unit has
any of its own items named with a probability of at most δ, whatever it holds.

Let a unit have m transactions, of s₁, …, s_m items, and let F(h) be a bound on the probability that an item of exact
weight h is named. An item i of the unit's own has the weight hᵢ, the sum of w(s_j) over the unit's transactions j that
hold it. By the union bound, any of them is named with a probability of at most Σᵢ F(hᵢ). F is convex as long as the
threshold is above all such weights, and so is g = F − F(0), which is 0 at 0. With r ≤ m transactions that hold i,

    g(hᵢ) ≤ Σ_j g(r·w(s_j))/r ≤ Σ_j g(m·w(s_j))/m,

first by convexity, then because g(r·w)/r grows with r. At most s_j items are in transaction j, so that

    Σᵢ F(hᵢ) ≤ Σ_j s_j·(F(0) + g(m·w(s_j))/m) ≤ max over s of s·((m − 1)·F(0) + F(m·w(s))).

Discrete Gaussian noise X has Pr[X ≥ x] ≤ Pr[N(0, σ²) ≥ x − 1] for whole numbers x (Canonne, Kamath and Steinke 2020,
Proposition 25), which is the F used here. The same bound holds for continuous noise, where it is looser by 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import erfc, nextafter, sqrt

#: The part of δ with which an item may be found that only one unit has. The threshold and the noise of the stages
#: depend on the logarithms of their parts, so that halves are near the best for both.
SHARE_OF_DELTA = Fraction(1, 2)
#: More than all the errors of floating point together can take from a bound; what it adds to a weight is nothing.
_SLACK = 1 + 1e-9


@lru_cache(maxsize=64)
def least_weight(weights: tuple[int, ...], scale: Fraction, baskets: int, delta: Fraction) -> int:
    """The smallest threshold by which a unit has an item of its own named with a probability of at most δ.

    Args:
        weights: weights[s] is what a transaction of s items adds to each of them; none is negative.
        scale: the standard deviation of the noise.
        baskets: how many transactions a unit may have.
        delta: the probability.
    """
    # Of equal weights the one of the most items counts.
    largest = {weight: size for size, weight in enumerate(weights) if size and weight > 0}
    allowed = nextafter(float(delta), 0.0)
    deviation = float(scale)

    def bound(threshold: int) -> float:
        def named(weight: int) -> float:
            return erfc((threshold - 1 - weight) / (deviation * sqrt(2))) / 2 * _SLACK

        return max(size * ((baskets - 1) * named(0) + named(baskets * weight)) for weight, size in largest.items())

    # Not below, where F is not convex.
    low = baskets * max(largest) + 1
    if bound(low) <= allowed:
        return low
    step = 1
    while bound(low + step) > allowed:
        step *= 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= allowed else (middle, high)
    return high
