"""Supports in which a transaction weighs less, the more of the itemsets it contains."""

from __future__ import annotations

import numpy as np
from attrs import cmp_using, field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, int_array, itemset_tuple
from privmine.privacy import Sensitivity
from privmine.queries.base import Candidate, Query
from privmine.queries.supports import check_weights
from privmine.store.protocol import Store


@frozen
class BoundedSupports(Query):
    """The supports of given itemsets, where no transaction adds more than a bound in all.

    A transaction that contains T of the itemsets adds weights[T] to each of them. With weights that
    fall as 1/T it adds the same in all, however many it contains, so that many itemsets can be
    counted for the noise of a few. `fair_weights` makes such weights.

    Attributes:
        itemsets: what to count; an itemset that is given twice counts twice.
        weights: weights[T] is what a transaction with T of the itemsets adds to each of them; one
            with more than the weights reach adds nothing.

    Privacy: a transaction with T of the itemsets moves T values by weights[T]. The norms are the
    maxima of that over all T, computed from the weights themselves, so that a weight rounded up is
    paid for. T depends on this one transaction only. Weights that are not negative never lower a
    value when a transaction comes.
    """

    itemsets: tuple[Itemset, ...] = field(converter=itemset_tuple)
    weights: IntArray = field(converter=int_array, eq=cmp_using(eq=np.array_equal), validator=check_weights)

    @property
    def name(self) -> str:
        return f"bounded supports of {self.size} itemsets, at most {self.sensitivity.l1} a transaction"

    @property
    def size(self) -> int:
        return len(self.itemsets)

    @property
    def sensitivity(self) -> Sensitivity:
        steps = [(held, abs(int(weight))) for held, weight in enumerate(self.weights[: self.size + 1])]
        return Sensitivity(
            l1=max((held * weight for held, weight in steps), default=0),
            l2_squared=max((held * weight**2 for held, weight in steps), default=0),
            linf=max((weight for held, weight in steps if held), default=0),
            monotone=bool((self.weights >= 0).all()),
        )

    def evaluate(self, store: Store) -> IntArray:
        return store.bounded_supports(self.itemsets, self.weights)

    def candidate(self, index: int) -> Candidate:
        return self.itemsets[index]


def fair_weights(bound: int, scale: int, longest: int) -> IntArray:
    """Weights for `BoundedSupports` by which a transaction adds at most bound · scale in all.

    A transaction with up to `bound` of the itemsets adds `scale` to each of them; one with T more than that
    adds ⌊bound · scale / T⌋. Divide the noisy answer by `scale`; a larger scale loses less to rounding.

    Args:
        bound: how many itemsets a transaction may count for in full.
        scale: what a transaction that counts in full adds.
        longest: the largest T that has a weight; beyond it a transaction adds nothing.
    """
    if min(bound, scale, longest) < 1:
        raise InputError("The bound, the scale and the longest T must be at least 1.")
    return int_array([scale if held <= bound else bound * scale // held for held in range(longest + 1)])
