from __future__ import annotations

import json
from fractions import Fraction
from math import comb, log, sqrt
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privmine as pm
from privmine.api import BasisSet, Curator, NoiseSum, NoisyCounts, Supports, hookimpl
from privmine.errors import InputError, PrivmineError
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline.request import Wish
from privmine.planning.planner import around
from privmine.privacy import DiscreteLaplace, Noise
from privmine.privacy.definition import ZCDP
from privmine.privacy.unit import Unit


@frozen
class Moody:
    """States errors that change with the answers.

    Privacy: one Laplace measurement of supports.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        itemsets = [(item,) for item in sorted({item for found in basis.bases for item in found})]
        answer = curator.measure(Supports((*itemsets, ())))
        errors = np.sqrt(1.0 + np.abs(answer.values[:-1]))
        return NoisyCounts(itemsets, answer.values[:-1], errors, answer.values[-1], 1.0)


@frozen
class Failing:
    """Has no answer.

    Privacy: looks at nothing.
    """

    @hookimpl
    def reconstruct_counts(self) -> NoisyCounts:
        raise ValueError("it needs more than that.")


class Watcher:
    """Keeps what the stages returned."""

    construct_basis: BasisSet

    @hookimpl
    def stage_finished(self, stage: str, result: object) -> None:
        setattr(self, stage, result)


def bin_noise(scale: Any) -> Noise:
    """The noise of a release."""
    return DiscreteLaplace(Fraction(scale))


@pytest.mark.parametrize(("width", "length", "baskets"), [(1, 12, 1), (18, 5, 1), (3, 1, 4)])
def test_given_width_and_length_the_errors_are_exact(width: int, length: int, baskets: int) -> None:
    """An itemset of s items is a sum of 2^(ℓ−s) bins, each with noise of scale w·M/ε₃."""
    made = pm.plan(50, "0.8", lam=20, bases=width, length=length, unit="shop", max_baskets=baskets)
    noise = bin_noise(Fraction(width * baskets) / Fraction("0.4"))
    assert [found.size for found in made.sizes] == list(range(1, length + 1))
    for found in made.sizes:
        bins = 2 ** (length - found.size)
        law = NoiseSum(noise, [(bins, 1.0)])
        assert found.low == found.high == found.most == pytest.approx(sqrt(bins * noise.variance), rel=1e-12)
        assert found.told_low == found.told_high == pytest.approx(law.half_width(0.95), rel=1e-12)


def test_tf_counts_each_itemset_with_the_number_of_transactions() -> None:
    """k supports and N share one half of ε, so that the scale is 2(k+1)/ε, for items as for pairs."""
    made = pm.plan(40, 2, method="tf", items=500)
    assert made.lams == ()
    assert [found.size for found in made.sizes] == [1, 2]
    for found in made.sizes:
        assert found.low == found.high == pytest.approx(sqrt(bin_noise(41).variance))
    (choice,) = made.choices
    assert (choice.draws, choice.candidates) == (40, 500 + comb(500, 2))


def test_a_plan_states_the_errors_that_a_release_states() -> None:
    """For the bases of a private run, the errors of its itemsets are among the planned ones, to the last bit."""
    watcher = Watcher()
    release = pm.Pipeline().run(pm.groceries(), 40, "1.5", observers=[watcher])
    made = pm.plan(40, "1.5", bases=watcher.construct_basis)
    planned = {found.size: found for found in made.shapes[0].sizes}
    for found in release:
        of_size = planned[len(found.items)]
        assert of_size.least <= found.standard_error <= of_size.most
    assert {found.standard_error for found in release} & {errors.most for errors in planned.values()}


@pytest.mark.parametrize(
    ("k", "most_length"),
    [
        (12, 12),
        pytest.param(40, 12, marks=pytest.mark.statistics),
        pytest.param(40, 3, marks=pytest.mark.statistics),
    ],
)
def test_planned_errors_are_the_measured_ones(k: int, most_length: int) -> None:
    """Over 800 reconstructions of fixed bases; and the measured errors lie in the range for the run's λ."""
    baskets, watcher = pm.groceries(), Watcher()
    pipeline = pm.Pipeline(construct_basis={"max_length": most_length})
    pipeline.run(baskets, k, 1, simulate=True, seed=3, observers=[watcher])
    basis, lam = watcher.construct_basis, watcher.estimate_lambda.lam  # type: ignore[attr-defined]
    request = Wish(k, 1).request(baskets)
    last = evolve(request, budget=request.budget / 2)
    plan = pipeline.prepare(request).plan()
    squares: Any = 0.0
    for seed in range(800):
        run = pipeline.prepare(last)
        access = run.access(baskets.store, SimulatedNoise(seed), lambda _: False)
        counts = run.stage("reconstruct_counts", plan, access, basis=basis)
        if not seed:
            truth = baskets.store.supports(list(counts.itemsets))
        squares += (counts.counts - truth) ** 2
    lengths = counts.itemsets.lengths
    facts = {"k": k, "epsilon": 1, "items": len(baskets.universe), "lam": lam, "pipeline": pipeline}
    exact, spread = pm.plan(**facts, bases=basis), pm.plan(**facts)
    for size in range(1, 4):
        measured = sqrt(np.mean(squares[lengths == size]) / 800)
        assert exact.errors(size).high == pytest.approx(measured, rel=0.04)
        if len(spread.shapes) > 1:
            assert spread.errors(size).low < measured < spread.errors(size).high
        else:
            assert spread.errors(size).high == pytest.approx(measured, rel=0.04)


