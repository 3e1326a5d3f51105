"""Second moments: how often items occur, alone and in pairs, as one matrix."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from attrs import field, frozen

from privmine.errors import InputError
from privmine.model import IntArray, Itemset, itemset
from privmine.privacy.sensitivity import ConeSensitivity
from privmine.queries.base import Query
from privmine.store.abstract import Store

#: More items make noise that takes seconds to draw, and that is larger than any count.
MOST_ITEMS = 100


@frozen
class MomentMatrix(Query):
    """The moments G = Σ x·xᵀ of given items, where x has 1 in the first place, then ±1 for each item: 1 if it is there.

    The matrix is symmetric and has N on its diagonal, so the answer is N, then the entries above the diagonal row
    by row: N less twice the transactions without an item, for each item; and for each pair, the transactions that have
    both or neither, less the others. `matrix` puts it together.

    Attributes:
        items: at most 100 of them.

    Privacy: a transaction adds x·xᵀ, which has 1 on the diagonal and no negative eigenvalue: an element of the cone of
    such matrices. Under pure differential privacy it gets noise of the same cone. The norms, of M = 1 + p(p − 1)/2
    values of ±1 for p = items + 1, hold too, for other definitions. An addition lowers some values and raises others.
    """

    items: Itemset = field(converter=itemset)

    @items.validator
    def _check(self, _: object, items: Itemset) -> None:
        if len(items) > MOST_ITEMS:
            raise InputError(f"A moment matrix may have {MOST_ITEMS} items at most, not {len(items)}; select fewer.")

    @property
    def name(self) -> str:
        return f"moments of pairs of {len(self.items)} items"

    @property
    def size(self) -> int:
        return 1 + len(self.items) * (len(self.items) + 1) // 2

    @property
    def sensitivity(self) -> ConeSensitivity:
        return ConeSensitivity(self.size, self.size, 1, variables=len(self.items) + 1)

    def evaluate(self, store: Store) -> IntArray:
        total = store.count()
        single = store.supports([(item,) for item in self.items])
        first, second = np.triu_indices(len(self.items), 1)
        pairs = 4 * store.pair_supports(self.items) - 2 * (single[first] + single[second]) + total
        return np.concatenate([[total], 2 * single - total, pairs]).astype(np.int64)

    def matrix(self, values: object) -> np.ndarray:
        """An answer as the symmetric matrix that it stands for; the first row belongs to the constant 1."""
        answer = np.asarray(values, dtype=np.float64)
        variables = len(self.items) + 1
        matrix = np.full((variables, variables), answer[0])
        for (row, column), value in zip(combinations(range(variables), 2), answer[1:], strict=True):
            matrix[row, column] = matrix[column, row] = value
        return matrix
