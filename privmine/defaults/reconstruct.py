"""Noisy supports of everything that a basis set covers (Alg. 1, BASISFREQ)."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.api import (
    BasisSet,
    BinCounts,
    Curator,
    FloatArray,
    Itemset,
    Itemsets,
    NoisyCounts,
    hookimpl,
    itemset,
)


def superset_sums(bins: NDArray[np.generic]) -> FloatArray:
    """For every subset X of a basis the sum of the bins of its supersets, in O(ℓ·2^ℓ).

    Alg. 1, l. 15 sums for each X on its own, O(3^ℓ); this is the zeta transform, one item at a time.
    """
    sums = np.array(bins, dtype=np.float64)
    for item in range(len(sums).bit_length() - 1):
        halves = sums.reshape(-1, 2, 2**item)
        halves[:, 0] += halves[:, 1]
    return sums


def subset_sizes(length: int) -> NDArray[np.int64]:
    """The number of items of each subset of a basis, in bin order."""
    return np.bitwise_count(np.arange(2**length, dtype=np.uint64)).astype(np.int64)


def subset_keys(basis: Itemset, position: dict[int, int]) -> NDArray[np.uint64]:
    """Each subset of a basis as bits over all items of all bases, 64 items a column."""
    keys = np.zeros((2 ** len(basis), (len(position) + 63) // 64), dtype=np.uint64)
    for index, item in enumerate(basis):
        word, bit = divmod(position[item], 64)
        half = 2**index
        keys[half : 2 * half] = keys[:half]
        keys[half : 2 * half, word] |= np.uint64(1 << bit)
    return keys


def combine(bases: tuple[Itemset, ...], bins: list[NDArray[np.generic]]) -> tuple[Itemsets, FloatArray, FloatArray]:
    """The supports of all subsets of all bases, each from every basis that covers it.

    An itemset X has variance 2^(|B|−|X|) bins in basis B; bases are weighted by inverse variance
    (Alg. 1, l. 22–23), which in whatever order gives the weighted mean.

    Returns:
        The itemsets, their supports, and the variance of each in units of one bin's variance.
    """
    items = sorted({item for basis in bases for item in basis})
    position = {item: index for index, item in enumerate(items)}
    keys = np.concatenate([subset_keys(basis, position) for basis in bases])
    supports = np.concatenate([superset_sums(counts) for counts in bins])
    precisions = np.concatenate([2.0 ** (subset_sizes(len(basis)) - len(basis)) for basis in bases])
    first, group = _distinct(keys)
    precision = np.bincount(group, precisions)
    mean = np.bincount(group, precisions * supports) / precision
    return _subsets(bases, first), mean, 1 / precision


def _distinct(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row where each distinct key stands first, and for each row the number of its key in that order."""
    order = np.lexsort(keys.T) if keys.shape[1] else np.arange(len(keys))
    ordered = keys[order]
    opens = np.ones(len(keys), dtype=bool)
    opens[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    # lexsort is stable, so the first row of a run of equal keys is the first of all.
    run = np.cumsum(opens) - 1
    first = order[opens]
    rank = np.empty(len(first), dtype=np.int64)
    by_row = np.argsort(first)
    rank[by_row] = np.arange(len(first))
    group = np.empty(len(keys), dtype=np.int64)
    group[order] = rank[run]
    return first[by_row], group


def _subsets(bases: tuple[Itemset, ...], rows: NDArray[np.int64]) -> Itemsets:
    """The itemsets at the given rows, where all subsets of all bases stand one after another."""
    members: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.int64]] = []
    start = 0
    for basis in bases:
        stop = start + 2 ** len(basis)
        masks = rows[(rows >= start) & (rows < stop)] - start
        inside = (masks[:, None] >> np.arange(len(basis))) & 1 == 1
        members.append(np.broadcast_to(np.array(basis, dtype=np.int64), inside.shape)[inside])
        lengths.append(inside.sum(axis=1))
        start = stop
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Itemsets(np.concatenate(members), offsets)


@frozen
class BasisFrequencies:
    """Counts the transactions in every bin of every basis with noise, and adds up.

    Privacy: one Laplace measurement of `BinCounts`, whose L1 sensitivity is the number of bases;
    it pays with all that is left of the budget. Everything after it is post-processing. The
    noisy number of transactions comes free: it is the count of the empty itemset.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure and combine; see `Stages.reconstruct_counts`."""
        bases = basis.bases or ((),)
        answer = curator.measure(BinCounts(bases))
        query = answer.query
        assert isinstance(query, BinCounts)
        itemsets, counts, variances = combine(bases, query.by_basis(answer.values))
        errors = np.sqrt(variances * answer.noise.variance)
        total, total_error = counts[0], errors[0]  # The first subset of the first basis is the empty one.
        if basis.candidates is not None:
            wanted = {itemset(candidate) for candidate in basis.candidates}
            kept = [row for row, found in enumerate(itemsets) if found in wanted]
            itemsets, counts, errors = Itemsets.of(itemsets[row] for row in kept), counts[kept], errors[kept]
        return NoisyCounts(itemsets, counts, errors, total, total_error)
