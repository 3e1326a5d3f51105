"""An audit from start to verdict: replays on many pairs of neighbours, then samples on a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from attrs import evolve, frozen

from privmine.audit.cases import Case, MakeDatabase, make_database, some_cases
from privmine.audit.customers import AnyCase, CustomerCase, CustomerDatabase, as_customers, some_customer_cases
from privmine.audit.evidence import Evidence
from privmine.audit.findings import Finding
from privmine.audit.neighbours import cases, customer_cases, require_hypothesis, searched
from privmine.audit.outcomes import MakeNoise, Outcome, PipelineSample, has_failed, secure_noise
from privmine.audit.replay import Counterexample, Hunt, counterexamples
from privmine.audit.report import AuditReport, Replays, SampledCase
from privmine.audit.samplers import source_bounds
from privmine.audit.separate_processes import remembered
from privmine.audit.shrink import shrink
from privmine.audit.statistical import ERROR_RATE, Bound, lower_bounds
from privmine.audit.subjects import Subject, emphasised, subject_of
from privmine.audit.workers import Workers, away, worker_pool
from privmine.errors import InputError, PrivmineError
from privmine.ledger.checks import delta_amount
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline import Pipeline
from privmine.privacy.unit import Unit

#: Told what an audit is doing, how much of it is done, and of how much.
Progress: TypeAlias = Callable[[str, int, int], None]

#: Pairs of neighbours to sample on, each under the stage whose results tell it apart best.
SAMPLED_CASES = {
    # The first transaction of all: the count of the longest itemset moves by 1, and has the noise of one bin.
    "reconstruct_counts": Case(items=4, transactions=(), extra=(0, 1, 2, 3), k=4),
    # Three items that nobody had: that just these are chosen is rare, and becomes less rare. They are the last
    # ones, since a selection without noise would choose the first of those that tie, on both databases.
    "select_elements": Case(items=8, transactions=(), extra=(5, 6, 7), k=3),
    # The gap of one rank opens while that of another closes, and another rank becomes the best.
    "estimate_lambda": Case(items=5, transactions=[(0,), (1, 4), (1, 3, 4), (4,)], extra=(0, 2, 3), k=6),
}
#: So often a source of noise of one's own is drawn from alone, on each side, in each of the ways to draw.
SOURCE_SAMPLES = 10_000
#: Customers whose transactions are merged have about so many of them.
_MERGED = 3


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
            thousand runs show it. A leak that does not grow with ε shows best against a small claim, and with few
            runs no other does; so the first pair is sampled at ε = 1 in any case.
        apart: how many of the generated pairs are replayed in new processes as well, where there are worker processes.
        exact_runs: how many runs more, on each database of the first pair, with the noise of releases.
    """

    name: str
    pairs: int
    examples: int
    samples: int
    cases: int
    epsilon: int = 1
    apart: int = 40
    exact_runs: int = 0


