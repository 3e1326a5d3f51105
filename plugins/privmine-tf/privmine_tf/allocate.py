"""The budget in two equal parts."""

from __future__ import annotations

from fractions import Fraction

from attrs import frozen

from privmine.api import BudgetPlan, hookimpl


@frozen
class Halves:
    """Gives one half of the budget to the choice of itemsets and the other to their counts.

    Privacy: looks at no data.
    """

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Divide the budget; see `Stages.allocate_budget`."""
        return BudgetPlan(select_elements=Fraction(1, 2), reconstruct_counts=Fraction(1, 2))
