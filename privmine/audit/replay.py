"""Record a run on a database, replay it on a neighbour with the same noisy answers, and compare.

Privacy is proved stage by stage: what a component does may depend on the data only through noisy
answers, and each answer is as noisy as its query's sensitivity asks. With the answers frozen, the first
half of that says that two runs are equal, and the second is a comparison of exact values. Both are
decided without any statistics, for this pair of databases and these answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import islice

from attrs import define, evolve, field, frozen
from attrs.validators import min_len

from privmine.audit.accounts import accounting
from privmine.audit.cases import MakeDatabase, make_database
from privmine.audit.comparing import first_difference
from privmine.audit.customers import AnyCase, CustomerDatabase
from privmine.audit.distances import differences, exceeded_norms, outside_cone
from privmine.audit.findings import Finding
from privmine.audit.messages import steady, told_apart
from privmine.audit.recording import RecordingNoise, ReplayingNoise, WatchedCurator, observed_run, watched_pipeline
from privmine.audit.trace import Call, Trace
from privmine.audit.workers import side_by_side
from privmine.errors import InputError, PrivmineError, QueryError
from privmine.noise.protocol import NoiseSource
from privmine.pipeline import Pipeline
from privmine.privacy import ConeSensitivity, amount

#: How many cases a worker process takes at a time.
_BATCH = 50
#: What a snippet says where the pipeline cannot be made by a line of Python.
UNKNOWN_PIPELINE = (
    "# The audited component cannot be imported. Define it, and make `pipeline` from it, before these lines."
)


@frozen
class Counterexample:
    """A case on which rules were broken, with the findings.

    Attributes:
        case: the pair of databases, and the request.
        findings: the rules that were broken; at least one.
        repeats: whether the same happened when the case was replayed once more.
    """

    case: AnyCase
    findings: tuple[Finding, ...] = field(validator=min_len(1))
    repeats: bool = True

    def snippet(self, setup: str = UNKNOWN_PIPELINE, database: MakeDatabase = make_database) -> str:
        """Python that shows the findings again.

        Args:
            setup: Python that makes the audited `pipeline`; `Subject.setup` is that of a subject, and
                finds `subject_of` imported.
            database: what made the databases.
        """
        names, arguments = [type(self.case).__name__, "replay"], ["pipeline", "case"]
        if "subject_of(" in setup:
            names.append("subject_of")
        lines = [setup, f"case = {self.case.code()}"]
        if isinstance(database, CustomerDatabase):
            names.append("CustomerDatabase")
            arguments.append("CustomerDatabase()" if database.unit.is_transaction else repr(database))
            if not database.unit.is_transaction:
                lines.insert(0, "from privmine.api import Unit")
        elif database is not make_database:
            arguments.append("database")
            lines.append("# Your own function made the databases. Pass it as `database`.")
        lines.insert(0, f"from privmine.audit import {', '.join(sorted(names))}")
        return "\n".join([*lines, f'print(*replay({", ".join(arguments)}), sep="\\n")'])


def replay(pipeline: Pipeline, case: AnyCase, database: MakeDatabase = make_database) -> tuple[Finding, ...]:
    """Run the pipeline on both databases of a case, with the same noisy answers; what rules were broken.

    Of what differs between the two runs, the first is told: what follows may be its consequence.

    Args:
        pipeline: what to audit; it is not changed.
        case: two neighbouring databases, and a request.
        database: makes the databases, for a store of one's own.
    """
    recorded, replayed = traces(pipeline, case, database)
    agreed, difference = first_difference(recorded, replayed)
    if difference is None and recorded.messages != replayed.messages:
        difference = told_apart(
            steady(lambda: recorded_run(pipeline, case, database).messages),
            steady(lambda: replayed_run(pipeline, case, recorded, database).messages),
        )
    found = [*accounting(recorded)]
    for one, other in zip(recorded.events[:agreed], replayed.events, strict=False):
        if isinstance(one, Call) and isinstance(other, Call):
            found.extend(_within_sensitivity(one, other))
    if difference is not None:
        found.append(difference)
    else:
        # Both runs may break the same rule; said once is enough.
        found.extend(finding for finding in accounting(replayed) if finding not in found)
        found.extend(_refusal(recorded))
    return tuple(found)


@define
class Hunt:
    """Replays cases while a smaller one is searched, and remembers the last one with the wanted finding.

    A component that keeps state between runs, goes by the clock or draws randomness of its own may break a
    rule once and never again. What was seen then is not lost.
    """

    pipeline: Pipeline
    database: MakeDatabase
    wanted: Callable[[tuple[Finding, ...]], bool]
    seen: Counterexample | None = None
    tried: int = 0

    def __call__(self, case: AnyCase) -> bool:
        """Whether this case shows the wanted finding."""
        self.tried += 1
        findings = replay(self.pipeline, case, self.database)
        if self.wanted(findings):
            self.seen = Counterexample(case, findings)
            return True
        return False

    def outcome(self) -> Counterexample | None:
        """The last case that showed it, and whether it shows it again."""
        seen = self.seen
        return None if seen is None else evolve(seen, repeats=self(seen.case))


def traces(pipeline: Pipeline, case: AnyCase, database: MakeDatabase = make_database) -> tuple[Trace, Trace]:
    """What is observed of the recorded run, and of its replay on the neighbour."""
    recorded = recorded_run(pipeline, case, database)
    # The first database is gone by now: whoever searches the memory for one must not find the same twice.
    return recorded, replayed_run(pipeline, case, recorded, database)


def recorded_run(pipeline: Pipeline, case: AnyCase, database: MakeDatabase = make_database) -> Trace:
    """What is observed of a run on the first database of a case."""
    trace = Trace()
    return _observed(pipeline, case, 0, database, trace, RecordingNoise(trace, case.seed), replays=False)


def replayed_run(pipeline: Pipeline, case: AnyCase, recorded: Trace, database: MakeDatabase = make_database) -> Trace:
    """What is observed of a run on the second database of a case, with the answers of a recorded run."""
    trace = Trace()
    return _observed(pipeline, case, 1, database, trace, ReplayingNoise(trace, recorded), replays=True)


def _observed(
    pipeline: Pipeline,
    case: AnyCase,
    side: int,
    database: MakeDatabase,
    trace: Trace,
    noise: NoiseSource,
    *,
    replays: bool,
) -> Trace:
    watch = partial(WatchedCurator, trace=trace, replays=replays)
    rows = database(case.databases[side], case.items)
    return observed_run(watched_pipeline(pipeline, trace, watch), rows, noise, trace, watch=watch, **case.request)


def counterexamples(
    pipeline: Pipeline,
    cases: Iterable[AnyCase],
    database: MakeDatabase = make_database,
    *,
    workers: Executor | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Counterexample]:
    """Replay many cases, and give those on which a rule was broken as they are found.

    Args:
        pipeline: what to audit.
        cases: where to audit it.
        database: makes the databases.
        workers: runs batches of cases side by side; what it is given must be picklable.
        progress: told how many cases are done.
    """
    tasks = ((pipeline, batch, database) for batch in _batches(iter(cases)))
    found = side_by_side(workers, _replay_batch, tasks)
    done = 0
    for size, examples in found:
        done += size
        progress(done)
        yield from examples


def _batches(cases: Iterator[AnyCase]) -> Iterator[list[AnyCase]]:
    while batch := list(islice(cases, _BATCH)):
        yield batch


def _replay_batch(pipeline: Pipeline, batch: list[AnyCase], database: MakeDatabase) -> tuple[int, list[Counterexample]]:
    results = [(case, replay(pipeline, case, database)) for case in batch]
    return len(batch), [Counterexample(case, findings) for case, findings in results if findings]


def _within_sensitivity(one: Call, other: Call) -> Iterator[Finding]:
    if one.sensitivity is None or one.query is None:
        return
    moved, name = differences(one, other), one.query.name
    assert moved is not None  # Other candidates are a difference between the runs.
    for norm, measured, declared in exceeded_norms(moved, one.sensitivity):
        yield Finding(
            "sensitivity",
            one.stage,
            f"{name!r} moved by {measured} in the {norm} norm, but declares at most {amount(declared)}",
        )
    if isinstance(one.sensitivity, ConeSensitivity) and (outside := outside_cone(one, other, one.sensitivity)):
        yield Finding("sensitivity", one.stage, f"{name!r} did not move by moment matrices: {outside}")
    if one.sensitivity.monotone and min(moved, default=0) < 0 < max(moved, default=0):
        yield Finding("direction", one.stage, f"{name!r} rose in some values and fell in others")


def _refusal(trace: Trace) -> Iterator[Finding]:
    """A finding if both runs failed in the same way."""
    if trace.failure is not None:
        yield Finding(_ending(trace.failure), trace.failed_stage, str(trace.failure))


def _ending(failure: BaseException) -> str:
    """What ended a run: a component that refused the request, the engine, or an error."""
    cause = failure.__cause__ or failure
    if isinstance(cause, InputError):
        return "input"  # That is decided from public facts, as both runs show.
    return "refused" if isinstance(cause, PrivmineError) and not isinstance(cause, QueryError) else "failed"
