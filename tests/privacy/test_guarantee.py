"""What a total is worth, in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privmine.exact import amount
from privmine.privacy import Guarantee, at_epsilon


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 2), "0.5"),
        (Fraction(3), "3"),
        (Fraction(1, 3), "1/3 ≈ 0.333333"),
        (Fraction(1234567, 10**6), "1234567/1000000 ≈ 1.23457"),
        (Fraction(1, 1234567890123456789), "≈ 8.1e-19"),
        (Fraction(1, 123456789012345678), "1/123456789012345678 ≈ 8.1e-18"),
        (Fraction(10**400), "a number beyond all bounds"),
    ],
)
def test_amounts_are_never_rounded_silently(value: Fraction, text: str) -> None:
    """Decimal where that is exact, else the fraction and about what it is, or only the latter if it is long."""
    assert amount(value) == text


def test_a_guarantee_prints_itself() -> None:
    """ε alone, or with its δ."""
    assert str(Guarantee(Fraction(1, 2))) == "ε = 0.5"
    assert str(Guarantee(Fraction(1), Fraction(1, 10**6))) == "ε = 1, δ = 1e-06"


def test_a_long_fraction_is_only_near_its_number() -> None:
    """One sign stands between the symbol and the number, of ε and of δ."""
    long = Fraction(10**30 - 26 * 10**24 + 1, 10**30)
    assert str(Guarantee(long)) == "ε ≈ 0.999974"
    assert str(Guarantee(Fraction(1), long)) == "ε = 1, δ ≈ 0.999974"


def test_several_epsilons_stand_side_by_side() -> None:
    """As a table's heading has them."""
    assert at_epsilon("0.1", "1/3") == "ε = 0.1 / 1/3"
