"""Transactions as compressed sparse rows, worked on one block of rows at a time.

Every pass goes block by block, so that its temporary arrays stay in the processor's cache and the
peak of memory is the data itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.model import IntArray

#: How many items a block holds, about: 256 KB of int32.
BLOCK_ITEMS = 1 << 16


def slices(length: int) -> Iterator[slice]:
    """Slices of a block each that make up an array of this length."""
    for start in range(0, length, BLOCK_ITEMS):
        yield slice(start, min(start + BLOCK_ITEMS, length))


@frozen(eq=False)
class Rows:
    """The items of row r are items[offsets[r]:offsets[r + 1]].

    Attributes:
        offsets: where each row starts, and where the last one ends.
        items: the items of all rows, one row after another.
    """

    offsets: IntArray = field(repr=False)
    items: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, offsets: IntArray, items: NDArray[np.int32]) -> Rows:
        """Make rows of two arrays that the caller no longer changes."""
        return cls(np.ascontiguousarray(offsets, dtype=np.int64), np.ascontiguousarray(items, dtype=np.int32))

    @property
    def count(self) -> int:
        """The number of rows, empty ones included."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """The number of items of each row."""
        return np.diff(self.offsets)

    def blocks(self, size: int = BLOCK_ITEMS) -> Iterator[tuple[int, Rows]]:
        """Consecutive rows of about `size` items, each block with the number of its first row."""
        starts = [0]
        while starts[-1] < self.count:
            row = starts[-1]
            reach = int(np.searchsorted(self.offsets, self.offsets[row] + size))
            # One row may be longer than a block, and a block of empty rows must end as well.
            starts.append(min(max(reach, row + 1), row + size, self.count))
        for first, last in pairwise(starts):
            yield first, self.between(first, last)

    def between(self, first: int, last: int) -> Rows:
        """The rows first … last − 1."""
        start, stop = self.offsets[first], self.offsets[last]
        return Rows(self.offsets[first : last + 1] - start, self.items[start:stop])

    def row_of_item(self) -> IntArray:
        """The number of the row that each item is in."""
        return np.repeat(np.arange(self.count), self.lengths)

    def are_strictly_increasing(self) -> bool:
        """Whether every row is sorted and free of repetition."""
        rising = self.items[1:] > self.items[:-1]
        starts = self.offsets[1:-1]
        starts = starts[(starts > 0) & (starts < len(self.items))]
        rising[starts - 1] = True  # the first item of a row follows nothing
        return bool(rising.all())

    def kept(self, keep: NDArray[np.bool_]) -> Rows:
        """The same rows without the items that are not to be kept."""
        before = np.zeros(len(keep) + 1, dtype=np.int64)
        np.cumsum(keep, out=before[1:])
        return Rows(before[self.offsets], self.items[keep])

    def relabelled(self, label: NDArray[np.int32]) -> Rows:
        """The rows with label[item] in place of each item; an item of negative label is left out."""
        items = np.empty_like(self.items)
        for part in slices(len(items)):
            items[part] = label[self.items[part]]
        keep = items >= 0
        relabelled = Rows(self.offsets, items)
        return relabelled if keep.all() else relabelled.kept(keep)

    def as_sets(self) -> Rows:
        """The rows sorted, each item once a row."""
        bits = int(self.items.max(initial=0)).bit_length()
        lengths = self.lengths
        parts = [self.items[:0]]
        for first, block in self.blocks():
            items, sizes = _sorted_block(block, bits)
            parts.append(items)
            lengths[first : first + block.count] = sizes
        offsets = np.zeros(self.count + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return Rows(offsets, np.concatenate(parts))


def _sorted_block(block: Rows, bits: int) -> tuple[NDArray[np.int32], IntArray]:
    """Sort a block by one key for row and item: numbers of 32 bits where they suffice, for speed."""
    narrow = block.count.bit_length() + bits <= 32
    keys: NDArray[Any] = block.row_of_item().astype(np.uint32 if narrow else np.uint64)
    keys <<= keys.dtype.type(bits)
    keys |= block.items.astype(keys.dtype)
    keys.sort()
    first_of_its_kind = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first_of_its_kind[1:])
    lengths = block.lengths
    if not first_of_its_kind.all():
        keys = keys[first_of_its_kind]
        lengths = np.bincount((keys >> keys.dtype.type(bits)).astype(np.int64), minlength=block.count)
    keys &= keys.dtype.type((1 << bits) - 1)
    return keys.astype(np.int32), lengths
