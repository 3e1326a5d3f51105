"""Counts of all subsets of bases, from noisy bins: unbiased, with the law of their noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from privmine.api import BinCounts, FloatArray, Itemset, Measurement, NoiseSum


@frozen(eq=False)
class BinEstimates:
    """Unbiased estimates.

    Attributes:
        counts: of every subset of a basis, the empty one included.
        terms: of each the draws and weights that its noise is the sum of.
        answer: what they come from.
    """

    counts: dict[Itemset, float] = field(repr=False)
    terms: dict[Itemset, tuple[tuple[int, float], ...]] = field(repr=False)
    answer: Measurement = field(repr=False)

    def law(self, itemset: Itemset) -> NoiseSum:
        """The law of the noise in a count."""
        return NoiseSum(self.answer.noise, self.terms[itemset])

    def variance(self, itemset: Itemset) -> float:
        """The variance of the noise in a count."""
        return self.answer.noise.variance * sum(draws * weight * weight for draws, weight in self.terms[itemset])


def estimates(answer: Measurement) -> BinEstimates:
    """Add up bins, and combine what several bases tell of an itemset by inverse variance."""
    query = answer.query
    assert isinstance(query, BinCounts)
    parts: dict[Itemset, list[tuple[int, float]]] = {}
    for basis, bins in zip(query.bases, query.by_basis(answer.values), strict=True):
        for itemset, count in zip(subsets(basis), superset_sums(bins).tolist(), strict=True):
            parts.setdefault(itemset, []).append((2 ** (len(basis) - len(itemset)), count))
    counts, terms = {}, {}
    for itemset, seen in parts.items():
        precision = sum(1 / draws for draws, _ in seen)
        counts[itemset] = sum(count / draws for draws, count in seen) / precision
        terms[itemset] = tuple((draws, 1 / draws / precision) for draws, _ in seen)
    return BinEstimates(counts, terms, answer)


def superset_sums(bins: FloatArray) -> FloatArray:
    """For each subset of a basis the sum of the bins of its supersets; the lowest bit is the first item."""
    return _added(bins, to=0, of=1)


def subset_sums(values: FloatArray) -> FloatArray:
    """For each subset of a basis the sum of the values of all its subsets."""
    return _added(values, to=1, of=0)


def _added(values: FloatArray, *, to: int, of: int) -> FloatArray:
    """Add, item by item, what is known without the item (0) to what is known with it (1), or the other way round."""
    sums: FloatArray = np.array(values, dtype=np.float64)
    half = 1
    while half < len(sums):
        halves = sums.reshape(-1, 2, half)
        halves[:, to] += halves[:, of]
        half *= 2
    return sums


def subsets(basis: Sequence[int]) -> list[Itemset]:
    """All subsets of a basis by the number of their bins."""
    found: list[Itemset] = [()]
    for item in basis:
        found += [(*itemset, item) for itemset in found]
    return found
