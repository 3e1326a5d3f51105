"""Zipf baskets: independent items whose popularity falls as a power of their rank."""

from __future__ import annotations

import numpy as np

from privmine.datasets.keys import distinct, transactions_of_keys
from privmine.datasets.stable_random import StableRandom, power_table
from privmine.errors import InputError
from privmine.model import IntArray, Universe
from privmine.store.transactions import Transactions

#: After so many rounds of drawing, a basket that still lacks items stays as it is.
_ROUNDS = 64


def zipf(
    transactions: int = 10_000,
    *,
    items: int = 1_000,
    mean_length: float = 10.0,
    exponent: float = 1.0,
    seed: int = 2012,
) -> Transactions:
    """Generate baskets of independent items, the same for the same arguments on every platform.

    Lengths are geometric, from 1 to half the number of items. Item 0 is the most popular one.

    Args:
        transactions: how many baskets.
        items: how many items there are.
        mean_length: of the baskets, at least 1.
        exponent: how fast popularity falls with rank; 0 makes all items alike.
        seed: another one gives other baskets of the same kind.
    """
    if transactions < 0 or items < 1 or mean_length < 1 or exponent < 0:
        raise InputError("Zipf baskets need items ≥ 1, mean_length ≥ 1, exponent ≥ 0 and transactions ≥ 0.")
    random = StableRandom(seed)
    lengths = _geometric(random, transactions, mean_length, max(items // 2, 1))
    popularity = np.cumsum(power_table(items, exponent))
    bits = items.bit_length()
    keys = np.zeros(0, dtype=np.int64)
    missing = lengths
    for _ in range(_ROUNDS):
        if not missing.any():
            break
        rows = np.repeat(np.arange(transactions), missing)
        drawn = (rows << bits) | random.by_weight(popularity, len(rows))
        keys = distinct(np.concatenate([keys, drawn]))
        missing = lengths - np.bincount(keys >> bits, minlength=transactions)
    return transactions_of_keys(Universe.of(np.arange(items)), keys, transactions, bits)


def _geometric(random: StableRandom, count: int, mean: float, longest: int) -> IntArray:
    """Lengths from 1 on: after each item there is another one with the same chance."""
    another = 1.0 - 1.0 / mean
    reached = 1.0 - np.cumprod(np.full(longest - 1, another))
    return 1 + np.searchsorted(reached, random.uniform(count), side="right")
