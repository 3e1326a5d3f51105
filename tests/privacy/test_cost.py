"""Costs, charges and the meter of a run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import frozen

from privmine.errors import BudgetError, ContractError, InputError
from privmine.privacy import Charge, Cost, Meter, PureDP


@frozen
class OtherDP(PureDP):
    """Another definition, whose numbers mean something else."""

    name = "another definition"


def cost(*value: Any) -> Cost:
    return PureDP().cost(Fraction(*value))


def test_costs_add_up_exactly() -> None:
    """Thirds of a tenth sum to a tenth; multiples, differences and ratios are exact too."""
    tenth = cost(1, 10)
    assert sum(tenth.split([Fraction(1)] * 3)) == tenth
    assert tenth.split([Fraction(1), Fraction(3)]) == [cost(1, 40), cost(3, 40)]
    assert tenth * 3 - tenth == tenth + tenth == 2 * tenth == tenth / Fraction(1, 2)
    assert tenth / cost(1, 5) == Fraction(1, 2)


def test_costs_compare() -> None:
    """With each other, and with nothing."""
    assert cost(1, 3) < cost(1, 2) <= cost(1, 2)
    assert max(cost(1), cost(2)) == cost(2)
    assert cost(1) > 0
    assert cost(0) == 0
    assert not cost(0)
    assert cost(1) != 1
    assert cost(0) != 1
    assert cost(0) != "nothing"
    assert not cost(1, 2) < cost(1, 2)
    assert len({cost(1), cost(2, 2), cost(2)}) == 2


def test_a_cost_is_exact_whatever_it_is_made_of() -> None:
    """A decimal is what it reads as, and what is no number is refused by the letter of the definition."""
    assert PureDP().cost("0.1").amount == Cost("1/10", PureDP()).amount == Fraction(1, 10)
    with pytest.raises(InputError, match="ε"):
        PureDP().cost("much")


def test_a_cost_prints_itself() -> None:
    """With the letter of its definition, or the number alone."""
    assert str(cost(1, 2)) == f"{cost(1, 2)}" == "ε = 0.5"
    assert cost(1, 3).number == "1/3 ≈ 0.333333"


@pytest.mark.parametrize(
    "wrong",
    [
        float,
        lambda one: one + 1,
        lambda one: one - 0.5,
        lambda one: one < 1,
        lambda one: one + 0.0,
        lambda one: one > False,
        lambda one: one >= Fraction(1, 2),
        lambda one: one + OtherDP().cost(1),
        lambda one: one < OtherDP().cost(1),
        lambda one: one / OtherDP().cost(1),
    ],
)
def test_a_cost_is_no_number_and_mixes_with_no_other_definition(wrong: Callable[[Cost], object]) -> None:
    """What the number means depends on the definition, so that using it as one is an error, never silent."""
    with pytest.raises(ContractError):
        wrong(cost(1))


@pytest.mark.parametrize("wrong", [lambda one: one * 0.5, lambda one: one / 2.0, lambda one: one * one])
def test_a_cost_is_multiplied_with_exact_numbers_only(wrong: Callable[[Any], object]) -> None:
    """A float would round what is accounted for."""
    with pytest.raises(TypeError):
        wrong(cost(1))


def test_costs_of_two_definitions_are_never_equal() -> None:
    """Not even where their numbers are."""
    assert cost(1) != OtherDP().cost(1)


def charge(price: Cost) -> Charge:
    return Charge("select_elements", "tried", "supports", "exponential mechanism, 1 draw", price)


def test_a_meter_counts_and_never_pays_back() -> None:
    """Charges sum to what was spent, and one that exceeds the limit leaves no trace."""
    meter = Meter(cost(1))
    meter.charge(charge(cost(1, 3)), cost(1))
    with pytest.raises(BudgetError, match="is left for select_elements") as caught:
        meter.charge(charge(cost(1, 3)), cost(1, 2))
    assert (caught.value.requested, caught.value.remaining) == (cost(1, 3), cost(1, 6))
    assert meter.spent == cost(1, 3)
    assert meter.charges == (charge(cost(1, 3)),)


def test_a_meter_takes_all_of_its_limit() -> None:
    """Down to nothing left, charge by charge, and then no more."""
    meter = Meter(cost(1))
    for price in (cost(1, 3), cost(1, 6), cost(1, 2)):
        meter.charge(charge(price), cost(1))
    assert meter.spent == cost(1)
    assert [paid.cost for paid in meter.charges] == [cost(1, 3), cost(1, 6), cost(1, 2)]
    with pytest.raises(BudgetError):
        meter.charge(charge(cost(1, 10**9)), cost(1))


def test_a_meter_is_limited_by_its_budget() -> None:
    """Whatever limit a stage was given."""
    with pytest.raises(BudgetError):
        Meter(cost(1)).charge(charge(cost(2)), cost(5))


def test_a_meter_takes_its_own_definition_only() -> None:
    """A charge in other terms does not add up with the rest."""
    with pytest.raises(ContractError, match="do not add up"):
        Meter(cost(1)).charge(charge(OtherDP().cost(1)), cost(1))
