"""The black-box audit: its arithmetic, its bounds on mechanisms that are known, its silence on sound ones."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy.stats import beta

from privmine.audit import PipelineSample, lower_bounds, mechanism_bound, secure_noise
from privmine.audit.audits import SAMPLED_CASES
from privmine.audit.binomial import lower_limit, upper_limit
from privmine.audit.workers import worker_pool
from privmine.pipeline import Pipeline

CASE = SAMPLED_CASES["reconstruct_counts"]


@pytest.mark.parametrize("trials", [1, 7, 400, 250_000])
@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-7])
def test_limits_agree_with_scipy_and_round_outwards(trials, error) -> None:
    """Clopper–Pearson without scipy is the same to eight digits, and never narrower."""
    for hits in {0, 1, trials // 3, trials - 1, trials}:
        low = beta.ppf(error, hits, trials - hits + 1) if hits else 0.0
        high = beta.isf(error, hits + 1, trials - hits) if hits < trials else 1.0
        assert lower_limit(hits, trials, error) == pytest.approx(low, rel=1e-8)
        assert upper_limit(hits, trials, error) == pytest.approx(high, rel=1e-8)
        assert lower_limit(hits, trials, error) <= low * (1 + 1e-11)
        assert upper_limit(hits, trials, error) >= high * (1 - 1e-11)


def response(truth, generator) -> bool:
    """Randomised response of ε = 1."""
    return bool(generator.random() < (exp(1) / (1 + exp(1)) if truth else 1 / (1 + exp(1))))


def test_randomised_response_is_bounded_just_below_its_epsilon() -> None:
    """The bound comes near to 1 and does not exceed it, so a claim of 1 stands and one of 0.8 falls."""
    bound = mechanism_bound(response, False, True, 1, samples=20_000)
    assert 0.85 < bound.lower <= 1
    assert not bound.violates
    assert mechanism_bound(response, False, True, Fraction(8, 10), samples=20_000).violates


def test_numbers_categories_and_mappings_are_outcomes() -> None:
    """Whatever a mechanism returns, an event on it is found and named."""
    numbers = mechanism_bound(lambda value, g: value + g.laplace(), 0.0, 4.0, 1, samples=2_000)
    assert numbers.violates
    assert "output" in numbers.event
    named = mechanism_bound(lambda value, g: {"kind": value, "noise": float(g.normal())}, "a", "b", 1, samples=500)
    assert named.violates
    assert named.event in ("kind = a", "kind = b")
    pair = mechanism_bound(lambda value, g: (value, 1.5), 1, 2, 1, samples=500)
    assert pair.violates


def test_an_event_spread_over_many_features_is_found() -> None:
    """Each of thirty bits tells little; the likelihood ratio adds them up."""
    bound = mechanism_bound(
        lambda bias, g: {f"bit {place}": bool(g.random() < bias) for place in range(30)}, 0.4, 0.6, 1, samples=4_000
    )
    assert bound.violates
    assert "likelihood-ratio" in bound.event


def test_equal_databases_give_no_bound() -> None:
    """Nothing tells apart what is the same."""
    bound = mechanism_bound(lambda value, g: float(g.laplace()), 0, 0, 1, samples=4_000)
    assert bound.lower < 0.2


def test_a_bound_repeats_with_its_seed() -> None:
    """An audit can be shown again."""
    bounds = [mechanism_bound(response, False, True, 1, samples=1_000, seed=seed) for seed in (1, 1, 2)]
    assert bounds[0] == bounds[1] != bounds[2]


def test_progress_is_told() -> None:
    """Every batch counts, on both databases."""
    told: list[int] = []
    mechanism_bound(response, False, True, 1, samples=600, progress=told.append)
    assert told[-1] == 1_200
    assert told == sorted(told)


def test_workers_give_the_same_bounds() -> None:
    """Side by side or one after another, seeded runs are the same runs."""
    sample = PipelineSample(Pipeline(), CASE)
    with worker_pool(2, sample) as pool:
        assert pool is not None
        side_by_side = lower_bounds(sample, sample.claims(), samples=60, workers=pool)
    assert side_by_side == lower_bounds(sample, sample.claims(), samples=60)


def test_what_cannot_travel_stays_in_this_process() -> None:
    """A component of a local class is audited without workers."""
    with worker_pool(2, lambda: None) as pool:
        assert pool is None


@pytest.mark.parametrize("noise", [None, secure_noise])
def test_the_default_pipeline_keeps_its_claims(noise) -> None:
    """No stage of PrivBasis shows more than its share, with simulated and with exact noise."""
    options = {} if noise is None else {"noise": noise}
    sample = PipelineSample(Pipeline(), CASE, **options)
    bounds = lower_bounds(sample, sample.claims(), samples=80)
    assert [bound.group for bound in bounds][-1] == "release"
    assert not any(bound.violates for bound in bounds)


def test_claims_accumulate_over_the_stages() -> None:
    """By the end of a stage a run may have revealed what the plan lets it spend until then."""
    claims = PipelineSample(Pipeline(), CASE).claims()
    assert list(claims.values()) == [Fraction(1, 10), Fraction(1, 2), Fraction(1, 2), 1, 1]


def test_a_deterministic_leak_is_found_with_few_runs() -> None:
    """An output that names the database outright needs few runs; the bound grows with their number."""
    few = mechanism_bound(lambda value, g: value, "a", "b", 1, samples=100)
    many = mechanism_bound(lambda value, g: value, "a", "b", 1, samples=2_000)
    assert few.violates
    assert many.lower > few.lower + log(5)
    assert "against a claim of 1.000" in str(many)


def test_selection_is_bounded_near_its_epsilon() -> None:
    """The exponential mechanism comes near to ε where the favoured candidate is rare."""

    def choose(score, generator) -> int:
        return int(np.argmax(np.array([score, 3, 3]) + generator.gumbel(size=3)))

    bound = mechanism_bound(choose, 0, 1, 1, samples=40_000)
    assert 0.6 < bound.lower <= 1
