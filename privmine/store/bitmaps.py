"""Packed bitmaps of items, one bit a transaction, and what can be counted on them.

A bitmap is a row of 64-bit words. The kernels work on windows of words that fit in the
processor's cache: on a million transactions that is the difference between its speed and the
memory's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.model import IntArray
from privmine.store.rows import Rows

Words: TypeAlias = NDArray[np.uint64]

_WORD = 64
#: 256 KB, half of a usual second-level cache.
_WORDS_IN_CACHE = 1 << 15
_WIDTH = 2048
#: So few transactions are not worth a table of 2^16 numbers.
_FEW_ROWS = 1 << 14
#: The bitmaps on which bins are counted at once: of two million transactions.
_WORDS_OF_BINS = 1 << 15
#: The bitmaps of all itemsets in one window: 8 MB.
_WORDS_OF_ITEMSETS = 1 << 20
#: Bitmaps of itemsets are kept for the next question if they have no more bytes.
_KEPT_BYTES = 1 << 25


def words_for(rows: int) -> int:
    """How many words the bitmap of so many transactions has."""
    return -(-rows // _WORD)


def packed(rows: Rows, item_count: int, items: IntArray, into: Words | None = None) -> Words:
    """Build the bitmaps of the given items, which must be distinct, in an array of zeros if one is given."""
    size = len(items)
    label = np.full(item_count, size, dtype=np.int64)
    label[items] = np.arange(size)
    bitmaps = np.zeros((size, words_for(rows.count)), dtype=np.uint64) if into is None else into
    octets = bitmaps.view(np.uint8)
    height = max(512, (1 << 20) // (size + 1) // _WORD * _WORD)
    # A byte for each bit, packed block by block. Other items go to one row more, which is not packed.
    flags = np.empty((size + 1, height), dtype=np.uint8)
    for first in range(0, rows.count, height):
        block = rows.between(first, min(first + height, rows.count))
        flags.fill(0)
        positions = label[block.items]
        positions *= height
        positions += block.row_of_item()
        flags.reshape(-1)[positions] = 1
        wide = np.packbits(flags[:size], axis=1, bitorder="little")
        start = first // 8
        octets[:, start : start + wide.shape[1]] = wide[:, : octets.shape[1] - start]
    return bitmaps


def triangle_counts(bitmaps: Words, first: int, last: int) -> IntArray:
    """How many transactions have both items x and y, at [y − first, x], for first ≤ y < last and x < y."""
    counts = np.zeros((last - first, max(last - 1, 0)), dtype=np.int64)
    words = bitmaps.shape[1]
    width = max(_WORD, _WORDS_IN_CACHE // max(last, 1))
    both = np.empty((last, width), dtype=np.uint64)
    ones = np.empty((last, width), dtype=np.uint8)
    for left in range(0, words, width):
        window = bitmaps[:last, left : left + width]
        size = window.shape[1]
        for y in range(max(first, 1), last):
            np.bitwise_and(window[:y], window[y], out=both[:y, :size])
            np.bitwise_count(both[:y, :size], out=ones[:y, :size])
            counts[y - first, :y] += ones[:y, :size].sum(axis=1, dtype=np.int64)
    return counts


def intersection_counts(bitmaps: Words, members: IntArray) -> IntArray:
    """How many transactions have all members of each row of `members`, which are at least two.

    Rows that follow one another and differ in their last member only share the rest of the work.
    """
    counts = np.zeros(len(members), dtype=np.int64)
    words = bitmaps.shape[1]
    height = max(1, _WORDS_IN_CACHE // max(1, min(words, _WIDTH)))
    for top in range(0, len(members), height):
        part = members[top : top + height]
        leads = np.ones(len(part), dtype=np.bool_)
        np.any(part[1:, :-1] != part[:-1, :-1], axis=1, out=leads[1:])
        parents = part[leads, :-1]
        parent_of = np.cumsum(leads) - 1
        for left in range(0, words, _WIDTH):
            window = bitmaps[:, left : left + _WIDTH]
            shared = window[parents[:, 0]]
            for column in range(1, parents.shape[1]):
                shared &= window[parents[:, column]]
            both = shared[parent_of]
            both &= window[part[:, -1]]
            counts[top : top + len(part)] += np.bitwise_count(both).sum(axis=1, dtype=np.int64)
    return counts


def bin_counts(bitmaps: Words, members: IntArray, rows: int) -> IntArray:
    """Count the transactions by which of the members they have; the first member is the lowest bit."""
    counts: IntArray
    length = len(members)
    if length == 0:
        return np.array([rows], dtype=np.int64)
    if bitmaps.shape[1] > _WORDS_OF_BINS:
        # Some transactions after others: what is made of each takes several bytes for each item.
        counts = np.zeros(1 << length, dtype=np.int64)
        for left in range(0, bitmaps.shape[1], _WORDS_OF_BINS):
            part = bitmaps[members, left : left + _WORDS_OF_BINS]
            counts += bin_counts(part, np.arange(length), min(rows - left * _WORD, part.shape[1] * _WORD))
        return counts
    padding = bitmaps.shape[1] * _WORD - rows
    if length <= 8 and rows < _FEW_ROWS:
        counts = np.bincount(_codes(bitmaps[members]), minlength=1 << length)
    elif length <= 8:
        # Two transactions are counted at once, then each of the two is summed out of the other.
        pairs = np.bincount(_codes(bitmaps[members]).view(np.uint16), minlength=1 << 16).reshape(256, 256)
        counts = (pairs.sum(axis=0) + pairs.sum(axis=1))[: 1 << length]
    else:
        codes = transaction_codes(bitmaps[members], np.uint16 if length <= 16 else np.uint32)
        counts = np.bincount(codes, minlength=1 << length)
    counts[0] -= padding
    return counts


def state_counts(bitmaps: Words, rows: int, states: IntArray) -> IntArray:
    """Count the transactions whose code is one of the states, which are all different."""
    if not len(states):
        return np.zeros(0, dtype=np.int64)
    codes = transaction_codes(bitmaps, np.uint64)[:rows].astype(np.int64)
    order = np.argsort(states)
    rising = states[order]
    place = np.minimum(np.searchsorted(rising, codes), len(states) - 1)
    counts = np.zeros(len(states), dtype=np.int64)
    counts[order] = np.bincount(place[rising[place] == codes], minlength=len(states))
    return counts


def transaction_codes(bitmaps: Words, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """For each transaction a number that has bit i set if bitmap i has the transaction."""
    codes: NDArray[Any] = np.zeros(bitmaps.shape[1] * _WORD, dtype=kind)
    for start in range(0, len(bitmaps), 8):
        codes |= _codes(bitmaps[start : start + 8]).astype(kind) << kind(start)
    return codes


@frozen(eq=False)
class Contained:
    """Which of many itemsets each transaction contains.

    Attributes:
        bitmaps: those of the items.
        members: for each itemset the positions of its items among the bitmaps.
        held: how many of the itemsets each transaction contains.
        kept: for each window of transactions its first word and the bitmaps of the itemsets; None where they are too
            large.
    """

    bitmaps: Words
    members: list[IntArray]
    held: IntArray
    kept: list[tuple[int, Words]] | None

    @classmethod
    def of(cls, bitmaps: Words, members: list[IntArray], rows: int) -> Contained:
        """Look at so many transactions."""
        keep = len(members) * bitmaps.shape[1] * 8 <= _KEPT_BYTES
        kept, parts = [], []
        for left, window in _windows(bitmaps, members, rows):
            parts.append(_column_sums(window))
            if keep:
                kept.append((left, window))
        held = np.concatenate(parts)[:rows] if parts else np.zeros(rows, dtype=np.int64)
        return cls(bitmaps, members, held, kept if keep else None)

    def counts(self, cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more."""
        return np.bincount(np.minimum(self.held, cap), minlength=cap + 1)

    def bounded_counts(self, weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T] over its transactions, where T of the itemsets are contained.

        The weights of a window of transactions are written in binary, so that a weighted sum is a few
        counts of ones: one for each binary digit, or one for each weight that occurs if those are fewer.

        Args:
            weights: one for each T, from 0 on; beyond them a transaction weighs nothing.
        """
        totals = np.zeros(len(self.members), dtype=np.int64)
        # The last word has room for transactions that do not exist; they weigh nothing.
        weigh = np.zeros(self.bitmaps.shape[1] * _WORD, dtype=np.int64)
        weigh[: len(self.held)] = np.append(weights, 0)[np.minimum(self.held, len(weights))]
        windows = _windows(self.bitmaps, self.members, len(self.held)) if self.kept is None else self.kept
        for left, window in windows:
            width = window.shape[1]
            parts = [
                (factor, np.packbits(where, bitorder="little").view(np.uint64))
                for factor, where in _parts(weigh[left * _WORD : (left + width) * _WORD])
            ]
            height = max(1, _WORDS_IN_CACHE // width)
            both, ones = np.empty((height, width), dtype=np.uint64), np.empty((height, width), dtype=np.uint8)
            for top in range(0, len(window), height):
                some = window[top : top + height]
                size = len(some)
                for factor, chosen in parts:
                    np.bitwise_and(some, chosen, out=both[:size])
                    np.bitwise_count(both[:size], out=ones[:size])
                    totals[top : top + size] += factor * ones[:size].sum(axis=1, dtype=np.int64)
        return totals


def _windows(bitmaps: Words, members: list[IntArray], rows: int) -> Iterator[tuple[int, Words]]:
    """For each window of transactions its first word, and the bitmaps of the itemsets."""
    if not len(members):
        return
    longest = max(map(len, members))
    by_place = [[i for i, found in enumerate(members) if len(found) > place] for place in range(longest)]
    width = max(1, _WORDS_OF_ITEMSETS // len(members))
    for left in range(0, bitmaps.shape[1], width):
        part = bitmaps[:, left : left + width]
        window = np.repeat(_existing(rows - left * _WORD, part.shape[1])[None, :], len(members), axis=0)
        for place, itemsets in enumerate(by_place):
            window[itemsets] &= part[[members[i][place] for i in itemsets]]
        yield left, window


def _existing(rows: int, words: int) -> Words:
    """A bit for each of so many transactions, in so many words: the last word may have room for more."""
    bits = np.arange(words * _WORD) < rows
    return np.packbits(bits, bitorder="little").view(np.uint64)


def _column_sums(bitmaps: Words) -> IntArray:
    """For each transaction, how many of the bitmaps have it.

    Numbers of one bit are added in pairs, then numbers of two bits, and so on, 64 transactions a word:
    plane i of `planes` holds bit i of every number.
    """
    planes = [bitmaps]
    while len(planes[0]) > 1:
        if len(planes[0]) % 2:
            planes = [np.concatenate([plane, np.zeros_like(plane[:1])]) for plane in planes]
        # Nothing is carried into the lowest bit.
        one, other = planes[0][::2], planes[0][1::2]
        sums, carry = [one ^ other], one & other
        for plane in planes[1:]:
            one, other = plane[::2], plane[1::2]
            differ = one ^ other
            sums.append(differ ^ carry)
            carry = (one & other) | (differ & carry)
        planes = [*sums, carry]
    totals = np.zeros(bitmaps.shape[1] * _WORD, dtype=np.int64)
    for power, plane in enumerate(planes):
        totals += np.unpackbits(plane[0].view(np.uint8), bitorder="little").astype(np.int64) << power
    return totals


def _parts(values: IntArray) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Factors, and where each counts, whose sum is the values: by value or by binary digit, whichever is fewer."""
    distinct = [value for value in np.unique(values).tolist() if value]
    largest = max(map(abs, distinct), default=0)
    if len(distinct) <= 2 * largest.bit_length():
        for value in distinct:
            yield value, values == value
        return
    for sign in (1, -1):
        rest = np.maximum(sign * values, 0)
        for digit in range(largest.bit_length()):
            where = (rest >> digit & 1).astype(np.bool_)
            if where.any():
                yield sign << digit, where


def _codes(bitmaps: Words) -> NDArray[np.uint8]:
    """For each transaction a byte that has bit i set if bitmap i (of at most eight) has the transaction."""
    octets = np.zeros((bitmaps.shape[1] * 8, 8), dtype=np.uint8)
    octets[:, : len(bitmaps)] = bitmaps.view(np.uint8).T
    # Each eight bytes are a square of 8 × 8 bits, transposed by exchanging squares of 1, 2 and 4.
    squares = octets.view("<u8").reshape(-1)
    for shift, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
        swap = squares >> np.uint64(shift)
        swap ^= squares
        swap &= np.uint64(mask)
        squares ^= swap
        swap <<= np.uint64(shift)
        squares ^= swap
    return squares.view(np.uint8)
