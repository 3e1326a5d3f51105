"""Hypothesis strategies for databases and their neighbours, and a search for the smallest counterexample.

Needs hypothesis, which is part of the extra `audit`. The plain generator of `cases.py` covers the same
kinds of neighbours without it; hypothesis looks further, and shrinks better.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from privmine.audit.cases import BUDGETS, Case, MakeDatabase, Row, make_database
from privmine.audit.customers import CustomerCase
from privmine.audit.replay import Counterexample, Hunt
from privmine.extras import import_extra
from privmine.pipeline import Pipeline

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def require_hypothesis() -> Any:
    """The library, or an error that says how to install it."""
    otherwise = "Or use the quick audit, which does not need it."
    return import_extra("hypothesis", "The search for neighbours needs", otherwise)


def rows(items: int) -> SearchStrategy[Row]:
    """Transactions over so many items, as users bring them: also empty, full, and with repetitions."""
    st = require_hypothesis().strategies
    if not items:
        return st.just(())  # type: ignore[no-any-return]
    any_row = st.lists(st.integers(0, items - 1), max_size=items + 2).map(tuple)
    return st.one_of(any_row, st.just(()), st.just(tuple(range(items))))  # type: ignore[no-any-return]


def databases(items: int, largest: int = 10) -> SearchStrategy[tuple[Row, ...]]:
    """Databases over so many items, the empty one included."""
    st = require_hypothesis().strategies
    return st.lists(rows(items), max_size=largest).map(tuple)  # type: ignore[no-any-return]


def extra_rows(transactions: tuple[Row, ...], items: int) -> SearchStrategy[Row]:
    """The extra transaction of a neighbour: any one, a copy of an existing one, or one that breaks a tie.

    One of the length of another transaction, or longer by 1, comes from extending a row that is there.
    """
    st = require_hypothesis().strategies
    choices = [rows(items)]
    if transactions:
        present = st.sampled_from(transactions)
        choices.append(present)
        if items:
            choices.append(st.tuples(present, st.integers(0, items - 1)).map(lambda pair: (*pair[0], pair[1])))
    tied = _tied_items(transactions, items)
    if tied:
        choices.append(st.sampled_from(tied).map(lambda item: (item,)))
    return st.one_of(choices)  # type: ignore[no-any-return]


def _tied_items(transactions: tuple[Row, ...], items: int) -> list[int]:
    """Items that share their support with another one."""
    supports = [sum(item in row for row in transactions) for item in range(items)]
    return [item for item in range(items) if supports.count(supports[item]) > 1]


def cases(max_items: int = 6, max_transactions: int = 10) -> SearchStrategy[Case]:
    """Pairs of neighbouring databases with a request, for your own tests."""
    st = require_hypothesis().strategies

    @st.composite  # type: ignore[untyped-decorator, unused-ignore]
    def draw_case(draw: Callable[..., Any]) -> Case:
        items = draw(st.integers(0, max_items))
        transactions = draw(databases(items, max_transactions))
        return Case(
            items=items,
            transactions=transactions,
            extra=draw(extra_rows(transactions, items)),
            k=draw(st.integers(1, 2 * items + 2)),
            epsilon=Fraction(draw(st.sampled_from(("1", *BUDGETS)))),
            max_length=draw(st.sampled_from((None, 1, 2, 3))),
            place=draw(st.integers(0, len(transactions))),
            reordered=draw(st.booleans()),
            removed=draw(st.booleans()),
            seed=draw(st.integers(0, 2**16)),
        )

    return draw_case()  # type: ignore[no-any-return]


def customer_cases(most: int, max_items: int = 5) -> SearchStrategy[CustomerCase]:
    """Pairs of databases that differ by a whole customer, of whom at most so many transactions count."""
    st = require_hypothesis().strategies

    @st.composite  # type: ignore[untyped-decorator, unused-ignore]
    def draw_case(draw: Callable[..., Any]) -> CustomerCase:
        items = draw(st.integers(0, max_items))
        repeated = st.tuples(rows(items), st.integers(0, most + 2)).map(lambda pair: (pair[0],) * pair[1])
        return CustomerCase(
            items=items,
            customers=draw(st.lists(databases(items, most + 2), max_size=4)),
            # Each transaction any one, or all of them the same: then one customer moves the counts furthest.
            extra=draw(st.one_of(databases(items, most + 2), repeated)),
            k=draw(st.integers(1, 2 * items + 2)),
            epsilon=Fraction(draw(st.sampled_from(("1", *BUDGETS)))),
            max_length=draw(st.sampled_from((None, 1, 2, 3))),
            shuffled=draw(st.booleans()),
            removed=draw(st.booleans()),
            seed=draw(st.integers(0, 2**16)),
        )

    return draw_case()  # type: ignore[no-any-return]


def searched(
    pipeline: Pipeline,
    examples: int = 300,
    seed: int = 0,
    database: MakeDatabase = make_database,
    *,
    among: SearchStrategy[Any] | None = None,
) -> tuple[int, Counterexample | None]:
    """Look for neighbours on which a rule is broken: how many were tried, and the smallest that was found.

    Args:
        pipeline: what to audit.
        examples: how many pairs may be tried.
        seed: other seeds try other pairs.
        database: makes the databases.
        among: the pairs to choose from, such as `customer_cases(5)`; by default `cases()`.
    """
    hypothesis = require_hypothesis()
    settings = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    hunt = Hunt(pipeline, database, lambda findings: any(finding.rule != "input" for finding in findings))
    # What does not repeat, hypothesis may call flaky; whatever it says, what was seen counts.
    with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
        chosen = cases() if among is None else among
        hypothesis.find(chosen, hunt, settings=settings, random=Random(seed))  # noqa: S311
    return hunt.tried, hunt.outcome()
