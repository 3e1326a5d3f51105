"""Record a run on a database, replay it on a neighbour with the same noisy answers, and compare.

Privacy is proved stage by stage: what a component does may depend on the data only through noisy
answers, and each answer is as noisy as its query's sensitivity asks. With the answers frozen, the first
half of that says that two runs are equal, and the second is a comparison of exact values. Both are
decided without any statistics, for this pair of databases and these answers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from privmine.audit.cases import Case, MakeDatabase, make_database
from privmine.audit.distances import differences, exceeded_norms
from privmine.audit.findings import Finding
from privmine.audit.recording import (
    Call,
    RecordingNoise,
    ReplayingNoise,
    Trace,
    WatchedCurator,
    observed_run,
    watched_pipeline,
)
from privmine.errors import InputError
from privmine.model import BudgetPlan, Itemsets
from privmine.pipeline import Pipeline
from privmine.privacy import amount
from privmine.release import Release

#: How many cases a worker process takes at a time.
_BATCH = 50


@frozen
class Counterexample:
    """A case on which rules were broken, and which."""

    case: Case
    findings: tuple[Finding, ...]

    def snippet(self, pipeline: str = "pipeline") -> str:
        """Python that shows the findings again."""
        return f"from privmine.audit import Case, replay\n\nreplay({pipeline}, {self.case.code()})"


def replay(pipeline: Pipeline, case: Case, database: MakeDatabase = make_database) -> tuple[Finding, ...]:
    """Run the pipeline on both databases of a case, with the same noisy answers; what rules were broken.

    Args:
        pipeline: what to audit; it is not changed.
        case: two neighbouring databases, and a request.
        database: makes the databases, for a store of one's own.
    """
    recorded, replayed = traces(pipeline, case, database)
    found = [*accounting(recorded), *_comparison(recorded, replayed)]
    # Both runs may break the same rule; said once is enough.
    found.extend(finding for finding in accounting(replayed) if finding not in found)
    return tuple(found)


def traces(pipeline: Pipeline, case: Case, database: MakeDatabase = make_database) -> tuple[Trace, Trace]:
    """What is observed of the recorded run, and of its replay on the neighbour."""
    first, second = (database(rows, case.items) for rows in case.databases)
    request: dict[str, Any] = {"k": case.k, "epsilon": case.epsilon, "max_length": case.max_length}
    recorded, replayed = Trace(), Trace()
    recording = watched_pipeline(pipeline, recorded, partial(WatchedCurator, trace=recorded, replays=False))
    observed_run(recording, first, RecordingNoise(recorded, case.seed), recorded, **request)
    replaying = watched_pipeline(pipeline, replayed, partial(WatchedCurator, trace=replayed, replays=True))
    observed_run(replaying, second, ReplayingNoise(replayed, recorded.calls), replayed, **request)
    return recorded, replayed


def counterexamples(
    pipeline: Pipeline,
    cases: Iterable[Case],
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
    batches = _batches(iter(cases))
    found = (
        (_replay_batch(pipeline, batch, database) for batch in batches)
        if workers is None
        else _side_by_side(workers, pipeline, batches, database)
    )
    done = 0
    for size, examples in found:
        done += size
        progress(done)
        yield from examples


def _batches(cases: Iterator[Case]) -> Iterator[list[Case]]:
    while batch := list(islice(cases, _BATCH)):
        yield batch


def _replay_batch(pipeline: Pipeline, batch: list[Case], database: MakeDatabase) -> tuple[int, list[Counterexample]]:
    results = [(case, replay(pipeline, case, database)) for case in batch]
    return len(batch), [Counterexample(case, findings) for case, findings in results if findings]


def _side_by_side(
    workers: Executor, pipeline: Pipeline, batches: Iterator[list[Case]], database: MakeDatabase
) -> Iterator[tuple[int, list[Counterexample]]]:
    futures = [workers.submit(_replay_batch, pipeline, batch, database) for batch in batches]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:  # Nobody waits for the rest, if the reader has seen enough.
            future.cancel()


def accounting(trace: Trace) -> Iterator[Finding]:
    """What is wrong with a run in itself: unpaid noise, too little noise, too much spent."""
    plan = trace.result("allocate_budget")
    limits = plan.limits() if isinstance(plan, BudgetPlan) else {}
    spent = Fraction(0)
    for call in trace.calls:
        spent += call.charged
        yield from _price(call)
        limit = limits.get(call.stage, Fraction(1)) * trace.epsilon
        if spent > limit:
            yield Finding(
                "budget",
                call.stage,
                f"ε = {amount(spent)} was spent by then, of the {amount(limit)} that the plan allows",
            )
    if trace.release is not None:
        yield from _receipt(trace, trace.release, spent)
    for result in trace.results:
        if not _same(result.value, result.copy):
            yield Finding("tampering", result.stage, "the result is not what the stage returned")


def _price(call: Call) -> Iterator[Finding]:
    """Whether the noise of one call is what its charge pays for."""
    if call.query is None or call.sensitivity is None:
        yield Finding("unpaid", call.stage, f"noise for {call.size} values that no query was asked for")
        return
    if call.charged <= 0:
        yield Finding("unpaid", call.stage, f"the noise of {call.query.name!r} was drawn before it was charged")
        return
    sides = 1 if call.sensitivity.monotone else 2
    moves = call.sensitivity.l1 if call.kind == "measure" else call.draws * call.sensitivity.linf * sides
    # The rate of an exponential selection is the inverse of a scale.
    scale = 1 / call.factor if call.kind == "choose" else call.factor
    if scale < moves / call.charged:
        yield Finding(
            "scale",
            call.stage,
            f"{call.query.name!r} was answered with noise of scale {amount(scale)}; "
            f"ε = {amount(call.charged)} asks for {amount(moves / call.charged)}",
        )


def _receipt(trace: Trace, release: Release, spent: Fraction) -> Iterator[Finding]:
    receipt = release.receipt
    if receipt.epsilon > trace.epsilon or receipt.spent > receipt.epsilon:
        yield Finding(
            "budget",
            "",
            f"the receipt claims ε = {amount(receipt.epsilon)} and lists charges of {amount(receipt.spent)}; "
            f"ε = {amount(trace.epsilon)} was given",
        )
    if receipt.spent != spent:
        yield Finding(
            "budget", "", f"the receipt lists charges of ε = {amount(receipt.spent)}, but {amount(spent)} was drawn for"
        )


def _comparison(recorded: Trace, replayed: Trace) -> Iterator[Finding]:
    """What differs between the two runs, although all that they were told is the same."""
    if replayed.diverged:
        yield Finding("calls", _stage_of_divergence(recorded, replayed), replayed.diverged)
    for one, other in zip(recorded.calls, replayed.calls, strict=False):
        if one.shape == other.shape:
            yield from _same_question(one, other)
            yield from _within_sensitivity(one, other)
    yield from _same_results(recorded, replayed)
    if replayed.diverged:
        return  # What follows a divergence is no finding of its own.
    if len(recorded.calls) != len(replayed.calls):
        yield Finding(
            "calls",
            "",
            f"{len(recorded.calls)} answers were drawn on the one database, {len(replayed.calls)} on its neighbour",
        )
    yield from _same_ending(recorded, replayed)


def _stage_of_divergence(recorded: Trace, replayed: Trace) -> str:
    stage = replayed.calls[-1].stage
    if stage == "nobody" and len(replayed.calls) <= len(recorded.calls):
        return recorded.calls[len(replayed.calls) - 1].stage
    return stage


def _same_question(one: Call, other: Call) -> Iterator[Finding]:
    first, second = one.query, other.query
    if type(first) is not type(second) or (first and second and not _equal_queries(first, second)):
        yield Finding("query", one.stage, f"{first!r} was asked on the one database, {second!r} on its neighbour")
    for what in ("sensitivity", "charged", "factor"):
        before, after = getattr(one, what), getattr(other, what)
        if before != after:
            yield Finding("query", one.stage, f"its {what} is {before} on the one database, {after} on its neighbour")


def _equal_queries(first: Any, second: Any) -> bool:
    """Whether two queries ask the same; those that do not compare by value are compared by what they show."""
    compares = "__eq__" in {name for owner in type(first).__mro__[:-1] for name in vars(owner)}
    return _same(first, second) if compares else (first.name, first.size) == (second.name, second.size)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays, which have no single truth value, by what they hold."""
    try:
        return bool(one == other)
    except ValueError:
        return pickle.dumps(one) == pickle.dumps(other)


