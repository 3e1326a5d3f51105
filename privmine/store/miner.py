"""The exact top-n miner of the store in memory: no minimum support, a rising floor instead.

Itemsets are ordered by falling support, then length, then item order. In that order a subset
always precedes its superset, so:

* the first n itemsets are made of the n most frequent items;
* an itemset that is not among the first n known so far has no superset among the first n.

The miner goes length by length and holds the first n itemsets known so far; the support of the
last of them is the floor under which nothing needs counting. Candidates of the highest bounds are
counted first, since they raise the floor soonest. Inside, an item is its rank by frequency.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from privmine.model import IntArray, Itemset, Itemsets
from privmine.store.bitmaps import Words, intersection_counts, triangle_counts, words_for
from privmine.store.rows import LazyRows, Rows
from privmine.store.shelf import Shelf

#: What a word of an AND of bitmaps, an item of a projection and a pair of two items cost, relative to each other.
WORD_COST, PROJECTION_COST, PAIR_COST = 2, 50, 16
#: So many items are always counted on bitmaps: they raise the floor, and so tell how many more are left.
_BITMAPS_AT_LEAST = 96
#: The largest table of pair counts that is held at once.
_TABLE = 1 << 22
#: So many items are compared on bitmaps with all more frequent ones, before the floor is looked at again.
_STEP = 32

#: Bitmaps of items, of all transactions at once or, where memory is limited, of some after others.
Windows: TypeAlias = Callable[[IntArray], Iterable[Words]]


def top_itemsets(
    rows: Rows,
    supports: IntArray,
    windows: Windows,
    n: int,
    max_length: int | None,
    at_once: int,
    *,
    is_limited: bool = False,
) -> tuple[Itemsets, IntArray]:
    """Find the first n itemsets and their supports.

    Args:
        rows: the transactions, each row strictly increasing.
        supports: the support of every item.
        windows: builds or finds the bitmaps of items.
        n: how many itemsets to find.
        max_length: the longest itemset to find, or None.
        at_once: of how many items `windows` has the bitmaps of all transactions at once.
        is_limited: whether memory has no room for another copy of the rows.
    """
    longest = len(supports) if max_length is None else max_length
    # A stable sort by falling support: items of equal support stay in item order.
    items = np.argsort(-supports, kind="stable")[: max(n, 0)]
    items = items[supports[items] > 0]
    first = _First(items, n)
    if longest >= 1:
        first.add(np.arange(len(items)).reshape(-1, 1), supports[items])
    if longest >= 2:
        _add_pairs(first, rows, supports, windows, at_once, is_limited)
    for length in range(3, longest + 1):
        if not _add_longer(first, length, windows, at_once):
            break
    return first.result()


class _First:
    """The first n itemsets among all that were added."""

    def __init__(self, items: IntArray, n: int) -> None:
        self.items = items
        self.n = n
        self.levels: list[tuple[IntArray, IntArray]] = []
        self.floor = 1
        self.floor_length: int | None = None

    def admits(self, supports: IntArray, length: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Whether itemsets of such supports and length may be among the first n."""
        if self.floor_length is not None and length > self.floor_length:
            return supports > self.floor
        return supports >= self.floor

    def level(self, length: int) -> tuple[IntArray, IntArray]:
        """The itemsets of one length that are among the first n, as rows of ranks, and their supports."""
        if length > len(self.levels):
            return np.zeros((0, length), dtype=np.int64), np.zeros(0, dtype=np.int64)
        return self.levels[length - 1]

    def add(self, members: IntArray, supports: IntArray) -> None:
        """Add itemsets of one length; none may be added twice, and shorter lengths come first."""
        length = members.shape[1]
        worth = self.admits(supports, length)
        known = self.level(length)
        level = np.concatenate([known[0], members[worth]]), np.concatenate([known[1], supports[worth]])
        self.levels[length - 1 : length] = [level]
        self._trim()

    def result(self) -> tuple[Itemsets, IntArray]:
        found: list[tuple[int, int, Itemset]] = []
        for members, supports in self.levels:
            itemsets = np.sort(self.items[members], axis=1).tolist()
            found += [
                (-support, len(itemset), tuple(itemset))
                for support, itemset in zip(supports.tolist(), itemsets, strict=True)
            ]
        found.sort()
        return Itemsets.of(row[2] for row in found), np.array([-row[0] for row in found], dtype=np.int64)

    def _trim(self) -> None:
        supports = np.concatenate([level[1] for level in self.levels])
        if len(supports) < self.n or not len(supports):
            return
        self.floor = int(np.partition(supports, len(supports) - self.n)[len(supports) - self.n])
        room = self.n - int(np.count_nonzero(supports > self.floor))
        # Of those on the floor the shorter go first, and of one length the first in item order.
        for position, (members, supports) in enumerate(self.levels):
            keep = supports > self.floor
            tied = np.flatnonzero(supports == self.floor)
            if len(tied) > room:
                itemsets = np.sort(self.items[members[tied]], axis=1)
                tied = tied[np.lexsort(itemsets.T[::-1])[:room]]
            if len(tied):
                self.floor_length = position + 1
            room -= len(tied)
            keep[tied] = True
            self.levels[position] = members[keep], supports[keep]


