"""How many transactions contain something."""

from __future__ import annotations

from math import comb, isqrt

import numpy as np
from attrs import cmp_using, field, frozen
from attrs.validators import in_

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, int_array, itemset, optional_itemset
from privmine.privacy import Sensitivity
from privmine.queries.base import Candidate, ItemsetQuery, Query
from privmine.store.abstract import Store

LARGEST_WEIGHT = 2**31


def check_weights(_: object, __: object, weights: IntArray) -> None:
    """Refuse weights whose sums could wrap around, and so would have no sensitivity.

    2^31 transactions of the largest weight still fit in 64 bits.
    """
    if weights.max(initial=0) > LARGEST_WEIGHT or weights.min(initial=0) < -LARGEST_WEIGHT:
        raise InputError(f"A weight must not exceed {LARGEST_WEIGHT}. Scale the weights down.")


def weighted_sensitivity(weights: IntArray, group: int = 1) -> Sensitivity:
    """How far one transaction moves C(j, group) values by weights[j] each, for the worst j.

    The norms come from the table itself, so that a weight rounded up is paid for. Of equal weights only the
    one of the largest j counts, since C(j, group) grows with j: a table of millions has few different weights.
    """
    sizes = np.abs(weights)
    distinct, last = np.unique(sizes[::-1], return_index=True)
    steps = [
        (comb(len(sizes) - 1 - back, group), weight)
        for weight, back in zip(distinct.tolist(), last.tolist(), strict=True)
    ]
    return Sensitivity(
        l1=max((groups * weight for groups, weight in steps), default=0),
        l2_squared=max((groups * weight**2 for groups, weight in steps), default=0),
        linf=max((weight for groups, weight in steps if groups), default=0),
        monotone=bool((weights >= 0).all()),
    )


@frozen
class ItemSupports(Query):
    """The supports of all items of the universe.

    Privacy: a transaction adds 1 to each of its items and it may hold them all, so L1 = |I|, L∞ = 1,
    and nothing ever falls when a transaction comes.
    """

    item_count: int

    @property
    def name(self) -> str:
        return f"supports of {self.item_count} items"

    @property
    def size(self) -> int:
        return self.item_count

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.item_count, self.item_count, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return store.item_supports()

    def candidate(self, index: int) -> Candidate:
        return (index,)


@frozen
class PairSupports(Query):
    """The supports of all pairs of some items.

    Privacy: as for single items; a transaction with all the items adds 1 to every pair.
    """

    items: Itemset = field(converter=itemset)

    @property
    def name(self) -> str:
        return f"supports of all pairs of {len(self.items)} items"

    @property
    def size(self) -> int:
        return comb(len(self.items), 2)

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.size, self.size, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return store.pair_supports(self.items)

    def candidate(self, index: int) -> Candidate:
        # Counted from the last pair, the pairs of the last m items are those before number m(m − 1)/2.
        left = self.size - 1 - index
        later = (1 + isqrt(8 * left + 1)) // 2
        second = left - later * (later - 1) // 2
        return self.items[-1 - later], self.items[-1 - second]


@frozen
class Supports(ItemsetQuery):
    """The supports of given itemsets; that of the empty itemset is the number of transactions.

    Privacy: one transaction adds 1 to each itemset that it contains, at most to all of them. An
    itemset given twice counts twice, and so does its sensitivity.
    """

    @property
    def name(self) -> str:
        return f"supports of {len(self.itemsets)} itemsets"

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.size, self.size, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return store.supports(self.itemsets)


@frozen
class WeightedSupports(Query):
    """Supports in which a transaction weighs less the longer it is, for all items or all pairs of `within`.

    Attributes:
        group: 1 for items, 2 for pairs.
        within: the items to count, or None for the universe.
        weights: weights[j] is what a transaction with j of the items adds to each of its groups;
            one with more items than the weights reach adds nothing.

    Privacy: a transaction with j items has C(j, group) groups and adds weights[j] to each. The
    norms are the maxima of that over j, computed from the weights themselves, so a weight rounded
    up is paid for.
    """

    group: int = field(validator=in_((1, 2)))
    item_count: int
    weights: IntArray = field(converter=int_array, eq=cmp_using(eq=np.array_equal), validator=check_weights)
    within: Itemset | None = field(default=None, converter=optional_itemset)

    @property
    def _counted(self) -> int:
        return self.item_count if self.within is None else len(self.within)

    @property
    def name(self) -> str:
        return f"length-weighted supports of {self.size} {'items' if self.group == 1 else 'pairs'}"

    @property
    def size(self) -> int:
        return comb(self._counted, self.group)

    @property
    def sensitivity(self) -> Sensitivity:
        return weighted_sensitivity(self.weights[: self._counted + 1], self.group)

    def evaluate(self, store: Store) -> IntArray:
        return store.weighted_supports(self.group, self.within, self.weights)
