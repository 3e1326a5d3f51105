"""What a wrong version of the method would give away, and that it is noticed.

A pipeline is replayed on neighbours with the same noisy answers: whatever differs then was decided by exact
data. Each mutant below does one forbidden thing.
"""

from __future__ import annotations

import random

import numpy as np
import privmine_plus.levels as levels
import pytest
from attrs import evolve, frozen
from privmine_plus.budget import scale_of
from privmine_plus.estimate import NoisyThreshold
from privmine_plus.levels import BoundedLevels
from privmine_plus.looks import UNIT
from privmine_plus.noisy_items import NoisyItems
from privmine_plus.refine import Refine
from privmine_plus.regime import is_dense

from privmine import Pipeline, Transactions
from privmine.api import (
    BoundedSupports,
    Elements,
    Estimate,
    HeldHistogram,
    RankSupport,
    Sensitivity,
    WeightedSupports,
    fair_weights,
    hookimpl,
)
from privmine.audit.cases import Case
from privmine.audit.replay import replay
from privmine.noise.simulated import SimulatedNoise

#: More than the 20 items up to which the universe alone decides.
ITEMS = 24
BUDGETS = ("1/10", "2", "50")


def cases(count=12):
    """Neighbours with a few frequent items, pairs and triples; some are given in another order."""
    for seed in range(count):
        made = random.Random(seed)  # noqa: S311 - made-up data
        core = made.sample(range(ITEMS), 5)
        rows = [
            [*made.sample(core, made.randint(0, 5)), *made.sample(range(ITEMS), made.randint(0, 3))]
            for _ in range(made.choice([3, 20, 60]))
        ]
        yield Case(
            items=ITEMS,
            transactions=rows,
            extra=made.choice([core, range(ITEMS), []]),
            k=made.choice([3, 12]),
            epsilon=made.choice(BUDGETS),
            reordered=bool(seed % 2),
            removed=bool(seed % 3),
            seed=seed,
        )


def near_the_gate():
    """Neighbours on both sides of each border of k·θ/N, if exact numbers were looked at: 12·50 against 10·N."""
    for empty in range(20):
        rows = [[0, 1, 2, 3]] * 50 + [[]] * empty
        yield Case(items=ITEMS, transactions=rows, extra=[], k=12, epsilon=BUDGETS[-1], seed=1)


def findings(these=cases, **stages):
    """All that replays of the pipeline find."""
    pipeline = Pipeline("plus", **stages)
    return [finding for case in these() for finding in replay(pipeline, case)]


def data_of(curator):
    """Reach around the curator, as careless code can."""
    return curator._access.store  # noqa: SLF001


def test_the_method_depends_on_data_through_noisy_answers_only():
    """Replayed on neighbours with frozen answers, nothing differs, and no query moves more than it declares."""
    assert not findings()
    assert not findings(near_the_gate)
    sparse = {"select_elements": "bounded-levels", "construct_basis": "first-fit", "reconstruct_counts": "refine"}
    assert not findings(**sparse)


class Deaf(SimulatedNoise):
    """Answers without hearing what the data says, so that whatever differs was decided by exact data."""

    def __init__(self, seed):
        super().__init__(seed)
        self._drawn = np.random.default_rng(seed)

    def add(self, values, noise):
        """Numbers of any size."""
        return self._drawn.uniform(0, 3000) * self._drawn.uniform(0, 1, len(values))

    def select(self, scores, n, rate, tail=None):
        """Any candidates."""
        return self._drawn.permutation(len(scores))[:n]

    def select_set(self, scores, n, rate, tail=None):
        """Any set."""
        return np.sort(self.select(scores, n, rate))


