"""What the run knows of the k-th support and of the number of transactions, and which method that calls for."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
from attrs import frozen

from privmine.api import Answer, Curator, Measurement, NoiseSum, RankSupport, Request, Supports, itemset_count
from privmine_plus.budget import AGAIN_SHARE, THETA_SHARE, THRESHOLD_SHARE, TOTAL_SHARE, affordable, price, scale_of

#: Universes of so few items need no selection: the dense method takes them whole.
FEW_ITEMS = 20
#: A model of more items has noise that outweighs what the last items add.
MOST_ITEMS = 30
#: About how many of the top itemsets a transaction holds where the dense method begins to be the better one.
GATE = 10.0
#: θ̂ is clear where it is so many scales of its noise.
_CLEAR = 6.0
#: What speaks for the dense method must exceed the gate by so many scales of the noise in θ̂. Sparse data in the dense
#: method loses more than dense data in the sparse one. Of so few transactions that all is noise, a part is enough.
_DOUBT, _MOST_DOUBT = 2.0, 0.1
#: Within so many scales of the gate θ̂ is measured a second time.
_NEAR = 5.0


@frozen
class Threshold:
    """Noisy answers about the size of things.

    Attributes:
        theta: the noisy support of the k-th itemset, at least the scale of its noise.
        theta_scale: the scale of that noise.
        total: the noisy number of transactions, at least `theta`; or the public one.
        total_law: the noise in the number of transactions; None where it is public.
    """

    theta: float
    theta_scale: float
    total: float
    total_law: NoiseSum | None

    @property
    def is_noise(self) -> bool:
        """Whether the k-th support is not clearly above 0."""
        return self.theta < 3 * self.theta_scale

    @property
    def total_error(self) -> float:
        """The standard deviation of the noise in the total."""
        return 0.0 if self.total_law is None else self.total_law.standard_error


def threshold_of(request: Request, answers: tuple[Answer, ...]) -> Threshold | None:
    """What earlier stages have learnt; None where they did not ask."""
    measured = [answer for answer in answers if isinstance(answer, Measurement)]
    ranks = [answer for answer in measured if isinstance(answer.query, RankSupport)]
    totals = [answer for answer in measured if isinstance(answer.query, Supports) and answer.query.itemsets == ((),)]
    public = request.public.n
    if not ranks or (public is None and not totals):
        return None
    precisions = np.array([scale_of(answer.noise) ** -2 for answer in ranks])
    scale = float(precisions.sum()) ** -0.5
    theta = max(float(precisions @ [answer.values[0] for answer in ranks] / precisions.sum()), scale)
    if public is not None:
        return Threshold(theta, scale, max(float(public), 1.0), None)
    law = NoiseSum(totals[-1].noise, [(1, 1.0)])
    return Threshold(theta, scale, max(float(totals[-1].values[0]), theta, 1.0), law)


def doubts(threshold: Threshold | None) -> tuple[str, ...]:
    """What the receipt says where the k-th support cannot be told from 0."""
    if threshold is None or not threshold.is_noise:
        return ()
    return ("The supports of the last itemsets are not clearly above 0 at this ε: they are mostly noise.",)


def measured_threshold(request: Request, curator: Curator, answers: tuple[Answer, ...]) -> Threshold:
    """What earlier stages have learnt, or what is learnt now, for 7 % of the budget or half of what the stage has."""
    known = threshold_of(request, answers)
    return known or measure_threshold(request, curator, min(THRESHOLD_SHARE, affordable(request, curator) / 2))


def measure_threshold(request: Request, curator: Curator, share: Fraction) -> Threshold:
    """Measure the k-th support, and the number of transactions unless it is public, with a share of the budget.

    Privacy: Laplace measurements of one number each, which a transaction moves by at most 1. Whether the k-th
    support is measured a second time follows from its first noisy value.
    """
    part = share / THRESHOLD_SHARE
    found = [curator.measure(RankSupport(max(request.k, 1), request.max_length), price(request, part * THETA_SHARE))]
    if request.public.n is None:
        found.append(curator.measure(Supports([()]), price(request, part * TOTAL_SHARE)))
    learnt = threshold_of(request, tuple(found))
    assert learnt is not None
    excess = learnt.theta - GATE * learnt.total / max(request.k, 1)
    if learnt.theta < _CLEAR * learnt.theta_scale or abs(excess) < _NEAR * learnt.theta_scale:
        found.append(curator.measure(found[0].query, price(request, part * AGAIN_SHARE)))
        learnt = threshold_of(request, tuple(found))
        assert learnt is not None
    return learnt


def is_dense(request: Request, answers: tuple[Answer, ...]) -> bool:
    """Whether the dense method is the better one, from public facts and noisy answers only.

    k·θ/N is about the number of top itemsets that a transaction holds: at most 6 on sparse data that we
    know, at least 16 on dense data. The items of a model must have k itemsets.
    """
    universe = len(request.public.universe)
    if 0 < universe <= FEW_ITEMS:
        return True
    if itemset_count(min(universe, MOST_ITEMS), request.max_length) < request.k:
        return False
    known = threshold_of(request, answers)
    if known is None:
        return False
    doubt = min(_DOUBT * known.theta_scale, _MOST_DOUBT * known.total)
    return request.k * (known.theta - doubt) > GATE * known.total


def deviation(scale: float) -> float:
    """The standard deviation of Laplace noise of this scale."""
    return sqrt(2) * scale
