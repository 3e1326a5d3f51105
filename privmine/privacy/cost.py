"""What was spent: costs, charges, and the meter of a run."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from fractions import Fraction
from functools import total_ordering
from typing import TYPE_CHECKING, Any, NoReturn, overload

from attrs import field, frozen

from privmine.errors import BudgetError, ContractError
from privmine.exact import amount, exact
from privmine.privacy.guarantee import Guarantee, equation
from privmine.privacy.noise import Noise

if TYPE_CHECKING:
    from privmine.privacy.definition import Definition

#: The mechanism of what a run was charged for and did not use.
UNSPENT = "left unspent"


@total_ordering
@frozen(eq=False)
class Cost:
    """An exact amount of privacy in the terms of one definition: ε of pure differential privacy, for example.

    Costs of one definition add up, compare, and can be divided. They are no numbers: what an amount means for noise
    depends on the definition, so ask the curator for `noise_for(query, cost)` or `rate_for(query, n, cost)`.

    Attributes:
        amount: the number, for the definition itself and for files.
        definition: what the number means.
    """

    amount: Fraction = field(converter=exact)
    definition: Definition

    def __str__(self) -> str:
        return equation(self.definition.symbol, self.number)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    @property
    def number(self) -> str:
        """The amount without its symbol, as people read it."""
        return amount(self.amount)

    @property
    def guarantee(self) -> Guarantee:
        """What it is worth to one unit of protection that comes or goes."""
        return self.definition.guarantee(self)

    def price(self) -> dict[str, Any]:
        """What a ledger is told of it, by the names of `Ledger.charge`."""
        worth = self.guarantee
        return {"epsilon": worth.epsilon, "delta": worth.delta, **self.definition.price(self)}

    def __add__(self, other: Cost | int) -> Cost:
        return self._of(self.amount + self._amount_of(other))

    __radd__ = __add__

    def __sub__(self, other: Cost) -> Cost:
        return self._of(self.amount - self._amount_of(other))

    def __mul__(self, factor: int | Fraction) -> Cost:
        if not isinstance(factor, int | Fraction):
            return NotImplemented
        return self._of(self.amount * factor)

    __rmul__ = __mul__

    @overload
    def __truediv__(self, other: Cost) -> Fraction: ...
    @overload
    def __truediv__(self, other: int | Fraction) -> Cost: ...
    def __truediv__(self, other: Cost | int | Fraction) -> Cost | Fraction:
        if isinstance(other, Cost):
            return self.amount / self._amount_of(other)
        return self * (1 / Fraction(other)) if isinstance(other, int | Fraction) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Cost):
            return (self.amount, self.definition) == (other.amount, other.definition)
        return self.amount == 0 if other == 0 else NotImplemented

    def __hash__(self) -> int:
        return hash((self.amount, self.definition))

    def __lt__(self, other: Cost | int) -> bool:
        return self.amount < self._amount_of(other)

    def __bool__(self) -> bool:
        return self.amount != 0

    def __float__(self) -> NoReturn:
        raise ContractError(
            "A cost is not a number: what it means for noise depends on the definition of privacy. Ask the curator for "
            "noise_for(query, cost) or rate_for(query, n, cost); shares of a cost are cost / cost."
        )

    def split(self, weights: Iterable[Fraction]) -> list[Cost]:
        """Parts in proportion to the weights; they sum to this cost exactly."""
        parts = list(weights)
        total = sum(parts, Fraction(0))
        return [self * (part / total) for part in parts]

    def _of(self, value: Fraction) -> Cost:
        return Cost(value, self.definition)

    def _amount_of(self, other: Any) -> Fraction:
        if type(other) is int and other == 0:
            return Fraction(0)  # Nothing is the same in every definition.
        if not isinstance(other, Cost):
            raise ContractError(
                f"A cost was compared with, or added to, {type(other).__name__}, which is not a cost. Use parts of "
                "curator.remaining, for example curator.split(items=2, pairs=1) or curator.remaining / 2."
            )
        if other.definition != self.definition:
            raise ContractError(
                f"Costs of different definitions do not add up: {self.definition.name} and {other.definition.name}."
            )
        return other.amount


@frozen
class Charge:
    """One payment: who looked, at what, by which mechanism, for how much.

    Attributes:
        stage: the stage that asked.
        component: the component that stood for it.
        query: the name of what was asked.
        mechanism: how it was answered, in words.
        cost: what was paid.
        verified: False where the sensitivity is a third party's word rather than privmine's.
        noise: what was drawn for each value of a measurement; None of a selection.
    """

    stage: str
    component: str
    query: str
    mechanism: str
    cost: Cost
    verified: bool = True
    noise: Noise | None = None

    @property
    def caveat(self) -> str:
        """What a reader must know of a charge whose sensitivity nobody verified."""
        return "" if self.verified else " [sensitivity declared, not verified]"


class Meter:
    """Counts what one run has spent; there is no way to pay back."""

    def __init__(self, budget: Cost) -> None:
        self.budget = budget
        self.charges: tuple[Charge, ...] = ()
        self.spent = budget * 0
        self._lock = threading.Lock()

    def charge(self, charge: Charge, limit: Cost) -> None:
        """Record a charge, unless it would take the run's spending past the limit."""
        with self._lock:  # A stage may ask from several threads.
            remaining = min(limit, self.budget) - self.spent
            if charge.cost <= remaining:
                self.spent += charge.cost
                self.charges += (charge,)
                return
        raise BudgetError(
            f"{charge.cost} was requested for {charge.query}, but {remaining} "
            f"is left for {charge.stage}; ask for less, or give the stage a larger share.",
            requested=charge.cost,
            remaining=remaining,
        )
