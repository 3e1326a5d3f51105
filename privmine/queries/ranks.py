"""Where items stand among the itemsets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import cmp_using, field, frozen

from privmine.errors import InputError
from privmine.exact import amount, whole_from
from privmine.model import IntArray, int_array
from privmine.privacy import Sensitivity
from privmine.queries.base import Candidate, Query
from privmine.store.abstract import Store

#: Scores are multiples of the denominator of a frequency, and must fit in 64 bits.
FINEST_FREQUENCY = 10**6
#: So that what is taken off a score never wraps around.
_LARGEST_PENALTY = 2**61


@frozen
class _ItemRanks(Query):
    """Scores of the ranks low … high of items, by their distance from the `rank`-th most frequent itemset.

    Privacy: sorted supports at a fixed rank are monotone: a new transaction raises each by 0 or 1. The difference of
    two of them moves by at most 1, in either direction, so L∞ = 1 and the scores are not monotone.
    """

    rank: int = field(validator=whole_from(1))
    low: int = field(validator=whole_from(1))
    high: int = field(validator=whole_from(1))
    max_length: int | None = None

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.size, self.size, 1, monotone=False)

    def candidate(self, index: int) -> Candidate:
        return self.low + index


@frozen
class RankGap(_ItemRanks):
    """How near the j-th most frequent item is to the `rank`-th most frequent itemset, for j = low … high.

    The score of j is −|c_j − c_θ| with c_θ the support of the itemset at `rank` (Alg. 3, l. 24, where
    the N cancels). Ranks beyond what occurs have support 0.

    Privacy: supports at two fixed ranks are each raised by 0 or 1 by a new transaction, so their difference moves by at
    most 1, in either direction.
    """

    @property
    def name(self) -> str:
        return f"gap between itemset rank {self.rank} and item ranks {self.low} to {self.high}"

    def evaluate(self, store: Store) -> IntArray:
        threshold = _support_at(store, self.rank, self.max_length)
        return -np.abs(_item_supports_at(store, self.low, self.high) - threshold)


@frozen
class RankSupport(Query):
    """The support of the `rank`-th most frequent itemset of at most `max_length` items; 0 where fewer occur.

    Privacy: a new transaction raises each support by 0 or 1, hence also the `rank`-th largest of them: the
    `rank` itemsets that were the largest do not fall, and none of those below them rises by more than 1.
    """

    rank: int = field(validator=whole_from(1))
    max_length: int | None = None

    @property
    def name(self) -> str:
        return f"support of itemset rank {self.rank}"

    @property
    def size(self) -> int:
        return 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, 1, 1, monotone=True)

    def evaluate(self, store: Store) -> IntArray:
        return np.array([_support_at(store, self.rank, self.max_length)], dtype=np.int64)


@frozen
class RankAtFrequency(Query):
    """How well j is the number of itemsets that are in a part θ of all transactions, for j = 1 … most.

    It is, if the j-th most frequent itemset is in so many, and the next one is not. The score of j is the worse of the
    two distances, −max(θ·N − c_j, c_(j+1) − θ·N), times the denominator of θ, so that it is a whole number. Ranks
    beyond what occurs have support 0.

    Privacy: a new transaction raises a support by 0 or 1 and θ·N by θ, so each difference moves by at most the larger
    of θ and 1 − θ, in either direction, and so does the larger of the two. N itself is not told.
    """

    theta: Fraction = field()
    most: int = field(validator=whole_from(1))
    max_length: int | None = None

    @theta.validator
    def _check(self, _: object, theta: Fraction) -> None:
        if not (isinstance(theta, Fraction) and 0 < theta <= 1 and theta.denominator <= FINEST_FREQUENCY):
            raise InputError(
                "θ must be a Fraction of more than 0 and at most 1, with a denominator of at most "
                f"{FINEST_FREQUENCY:,}. Try Fraction(…).limit_denominator({FINEST_FREQUENCY})."
            )

    @property
    def name(self) -> str:
        return f"how many itemsets, up to {self.most}, have a frequency of {amount(self.theta)}"

    @property
    def size(self) -> int:
        return self.most

    @property
    def sensitivity(self) -> Sensitivity:
        step = max(self.theta.numerator, self.theta.denominator - self.theta.numerator)
        return Sensitivity(self.most * step, self.most * step**2, step, monotone=False)

    def candidate(self, index: int) -> Candidate:
        return index + 1

    def evaluate(self, store: Store) -> IntArray:
        by_rank = np.zeros(self.most + 1, dtype=np.int64)
        _, supports = store.top_itemsets(self.most + 1, self.max_length)
        by_rank[: len(supports)] = supports
        above: IntArray = by_rank * self.theta.denominator - self.theta.numerator * store.count()
        return -np.maximum(-above[:-1], above[1:])


@frozen
class ItemCutoff(_ItemRanks):
    """How well the j most frequent items are those that the `rank` most frequent itemsets are made of, j = low … high.

    They are, if the j-th item is at least as frequent as the itemset at `rank`, and the next item is not. The score of
    j is the worse of the two distances, −max(c_θ − c_j, c_(j+1) − c_θ), less a public penalty. Ranks beyond what occurs
    have support 0.

    Attributes:
        penalties: one for each j, or none: what to take off its score.

    Privacy: each of the two differences moves by at most 1, in either direction, and so does the larger of them.
    Penalties do not depend on data.
    """

    penalties: IntArray = field(factory=tuple, converter=int_array, eq=cmp_using(eq=np.array_equal))

    def __attrs_post_init__(self) -> None:
        if len(self.penalties) not in (0, self.size):
            raise InputError(
                f"There are {len(self.penalties)} penalties for {self.size} numbers of items; give one each."
            )
        if self.penalties.max(initial=0) > _LARGEST_PENALTY or self.penalties.min(initial=0) < -_LARGEST_PENALTY:
            raise InputError("A penalty must lie within ±2^61, so that scores fit in 64 bits. Use smaller ones.")

    @property
    def name(self) -> str:
        return f"whether {self.low} to {self.high} items reach itemset rank {self.rank}"

    def evaluate(self, store: Store) -> IntArray:
        threshold = _support_at(store, self.rank, self.max_length)
        supports = _item_supports_at(store, self.low, self.high + 1)
        scores: IntArray = -np.maximum(threshold - supports[:-1], supports[1:] - threshold)
        return scores - self.penalties if len(self.penalties) else scores


def _support_at(store: Store, rank: int, max_length: int | None) -> int:
    _, supports = store.top_itemsets(rank, max_length)
    return int(supports[rank - 1]) if len(supports) >= rank else 0


def _item_supports_at(store: Store, low: int, high: int) -> IntArray:
    """The supports of the low-th to the high-th most frequent item, 0 beyond the universe."""
    by_rank = np.zeros(max(high, store.item_count), dtype=np.int64)
    by_rank[: store.item_count] = np.sort(store.item_supports())[::-1]
    return by_rank[low - 1 : high]
