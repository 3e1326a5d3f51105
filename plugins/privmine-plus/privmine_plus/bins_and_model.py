"""Counts from bins and from the pair model, joined by what their disagreement tells of the model's error."""

from __future__ import annotations

import numpy as np

from privmine.api import FloatArray, Itemset, NoiseLaw, NoisyCounts
from privmine_plus.bin_estimates import BinEstimates
from privmine_plus.error_law import ErrorLaw
from privmine_plus.model_errors import OWN_ERROR, STRETCH, own_spread
from privmine_plus.pair_model import PairModel

#: Itemsets that only the bins suggest are looked at above this part of the k-th of the model's supports.
_SUGGESTED = 0.7
#: At most so many times k itemsets are looked at.
_MOST_TIMES = 4
#: An error that models often have: itemsets with less noise than this all tell about as much of it.
_USUAL_ERROR = 0.01
#: Below this weight the model is left out, so that a count is unbiased and its noise has a known law.
_LITTLE = 0.05


def own_error(differences: FloatArray, variances: FloatArray, spread: FloatArray) -> float:
    """What the model is off by itself, in parts of √spread: what noise does not explain of its differences to bins.

    Itemsets with little noise tell most of it. Noise may hide as much as the standard error of what they tell, which is
    added, so that intervals are rather too wide than too narrow.
    """
    if not len(spread):
        return OWN_ERROR
    noise = variances / spread
    weights = (noise + _USUAL_ERROR**2) ** -2
    weights /= weights.sum()
    unexplained = max(float(weights @ (differences**2 / spread - noise)), OWN_ERROR**2)
    hidden = float(np.sqrt(2 * ((weights * (noise + unexplained)) ** 2).sum()))
    return (unexplained + hidden) ** 0.5


def joined_counts(
    model: PairModel, bins: BinEstimates, covered: list[Itemset], k: int, longest: int | None
) -> NoisyCounts:
    """The counts of what the model or the bins take for frequent.

    Args:
        model: fitted before the bins were measured.
        bins: the counts of all subsets of some bases; itemsets that no basis contains have the model's counts.
        covered: the model's most frequent itemsets, by falling counts.
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
    modelled = model.supports(itemsets)
    counted = np.array([found in bins.counts for found in itemsets])
    measured, measured_variances = modelled.copy(), np.full(len(itemsets), np.inf)
    measured[counted] = [bins.counts[found] for found in itemsets if found in bins.counts]
    measured_variances[counted] = [bins.variance(found) for found in itemsets if found in bins.counts]
    noise = model.noise_variances(itemsets)
    spread = own_spread(modelled, itemsets, model.total)
    # What the bins alone suggest was picked for its noise, and would tell of too large an error.
    known = counted & (np.arange(len(itemsets)) < len(covered))
    own = own_error((measured - modelled)[known], (measured_variances + noise)[known], spread[known])
    model_variances = STRETCH**2 * noise + own**2 * spread
    weights = np.ones(len(itemsets))
    weights[counted] = measured_variances[counted] / (measured_variances + model_variances)[counted]
    weights[weights < _LITTLE] = 0.0
    errors = np.sqrt((1 - weights) ** 2 * np.where(counted, measured_variances, 0.0) + weights**2 * model_variances)
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