QUICK = Effort("quick", pairs=100, examples=0, samples=400, cases=1)
STANDARD = Effort("standard", pairs=1_000, examples=0, samples=4_000, cases=3, epsilon=4)
THOROUGH = Effort("thorough", pairs=3_000, examples=500, samples=10_000, cases=3, epsilon=4, exact_runs=4_000)


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
    unit: Unit | None = None,
    delta: Any = None,
    seed: int = 0,
    error_rate: float = ERROR_RATE,
    workers: int | Executor = 1,
    trust: Iterable[str] = (),
    database: MakeDatabase | None = None,
    noise: MakeNoise = SimulatedNoise,
    evidence: Evidence | None = None,
    progress: Progress = lambda what, done, total: None,
) -> AuditReport:
    """Audit a pipeline or a component.

    Args:
        target: a pipeline, the path of its .toml file, the name of a method, STAGE=COMPONENT, a component,
            or its class.
        stage: the component's stage, where it implements more than one.
        effort: `QUICK`, `STANDARD` or `THOROUGH`, or one of your own.
        unit: who is protected, such as `Unit("customer", baskets=3)`; neighbours then differ by all that
            one customer has. By default they differ by one transaction.
        delta: audit what is claimed with this δ, such as "1e-6"; by default pure ε.
        seed: other seeds try other neighbours and other noise.
        error_rate: the probability that sampling calls a sound component unsound, at most.
        workers: how many processes to use, or a pool of them that several audits share.
        trust: distributions whose own queries may run, besides that of the audited component.
        database: makes databases of rows, to audit a store of your own; with a unit, of pairs of a customer
            and a row.
        noise: makes the noise of the sampled runs from a seed, to audit a source of your own; it is then sampled
            alone as well.
        evidence: what earlier audits found out; what is in it is not tried again.
        progress: told what is being done.
    """
    subject = target if isinstance(target, Subject) else subject_of(target, stage, trust)
    known, make = evidence or Evidence(), database or _database_of(unit)
    claimed = delta_amount(delta, "δ")
    plan = _Plan(subject, effort, seed, error_rate, _checked(unit), make, noise, known, progress, claimed)
    if effort.examples:
        require_hypothesis()
    replays, error = Replays(), ""
    sampled: tuple[SampledCase, ...] = ()
    source: tuple[Bound, ...] = ()
    with worker_pool(workers, (subject.pipeline, plan.database, noise)) as pool:
        try:
            asked = ("replay", subject.pipeline, effort, seed, unit, claimed, plan.database)
            replays = plan.evidence.of(asked, partial(_replayed, plan, pool))
            example = replays.counterexample
            refused = example is not None and not any(finding.violates for finding in example.findings)
            source = _source_bounds(plan, pool)
            sampled = () if refused else _sampled(plan, pool)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001 - one that exits must not end the audit of all others
            error = _sentence(problem)
    report = AuditReport(
        subject.name,
        subject.stage,
        effort.name,
        replays,
        sampled,
        source=source,
        error=error,
        differ_by=_difference_of(unit, plan.database),
    )
    return report if report.ok else evolve(report, snippet=_snippet(plan, report))


def _snippet(plan: _Plan, report: AuditReport) -> str:
    """Python code that reproduces the problem: by a replay if one shows it, else by sampling."""
    setup, example = plan.subject.setup, report.counterexample
    if example is not None:
        return example.snippet(setup, plan.database)
    if not any(bound.violates for bound in report.bounds) or plan.noise is not SimulatedNoise:
        return ""
    arguments = ["pipeline"] if plan.subject.stage is None else ["pipeline", repr(plan.subject.stage)]
    arguments += [f"effort={evolve(plan.effort, pairs=0, examples=0, apart=0)!r}", f"seed={plan.seed}"]
    names = ["Effort", "audit", *(["subject_of"] if "subject_of(" in setup else [])]
    imports = []
    if plan.unit is not None:
        imports = ["from privmine.api import Unit"]
        arguments.append(f"unit={plan.unit!r}")
    if plan.delta is not None:
        arguments.append(f"delta={str(plan.delta)!r}")
    if isinstance(plan.database, CustomerDatabase) and plan.database.unit.is_transaction:
        names.append("CustomerDatabase")
        arguments.append("database=CustomerDatabase()")
    elif plan.database != _database_of(plan.unit):
        return ""
    lines = [f"from privmine.audit import {', '.join(sorted(names))}", *imports, setup]
    return "\n".join([*lines, f"print(audit({', '.join(arguments)}))"])


def failed_audit(name: str, effort: Effort, problem: Exception) -> AuditReport:
    """The report on a subject that cannot be constructed."""
    stage, is_component, _ = name.partition("=")
    return AuditReport(name, stage if is_component else None, effort.name, Replays(), (), error=_sentence(problem))


