"""Replays of what the engine asks itself: how many itemsets have a frequency, and which items occur."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import privmine.discovery
from privmine.api import Unit
from privmine.audit import Case, CustomerDatabase, replay
from privmine.audit.accounts import accounting
from privmine.audit.cases import some_cases
from privmine.audit.comparing import first_difference
from privmine.audit.customers import AnyCase, as_customers
from privmine.audit.recording import RecordingNoise, ReplayingNoise, WatchedCurator, observed_run, watched_pipeline
from privmine.audit.trace import Trace
from privmine.discovery import STAGE, ItemWeights
from privmine.model import IntArray
from privmine.noise.protocol import NoiseSource
from privmine.pipeline import Pipeline
from privmine.privacy.definition import ZCDP
from privmine.privacy.noise import Noise
from privmine.privacy.sensitivity import Sensitivity
from privmine.queries import RankAtFrequency
from privmine.store.transactions import Transactions

THETAS = ("1/100", "1/3", "1/2", "1")
METHODS = ("privbasis", "plus", "tf")


def with_theta(count: int, delta: str | None = None, seed: int = 0) -> list[Case]:
    """Pairs of neighbours of every kind, each with a frequency."""
    return [
        evolve(case, theta=THETAS[number % len(THETAS)], delta=delta)
        for number, case in enumerate(some_cases(count, seed))
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [None, "1/100"])
def test_how_many_itemsets_have_a_frequency(method: str, delta: str | None) -> None:
    """The draw of k is charged, priced by its norm and the same on neighbours; the stages share what is left."""
    pipeline = Pipeline(method)
    for case in with_theta(24, delta):
        assert replay(pipeline, case) == ()


@pytest.mark.statistics
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [None, "1/100"])
def test_how_many_itemsets_thoroughly(method: str, delta: str | None) -> None:
    """Five hundred pairs, and customers of several baskets."""
    pipeline = Pipeline(method)
    unit = Unit("customer", baskets=3)
    for case in with_theta(500, delta, seed=1):
        assert replay(pipeline, case) == ()
    for case in with_theta(100, delta, seed=2):
        assert replay(pipeline, as_customers(case, unit), CustomerDatabase(unit)) == ()


def rules(pipeline: Pipeline, cases: list[Case]) -> set[str]:
    """Which rules are broken, and by whom."""
    return {f"{finding.stage}: {finding.rule}" for case in cases for finding in replay(pipeline, case)}


def test_a_score_that_moves_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that declares half of what a transaction moves is found."""
    declared = RankAtFrequency.sensitivity.fget
    monkeypatch.setattr(RankAtFrequency, "sensitivity", property(lambda self: _half(declared(self))))
    assert "estimate_k: sensitivity" in rules(Pipeline(), with_theta(24))


def _half(found: Sensitivity) -> Sensitivity:
    return evolve(found, linf=found.linf / 2)


def test_scores_that_are_called_monotone(monkeypatch: pytest.MonkeyPatch) -> None:
    """θ·N rises with every transaction, so that some scores fall while others rise."""
    declared = RankAtFrequency.sensitivity.fget
    monkeypatch.setattr(RankAtFrequency, "sensitivity", property(lambda self: evolve(declared(self), monotone=True)))
    assert "estimate_k: direction" in rules(Pipeline(), with_theta(24))


