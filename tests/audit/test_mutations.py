"""Mechanisms that leak, as people have written them: each is caught, and the verdict says why."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from attrs import frozen
from choosing_component import ChoosesBy
from slow_cases import slow_after

from privmine.api import (
    BasisSet,
    BinCounts,
    Elements,
    Estimate,
    ItemSupports,
    PairSupports,
    Query,
    RankGap,
    Sensitivity,
    WeightedSupports,
    hookimpl,
)
from privmine.audit import AuditReport, Effort, audit, mechanism_bound, quick_audit, sampler_checks, source_bounds
from privmine.curator import Curator, Meter
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.errors import InputError
from privmine.noise import secure
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.privacy import DiscreteLaplace, PureDP
from privmine.store import rows


def shown(report: AuditReport) -> AuditReport:
    """Print a report: `pytest -s` shows the verdict on every mutation."""
    print(report)
    return report


def data_of(curator: Curator):
    """Reach around the curator, as careless code can."""
    return curator._access.store


def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that notes what is spent and refuses nothing."""

    def charge(self: Meter, charge, limit) -> None:
        self.spent += charge.cost
        self.charges += (charge,)

    monkeypatch.setattr(Meter, "charge", charge)


# Budgets


@frozen
class GreedyLambda:
    """Spends all of ε on λ, whatever its share."""

    @hookimpl
    def estimate_lambda(self, request, curator) -> Estimate:
        high = len(request.public.universe)
        if high < 2:
            return Estimate(lam=high)
        return Estimate(lam=curator.choose(RankGap(1, 1, high), 1, request.budget).chosen[0])


def test_lambda_that_spends_all_is_refused() -> None:
    """λ estimation that spends all of ε under a share of a tenth is refused by the curator."""
    report = shown(quick_audit(GreedyLambda()))
    assert report.verdict == "refused"
    assert "was requested" in str(report)