@frozen
class _Plan:
    """What an audit is to do."""

    subject: Subject
    effort: Effort
    seed: int
    error_rate: float
    unit: Unit | None
    database: MakeDatabase
    noise: MakeNoise
    evidence: Evidence
    progress: Progress
    delta: Fraction | None

    @property
    def most(self) -> int:
        """About how many transactions a customer has. Merged ones count as one, however many they are."""
        return _MERGED if self.unit is None or self.unit.merged else self.unit.baskets

    def cases(self) -> list[Case] | list[CustomerCase]:
        """The pairs of neighbours to replay on."""
        if self.unit is None:
            return [evolve(case, delta=self.delta) for case in some_cases(self.effort.pairs, self.seed)]
        made = some_customer_cases(self.effort.pairs, self.most, self.seed)
        return [evolve(case, delta=self.delta) for case in made]

    def sampled_cases(self) -> list[AnyCase]:
        """The pairs of neighbours to sample on; the one that suits the audited stage comes first."""
        stages = sorted(SAMPLED_CASES, key=lambda stage: stage != self.subject.stage)
        cases = [evolve(SAMPLED_CASES[stage], epsilon=self.effort.epsilon, delta=self.delta) for stage in stages]
        unit = self.unit
        return [*cases] if unit is None else [as_customers(case, unit) for case in cases]


def _checked(unit: Unit | None) -> Unit | None:
    if unit is not None and unit.name == Unit().name:
        raise InputError(
            'A unit to audit has a name of its own, and at least one transaction: Unit("customer", baskets=3). '
            "Leave it out for neighbours that differ by one transaction."
        )
    return unit


def _database_of(unit: Unit | None) -> MakeDatabase:
    return make_database if unit is None else CustomerDatabase(unit)


def _difference_of(unit: Unit | None, database: MakeDatabase) -> str:
    if unit is None:
        return "one transaction"
    if isinstance(database, CustomerDatabase) and database.unit.is_transaction:
        return f"all transactions of one {unit.name}, each of them protected alone"
    counted = "merged into one" if unit.merged else f"of which {unit.baskets} are counted"
    return f"all transactions of one {unit.name}, {counted}"


def _sentence(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, PrivmineError) else f"{type(problem).__name__}: {problem}"


def _replayed(plan: _Plan, pool: Executor | None) -> Replays:
    """The result of the replays, and the smallest counterexample. A violation is preferred to a refusal."""
    subject, effort = plan.subject, plan.effort
    pipeline = subject.pipeline
    replayed = 0

    def told(done: int) -> None:
        nonlocal replayed
        replayed = done
        plan.progress(f"{subject.name}: replaying", done, effort.pairs)

    told(0)
    found = []
    for example in counterexamples(pipeline, plan.cases(), plan.database, workers=pool, progress=told):
        found.append(example)
        if any(finding.violates for finding in example.findings):
            break
    rules = [{finding.rule for finding in example.findings} for example in found]
    replays = Replays(replayed, turned_down=rules.count({"input"}), failed=sum("failed" in rule for rule in rules))
    # Requests that a component does not take are no evidence, unless it takes none.
    telling = [example for example in found if any(finding.rule != "input" for finding in example.findings)]
    if telling:
        plan.progress(f"{subject.name}: shrinking", 0, 1)
        violating = found[-1] if any(finding.violates for finding in found[-1].findings) else telling[0]
        return evolve(replays, counterexample=away(pool, smallest, pipeline, violating, plan.database))
    if len(found) == effort.pairs and found:
        return evolve(replays, counterexample=found[0])
    if isinstance(pool, Workers) and effort.apart:
        plan.progress(f"{subject.name}: replaying in new processes", 0, 1)
        kept = remembered(pipeline, plan.cases()[: effort.apart], plan.database, pool.patience)
        if kept is not None:
            return evolve(replays, counterexample=kept)
    if effort.examples:
        plan.progress(f"{subject.name}: searching", 0, 1)
        most = None if plan.unit is None else plan.most
        search = partial(_searched, pipeline, effort.examples, plan.seed, plan.database, most, plan.delta)
        tried, example_found = away(pool, search)
        return evolve(replays, pairs=replayed + tried, counterexample=example_found)
    return replays