def bitmap_cost(rows: int, stop: int, start: int = 0) -> int:
    """What it costs to count on bitmaps the pairs of items 0 … stop − 1, without those of 0 … start − 1."""
    return WORD_COST * words_for(rows) * (stop * stop - start * start) // 2


def _add_pairs(first: _First, rows: Rows, supports: IntArray, windows: Windows, at_once: int, is_limited: bool) -> None:
    """Add the pairs {x, y} with x < y, in the order of y, whose support bounds theirs.

    Frequent items are counted on bitmaps, since they have many pairs in a transaction; once the
    rest is cheaper to count by going through the transactions, it is counted so.
    """
    of_rank = supports[first.items]
    held: Words | None = None
    projected: Rows | LazyRows | None = None
    pairs: IntArray = of_rank[:0]
    start = 0
    while start < (stop := int(np.count_nonzero(first.admits(of_rank, 2)))):
        cost = bitmap_cost(rows.count, stop, start)
        if projected is None and start >= _BITMAPS_AT_LEAST and cost > PROJECTION_COST * len(rows.items):
            rank = np.full(len(supports) + 1, -1, dtype=np.int32)  # the last entry is where −1 leads
            rank[first.items[:stop]] = np.arange(stop, dtype=np.int32)
            projected = LazyRows(rows, rank, sort=True) if is_limited else rows.placed(rank, Shelf())
            pairs = _pairs_by_rank(projected, stop)
        if projected is not None and cost > PAIR_COST * int(pairs[start:stop].sum()):
            held = None
            last = min(stop, start + max(1, _TABLE // stop))
            counts = _pair_table(projected, start, last)
        else:
            last = min(stop, start + _STEP)
            if last > at_once:
                # Every look goes through all transactions, so let there be few.
                held, last = None, min(stop, max(last, 2 * start))
                counts = sum(
                    (triangle_counts(words, start, last) for words in windows(first.items[:last])),
                    np.zeros((last - start, max(last - 1, 0)), dtype=np.int64),
                )
            else:
                if held is None or last > len(held):
                    (held,) = windows(first.items[: min(stop, at_once, max(last, 4 * _STEP, 2 * start))])
                counts = triangle_counts(held, start, last)
        y, x = np.nonzero(first.admits(counts, 2))
        first.add(np.column_stack([x, y + start]), counts[y, x])
        start = last


def _pairs_by_rank(projected: Rows | LazyRows, ranks: int) -> IntArray:
    """About how many pairs of items all transactions have, by the rank of the second item."""
    pairs = np.zeros(ranks, dtype=np.int64)
    for _, block in projected.blocks():
        np.add.at(pairs, block.items, np.repeat(block.lengths, block.lengths))
    return pairs


def _pair_table(projected: Rows | LazyRows, start: int, last: int) -> IntArray:
    """Count the pairs {x, y} with start ≤ y < last at [y − start, x]; rows are sorted by rank."""
    table = np.zeros((last - start) * last, dtype=np.int64)
    for _, block in projected.blocks():
        ranks = block.items.astype(np.int64)
        before = np.arange(len(ranks)) - np.repeat(block.offsets[:-1], block.lengths)
        second = np.flatnonzero((ranks >= start) & (ranks < last))
        distance = 1
        # Each item with the one before it, then with the second before it, until no row is that long.
        while len(second := second[before[second] >= distance]):
            np.add.at(table, (ranks[second] - start) * last + ranks[second - distance], 1)
            distance += 1
    return table.reshape(last - start, last)


def _add_longer(first: _First, length: int, windows: Windows, at_once: int) -> bool:
    """Add the itemsets of this length; whether there was any candidate."""
    members, bounds = _candidates(first, length)
    if not len(members):
        return False
    ranks, slots = np.unique(members, return_inverse=True)
    slots = slots.reshape(members.shape)
    held = list(windows(first.items[ranks])) if len(ranks) <= at_once else None
    for batch in _batches(first, length, bounds):
        # In order of their members, so that those with the same prefix are counted together.
        batch = batch[np.lexsort(slots[batch].T[::-1])]
        places = slots[batch]
        # Of too many items only those of the batch, which are less.
        wanted, places = (ranks, places) if held else _needed(ranks, places)
        counts = np.zeros(len(batch), dtype=np.int64)
        for words in held or windows(first.items[wanted]):
            counts += intersection_counts(words, places)
        first.add(members[batch], counts)
    return True


def _needed(ranks: IntArray, slots: IntArray) -> tuple[IntArray, IntArray]:
    """The ranks that occur in the slots, and these as places among them."""
    used, places = np.unique(slots, return_inverse=True)
    return ranks[used], places.reshape(slots.shape)


def _batches(first: _First, length: int, bounds: IntArray) -> Iterator[IntArray]:
    """Positions of candidates by falling bound, as long as they may be among the first n."""
    order = np.argsort(-bounds, kind="stable")
    size = max(1024, first.n // 4)
    for start in range(0, len(order), size):
        batch = order[start : start + size]
        batch = batch[first.admits(bounds[batch], length)]
        if not len(batch):
            return
        yield batch


def _candidates(first: _First, length: int) -> tuple[IntArray, IntArray]:
    """Join the itemsets one shorter that differ in their most frequent item; with a bound on each support.

    Sharing the rare items makes small groups, and so few candidates. A candidate is bounded by the
    two itemsets that it is joined of and by the pair of the two items in which they differ.
    """
    members, supports = first.level(length - 1)
    members = members[:, ::-1]  # the rarest item comes first
    order = np.lexsort(members.T[::-1])
    members, supports = members[order], supports[order]
    total = len(members)
    leads = np.ones(total, dtype=np.bool_)
    np.any(members[1:, :-1] != members[:-1, :-1], axis=1, out=leads[1:])
    ends = np.append(np.flatnonzero(leads), total)[np.cumsum(leads)]
    partners = ends - np.arange(total) - 1
    left = np.repeat(np.arange(total), partners)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    bounds = np.minimum(supports[left], supports[right])
    bounds = np.minimum(bounds, _PairSupports(first).of(members[left, -1], members[right, -1]))
    worth = first.admits(bounds, length)
    left, right = left[worth], right[worth]
    # Ranks increase along a row again: the left one's last item, the right one's, the shared ones.
    return np.column_stack([members[left, -1], members[right, ::-1]]), bounds[worth]


class _PairSupports:
    """Looks up the supports of pairs; that of a pair which is not among the first n counts as 0."""

    def __init__(self, first: _First) -> None:
        members, supports = first.level(2)
        self._width = len(first.items)
        keys = members[:, 0] * self._width + members[:, 1]
        order = np.argsort(keys)
        self._keys, self._supports = keys[order], supports[order]

    def of(self, x: IntArray, y: IntArray) -> IntArray:
        keys = x * self._width + y
        places = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64)
        return np.where(self._keys[places] == keys, self._supports[places], 0)
