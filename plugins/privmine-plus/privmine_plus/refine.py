"""The last look: at the undecided candidates only, by bounded counts or by bins, whichever promises less error."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
from attrs import frozen

from privmine.api import Answer, BasisSet, BinCounts, Curator, Itemset, NoisyCounts, Request, hookimpl
from privmine_plus.beliefs import beliefs_after, beliefs_of
from privmine_plus.bin_estimates import estimates
from privmine_plus.budget import HISTOGRAM_SHARE, affordable, scale_at
from privmine_plus.cover import PRECISE, cover_variance, worth_counting
from privmine_plus.grow import with_grown
from privmine_plus.looks import look
from privmine_plus.regime import Threshold, measured_threshold
from privmine_plus.released import released, with_bins

#: A histogram costs at most this part of what is left.
_MOST_HISTOGRAM = Fraction(15, 100)


@frozen
class Refine:
    """Looks again at the candidates of which it is not clear whether they belong to the first k.

    With what earlier looks have told, bounded counts need a small bound here, since transactions hold few of
    the undecided. Where a few bases cover them, and promise less error, their bins are counted instead, and
    the counts are unbiased.

    Bias: counts of which transactions were cut off, and counts that are not precise, are posterior means. They
    lie between what was measured and what counts of that size usually are. Longer itemsets that the last look
    suggests, and that nobody has looked at, have guesses from the counts of their subsets.

    Privacy: either one measurement of bins (`BinCounts`), or a histogram and one bounded measurement, with all
    that is left of the budget. Which one, and of what, follows from noisy answers.
    """

    @hookimpl
    def reconstruct_counts(
        self, request: Request, basis: BasisSet, curator: Curator, answers: tuple[Answer, ...]
    ) -> NoisyCounts:
        """Look at the undecided and compute all counts; see `Stages.reconstruct_counts`."""
        threshold = measured_threshold(request, curator, answers)
        found = beliefs_of(request, threshold, answers)
        if found is None or basis.candidates is None:
            return _without_beliefs(request, basis, curator, threshold)
        wanted = [found.itemsets[place] for place in worth_counting(found, request.k).tolist()]
        share = affordable(request, curator)
        precise = _bins_variance(request, basis, wanted, share) < (PRECISE * threshold.theta) ** 2
        if precise:
            bins = estimates(curator.measure(BinCounts(basis.bases)))
            return released(with_bins(found, bins), bins, request.k)
        open_ = found.undecided(request.k)
        histogram = min(HISTOGRAM_SHARE, _MOST_HISTOGRAM * share)
        candidates = [found.itemsets[place] for place in open_.tolist()]
        theta, rest = found.cut(request.k) * threshold.theta, share - histogram
        seen = look(request, curator, candidates, theta, rest, rest, histogram)
        return released(with_grown(found.updated(seen, open_), request.k, request.max_length), None, request.k)


def _bins_variance(request: Request, basis: BasisSet, wanted: list[Itemset], share: Fraction) -> float:
    """The mean squared error that bins promise."""
    return 2 * scale_at(request, share, max(basis.width, 1)) ** 2 * cover_variance(wanted, basis.bases)


def _without_beliefs(request: Request, basis: BasisSet, curator: Curator, threshold: Threshold) -> NoisyCounts:
    """Nobody has looked yet, or the subsets of the bases are all that is asked for: count bins, or else candidates."""
    if basis.bases:
        found = estimates(curator.measure(BinCounts(basis.bases)))
        named = set(found.counts if basis.candidates is None else basis.candidates)
        itemsets = [itemset for itemset in found.counts if itemset and itemset in named]
        return NoisyCounts(
            itemsets=itemsets,
            counts=[found.counts[itemset] for itemset in itemsets],
            standard_errors=[sqrt(found.variance(itemset)) for itemset in itemsets],
            total=found.counts[()],
            total_error=sqrt(found.variance(())),
            laws=[found.law(itemset) for itemset in itemsets],
            law_of=np.arange(len(itemsets)),
            total_law=found.law(()),
        )
    candidates = tuple(itemset for itemset in basis.candidates or () if itemset)
    if not candidates:
        return NoisyCounts([], [], [], threshold.total, threshold.total_error, total_law=threshold.total_law)
    share = affordable(request, curator)
    histogram = min(HISTOGRAM_SHARE, _MOST_HISTOGRAM * share)
    rest = share - histogram
    seen = look(request, curator, candidates, threshold.theta, rest, rest, histogram)
    return released(beliefs_after(threshold, seen, np.ones(len(candidates))), None, request.k)