def test_a_draw_at_a_rate_that_was_not_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the rate costs four times as much."""
    rate = ZCDP.rate_for
    monkeypatch.setattr(ZCDP, "rate_for", lambda *arguments: 2 * rate(*arguments))
    assert "estimate_k: scale" in rules(Pipeline(), with_theta(8, "1/100"))


# Which items occur: the items of one unit alone are named with a small probability, which the proof sets aside. Without
# such names, the weights of all other items must be the same two noisy measurements, and nothing else may differ.

UNNAMED = -(10**9)


class ItemsRecorded(RecordingNoise):
    """Noise of a recorded run, in which no item of one unit alone is named."""

    def __init__(self, trace: Trace, seed: int, occurring: IntArray, common: IntArray) -> None:
        super().__init__(trace, seed)
        self._occurring, self._common = occurring, common
        self._asked = False

    def add(self, values: IntArray, noise: Noise) -> Any:
        noisy = super().add(values, noise)
        if not self._asked:
            self._asked = True
            assert len(values) == len(self._occurring)
            noisy[~np.isin(self._occurring, self._common)] = UNNAMED
            self._trace.calls[-1].answer = noisy.copy()
        return noisy


class ItemsReplayed(ReplayingNoise):
    """The weights of the recorded run for the items that both have."""

    def __init__(self, trace: Trace, recorded: Trace, before: IntArray, now: IntArray) -> None:
        super().__init__(trace, recorded)
        first, self._before, self._now = recorded.calls[0], before, now
        self._frozen_weights = dict(zip(before.tolist(), first.answer.tolist(), strict=True))
        next(self._recorded)
        self._asked = False

    def add(self, values: IntArray, noise: Noise) -> Any:
        if self._asked:
            return super().add(values, noise)
        self._asked = True
        call = self._trace.drawn("measure", values, 0, noise)
        call.answer = np.array([self._frozen_weights.get(item, UNNAMED) for item in self._now.tolist()], dtype=np.int64)
        return call.answer.copy()


def weights_of(rows: Transactions) -> IntArray:
    """What `find_items` measures, item by item."""
    return np.asarray(ItemWeights().evaluate(rows.store))


def private_replay(pipeline: Pipeline, case: AnyCase, unit: Unit | None = None) -> list[str]:
    """What is wrong with two runs on neighbours whose items are private; nothing, if all is well."""
    made = CustomerDatabase(unit) if unit else lambda rows, items: Transactions.from_lists(rows, items=range(items))
    sides = [made(rows, case.items) for rows in case.databases]
    exact = [weights_of(side) for side in sides]
    occurring = [np.flatnonzero(weights > 0) for weights in exact]
    common = np.intersect1d(*occurring)
    first, second = Trace(), Trace()
    recorded = _observed(pipeline, sides[0], case, first, ItemsRecorded(first, case.seed, occurring[0], common))
    noise = ItemsReplayed(second, first, *occurring)
    replayed = _observed(pipeline, sides[1], case, second, noise, replays=True)
    wrong = []
    call, other = recorded.calls[0], replayed.calls[0]
    assert recorded.release is not None, recorded.failure
    charge = recorded.release.receipt.charges[0]
    assert charge.stage == STAGE
    declared = ItemWeights().sensitivity.times(unit.baskets if unit else 1)
    moved = exact[0][common] - exact[1][common]
    if np.square(moved).sum() > declared.l2_squared:
        wrong.append("the weights moved further than is declared")
    if charge.cost.definition.cost_of_noise(declared, call.factor) > charge.cost or call.factor != other.factor:
        wrong.append("the noise costs more than was charged")
    for trace, weighed in ((recorded, call), (replayed, other)):
        trace.events.remove(weighed)
        trace.budget = charge.cost.definition.budget(case.epsilon)
        settled = charge.cost
        wrong.extend(str(finding) for finding in accounting(trace) if finding.rule != "budget")
        if sum((one.charged for one in trace.calls), settled) > trace.budget:
            wrong.append("more was spent than there was")
    _, difference = first_difference(recorded, replayed)
    if difference is not None:
        wrong.append(str(difference))
    if recorded.messages != replayed.messages:
        wrong.append("the messages differ")
    if replayed.release is None or recorded.release.receipt != replayed.release.receipt:
        wrong.append("the receipts differ")
    return wrong


def _observed(
    pipeline: Pipeline,
    rows: Transactions,
    case: AnyCase,
    trace: Trace,
    noise: NoiseSource,
    *,
    replays: bool = False,
) -> Trace:
    def watch(curator: Any) -> WatchedCurator:
        return WatchedCurator(curator, trace, replays)

    watched = watched_pipeline(pipeline, trace, watch)
    return observed_run(watched, rows.hiding_items(), noise, trace, watch=watch, **case.request)


def private_cases(count: int, seed: int = 0) -> list[Case]:
    """Neighbours of every kind at budgets at which items are found; every other has an item of its own."""
    made = []
    for number, case in enumerate(some_cases(count, seed)):
        extra = (*case.extra, case.items) if number % 2 else case.extra
        made.append(
            evolve(
                case,
                items=case.items + 2,
                transactions=case.transactions * (1 + 40 * (number % 3)),
                extra=extra,
                epsilon=Fraction(20 if number % 4 else 1000),
                delta=Fraction(1, 10),
                theta=THETAS[number % 4] if number % 5 == 0 else None,
            )
        )
    return made


@pytest.mark.parametrize("method", METHODS)
def test_which_items_occur(method: str) -> None:
    """But for the items of one unit alone, runs on neighbours are the same function of the same noisy answers."""
    pipeline = Pipeline(method)
    found = set()
    for case in private_cases(24):
        assert private_replay(pipeline, case) == [], case
        found.add(case.items - 2 in case.extra)
    assert found == {True, False}


@pytest.mark.statistics
@pytest.mark.parametrize("method", METHODS)
def test_which_items_occur_thoroughly(method: str) -> None:
    """Four hundred pairs, and customers of several baskets."""
    pipeline, unit = Pipeline(method), Unit("customer", baskets=3)
    for case in private_cases(400, seed=1):
        assert private_replay(pipeline, case) == [], case
    for case in private_cases(100, seed=2):
        assert private_replay(pipeline, as_customers(case, unit), unit) == [], case


def private_findings(cases: int = 40) -> str:
    """All that is found on some pairs."""
    return " ".join(wrong for case in private_cases(cases) for wrong in private_replay(Pipeline(), case))


def test_weights_that_do_not_shrink_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction of many items that adds 1 to each moves the weights further than is declared."""
    monkeypatch.setattr(
        ItemWeights, "evaluate", lambda self, store: store.weighted_supports(1, None, np.full_like(self.weights, 4096))
    )
    assert "moved further" in private_findings()


def test_noise_that_was_not_paid_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of finding items is compared with its charge."""
    usual = ZCDP.noise_for

    def less(self: ZCDP, sensitivity: Sensitivity, cost: Any) -> Noise:
        found = usual(self, sensitivity, cost)
        return evolve(found, scale=found.scale / 2) if sensitivity == ItemWeights().sensitivity else found

    monkeypatch.setattr(ZCDP, "noise_for", less)
    assert "costs more than was charged" in private_findings(8)


def test_an_item_that_was_not_found_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A universe that depends on the items of one unit alone shows in what the stages are told."""
    usual = privmine.discovery.find_items

    def leaky(access: Any, cost: Any) -> Any:
        found = usual(access, cost)
        extra = int((np.asarray(access.store.item_supports()) > 0).sum()) - len(found.positions)
        return evolve(found, positions=found.positions[extra % 2 :], weights=found.weights[extra % 2 :])

    monkeypatch.setattr("privmine.pipeline.run.find_items", leaky)
    assert private_findings()