@pytest.mark.parametrize("method", ["privbasis", "tf"])
def test_shares_are_those_of_the_run(method: str) -> None:
    """The budget is divided by the pipeline's own component, and sums to ε exactly."""
    made = pm.plan(20, "0.7", method=method, lam=5)
    release = pm.mine(pm.groceries(), 20, "0.7", method=method, simulate=True, seed=1)
    charged = {
        charge.stage: charge.cost.amount for charge in reversed(release.receipt.charges) if "select" not in charge.stage
    }
    planned = {share.stage: share.cost.amount for share in made.shares}
    assert sum(planned.values()) == Fraction("0.7")
    for stage, epsilon in charged.items():
        assert planned[stage] == epsilon


def test_noise_grows_with_the_baskets_of_a_customer() -> None:
    """Five baskets a customer: five times the scale, in counts and in choices."""
    one, five = pm.plan(30, "0.1", lam=10), pm.plan(30, "0.1", lam=10, unit="customer_id", max_baskets=5)
    assert five.unit == Unit("customer_id", 5)
    assert five.errors(1).high / one.errors(1).high == pytest.approx(5, rel=1e-3)
    assert five.choices[0].lead == pytest.approx(5 * one.choices[0].lead)


def test_without_lambda_all_that_it_can_be_is_tried() -> None:
    """The range for an unknown λ holds those for known ones."""
    unknown = pm.plan(60, 1)
    assert (unknown.lams[0], unknown.lams[-1]) == (7, 60)
    for lam in (7, 13, 60):
        known = pm.plan(60, 1, lam=lam)
        assert unknown.errors(1).low <= known.errors(1).low
        assert known.errors(1).high <= unknown.errors(1).high


@pytest.mark.parametrize("lam", [2, 6, 101])
def test_a_lambda_that_no_run_can_draw_is_refused(lam: int) -> None:
    """With the range of those that it can."""
    with pytest.raises(InputError, match="between 7 and 100"):
        pm.plan(100, 1, lam=lam)
    assert pm.plan(100, 1, lam=7).lams == (7,)


def test_lambda_that_costs_nothing_is_public() -> None:
    """With as many itemsets asked for as there are, every item is needed, whatever was assumed."""
    made = pm.plan(3, 1, items=2, lam=1)
    assert made.lams == (2,)


def test_points_agree_with_the_plan() -> None:
    """The plan's own ε is one of the points, errors fall with ε, and every frame row is one of them."""
    made = pm.plan(30, "0.3", lam=15, transactions=1000)
    epsilons = [point.epsilon for point in made.points]
    assert epsilons == sorted({*around(Fraction("0.3"))})
    assert Fraction("0.3") in epsilons
    own = next(point for point in made.points if point.epsilon == made.epsilon)
    assert (own.sizes, own.choices) == (made.sizes, made.choices)
    highs = [point.sizes[0].high for point in made.points]
    assert highs == sorted(highs, reverse=True)
    frame = made.to_pandas()
    assert len(frame) == sum(len(point.sizes) for point in made.points)
    assert (frame["high_frequency"] * 1000).to_list() == pytest.approx(frame["high"].to_list())
    assert "high_frequency" not in pm.plan(30, 1, lam=6).to_pandas()


@pytest.mark.parametrize("size", [None, 2])
def test_the_target_epsilon_reaches_the_error_and_no_smaller_one_does(size: int | None) -> None:
    """Of all ε of three digits it is the smallest one; the plan is made for it."""
    made = pm.plan(40, target_error=25, target_size=size, lam=20)
    assert made.epsilon == made.target_epsilon
    watched = [found for found in made.sizes if size in (None, found.size)]
    assert max(found.high for found in watched) <= 25
    digits = made.epsilon / Fraction(f"1e{len(str(int(made.epsilon))) - 3}")
    assert digits.denominator == 1
    before = pm.plan(40, made.epsilon * (digits - 1) / digits, lam=20)
    assert max(before.errors(found.size).high for found in watched) > 25


