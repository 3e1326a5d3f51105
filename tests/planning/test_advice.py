"""Advice: simulations, what is sensible, and the words for it."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

import privmine as pm
from privmine.datasets import zipf
from privmine.errors import InputError
from privmine.evaluation.metrics import false_negative_rate
from privmine.planning.advice import judged, percent, preferred
from privmine.planning.adviser import advise, installed_methods
from privmine.planning.better_method import better_method, hint
from privmine.planning.forecast import Attempt, Forecast, Simulator
from privmine.planning.population import population_of
from privmine.privacy.unit import Unit


@pytest.fixture(scope="module")
def baskets() -> pm.Transactions:
    return zipf(3000, items=60, mean_length=5, seed=8)


@pytest.fixture(scope="module")
def advised(baskets: pm.Transactions) -> pm.Plan:
    return pm.plan(k=[10, 200], epsilon=["0.1", 1], like=baskets, like_is_public=True, runs=3)


def test_a_forecast_is_what_runs_give(baskets) -> None:
    """The share missed is that of the paper, and what is noise that of the verdict, over runs with the same seeds."""
    people = population_of(baskets, is_public=True, transactions=None, items=None, unit=Unit())
    found = Simulator(people, {"privbasis": pm.Pipeline()}).forecast(Attempt("privbasis", 30, Fraction(3, 10)), 6, 6)
    top, _ = baskets.store.top_itemsets(30)
    shares, errors, unclear = [], [], []
    for seed in range(6):
        release = pm.mine(baskets, 30, "0.3", simulate=True, seed=seed)
        released = [tuple(sorted(found.items)) for found in release]
        shares.append(false_negative_rate(released, {tuple(itemset) for itemset in top}))
        errors += [row.count - exact for row, exact in zip(release, baskets.store.supports(released), strict=True)]
        unclear.append(len(release) - release.verdict.above_zero)
    assert found.missed == pytest.approx(np.mean(shares))
    assert found.error == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert found.unclear == pytest.approx(np.mean(unclear))
    assert 0 < found.unclear < 30
    assert found.runs == 6


def test_every_question_has_a_sentence(advised) -> None:
    """What would be missed, what is noise, how far counts are off; then what is sensible."""
    advice = advised.advice
    assert [(found.k, float(found.epsilon)) for found in advice.best] == [(10, 0.1), (10, 1), (200, 0.1), (200, 1)]
    *each, last = advice.sentences()
    assert len(each) == 4
    for sentence, found in zip(each, advice.best, strict=True):
        assert sentence.startswith(f"k = {found.k} at ε = {float(found.epsilon):g}: ")
        assert "would miss" in sentence
        assert "clearly above 0" in sentence
    assert "hopeless" in each[2]
    assert last.startswith("Sensible: k = ")
    assert (advised.k, advised.epsilon, advised.method) == (
        advice.sensible.k, advice.sensible.epsilon, advice.sensible.method,
    )  # fmt: skip
    assert advice.sensible.missed <= 0.25


def test_all_methods_are_simulated_and_the_best_comes_first(advised) -> None:
    """So that one can be recommended; a method that was named is alone."""
    advice = advised.advice
    for one in advice.best:
        rows = [found for found in advice.forecasts if (found.k, found.epsilon) == (one.k, one.epsilon)]
        assert {found.method for found in rows} == set(installed_methods())
        assert one.missed == min(found.missed for found in rows)


def test_the_same_question_has_the_same_answer(baskets) -> None:
    """Seeds are fixed, and no clock decides."""
    asked = {"k": [5, 40], "epsilon": 1, "like": baskets, "like_is_public": True, "method": "privbasis"}
    one, other = (pm.plan(**asked).advice for _ in range(2))
    assert one.forecasts == other.forecasts
    assert {found.method for found in one.forecasts} == {"privbasis"}
    assert all(found.missed_error <= 0.012 or found.runs == 40 for found in one.forecasts)


def test_a_smaller_k_is_looked_for_where_none_is_sensible(baskets) -> None:
    """And named with what it would miss."""
    advice = pm.plan(k=60, epsilon="0.2", like=baskets, like_is_public=True, method="privbasis", runs=3).advice
    assert advice.best[0].missed > 0.25
    assert advice.sensible.k < 60
    assert "which would miss" in advice.sentences()[-1]


def test_sizes_alone_are_enough() -> None:
    """One k, one ε and the number of transactions: advice on made-up baskets beside the plan."""
    made = pm.plan(k=100, epsilon="0.1", transactions=1000, method="privbasis", runs=2)
    assert "hopeless" in made.advice.sentences()[0]
    assert "bought independently" in str(made)
    assert made.sizes
    assert pm.plan(k=20, epsilon=1, transactions=1000, lam=12).advice is None


def test_a_plan_with_advice_can_be_shown_and_written(advised) -> None:
    """As text, as HTML and as JSON."""
    assert "Sensible: " in repr(advised)
    assert str(advised).startswith("Simulated on: 3,000 transactions over 60 items")
    assert "<table>" in advised._repr_html_()
    facts = json.loads(json.dumps(advised.to_dict()))["advice"]
    assert facts["words"] == advised.advice.sentences()
    assert {"missed", "verdict", "method"} <= set(facts["forecasts"][0])


def test_the_epsilon_for_what_is_wanted(baskets) -> None:
    """It gives what is wanted; more is asked of a larger ε."""
    asked = {"like": baskets, "like_is_public": True, "method": "privbasis", "runs": 4}
    some = pm.plan(wanted="find everything above 20 %", **asked)
    more = pm.plan(wanted="find everything above 8 %", **asked)
    assert some.advice.wanted_epsilon < more.advice.wanted_epsilon
    assert more.epsilon == more.advice.wanted_epsilon
    assert "find everything above 8 %" in more.advice.sentences()[0]
    apart = pm.plan(wanted="tell 10 % from 20 %", **asked).advice
    closer = pm.plan(wanted="tell 18 % from 20 %", **asked).advice
    assert apart.wanted_epsilon < closer.wanted_epsilon
    assert apart.sensible.error * 1.645 * 2**0.5 <= 300 * 1.2


def test_a_k_that_is_too_small_for_what_is_wanted_is_refused(baskets) -> None:
    """With one that is not."""
    with pytest.raises(InputError, match="larger k"):
        pm.plan(k=2, wanted="find everything above 5 %", like=baskets, like_is_public=True)


@pytest.mark.parametrize("k", [None, 1001])
def test_more_itemsets_than_are_simulated_are_refused(k: int | None) -> None:
    """So that an ε for the first of them is not said to find them all."""
    alike = pm.Transactions.from_lists([range(11)] * 50)  # 2,047 itemsets, all in every basket
    told = f"more than {k or 1000:,} itemsets"
    with pytest.raises(InputError, match=told):
        pm.plan(k=k, wanted="find everything above 90 %", like=alike, like_is_public=True)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"wanted": "find everything above 2 %", "epsilon": 1, "like": "zipf"}, "neither"),
        ({"k": [20, 200], "epsilon": 1}, "transactions="),
        ({"k": [20, 200], "epsilon": 1, "transactions": 100, "lam": 12}, "lam="),
        ({"k": [], "epsilon": 1, "transactions": 100}, "No k"),
        ({"k": "20,x", "epsilon": 1, "transactions": 100}, "whole number"),
        ({"k": [20, 20_000], "epsilon": 1, "transactions": 100}, "at most 10,000"),
        ({"k": 20, "epsilon": [1, 0], "transactions": 100}, "greater than 0"),
        ({"k": 20, "epsilon": 1, "like_is_public": True}, "like= is missing"),
        ({"k": 20, "epsilon": 1, "like": "zipf", "runs": 0}, "runs="),
        ({"k": 20, "epsilon": 1, "like": "zipf", "runs": 1}, "at least 2"),
        ({"k": 20, "epsilon": 1, "like": "zipf", "transactions": 0}, "at least 1"),
        ({"k": 20}, "wanted="),
    ],
)
def test_impossible_questions_are_refused(asked, told: str) -> None:
    """A sentence each."""
    with pytest.raises(InputError, match=told):
        pm.plan(**asked)


@pytest.mark.parametrize("transactions", [1, 3, 10**9])
def test_extreme_sizes_are_planned(transactions: int) -> None:
    """One transaction is all noise, and a billion are none."""
    advice = pm.plan(k=[5, 10], epsilon=1, like="zipf", transactions=transactions, method="privbasis", runs=2).advice
    assert advice.transactions == transactions
    missed = [found.missed for found in advice.best]
    assert min(missed) > 0.5 if transactions < 10 else max(missed) < 0.2


def test_a_hint_names_the_better_method_and_both_shares(baskets, monkeypatch) -> None:
    """Only where it misses notably less; the release alone is looked at."""
    release = pm.mine(baskets, 100, 1, simulate=True, seed=2)
    usual, rival = better_method(release)
    assert usual.missed > rival.missed + 0.05
    told = hint(release)
    assert f"misses {rival.missed:.0%}".replace("%", " %") in told
    assert "method=plus" in told
    assert "these baskets lack what this release missed" in told
    assert hint(pm.mine(baskets, 3, 100, simulate=True, seed=2)) is None
    monkeypatch.setattr("privmine.planning.better_method.installed_methods", lambda: {"privbasis": pm.Pipeline()})
    assert hint(release) is None


@pytest.mark.statistics
def test_both_definitions_are_simulated_and_the_better_one_is_named(baskets) -> None:
    """What each would miss is what runs under it miss; pure ε is kept unless a δ misses clearly less."""
    asked = {"like": baskets, "like_is_public": True, "method": "privbasis", "runs": 4}
    made = pm.plan(k=[5, 100], epsilon=1, delta="1e-6", **asked)
    advice = made.advice
    for found in advice.forecasts:
        top, _ = baskets.store.top_itemsets(found.k)
        runs = [pm.mine(baskets, found.k, 1, delta=found.delta, simulate=True, seed=seed) for seed in range(4)]
        shares = [
            false_negative_rate([tuple(sorted(row.items)) for row in run], {tuple(itemset) for itemset in top})
            for run in runs
        ]
        assert found.missed == pytest.approx(np.mean(shares))
    assert {(found.k, found.delta) for found in advice.forecasts} == {
        (k, delta) for k in (5, 100) for delta in (None, Fraction(1, 10**6))
    }
    few, many = (sentence for sentence in advice.sentences() if sentence.startswith("Definition for k = "))
    assert "keep pure ε" in few or "pure ε is better" in few
    assert "δ = 1e-06 is better" in many
    assert [found.delta for found in advice.best] == [None, Fraction(1, 10**6)]
    assert (made.epsilon, made.delta) == (advice.sensible.epsilon, advice.sensible.delta)
    assert advice.table()[0][:4] == ("k", "ε", "δ", "method")
    assert json.loads(json.dumps(made.to_dict()))["advice"]["forecasts"][0]["delta"] in (None, "1/1000000")


@pytest.mark.statistics
def test_what_is_wanted_has_an_epsilon_under_each_definition(baskets) -> None:
    """The smaller one is advised, and the other one is told."""
    made = pm.plan(
        wanted="find everything above 3 %", delta="1e-6", like=baskets, like_is_public=True, method="privbasis", runs=3
    )
    pure, relaxed = sorted(made.advice.forecasts, key=lambda found: found.delta is not None)
    assert made.advice.wanted_epsilon == min(pure.epsilon, relaxed.epsilon)
    told = made.advice.sentences()[0]
    assert f"ε = {float(pure.epsilon):g}" in told
    assert f"ε = {float(relaxed.epsilon):g}" in told


@pytest.mark.parametrize(
    ("pure", "relaxed", "is_relaxed"), [(0.5, 0.3, True), (0.5, 0.495, False), (0.3, 0.5, False), (0.5, 0.45, False)]
)
def test_a_delta_is_preferred_only_where_it_misses_clearly_less(pure, relaxed, is_relaxed: bool) -> None:
    """By more than a hundredth, and by more than two standard errors of the difference."""
    rows = [
        Forecast("m", 5, Fraction(1), 3, missed, 0.03, 5, 0, 1.0, None, None, delta)
        for missed, delta in ((pure, None), (relaxed, Fraction(1, 10**6)))
    ]
    assert preferred(rows) is rows[is_relaxed]


@pytest.mark.parametrize(("share", "told"), [(0, "0 %"), (2e-16, "0 %"), (0.0123, "1 %"), (0.123, "12 %")])
def test_shares_in_percent(share: float, told: str) -> None:
    """No more digits than they deserve; rounding errors of a mean are none."""
    assert percent(share) == told


def test_what_a_release_leaves_open_is_a_range(baskets) -> None:
    """Both ends are simulated, and the worse one decides what is sensible; a release of bases has one end."""
    release = pm.mine(baskets, 80, 100, simulate=True, seed=2)
    asked = {"is_public": False, "transactions": None, "items": None, "unit": Unit()}
    one, two = (population_of(evolve(release, joint=joint), **asked) for joint in ("bases", ""))
    assert one.others is None
    assert two.others is not None
    assert two.others.store.count() == two.baskets.store.count()
    attempt = Attempt("privbasis", 30, Fraction(1, 2))
    found = Simulator(two, {"privbasis": pm.Pipeline()}).forecast(attempt, 2, 2)
    other = Simulator(evolve(two, baskets=two.others, others=None), {"privbasis": pm.Pipeline()})
    assert found.missed_otherwise == other.forecast(attempt, 2, 2).missed
    for ends in ((0.1, 0.4), (0.4, 0.1)):
        ranged = evolve(found, missed=ends[0], missed_otherwise=ends[1])
        assert "poor, since privbasis would miss 3 to 12 of the 30 most frequent itemsets (10 % to 40 %)" in judged(
            ranged
        )
    advice = advise(two, {"privbasis": pm.Pipeline()}, [30], [Fraction(1, 2)], runs=2)
    assert any("One end of a range" in note for note in advice.notes)
    assert advice.to_dict()["forecasts"][0]["missed_otherwise"] == found.missed_otherwise


def test_a_plan_protects_whom_the_earlier_release_protects() -> None:
    """Unless another unit is named; and the advice says so."""
    lines = [["a", "b"], ["a"], ["b", "c"], ["a", "c"]] * 500
    customers = [f"c{row // 4}" for row in range(len(lines))]
    data = pm.read(lines, items=["a", "b", "c"], unit=customers, max_baskets=4)
    earlier = pm.mine(data, 4, 2, simulate=True, seed=1)
    asked = {"k": 3, "epsilon": 1, "like": earlier, "method": "privbasis", "runs": 2}
    same, single = pm.plan(**asked), pm.plan(**asked, unit="somebody", max_baskets=1)
    assert (same.unit.baskets, same.advice.unit.baskets) == (4, 4)
    assert "to protect one unit, of whose transactions at most 4 are counted" in str(same.advice)
    assert (single.unit.name, single.unit.baskets) == ("somebody", 1)
    assert same.advice.best[0].error > 2 * single.advice.best[0].error


def test_mostly_noise_is_not_sensible() -> None:
    """However little is missed; and a k that no release can have is told."""
    nothing_missed = Forecast("m", 7, Fraction(1), 3, 0.0, 0.0, listed=7, unclear=7, error=4.0, relative_error=None,
                              found_from=None)  # fmt: skip
    assert judged(nothing_missed).startswith("k = 7 at ε = 1: poor")
    assert "no count would be clearly above 0" in judged(nothing_missed)
    assert judged(evolve(nothing_missed, unclear=3)).startswith("k = 7 at ε = 1: good")
    advice = pm.plan(k=[1000, 7], epsilon=1, items=3, transactions=5, method="privbasis", runs=3).advice
    assert advice.sensible is None
    assert "Only 7 itemsets are possible with 3 items" in str(advice)
