"""From pairs of a key and an item, in any order, to transactions as compressed sparse rows.

Key and item are put into one number of 64 bits, and sorting these numbers groups, orders and reveals
repetition at once.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.model import IntArray

_KEY_BITS = 64


@frozen(eq=False)
class Grouped:
    """Transactions with sorted items, each once.

    Attributes:
        offsets: where each transaction starts in `items`, and where the last one ends.
        items: the items of all transactions, one transaction after another.
        keys: the key of each transaction, ascending.
    """

    offsets: IntArray
    items: NDArray[np.int32]
    keys: NDArray[np.uint64]


def grouped(keys: NDArray[np.uint64], bound: int, items: NDArray[np.int32], item_count: int) -> Grouped:
    """Bring together the items of each key.

    Args:
        keys: the key of each item, below `bound`. The array is used up.
        bound: greater than every key.
        items: from −1, for a key that has no item here, to `item_count` − 1.
        item_count: the number of items.
    """
    bits = item_count.bit_length()  # one more than the items: 0 stands for none
    names = None
    if bound > 1 << (_KEY_BITS - bits):
        names, places = np.unique(keys, return_inverse=True)
        keys = places.astype(np.uint64)
    shift = np.uint64(bits)
    keys <<= shift
    keys |= (items + np.int32(1)).astype(np.uint64)
    keys.sort()
    fresh = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    if not fresh.all():
        keys = keys[fresh]
    found = (keys & np.uint64((1 << bits) - 1)).astype(np.int32) - np.int32(1)
    keys >>= shift
    fresh = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    starts = np.flatnonzero(fresh)
    keys = keys[starts]
    offsets = np.append(starts, len(found))
    real = found >= 0
    if not real.all():
        before = np.zeros(len(real) + 1, dtype=np.int64)
        np.cumsum(real, out=before[1:])
        offsets, found = before[offsets], found[real]
    return Grouped(offsets, found, keys if names is None else names[keys])


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
