"""Counts of disjoint kinds of transactions."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import field, frozen

from privmine.model import IntArray, Itemset, itemset_tuple, optional_itemset
from privmine.privacy import Sensitivity
from privmine.queries.base import Query
from privmine.store.protocol import Store


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
