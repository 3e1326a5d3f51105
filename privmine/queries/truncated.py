"""Supports of all itemsets of bounded length, without listing the many rare ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemsets
from privmine.noise.protocol import Tail
from privmine.privacy import Sensitivity
from privmine.queries.base import Candidate, Query, Scores
from privmine.queries.numbering import itemset_at, itemset_count, number_of
from privmine.store.abstract import Store

#: M, the number of itemsets below which those that are listed stay, unless a query says otherwise.
EXPLICIT_LIMIT = 20_000
# Each attempt to list enough itemsets lists so many times more of them than the one before.
_GROWTH = 4
# Beyond so many candidates an answer with one number for each is not given: it might not fit in memory.
_LARGEST_ANSWER = 10**7


def _at_least(least: int) -> Any:
    def check(_: object, attribute: Attribute[int], value: int) -> None:
        if value < least:
            raise InputError(f"{attribute.name} of TruncatedSupports must be at least {least}, not {value}.")

    return check


@frozen
class TruncatedSupports(Query):
    """The supports of all itemsets of at most `max_length` items, those below a floor raised to it.

    The floor is max(c_k − γ, c_M), where c_r is the support of the r-th most frequent candidate and 0
    if there is none. Fewer than M candidates lie above it and are listed; all the others are one
    class of known size, and nobody lists them.

    Privacy: a new transaction adds 0 or 1 to the support c(X) of each itemset, hence also to the r-th
    largest of them, for any fixed r; γ is a constant. So each of c(X), c_k − γ and c_M moves by 0 or
    +1, and so does their maximum, the score: it does not fall, since none of the three does, and
    whichever is the largest afterwards was at most 1 smaller before. L∞ = 1, and scores are
    monotone, although the floor depends on the data. How many candidates are listed depends on the
    data too, but no answer tells: a draw from the class is a draw of one of its members.

    Attributes:
        k: the rank from which the floor is measured.
        max_length: the longest candidate, m in the paper.
        item_count: the size of the universe.
        gamma: how far below the k-th support the floor lies: γN of the paper, in whole transactions.
        explicit_limit: M, public; fewer candidates than this are ever listed.
        monotone: whether to claim the monotonicity above. A query that does not pays twice as much
            for a selection, as the paper does.
    """

    k: int = field(validator=_at_least(1))
    max_length: int = field(validator=_at_least(1))
    item_count: int = field(validator=_at_least(0))
    gamma: int = field(validator=_at_least(0))
    explicit_limit: int = EXPLICIT_LIMIT
    monotone: bool = True

    def __attrs_post_init__(self) -> None:
        if self.explicit_limit < self.k:
            raise InputError(
                f"explicit_limit is {self.explicit_limit}, but k is {self.k}. It must be at least k, "
                "else the k most frequent itemsets could be cut off."
            )

    @property
    def name(self) -> str:
        return (
            f"supports of itemsets of up to {self.max_length} of {self.item_count} items, "
            f"truncated {self.gamma} below rank {self.k}"
        )

    @property
    def size(self) -> int:
        return itemset_count(self.item_count, self.max_length)

    @property
    def sensitivity(self) -> Sensitivity:
        # A transaction with all the items can move every score.
        return Sensitivity(self.size, self.size, 1, monotone=self.monotone)

    def candidate(self, index: int) -> Candidate:
        return itemset_at(index, self.item_count)

    def evaluate(self, store: Store) -> IntArray:
        if self.size > _LARGEST_ANSWER:
            raise ValueError
        itemsets, supports, floor = self._listed(store)
        scores = np.full(self.size, floor, dtype=np.int64)
        scores[[number_of(itemsets[index], self.item_count) for index in range(len(supports))]] = supports
        return scores

    def scores(self, store: Store) -> Scores:
        itemsets, supports, floor = self._listed(store)
        return Scores(
            values=supports,
            candidate=itemsets.__getitem__,
            tail=Tail(floor, self.size - len(supports)),
            tail_member=lambda below: itemset_at(below(self.size), self.item_count),
        )

    def _listed(self, store: Store) -> tuple[Itemsets, IntArray, int]:
        """The itemsets by falling support, the supports of those above the floor, and the floor."""
        if store.item_count != self.item_count:
            raise ValueError
        count = self.k
        itemsets, supports = store.top_itemsets(count, self.max_length)
        truncation = _at_rank(supports, self.k) - self.gamma
        while len(supports) == count < self.explicit_limit and supports[-1] > truncation:
            # With no truncation to reach, only the limit ends the list.
            count = min(self.explicit_limit, count * _GROWTH) if truncation > 0 else self.explicit_limit
            itemsets, supports = store.top_itemsets(count, self.max_length)
        # A list that ended before rank M ended at the truncation, or because all other supports are 0.
        floor = max(truncation, _at_rank(supports, self.explicit_limit))
        return itemsets, supports[supports > floor], floor


def _at_rank(supports: IntArray, rank: int) -> int:
    return int(supports[rank - 1]) if rank <= len(supports) else 0
