"""Shares of the run's budget: what they cost, and the noise that they buy.

The one place of this package that knows how a share becomes a price.
"""

from __future__ import annotations

from fractions import Fraction
from math import log2, sqrt

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


def scale_at(request: Request, share: Fraction | float, bases: int = 1) -> float:
    """The scale of noise for answers of which one transaction moves so many by 1, at a share; see `scale_of`."""
    moved = Sensitivity(bases, bases, 1).times(request.public.unit.baskets)
    return scale_of(request.budget.definition.noise_for(moved, Fraction(share) * request.budget))


def draw_scale_at(request: Request, share: Fraction | float) -> float:
    """What an item's support must exceed another's by, to be drawn e times as likely in one draw for this share."""
    moved = Sensitivity(1, 1, 1, monotone=True).times(request.public.unit.baskets)
    return 1 / float(request.budget.definition.rate_for(moved, Fraction(share) * request.budget, 1))


def growth(request: Request) -> float:
    """The power of w with which noise for w answers, or for w draws, grows: 1 in pure ε, ½ with a δ.

    A transaction that moves w values by 1 moves them by w in the L1 norm, and by √w in the L2 norm.
    """
    return round(log2(scale_at(request, 1, 4) / scale_at(request, 1))) / 2


def scale_of(noise: Noise) -> float:
    """The scale of the Laplace noise that has this noise's standard deviation, which every noise knows."""
    return sqrt(noise.continuous.variance / 2)
