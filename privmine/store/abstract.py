"""What a store of transactions can count; everything it returns is exact and therefore private.

Only the curator and the commands that say "uses exact data" may call a store. It is asked for
aggregates only, so that it may live on another machine, or on many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from privmine.model import IntArray, Itemset, Itemsets

#: What one transaction, as a sorted tuple of items, adds to a sum: all entries; a mapping from positions to entries,
#: where the others are 0; or a tuple of positions and entries.
Contribution: TypeAlias = Callable[[Itemset], Sequence[int] | Mapping[int, int] | tuple[Sequence[int], Sequence[int]]]


class Store(ABC):
    """Deduplicated transactions over a universe of items 0 … item_count − 1.

    A store of your own implements the abstract methods. The others have defaults that are built on
    them: correct everywhere, and worth replacing where a store can do better.
    `privmine.testing.check_store` compares a store with the one in memory.

    Privacy: noise is scaled to what one transaction can add, so that a store must hold each
    transaction as a set, must hold at most as many transactions of a unit as `Unit.baskets` says,
    and must clip what `sum` adds. The receipt says whether privmine's own store did so.
    """

    @property
    @abstractmethod
    def item_count(self) -> int:
        """The size of the universe."""

    @abstractmethod
    def count(self) -> int:
        """The number of transactions, empty ones included."""

    @abstractmethod
    def item_supports(self) -> IntArray:
        """The support of every item of the universe, in item order."""

    @abstractmethod
    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset; that of the empty itemset is the number of transactions."""

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""
        return self.supports(list(combinations(items, 2)))

    @abstractmethod
    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it, in one pass.

        Bin b of a basis counts the transactions that contain exactly those of its items whose
        position is a set bit of b; the basis's first item is the lowest bit.
        """

    def state_counts(self, items: Sequence[int], states: IntArray) -> IntArray:
        """How many transactions have, of the given items, exactly those of each state.

        A state is a whole number whose bit i says that items[i] is there; all states are different.
        """
        place_of = {state: place for place, state in enumerate(states.tolist())}

        def contribution(transaction: Itemset) -> list[int]:
            held = set(transaction)
            state = sum(1 << place for place, item in enumerate(items) if item in held)
            counted = [0] * len(place_of)
            if state in place_of:
                counted[place_of[state]] = 1
            return counted

        return self.sum(contribution, len(place_of), 1)

    @abstractmethod
    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within` (None: of all); cap means cap or more."""

    @abstractmethod
    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item (size 1) or pair (size 2) of `within`.

        A transaction longer than the weights reach weighs nothing. Pairs come in the order of
        `itertools.combinations`. None means the whole universe.
        """

    def bounded_supports(self, itemsets: Sequence[Itemset], weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T(t)] over the transactions t that contain it.

        T(t) is how many of the itemsets t contains; one that is given twice counts twice. A
        transaction that contains more of them than the weights reach weighs nothing.
        """
        wanted = [frozenset(itemset) for itemset in itemsets]
        table = [int(weight) for weight in weights]

        def contribution(transaction: Itemset) -> list[int]:
            contained = [members.issubset(transaction) for members in wanted]
            held = sum(contained)
            weight = table[held] if held < len(table) else 0
            return [weight if is_contained else 0 for is_contained in contained]

        most = max((held * abs(weight) for held, weight in enumerate(table[: len(wanted) + 1])), default=0)
        return self.sum(contribution, len(wanted), most)

    def held_counts(self, itemsets: Sequence[Itemset], cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more.

        An itemset that is given twice counts twice.
        """
        wanted = [frozenset(itemset) for itemset in itemsets]

        def contribution(transaction: Itemset) -> list[int]:
            held = min(sum(members.issubset(transaction) for members in wanted), cap)
            return [0] * held + [1] + [0] * (cap - held)

        return self.sum(contribution, cap + 1, 1)

    @abstractmethod
    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up integer contributions, each clipped to an L1 norm (and squared L2 norm) before it is added.

        A contribution that fails or has another form counts as zeros (see `store/clipping.py`).
        """

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
        """The n itemsets of largest support, by falling support, then length, then item order.

        Itemsets of support 0 are never listed, so there may be fewer than n.
        """
        from privmine.store.levelwise import top_itemsets

        return top_itemsets(self, n, max_length)

    def restricted(self, items: Sequence[int]) -> Store:
        """The same transactions with these items only, which are 0, 1, … in the order given."""
        from privmine.store.restricted import RestrictedStore

        return RestrictedStore(self, items)

    def persist(self) -> None:  # noqa: B027 - a store need not prepare
        """Prepare for many calls, for instance by keeping data in memory."""

    def close(self) -> None:  # noqa: B027 - a store need not hold anything
        """Let go of what the store holds."""
