"""Noisy supports of everything that a basis set covers (Alg. 1, BASISFREQ)."""

from __future__ import annotations

from typing import NamedTuple

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
    NoiseSum,
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
    return np.bitwise_count(np.arange(2**length)).astype(np.int64)


def subset_keys(basis: Itemset, position: dict[int, int]) -> NDArray[np.uint64]:
    """Each subset of a basis as bits over all items of all bases, 64 items a column."""
    keys = np.zeros((2 ** len(basis), (len(position) + 63) // 64), dtype=np.uint64)
    for index, item in enumerate(basis):
        word, bit = divmod(position[item], 64)
        half = 2**index
        keys[half : 2 * half] = keys[:half]
        keys[half : 2 * half, word] |= np.uint64(1 << bit)
    return keys


class Combined(NamedTuple):
    """The supports of all subsets of all bases.

    Attributes:
        itemsets: each subset once; the empty one comes first.
        counts: their supports.
        variances: the variance of each in units of one bin's variance.
        profiles: what a support is made of, each different recipe once, as pairs (bins, weight): so many
            bins are added up, and the sum has this weight.
        profile_of: for each itemset the position of its recipe in `profiles`.
    """

    itemsets: Itemsets
    counts: FloatArray
    variances: FloatArray
    profiles: tuple[tuple[tuple[int, float], ...], ...]
    profile_of: NDArray[np.int64]


def combine(bases: tuple[Itemset, ...], bins: list[NDArray[np.generic]]) -> Combined:
    """The supports of all subsets of all bases, each from every basis that covers it.

    An itemset X has variance 2^(|B|−|X|) bins in basis B; bases are weighted by inverse variance
    (Alg. 1, l. 22–23), which in whatever order gives the weighted mean.
    """
    position = {item: index for index, item in enumerate({item for basis in bases for item in basis})}
    lengths = np.array([len(basis) for basis in bases], dtype=np.int64)
    keys = np.concatenate([subset_keys(basis, position) for basis in bases])
    supports = np.concatenate([superset_sums(counts) for counts in bins])
    sizes = np.concatenate([subset_sizes(length) for length in lengths.tolist()])
    basis_lengths = np.repeat(lengths, 2**lengths)
    precisions = 2.0 ** (sizes - basis_lengths)
    first, group = _distinct(keys)
    precision = np.bincount(group, precisions)
    mean = np.bincount(group, precisions * supports) / precision
    profiles, profile_of = _profiles(group, basis_lengths, sizes[first])
    return Combined(_subsets(bases, first), mean, 1 / precision, profiles, profile_of)


def _profiles(
    group: NDArray[np.int64], basis_lengths: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[tuple[tuple[tuple[int, float], ...], ...], NDArray[np.int64]]:
    """Of how many bins, and with which weights, each itemset's support is made.

    That depends on the itemset's size and on how many bases of each length cover it, and on nothing else.

    Args:
        group: for each row, a subset of a basis, the number of its itemset.
        basis_lengths: for each row the length of the basis.
        sizes: the size of each itemset.
    """
    codes, codes_end = sizes, int(sizes.max()) + 1
    lengths = np.unique(basis_lengths).tolist()
    for length in lengths:
        covering = np.bincount(group[basis_lengths == length], minlength=len(sizes))
        if codes_end * (int(covering.max()) + 1) >= 2**63:
            codes = np.unique(codes, return_inverse=True)[1]
            codes_end = len(sizes)
        codes = codes * (int(covering.max()) + 1) + covering
        codes_end *= int(covering.max()) + 1
    _, examples, profile_of = np.unique(codes, return_index=True, return_inverse=True)
    # How many bases of each length cover each example, from the rows that belong to examples.
    place = np.full(len(sizes), -1, dtype=np.int64)
    place[examples] = np.arange(len(examples))
    rows = np.flatnonzero(place[group] >= 0)
    covering = np.zeros((len(examples), max(lengths) + 1), dtype=np.int64)
    np.add.at(covering, (place[group[rows]], basis_lengths[rows]), 1)
    profiles = []
    for size, counts in zip(sizes[examples].tolist(), covering.tolist(), strict=True):
        used = [(length, count) for length, count in enumerate(counts) if count]
        whole = sum(count * 2.0 ** (size - length) for length, count in used)
        profiles.append(tuple((count * 2 ** (length - size), 2.0 ** (size - length) / whole) for length, count in used))
    return tuple(profiles), profile_of


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
        found = combine(bases, query.by_basis(answer.values))
        errors = np.sqrt(found.variances * answer.noise.variance)
        laws = tuple(NoiseSum(answer.noise, profile) for profile in found.profiles)
        itemsets, counts, law_of = found.itemsets, found.counts, found.profile_of
        # The first subset of the first basis is the empty one.
        total, total_error, total_law = counts[0], errors[0], laws[law_of[0]]
        if basis.candidates is not None:
            wanted = {itemset(candidate) for candidate in basis.candidates}
            kept = [row for row, subset in enumerate(itemsets) if subset in wanted]
            itemsets = Itemsets.of(itemsets[row] for row in kept)
            counts, errors, law_of = counts[kept], errors[kept], law_of[kept]
        return NoisyCounts(itemsets, counts, errors, total, total_error, laws, law_of, total_law, joint="bases")
