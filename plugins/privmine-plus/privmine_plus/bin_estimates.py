"""Counts of all subsets of bases, from noisy bins: unbiased, with the law of their noise."""

from __future__ import annotations

from math import sqrt

import numpy as np
from attrs import field, frozen

from privmine.api import BinCounts, Itemset, Measurement, NoiseLaw, NoiseSum
from privmine_plus.error_law import ErrorLaw
from privmine_plus.walsh import WalshEstimates, least_squares


@frozen(eq=False)
class BinEstimates:
    """Unbiased estimates, by least squares over all bases.

    Attributes:
        found: counts and variances of every subset of a basis, the empty one included.
        answer: what they come from.
    """

    found: WalshEstimates = field(repr=False)
    answer: Measurement = field(repr=False)

    @property
    def counts(self) -> dict[Itemset, float]:
        """The count of each subset."""
        return self.found.counts

    def law(self, itemset: Itemset) -> NoiseLaw:
        """The law of the noise in a count: exact for a single basis, a sum of many noises otherwise."""
        query = self.answer.query
        assert isinstance(query, BinCounts)
        if len(query.bases) == 1:
            return NoiseSum(self.answer.noise, [(2 ** (len(query.bases[0]) - len(itemset)), 1.0)])
        return ErrorLaw(sqrt(self.variance(itemset)))

    def variance(self, itemset: Itemset) -> float:
        """The variance of the noise in a count."""
        return self.found.variances[itemset]


def estimates(answer: Measurement) -> BinEstimates:
    """What the bins of all bases tell of each itemset."""
    query = answer.query
    assert isinstance(query, BinCounts)
    bins = [np.asarray(values, dtype=np.float64) for values in query.by_basis(answer.values)]
    return BinEstimates(least_squares(query.bases, bins, [answer.noise.variance] * len(bins)), answer)
