"""What the selection asks, and how it divides its share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privmine.api import Elements, Estimate, InputError, ItemSupports, PairSupports
from privmine.defaults.select import ItemsAndPairs, pair_target
from privmine.testing import answers_of, charges_of

BASKETS = [[0, 1], [0], [2, 5, 7]]


@pytest.mark.parametrize(("lam", "k", "max_length"), [(12, 100, None), (13, 100, 1), (25, 20, None)])
def test_items_alone_take_the_whole_share(stage, lam: int, k: int, max_length: int | None) -> None:
    """Few items, single items or λ beyond η·k: one question, of λ draws, and no pairs."""
    request, curator = stage(k, BASKETS, 30, max_length)
    found = ItemsAndPairs().select_elements(request, Estimate(lam=lam), curator)
    (answer,) = answers_of(curator)
    assert answer.query == ItemSupports(30)
    assert found == Elements(tuple(item for (item,) in answer.chosen))
    assert len(found.items) == lam
    assert [(charge.mechanism, charge.cost.amount) for charge in charges_of(curator)] == [
        (f"exponential mechanism, {lam} draws", Fraction(1, 2))
    ]


def test_items_and_pairs_pay_by_their_draws(stage) -> None:
    """13 items and 28 pairs divide the share 13 : 28, so that each draw costs the same."""
    request, curator = stage(40, BASKETS, 30, 2)
    found = ItemsAndPairs().select_elements(request, Estimate(lam=13), curator)
    items, pairs = answers_of(curator)
    count = pair_target(13, 40, Fraction(11, 10))
    assert pairs.query == PairSupports(found.items)
    assert found == Elements(tuple(item for (item,) in items.chosen), pairs.chosen)
    assert (len(found.items), len(found.itemsets)) == (13, count)
    assert [charge.cost.amount for charge in charges_of(curator)] == [
        Fraction(13, 2 * (13 + count)),
        Fraction(count, 2 * (13 + count)),
    ]


def test_how_many_items_one_basis_holds_is_a_parameter(stage) -> None:
    """Above it pairs are selected; 0 is possible, a negative number is not."""
    for single, questions in ((13, 1), (12, 2), (0, 2)):
        request, curator = stage(40, BASKETS, 30)
        ItemsAndPairs(single_basis=single).select_elements(request, Estimate(lam=13), curator)
        assert len(answers_of(curator)) == questions
    with pytest.raises(InputError, match="single_basis must not be negative"):
        ItemsAndPairs(single_basis=-1)
    assert ItemsAndPairs().single_basis == 12


def test_the_margin_is_that_of_the_estimate(stage) -> None:
    """η decides how many pairs, is exact, and is at least 1."""
    request, curator = stage(10, BASKETS, 30)
    ItemsAndPairs(eta="2", single_basis=3).select_elements(request, Estimate(lam=5), curator)
    assert len(answers_of(curator)[1].chosen) == pair_target(5, 10, Fraction(2))
    assert ItemsAndPairs().eta == Fraction(11, 10)
    with pytest.raises(InputError, match="eta must be at least 1"):
        ItemsAndPairs(eta="0.9")


def test_an_estimate_without_a_number_is_told(stage) -> None:
    """TF's λ is none; the message names a component that has one, and nothing is charged."""
    request, curator = stage(10, BASKETS, 30)
    with pytest.raises(InputError, match="rank-gap"):
        ItemsAndPairs().select_elements(request, Estimate(lam=None), curator)
    assert charges_of(curator) == ()


def test_no_items_cost_nothing(stage) -> None:
    """λ = 0 selects nothing, for nothing."""
    request, curator = stage(10, BASKETS, 30)
    assert ItemsAndPairs().select_elements(request, Estimate(lam=0), curator) == Elements(())
    assert charges_of(curator) == ()


def test_sets_are_drawn_at_once_on_request(stage) -> None:
    """The same questions and shares, each with one draw of all."""
    request, curator = stage(40, BASKETS, 30, 2)
    found = ItemsAndPairs(at_once=True).select_elements(request, Estimate(lam=13), curator)
    count = pair_target(13, 40, Fraction(11, 10))
    assert (len(found.items), len(found.itemsets)) == (13, count)
    assert [(charge.mechanism, charge.cost.amount) for charge in charges_of(curator)] == [
        ("exponential mechanism, 1 draw of a set of 13", Fraction(13, 2 * (13 + count))),
        (f"exponential mechanism, 1 draw of a set of {count}", Fraction(count, 2 * (13 + count))),
    ]
