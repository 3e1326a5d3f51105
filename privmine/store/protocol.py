"""What a store of transactions can count; everything it returns is exact and therefore private.

Only the curator and the commands that say "uses exact data" may call a store. The protocol asks
for aggregates only, so that a store may live on another machine, or on many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from privmine.model import IntArray, Itemset, Itemsets

#: What one transaction, as a sorted tuple of items, adds to a sum.
Contribution: TypeAlias = Callable[[Itemset], Sequence[int]]


class Store(Protocol):
    """Deduplicated transactions over a universe of items 0 … item_count − 1."""

    @property
    def item_count(self) -> int:
        """The size of the universe."""

    def count(self) -> int:
        """The number of transactions, empty ones included."""

    def item_supports(self) -> IntArray:
        """The support of every item of the universe, in item order."""

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset; that of the empty itemset is the number of transactions."""

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it, in one pass.

        Bin b of a basis counts the transactions that contain exactly those of its items whose
        position is a set bit of b; the basis's first item is the lowest bit.
        """

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within` (None: of all); cap means cap or more."""

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item (size 1) or pair (size 2) of `within`.

        A transaction longer than the weights reach weighs nothing. Pairs come in the order of
        `itertools.combinations`. None means the whole universe.
        """

    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up integer contributions, each clipped to an L1 norm (and squared L2 norm) before it is added.

        A contribution that fails or has another form counts as zeros (see `store/clipping.py`).
        """

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
        """The n itemsets of largest support, by falling support, then length, then item order.

        Itemsets of support 0 are never listed, so there may be fewer than n.
        """

    def persist(self) -> None:
        """Prepare for many calls, for instance by keeping data in memory."""

    def close(self) -> None:
        """Let go of what the store holds."""
