"""Shares of the run's budget: what they cost, and the noise that they buy.

The one place of this package that knows how a share becomes a price.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from privmine.api import Cost, Curator, Noise, Request, Sensitivity

#: θ̂ and N̂: the gate, and the yardstick of everything after it.
THETA_SHARE, TOTAL_SHARE = Fraction(2, 100), Fraction(1, 100)
#: A second look at θ where the first has drowned in its noise.
AGAIN_SHARE = Fraction(4, 100)
THRESHOLD_SHARE = THETA_SHARE + TOTAL_SHARE + AGAIN_SHARE
#: What the levels may spend in all; see `levels.CAPS`.
SELECT_SHARE = Fraction(60, 100)
#: A histogram of what transactions hold.
HISTOGRAM_SHARE = Fraction(2, 100)


def price(request: Request, share: Fraction) -> Cost:
    """What a share of the whole run's budget costs."""
    return share * request.budget


def affordable(request: Request, curator: Curator) -> Fraction:
    """Which share of the whole run's budget the stage has left."""
    return curator.remaining / request.budget


def scale_at(request: Request, share: Fraction | float) -> float:
    """The scale of noise for an answer that one transaction moves by 1, at a share of the budget; see `scale_of`."""
    moved = Sensitivity(1, 1, 1).times(request.public.unit.baskets)
    return scale_of(request.budget.definition.noise_for(moved, Fraction(share) * request.budget))


def scale_of(noise: Noise) -> float:
    """The scale of the Laplace noise that has this noise's standard deviation, which every noise knows."""
    return sqrt(noise.continuous.variance / 2)
