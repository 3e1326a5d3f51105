"""What a run would do, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from privmine.discovery import SHARE, STAGE
from privmine.model import DATA_STAGES, BudgetPlan, Request
from privmine.pipeline.charging import public_facts
from privmine.pipeline.request import Wish
from privmine.privacy.cost import Cost
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.receipt import protects


@frozen
class DryRun:
    """What a run would do.

    Privacy: made without a look at the transactions. `request.public` has what is public of them.

    Attributes:
        request: what was asked for.
        protects: who would be protected, as the receipt would say it.
        stages: by stage the component with its parameters and its distribution.
        shares: by stage what it may spend.
        remaining: the ε that would be left in the ledger, or None without one.
        dataset: the name of the data in the ledger, or None.
    """

    request: Request
    protects: str
    stages: Mapping[str, str]
    shares: Mapping[str, Cost]
    remaining: Fraction | None = None
    dataset: str | None = None

    @classmethod
    def of(cls, wish: Wish, request: Request, plan: BudgetPlan, stages: Mapping[str, str]) -> DryRun:
        """Gather what is known before a run: the wish, what it means for the data, the shares and the components."""
        budget = request.budget
        found = {STAGE: SHARE * budget} if request.public.universe.private else {}
        shared = budget - budget.definition.total(found.values())
        is_private = request.public.universe.private
        left = wish.left(request.public.unit, public_facts(request.public), private_items=is_private)
        return cls(
            request,
            protects(request.public.unit, budget.definition, private=wish.is_private, n_public=wish.n_public),
            stages,
            found | {stage: getattr(plan, stage) * shared for stage in DATA_STAGES},
            None if left is None else left.remaining_epsilon,
            wish.dataset,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What the budget is worth; where the number of transactions is published, one replaces another."""
        budget = self.request.budget
        return budget.definition.guarantee(budget, replaced=self.request.public.n is not None)

    @property
    def data(self) -> str:
        """What would be read, and in which layout."""
        origin = self.request.public.origin
        return f"{origin.layout} layout of {origin.source}" if origin.layout else "the embedded baskets"

    @property
    def columns(self) -> str:
        """Which column is used as what; empty where there are no columns."""
        origin = self.request.public.origin
        used = [f"{role} = {column}" for role, column in origin.columns]
        if origin.layout == "one-hot":
            used.append(f"every {'other ' if used else ''}column is an item")
        return ", ".join(used)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        request = self.request
        return {
            "k": request.k,
            "requested": request.requested,
            "theta": None if request.above is None else str(request.above.theta),
            request.budget.definition.field: str(request.budget.amount),
            "guaranteed_epsilon": str(self.guarantee.epsilon),
            "guaranteed_delta": None if self.guarantee.delta is None else str(self.guarantee.delta),
            "protects": self.protects,
            "data": self.data,
            "columns": dict(request.public.origin.columns),
            "items": None if request.public.universe.private else len(request.public.universe),
            "universe_given": request.public.universe.given,
            "private_items": request.public.universe.private,
            "stages": dict(self.stages),
            "shares": {stage: str(share.amount) for stage, share in self.shares.items()},
            "ledger_remaining_afterwards": None if self.remaining is None else str(self.remaining),
        }
