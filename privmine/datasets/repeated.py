"""Transactions that stand for themselves several times over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve, field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, Itemsets
from privmine.store.abstract import Contribution, Store
from privmine.store.transactions import Transactions

_LARGEST = int(np.iinfo(np.int64).max)


def repeated(transactions: Transactions, times: int) -> Transactions:
    """The transactions so many times over; nothing is copied, since every count is a multiple.

    Privacy: whoever is protected is protected in one copy. The receipt of a release says so, since each of the
    originals moves counts so many times as far.
    """
    if times < 1:
        raise InputError(f"Transactions must be repeated at least once, not {times} times.")
    if times == 1:
        return transactions
    copies = (
        f"the data was repeated {times:,} times and its copies are told apart, so that what is promised holds for one "
        "copy of a transaction, not for all copies of it together"
    )
    origin = evolve(transactions.origin, assumes=(*transactions.origin.assumes, copies))
    return evolve(transactions, store=RepeatedStore(transactions.store, times), origin=origin)


@frozen(eq=False)
class RepeatedStore(Store):
    """A store of the transactions of another one, each so many times.

    Attributes:
        store: what counts each transaction once.
        times: how often each one is there.
    """

    store: Store = field(repr=False)
    times: int

    @property
    def item_count(self) -> int:
        """The size of the universe."""
        return self.store.item_count

    def count(self) -> int:
        """The number of transactions, empty ones included."""
        return self.times * self.store.count()

    def item_supports(self) -> IntArray:
        """The support of every item of the universe, in item order."""
        return self.times * self.store.item_supports()

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset; that of the empty itemset is the number of transactions."""
        return self.times * self.store.supports(itemsets)

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""
        return self.times * self.store.pair_supports(items)

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it."""
        return [self.times * counts for counts in self.store.bin_counts(bases)]

    def state_counts(self, items: Sequence[int], states: IntArray) -> IntArray:
        """How many transactions have, of the given items, exactly those of each state."""
        return self.times * self.store.state_counts(items, states)

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within` (None: of all); cap means cap or more."""
        return self.times * self.store.lengths(within, cap)

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item (size 1) or pair (size 2) of `within`."""
        return self.times * self.store.weighted_supports(size, within, weights)

    def bounded_supports(self, itemsets: Sequence[Itemset], weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T(t)] over the transactions t that contain it and T(t) of them all."""
        return self.times * self.store.bounded_supports(itemsets, weights)

    def held_counts(self, itemsets: Sequence[Itemset], cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more."""
        return self.times * self.store.held_counts(itemsets, cap)

    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up integer contributions, each clipped before it is added."""
        once = self.store.sum(contribution, dimension, l1, l2_squared).tolist()
        # Bounded as the store itself bounds its sums.
        bounded = [max(-_LARGEST, min(self.times * value, _LARGEST)) for value in once]
        return np.array(bounded, dtype=np.int64)

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
        """The n itemsets of largest support; multiplying supports leaves their order as it is."""
        found, supports = self.store.top_itemsets(n, max_length)
        return found, self.times * supports

    def persist(self) -> None:
        """Prepare for many calls."""
        self.store.persist()

    def close(self) -> None:
        """Let go of what the store holds."""
        self.store.close()
