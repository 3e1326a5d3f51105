"""Which items the top itemsets of dense data are made of."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import cast

import numpy as np
from attrs import evolve, frozen

from privmine.api import (
    Answer,
    Curator,
    Elements,
    IntArray,
    ItemCutoff,
    Itemset,
    ItemSupports,
    Request,
    hookimpl,
    itemset_count,
)
from privmine_plus.budget import affordable, draw_scale_at, growth, price
from privmine_plus.regime import FEW_ITEMS, MOST_ITEMS, Threshold, measured_threshold

#: What the number of items may cost, and what the items may.
CUTOFF_SHARE = Fraction(6, 100)
LEAST_SHARE, MOST_SHARE = 0.08, 0.4
#: What the items may cost where even the fewest cannot be told from others for the usual most.
HOPELESS_SHARE = 0.6
#: Before anything is known: about so many times the fewest items that have k itemsets, within so much in logarithms.
_USUAL, _SPREAD = 1.5, 0.25
#: An item beyond the drawn number. One that is missing costs all of its itemsets, one too many a little noise.
_EXTRA = 1
#: The error of a support that the draws aim at, and that beyond which they give up items; both in parts of the support.
_WANTED_ERROR, _BORNE_ERROR = 0.3, 0.45


def fewest_items(request: Request) -> int:
    """One item more than the fewest that have as many itemsets as are wanted, if there are as many: a public number."""
    most = min(MOST_ITEMS, len(request.public.universe))
    enough = 1
    while enough < most and itemset_count(enough, request.max_length) < request.k:
        enough += 1
    return min(enough + 1, most)


def penalties(low: int, high: int, fewest: int, rate: float) -> IntArray:
    """What is taken off the scores of low … high items, so that numbers near the usual one are favoured.

    At the rate r a score s has the weight e^(r·s), so that a penalty of l/r multiplies it by e^(−l).
    """
    numbers = np.arange(low, high + 1)
    unlikely = np.log(numbers / (_USUAL * fewest)) ** 2 / (2 * _SPREAD**2)
    return np.minimum(np.rint(unlikely / rate), 2.0**40).astype(np.int64)


def draw_error(count: int, universe: int, scale: float, power: float = 1.0) -> float:
    """By how much the support of the last of so many drawn items falls short.

    The draws divide the budget, so each has more noise than a single draw has, and the largest of the noises of
    d/count candidates for a place is about ln(d/count) times its scale.
    """
    return count**power * log(max(universe / count, 1.5)) * scale


def items_share(count: int, universe: int, threshold: Threshold, scale: float, power: float = 1.0) -> float:
    """The share of the budget with which the draws err by a part of the k-th support, or of how often that is missing.

    Args:
        count: how many items are drawn.
        universe: of how many.
        threshold: what is known of the k-th support and of the number of transactions.
        scale: that of the noise which the whole budget buys a single draw.
        power: of the number of draws, with which their noise grows; it falls with this power of the share.
    """
    leeway = max(min(threshold.theta, 2 * (threshold.total - threshold.theta)), scale)
    error = draw_error(count, universe, scale, power) / leeway
    wanted, borne = ((error / limit) ** (1 / power) for limit in (_WANTED_ERROR, _BORNE_ERROR))
    return max(min(max(wanted, LEAST_SHARE), MOST_SHARE), min(borne, HOPELESS_SHARE))


@frozen
class NoisyItems:
    """Draws how many items are worth a model, then draws those items.

    Of a universe of at most 20 items all are taken, which costs nothing.

    Privacy: one draw of the exponential mechanism on `ItemCutoff`, whose scores move by at most 1 in either direction,
    with penalties that are public; then one draw of a set of so many items by their supports, which are monotone, so
    that the gap of a set moves by at most 1; with a δ as many draws of single items. How many items, and at which
    price, follows from noisy answers. Where no earlier stage measured θ̂ and N̂, two Laplace measurements do.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator, answers: tuple[Answer, ...]) -> Elements:
        """Choose items; see `Stages.select_elements`."""
        universe = len(request.public.universe)
        if request.k == 0:
            return Elements(())
        if universe <= FEW_ITEMS:
            return Elements(tuple(range(universe)))
        threshold = measured_threshold(request, curator, answers)
        count = self._item_number(request, curator, threshold)
        if count >= universe:
            return Elements(tuple(range(universe)))
        wanted = items_share(count, universe, threshold, draw_scale_at(request, 1), growth(request))
        share = min(Fraction(round(10_000 * wanted), 10_000), affordable(request, curator))
        # In pure ε single draws divide the share among them, and a set is one draw. With a δ they lose less by that
        # than a set does by how many bad sets there are.
        choose = curator.choose_set if growth(request) == 1 else curator.choose
        chosen = choose(ItemSupports(universe), count, price(request, share))
        return Elements(tuple(item for (item,) in cast(tuple[Itemset, ...], chosen.chosen)))

    def _item_number(self, request: Request, curator: Curator, threshold: Threshold) -> int:
        """λ: drawn, a little raised, then lowered as long as so many items could not be told from others."""
        universe, fewest = len(request.public.universe), fewest_items(request)
        high = min(max(request.k, fewest), universe)
        query = ItemCutoff(request.k, 1, high, request.max_length)
        cost = price(request, min(CUTOFF_SHARE, affordable(request, curator) / 4))
        rate = curator.rate_for(query, 1, cost)
        query = evolve(query, penalties=penalties(1, high, fewest, float(rate)))
        (drawn,) = curator.choose(query, 1, cost).chosen
        count = min(max(cast(int, drawn) + _EXTRA, fewest), MOST_ITEMS, universe)
        scale, power = draw_scale_at(request, MOST_SHARE), growth(request)
        while count > fewest and draw_error(count, universe, scale, power) > _BORNE_ERROR * threshold.theta:
            count -= 1
        return count