@frozen
class FractionalPairs:
    """Draws ⌈λ₂⌉ pairs at ε/λ₂ each, for a λ₂ that is no whole number."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        items = tuple(range(min(4, len(request.public.universe))))
        wanted = Fraction(5, 2)
        share = curator.remaining
        if len(items) < 4:
            return Elements(items)
        return Elements(
            items, [curator.choose(PairSupports(items), 1, share / wanted).chosen[0] for _ in range(ceil(wanted))]
        )


def test_fractional_pairs_are_refused(replayed) -> None:
    """⌈λ₂⌉ draws at ε/λ₂ overspend the share by the rounding, and the last one is refused."""
    report = replayed(FractionalPairs())
    assert report.verdict == "refused"
    assert "select_elements" in str(report)


@pytest.mark.parametrize("component", [GreedyLambda(), FractionalPairs()])
def test_overspending_is_found_without_a_refusal(rules, monkeypatch, component) -> None:
    """If the curator did not refuse it, the replay would find that the plan is exceeded."""
    lenient(monkeypatch)
    assert "budget" in rules(component)


@frozen
class EveryItem:
    """λ is the whole universe, more than η·k may be."""

    @hookimpl
    def estimate_lambda(self, request) -> Estimate:
        return Estimate(lam=len(request.public.universe))


@frozen
class AsPrinted:
    """Alg. 3 as printed: with λ > η·k, λ₂ is negative and β₁ exceeds α₂."""

    @hookimpl
    def select_elements(self, request, estimate, curator) -> Elements:
        pairs = Fraction(11, 10) * request.k - estimate.lam
        share = curator.remaining * estimate.lam / (estimate.lam + pairs) if request.k else 0
        chosen = curator.choose(ItemSupports(len(request.public.universe)), estimate.lam, share)
        return Elements([item for (item,) in chosen.chosen])


def as_printed() -> Pipeline:
    """A pipeline in which λ exceeds η·k for small k."""
    return Pipeline(estimate_lambda=EveryItem(), select_elements=AsPrinted())


def test_negative_pairs_are_refused(replayed) -> None:
    """PrivBasis as printed asks for more than its share where λ > η·k, and is refused."""
    report = replayed(as_printed())
    assert report.verdict == "refused"
    assert "is left for select_elements" in str(report)


@pytest.mark.statistics
def test_negative_pairs_are_found_without_a_refusal(rules, monkeypatch) -> None:
    """The replay finds that β₁ exceeds α₂."""
    lenient(monkeypatch)
    assert "budget" in rules(as_printed())


def test_noise_drawn_before_its_charge_is_found(rules, monkeypatch) -> None:
    """A curator that does not charge at all is found out by its own draws."""
    monkeypatch.setattr(Curator, "_charge", lambda *arguments: None)
    assert "unpaid" in rules("privbasis")


# Sensitivities


@frozen
class Frequencies(Query):
    """Counts, declared with the sensitivity of frequencies in a database of 100 transactions."""

    item_count: int
    name = "item frequencies"

    @property
    def size(self) -> int:
        return self.item_count

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(Fraction(self.item_count, 100), Fraction(self.item_count, 100), Fraction(1, 100), True)

    def evaluate(self, store):
        return store.item_supports()

    def candidate(self, index):
        return (index,)


def test_counts_declared_as_frequencies_are_found(replayed) -> None:
    """A selection by counts whose query declares 1/N moves by 1."""
    report = replayed(ChoosesBy(Frequencies, 3))
    assert report.verdict == "violates"
    assert "declares at most 0.01" in str(report)


class OneForAllBases(BinCounts):
    """Bins of w bases, with the sensitivity of one."""

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(1, 1, 1, monotone=True)


@frozen
class CheapFrequencies(BasisFrequencies):
    """Measures the bins of all bases at the price of one."""

    @hookimpl
    def reconstruct_counts(self, basis, curator):
        class Cheap:
            def measure(self, query):
                return curator.measure(OneForAllBases(query.bases))

        return BasisFrequencies.reconstruct_counts(self, basis, Cheap())


@frozen
class SmallBases:
    """One basis for each item."""

    @hookimpl
    def construct_basis(self, elements) -> BasisSet:
        return BasisSet(bases=[(item,) for item in elements.items] or [()])


def test_sensitivity_1_for_many_bases_is_found(rules) -> None:
    """Bins of w bases move by w in the L1 norm."""
    pipeline = Pipeline(construct_basis=SmallBases(), reconstruct_counts=CheapFrequencies())
    assert rules(pipeline) == {"sensitivity"}


class RoundedUp(WeightedSupports):
    """Weights of 1/|t| in tenths, rounded up, with the sensitivity of those rounded down."""

    @property
    def sensitivity(self) -> Sensitivity:
        return Sensitivity(10, 100, 10, monotone=True)


@frozen
class BoundedHistogram:
    """Measures a histogram in which each transaction weighs 1, or a little more."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        items = len(request.public.universe)
        weights = [0, *(ceil(Fraction(10, length)) for length in range(1, items + 1))]
        noisy = curator.measure(RoundedUp(1, items, weights)).values
        return Elements(np.argsort(-noisy, kind="stable")[:3].tolist())


def test_weights_that_round_up_are_found(replayed) -> None:
    """Three weights of 4 tenths exceed the 10 that are declared; the smallest counterexample has three items."""
    report = replayed(BoundedHistogram())
    assert report.verdict == "violates"
    assert {finding.rule for finding in report.counterexample.findings} == {"sensitivity"}
    assert len(report.counterexample.case.extra) == 3
    assert report.counterexample.case.transactions == ()


def test_duplicates_counted_twice_are_found(replayed, monkeypatch) -> None:
    """A store that does not make sets of its rows moves a support by 2."""
    monkeypatch.setattr(rows, "_as_set_block", lambda block: block)
    report = replayed("privbasis")
    assert report.verdict == "violates"
    assert "sensitivity" in str(report)


# Noise


class HalfScale(SimulatedNoise):
    """Laplace noise of half the scale."""

    def laplace(self, values, scale):
        return super().laplace(values, scale / 2)


class HalfScaleOfMany(SimulatedNoise):
    """Laplace noise of half the scale in long arrays only, as a sampler of their own may have it."""

    def laplace(self, values, scale):
        return super().laplace(values, scale / 2 if len(values) > 1_000 else scale)


class Sharp(SimulatedNoise):
    """Selects at a multiple of the rate."""

    times = 2

    def select(self, scores, n, rate, tail=None):
        return super().select(scores, n, rate * self.times, tail)


class VerySharp(Sharp):
    """Selects nearly without noise."""

    times = 10


class SharpNoisyTop(SimulatedNoise):
    """Adds half the noise to scores."""

    def noisy_top(self, scores, n, scale, tail=None):
        return super().noisy_top(scores, n, scale / 2, tail)


