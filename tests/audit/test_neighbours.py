"""The search by hypothesis for the smallest pair of neighbours on which a rule is broken."""

from __future__ import annotations

import sys

import pytest
from attrs import frozen
from hypothesis import given, settings
from slow_cases import slow_after

from privmine.api import Elements, hookimpl
from privmine.audit import CustomerDatabase, replay
from privmine.audit.neighbours import cases, customer_cases, searched
from privmine.errors import InputError
from privmine.pipeline import Pipeline
from privmine.privacy.unit import Unit


@frozen
class LongTransactions:
    """Leaks whether there is a transaction of more than two items."""

    @hookimpl
    def select_elements(self, request, curator) -> Elements:
        histogram = curator._access.store.lengths(None, 3)
        return Elements((0,) if histogram[3] else ())


def test_the_smallest_counterexample_is_found() -> None:
    """Hypothesis shrinks to the one transaction that matters, and the snippet shows it again."""
    example = searched(Pipeline(select_elements=LongTransactions()), examples=100)[1]
    assert example is not None
    assert len(set(example.case.extra)) == 3
    assert example.case.transactions == ()
    assert {finding.rule for finding in example.findings} >= {"result"}
    assert f"case = {example.case.code()}\nprint(*replay(pipeline, case)" in example.snippet()


@pytest.mark.parametrize("unit", slow_after(1, [Unit("customer", baskets=2), Unit("customer", merged=True)]))
def test_customers_are_searched_too(unit) -> None:
    """With a unit nothing is found; without it, the customer with two transactions."""
    options = {"examples": 60, "among": customer_cases(2)}
    assert searched(Pipeline(), database=CustomerDatabase(unit), **options)[1] is None
    example = searched(Pipeline(), database=CustomerDatabase(), **options)[1]
    assert example is not None
    assert example.case.customers == ()
    assert len(example.case.extra) == 2


def test_nothing_is_found_in_the_default_pipeline() -> None:
    """A sound pipeline has no counterexample."""
    assert searched(Pipeline(), examples=40)[1] is None


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_the_strategies_serve_tests_of_ones_own(case) -> None:
    """A plugin author can write a property with `cases()` and `replay`."""
    assert replay(Pipeline(), case) == ()


def test_without_hypothesis_the_error_says_what_to_install(monkeypatch) -> None:
    """The extra is optional, and its absence is no traceback."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(InputError, match=r"privmine\[audit\]"):
        searched(Pipeline())
