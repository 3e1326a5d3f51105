"""Transactions as rows of a Spark frame: many of them in two binary columns, one after another.

A packed row has a digest of its transactions that does not depend on their order, nor on how they are divided into
packed rows. The sum of all digests tells whether Spark has computed the same data again, after an executor was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privmine.api import IntArray, MemoryStore, Rows, mixed_bits

#: The columns of packed rows. `problem` is a number of `problems`, 0 for none.
PACKED = "problem int, count long, entries long, digest long, lengths binary, items binary"
#: How many items a packed row has, about: 4 MB.
PACKED_ITEMS = 1 << 20
#: How many items are counted at a time.
COUNTED_ITEMS = 1 << 22


def digest_of(rows: Rows) -> int:
    """A sum over transactions of a hash of each, as a signed number of 64 bits."""
    sums = np.zeros(len(rows.items) + 1, dtype=np.uint64)
    np.cumsum(mixed_bits(rows.items.astype(np.uint64)), out=sums[1:])
    contents = sums[rows.offsets[1:]] - sums[rows.offsets[:-1]]
    return int(mixed_bits(contents).sum(dtype=np.uint64).astype(np.int64))


def added(digests: Iterable[int]) -> int:
    """The sum of digests modulo 2^64, as a signed number."""
    return (sum(digests) + (1 << 63)) % (1 << 64) - (1 << 63)


def packed(rows: Rows, size: int = PACKED_ITEMS) -> Iterator[pa.RecordBatch]:
    """The rows of a frame that hold these transactions, which must be sets; each has about so many items."""
    for _, block in rows.blocks(size):
        yield _batch(
            0, block.count, len(block.items), digest_of(block), block.lengths.astype(np.int32).tobytes(), block.items
        )


def trouble(problem: int) -> pa.RecordBatch:
    """A row of a frame that says what is wrong, and holds no transactions."""
    return _batch(problem, 0, 0, 0, b"", np.zeros(0, dtype=np.int32))


def _batch(problem: int, count: int, entries: int, digest: int, lengths: bytes, items: NDArray[np.int32]):
    return pa.RecordBatch.from_arrays(
        [
            pa.array([problem], pa.int32()),
            *(pa.array([number], pa.int64()) for number in (count, entries, digest)),
            pa.array([lengths], pa.binary()),
            pa.array([items.tobytes()], pa.binary()),
        ],
        names=["problem", "count", "entries", "digest", "lengths", "items"],
    )


class PackedRow(NamedTuple):
    """A packed row as Spark keeps it: what Python pickles at once and reads without a copy.

    Attributes:
        problem: a number of `problems`, 0 for none.
        count: how many transactions there are.
        entries: how many items all transactions have.
        digest: the sum of the digests of the transactions.
        lengths: how many items each transaction has, as 32-bit numbers.
        items: the items of all transactions, as 32-bit numbers.
    """

    problem: int
    count: int
    entries: int
    digest: int
    lengths: bytes
    items: bytes


def pickled_rows(rows: Iterable[Sequence[Any]]) -> Iterator[PackedRow]:
    """Packed rows as they are kept; a frame has changeable arrays of bytes, which are slow to pickle."""
    for *numbers, lengths, items in rows:
        yield PackedRow(*numbers, bytes(lengths), bytes(items))


def stores_of(rows: Iterable[PackedRow], item_count: int) -> Iterator[tuple[MemoryStore, int]]:
    """Stores in memory of the transactions in packed rows, some at a time, each with its digest."""
    lengths: list[IntArray] = []
    items: list[NDArray[np.int32]] = []
    digest = entries = 0
    for row in rows:
        lengths.append(np.frombuffer(row.lengths, dtype=np.int32))
        items.append(np.frombuffer(row.items, dtype=np.int32))
        digest, entries = digest + row.digest, entries + len(items[-1]) + len(lengths[-1])
        if entries >= COUNTED_ITEMS:
            yield _store(lengths, items, item_count), digest
            lengths, items, digest, entries = [], [], 0, 0
    if lengths:
        yield _store(lengths, items, item_count), digest


def _store(lengths: list[IntArray], items: list[NDArray[np.int32]], item_count: int) -> MemoryStore:
    offsets = np.zeros(sum(map(len, lengths)) + 1, dtype=np.int64)
    np.cumsum(_joined(lengths), out=offsets[1:])
    return MemoryStore(Rows.of(offsets, _joined(items)), item_count)


def _joined(parts: list[Any]) -> Any:
    """One array of all, without a copy where there is one only."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
