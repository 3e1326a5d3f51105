"""Hypothesis strategies for databases; hypothesis must be installed to import this module.

@given(databases())
def test_total(case):
    check_component(MyComponent(), cases=[case])
"""

from __future__ import annotations

from attrs import evolve
from hypothesis import strategies as st

from privmine.testing.trial_cases import TrialCase


@st.composite
def databases(
    draw: st.DrawFn, *, max_items: int = 6, max_transactions: int = 12, max_k: int = 20, max_epsilon: int = 10
) -> TrialCase:
    """Small databases of any shape, with a question to each."""
    items = draw(st.integers(0, max_items))
    basket = st.sets(st.integers(0, items - 1)) if items else st.just(set())
    return TrialCase(
        "generated database",
        [sorted(chosen) for chosen in draw(st.lists(basket, max_size=max_transactions))],
        items,
        k=draw(st.integers(1, max_k)),
        epsilon=draw(st.fractions(min_value="1/1000", max_value=max_epsilon, max_denominator=1000)),
        max_length=draw(st.none() | st.integers(1, max(1, items))),
    )


@st.composite
def neighbours(draw: st.DrawFn, /, **limits: int) -> tuple[TrialCase, TrialCase]:
    """Two databases that differ by one transaction, the smaller one first; the question is the same."""
    smaller = draw(databases(**limits))
    extra = draw(st.sets(st.integers(0, smaller.items - 1))) if smaller.items else set()
    position = draw(st.integers(0, len(smaller.baskets)))
    baskets = [*smaller.baskets[:position], sorted(extra), *smaller.baskets[position:]]
    return smaller, evolve(smaller, baskets=baskets)
