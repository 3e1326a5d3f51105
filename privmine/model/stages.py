"""What the first three stages hand on: shares of the budget, λ, and the elements to cover."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import field, frozen

from privmine.errors import InputError
from privmine.exact import exact
from privmine.model.itemsets import Itemset, _items, itemset_tuple


def _share(value: Any) -> Fraction:
    share = exact(value, "A share of the budget")
    if share < 0:
        raise InputError(f"A share of the budget must not be negative, not {share}.")
    return share


@frozen
class BudgetPlan:
    """How the budget is divided: a share of 1 for each stage that may look at data.

    What a stage leaves unspent goes to the next one, and reconstruction has all that remains.
    """

    estimate_lambda: Fraction = field(default=Fraction(0), converter=_share)
    select_elements: Fraction = field(default=Fraction(0), converter=_share)
    reconstruct_counts: Fraction = field(default=Fraction(0), converter=_share)

    def __attrs_post_init__(self) -> None:
        total = self.estimate_lambda + self.select_elements + self.reconstruct_counts
        if total > 1:
            raise InputError(f"The shares of the budget sum to {total}, which exceeds 1. Lower at least one of them.")

    def limits(self) -> dict[str, Fraction]:
        """For each stage, what the run may have spent in all when the stage has ended."""
        selected = self.estimate_lambda + self.select_elements
        return {
            "estimate_lambda": self.estimate_lambda,
            "select_elements": selected,
            "reconstruct_counts": Fraction(1),
        }


@frozen
class Estimate:
    """What λ estimation found: the number of items to select, and a noisy support threshold if there is one."""

    lam: int | None = None
    theta: float | None = None


@frozen
class Elements:
    """The items and the itemsets that selection found worth covering, most promising first."""

    items: tuple[int, ...] = field(converter=_items)
    itemsets: tuple[Itemset, ...] = field(default=(), converter=itemset_tuple)
