"""From beliefs to counts with intervals. Nothing here looks at data."""

from __future__ import annotations

from math import sqrt

import numpy as np
from attrs import evolve

from privmine.api import NoiseLaw, NoisyCounts
from privmine_plus.beliefs import Beliefs
from privmine_plus.bin_estimates import BinEstimates
from privmine_plus.error_law import ErrorLaw
from privmine_plus.posterior import GRID, CredibleLaw, log_likelihood, log_prior, normalised, tilted

#: What an itemset needs that only its basis suggests: the exponent of its prior, its size and its error in θ̂.
_SUGGESTED_PRIOR, _SUGGESTED_SIZE, _SUGGESTED_ERROR = 1.5, 0.7, 0.5
#: A count whose error is below this part of it needs no prior.
_SURE = 0.1
#: This part of the first k is expected among the candidates.
_EXPECTED = 0.8
#: Intervals of beliefs are stretched: for data that is not as even as assumed, and for what θ̂, their yardstick, may be
#: off.
_UNEVEN, _THETA_DOUBT = 1.04, 0.5


def with_bins(found: Beliefs, bins: BinEstimates) -> Beliefs:
    """What is believed after bins were counted; itemsets that their bases suggest become candidates."""
    theta = found.threshold.theta
    known = set(found.itemsets)
    new = [
        itemset
        for itemset, count in bins.counts.items()
        if itemset
        and itemset not in known
        and count > _SUGGESTED_SIZE * theta
        and bins.variance(itemset) < (_SUGGESTED_ERROR * theta) ** 2
    ]
    nothing = Beliefs(
        found.threshold,
        tuple(new),
        log_prior(np.full(len(new), _SUGGESTED_PRIOR)),
        np.zeros(len(new)),
        np.full(len(new), np.inf),
    )
    joined = found.joined(nothing)
    places = np.array(
        [place for place, itemset in enumerate(joined.itemsets) if itemset in bins.counts], dtype=np.int64
    )
    counts, variances, logs = joined.counts.copy(), joined.variances.copy(), joined.logs.copy()
    counts[places] = [bins.counts[joined.itemsets[place]] for place in places.tolist()]
    variances[places] = [bins.variance(joined.itemsets[place]) for place in places.tolist()]
    logs[places] += log_likelihood(counts[places], np.sqrt(variances[places] / 2), 1.0, 0.0, theta)
    return evolve(joined, counts=counts, variances=variances, logs=logs)


def released(found: Beliefs, bins: BinEstimates | None, k: int) -> NoisyCounts:
    """The counts of all candidates, each with the law of its error."""
    threshold = found.threshold
    theta = threshold.theta
    # An interval is to hold under either story: that of the prior, and that most of the first k are among these.
    stories = np.stack([found.shares, found.shares], axis=1)
    first = found.ranking(k)[: 2 * k]
    stories[first, 1] = normalised(tilted(found.logs[first], found.likely_multiple, _EXPECTED * min(k, len(first))))
    means = found.means()
    deviations = np.sqrt((stories * (GRID * theta - means[:, None, None]) ** 2).sum(axis=2)).max(axis=1)
    errors = np.sqrt(found.variances)
    sure = errors < _SURE * np.abs(found.counts)
    stretch = _UNEVEN + _THETA_DOUBT * (threshold.theta_scale / theta) ** 2
    laws: list[NoiseLaw] = []
    for place, itemset in enumerate(found.itemsets):
        if not sure[place]:
            laws.append(CredibleLaw(GRID * theta, stories[place], float(means[place]), stretch))
        elif bins is not None and itemset in bins.counts:
            laws.append(bins.law(itemset))
        else:
            laws.append(ErrorLaw(float(errors[place])))
    total, total_error, total_law = threshold.total, threshold.total_error, threshold.total_law
    if bins is not None and (total_law is None or sqrt(bins.variance(())) < total_error):
        total, total_error, total_law = bins.counts[()], sqrt(bins.variance(())), bins.law(())
    return NoisyCounts(
        itemsets=found.itemsets,
        counts=np.where(sure, found.counts, means),
        standard_errors=np.where(sure, errors, deviations),
        total=total,
        total_error=total_error,
        laws=laws,
        law_of=np.arange(len(laws)),
        total_law=total_law,
        believed=bins is None,
    )
