"""Bases that cover the itemsets that matter, for the case that counting them by bins is the better way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from privmine.api import DEFAULT_LIMIT, Answer, BasisSet, Elements, FloatArray, IntArray, Itemset, Request, hookimpl
from privmine_plus.beliefs import Beliefs, beliefs_of, in_public_order
from privmine_plus.budget import scale_at
from privmine_plus.regime import Threshold, deviation, threshold_of

#: More bases, or more itemsets to cover, never pay.
_MOST_BASES, _MOST_ITEMSETS = 120, 1500
#: Bins are counted where they promise errors below this part of θ̂.
PRECISE = 0.15
#: The log-odds at which a candidate may well be among the first k: a chance of one in ten.
_MAY_WELL = -2.2


@frozen
class FirstFitBases:
    """Covers the undecided itemsets and the likely first k by bases, first fit by overlap.

    All lengths from 3 to 12 are tried, and the one of least predicted error is taken. Where no cover is
    small enough there is none: `refine` then counts directly. The candidates stay what was selected.

    Privacy: this stage has no curator; it post-processes noisy answers.
    """

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements, answers: tuple[Answer, ...]) -> BasisSet:
        """Cover what matters; see `Stages.construct_basis`."""
        threshold = threshold_of(request, answers)
        found = None if threshold is None else beliefs_of(request, threshold, answers)
        if threshold is None or found is None:
            named = (*((item,) for item in elements.items), *elements.itemsets)
            return BasisSet(bases=best_cover(named), candidates=tuple(dict.fromkeys(named)))
        # Bins have noise of at least w scales, even with the whole budget; more bases than this are never precise.
        most = int(PRECISE * threshold.theta / deviation(scale_at(request, 1)))
        wanted = [found.itemsets[place] for place in worth_counting(found, request.k).tolist()]
        bases = best_cover(wanted, min(most, _MOST_BASES))
        return BasisSet(bases=bases, candidates=found.itemsets, notes=notes(threshold))


def notes(threshold: Threshold) -> tuple[str, ...]:
    """What the receipt says of the counts and intervals."""
    said = [
        "Counts from bins are unbiased. The other counts are posterior means, because each transaction was counted "
        "only in part. Their intervals are no guarantee: they rest on a prior for counts, and they assume that what "
        "was not counted is spread about evenly over the itemsets."
    ]
    if threshold.is_noise:
        said.append("The supports of the last itemsets are not clearly above 0 at this ε: they are mostly noise.")
    return tuple(said)


def worth_counting(found: Beliefs, k: int) -> IntArray:
    """The likely first k, and what may well be among them, by falling counts: each costs all others noise."""
    places = np.union1d(np.flatnonzero(found.odds(k) > _MAY_WELL), found.ranking(k)[:k])
    return places[in_public_order([found.itemsets[place] for place in places.tolist()], found.means()[places])]


def best_cover(itemsets: Sequence[Itemset], most: int = _MOST_BASES) -> tuple[Itemset, ...]:
    """The cover of least mean error variance among those of all lengths; none where all have too many bases."""
    # The longest first, and of those the first: a basis is opened by what it must be long for.
    wanted = sorted(dict.fromkeys(itemset for itemset in itemsets if itemset), key=len, reverse=True)
    if not wanted or len(wanted) > _MOST_ITEMSETS or most < 1:
        return ()
    items = sorted({item for itemset in wanted for item in itemset})
    bit = {item: 1 << place for place, item in enumerate(items)}
    masks = [sum(bit[item] for item in itemset) for itemset in wanted]
    best: tuple[float, list[int]] | None = None
    for limit in range(min(max(3, len(wanted[0])), DEFAULT_LIMIT), DEFAULT_LIMIT + 1):
        bases = _first_fit([mask for mask in masks if mask.bit_count() <= limit], limit, most)
        if bases is None:
            continue
        error = float(len(bases) ** 2 * np.mean(1 / _precisions(masks, bases)))
        if best is None or error < best[0]:
            best = error, bases
    if best is None:
        return ()
    return tuple(tuple(item for item in items if bit[item] & basis) for basis in best[1])


def _first_fit(masks: Sequence[int], limit: int, most: int) -> list[int] | None:
    """Put each itemset where it overlaps most, or into a basis of its own; None where that takes too many."""
    bases: list[int] = []
    for mask in masks:
        if any(mask & ~basis == 0 for basis in bases):
            continue
        fits = [
            ((mask & basis).bit_count(), -(mask | basis).bit_count(), -place)
            for place, basis in enumerate(bases)
            if (mask | basis).bit_count() <= limit
        ]
        if fits:
            bases[-max(fits)[2]] |= mask
        elif len(bases) == most:
            return None
        else:
            bases.append(mask)
    return [
        basis
        for place, basis in enumerate(bases)
        if not any(
            basis & ~other == 0 and (basis != other or at < place) for at, other in enumerate(bases) if at != place
        )
    ]


def _precisions(masks: Sequence[int], bases: Sequence[int]) -> FloatArray:
    """For each itemset Σ 2^(|X|−|B|) over the bases that contain it; next to nothing where none does."""
    found = np.full(len(masks), 1e-9)
    for basis in bases:
        size = basis.bit_count()
        found += [2.0 ** (mask.bit_count() - size) if mask & ~basis == 0 else 0.0 for mask in masks]
    return found


def cover_variance(itemsets: Sequence[Itemset], bases: Sequence[Itemset]) -> float:
    """The mean error variance of the itemsets, in variances of a bin's noise; infinite where one is not covered."""
    if not bases or not itemsets:
        return np.inf
    precisions = np.zeros(len(itemsets))
    sets = [frozenset(itemset) for itemset in itemsets]
    for basis in map(frozenset, bases):
        precisions += [2.0 ** (len(found) - len(basis)) if found <= basis else 0.0 for found in sets]
    return float(np.mean(1 / precisions)) if precisions.min() > 0 else np.inf
