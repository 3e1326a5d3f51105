"""Which of many given items and pairs each transaction contains, counted row by row.

Bitmaps are faster where itemsets are few or transactions long. Here the work is that of the pairs that
really occur, so that a hundred thousand candidates cost no more than a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.model import IntArray, Itemset
from privmine.store.rows import LazyRows, Rows

#: At most so many items: the table of pairs is their square.
MOST_ITEMS = 4096
#: The number of each pair of items among the itemsets, or −1; single items stand on the diagonal.
Numbers: TypeAlias = NDArray[np.int32]


def numbers_of(itemsets: Sequence[Itemset], items: IntArray) -> Numbers | None:
    """The table of the itemsets; None where one is longer than a pair, is empty or is repeated."""
    lengths = {len(found) for found in itemsets}
    if not lengths <= {1, 2} or len(items) > MOST_ITEMS:
        return None
    ends = np.searchsorted(items, [(min(found), max(found)) for found in itemsets]).reshape(-1, 2)
    table = np.full((len(items), len(items)), -1, dtype=np.int32)
    for low, high in (ends.T, ends.T[::-1]):
        table[low, high] = np.arange(len(itemsets), dtype=np.int32)
    distinct = np.count_nonzero(np.triu(table >= 0)) == len(itemsets)
    return table if distinct else None


def occurrences(rows: Rows | LazyRows, numbers: Numbers) -> Iterator[tuple[int, IntArray, IntArray]]:
    """For each block of rows how many it has, and every occurrence: in which row of the block, of which itemset.

    Args:
        rows: the transactions restricted to the items, each by its position among them.
        numbers: the table of the itemsets.
    """
    flat, width = numbers.reshape(-1), len(numbers)
    for _, block in rows.blocks():
        items, row = block.items.astype(np.int64), block.row_of_item()
        after = np.repeat(block.offsets[1:], block.lengths) - np.arange(len(items))
        found_rows, found = [], []
        first, distance = np.arange(len(items)), 0
        # Each item with itself, then with the one after it, and so on, until no row is that long.
        while len(first := first[after[first] > distance]):
            number = flat[items[first] * width + items[first + distance]]
            hit = np.flatnonzero(number >= 0)
            found_rows.append(row[first[hit]])
            found.append(number[hit].astype(np.int64))
            distance += 1
        none = np.zeros(0, dtype=np.int64)
        yield block.count, np.concatenate([none, *found_rows]), np.concatenate([none, *found])


def bounded_counts(rows: Rows | LazyRows, numbers: Numbers, size: int, weights: IntArray) -> IntArray:
    """For each of `size` itemsets the sum of weights[T] over its transactions, which contain T of the itemsets."""
    totals = np.zeros(size, dtype=np.int64)
    weigh = np.append(weights, 0)
    for count, row, number in occurrences(rows, numbers):
        weight_of = weigh[np.minimum(np.bincount(row, minlength=count), len(weigh) - 1)]
        # Sums of integers by integer addition: bincount would weigh in floating point.
        np.add.at(totals, number, weight_of[row])
    return totals


def held_counts(rows: Rows | LazyRows, numbers: Numbers, cap: int) -> IntArray:
    """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more."""
    totals = np.zeros(cap + 1, dtype=np.int64)
    for count, row, _ in occurrences(rows, numbers):
        totals += np.bincount(np.minimum(np.bincount(row, minlength=count), cap), minlength=cap + 1)
    return totals


def pair_count(rows: Rows | LazyRows) -> int:
    """How many pairs of items, and items with themselves, the rows have."""
    return sum(int((block.lengths * (block.lengths + 1)).sum()) for _, block in rows.blocks()) // 2
