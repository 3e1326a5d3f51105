"""Transactions as compressed sparse rows, worked on one block of rows at a time.

Every pass goes block by block, so that its temporary arrays stay in the processor's cache and the
peak of memory is the data itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from privmine.model import IntArray
from privmine.store.shelf import Shelf

#: How many items a block holds, about: 256 KB of int32.
BLOCK_ITEMS = 1 << 16


def slices(length: int, size: int = BLOCK_ITEMS) -> Iterator[slice]:
    """Slices of a block each that make up an array of this length."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


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
        for first, last in self.bounds(size):
            yield first, self.between(first, last)

    def bounds(self, size: int = BLOCK_ITEMS) -> Iterator[tuple[int, int]]:
        """The first row of each block, and the row after its last one."""
        last = 0
        while last < self.count:
            first = last
            reach = int(np.searchsorted(self.offsets, self.offsets[first] + size))
            # One row may be longer than a block, and a block of empty rows must end as well.
            last = min(max(reach, first + 1), first + size, self.count)
            yield first, last

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
        return self._rewritten(label, Shelf(), _without_negative)

    def placed(self, label: NDArray[np.int32], shelf: Shelf) -> Rows:
        """The same as sets: sorted, each item once a row.

        Args:
            label: the new label of each item; its last entry is that of the item −1.
            shelf: makes the arrays.
        """
        return self._rewritten(label, shelf, lambda block: _as_set_block(_without_negative(block)))

    def as_sets(self, shelf: Shelf | None = None) -> Rows:
        """The rows sorted, each item once a row."""
        return self._rewritten(None, shelf or Shelf(), _as_set_block)

    def chosen(self, keep: NDArray[np.bool_], shelf: Shelf) -> Rows:
        """The rows that are to be kept, in their order."""
        lengths = self.lengths
        items = shelf.column(np.int32)
        for first, block in self.blocks():
            kept = keep[first : first + block.count]
            if kept.any():
                items.add(block.items if kept.all() else block.items[np.repeat(kept, block.lengths)])
        return Rows(offsets_of(lengths[keep], shelf), items.finish())

    def in_order(self, order: IntArray, shelf: Shelf) -> Rows:
        """The rows in another order, in which rows may also be left out."""
        offsets = offsets_of(self.lengths[order], shelf)
        items = shelf.column(np.int32)
        # From the place of an item in the new rows to its place in the old ones, for each row.
        shifts = self.offsets[order] - offsets[:-1]
        for first, last in Rows(offsets, self.items[:0]).bounds():
            start, stop = int(offsets[first]), int(offsets[last])
            places = np.repeat(shifts[first:last], np.diff(offsets[first : last + 1]))
            places += np.arange(start, stop)
            items.add(self.items[places])
        return Rows(offsets, items.finish())

    def _rewritten(self, label: NDArray[np.int32] | None, shelf: Shelf, rewrite: Callable[[Rows], Rows]) -> Rows:
        """The rows after each block was relabelled and rewritten, which may leave out items, but no row."""
        items, lengths = shelf.column(np.int32), None
        for first, block in self.blocks():
            found = rewrite(block if label is None else Rows(block.offsets, np.take(label, block.items)))
            items.add(found.items)
            if lengths is None and len(found.items) != len(block.items):
                lengths = self.lengths
            if lengths is not None:
                lengths[first : first + block.count] = found.lengths
        # Where nothing was left out, the rows start where they did.
        return Rows(self.offsets if lengths is None else offsets_of(lengths, shelf), items.finish())


@frozen(eq=False)
class LazyRows:
    """Rows with other items, which are made of given rows again whenever they are looked at: for little memory.

    Attributes:
        rows: the given rows.
        label: the new label of each item; an item of negative label is left out.
        sort: whether each row is to be sorted.
    """

    rows: Rows = field(repr=False)
    label: NDArray[np.int32] = field(repr=False)
    sort: bool = False

    def blocks(self) -> Iterator[tuple[int, Rows]]:
        """Consecutive rows, each block with the number of its first row."""
        for first, block in self.rows.blocks():
            found = block.relabelled(self.label)
            yield first, _as_set_block(found) if self.sort else found


def offsets_of(lengths: NDArray[np.integer[Any]], shelf: Shelf) -> IntArray:
    """Where rows of such lengths start, and where the last one ends."""
    offsets = shelf.column(np.int64)
    offsets.add(np.zeros(1, dtype=np.int64))
    total = 0
    for part in slices(len(lengths)):
        ends = np.cumsum(lengths[part], dtype=np.int64)
        ends += total
        offsets.add(ends)
        total = int(ends[-1])
    return offsets.finish()


def _without_negative(block: Rows) -> Rows:
    keep = block.items >= 0
    return block if keep.all() else block.kept(keep)


def _as_set_block(block: Rows) -> Rows:
    if block.are_strictly_increasing():
        return block
    items, lengths = _sorted_block(block, int(block.items.max(initial=0)).bit_length())
    offsets = block.offsets
    if len(items) != len(block.items):
        offsets = np.zeros(block.count + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
    return Rows(offsets, items)


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
