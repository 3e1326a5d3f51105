"""The budget in fixed proportions (the paper, Section 4.4)."""

from __future__ import annotations

from fractions import Fraction

from attrs import frozen

from privmine.api import BudgetPlan, exact, hookimpl, parameter


@frozen
class FixedShares:
    """Gives α₁, α₂ and α₃ of the budget to λ, to the selection and to the counts.

    Privacy: looks at no data; the shares are parameters and so public.
    """

    alpha1: Fraction = parameter(Fraction(1, 10), converter=exact, help="share of λ estimation (α₁)")
    alpha2: Fraction = parameter(Fraction(4, 10), converter=exact, help="share of element selection (α₂)")
    alpha3: Fraction = parameter(Fraction(5, 10), converter=exact, help="share of the counts (α₃)")

    def __attrs_post_init__(self) -> None:
        self.allocate_budget()  # Shares that exceed 1 are refused here, not in the middle of a run.

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Divide the budget; see `Stages.allocate_budget`."""
        return BudgetPlan(self.alpha1, self.alpha2, self.alpha3)
