"""What the exact data says: the true top k and exact supports, which metrics are measured against.

Nothing here is private: it is for research on data that may be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from math import ceil
from typing import Any

import numpy as np
from attrs import define, field

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, Itemsets, Universe, itemset
from privmine.store.abstract import Store
from privmine.store.transactions import Transactions

#: A release is compared with no more itemsets than this: dense data has many millions of small frequencies.
MOST_FREQUENT = 200_000


@define(eq=False, slots=False)
class Truth:
    """The exact top itemsets of a database, mined once and shared by all runs on it.

    Attributes:
        transactions: the exact data.
        itemsets: the most frequent itemsets, at least as many as any run asks for, in their total order.
        supports: their supports.
    """

    transactions: Transactions = field(repr=False)
    itemsets: Itemsets = field(repr=False)
    supports: IntArray = field(repr=False)
    _mined: int = 0

    @classmethod
    def mine(cls, transactions: Transactions, k: int) -> Truth:
        """Mine the exact top k; any smaller k can be asked for afterwards."""
        itemsets, supports = transactions.store.top_itemsets(k)
        return cls(transactions, itemsets, supports, k)

    def __getstate__(self) -> dict[str, Any]:
        # What finds labels is a function, which does not travel between processes and is made again.
        return {name: value for name, value in self.__dict__.items() if name != "_find"}

    @property
    def store(self) -> Store:
        """What counts exactly."""
        return self.transactions.store

    @cached_property
    def database(self) -> str:
        """A digest of the data, by which results of other data under the same name are noticed."""
        digest = blake2b(digest_size=6)
        digest.update(np.int64(self.store.count()).tobytes())
        digest.update(self.store.item_supports().astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def _find(self) -> Callable[[Any], int | None]:
        return position_finder(self.transactions.counted)

    def top(self, k: int) -> set[Itemset]:
        """The true top k; fewer where fewer itemsets occur at all."""
        self._check(k)
        return set(self.itemsets[:k])

    def kth_support(self, k: int) -> int:
        """The support of the k-th most frequent itemset, 0 where fewer than k occur."""
        self._check(k)
        return int(self.supports[k - 1]) if 0 < k <= len(self.supports) else 0

    def of_frequency(self, theta: Fraction) -> tuple[Truth, int]:
        """The truth mined at least as deep as this frequency, and how many itemsets have it."""
        least = max(1, ceil(theta * self.store.count()))
        found = self
        while found.kth_support(found._mined) >= least:
            if found._mined > MOST_FREQUENT:
                raise InputError(
                    f"More than {MOST_FREQUENT:,} itemsets have the frequency {float(theta):g}, too many to compare a "
                    "release with. Choose a larger frequency."
                )
            found = Truth.mine(self.transactions, 2 * found._mined)
        return found, int((found.supports >= least).sum())

    def indices(self, released: Iterable[Iterable[Any]]) -> list[Itemset]:
        """Released itemsets, which have labels, in the form that a store counts."""
        return [itemset(self._index(label) for label in labels) for labels in released]

    def _index(self, label: Any) -> int:
        position = self._find(label)
        if position is None:
            raise InputError(
                f"The release names the item {label!r}, which is not in the universe of these "
                "baskets. Evaluate a release against the data that it was made from."
            )
        return position

    def _check(self, k: int) -> None:
        if k > self._mined:
            raise InputError(f"The top {k} is needed, but only the true top {self._mined} was mined.")


def position_finder(universe: Universe) -> Callable[[Any], int | None]:
    """A function from an item's label to its position in the universe, None for an unknown one.

    Whole numbers are looked up in a sorted array: a dictionary of two million items takes 300 MB.
    A number that was saved as text is found as well.
    """
    labels = universe.labels
    if labels.dtype.kind != "i":
        known_texts = {str(label): position for position, label in enumerate(labels.tolist())}
        return lambda label: known_texts.get(str(label))
    order = np.argsort(labels, kind="stable")
    known = labels[order]

    def find(label: Any) -> int | None:
        try:
            number = int(label)
        except (TypeError, ValueError):
            return None
        place = int(np.searchsorted(known, number))
        return int(order[place]) if place < len(known) and known[place] == number else None

    return find
