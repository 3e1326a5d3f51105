"""Record runs in one new process and replay them in another, where nothing is left of the first database.

A component that remembers data, in a cache of its module for instance, gives the same to both runs of one
process: its replay agrees with what it recorded, and so do all later runs. Only a process that has never seen the
first database shows that something else would have come of the second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from attrs import evolve

from privmine.audit.cases import Case, MakeDatabase, Row
from privmine.audit.comparing import comparable, first_difference
from privmine.audit.customers import AnyCase
from privmine.audit.findings import Finding
from privmine.audit.messages import Said, steady, told_apart, words_of
from privmine.audit.replay import Counterexample, recorded_run, replayed_run
from privmine.audit.trace import Call, Event, Result, Trace
from privmine.audit.workers import Workers, away, travels
from privmine.pipeline import Pipeline

_NOT_COMPARED = "what cannot be sent to another process"


class PortableError(Exception):
    """Replaces the error of a run, because another process may not know its class."""


def remembered(
    pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase, patience: float
) -> Counterexample | None:
    """The first case on which runs in two new processes differ although they got the same answers.

    The databases are no neighbours: what a run does with the answers that it is told may depend on no database at
    all, and those that have nothing in common show it best.
    """
    with _same_hashes():
        with Workers(1, patience) as first:
            recorded = away(first, _recorded, pipeline, cases, database)
        with Workers(1, patience) as second:
            replayed = away(second, _replayed, pipeline, cases, database, [trace for trace, _ in recorded])
    for case, (one, said), (other, answered) in zip(cases, recorded, replayed, strict=True):
        difference = first_difference(one, other)[1] or told_apart(said, answered)
        if difference is not None:
            told = (
                f"{difference.message}. The databases have nothing in common, and each run had its own process. "
                "Runs in one process agree, so the component keeps data from one run to the next"
            )
            return Counterexample(case, (Finding(difference.rule, difference.stage, told),), repeats=False)
    return None


@contextmanager
def _same_hashes() -> Iterator[None]:
    """Make new processes iterate over sets in the same order, which is otherwise random."""
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = before or "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONHASHSEED"]


def _recorded(pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase) -> list[tuple[Trace, Said]]:
    return [_observed(partial(recorded_run, pipeline, case, database)) for case in cases]


def _replayed(
    pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase, recorded: Sequence[Trace]
) -> list[tuple[Trace, Said]]:
    return [
        _observed(partial(replayed_run, pipeline, _mirrored(case), trace, database))
        for case, trace in zip(cases, recorded, strict=True)
    ]


def _observed(run: Callable[[], Trace]) -> tuple[Trace, Said]:
    """The part of a run that can be sent to another process, and what it says each time."""
    trace = run()
    return _portable(trace), steady(lambda: run().messages) if trace.messages else ()


def _mirrored(case: AnyCase) -> AnyCase:
    """The same database with the items in reverse order, so that other items are the most frequent."""

    def mirrored(rows: Sequence[Row]) -> tuple[Row, ...]:
        return tuple(tuple(case.items - 1 - item for item in row) for row in rows)

    if isinstance(case, Case):
        return evolve(case, transactions=mirrored(case.transactions), extra=mirrored([case.extra])[0])
    return evolve(case, customers=tuple(map(mirrored, case.customers)), extra=mirrored(case.extra))


def _portable(trace: Trace) -> Trace:
    """What is compared of a run, or played back, as it can be sent to another process."""
    failure = None if trace.failure is None else PortableError("\n".join(words_of(trace.failure)))
    return Trace(
        [_portable_event(event) for event in trace.events],
        stage=trace.failed_stage or trace.stage,
        request=trace.request,
        release=trace.release,
        failure=failure,
        diverged=trace.diverged,
    )


def _portable_event(event: Event) -> Event:
    if isinstance(event, Call):
        return Call(
            event.stage,
            event.kind,
            event.size,
            event.draws,
            event.factor,
            np.zeros(0, dtype=np.int64),  # Exact values differ between any two databases.
            query=event.query if travels(event.query) else None,
            sensitivity=event.sensitivity,
            charged=event.charged,
            answer=event.answer,
        )
    copy = comparable(event.copy)
    return Result(event.stage, None, copy if travels(copy) else _NOT_COMPARED)
