"""How large a difference of two noisy frequencies is by noise and chance alone.

A noisy frequency differs from that of the population by the noise of its count, by the noise of the total, and by
chance, since a sample of customers is not the population. Its law is that of the noise, with the spread of all noise
together, convolved with a normal one for chance. The law of a difference is the convolution of two such laws.

Both releases list an itemset because both noisy frequencies exceed a cutoff. That changes the law, most so if one of
the cutoffs is far above the other one: then only large noise lists an itemset there, and it seems to differ. So the
probability of a difference is that among pairs of which both exceed their cutoffs. It depends on the frequency θ that
both share if nothing changed. The largest probability is taken, over the θ of an interval that misses it with a small
probability γ only, and γ is added (Berger and Boos 1994). So a probability below p occurs with at most p.
"""

from __future__ import annotations

from math import hypot, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from privmine.model import FloatArray
from privmine.release.chosen import chosen_intervals
from privmine.release.intervals import NormalLaw
from privmine.release.tails import NoiseTail, symmetric_table, tail_of

if TYPE_CHECKING:
    from privmine.release.release import FrequentItemset, Release

#: Tables of convolved laws: how many points, and how small a tail they reach.
_POINTS = 1 << 12
_FARTHEST = 1e-12
#: How many normal standard errors are as rare.
_NORMAL_REACH = 7.2
#: How many shared frequencies are tried, and in how many steps their noise is summed up.
_SHARED_FREQUENCIES = 17
_STEPS = 600
#: The part of a wanted probability that goes into the interval of the shared frequency.
_GAMMA = 0.1


@frozen(eq=False)
class NoisyShare:
    """A frequency of one release, and how far it may be off.

    Attributes:
        value: the noisy frequency.
        noise: the tail of the noise in the count.
        scale: what one unit of that noise is in the frequency.
        chance: the standard error of the frequency that is due to the sample.
        cutoff: the largest noisy frequency that is not listed; −∞ where everything was, or where it is not known.
        candidates: how many itemsets could have been listed.
        odds: by what factor the choice may have raised the probability of an error, where nothing else is known.
    """

    value: float
    noise: NoiseTail
    scale: float
    chance: float
    cutoff: float
    candidates: int
    odds: float

    @property
    def is_exact(self) -> bool:
        """Whether neither noise nor chance moves it."""
        return self.scale <= 0 and self.chance <= 0

    def law(self) -> NoiseTail:
        """The tail of all that moves it."""
        return convolved([(self.noise, self.scale)], self.chance)


def share_of(release: Release, found: FrequentItemset) -> NoisyShare:
    """The frequency of an itemset.

    Where counts are means over bases, a transaction that noise adds to all bins adds to a count as well: the total and
    the count of an itemset of n items have the covariance 2^−n·Var(total), which makes a frequency less noisy.
    """
    total = release.total
    value = found.centre / total
    of_total = release.total_error**2
    shared = 2.0 ** -len(found.items) * of_total if release.joint == "bases" else 0.0
    variance = max(found.standard_error**2 + value**2 * of_total - 2 * value * shared, 0.0)
    share = min(max(value, 1 / total), 1.0)
    # Up to so many transactions come from one customer, and they may all be alike.
    together = 1 if release.receipt.unit is None else release.receipt.unit.baskets
    own = found.standard_error
    law = found.law or NormalLaw(own)
    selection = release.selection
    # Means of beliefs allow for the choice already.
    allowed_for = selection is None or selection.by_estimates or selection.believed
    known = not allowed_for and selection is not None and selection.cutoff is not None
    return NoisyShare(
        value,
        tail_of(law),
        sqrt(variance) / own / total if own > 0 else 0.0,
        sqrt(together * share * (1 - share) / total),
        selection.cutoff / total if known else -inf,  # type: ignore[union-attr, operator]
        len(release) if selection is None else max(selection.candidates, len(release)),
        # Of the candidates this share is listed; why, nobody knows.
        max(selection.candidates / max(len(release), 1), 1.0)
        if selection is not None and selection.by_estimates
        else 1.0,
    )


def difference_law(one: NoisyShare, other: NoisyShare) -> NoiseTail:
    """The tail of the difference of two frequencies if nothing changed, whatever is listed."""
    parts = [(share.noise, share.scale) for share in (one, other)]
    return convolved(parts, hypot(one.chance, other.chance))