class SharpSet(SimulatedNoise):
    """Takes the gap of a set for a score that moves one way."""

    def select_set(self, scores, n, rate, tail=None):
        return super().select_set(scores, n, rate * 2, tail)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        (HalfScale, {"measure", "measure 1,001 values", "choose_noisy"}),
        pytest.param(HalfScaleOfMany, {"measure 1,001 values"}, marks=pytest.mark.statistics),
        pytest.param(Sharp, {"choose"}, marks=pytest.mark.statistics),
        pytest.param(VerySharp, {"choose"}, marks=pytest.mark.statistics),
        pytest.param(SharpNoisyTop, {"choose_noisy"}, marks=pytest.mark.statistics),
        pytest.param(SharpSet, {"choose_set"}, marks=pytest.mark.statistics),
        (SimulatedNoise, set()),
    ],
)
def test_a_source_of_too_little_noise_is_found(source, wrong) -> None:
    """Sampling a source on its own refutes that its noise pays for ε, whichever way it draws too little."""
    bounds = source_bounds(source, samples=4_000)
    print(*bounds, sep="\n")
    assert {bound.group for bound in bounds if bound.violates} == wrong


class Plain:
    """Only what every source must have."""

    name, private = "plain", False

    def __init__(self, seed) -> None:
        self._noise = SimulatedNoise(seed)
        self.add, self.select, self.below = self._noise.add, self._noise.select, self._noise.below

    def draws(self, noise):
        if not isinstance(noise, DiscreteLaplace):
            raise InputError("There is no such noise.")
        return self._noise.draws(noise)


def test_a_source_that_cannot_select_by_noise_is_sampled_in_its_other_ways() -> None:
    """What a source need not have is not asked of it."""
    bounds = source_bounds(Plain, samples=400)
    assert [bound.group for bound in bounds] == ["measure", "measure 1,001 values", "choose"]


@pytest.mark.parametrize("source", slow_after(1, [HalfScale, Sharp]))
def test_a_source_of_ones_own_is_sampled_alone_at_any_effort(source) -> None:
    """Among the noise of all stages, a few runs would not show half the scale."""
    report = shown(audit("privbasis", effort=Effort("tiny", 10, 0, 40, 1), noise=source))
    assert report.verdict == "violates"
    assert not any(bound.violates for bound in report.bounds)
    assert "the source of noise alone: " in str(report)
    assert any(bound["violates"] for bound in report.to_dict()["source"])


def test_half_the_scale_in_the_engine_is_found(rules, monkeypatch) -> None:
    """A definition that asks for half the noise is found by the replay, which knows what the charge pays for."""
    right = PureDP.noise_for
    halved = lambda self, *arguments: DiscreteLaplace(right(self, *arguments).scale / 2)  # noqa: E731
    monkeypatch.setattr(PureDP, "noise_for", halved)
    assert rules("privbasis") == {"scale"}
    assert not all(check.ok for check in sampler_checks())


def test_a_scale_rounded_down_is_found(monkeypatch) -> None:
    """A float below the exact scale, by one digit in the sixteenth place, is less noise than was paid for."""
    monkeypatch.setattr(secure, "rounded_up", lambda exact: np.nextafter(float(exact), 0.0).item())
    wrong = [check for check in sampler_checks() if not check.ok]
    print(f"{len(wrong)} scales are too small, such as: {wrong[0]}")
    assert wrong
    assert all(check.agrees and not check.noisy_enough for check in wrong)


def sparse_vector(counts, generator) -> tuple[bool, ...]:
    """Which counts exceed a noisy threshold, with noise that does not grow with the number of answers."""
    threshold = generator.laplace(scale=2)
    return tuple(bool(count + generator.laplace(scale=2) >= threshold) for count in counts)


def test_a_sparse_vector_without_its_factor_is_found() -> None:
    """Ten answers for the price of one reveal more than ε = 1; the black box suffices to see it."""
    bound = mechanism_bound(sparse_vector, [0] * 10, [1] * 5 + [-1] * 5, 1, samples=10_000)
    print(bound)
    assert bound.violates


@frozen
class SparseVector:
    """Selects the items above a threshold by the sparse vector technique, around the curator."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        curator.measure(ItemSupports(len(request.public.universe)))  # pays, and throws the answer away
        above = sparse_vector(data_of(curator).item_supports(), np.random.default_rng(1))
        return Elements([item for item, found in enumerate(above) if found][:12])


@pytest.mark.statistics
def test_a_sparse_vector_around_the_curator_is_found(rules) -> None:
    """What it answers is none of the recorded answers, so it differs on the neighbour."""
    assert "result" in rules(SparseVector())
