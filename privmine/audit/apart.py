"""Record runs in one new process and replay them in another, where nothing is left of the first database.

A component that remembers data, in a cache of its module for instance, gives the same to both runs of one
process: its replay agrees with what it recorded, and so do all later runs. Only a process that has never seen the
first database shows that something else would have come of the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve

from privmine.audit.cases import Case, MakeDatabase, Row
from privmine.audit.comparing import comparable, first_difference, words_of
from privmine.audit.customers import AnyCase
from privmine.audit.findings import Finding
from privmine.audit.replay import Counterexample, recorded_run, replayed_run
from privmine.audit.trace import Call, Event, Result, Trace
from privmine.audit.workers import Workers, away, travels
from privmine.pipeline import Pipeline

_NOT_COMPARED = "what cannot be sent to another process"


class PortableError(Exception):
    """Stands for the error that a run ended with, whose class another process may not know."""


def remembered(
    pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase, patience: float
) -> Counterexample | None:
    """The first case on which a run in a new process differs from one that was told the same in another.

    The databases are no neighbours: what a run does with the answers that it is told may depend on no database at
    all, and those that have nothing in common show it best.
    """
    with Workers(1, patience) as first:
        recorded = away(first, _recorded, pipeline, cases, database)
    with Workers(1, patience) as second:
        replayed = away(second, _replayed, pipeline, cases, database, recorded)
    for case, one, other in zip(cases, recorded, replayed, strict=True):
        _, difference = first_difference(one, other)
        if difference is not None:
            told = (
                f"{difference.message}. The databases have nothing in common, and each run had a process of its own; "
                "runs of one process agree, so that it keeps something of the data from run to run"
            )
            return Counterexample(case, (Finding(difference.rule, difference.stage, told),), repeats=False)
    return None


def _recorded(pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase) -> list[Trace]:
    return [_portable(recorded_run(pipeline, case, database)) for case in cases]


def _replayed(
    pipeline: Pipeline, cases: Sequence[AnyCase], database: MakeDatabase, recorded: Sequence[Trace]
) -> list[Trace]:
    return [
        _portable(replayed_run(pipeline, _mirrored(case), trace, database))
        for case, trace in zip(cases, recorded, strict=True)
    ]


def _mirrored(case: AnyCase) -> AnyCase:
    """The same with the last item for the first one and so on, so that what was most frequent is not any more."""

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
        # Without the query, which may hold anything, and the exact values, which differ between any two databases.
        nothing = np.zeros(0, dtype=np.int64)
        return Call(event.stage, event.kind, event.size, event.draws, event.factor, nothing, None, answer=event.answer)
    copy = comparable(event.copy)
    return Result(event.stage, None, copy if travels(copy) else _NOT_COMPARED)
