"""The visible features of a run, by which two databases might be distinguished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import frozen

from privmine.audit.cases import MakeDatabase, make_database
from privmine.audit.customers import AnyCase
from privmine.audit.recording import observed_run, watched_pipeline
from privmine.audit.trace import Trace
from privmine.errors import InputError
from privmine.model import STAGES, BasisSet, BudgetPlan, Elements, Estimate, NoisyCounts
from privmine.noise.protocol import NoiseSource
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.pipeline.request import definition_at
from privmine.release import Release

#: For each group of features their values in one run. A float is a number, anything else a category.
Outcome: TypeAlias = Mapping[str, Mapping[str, Any]]
#: Makes a source of noise from a seed.
MakeNoise: TypeAlias = Callable[[int], NoiseSource]

#: The group of what a release shows, besides the groups that are named after the stages.
RELEASE = "release"
_MOST_ITEMS = 16
_MOST_COUNTS = 64


def secure_noise(_: int) -> NoiseSource:
    """The noise of releases, which no seed can repeat."""
    return SecureNoise()


@frozen
class PipelineSample:
    """Runs a pipeline on either database of a case, over and over.

    Attributes:
        pipeline: what to audit.
        case: two neighbouring databases, and a request.
        noise: makes the noise; simulated noise is faster, and has the same distribution up to rounding.
        database: makes the databases.
    """

    pipeline: Pipeline
    case: AnyCase
    noise: MakeNoise = SimulatedNoise
    database: MakeDatabase = make_database

    def __call__(self, side: int, count: int, seed: int) -> list[Outcome]:
        """The outcomes of some runs on the first database (side 0), or on the second (1)."""
        return [outcome_of(trace) for trace in self._runs(side, count, seed)]

    def claims(self, plan: BudgetPlan | None = None) -> dict[str, Fraction]:
        """The most that the outcomes may reveal after each stage: what the plan allows to be spent by then."""
        limits = (plan or self.plan()).limits()
        # Without access to data, construction reveals what selection did.
        limits["construct_basis"] = limits["select_elements"]
        budget = definition_at(self.case.delta).budget(self.case.epsilon)
        claims = {stage: (limits[stage] * budget).guarantee.epsilon for stage in STAGES if stage in limits}
        return {**claims, RELEASE: self.case.epsilon}

    def plan(self) -> BudgetPlan:
        """How the pipeline divides the budget."""
        trace = next(self._runs(0, 1, 0))
        plan = trace.result("allocate_budget")
        if not isinstance(plan, BudgetPlan):
            raise InputError(f"The pipeline cannot be sampled: {trace.failure}")
        return plan

    def _runs(self, side: int, count: int, seed: int) -> Iterator[Trace]:
        case = self.case
        database = self.database(case.databases[side], case.items)
        noise = self.noise(seed)
        trace = Trace(copies=False)
        pipeline = watched_pipeline(self.pipeline, trace)
        for _ in range(count):
            trace.events.clear()
            trace.release = trace.failure = None
            yield observed_run(pipeline, database, noise, trace, **case.request)


def outcome_of(trace: Trace) -> Outcome:
    """The features of a run, stage by stage."""
    outcome = {result.stage: dict(_features(result.copy)) for result in trace.results}
    outcome.pop("allocate_budget", None)
    outcome[RELEASE] = dict(_release_features(trace.release, trace.failure))
    return outcome


def has_failed(outcome: Outcome) -> bool:
    """Whether a run ended with an error."""
    return outcome[RELEASE]["failure"] is not None


def _features(result: object) -> Iterator[tuple[str, Any]]:
    if isinstance(result, Estimate):
        yield "λ", result.lam
        if result.theta is not None:
            yield "θ", float(result.theta)
    elif isinstance(result, Elements):
        yield "items in order", result.items
        yield "items", tuple(sorted(result.items))
        yield "itemsets", tuple(sorted(result.itemsets))
        yield from ((f"item {item} selected", item in result.items) for item in range(_MOST_ITEMS))
    elif isinstance(result, BasisSet):
        yield "bases", result.bases
        yield "candidates", result.candidates
    elif isinstance(result, NoisyCounts):
        yield "noisy number of transactions", float(result.total)
        shown = zip(result.itemsets, result.counts.tolist(), range(_MOST_COUNTS), strict=False)
        yield from ((f"noisy count of {itemset}", count) for itemset, count, _ in shown)
        guessed = zip(result.itemsets, result.estimates.tolist(), range(_MOST_COUNTS), strict=False)
        yield from ((f"estimate of {itemset}", estimate) for itemset, estimate, _ in guessed)
        yield "error of the number of transactions", float(result.total_error)
        yield "sum of standard errors", float(result.standard_errors.sum())


def _release_features(release: Release | None, failure: BaseException | None) -> Iterator[tuple[str, Any]]:
    yield "failure", type(failure).__name__ if failure else None
    if release is not None:
        yield "released itemsets", tuple(sorted(found.items for found in release))
        yield "released itemsets in order", tuple(found.items for found in release)
        yield "noisy number of transactions", float(release.total)
        yield "sum of supports", float(sum(found.support for found in release))