@pytest.mark.parametrize("options", [{"k": 40}, {"k": 40, "delta": "1e-6"}, {"theta": "0.1", "k_max": 50}], ids=str)
def test_the_same_answers_give_the_same_release_of_any_data(options):
    """Neighbours differ too little to be on both sides of a gate by exact counts; these differ in everything."""
    data = [[], [[]] * 7, [[*range(8)]] * 3000, [[row % ITEMS, 7 * row % ITEMS] for row in range(500)]]
    regimes = set()
    for seed in range(8):
        releases = [
            Pipeline("plus").run(Transactions.from_lists(rows, range(ITEMS)), epsilon=1, noise=Deaf(seed), **options)
            for rows in data
        ]
        for release in releases:
            assert release.receipt == releases[0].receipt
            assert (release.itemsets, release.total) == (releases[0].itemsets, releases[0].total)
        regimes.add(any("moments" in charge.query for charge in releases[0].receipt.charges))
    assert regimes == {True, False}


@frozen
class ThresholdBeforeNoise:
    """Tells θ as it is, after paying for it."""

    @hookimpl
    def estimate_lambda(self, request, curator):
        """Tell the truth."""
        NoisyThreshold().estimate_lambda(request, curator)
        _, supports = data_of(curator).top_itemsets(request.k)
        return Estimate(theta=float(supports[-1]) if len(supports) else 0.0)


@frozen
class ExactGate:
    """Chooses the method by the exact number of transactions."""

    @hookimpl
    def select_elements(self, request, curator, answers):
        """Look at the data."""
        found = BoundedLevels().select_elements(request, curator, answers)
        return found if data_of(curator).count() % 2 else Elements(found.items)


@frozen
class TiesByTheDataOrder:
    """Lists items as they first occur in the data."""

    @hookimpl
    def select_elements(self, request, curator, answers):
        """Look at the data."""
        found = BoundedLevels().select_elements(request, curator, answers)
        seen = dict.fromkeys(data_of(curator).rows.items.tolist())
        return Elements(sorted(found.items, key=lambda item: list(seen).index(item) if item in seen else -1))


@frozen
class GateByCounts:
    """Chooses the method by k·θ/N."""

    @hookimpl
    def select_elements(self, request, curator, answers):
        """Look at the data."""
        _, supports = data_of(curator).top_itemsets(request.k)
        dense = request.k * int(supports[-1]) > 10 * data_of(curator).count()
        return (NoisyItems() if dense else BoundedLevels()).select_elements(request, curator, answers)


def test_a_gate_by_exact_counts_is_found():
    """One transaction more or less is on the other side."""
    assert findings(near_the_gate, select_elements=GateByCounts())


