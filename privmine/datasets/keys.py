"""Rows from pairs of row and item, in any order and with repetition: each pair is one integer."""

from __future__ import annotations

import numpy as np

from privmine.model import IntArray, Universe
from privmine.store.memory import MemoryStore
from privmine.store.rows import Rows
from privmine.store.transactions import Transactions


def distinct(keys: IntArray) -> IntArray:
    """The keys in increasing order, each once; the array given is sorted in place."""
    keys.sort()
    # Many times as fast as np.unique, which hashes.
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def rows_of_keys(keys: IntArray, count: int, bits: int) -> Rows:
    """The rows of keys that hold the item in their lowest bits and the row above; repetition counts once.

    Args:
        keys: the keys in any order; they are overwritten.
        count: how many rows there are, empty ones included.
        bits: how many bits the item takes.
    """
    keys = distinct(keys)
    offsets = np.searchsorted(keys, np.arange(count + 1) << bits)
    keys &= (1 << bits) - 1
    return Rows.of(offsets, keys.astype(np.int32))


def as_transactions(universe: Universe, rows: Rows) -> Transactions:
    """Transactions of rows that are strictly increasing."""
    store = MemoryStore.from_rows(rows.offsets, rows.items, len(universe), strictly_increasing=True)
    return Transactions(universe, store)
