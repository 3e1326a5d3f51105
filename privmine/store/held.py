"""Which of many given items and pairs each transaction contains, counted row by row.

Bitmaps are faster where itemsets are few or transactions long. Here the work is that of the pairs that
really occur, so that a hundred thousand candidates cost no more than a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from attrs import frozen
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


@frozen(eq=False)
class Occurrences:
    """Every occurrence of an itemset in a row.

    Attributes:
        rows: the row of each occurrence.
        numbers: the number of its itemset.
        held: how many of the itemsets each row contains.
        size: how many itemsets there are.
    """

    rows: NDArray[np.int32]
    numbers: NDArray[np.int32]
    held: IntArray
    size: int

    def counts(self, cap: int) -> IntArray:
        """How many rows contain 0, 1, …, cap of the itemsets; cap means cap or more."""
        return np.bincount(np.minimum(self.held, cap), minlength=cap + 1)

    def bounded_counts(self, weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T] over its rows, which contain T of the itemsets."""
        weight_of = np.append(weights, 0)[np.minimum(self.held, len(weights))]
        totals = np.zeros(self.size, dtype=np.int64)
        # Sums of integers by integer addition: bincount would weigh in floating point.
        np.add.at(totals, self.numbers, weight_of[self.rows])
        return totals


def occurrences(rows: Rows | LazyRows, numbers: Numbers, size: int) -> Iterator[Occurrences]:
    """Those of each block of rows.

    Args:
        rows: the transactions restricted to the items, each by its position among them.
        numbers: the table of the itemsets.
        size: how many itemsets there are.
    """
    flat, width = numbers.reshape(-1), len(numbers)
    for _, block in rows.blocks():
        items, row = block.items.astype(np.int64), block.row_of_item().astype(np.int32)
        after = np.repeat(block.offsets[1:], block.lengths) - np.arange(len(items))
        none = np.zeros(0, dtype=np.int32)
        found_rows, found = [none], [none]
        first, distance = np.arange(len(items)), 0
        # Each item with itself, then with the one after it, and so on, until no row is that long.
        while len(first := first[after[first] > distance]):
            number = flat[items[first] * width + items[first + distance]]
            hit = np.flatnonzero(number >= 0)
            found_rows.append(row[first[hit]])
            found.append(number[hit])
            distance += 1
        where = np.concatenate(found_rows)
        yield Occurrences(where, np.concatenate(found), np.bincount(where, minlength=block.count), size)


def pair_count(rows: Rows | LazyRows) -> int:
    """How many pairs of items, and items with themselves, the rows have."""
    return sum(int((block.lengths * (block.lengths + 1)).sum()) for _, block in rows.blocks()) // 2