def _searched(
    pipeline: Pipeline, examples: int, seed: int, database: MakeDatabase, most: int | None, delta: Fraction | None
) -> tuple[int, Counterexample | None]:
    """Search with hypothesis. It makes its strategies itself, because they cannot be sent to another process."""
    among = cases() if most is None else customer_cases(most)
    return searched(pipeline, examples, seed, database, among=among.map(lambda case: evolve(case, delta=delta)))


def smallest(pipeline: Pipeline, example: Counterexample, database: MakeDatabase = make_database) -> Counterexample:
    """Shrink a counterexample as long as what it shows first is the same rule broken by the same stage."""

    def shown(findings: tuple[Finding, ...]) -> tuple[str, str] | None:
        violations = [finding for finding in findings if finding.violates]
        return next(((first.rule, first.stage) for first in violations or findings), None)

    wanted = shown(example.findings)
    hunt = Hunt(pipeline, database, lambda findings: shown(findings) == wanted, seen=example)
    shrink(example.case, hunt)
    return hunt.outcome() or example


def _sampled(plan: _Plan, pool: Executor | None) -> tuple[SampledCase, ...]:
    """The bounds on ε for each pair of neighbours; all of them hold together with the stated confidence."""
    subject, effort = plan.subject, plan.effort
    cases = plan.sampled_cases()
    tasks = [(case, plan.noise, effort.samples) for case in cases[: effort.cases]]
    if tasks and effort.epsilon > 1:
        tasks.append((evolve(cases[0], epsilon=1), plan.noise, effort.samples))
    if effort.exact_runs and plan.noise is SimulatedNoise:
        tasks.append((cases[0], secure_noise, effort.exact_runs))
    error_rate = plan.error_rate / (1 if plan.noise in (SimulatedNoise, secure_noise) else 2)
    results = []
    for place, (case, source, runs) in enumerate(tasks):
        usual = away(pool, PipelineSample(subject.pipeline, case, database=plan.database).plan)
        sample = PipelineSample(emphasised(subject, usual), case, source, plan.database)
        what = f"{subject.name}: sampling pair {place + 1} of {len(tasks)}"
        options: dict[str, Any] = {
            "samples": runs,
            "delta": case.delta or Fraction(0),
            "error_rate": error_rate / len(tasks),
            "seed": plan.seed + place,
        }
        told = partial(_told_of, plan.progress, what, 2 * runs)
        find = partial(_bounds_of, sample, pool, progress=told, **options)
        bounds, failed = plan.evidence.of(("sample", sample, options), find)
        results.append(SampledCase(case, _noise_name(source), bounds, runs, failed))
    return tuple(results)


def _bounds_of(sample: PipelineSample, pool: Executor | None, **options: Any) -> tuple[tuple[Bound, ...], int]:
    """The bounds from one pair of neighbours, and how many of the runs failed, on both databases together."""
    failed = 0

    def seen(batch: Sequence[Outcome]) -> None:
        nonlocal failed
        failed += sum(map(has_failed, batch))

    claims = sample.claims(away(pool, sample.plan))
    return lower_bounds(sample, claims, workers=pool, seen=seen, **options), failed


def _source_bounds(plan: _Plan, pool: Executor | None) -> tuple[Bound, ...]:
    """Sample the user's own source of noise alone: in a whole run, a scale that is too small might not show."""
    if plan.noise in (SimulatedNoise, secure_noise):
        return ()
    plan.progress(f"{plan.subject.name}: sampling the source of noise", 0, 1)
    rate, seed = plan.error_rate / 2, plan.seed
    find = partial(source_bounds, plan.noise, samples=SOURCE_SAMPLES, error_rate=rate, seed=seed, workers=pool)
    return plan.evidence.of(("source", plan.noise, rate, seed), find)


def _told_of(progress: Progress, what: str, total: int, done: int) -> None:
    progress(what, done, total)


def _noise_name(noise: MakeNoise) -> str:
    return {SimulatedNoise: "simulated", secure_noise: "exact"}.get(noise, getattr(noise, "__name__", "own"))
