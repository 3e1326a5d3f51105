"""Where items stand among the itemsets."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from privmine.model import IntArray
from privmine.privacy import Sensitivity
from privmine.queries.base import Candidate, Query
from privmine.store.protocol import Store


@frozen
class RankGap(Query):
    """How near the j-th most frequent item is to the `rank`-th most frequent itemset, for j = low … high.

    The score of j is −|c_j − c_θ| with c_θ the support of the itemset at `rank` (Alg. 3, l. 24, where
    the N cancels). Ranks beyond what occurs have support 0.

    Privacy: sorted supports at a fixed rank are monotone: a new transaction raises each by 0 or 1.
    Their difference therefore moves by at most 1, in either direction, so L∞ = 1 and the scores
    are not monotone.
    """

    rank: int
    low: int
    high: int
    max_length: int | None = None

    @property
    def name(self) -> str:
        return f"gap between itemset rank {self.rank} and item ranks {self.low} to {self.high}"

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(self.size, self.size, 1, monotone=False)

    def evaluate(self, store: Store) -> IntArray:
        _, supports = store.top_itemsets(self.rank, self.max_length)
        threshold = int(supports[self.rank - 1]) if len(supports) >= self.rank else 0
        by_rank = np.zeros(max(self.high, store.item_count), dtype=np.int64)
        by_rank[: store.item_count] = np.sort(store.item_supports())[::-1]
        return -np.abs(by_rank[self.low - 1 : self.high] - threshold)

    def candidate(self, index: int) -> Candidate:
        return self.low + index
