"""Make a counterexample smaller while it stays one; no library needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from attrs import evolve

from privmine.audit.cases import Case, Row

#: So many attempts are made at most; each is a pair of runs.
MOST_ATTEMPTS = 400


def shrink(case: Case, fails: Callable[[Case], bool], attempts: int = MOST_ATTEMPTS) -> Case:
    """The smallest case found that still fails; greedy, so that a smaller one may exist."""
    left = attempts
    smaller = True
    while smaller:
        smaller = False
        for candidate in simpler_cases(case):
            if left == 0:
                return case
            left -= 1
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def simpler_cases(case: Case) -> Iterator[Case]:
    """Cases that are simpler in one respect, the boldest steps first."""
    rows = case.transactions
    if rows:
        yield _with_rows(case, ())
        half = len(rows) // 2
        if half:
            yield _with_rows(case, rows[half:])
            yield _with_rows(case, rows[:half])
        for index in range(len(rows)):
            yield _with_rows(case, rows[:index] + rows[index + 1 :])
    yield from _with_fewer_items(case)
    for shorter in _shorter_rows(case.extra):
        yield evolve(case, extra=shorter)
    for index, row in enumerate(rows):
        for shorter in _shorter_rows(row):
            yield evolve(case, transactions=(*rows[:index], shorter, *rows[index + 1 :]))
    yield from _plainer_requests(case)


def _with_rows(case: Case, rows: tuple[Row, ...]) -> Case:
    return evolve(case, transactions=rows, place=min(case.place, len(rows)))


def _with_fewer_items(case: Case) -> Iterator[Case]:
    """The first items only, in the universe and in every transaction."""
    for items in range(case.items):
        yield evolve(
            case,
            items=items,
            transactions=tuple(tuple(item for item in row if item < items) for row in case.transactions),
            extra=tuple(item for item in case.extra if item < items),
        )


def _shorter_rows(row: Row) -> Iterator[Row]:
    for size in range(len(row)):
        yield row[:size]
    for index in range(len(row) - 1):
        yield row[:index] + row[index + 1 :]


def _plainer_requests(case: Case) -> Iterator[Case]:
    plain = Case(items=case.items, transactions=case.transactions, extra=case.extra)
    for name in ("removed", "reordered", "place", "max_length", "seed"):
        if getattr(case, name) != getattr(plain, name):
            yield evolve(case, **{name: getattr(plain, name)})
    if case.epsilon != 1:
        yield evolve(case, epsilon=Fraction(1))
    for k in {1, case.k // 2, case.k - 1}:
        if 1 <= k < case.k:
            yield evolve(case, k=k)
