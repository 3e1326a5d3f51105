"""The counting store in memory: compressed sparse rows, and bitmaps of the items that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, Itemsets, read_only
from privmine.store import bitmaps, held, miner
from privmine.store.abstract import Contribution, Store
from privmine.store.bitmaps import Words
from privmine.store.clipping import contributed_entries
from privmine.store.rows import LazyRows, Rows
from privmine.store.shelf import Shelf

#: How much memory bitmaps may take in all before old ones are let go.
_BITMAP_BYTES = 256 << 20
#: 2^30 bins are 8 GB: what a longer basis would need does not fit in memory.
_LONGEST_BASIS = 30
#: More pairs in transactions are looked at anew for the next question: to keep what is found takes up to 128 MB.
_MOST_KEPT = 1 << 24
#: What a word of an itemset's bitmap costs where transactions are weighed, relative to the costs of `miner`.
_HELD_COST = 40

#: Which of some itemsets each of some transactions contains.
_Held: TypeAlias = bitmaps.Contained | held.Occurrences


class MemoryStore(Store):
    """A store that holds its transactions in two arrays.

    Bitmaps, item supports and mined itemsets are made when they are first needed and kept. They are
    replaced as a whole, never changed in place, so that threads may share a store.
    """

    def __init__(self, rows: Rows, item_count: int, memory_limit: int | None = None) -> None:
        """Count on rows that are strictly increasing; bitmaps take an eighth of the memory limit at most."""
        self._rows = rows
        self._item_count = item_count
        self._memory_limit = memory_limit
        self._bitmap_bytes = _BITMAP_BYTES if memory_limit is None else min(memory_limit // 8, _BITMAP_BYTES)
        self._item_supports: IntArray | None = None
        self._bitmaps = _no_bitmaps(rows, item_count)
        #: By the longest itemset asked for: how many were asked for, the itemsets and their supports.
        self._mined: dict[int | None, tuple[int, Itemsets, IntArray]] = {}
        #: Which of some itemsets each transaction contains.
        self._asked: tuple[tuple[Itemset, ...], tuple[_Held, ...]] = ((), ())

    @classmethod
    def from_rows(
        cls, offsets: ArrayLike, items: ArrayLike, item_count: int, *, strictly_increasing: bool = False
    ) -> MemoryStore:
        """Make a store of compressed sparse rows; an item that a row repeats counts once.

        Args:
            offsets: where each row starts, and where the last one ends.
            items: the items of all rows, one row after another.
            item_count: the size of the universe.
            strictly_increasing: the caller knows that every row is sorted and free of repetition.
        """
        rows = Rows.of(np.asarray(offsets, dtype=np.int64), np.asarray(items, dtype=np.int32))
        if rows.items.min(initial=0) < 0 or rows.items.max(initial=-1) >= item_count:
            raise InputError(f"An item lies outside the universe of {item_count} items.")
        if not strictly_increasing and not rows.are_strictly_increasing():
            rows = rows.as_sets()
        return cls(rows, item_count)

    def __reduce__(self) -> tuple[Any, ...]:
        # What can be built again does not travel.
        return type(self), (self._rows, self._item_count, self._memory_limit)

    @property
    def item_count(self) -> int:
        """The size of the universe."""
        return self._item_count

    @property
    def rows(self) -> Rows:
        """The transactions themselves: exact data, for commands that say that they copy it."""
        return self._rows

    def count(self) -> int:
        """The number of transactions, empty ones included."""
        return self._rows.count

    def item_supports(self) -> IntArray:
        """The support of every item of the universe, in item order."""
        if self._item_supports is None:
            supports = np.zeros(self._item_count, dtype=np.int64)
            for _, block in self._rows.blocks():
                np.add.at(supports, block.items, 1)
            self._item_supports = read_only(supports)
        return self._item_supports

    def restricted(self, items: Sequence[int]) -> Store:
        """The same transactions with these items only, which are 0, 1, … in the order given, as rows of their own."""
        place = np.full(self._item_count + 1, -1, dtype=np.int32)  # the last entry is where −1 leads
        place[self._checked(items)] = np.arange(len(items), dtype=np.int32)
        return MemoryStore(self._rows.placed(place, Shelf(self._memory_limit)), len(items), self._memory_limit)

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset; that of the empty itemset is the number of transactions."""
        if not isinstance(itemsets, Itemsets):
            itemsets = Itemsets.of(itemsets)
        self._check(itemsets.members)
        lengths, starts = itemsets.lengths, itemsets.offsets[:-1]
        supports = np.full(len(itemsets), self.count(), dtype=np.int64)
        for length in np.unique(lengths[lengths > 0]).tolist():
            positions = np.flatnonzero(lengths == length)
            members = itemsets.members[starts[positions, None] + np.arange(length)]
            supports[positions] = self._equally_long_supports(members)
        return supports

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""
        chosen = self._checked(items)
        distinct, places = np.unique(chosen, return_inverse=True)
        cost = miner.bitmap_cost(self.count(), len(chosen))
        if len(distinct) == len(chosen) and cost > miner.PROJECTION_COST * len(self._rows.items):
            rows = self._within(items)
            pairs = sum(int((block.lengths * (block.lengths - 1)).sum()) for _, block in rows.blocks()) // 2
            if cost > miner.PAIR_COST * pairs:
                totals = np.zeros(len(chosen) * (len(chosen) - 1) // 2, dtype=np.int64)
                for _, block in rows.blocks():
                    _add_pairs(totals, len(chosen), block, np.ones(len(block.items), dtype=np.int64))
                return totals
        first, second = np.triu_indices(len(chosen), 1)
        totals = np.zeros(len(first), dtype=np.int64)
        # No copy of the bitmaps in another order, if no item is given twice.
        is_set = len(distinct) == len(chosen)
        for words in self._all_words(chosen if is_set else distinct):
            totals += bitmaps.triangle_counts(words if is_set else words[places], 0, len(chosen))[second, first]
        return totals

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it, in one pass.

        Bin b of a basis counts the transactions that contain exactly those of its items whose
        position is a set bit of b; the basis's first item is the lowest bit.
        """
        for basis in bases:
            if len(basis) > _LONGEST_BASIS:
                raise InputError(
                    f"A basis of {len(basis)} items has 2^{len(basis)} bins. A basis may have at most "
                    f"{_LONGEST_BASIS} items."
                )
        items = self._checked(sorted({item for basis in bases for item in basis}))
        counts = [np.zeros(1 << len(basis), dtype=np.int64) for basis in bases]
        for words, members, rows in self._windows(bases, items):
            for count, places in zip(counts, members, strict=True):
                count += bitmaps.bin_counts(words, places, rows)
        return counts

    def state_counts(self, items: Sequence[int], states: IntArray) -> IntArray:
        """How many transactions have, of the given items, exactly those of each state; bit i stands for items[i]."""
        return bitmaps.state_counts(self._bitmaps_of(self._checked(items)), self.count(), np.asarray(states))

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within` (None: of all); cap means cap or more."""
        rows = self._rows if within is None else self._within(within)
        counts = np.zeros(cap + 1, dtype=np.int64)
        for _, block in rows.blocks():
            counts += np.bincount(np.minimum(block.lengths, cap), minlength=cap + 1)
        return counts

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item (size 1) or pair (size 2) of `within`.

        A transaction longer than the weights reach weighs nothing. Pairs come in the order of
        `itertools.combinations`. None means the whole universe.
        """
        if size not in (1, 2):
            raise InputError(f"Weighted supports exist for items (size 1) and pairs (size 2), not for size {size}.")
        width = self._item_count if within is None else len(within)
        rows = self._rows if within is None else self._within(within)
        weigh = np.append(np.asarray(weights, dtype=np.int64), 0)
        # Sums of integers by integer addition: bincount would weigh in floating point.
        totals = np.zeros(width if size == 1 else width * (width - 1) // 2, dtype=np.int64)
        for _, block in rows.blocks():
            lengths = block.lengths
            item_weights = np.repeat(weigh[np.minimum(lengths, len(weigh) - 1)], lengths)
            if size == 1:
                np.add.at(totals, block.items, item_weights)
            else:
                _add_pairs(totals, width, block, item_weights)
        return totals

    def bounded_supports(self, itemsets: Sequence[Itemset], weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T(t)] over the transactions t that contain it.

        T(t) is how many of the itemsets t contains; one that is given twice counts twice. A
        transaction that contains more of them than the weights reach weighs nothing.
        """
        weigh = np.asarray(weights, dtype=np.int64)
        totals = np.zeros(len(itemsets), dtype=np.int64)
        for part in self._contained(itemsets):
            totals += part.bounded_counts(weigh)
        return totals

    def held_counts(self, itemsets: Sequence[Itemset], cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more."""
        totals = np.zeros(cap + 1, dtype=np.int64)
        for part in self._contained(itemsets):
            totals += part.counts(cap)
        return totals

    def _contained(self, itemsets: Sequence[Itemset]) -> Iterable[_Held]:
        """Which of the itemsets each transaction contains, some transactions after others.

        It is asked twice: for the histogram, then for the supports that are bounded by it.
        """
        wanted = tuple(itemsets)
        known, kept = self._asked
        if kept and known == wanted:
            return kept
        items, rows, numbers = self._by_rows(itemsets)
        parts: Iterator[_Held]
        if numbers is not None:
            parts = held.occurrences(rows, numbers, len(itemsets))
            is_small = held.pair_count(rows) <= _MOST_KEPT
        else:
            parts = (
                bitmaps.Contained.of(words, members, count) for words, members, count in self._windows(itemsets, items)
            )
            is_small = len(items) <= self._at_once()
        # What would be too large to keep is made again.
        if self._memory_limit is not None or not is_small:
            return parts
        kept = tuple(parts)
        self._asked = wanted, kept
        return kept

    def _by_rows(self, itemsets: Sequence[Itemset]) -> tuple[IntArray, Rows | LazyRows, held.Numbers | None]:
        """The items of the itemsets and the rows on them, with a table of the itemsets if rows beat bitmaps."""
        items = self._checked(sorted({item for found in itemsets for item in found}))
        cost = bitmaps.words_for(self.count()) * len(itemsets) * _HELD_COST
        if cost > miner.PROJECTION_COST * len(self._rows.items):
            numbers = held.numbers_of(itemsets, items)
            if numbers is not None:
                rows = self._within(items.tolist())
                if cost > miner.PAIR_COST * held.pair_count(rows):
                    return items, rows, numbers
        return items, self._rows, None

    def _windows(self, itemsets: Sequence[Itemset], items: IntArray) -> Iterator[tuple[Words, list[IntArray], int]]:
        """Bitmaps of the items, the itemsets as positions among them, and how many transactions the bitmaps have."""
        flat = np.searchsorted(items, self._checked([item for found in itemsets for item in found]))
        members = np.split(flat, np.cumsum([len(found) for found in itemsets])[:-1]) if len(itemsets) else []
        if len(items) <= self._at_once():
            yield self._bitmaps_of(items), members, self.count()
            return
        # Too many bitmaps to keep: those of some transactions at a time. A window is still there while the next one is
        # made, so that each has half of the room; what was kept goes where memory is limited.
        if self._memory_limit is not None:
            self._bitmaps = _no_bitmaps(self._rows, self._item_count)
        height = max(1, self._bitmap_bytes // (2 * len(items))) * 8
        for first in range(0, self.count(), height):
            rows = self._rows.between(first, min(first + height, self.count()))
            yield bitmaps.packed(rows, self._item_count, items), members, rows.count

    def _all_words(self, items: IntArray) -> Iterator[Words]:
        """Bitmaps of the items: of all transactions, or of some at a time if those would be too many to keep."""
        for words, _, _ in self._windows([], items):
            yield words

    def _at_once(self) -> int:
        """How many bitmaps of all transactions may be kept."""
        return self._bitmap_bytes // max(8 * bitmaps.words_for(self.count()), 1)

    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up integer contributions, each clipped to an L1 norm (and squared L2 norm) before it is added."""
        totals = [0] * dimension
        for _, block in self._rows.blocks():
            items, bounds = block.items.tolist(), block.offsets.tolist()
            for row in range(block.count):
                transaction = tuple(items[bounds[row] : bounds[row + 1]])
                clipped = contributed_entries(contribution, transaction, dimension, l1, l2_squared)
                for position, value in clipped.items():
                    totals[position] += value
        # Bounding a sum never widens the distance of two sums, so it keeps the sensitivity.
        limit = np.iinfo(np.int64).max
        return np.array([max(-limit, min(total, limit)) for total in totals], dtype=np.int64)

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
        """The n itemsets of largest support, by falling support, then length, then item order.

        Itemsets of support 0 are never listed, so there may be fewer than n.
        """
        asked, found, supports = self._mined.get(max_length, (0, Itemsets.of([]), np.zeros(0, dtype=np.int64)))
        if n > asked:
            is_limited = self._memory_limit is not None
            found, supports = miner.top_itemsets(
                self._rows,
                self.item_supports(),
                self._all_words if is_limited else lambda items: [self._bitmaps_of(items)],
                n,
                max_length,
                self._at_once() if is_limited else self._item_count,
                is_limited=is_limited,
            )
            self._mined[max_length] = n, found, supports
        # The order is total, so fewer itemsets are the first of more.
        size = min(max(n, 0), len(found))
        offsets = found.offsets[: size + 1]
        return Itemsets(found.members[: offsets[-1]], offsets), supports[:size].copy()

    def persist(self) -> None:
        """Prepare for many calls; the data is in memory already, so only the item supports are counted."""
        self.item_supports()

    def close(self) -> None:
        """Let go of the bitmaps and of what was mined; both are made again if they are asked for."""
        self._bitmaps = _no_bitmaps(self._rows, self._item_count)
        self._mined = {}
        self._asked = ((), ())

    def _checked(self, items: Sequence[int] | IntArray) -> IntArray:
        array = np.asarray(items, dtype=np.int64)
        self._check(array)
        return array

    def _check(self, items: NDArray[Any]) -> None:
        if items.min(initial=0) < 0 or items.max(initial=-1) >= self._item_count:
            raise InputError(f"An item in the question lies outside the universe of {self._item_count} items.")

    def _within(self, items: Sequence[int]) -> Rows | LazyRows:
        """The transactions restricted to some items, each in the form of its position among them."""
        label = np.full(self._item_count, -1, dtype=np.int32)
        label[self._checked(items)] = np.arange(len(items), dtype=np.int32)
        return self._rows.relabelled(label) if self._memory_limit is None else LazyRows(self._rows, label)

    def _equally_long_supports(self, members: NDArray[np.int32]) -> IntArray:
        if members.shape[1] == 1:
            return self.item_supports()[members[:, 0]]
        items, slots = np.unique(members, return_inverse=True)
        slots = slots.reshape(members.shape)
        totals = np.zeros(len(members), dtype=np.int64)
        for words in self._all_words(items.astype(np.int64)):
            totals += bitmaps.intersection_counts(words, slots)
        return totals

    def _bitmaps_of(self, items: IntArray) -> Words:
        """The bitmaps of distinct items, in their order; the ones that are missing are built together."""
        slots, words = self._bitmaps
        missing = items[slots[items] < 0]
        if len(missing):
            if len(words) + len(missing) > self._at_once():
                present = items[slots[items] >= 0]
                slots, words = np.full_like(slots, -1), words[slots[present]]
                slots[present] = np.arange(len(present))
            else:
                slots = slots.copy()
            slots[missing] = len(words) + np.arange(len(missing))
            grown = np.zeros((len(words) + len(missing), words.shape[1]), dtype=np.uint64)
            grown[: len(words)] = words
            bitmaps.packed(self._rows, self._item_count, missing, grown[len(words) :])
            words = grown
            if len(words) <= self._at_once():
                self._bitmaps = slots, words
        wanted = slots[items]
        if len(wanted) == len(words) and np.array_equal(wanted, np.arange(len(words))):
            return words
        return words[wanted]


def _no_bitmaps(rows: Rows, item_count: int) -> tuple[IntArray, Words]:
    """Where each item's bitmap is (nowhere), and the bitmaps."""
    return np.full(item_count, -1, dtype=np.int64), np.zeros((0, bitmaps.words_for(rows.count)), dtype=np.uint64)


def _add_pairs(totals: IntArray, width: int, block: Rows, item_weights: IntArray) -> None:
    """Add each row's weight to the totals of all pairs of its items, in the order of combinations."""
    after = np.repeat(block.offsets[1:], block.lengths) - np.arange(len(block.items))
    first = np.flatnonzero(item_weights != 0)
    items = block.items.astype(np.int64)
    distance = 1
    # Each item with the one after it, then with the second after it, until no row is that long.
    while len(first := first[after[first] > distance]):
        x, y = items[first], items[first + distance]
        low, high = np.minimum(x, y), np.maximum(x, y)
        np.add.at(totals, low * (2 * width - low - 1) // 2 + high - low - 1, item_weights[first])
        distance += 1
