"""Make a counterexample smaller while it stays one; no library needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import evolve

from privmine.audit.cases import Case, Row
from privmine.audit.customers import AnyCase, CustomerCase

Values: TypeAlias = tuple[Any, ...]

#: So many attempts are made at most; each is a pair of runs.
MOST_ATTEMPTS = 400
#: How a case is written down, and what is asked, where nothing depends on it.
_PLAIN: dict[str, Any] = {
    "removed": False,
    "reordered": False,
    "shuffled": False,
    "place": 0,
    "max_length": None,
    "seed": 0,
    "epsilon": Fraction(1),
}


def shrink(case: AnyCase, fails: Callable[[AnyCase], bool], attempts: int = MOST_ATTEMPTS) -> AnyCase:
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


def simpler_cases(case: AnyCase) -> Iterator[AnyCase]:
    """Cases that are simpler in one respect, the boldest steps first."""
    yield from _simpler_customers(case) if isinstance(case, CustomerCase) else _simpler_transactions(case)
    yield from _plainer_requests(case)


def _simpler_transactions(case: Case) -> Iterator[Case]:
    rows = case.transactions
    for fewer in _fewer(rows):
        yield evolve(case, transactions=fewer, place=min(case.place, len(fewer)))
    for kept in _fewer_items(case.items):
        transactions, extra = renumbered(rows, kept), renumbered([case.extra], kept)[0]
        yield evolve(case, items=len(kept), transactions=transactions, extra=extra)
    for shorter in _shorter(case.extra):
        yield evolve(case, extra=shorter)
    for others in _one_shorter(rows):
        yield evolve(case, transactions=others)


def _simpler_customers(case: CustomerCase) -> Iterator[CustomerCase]:
    for fewer in _fewer(case.customers):
        yield evolve(case, customers=fewer)
    for kept in _fewer_items(case.items):
        customers = tuple(renumbered(baskets, kept) for baskets in case.customers)
        yield evolve(case, items=len(kept), customers=customers, extra=renumbered(case.extra, kept))
    for baskets in (*_shorter(case.extra), *_one_shorter(case.extra)):
        yield evolve(case, extra=baskets)
    for others in _one_shorter(case.customers):
        yield evolve(case, customers=others)


def _fewer_items(items: int) -> Iterator[range | list[int]]:
    """The first few of the universe, then all but one."""
    yield from map(range, range(items))
    for gone in range(items - 1):
        yield [item for item in range(items) if item != gone]


def renumbered(rows: Sequence[Row], kept: Sequence[int]) -> tuple[Row, ...]:
    """Transactions with the kept items only, which are called by their places from 0 on."""
    number = {item: place for place, item in enumerate(kept)}
    return tuple(tuple(number[item] for item in row if item in number) for row in rows)


def _fewer(values: Values) -> Iterator[Values]:
    """None of them, either half, all but one."""
    if values:
        yield values[:0]
        half = len(values) // 2
        if half:
            yield values[half:]
            yield values[:half]
        for index in range(len(values)):
            yield values[:index] + values[index + 1 :]


def _shorter(values: Values) -> Iterator[Values]:
    """The first few, then all but one."""
    for size in range(len(values)):
        yield values[:size]
    for index in range(len(values) - 1):
        yield values[:index] + values[index + 1 :]


def _one_shorter(values: Values) -> Iterator[Values]:
    """The same with one of the values shorter."""
    for index, value in enumerate(values):
        for shorter in _shorter(value):
            yield (*values[:index], shorter, *values[index + 1 :])


def _plainer_requests(case: AnyCase) -> Iterator[AnyCase]:
    for name, plain in _PLAIN.items():
        if getattr(case, name, plain) != plain:
            yield evolve(case, **{name: plain})
    for k in {1, case.k // 2, case.k - 1}:
        if 1 <= k < case.k:
            yield evolve(case, k=k)
