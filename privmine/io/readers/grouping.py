"""From runs of rows that share a key to transactions.

In most tables the rows of a transaction lie together, and keys rise. Then nothing is sorted: each run is
a transaction. Otherwise runs are sorted by their keys; where hardly any rows lie together, key and item
are put into one number of 64 bits, which is several times faster to sort than an order of runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.model import IntArray
from privmine.store.rows import Rows, offsets_of, slices
from privmine.store.shelf import Shelf

_KEY_BITS = 64
#: So many items in a run on average make sorting the runs worth it.
_WORTH_ITEMS = 3
#: What sorting takes for each run, in bytes: its key, its place and its order.
_SORTING_BYTES = 32
_SAMPLE = 1 << 14


@frozen(eq=False)
class Grouped:
    """Transactions, and the key of each of them.

    Attributes:
        rows: the items of the transactions, −1 for none.
        keys: the keys, each once.
    """

    rows: Rows
    keys: NDArray[np.uint64]


def grouped(runs: Rows, keys: NDArray[np.uint64], bound: int, item_count: int, shelf: Shelf) -> Grouped:
    """Bring together the runs of each key.

    Args:
        runs: the items of each run of rows, −1 for none.
        keys: the key of each run.
        bound: greater than every key.
        item_count: greater than every item.
        shelf: makes long arrays.
    """
    if _never_fall(keys):
        return _joined(runs, keys)
    if not shelf.is_full and len(runs.items) < _WORTH_ITEMS * runs.count:
        return _sorted_items(runs, keys, bound, item_count)
    items, lengths, names = shelf.column(np.int32), shelf.column(np.int32), shelf.column(np.uint64)
    for order in _orders(keys, shelf):
        part = runs.in_order(order, shelf)
        items.add(part.items)
        lengths.add(part.lengths)
        names.add(keys[order])
    return _joined(Rows(offsets_of(lengths.finish(), shelf), items.finish()), names.finish())


def paired(
    owners: NDArray[np.int32], owner_count: int, keys: NDArray[np.uint64], bound: int
) -> tuple[NDArray[np.uint64], int, int]:
    """Keys of an owner and a key: the owner is the pair divided by the third number that is returned.

    A transaction always belongs to one owner: the same number of an order under two customers is two orders.
    """
    if owner_count * bound >= 1 << (_KEY_BITS - 1):
        known, places = np.unique(keys, return_inverse=True)
        keys, bound = places.astype(np.uint64), len(known)
    bound = max(bound, 1)
    return owners.astype(np.uint64) * np.uint64(bound) + keys, owner_count * bound, bound


def _never_fall(keys: NDArray[np.uint64]) -> bool:
    return all(
        bool((keys[part.start + 1 : part.stop + 1] >= keys[part.start : part.stop][: len(keys) - 1 - part.start]).all())
        for part in slices(len(keys))
    )


def _joined(runs: Rows, keys: NDArray[np.uint64]) -> Grouped:
    """Make one transaction of runs of the same key, which follow one another."""
    fresh = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    if fresh.all():
        return Grouped(runs, keys)
    starts = np.flatnonzero(fresh)
    return Grouped(Rows(np.append(runs.offsets[starts], runs.offsets[-1]), runs.items), keys[starts])


def _orders(keys: NDArray[np.uint64], shelf: Shelf) -> Iterator[IntArray]:
    """The places of the runs in the order of their keys, as many keys at a time as memory allows."""
    room = len(keys) if shelf.limit is None else max(shelf.limit // 4 // _SORTING_BYTES, 1)
    if len(keys) <= room:
        yield np.argsort(keys, kind="stable")
        return
    count = -(-2 * len(keys) // room)
    sample = np.sort(keys[:: max(len(keys) // _SAMPLE, 1)])
    bounds = np.unique(sample[np.linspace(0, len(sample) - 1, count + 1).astype(np.int64)[1:-1]])
    for number in range(len(bounds) + 1):
        places = [np.zeros(0, dtype=np.int64)]
        for part in slices(len(keys), 1 << 20):
            inside = np.searchsorted(bounds, keys[part], side="right") == number
            places.append(np.flatnonzero(inside) + part.start)
        found = np.concatenate(places)
        yield found[np.argsort(keys[found], kind="stable")]


def _sorted_items(runs: Rows, keys: NDArray[np.uint64], bound: int, item_count: int) -> Grouped:
    """Sort numbers that are a key and an item; items that a key repeats come out once."""
    lengths = runs.lengths
    empty = lengths == 0
    whole = np.concatenate([np.repeat(keys, lengths), keys[empty]])
    items = np.concatenate([runs.items, np.full(np.count_nonzero(empty), -1, dtype=np.int32)])
    bits = item_count.bit_length()  # one more than the items: 0 stands for none
    names = None
    if bound > 1 << (_KEY_BITS - bits):
        names, places = np.unique(whole, return_inverse=True)
        whole = places.astype(np.uint64)
    shift = np.uint64(bits)
    whole <<= shift
    whole |= (items + np.int32(1)).astype(np.uint64)
    whole.sort()
    fresh = np.ones(len(whole), dtype=np.bool_)
    np.not_equal(whole[1:], whole[:-1], out=fresh[1:])
    if not fresh.all():
        whole = whole[fresh]
    found = (whole & np.uint64((1 << bits) - 1)).astype(np.int32) - np.int32(1)
    whole >>= shift
    joined = _joined(Rows(np.arange(len(whole) + 1), found), whole)
    return joined if names is None else Grouped(joined.rows, names[joined.keys])
