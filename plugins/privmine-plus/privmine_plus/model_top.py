"""The itemsets that weighted states contain most often."""

from __future__ import annotations

import heapq

import numpy as np

from privmine.api import FloatArray, Itemset


def top_itemsets(present: np.ndarray, weights: FloatArray, k: int, max_length: int | None = None) -> list[Itemset]:
    """The k itemsets of largest weight, as positions of columns; ties go to the shorter, then to the first columns.

    Level by level: an itemset that is longer than k others must weigh more than each of them, and so must all its
    subsets. So fewer than k itemsets are extended in each level, however many are equally heavy.

    Args:
        present: a row a state, a column an item: whether it is there.
        weights: of the states, not negative.
        k: how many; fewer where there are fewer.
        max_length: the longest itemset.
    """
    columns = present.shape[1]
    has_item = present.astype(np.float64)
    best: list[tuple[float, int, Itemset]] = []
    level: list[Itemset] = [()]
    inside = weights[None, :]
    reach = -np.inf
    length = 0
    while level and k and length < (columns if max_length is None else min(columns, max_length)):
        length += 1
        sums = inside @ has_item
        # Each itemset is made once: of what is left without its first column.
        first = np.array([itemset[0] if itemset else columns for itemset in level])
        parents, added = np.nonzero((np.arange(columns) < first[:, None]) & (sums > reach))
        heaviness = sums[parents, added]
        found = [(column, *level[parent]) for parent, column in zip(parents.tolist(), added.tolist(), strict=True)]
        new = [(-weight, length, itemset) for weight, itemset in zip(heaviness.tolist(), found, strict=True)]
        best = heapq.nsmallest(k, best + new)
        if len(best) == k:
            reach = -best[-1][0]
        heavy = np.flatnonzero(heaviness > reach)
        level = [found[place] for place in heavy.tolist()]
        inside = inside[parents[heavy]] * has_item[:, added[heavy]].T
    return [itemset for _, _, itemset in best]


def containing(present: np.ndarray, itemsets: list[Itemset]) -> np.ndarray:
    """For each itemset a row: 1 for each state that contains it, else 0. At most 63 columns."""
    bits = 1 << np.arange(present.shape[1], dtype=np.int64)
    codes = present.astype(np.int64) @ bits
    masks = np.array([sum(1 << place for place in itemset) for itemset in itemsets], dtype=np.int64)
    return (codes & masks[:, None]) == masks[:, None]


def weights_of(present: np.ndarray, weights: FloatArray, itemsets: list[Itemset]) -> FloatArray:
    """The weight of the states that contain each itemset."""
    return np.asarray(containing(present, itemsets) @ weights)
