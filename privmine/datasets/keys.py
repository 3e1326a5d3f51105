"""Transactions from pairs of row and item, in any order and with repetition: each pair is one integer."""

from __future__ import annotations

import numpy as np

from privmine.model import IntArray, Universe
from privmine.store.memory import MemoryStore
from privmine.store.transactions import Transactions


def distinct(keys: IntArray) -> IntArray:
    """The keys in increasing order, each once; the array given is sorted in place."""
    keys.sort()
    # Many times as fast as np.unique, which hashes.
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def transactions_of_keys(universe: Universe, keys: IntArray, count: int, bits: int) -> Transactions:
    """The transactions of keys that hold the item in their lowest bits and the row above; repetition counts once.

    Args:
        universe: the items.
        keys: the keys in any order; they are overwritten.
        count: how many transactions there are, empty ones included.
        bits: how many bits the item takes.
    """
    keys = distinct(keys)
    offsets = np.searchsorted(keys, np.arange(count + 1) << bits)
    keys &= (1 << bits) - 1
    store = MemoryStore.from_rows(offsets, keys.astype(np.int32), len(universe), strictly_increasing=True)
    return Transactions(universe, store)
