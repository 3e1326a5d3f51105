"""A budget of (ε, δ) that adds up the ρ of all releases: many of them cost much less than the sum of their ε.

What ρ-zCDP releases cost together is the sum of their ρ, however a later one depends on earlier answers, as long as the
sum stays below a total that was fixed before (Bun and Steinke 2016, Lemma 2.3; for amounts that are chosen on the way
Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1). The total is the ρ that is worth the budget's ε at its δ. A release
under pure ε is ε²/2-zCDP. One with private items fails with a probability of its own, which is added up separately: the
budget keeps a part of δ for that (approximate zCDP; docs/delta.md has the proof).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar, Self

from attrs import evolve, frozen

from privmine.errors import BudgetError, InputError
from privmine.ledger.checks import DONE, NOTHING_LEFT, of_bearable_size
from privmine.ledger.entries import RHO, Amounts, DatasetBudget, Price
from privmine.privacy import amount
from privmine.privacy.conversion import epsilon_of, largest_epsilon_of, rho_of
from privmine.privacy.guarantee import Guarantee, equation

#: A fraction of so many bits fits into the details of a row.
MOST_BITS = 1024


@frozen(kw_only=True)
class RhoBudget(DatasetBudget):
    """Counts ρ, and the part of δ with which items may be named where they are private.

    Attributes:
        noise_delta: the δ at which ρ is stated as ε: all of the budget's but what is kept for private items.
        total_rho: the ρ that all releases together may cost.
        total_items_delta: the part of δ that is kept for releases of private items.
        spent_rho: the sum of the ρ of all charges, those of failed releases included.
        spent_items_delta: the same for that part of δ.
        reserved_rho: the ρ that was granted to accounts, which they have not spent.
        reserved_items_delta: the same for that part of δ.
        kept_with_rho: how much of that part of δ goes with each ρ that is granted.
    """

    composition: ClassVar[str] = RHO

    noise_delta: Fraction
    total_rho: Fraction
    total_items_delta: Fraction = Fraction(0)
    spent_rho: Fraction = Fraction(0)
    spent_items_delta: Fraction = Fraction(0)
    reserved_rho: Fraction = Fraction(0)
    reserved_items_delta: Fraction = Fraction(0)
    kept_with_rho: Fraction = Fraction(0)

    @classmethod
    def of(cls, name: str, total: Fraction, delta: Fraction, items_delta: Fraction, **more: Any) -> RhoBudget:
        """A budget of so much ρ, of which nothing is spent; a part of its δ is for private items."""
        noise_delta = delta - items_delta
        return cls(
            name=name,
            noise_delta=noise_delta,
            total_rho=total,
            total_items_delta=items_delta,
            kept_with_rho=items_delta / total,
            **more,
        )

    @property
    def remaining_rho(self) -> Fraction:
        """The largest ρ that can still be charged."""
        return self.total_rho - self.spent_rho - self.reserved_rho

    @property
    def remaining_items_delta(self) -> Fraction:
        """The largest part of δ for private items that can still be charged."""
        return self.total_items_delta - self.spent_items_delta - self.reserved_items_delta

    @property
    def total_epsilon(self) -> Fraction:
        """What the total is worth."""
        return epsilon_of(self.total_rho, self.noise_delta)

    @property
    def total_delta(self) -> Fraction:
        """The δ at which ρ is stated, and what is kept for private items."""
        return self.noise_delta + self.total_items_delta

    @property
    def spent_epsilon(self) -> Fraction:
        """What the sum of all charges is worth."""
        return epsilon_of(self.spent_rho, self.noise_delta)

    @property
    def spent_delta(self) -> Fraction:
        """The δ at which that is stated; nothing if nothing is spent."""
        return self.noise_delta + self.spent_items_delta if self.spent_rho else Fraction(0)

    @property
    def reserved_epsilon(self) -> Fraction:
        """What is set aside is worth so much; it does not add up with what is spent."""
        return epsilon_of(self.reserved_rho, self.noise_delta)

    @property
    def reserved_delta(self) -> Fraction:
        """The δ at which that is stated."""
        return self.noise_delta + self.reserved_items_delta if self.reserved_rho else Fraction(0)

    @property
    def remaining_epsilon(self) -> Fraction:
        """The largest ε that one release at this δ may have."""
        return largest_epsilon_of(max(self.remaining_rho, Fraction(0)), self.noise_delta)

    @property
    def remaining_delta(self) -> Fraction:
        """The δ that one release may have; a smaller one allows a smaller ε."""
        return self.noise_delta + self.remaining_items_delta if self.remaining_rho > 0 else Fraction(0)

    @property
    def is_overdrawn(self) -> bool:
        """See `DatasetBudget`."""
        return self.remaining_rho < 0 or self.remaining_items_delta < 0

    def cost(self, price: Price) -> Amounts:
        """Its ρ, which is ε²/2 of pure ε, and its part of δ for private items."""
        if price.rho is None and price.delta is not None:
            raise InputError(
                f"The budget of {self.name!r} adds up ρ, and this charge states none. Pass the ρ of which ε and δ are "
                "what it is worth: rho=. Or use a dataset whose budget was opened with composition='sums'."
            )
        if price.items_delta and not self.total_items_delta:
            raise InputError(
                f"The budget of {self.name!r} keeps no part of its δ for releases of private items, so that it cannot "
                "pay for one. Nothing was charged. Open a budget for them with private_items=True (--private-items)."
            )
        rho = price.epsilon**2 / 2 if price.rho is None else price.rho
        return _writable(rho), _writable(price.items_delta)

    def worth(self, price: Price) -> Amounts:
        """The ρ of a share that is stated at the budget's δ, and as large a part of δ as ρ is of the total."""
        if price.delta not in (None, self.total_delta):
            raise InputError(
                f"The budget of {self.name!r} adds up ρ and is stated at δ = {amount(self.total_delta)}. Leave out the "
                "δ of a share of it."
            )
        rho = rho_of(price.epsilon, self.noise_delta)
        return rho, _writable(self.kept_with_rho * rho)

    def refuse_overspending(self, amounts: Amounts, event: str = "charge") -> None:
        """Refuse what exceeds what is left, in ρ or in the part of δ for private items."""
        rho, items_delta = amounts[0], amounts[1] or Fraction(0)
        of_bearable_size(self.spent_rho + rho, "The sum of all charged ρ")
        if rho > self.remaining_rho:
            worth = Guarantee(epsilon_of(rho, self.noise_delta), self.noise_delta)
            left = Guarantee(self.remaining_epsilon, self.noise_delta)
            advice = f"Ask for at most {left}." if self.remaining_epsilon else NOTHING_LEFT
            raise BudgetError(
                f"A {event} of {equation('ρ', amount(rho))} ({worth}) exceeds the budget of {self.label!r}: "
                f"{equation('ρ', amount(self.remaining_rho))} ({left}) is left of {amount(self.total_rho)}. Nothing "
                f"was {DONE[event]}. {advice}",
                requested=rho,
                remaining=self.remaining_rho,
            )
        if items_delta > self.remaining_items_delta:
            raise BudgetError(
                f"A {event} of δ = {amount(items_delta)} for private items exceeds the budget of {self.label!r}: δ = "
                f"{amount(self.remaining_items_delta)} is left of the {amount(self.total_items_delta)} that are kept "
                f"for them. Nothing was {DONE[event]}. Ask for a smaller δ, or name the items.",
                requested=items_delta,
                remaining=self.remaining_items_delta,
            )

    def charged(self, amounts: Amounts) -> Self:
        """See `DatasetBudget`."""
        rho, items_delta = amounts
        return evolve(
            self, spent_rho=self.spent_rho + rho, spent_items_delta=self.spent_items_delta + (items_delta or 0)
        )

    def with_total(self, amounts: Amounts, *, account: str = "", part: str = "") -> Self:
        """See `DatasetBudget`."""
        nothing = Fraction(0)
        return evolve(
            self,
            total_rho=amounts[0],
            total_items_delta=amounts[1] or nothing,
            spent_rho=nothing,
            spent_items_delta=nothing,
            reserved_rho=nothing,
            reserved_items_delta=nothing,
            account=account,
            part=part,
        )

    def emptied(self) -> Self:
        """See `DatasetBudget`."""
        return evolve(self, total_rho=self.spent_rho, total_items_delta=self.spent_items_delta)

    def renewed(self, amounts: Amounts, until: date) -> Self:
        """See `DatasetBudget`."""
        return evolve(
            self,
            total_rho=self.spent_rho + amounts[0],
            total_items_delta=self.spent_items_delta + (amounts[1] or 0),
            until=until,
        )

    def sharing(self, accounts: Iterable[Self]) -> Self:
        """See `DatasetBudget`."""
        held = list(accounts)
        return evolve(
            self,
            reserved_rho=sum((one.remaining_rho for one in held), Fraction(0)),
            reserved_items_delta=sum((one.remaining_items_delta for one in held), Fraction(0)),
        )

    @property
    def account_of_rho(self) -> str:
        """How the total was reached, as a sentence."""
        worth = Guarantee(self.spent_epsilon, self.noise_delta)
        kept = (
            f" {amount(self.spent_items_delta)} of δ = {amount(self.total_items_delta)} for private items is spent."
            if self.total_items_delta
            else ""
        )
        return (
            f"{self.label} adds up ρ: {amount(self.spent_rho)} of {amount(self.total_rho)} is spent, which is worth "
            f"{worth}. The ε and δ of single releases do not add up to it.{kept}"
        )

    def to_dict(self) -> dict[str, Any]:
        """See `DatasetBudget`; with ρ, of which the ε are what it is worth."""
        rhos = {kind: getattr(self, kind) for kind in ("total_rho", "spent_rho", "reserved_rho", "remaining_rho")}
        kept = {kind.replace("rho", "items_delta"): None for kind in rhos}
        return super().to_dict() | {name: str(getattr(self, name)) for name in (*rhos, *kept)}


def _writable(value: Fraction) -> Fraction:
    if max(value.numerator, value.denominator).bit_length() > MOST_BITS:
        raise InputError("This amount has too many digits to be counted exactly in ρ. Use a shorter decimal number.")
    return value
