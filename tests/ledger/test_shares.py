"""The sums of one dataset, without a ledger around them: δ, units and last days are kept in every step."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from privmine.ledger.shares import Shares
from privmine.ledger.sums_budget import SumsBudget

DAY, LATER = date(2026, 12, 31), date(2027, 12, 31)
SMALL = Fraction(1, 10**6)


def shares() -> Shares:
    """Customers with ε = 2 and δ = 4e-6 until a day."""
    return Shares.of(SumsBudget.of("orders", Fraction(2), 4 * SMALL, unit="customer_id", until=DAY))


def test_accounts_and_parts_have_the_unit_and_the_last_day_of_their_dataset() -> None:
    """Otherwise a part would never end, or an account would protect somebody else."""
    made = shares().granted("sales", (Fraction(1), SMALL)).grown("june", (Fraction(3), 3 * SMALL))
    assert [(budget.label, budget.unit, budget.until) for budget in made] == [
        ("orders", "customer_id", DAY),
        ("orders + june", "customer_id", DAY),
        ("orders / sales", "customer_id", DAY),
    ]


def test_a_revoked_account_has_no_delta_left() -> None:
    """What it did not spend is the dataset's again, in δ as in ε."""
    made = (
        shares().granted("sales", (Fraction(1), 2 * SMALL)).charged((Fraction(1, 4), SMALL), "sales").revoked("sales")
    )
    held = made.accounts["sales"]
    assert (held.remaining_epsilon, held.remaining_delta) == (0, 0)
    assert (made.first.remaining_epsilon, made.first.remaining_delta) == (Fraction(7, 4), 3 * SMALL)


def test_a_new_period_adds_to_what_was_spent() -> None:
    """In δ as in ε: all of the new amount is left, and what was spent stays spent."""
    made = shares().charged((Fraction(1), 3 * SMALL)).renewed((Fraction(1), SMALL), LATER)
    assert (made.first.remaining_epsilon, made.first.remaining_delta) == (1, SMALL)
    assert (made.first.spent_epsilon, made.first.spent_delta, made.first.until) == (1, 3 * SMALL, LATER)


def test_the_tightest_has_the_least_left() -> None:
    """Not the least total; δ decides where ε is the same."""
    made = shares().grown("june", (Fraction(3), 3 * SMALL))
    assert made.tightest().part == ""
    assert made.charged((Fraction(2), SMALL), part="june").tightest().part == "june"
    assert made.charged((Fraction(1), SMALL), part="june").tightest().part == "june"
