"""A budget that adds up the ε of all releases, and their δ where they have one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar, Self

from attrs import evolve, frozen

from privmine.errors import InputError
from privmine.ledger.checks import of_bearable_size, refuse_excess
from privmine.ledger.entries import SUMS, Amounts, DatasetBudget, Price


@frozen(kw_only=True)
class SumsBudget(DatasetBudget):
    """Counts ε, and δ where the definition has one: sequential composition, which holds for releases of any kind."""

    composition: ClassVar[str] = SUMS

    total_epsilon: Fraction
    total_delta: Fraction | None
    spent_epsilon: Fraction = Fraction(0)
    spent_delta: Fraction | None
    reserved_epsilon: Fraction = Fraction(0)
    reserved_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, name: str, epsilon: Fraction, delta: Fraction | None, **more: Any) -> SumsBudget:
        """A budget of which nothing is spent."""
        nothing = None if delta is None else Fraction(0)
        return cls(name=name, total_epsilon=epsilon, total_delta=delta, spent_delta=nothing, **more)

    @property
    def remaining_epsilon(self) -> Fraction:
        """See `DatasetBudget`."""
        return self.total_epsilon - self.spent_epsilon - self.reserved_epsilon

    @property
    def remaining_delta(self) -> Fraction | None:
        """See `DatasetBudget`."""
        if self.total_delta is None or self.spent_delta is None:
            return None
        return self.total_delta - self.spent_delta - self.reserved_delta

    @property
    def is_overdrawn(self) -> bool:
        """See `DatasetBudget`."""
        return self.remaining_epsilon < 0 or (self.remaining_delta or 0) < 0

    def cost(self, price: Price) -> Amounts:
        """Its ε and its δ; one of the other definition is refused."""
        if self.total_delta is None and price.delta is not None:
            raise InputError(
                f"The budget of {self.name!r} is counted in pure ε, so a charge with a δ cannot be "
                "added to it. Release under pure ε, or use a dataset whose budget has a δ."
            )
        if self.total_delta is not None and price.delta is None:
            raise InputError(
                f"The budget of {self.name!r} is counted in (ε, δ), so a charge without a δ cannot be "
                "added to it. Release under (ε, δ), or use a dataset with a budget in pure ε."
            )
        return price.epsilon, price.delta

    def worth(self, price: Price) -> Amounts:
        """Its ε and its δ."""
        return self.cost(price)

    def refuse_overspending(self, amounts: Amounts, event: str = "charge") -> None:
        """Refuse what exceeds what is left, in ε or in δ."""
        epsilon, delta = amounts
        of_bearable_size(self.spent_epsilon + epsilon, "The sum of all charged ε")
        refuse_excess(event, self.label, "ε", epsilon, self.remaining_epsilon, self.total_epsilon)
        if delta is not None and self.remaining_delta is not None and self.total_delta is not None:
            of_bearable_size(self.total_delta - self.remaining_delta + delta, "The sum of all charged δ")
            refuse_excess(event, self.label, "δ", delta, self.remaining_delta, self.total_delta)

    def charged(self, amounts: Amounts) -> Self:
        """See `DatasetBudget`."""
        epsilon, delta = amounts
        spent_delta = None if self.spent_delta is None or delta is None else self.spent_delta + delta
        return evolve(self, spent_epsilon=self.spent_epsilon + epsilon, spent_delta=spent_delta)

    def with_total(self, amounts: Amounts, *, account: str = "", part: str = "") -> Self:
        """See `DatasetBudget`."""
        epsilon, delta = amounts
        nothing = None if delta is None else Fraction(0)
        return evolve(
            self,
            total_epsilon=epsilon,
            total_delta=delta,
            spent_epsilon=Fraction(0),
            spent_delta=nothing,
            reserved_epsilon=Fraction(0),
            reserved_delta=Fraction(0),
            account=account,
            part=part,
        )

    def emptied(self) -> Self:
        """See `DatasetBudget`."""
        return evolve(self, total_epsilon=self.spent_epsilon, total_delta=self.spent_delta)

    def renewed(self, amounts: Amounts, until: date) -> Self:
        """See `DatasetBudget`."""
        epsilon, delta = amounts
        return evolve(
            self,
            total_epsilon=self.spent_epsilon + epsilon,
            total_delta=None if delta is None else (self.spent_delta or 0) + delta,
            until=until,
        )

    def sharing(self, accounts: Iterable[Self]) -> Self:
        """See `DatasetBudget`."""
        held = list(accounts)
        return evolve(
            self,
            reserved_epsilon=sum((one.remaining_epsilon for one in held), Fraction(0)),
            reserved_delta=sum((one.remaining_delta or Fraction(0) for one in held), Fraction(0)),
        )
