"""How often the audit is right: no false alarms on a sound pipeline, and violations by a quarter found.

The components run on a fake curator, which draws as a careless one would: at `factor` times the budget that
it charges. So a try takes seconds, and twenty of them a minute.
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from privmine.audit import counterexamples, mechanism_bound, quick_audit, some_cases
from privmine.audit.workers import worker_pool
from privmine.pipeline import Pipeline

pytestmark = pytest.mark.statistics

TRIES = 20
AUDITS = 20
BLOCK = 10


class FakeCurator:
    """Answers as a curator does, from given values, with noise for `factor` times the budget."""

    def __init__(self, values, factor, generator) -> None:
        self._values = values
        self._factor = factor
        self._generator = generator

    def measure(self, epsilon) -> float:
        """A count with Laplace noise."""
        return float(self._values + self._generator.laplace(scale=1 / (self._factor * epsilon)))

    def choose(self, epsilon) -> int:
        """The candidate that the exponential mechanism draws from monotone scores."""
        scores = self._values * (self._factor * epsilon) + self._generator.gumbel(size=len(self._values))
        return int(scores.argmax())


def measuring(epsilon, factor):
    """A component that measures a count, and the counts of two neighbours."""
    return lambda count, generator: FakeCurator(count, factor, generator).measure(epsilon), (3, 4), 20_000


def choosing(epsilon, factor):
    """A component that chooses a candidate, and scores of which a neighbour raises that of a rare choice."""
    lead = 2 if epsilon == 1 else 1.5
    databases = tuple(np.array([score, lead, lead]) for score in (0.0, 1.0))
    return lambda scores, generator: FakeCurator(scores, factor, generator).choose(epsilon), databases, 150_000


@pytest.mark.parametrize("epsilon", [1, 2])
@pytest.mark.parametrize("component", [measuring, choosing])
def test_a_violation_by_a_quarter_is_found(component, epsilon) -> None:
    """A mechanism at 1.25 times its claim is found in at least 19 of 20 tries."""
    mechanism, databases, samples = component(epsilon, 1.25)
    found = sum(
        mechanism_bound(mechanism, *databases, epsilon, samples=samples, seed=seed).violates for seed in range(TRIES)
    )
    print(f"{component.__name__} at 1.25 × ε = {epsilon}: found in {found} of {TRIES} tries")
    assert found >= 19


@pytest.mark.parametrize("epsilon", [1, 2])
@pytest.mark.parametrize("component", [measuring, choosing])
def test_a_sound_mechanism_is_never_called_unsound(component, epsilon) -> None:
    """At exactly its claim, no try raises an alarm."""
    mechanism, databases, _ = component(epsilon, 1)
    bounds = [mechanism_bound(mechanism, *databases, epsilon, samples=20_000, seed=seed) for seed in range(TRIES)]
    assert not any(bound.violates for bound in bounds)
    assert max(bound.lower for bound in bounds) > epsilon * Fraction(1, 2)


@pytest.mark.parametrize("block", range(0, AUDITS, BLOCK))
def test_quick_audits_of_a_sound_pipeline_raise_no_false_alarm(block) -> None:
    """20 quick audits of PrivBasis under different seeds: none is flagged."""
    for seed in range(block, block + BLOCK):
        report = quick_audit("privbasis", seed=1_000 * seed)
        assert report.ok, str(report)


def test_a_thousand_pairs_are_replayed() -> None:
    """PrivBasis on 1,000 generated pairs of neighbours, in two processes: nothing is found; the time is printed."""
    pipeline = Pipeline()
    started = time.monotonic()
    with worker_pool(2, pipeline) as pool:
        found = list(counterexamples(pipeline, some_cases(1_000), workers=pool))
    elapsed = time.monotonic() - started
    print(f"1,000 pairs in {elapsed:.1f} s")
    assert found == []
