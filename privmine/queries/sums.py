"""Sums of clipped contributions."""

from __future__ import annotations

from attrs import define, field
from attrs.validators import le, optional

from privmine.exact import whole_from
from privmine.model import IntArray
from privmine.privacy import Sensitivity
from privmine.queries.base import Query
from privmine.store.abstract import Contribution, Store

#: As many values as the bins of the longest basis; more would exhaust the memory after the charge.
LARGEST_DIMENSION = 2**24


@define(frozen=True, eq=False)
class SumQuery(Query):
    """The sum of what each transaction contributes, by a function of the user's own.

    Attributes:
        contribution: maps a transaction (a sorted tuple of items) to `dimension` whole numbers. Where most of them
            are 0, it may return the others only: a mapping from positions to numbers, or a tuple of positions
            and numbers.
        dimension: how many numbers that is.
        l1: the largest L1 norm that one transaction may contribute.
        l2_squared: the largest squared L2 norm, if it is to be bounded more tightly.

    Privacy: the store clips every contribution to the norms before it is added, so the sensitivity
    is enforced whatever the function does, as long as it depends on its argument only. A
    contribution that fails, or is not `dimension` whole numbers, or names a position twice or one that does not
    exist, counts as zeros: if it ended the
    run, whether such a transaction exists would be told for nothing. For the same reason the norms
    are whole numbers: a fraction would promise more than clipping to integers keeps.
    """

    contribution: Contribution
    dimension: int = field(validator=[whole_from(0), le(LARGEST_DIMENSION)])
    l1: int = field(validator=whole_from(1))
    l2_squared: int | None = field(default=None, validator=optional(whole_from(1)))
    label: str = "sum of contributions"

    @property
    def name(self) -> str:
        return f"{self.label} ({self.dimension} values, clipped to {self.l1})"

    @property
    def size(self) -> int:
        return self.dimension

    @property
    def sensitivity(self) -> Sensitivity:
        l2_squared = self.l1**2 if self.l2_squared is None else min(self.l1**2, self.l2_squared)
        return Sensitivity(self.l1, l2_squared, self.l1, monotone=False)

    def evaluate(self, store: Store) -> IntArray:
        return store.sum(self.contribution, self.dimension, self.l1, self.l2_squared)
