"""The transactions of another store with some of its items only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privmine.model import IntArray, Itemset
from privmine.store.abstract import Contribution, Store


class RestrictedStore(Store):
    """A store that knows some items of another one, under new numbers.

    Privacy: a transaction without the other items is still one transaction, so that what one unit can add stays as it
    is. No answer depends on the other items.
    """

    def __init__(self, store: Store, items: Sequence[int]) -> None:
        """Count in `store`; item i is its item items[i]."""
        self._store = store
        self._items = [int(item) for item in items]
        self._place = {item: place for place, item in enumerate(self._items)}

    @property
    def item_count(self) -> int:
        """The number of items that are left."""
        return len(self._items)

    def count(self) -> int:
        """The number of transactions; those without any of the items count as well."""
        return self._store.count()

    def item_supports(self) -> IntArray:
        """The support of every item."""
        return self._store.item_supports()[self._items]

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset."""
        return self._store.supports(self._inner(itemsets))

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""
        return self._store.pair_supports([self._items[item] for item in items])

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it."""
        answers = []
        inner = [tuple(self._items[item] for item in basis) for basis in bases]
        for basis, counts in zip(inner, self._store.bin_counts([tuple(sorted(basis)) for basis in inner]), strict=True):
            # Bits stand for the items of a basis in their order, which may be another one there.
            bins = np.arange(len(counts))
            ranks = np.argsort(np.argsort(basis)).tolist()
            there = np.zeros_like(bins)
            for bit, rank in enumerate(ranks):
                there |= ((bins >> bit) & 1) << rank
            answers.append(counts[there])
        return answers

    def state_counts(self, items: Sequence[int], states: IntArray) -> IntArray:
        """How many transactions have, of the given items, exactly those of each state."""
        return self._store.state_counts([self._items[item] for item in items], states)

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within`."""
        return self._store.lengths(self._within(within), cap)

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item or pair of `within`."""
        return self._store.weighted_supports(size, self._within(within), weights)

    def bounded_supports(self, itemsets: Sequence[Itemset], weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T(t)] over the transactions t that contain it."""
        return self._store.bounded_supports(self._inner(itemsets), weights)

    def held_counts(self, itemsets: Sequence[Itemset], cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets."""
        return self._store.held_counts(self._inner(itemsets), cap)

    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up the contributions of transactions that have lost the other items."""
        place = self._place

        def restricted(transaction: Itemset) -> object:
            return contribution(tuple(sorted(place[item] for item in transaction if item in place)))

        return self._store.sum(restricted, dimension, l1, l2_squared)  # type: ignore[arg-type]

    def persist(self) -> None:
        """Let the other store prepare."""
        self._store.persist()

    def _inner(self, itemsets: Sequence[Itemset]) -> list[Itemset]:
        return [tuple(sorted(self._items[item] for item in itemset)) for itemset in itemsets]

    def _within(self, items: Sequence[int] | None) -> list[int]:
        return self._items if items is None else [self._items[item] for item in items]
