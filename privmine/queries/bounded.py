"""Supports in which a transaction weighs less, the more of the itemsets it contains."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from attrs import cmp_using, field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, int_array, optional_itemset_tuple
from privmine.privacy import Sensitivity
from privmine.queries.base import ItemsetQuery, Query
from privmine.queries.supports import check_weights, weighted_sensitivity
from privmine.store.abstract import Store


def _whole_numbers(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(map(operator.index, values))


@frozen
class BoundedSupports(ItemsetQuery):
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

    weights: IntArray = field(converter=int_array, eq=cmp_using(eq=np.array_equal), validator=check_weights)

    @property
    def name(self) -> str:
        return f"bounded supports of {self.size} itemsets, at most {self.sensitivity.l1} a transaction"

    @property
    def sensitivity(self) -> Sensitivity:
        return weighted_sensitivity(self.weights[: self.size + 1])

    def evaluate(self, store: Store) -> IntArray:
        return store.bounded_supports(self.itemsets, self.weights)


@frozen
class HeldHistogram(Query):
    """How many transactions contain so many of the itemsets: a count for each range of T.

    It tells what `BoundedSupports` with a bound will lose.

    Attributes:
        edges: where the ranges begin, from 0 on: range i holds edges[i] ≤ T < edges[i + 1], the last one all above.
        itemsets: what T counts; None for the single items of the universe, so that T is a transaction's length.

    Privacy: T depends on one transaction only, and the ranges are disjoint, so that a transaction moves one
    count by 1.
    """

    edges: tuple[int, ...] = field(converter=_whole_numbers)
    itemsets: tuple[Itemset, ...] | None = field(default=None, converter=optional_itemset_tuple)

    @edges.validator
    def _check(self, _: object, edges: tuple[int, ...]) -> None:
        if edges[:1] != (0,) or any(later <= earlier for earlier, later in pairwise(edges)):
            raise InputError(f"The edges of a histogram must begin with 0 and rise, unlike {edges}.")

    @property
    def name(self) -> str:
        held = "items" if self.itemsets is None else f"of {len(self.itemsets)} itemsets"
        return f"transactions by how many {held} they contain"

    @property
    def size(self) -> int:
        return len(self.edges)

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, 1, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        cap = self.edges[-1]
        counts = store.lengths(None, cap) if self.itemsets is None else store.held_counts(self.itemsets, cap)
        return np.add.reduceat(counts, self.edges).astype(np.int64)


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
    held = np.arange(longest + 1, dtype=np.int64)
    return int_array(np.where(held <= bound, scale, bound * scale // np.maximum(held, 1)))