def test_an_error_may_be_a_percentage() -> None:
    """A tenth of a percent of 50,000 transactions is 50."""
    by_share = pm.plan(40, target_error="0.1%", transactions=50_000, lam=10)
    assert by_share.target_epsilon == pm.plan(40, target_error=50, lam=10).target_epsilon


def test_with_both_given_the_plan_is_for_epsilon() -> None:
    """And the target's ε is told besides."""
    made = pm.plan(40, 1, target_error=10, lam=10)
    assert made.epsilon == 1
    assert made.target_epsilon == pm.plan(40, target_error=10, lam=10).epsilon


def test_longer_itemsets_are_left_out_on_request() -> None:
    """max_length limits the sizes, and for single items no pairs are selected."""
    assert [found.size for found in pm.plan(40, 1, lam=20, max_length=2).sizes] == [1, 2]
    assert len(pm.plan(40, 1, lam=20, max_length=1).choices) == 1


def test_components_of_others_can_be_planned() -> None:
    """Nothing in a plan is special to the default pipeline: one basis of 14 items has 2^14 bins."""
    made = pm.plan(40, 1, lam=20, pipeline=pm.Pipeline(construct_basis={"use": "single", "max_length": 14}))
    assert len(made.shapes) == 1
    assert [found.size for found in made.sizes] == list(range(1, 15))
    assert made.errors(3).low == made.errors(3).high == pytest.approx(sqrt(2**11 * bin_noise(2).variance))


def test_errors_that_depend_on_the_data_are_not_made_up() -> None:
    """The plan says so, and still tells the shares and what the selection can do."""
    moody = pm.Pipeline(reconstruct_counts=Moody())
    made = pm.plan(10, 1, lam=5, pipeline=moody)
    assert (made.sizes, made.points) == ((), ())
    assert made.choices[0].draws == 5
    assert "depend on the data" in str(made)
    for use in (lambda: made.errors(1), made.plot, lambda: pm.plan(10, target_error=5, lam=5, pipeline=moody)):
        with pytest.raises(InputError, match="depend on the data"):
            use()


def test_a_component_that_fails_without_data_is_named() -> None:
    """With its own reason, and without a word on charges, since there are none."""
    made = pm.plan(10, 1, lam=5, pipeline=pm.Pipeline(reconstruct_counts=Failing()))
    assert made.unknown == (
        "reconstruct_counts=Failing from local code cannot be planned without data: it needs more than that."
    )


def test_a_pipeline_that_cannot_run_cannot_be_planned() -> None:
    """A selection that needs λ, and an estimate that has none."""
    with pytest.raises(InputError, match="cannot be planned without data: items-and-pairs needs λ"):
        pm.plan(10, 1, pipeline=pm.Pipeline(estimate_lambda="none"))


def test_the_ledger_is_looked_up_and_not_charged(tmp_path) -> None:
    """What would remain, or why the run would be refused."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2)
    fits = pm.plan(10, "0.5", lam=5, ledger=ledger, dataset="orders")
    assert (fits.remaining, fits.refusal) == (Fraction(3, 2), None)
    beyond = pm.plan(10, 3, lam=5, ledger=tmp_path / "budget.db", dataset="orders")
    assert beyond.remaining is None
    assert beyond.refusal is not None
    assert beyond.refusal.startswith("The run would be refused: ")
    assert ledger.budget("orders").remaining_epsilon == 2


def test_the_unit_of_a_ledger_is_that_of_the_plan(tmp_path) -> None:
    """Unnamed customers are those of the ledger; another unit is refused as the run would be."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2, unit="customer_id")
    made = pm.plan(10, 1, lam=5, max_baskets=3, ledger=ledger, dataset="orders")
    assert made.unit.name == "customer_id"
    assert made.remaining == 1
    with pytest.raises(InputError, match="customer_id"):
        pm.plan(10, 1, lam=5, ledger=ledger, dataset="orders")


def test_a_plan_is_json() -> None:
    """Exact amounts as text, no bases of made-up items."""
    made = pm.plan(30, "1/3", lam=14, target_error=500)
    facts = json.loads(json.dumps(made.to_dict()))
    assert facts["epsilon"] == "1/3"
    assert facts["shapes"][0]["lengths"]
    assert "basis" not in facts["shapes"][0]


