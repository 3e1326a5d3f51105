"""Least squares over the bins of overlapping bases, by Walsh coefficients.

Let x be 1 for an item that a transaction has and −1 for one that it has not. The Walsh coefficient of an itemset S is
the sum over transactions of the product of x over S. Each basis that contains S tells it, as a sum of its bins with
signs, and these sums are uncorrelated: for different S since the rows of a Hadamard matrix are orthogonal, for
different bases since their noise is independent. So the best linear unbiased estimate of all coefficients is for each
of them the mean of what the bases tell, weighted by inverse variance. A count is a sum of coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from attrs import field, frozen

from privmine.api import FloatArray, Itemset
from privmine_plus.bins import subset_sums, subsets

_LEVELS = NormalDist()
#: The variance of the noise that a huge budget buys is 0 in floating point.
_LEAST_VARIANCE = 1e-12


@frozen
class SumLaw:
    """The law of a sum of independent Laplace noises of which only the standard deviation is used.

    Such a sum lies between a single Laplace noise and normal noise of the same deviation; the wider interval is taken.

    Attributes:
        deviation: the standard deviation.
    """

    deviation: float

    def half_width(self, level: float) -> float:
        """The wider of the two half-widths."""
        return self.deviation * max(_LEVELS.inv_cdf((1 + level) / 2), -log(1 - level) / sqrt(2))


@frozen(eq=False)
class WalshEstimates:
    """Counts of all subsets of the bases, the empty one included.

    Attributes:
        counts: by itemset.
        variances: those of the noise in the counts.
    """

    counts: dict[Itemset, float] = field(repr=False)
    variances: dict[Itemset, float] = field(repr=False)


def coefficients(bins: FloatArray) -> FloatArray:
    """The Walsh coefficient of each subset of a basis; the lowest bit is the first item."""
    sums: FloatArray = np.array(bins, dtype=np.float64)
    half = 1
    while half < len(sums):
        absent, present = sums.reshape(-1, 2, half)[:, 0], sums.reshape(-1, 2, half)[:, 1]
        absent[:], present[:] = absent + present, present - absent
        half *= 2
    return sums


def least_squares(
    bases: Sequence[Itemset], bins: Sequence[FloatArray], bin_variances: Sequence[float]
) -> WalshEstimates:
    """The counts of all subsets of the bases by least squares, each basis with a variance of its bins."""
    precisions: dict[Itemset, float] = {}
    weighted: dict[Itemset, float] = {}
    for basis, counts, variance in zip(bases, bins, bin_variances, strict=True):
        # A coefficient is a sum of all bins with signs.
        precision = 1 / (max(variance, _LEAST_VARIANCE) * len(counts))
        for itemset, value in zip(subsets(basis), coefficients(counts).tolist(), strict=True):
            precisions[itemset] = precisions.get(itemset, 0.0) + precision
            weighted[itemset] = weighted.get(itemset, 0.0) + precision * value
    counts_of: dict[Itemset, float] = {}
    variances: dict[Itemset, float] = {}
    for basis in bases:
        named = subsets(basis)
        # 1 for "has X" is the product of (1 + x)/2 over X: the mean of the products over all subsets of X.
        means = subset_sums(np.array([weighted[itemset] / precisions[itemset] for itemset in named]))
        spreads = subset_sums(np.array([1 / precisions[itemset] for itemset in named]))
        shares = 0.5 ** np.bitwise_count(np.arange(len(named))).astype(np.float64)
        counts_of.update(zip(named, (shares * means).tolist(), strict=True))
        variances.update(zip(named, (shares**2 * spreads).tolist(), strict=True))
    return WalshEstimates(counts_of, variances)


def norm_cut(bins: FloatArray, total: float) -> FloatArray:
    """Bins that are not negative and sum to the total: the largest ones, as many as the total allows; the rest are 0.

    Noise makes empty bins look filled. The largest bins are the likely ones, so that small ones are cut off.
    Where all positive bins together are less than the total, they stay as they are.
    """
    order = np.argsort(-bins, kind="stable")
    falling = np.maximum(bins[order], 0.0)
    before = np.concatenate([[0.0], np.cumsum(falling)[:-1]])
    kept = np.clip(max(total, 0.0) - before, 0.0, falling)
    cut: FloatArray = np.zeros(len(bins))
    cut[order] = kept
    return cut
