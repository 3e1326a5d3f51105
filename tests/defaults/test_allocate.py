"""The shares of the budget."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privmine.api import BudgetPlan, InputError
from privmine.defaults.allocate import FixedShares


def test_the_shares_of_the_paper() -> None:
    """0.1, 0.4 and 0.5 (Section 4.4), which is all there is."""
    assert FixedShares().allocate_budget() == BudgetPlan(Fraction(1, 10), Fraction(4, 10), Fraction(5, 10))


def test_shares_are_the_decimals_that_were_written() -> None:
    """0.1 is a tenth, however it is given; shares beyond 1 are refused when they are set."""
    shares = FixedShares(alpha1="0.2", alpha2=0.3, alpha3="1/2")
    assert (shares.alpha1, shares.alpha2, shares.alpha3) == (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2))
    with pytest.raises(InputError, match="exceeds 1"):
        FixedShares(alpha3="0.6")