def test_a_delta_is_planned_beside_pure_epsilon() -> None:
    """Both in full, with the closed forms of each, and a sentence on which is better."""
    made = pm.plan(100, 1, delta="1e-6", lam=38, items=16470)
    assert (made.delta, made.pure.delta) == (Fraction(1, 10**6), None)
    assert made.pure == pm.plan(100, 1, lam=38, items=16470)
    rho = ZCDP(made.delta).budget(Fraction(1)).amount
    assert [share.cost.amount for share in made.shares] == [rho / 10, rho * 2 / 5, rho / 2]
    items, pairs = made.choices
    # A draw at the rate r costs r²/8, since supports are monotone.
    rate = sqrt(8 * float(rho) * 0.4 / (items.draws + pairs.draws))
    assert items.gap == pytest.approx(log(19) / rate)
    assert items.lead < made.pure.choices[0].lead / 5
    assert made.errors(1).high < made.pure.errors(1).high
    assert "Definition: a δ is better here; " in str(made)
    facts = json.loads(json.dumps(made.to_dict()))
    assert facts["delta"] == "1/1000000"
    assert set(facts["shares"][0]) == {"stage", "component", "rho"}
    assert set(facts["pure"]["shares"][0]) == {"stage", "component", "epsilon"}


def test_without_draws_and_with_one_basis_pure_epsilon_is_better() -> None:
    """One histogram needs 2.3 times the noise with δ = 10⁻⁶; what the choice gains is told beside it."""
    made = pm.plan(20, 1, delta="1e-6", lam=8)
    assert made.errors(1).high / made.pure.errors(1).high == pytest.approx(2.27, abs=0.05)
    assert "which is better depends on the data" in str(made)
    tied = pm.plan(20, 1, delta="1e-6", method="plus", items=50)
    assert "Definition: " in str(tied)


def test_a_target_error_has_an_epsilon_under_each_definition() -> None:
    """Both are told."""
    made = pm.plan(100, delta="1e-6", lam=38, target_error=100, target_size=2)
    assert made.target_epsilon < made.pure.target_epsilon
    assert f"δ = 1e-06, or pure ε = {float(made.pure.target_epsilon):g}, makes" in str(made)


def test_the_ledger_is_asked_for_the_delta_too(tmp_path) -> None:
    """A budget in pure ε refuses it; one that adds up ρ has more left than one of sums."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2)
    ledger.init("both", 2, delta="1e-5", composition="sums")
    ledger.init("rho", 2, delta="1e-5")
    assert "δ" in pm.plan(10, 1, delta="1e-6", lam=5, ledger=ledger, dataset="orders").refusal
    found = pm.plan(10, 1, delta="1e-6", lam=5, ledger=ledger, dataset="both")
    assert (found.refusal, found.remaining) == (None, 1)
    found = pm.plan(10, 1, delta="1e-6", lam=5, ledger=ledger, dataset="rho")
    assert found.refusal is None
    assert 1 < found.remaining < 2


@pytest.mark.parametrize("delta", [0, 1, "x", float("nan"), -1])
def test_an_impossible_delta_is_refused(delta) -> None:
    """As in a run."""
    with pytest.raises(InputError):
        pm.plan(10, 1, delta=delta, lam=5)


def test_a_delta_that_promises_little_is_questioned() -> None:
    """From the number of transactions that was given."""
    assert "larger than 1 divided by 1,000" in str(pm.plan(10, 1, delta="0.01", transactions=1000, lam=5))
    assert "larger than 1" not in str(pm.plan(10, 1, delta="1e-6", transactions=1000, lam=5))


def test_choices_are_told_in_closed_form() -> None:
    """λ and λ₂ draws share ε₂, so that each has the rate ε₂/(λ+λ₂)."""
    made = pm.plan(100, 1, lam=38, items=16470)
    items, pairs = made.choices
    rate = 0.4 / (items.draws + pairs.draws)
    assert (items.draws, items.candidates, pairs.candidates) == (38, 16470, comb(38, 2))
    assert items.gap == pytest.approx(log(19) / rate)
    assert items.lead == pytest.approx(log(19 * (16470 - 38)) / rate)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    k=st.integers(-1, 40),
    epsilon=st.one_of(st.none(), st.sampled_from(["0", "1/7", "2.5", "1e9", "x", ""]), st.floats()),
    items=st.integers(-1, 60),
    lam=st.one_of(st.none(), st.integers(-1, 60)),
    bases=st.one_of(st.none(), st.integers(-1, 5), st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=3)),
    length=st.one_of(st.none(), st.integers(-1, 6)),
    max_length=st.one_of(st.none(), st.integers(-1, 4)),
    unit=st.sampled_from([None, "customer_id"]),
    max_baskets=st.integers(0, 3),
    target_error=st.one_of(st.none(), st.sampled_from(["0", "3", "2%", "-1", "%", 1e-30])),
    method=st.sampled_from(["privbasis", "tf"]),
)
def test_any_question_is_answered_or_refused_in_a_sentence(**question: Any) -> None:
    """No combination of numbers ends in anything but a plan or an error that can be mended."""
    try:
        made = pm.plan(**question)
    except PrivmineError as refusal:
        assert str(refusal).endswith(".")  # noqa: PT017 - most questions are refused, some are not
    else:
        assert all(0 <= found.low <= found.high <= found.most for found in made.sizes)
        assert str(made)
