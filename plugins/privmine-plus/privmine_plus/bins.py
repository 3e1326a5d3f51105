"""Sums over the bins of a basis: of supersets, of subsets, and the names of the bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privmine.api import FloatArray, Itemset


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
