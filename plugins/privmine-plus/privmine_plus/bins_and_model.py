"""Counts from bins and from the pair model, joined by what their disagreement tells of the model's error."""

from __future__ import annotations

import numpy as np

from privmine.api import FloatArray, Itemset, NoiseLaw, NoisyCounts
from privmine_plus.bins import BinEstimates
from privmine_plus.model_errors import OWN_ERROR, own_spread
from privmine_plus.pair_model import PairModel
from privmine_plus.released import ErrorLaw

#: Itemsets that only the bins suggest are looked at above this part of the k-th of the model's supports.
_SUGGESTED = 0.7
#: At most so many times k itemsets are looked at.
_MOST_TIMES = 4
#: Below this weight the model is left out, so that a count is unbiased and its noise has a known law.
_LITTLE = 0.05


def own_error(differences: FloatArray, variances: FloatArray, spread: FloatArray) -> float:
    """What the model is off by itself, in parts of √spread: what noise does not explain of its differences to bins."""
    unexplained = float(((differences**2 - variances) / spread).mean()) if len(spread) else 0.0
    return max(unexplained, OWN_ERROR**2) ** 0.5


def joined_counts(
    model: PairModel, bins: BinEstimates, covered: list[Itemset], k: int, longest: int | None
) -> NoisyCounts:
    """The counts of what the model or the bins take for frequent.

    Args:
        model: fitted before the bins were measured.
        bins: the counts of all subsets of the bases.
        covered: the itemsets for which the bases were made, by the model's falling counts.
        k: how many itemsets are wanted.
        longest: the largest wanted length.
    """
    least = _SUGGESTED * float(model.supports(covered[:k][-1:])[0])
    suggested = [
        found
        for found, count in bins.counts.items()
        if found and count > least and (longest is None or len(found) <= longest)
    ]
    suggested.sort(key=lambda found: (-bins.counts[found], len(found), found))
    itemsets = list(dict.fromkeys([*covered, *suggested[: _MOST_TIMES * k]]))
    measured = np.array([bins.counts[found] for found in itemsets])
    measured_variances = np.array([bins.variance(found) for found in itemsets])
    modelled = model.supports(itemsets)
    noise = model.noise_variances(itemsets)
    spread = own_spread(modelled, itemsets, model.total)
    known = slice(len(covered))
    own = own_error((measured - modelled)[known], (measured_variances + noise)[known], spread[known])
    model_variances = noise + own**2 * spread
    weights = measured_variances / (measured_variances + model_variances)
    weights[weights < _LITTLE] = 0.0
    errors = np.sqrt((1 - weights) ** 2 * measured_variances + weights**2 * model_variances)
    laws: list[NoiseLaw] = [
        bins.law(found) if weight == 0 else ErrorLaw(error)
        for found, weight, error in zip(itemsets, weights.tolist(), errors.tolist(), strict=True)
    ]
    return NoisyCounts(
        itemsets=itemsets,
        counts=(1 - weights) * measured + weights * modelled,
        standard_errors=errors,
        total=model.total,
        total_error=float(np.sqrt(model.total_variance)),
        laws=laws,
        law_of=np.arange(len(laws)),
    )