def _within_sensitivity(one: Call, other: Call) -> Iterator[Finding]:
    if one.sensitivity is None or one.query is None:
        return
    moved = differences(one, other)
    name = one.query.name
    if moved is None:
        yield Finding("candidates", one.stage, f"{name!r} lists other candidates for the neighbour, and has no tail")
        return
    for norm, measured, declared in exceeded_norms(moved, one.sensitivity):
        yield Finding(
            "sensitivity",
            one.stage,
            f"{name!r} moved by {measured} in the {norm} norm, and declares at most {amount(declared)}",
        )
    if one.sensitivity.monotone and min(moved, default=0) < 0 < max(moved, default=0):
        yield Finding("direction", one.stage, f"{name!r} rose in some values and fell in others")


def _same_results(recorded: Trace, replayed: Trace) -> Iterator[Finding]:
    for one, other in zip(recorded.results, replayed.results, strict=False):
        if not _same(one.copy, other.copy):
            yield Finding(
                "result",
                one.stage,
                f"{_contrast(one.copy, other.copy)}; it looks at the data, or draws randomness of its own",
            )
            return  # What follows from it is no finding of its own.


def _same_ending(recorded: Trace, replayed: Trace) -> Iterator[Finding]:
    one, other = recorded.failure, replayed.failure
    if (type(one), str(one)) != (type(other), str(other)):
        yield Finding(
            "failure",
            _stage(one or other),
            f"{one or 'no error'} on the one database, {other or 'no error'} on its neighbour",
        )
    elif one is not None:
        # A component may turn down a request; that is decided from public facts, as both runs show.
        rule = "input" if isinstance(one.__cause__ or one, InputError) else "refused"
        yield Finding(rule, _stage(one), str(one))
    elif recorded.release != replayed.release and all(
        first.copy == second.copy for first, second in zip(recorded.results, replayed.results, strict=False)
    ):
        yield Finding("release", "", "the releases differ, although all stages returned the same")


def _stage(error: object) -> str:
    return getattr(error, "stage", "")


def _contrast(one: Any, other: Any) -> str:
    """Where two results differ; the fields that are equal are left out."""
    if type(one) is not type(other) or not attrs.has(type(one)):
        return f"{_short(one)} on the one database, {_short(other)} on its neighbour"
    fields = {field.name: (getattr(one, field.name), getattr(other, field.name)) for field in attrs.fields(type(one))}
    return ", ".join(
        f"{name} is {_short(first)} on the one database and {_short(second)} on its neighbour"
        for name, (first, second) in fields.items()
        if not _equal(first, second)
    )


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other)


def _short(value: Any) -> str:
    text = str(list(value)) if isinstance(value, np.ndarray | Itemsets) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