def convolved(parts: list[tuple[NoiseTail, float]], normal_error: float) -> NoiseTail:
    """The tail of a sum of independent noises, each by its scale, and of a normal one."""
    noises = [(tail, scale) for tail, scale in parts if scale > 0]
    reach = sum(scale * tail.quantile(_FARTHEST) for tail, scale in noises) + _NORMAL_REACH * normal_error
    width = 2 * reach / _POINTS
    places: FloatArray = np.arange(_POINTS // 2 + 1, dtype=np.float64) * width
    frequencies = np.pi / reach * np.arange(_POINTS // 2 + 1)
    transform = np.exp(-((frequencies * normal_error) ** 2) / 2)
    for tail, scale in noises:
        half = tail.above((places - width / 2) / scale) - tail.above((places + width / 2) / scale)
        # The law is symmetric, so that the other half of the circle mirrors this one.
        transform = transform * np.fft.rfft(np.concatenate([half, half[-2:0:-1]])).real
    masses = np.fft.irfft(transform, _POINTS)[: _POINTS // 2]
    # A place stands for a cell around it, and half of the first cell lies above 0.
    tails = 0.5 - np.concatenate([[0.0, masses[0] / 2], masses[0] / 2 + np.cumsum(masses[1:-1])])
    edges: FloatArray = width * (np.arange(_POINTS // 2, dtype=np.float64) - 0.5)
    edges[0] = 0.0
    return symmetric_table(edges, tails)


def chance_of_difference(one: NoisyShare, other: NoisyShare, law: NoiseTail, least: float, most: float) -> float:
    """The largest probability of a difference as large as this one, if nothing changed and both are listed.

    Args:
        one: the first frequency.
        other: the second.
        law: the law of their difference, whatever is listed.
        least: a probability below this is a change in any case.
        most: a probability above this is none in any case.
    """
    difference = abs(other.value - one.value)
    alone = 2 * float(law.above(difference)) * max(one.odds, other.odds)
    if alone > most or max(one.cutoff, other.cutoff) == -inf:
        return min(alone, 1.0)
    gamma = _GAMMA * least
    larger, smaller = (one, other) if one.value > other.value else (other, one)
    laws = larger.law(), smaller.law()
    ends = [_interval(share, own, 1 - gamma / 2) for share, own in zip((larger, smaller), laws, strict=True)]
    lows, highs = zip(*ends, strict=True)
    low, high = sorted((max(lows), min(highs)))
    thetas = np.linspace(low, high, _SHARED_FREQUENCIES)
    given = 2 * float(_both_listed(thetas, larger, smaller, laws, difference).max())
    return min(given * max(one.odds, other.odds) + gamma, 1.0)


def _interval(share: NoisyShare, law: NoiseTail, level: float) -> tuple[float, float]:
    """An interval for the frequency that holds given that it is listed."""
    value = np.array([share.value])
    if share.cutoff == -inf:
        reach = law.quantile((1 - level) / 2)
        return share.value - reach, share.value + reach
    low, high = chosen_intervals(value, law, min(share.cutoff, share.value), share.candidates, level)
    return float(low[0]), float(high[0])


def _both_listed(
    thetas: FloatArray, larger: NoisyShare, smaller: NoisyShare, laws: tuple[NoiseTail, NoiseTail], difference: float
) -> FloatArray:
    """For each θ the probability that one exceeds the other by as much, given that both exceed their cutoffs."""
    above, below = laws
    # How far noise must lift θ for a listing; without a cutoff as far as noise ever reaches.
    farthest = -below.quantile(_FARTHEST)
    lifts = [np.maximum(share.cutoff - thetas, farthest if share is smaller else -inf) for share in (larger, smaller)]
    reach = np.maximum(lifts[1], 0.0) + below.quantile(_FARTHEST)
    places = lifts[1][:, None] + (reach - lifts[1])[:, None] * np.linspace(0, 1, _STEPS + 1)[None, :]
    tails = below.above(places)
    masses, middles = tails[:, :-1] - tails[:, 1:], places[:, :-1]
    # At the lower end of each step, where the probability is the larger one.
    together = (masses * above.above(np.maximum(middles + difference, lifts[0][:, None]))).sum(axis=1)
    listed = above.above(lifts[0]) * tails[:, 0]
    result: FloatArray = np.divide(together, listed, out=np.ones_like(together), where=listed > 0)
    return result
