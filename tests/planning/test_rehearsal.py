from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

import privmine as pm
from privmine.model import BasisSet
from privmine.noise.protocol import Tail
from privmine.noise.simulated import SimulatedNoise
from privmine.planning.rehearsal import Choice, Rehearsal, _Rehearsed, made_up_baskets
from privmine.privacy.unit import Unit


def noted(method: str, others: int, n: int, number: Fraction) -> Choice:
    """What a rehearsal notes of a choice of n among n and so many others."""
    noise = _Rehearsed()
    getattr(noise, method)(np.zeros(n + others, dtype=np.int64), n, number)
    return Choice(None, "", *noise.noted[0])


@pytest.mark.parametrize("others", [1, 30])
def test_a_lead_puts_a_candidate_first_19_times_out_of_20(others: int) -> None:
    """Drawn by the exponential mechanism, among others that all have the same score; a gap is a lead over one."""
    rate = Fraction(1, 50)
    choice = noted("select", others, 1, rate)
    scores = np.zeros(1 + others, dtype=np.int64)
    scores[0] = round(choice.lead)
    noise = SimulatedNoise(4)
    first = np.mean([noise.select(scores, 1, rate)[0] == 0 for _ in range(4000)])
    assert first == pytest.approx(0.95, abs=0.012)
    assert choice.gap == pytest.approx(noted("select", 1, 1, rate).lead)


@pytest.mark.parametrize(("others", "least", "most"), [(1, 0.938, 0.962), (30, 0.938, 0.98)])
def test_a_lead_holds_for_the_largest_noisy_scores_too(others: int, least: float, most: float) -> None:
    """There it is exact for one other, and a bound for several."""
    scale = Fraction(50)
    scores = np.zeros(1 + others, dtype=np.int64)
    scores[0] = round(noted("noisy_top", others, 1, scale).lead)
    noise = SimulatedNoise(4)
    first = np.mean([noise.noisy_top(scores, 1, scale)[0] == 0 for _ in range(4000)])
    assert least < first < most


def test_candidates_that_are_not_listed_count_too() -> None:
    """A tail of a million is a million others."""
    noise = _Rehearsed()
    noise.select(np.zeros(3, dtype=np.int64), 2, Fraction(1), Tail(0, 10**6))
    assert noise.noted == [(2, 10**6 + 3, pytest.approx(log(19)), pytest.approx(log(19 * (10**6 + 1))))]


def test_nothing_needs_to_be_told_apart_where_all_are_chosen() -> None:
    """Whoever is chosen for certain needs no lead."""
    assert noted("select", 0, 4, Fraction(1)).lead == 0
    assert noted("noisy_top", 0, 4, Fraction(1)).lead == 0


def test_a_rehearsal_takes_what_scores_best() -> None:
    """However small the rate: the made-up selection is not left to noise."""
    scores = np.array([0, 5, 3, 0, 4])
    assert sorted(_Rehearsed().select(scores, 3, Fraction(1, 10**6)).tolist()) == [1, 2, 4]
    assert sorted(_Rehearsed().noisy_top(scores, 3, Fraction(10**6)).tolist()) == [1, 2, 4]


def test_budget_is_spent_as_in_a_run() -> None:
    """All of ε up to the last stage, and every rehearsal of that stage starts from what was left."""
    rehearsal = Rehearsal(pm.Pipeline(), made_up_baskets(50, Unit()), 20, None)
    selected = rehearsal.select(Fraction(2), 15)
    assert selected.meter.spent.amount == 1
    basis = BasisSet([(0, 1), (2,)])
    first, again = rehearsal.counts(selected, basis), rehearsal.counts(selected, basis)
    assert first == again
    assert selected.meter.spent.amount == 1


def test_given_bases_may_have_more_items_than_were_planned_with() -> None:
    """The universe of the last stage grows with them."""
    rehearsal = Rehearsal(pm.Pipeline(), made_up_baskets(3, Unit()), 2, None)
    selected = rehearsal.select(Fraction(1), 2)
    assert len(rehearsal.counts(selected, BasisSet([(0, 7)])).itemsets) == 4


def test_made_up_baskets_are_few_and_hold_no_secret() -> None:
    """A dozen, whatever the size of the universe."""
    baskets = made_up_baskets(100_000, Unit())
    assert len(baskets.universe) == 100_000
    assert baskets.store.count() == 13
    assert made_up_baskets(2, Unit()).store.item_supports().tolist() == [2, 1]
