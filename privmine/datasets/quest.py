"""Quest baskets: patterns of items that are bought together, not always completely.

They follow the generator of Agrawal and Srikant (VLDB 1994, Section 4.1), from which the T10I4D100K kind
of data comes: patterns share items with the pattern before them, have weights, and lose items when they
are put into a basket. Details of the original program that the paper leaves open may differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from attrs import frozen

from privmine.datasets.keys import transactions_of_keys
from privmine.datasets.stable_random import StableRandom, exponential_table, poisson_table
from privmine.errors import InputError
from privmine.model import FloatArray, Universe
from privmine.store.transactions import Transactions

_QUANTILES = 1 << 12
_CORRUPTION_SPREAD = 0.1


@frozen
class _Pattern:
    """Items that are bought together, and the chance that the next one is left out."""

    items: tuple[int, ...]
    corruption: float


def quest(
    transactions: int = 10_000,
    *,
    items: int = 1_000,
    mean_length: float = 10.0,
    patterns: int = 200,
    pattern_length: float = 4.0,
    correlation: float = 0.5,
    corruption: float = 0.5,
    seed: int = 2012,
) -> Transactions:
    """Generate baskets of patterns, the same for the same arguments on every platform.

    Args:
        transactions: how many baskets.
        items: how many items there are.
        mean_length: the mean length that baskets are filled to; what comes out is a little different.
        patterns: how many patterns there are.
        pattern_length: their mean length.
        correlation: which share of a pattern's items comes from the pattern before it, on average.
        corruption: the mean chance that an item of a pattern is left out, and then perhaps the next one, too.
        seed: another one gives other baskets of the same kind.
    """
    if transactions < 0 or min(items, patterns) < 1 or mean_length < 1 or pattern_length < 1:
        raise InputError(
            "Quest baskets need items, patterns, mean_length and pattern_length ≥ 1, and transactions ≥ 0."
        )
    if not (0 <= correlation <= 1 and 0 <= corruption < 1):
        raise InputError("correlation must be from 0 to 1, and corruption from 0 to below 1.")
    random = StableRandom(seed)
    made = _patterns(random, items, patterns, pattern_length, correlation, corruption)
    weights = np.cumsum(random.from_table(exponential_table(_QUANTILES), patterns))
    sizes = np.maximum(random.from_table(poisson_table(mean_length), transactions), 1).astype(np.int64)
    bits = items.bit_length()
    keys = [
        (row << bits) | item
        for row, basket in enumerate(islice(_baskets(random, made, weights, sizes.tolist()), transactions))
        for item in basket
    ]
    return transactions_of_keys(Universe.of(np.arange(items)), np.array(keys, dtype=np.int64), transactions, bits)


def _patterns(
    random: StableRandom, items: int, count: int, mean_length: float, correlation: float, corruption: float
) -> list[_Pattern]:
    """Patterns, each of which has some items of the one before it and new ones."""
    exponential = exponential_table(_QUANTILES)
    popularity = np.cumsum(random.from_table(exponential, items))
    lengths = np.clip(random.from_table(poisson_table(mean_length), count), 1, max(items // 2, 1)).astype(np.int64)
    shares = np.minimum(random.from_table(exponential, count) * correlation, 1.0)
    made: list[_Pattern] = []
    for length, share in zip(lengths.tolist(), shares.tolist(), strict=True):
        before = made[-1].items if made else ()
        kept = min(len(before), int(share * length + 0.5))
        order = np.argsort(random.uniform(len(before)), kind="stable")[:kept]
        chosen = {before[position] for position in order.tolist()}
        while len(chosen) < length:
            chosen.update(random.by_weight(popularity, 1).tolist())
        # The sum of twelve uniform numbers is all but normal, with mean 6 and variance 1.
        normal = float(np.cumsum(random.uniform(12))[-1]) - 6.0
        level = min(max(corruption + _CORRUPTION_SPREAD * normal, 0.0), 0.95) if corruption else 0.0
        made.append(_Pattern(tuple(sorted(chosen)), level))
    return made


def _baskets(
    random: StableRandom, patterns: list[_Pattern], weights: FloatArray, sizes: list[int]
) -> Iterator[set[int]]:
    """Fill baskets up to their sizes; a pattern that no longer fits goes in or to the next basket, by chance."""
    chance = random.stream()
    waiting: set[int] = set()
    for size in sizes:
        basket, waiting = waiting, set()
        while len(basket) < size:
            picked = int(np.searchsorted(weights, next(chance) * weights[-1], side="right"))
            pattern = patterns[min(picked, len(patterns) - 1)]
            bought = _corrupted(pattern, chance)
            if not basket or len(basket | bought) <= size or next(chance) < 0.5:
                basket |= bought
            else:
                waiting = bought
                break
        yield basket


def _corrupted(pattern: _Pattern, chance: Iterator[float]) -> set[int]:
    """The items of a pattern that are left after some were dropped at random; one always is."""
    left = list(pattern.items)
    while len(left) > 1 and next(chance) < pattern.corruption:
        left.pop(int(next(chance) * len(left)))
    return set(left)
