"""Counts of disjoint kinds of transactions."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import cmp_using, field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, int_array, itemset, itemset_tuple, optional_itemset
from privmine.privacy import Sensitivity
from privmine.queries.base import Query
from privmine.store.abstract import Store

#: A state of more items is no whole number of 64 bits.
MOST_STATE_ITEMS = 62


@frozen
class BinCounts(Query):
    """For each basis, how many transactions meet it in each of its subsets; all bases one after another.

    Privacy: a transaction falls into exactly one bin of each basis (Theorem 1), so L1 = w, and also
    the squared L2 norm is w.
    """

    bases: tuple[Itemset, ...] = field(converter=itemset_tuple)

    @property
    def name(self) -> str:
        longest = max((len(basis) for basis in self.bases), default=0)
        return f"bins of {len(self.bases)} {'basis' if len(self.bases) == 1 else 'bases'} of up to {longest} items"

    @property
    def size(self) -> int:
        return sum(2 ** len(basis) for basis in self.bases)

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(len(self.bases), len(self.bases), 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return np.concatenate([np.zeros(0, dtype=np.int64), *store.bin_counts(self.bases)])

    def by_basis(self, values: Any) -> list[Any]:
        """Cut an answer into one array a basis."""
        return np.split(values, np.cumsum([2 ** len(basis) for basis in self.bases])[:-1])


@frozen
class StateCounts(Query):
    """How many transactions have, of some items, exactly those of each given state; last, how many are in none of them.

    Attributes:
        items: at most 62 of them.
        states: each a whole number whose bit i says that `items[i]` is there; no state twice.

    Privacy: the states are different, so a transaction is in one of them or in none, and moves one count by 1.
    """

    items: Itemset = field(converter=itemset)
    states: IntArray = field(converter=int_array, eq=cmp_using(eq=np.array_equal))

    def __attrs_post_init__(self) -> None:
        if len(self.items) > MOST_STATE_ITEMS:
            raise InputError(f"States may have {MOST_STATE_ITEMS} items at most, not {len(self.items)}.")
        if len(np.unique(self.states)) < len(self.states):
            raise InputError("A state is given twice; a transaction in it would count twice. Give each state once.")

    @property
    def name(self) -> str:
        return f"transactions in {len(self.states)} states of {len(self.items)} items, and in others"

    @property
    def size(self) -> int:
        return len(self.states) + 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, 1, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        counts = store.state_counts(self.items, self.states)
        return np.append(counts, store.count() - counts.sum())


@frozen
class LengthHistogram(Query):
    """How many transactions have 0, 1, …, cap items (of `within`, if given); cap means cap or more.

    Privacy: a transaction has one length, so it moves one bin by 1.
    """

    cap: int
    within: Itemset | None = field(default=None, converter=optional_itemset)

    @property
    def name(self) -> str:
        return f"transaction lengths up to {self.cap}"

    @property
    def size(self) -> int:
        return self.cap + 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, 1, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return store.lengths(self.within, self.cap)
