"""One trial of a component: a pipeline runs on made-up data, recorded as in an audit, with a guarded store."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import cast

from attrs import evolve, frozen

from privmine.audit.recording import RecordingNoise, ReplayingNoise, WatchedCurator, observed_run, watched_pipeline
from privmine.audit.trace import Trace
from privmine.pipeline import Pipeline
from privmine.privacy import Charge
from privmine.store.abstract import Store
from privmine.testing.guard import Guard, GuardedStore
from privmine.testing.trial_cases import Baskets, TrialCase


@frozen
class Trial:
    """The result of a trial.

    Attributes:
        trace: what was asked and answered, what the stages returned, and how the run ended.
        guard: who read the data around the curator.
    """

    trace: Trace
    guard: Guard

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What the run was charged, in order."""
        return self.trace.meter.charges if self.trace.meter else ()

    def reads(self, stage: str) -> Iterable[str]:
        """What a stage read of the data without the curator."""
        return self.guard.read_by(stage)

    def charges_of(self, stage: str) -> tuple[Charge, ...]:
        """What a stage was charged."""
        return tuple(charge for charge in self.charges if charge.stage == stage)

    def ended_before(self, stage: str) -> bool:
        """Whether the run ended before the stage had a valid result."""
        trace = self.trace
        return trace.failure is not None and (trace.failed_stage == stage or trace.result(stage) is None)


def attempt(pipeline: Pipeline, case: TrialCase, seed: int, *, whole_numbers: bool) -> Trial:
    """Run a pipeline on a case.

    Args:
        pipeline: the component, among those of the other stages.
        case: the database and the question.
        seed: makes the noise.
        whole_numbers: whether the noise is in whole numbers, as that of a release.
    """
    trace = Trace()
    return _tried(pipeline, case, case.baskets, trace, RecordingNoise(trace, seed, private=whole_numbers))


def attempt_again(pipeline: Pipeline, case: TrialCase, baskets: Baskets, earlier: Trial) -> Trial:
    """Run a pipeline on another database, with the noisy answers of an earlier trial in whole numbers."""
    trace = Trace()
    return _tried(pipeline, case, baskets, trace, ReplayingNoise(trace, earlier.trace))


def _tried(
    pipeline: Pipeline, case: TrialCase, baskets: Baskets, trace: Trace, noise: RecordingNoise | ReplayingNoise
) -> Trial:
    guard = Guard(trace)
    database = case.transactions(baskets)
    guarded = evolve(database, store=cast(Store, GuardedStore(database.store, guard)))
    replays = isinstance(noise, ReplayingNoise)
    watched = watched_pipeline(pipeline, trace, partial(WatchedCurator, trace=trace, replays=replays))
    observed_run(watched, guarded, noise, trace, **case.request())
    return Trial(trace, guard)