@pytest.mark.parametrize(
    ("stage", "mutant"),
    [
        ("estimate_lambda", ThresholdBeforeNoise()),
        ("select_elements", ExactGate()),
        ("select_elements", TiesByTheDataOrder()),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_decisions_by_exact_data_are_found(stage, mutant):
    """θ before its noise, a gate on exact values, ties by the data's order: the replay tells them."""
    assert findings(**{stage: mutant})


def test_a_correction_by_exact_counts_is_found(monkeypatch):
    """What a bound has cut off must be estimated from the noisy histogram."""
    honest = levels.look

    def informed(request, curator, itemsets, *rest):
        found = honest(request, curator, itemsets, *rest)
        lengths = data_of(curator).lengths(None, ITEMS)
        return evolve(found, kept=1 / (1 + float(lengths @ np.arange(ITEMS + 1)) / 1000))

    monkeypatch.setattr(levels, "look", informed)
    assert findings(select_elements="bounded-levels")


class DeclaresItsBound(BoundedSupports):
    """Promises the bound that was meant, whatever its weights are."""

    @property
    def sensitivity(self):
        """What was meant."""
        return Sensitivity(2 * UNIT, 2 * UNIT**2, UNIT, monotone=True)


class CountsItems(BoundedSupports):
    """T is the number of items of a transaction, not of the itemsets that it contains."""

    def evaluate(self, store):
        """Weigh by items."""
        members = [frozenset(found) for found in self.itemsets]
        weights = [*self.weights.tolist(), *[0] * ITEMS]
        return store.sum(lambda t: [weights[len(t)] * found.issubset(t) for found in members], self.size, 2**40)


def step(query, extra):
    """By how much one transaction moves the answer in all."""
    before, after = (Transactions.from_lists(rows, range(ITEMS)).store for rows in ([[0]], [[0], extra]))
    return int(np.abs(query.evaluate(after) - query.evaluate(before)).sum())


def test_weights_that_are_rounded_up_are_paid_for():
    """Six itemsets of weight ⌈2000/6⌉ exceed the bound: the query says so, and a promise of the bound fails."""
    itemsets = [(item,) for item in range(7)]
    down = fair_weights(2, UNIT, 7)
    up = [-(-2 * UNIT // max(held, 2)) for held in range(8)]
    assert BoundedSupports(itemsets, down).sensitivity.l1 == 2 * UNIT
    assert BoundedSupports(itemsets, up).sensitivity.l1 == step(BoundedSupports(itemsets, up), range(6)) > 2 * UNIT
    assert step(DeclaresItsBound(itemsets, up), range(6)) > DeclaresItsBound(itemsets, up).sensitivity.l1


def test_what_a_transaction_holds_is_counted_among_the_candidates():
    """Five items contain ten pairs: weights by the number of items would add more than the bound."""
    pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
    weights = fair_weights(2, UNIT, 10)
    assert step(BoundedSupports(pairs, weights), range(5)) == 2 * UNIT
    assert step(CountsItems(pairs, weights), range(5)) > CountsItems(pairs, weights).sensitivity.l1


def test_the_gate_reads_noisy_answers_only():
    """The same answers give the same decision, and it changes with them."""
    asked = []

    @frozen
    class Listening:
        """Keeps what the stage is given."""

        @hookimpl
        def reconstruct_counts(self, request, basis, curator, answers):
            """Keep, and count."""
            asked.append((request, answers))
            return Refine().reconstruct_counts(request, basis, curator, answers)

    data = Transactions.from_lists([[*range(8)]] * 3000, range(ITEMS))
    stages = {"select_elements": "bounded-levels", "construct_basis": "first-fit", "reconstruct_counts": Listening()}
    Pipeline("plus", **stages).run(data, 200, 1, simulate=True, seed=1)
    ((request, answers),) = asked
    assert is_dense(request, answers)
    ranks = [isinstance(answer.query, RankSupport) for answer in answers]
    small = [
        evolve(answer, values=answer.values * 0) if rank else answer
        for answer, rank in zip(answers, ranks, strict=True)
    ]
    assert not is_dense(request, tuple(small))
    assert not is_dense(request, ())
    assert {type(answer.query) for answer in answers} >= {HeldHistogram, WeightedSupports}


def test_the_gate_opens_two_scales_above_ten():
    """k·θ̂/N̂ is 10 at the gate; only what exceeds it by more than two scales of the noise in θ̂ is dense."""
    asked = []

    @frozen
    class Listening:
        """Keeps what the stage is given."""

        @hookimpl
        def select_elements(self, request, answers):
            """Keep, and select nothing."""
            asked.append((request, answers))
            return Elements(())

    data = Transactions.from_lists([[*range(8)]] * 3000, range(ITEMS))
    Pipeline("plus", select_elements=Listening()).run(data, 200, 1, simulate=True, seed=1)
    ((request, answers),) = asked
    rank, total = answers[0], answers[1]
    scale, at_gate = scale_of(rank.noise), 10 * float(total.values[0]) / 200
    for scales, dense in ((1.9, False), (2.1, True)):
        moved = evolve(rank, values=np.array([at_gate + scales * scale]))
        assert is_dense(request, (moved, total)) is dense


@pytest.mark.parametrize(("share", "looks"), [(0.05, 2), (0.9, 1)])
def test_theta_is_measured_again_near_the_gate(share, looks):
    """200·θ/N is 10 where a twentieth of the transactions has all items: there a clear θ̂ is still measured twice."""
    rows = [[*range(8)]] * int(100_000 * share) + [[]] * int(100_000 * (1 - share))
    release = Pipeline("plus").run(Transactions.from_lists(rows, range(ITEMS)), 200, 1, simulate=True, seed=1)
    assert sum(charge.query == "support of itemset rank 200" for charge in release.receipt.charges) == looks
