"""An audit from start to verdict: replays on many pairs of neighbours, then samples on a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import Any, TypeAlias

from attrs import evolve, frozen

from privmine.audit.cases import Case, MakeDatabase, make_database, some_cases
from privmine.audit.outcomes import MakeNoise, PipelineSample, secure_noise
from privmine.audit.replay import Counterexample, counterexamples, replay
from privmine.audit.report import AuditReport, SampledCase
from privmine.audit.shrink import shrink
from privmine.audit.statistical import ERROR_RATE, lower_bounds
from privmine.audit.subjects import Subject, emphasised, subject_of
from privmine.audit.workers import worker_pool
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline

#: Told what an audit is doing, how much of it is done, and of how much.
Progress: TypeAlias = Callable[[str, int, int], None]

#: Pairs of neighbours to sample on, each under the stage whose results tell it apart best.
SAMPLED_CASES = {
    # The first transaction of all: the count of the longest itemset moves by 1, and has the noise of one bin.
    "reconstruct_counts": Case(items=4, transactions=(), extra=(0, 1, 2, 3), k=4),
    # Three items that nobody had: that just these are chosen is rare, and becomes less rare.
    "select_elements": Case(items=8, transactions=(), extra=(0, 1, 2), k=3),
    # The gap of one rank opens while that of another closes.
    "estimate_lambda": Case(items=4, transactions=[(0, 1, 2), (0, 1, 2), (0, 1)], extra=(0, 2, 3), k=6),
}


@frozen
class Effort:
    """How hard an audit tries.

    Attributes:
        name: what the report calls it.
        pairs: on how many generated pairs of neighbours runs are replayed.
        examples: how many pairs hypothesis may try besides; 0 does without it.
        samples: how many runs on each database of a sampled pair.
        cases: on how many of `SAMPLED_CASES`; the one that suits the audited stage comes first.
        epsilon: the budget of the sampled runs. At ε = 4 an event's probability moves so far that some
            thousand runs show it; with few runs, only a leak beyond all bounds shows, best against a small claim.
        exact_noise: whether to sample once more with the noise of releases.
    """

    name: str
    pairs: int
    examples: int
    samples: int
    cases: int
    epsilon: int = 1
    exact_noise: bool = False


QUICK = Effort("quick", pairs=100, examples=0, samples=400, cases=1)
STANDARD = Effort("standard", pairs=1_000, examples=0, samples=4_000, cases=3, epsilon=4)
THOROUGH = Effort("thorough", pairs=3_000, examples=500, samples=10_000, cases=3, epsilon=4, exact_noise=True)


def quick_audit(target: Any, stage: str | None = None, **options: Any) -> AuditReport:
    """Audit a pipeline or a component in a few seconds, with nothing to install; for a plugin's own tests.

    Args:
        target: a pipeline, the name of a method, STAGE=COMPONENT, a component, or its class.
        stage: the component's stage, where it implements more than one.
        options: as for `audit`.
    """
    return audit(target, stage, effort=QUICK, **options)


def audit(
    target: Any,
    stage: str | None = None,
    *,
    effort: Effort = STANDARD,
    seed: int = 0,
    workers: int | Executor = 1,
    trust: Iterable[str] = (),
    database: MakeDatabase = make_database,
    noise: MakeNoise = SimulatedNoise,
    progress: Progress = lambda what, done, total: None,
) -> AuditReport:
    """Audit a pipeline or a component.

    Args:
        target: a pipeline, the path of its .toml file, the name of a method, STAGE=COMPONENT, a component,
            or its class.
        stage: the component's stage, where it implements more than one.
        effort: `QUICK`, `STANDARD` or `THOROUGH`, or one of your own.
        seed: other seeds try other neighbours and other noise.
        workers: how many processes to use, or a pool of them that several audits share.
        trust: distributions whose own queries may run, besides that of the audited component.
        database: makes databases of rows, to audit a store of your own.
        noise: makes the noise of the sampled runs from a seed, to audit a source of your own.
        progress: told what is being done.
    """
    subject = target if isinstance(target, Subject) else subject_of(target, stage, trust)
    with worker_pool(workers, (subject.pipeline, database, noise)) as pool:
        pairs, example = _replayed(subject, effort, seed, database, pool, progress)
        refused = example is not None and not any(finding.violates for finding in example.findings)
        sampled = () if refused else _sampled(subject, effort, seed, database, noise, pool, progress)
    return AuditReport(subject.name, subject.stage, effort.name, pairs, example, sampled)


def _replayed(
    subject: Subject, effort: Effort, seed: int, database: MakeDatabase, pool: Executor | None, progress: Progress
) -> tuple[int, Counterexample | None]:
    """On how many pairs runs were replayed, and the smallest counterexample; rather a violation than a refusal."""
    pipeline = subject.pipeline
    replayed = 0

    def told(done: int) -> None:
        nonlocal replayed
        replayed = done
        progress(f"{subject.name}: replaying", done, effort.pairs)

    found = []
    cases = some_cases(effort.pairs, seed)
    for example in counterexamples(pipeline, cases, database, workers=pool, progress=told):
        found.append(example)
        if any(finding.violates for finding in example.findings):
            break
    # Requests that a component does not take are no evidence, unless it takes none.
    telling = [example for example in found if any(finding.rule != "input" for finding in example.findings)]
    if telling:
        progress(f"{subject.name}: shrinking", 0, 1)
        violating = found[-1] if any(finding.violates for finding in found[-1].findings) else telling[0]
        return replayed, smallest(pipeline, violating, database)
    if len(found) == effort.pairs and found:
        return replayed, found[0]
    if effort.examples:
        from privmine.audit.neighbours import search

        progress(f"{subject.name}: searching", 0, 1)
        return replayed + effort.examples, search(pipeline, effort.examples, seed, database)
    return replayed, None


def smallest(pipeline: Pipeline, example: Counterexample, database: MakeDatabase = make_database) -> Counterexample:
    """Shrink a counterexample as long as it breaks the same rule in the same stage."""
    first = next((finding for finding in example.findings if finding.violates), example.findings[0])

    def fails(case: Case) -> bool:
        found = replay(pipeline, case, database)
        return any((finding.rule, finding.stage) == (first.rule, first.stage) for finding in found)

    case = shrink(example.case, fails)
    return Counterexample(case, replay(pipeline, case, database))


def _sampled(
    subject: Subject,
    effort: Effort,
    seed: int,
    database: MakeDatabase,
    noise: MakeNoise,
    pool: Executor | None,
    progress: Progress,
) -> tuple[SampledCase, ...]:
    """The bounds on ε for each pair of neighbours; all of them hold together with the stated confidence."""
    stages = sorted(SAMPLED_CASES, key=lambda stage: stage != subject.stage)
    cases = [evolve(SAMPLED_CASES[stage], epsilon=effort.epsilon) for stage in stages]
    plan = [(case, noise) for case in cases[: effort.cases]]
    if effort.exact_noise and noise is SimulatedNoise:
        plan.append((cases[0], secure_noise))
    results = []
    for place, (case, source) in enumerate(plan):
        sample = PipelineSample(emphasised(subject, case, database), case, source, database)
        what = f"{subject.name}: sampling pair {place + 1} of {len(plan)}"
        bounds = lower_bounds(
            sample,
            sample.claims(),
            samples=effort.samples,
            error_rate=ERROR_RATE / len(plan),
            seed=seed + place,
            workers=pool,
            progress=lambda done, what=what: progress(what, done, 2 * effort.samples),  # type: ignore[misc]
        )
        results.append(SampledCase(case, _noise_name(source), bounds))
    return tuple(results)


def _noise_name(noise: MakeNoise) -> str:
    return {SimulatedNoise: "simulated", secure_noise: "exact"}.get(noise, getattr(noise, "__name__", "own"))
