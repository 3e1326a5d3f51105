"""The first test of all: no neighbour moves a query further than it declares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.queries import (
    VERIFIED,
    BinCounts,
    BoundedSupports,
    HeldHistogram,
    ItemCutoff,
    ItemSupports,
    LengthHistogram,
    MomentMatrix,
    PairSupports,
    Query,
    RankAtFrequency,
    RankGap,
    RankSupport,
    StateCounts,
    SumQuery,
    Supports,
    WeightedSupports,
    fair_weights,
)
from privmine.store.transactions import Transactions

ITEMS = 5
itemsets = st.lists(st.integers(0, ITEMS - 1), max_size=ITEMS + 2)  # Repeated items are wanted: baskets are sets.
databases = st.lists(itemsets, max_size=8)
some_itemsets = st.lists(itemsets, min_size=1, max_size=4)


def hostile(transaction: tuple[int, ...]) -> list[int]:
    """Contributes far more than anybody may."""
    return [1000 * len(transaction), -5, sum(transaction)]


def sparse_hostile(transaction: tuple[int, ...]) -> dict[int, int]:
    """Contributes too much in few entries, in no order."""
    return {2: 1000 * len(transaction), 0: -5 - sum(transaction)}


def repeating(transaction: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Names a position as often as the transaction has items, each time with a little."""
    return [1, *(1 for _ in transaction)], [1, *(1 for _ in transaction)]


QUERIES: dict[type[Query], st.SearchStrategy[Query]] = {
    ItemSupports: st.just(ItemSupports(ITEMS)),
    PairSupports: st.sets(st.integers(0, ITEMS - 1), min_size=2).map(lambda items: PairSupports(tuple(items))),
    Supports: some_itemsets.map(Supports),
    RankGap: st.builds(
        RankGap,
        rank=st.integers(1, 40),
        low=st.integers(1, 2),
        high=st.integers(2, 7),
        max_length=st.none() | st.integers(1, 3),
    ),
    ItemCutoff: st.builds(
        ItemCutoff,
        rank=st.integers(1, 40),
        low=st.integers(1, 2),
        high=st.just(4),
        max_length=st.none() | st.integers(1, 3),
    ).flatmap(
        lambda query: st.lists(st.integers(0, 99), min_size=query.size, max_size=query.size).map(
            lambda penalties: evolve(query, penalties=penalties)
        )
    ),
    MomentMatrix: st.sets(st.integers(0, ITEMS - 1)).map(MomentMatrix),
    StateCounts: st.sets(st.integers(0, 7)).map(lambda states: StateCounts((0, 2, 4), sorted(states))),
    RankAtFrequency: st.builds(
        RankAtFrequency,
        theta=st.fractions(Fraction(1, 20), 1, max_denominator=20),
        most=st.integers(1, 30),
        max_length=st.none() | st.integers(1, 3),
    ),
    RankSupport: st.builds(RankSupport, rank=st.integers(1, 40), max_length=st.none() | st.integers(1, 3)),
    BinCounts: some_itemsets.map(BinCounts),
    LengthHistogram: st.builds(
        LengthHistogram, cap=st.integers(0, 4), within=st.none() | st.just((0, 2)) | st.just((1,))
    ),
    WeightedSupports: st.builds(
        WeightedSupports,
        group=st.sampled_from([1, 2]),
        item_count=st.just(ITEMS),
        weights=st.lists(st.integers(0, 9), min_size=2, max_size=8),
        within=st.none() | st.just((0, 1, 4)),
    ),
    BoundedSupports: st.builds(
        BoundedSupports, itemsets=some_itemsets, weights=st.lists(st.integers(-9, 9), min_size=2, max_size=6)
    ),
    HeldHistogram: st.builds(
        HeldHistogram,
        edges=st.sets(st.integers(1, 6)).map(lambda edges: (0, *sorted(edges))),
        itemsets=st.none() | some_itemsets,
    ),
    SumQuery: st.builds(
        SumQuery,
        contribution=st.sampled_from([hostile, sparse_hostile, repeating]),
        dimension=st.just(3),
        l1=st.integers(1, 9),
        l2_squared=st.none() | st.integers(1, 30),
    ),
}
EXTERNALLY_TESTED = {"TruncatedSupports"}  # tests/queries/test_truncated.py: its candidates depend on the data.


def store(baskets: list[list[int]]):
    return Transactions.from_lists(baskets, items=list(range(ITEMS))).store


def assert_within_declaration(query: Query, baskets: list[list[int]], newcomer: list[int]) -> None:
    """The exact answers of neighbours differ by no more than the query declares."""
    before = query.evaluate(store(baskets))
    after = query.evaluate(store([*baskets, newcomer]))
    change = [int(a) - int(b) for a, b in zip(after, before, strict=True)]
    declared = query.sensitivity
    assert len(before) == query.size
    assert sum(abs(step) for step in change) <= declared.l1
    assert sum(step * step for step in change) <= declared.l2_squared
    assert max((abs(step) for step in change), default=0) <= declared.linf
    if declared.monotone:
        assert min(change, default=0) >= 0 or max(change, default=0) <= 0


@pytest.mark.parametrize("kind", QUERIES, ids=lambda kind: kind.__name__)
def test_neighbours_stay_within_the_declared_sensitivity(kind: type[Query]) -> None:
    """L1, L2, L∞ and monotonicity hold for one transaction added to any database."""

    @settings(max_examples=300, deadline=None)
    @given(query=QUERIES[kind], baskets=databases, newcomer=itemsets)
    def check(query: Query, baskets: list[list[int]], newcomer: list[int]) -> None:
        assert_within_declaration(query, baskets, newcomer)

    check()


def test_every_verified_query_is_under_this_test() -> None:
    """A query that joins the verified ones without a test here is noticed."""
    assert {kind.__name__ for kind in VERIFIED} - EXTERNALLY_TESTED == {kind.__name__ for kind in QUERIES}


@pytest.mark.parametrize(
    ("query", "baskets", "newcomer"),
    [
        (ItemSupports(ITEMS), [], list(range(ITEMS))),
        (PairSupports((0, 1, 2)), [], [0, 1, 2]),
        (Supports([(0,), (0, 1), ()]), [], [0, 1]),
        (BinCounts([(0, 1), (2,)]), [], [0, 2]),
        (LengthHistogram(3), [], [0]),
        (StateCounts([0, 2], [3, 1]), [], [0, 1]),
        (MomentMatrix([0, 1, 2]), [[1]], [0, 2]),
        (HeldHistogram((0, 2), [(0,), (1,)]), [], [0, 1]),
        (RankSupport(1), [], [0]),
        (SumQuery(hostile, 3, 9), [], [0, 1]),
        (SumQuery(sparse_hostile, 3, 9), [], [0, 1]),
        (WeightedSupports(2, ITEMS, [0, 0, 4, 1]), [], [0, 1]),
        (BoundedSupports([(0,), (1,), (0, 1)], [9, 5, 4, 3]), [], [0, 1]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Query) else "",
)
def test_the_declared_l1_is_reached(query: Query, baskets: list[list[int]], newcomer: list[int]) -> None:
    """Some neighbour moves the answer by all that is declared, so no noise is wasted."""
    change = query.evaluate(store([*baskets, newcomer])) - query.evaluate(store(baskets))
    assert int(np.abs(change).sum()) == query.sensitivity.l1


def test_an_underdeclared_query_is_caught() -> None:
    """The check itself can fail: a declaration that is half of the truth does not pass."""

    class HalfDeclared(ItemSupports):
        @property
        def sensitivity(self):
            from privmine.privacy import Sensitivity

            return Sensitivity(Fraction(ITEMS, 2), ITEMS, 1, monotone=True)

    with pytest.raises(AssertionError):
        assert_within_declaration(HalfDeclared(ITEMS), [[0]], [0, 1, 2, 3, 4])


def test_rank_gap_pads_with_zero() -> None:
    """Ranks beyond what occurs have support 0, for items and for itemsets."""
    query = RankGap(rank=40, low=1, high=7)
    np.testing.assert_array_equal(query.evaluate(store([[0], [0]])), [-2, 0, 0, 0, 0, 0, 0])


def test_a_cutoff_rises_and_falls_at_once() -> None:
    """One transaction raises the score of one number of items and lowers that of another: not monotone."""
    query = ItemCutoff(rank=3, low=1, high=4)
    baskets = [[0]] * 5 + [[1]] * 5 + [[2]] * 3
    change = query.evaluate(store([*baskets, [2]])) - query.evaluate(store(baskets))
    assert change.tolist() == [1, 0, 0, -1]
    assert not query.sensitivity.monotone


def test_rank_support_is_the_support_at_that_rank() -> None:
    """Ranks count itemsets by falling support, and beyond what occurs the support is 0."""
    baskets = [[0], [0, 1], [0, 1]]
    found = [int(RankSupport(rank).evaluate(store(baskets))[0]) for rank in (1, 2, 3, 4, 40)]
    assert found == [3, 2, 2, 0, 0]
    assert RankSupport(3, max_length=1).evaluate(store(baskets)).tolist() == [0]


def test_held_histogram_counts_only_the_given_itemsets() -> None:
    """T is the number of given itemsets that a transaction contains, whatever else is in it."""
    baskets = [[0, 1, 2, 3, 4], [0], [2, 3], []]
    query = HeldHistogram((0, 1, 2), [(0,), (0, 1), (1, 2)])
    assert query.evaluate(store(baskets)).tolist() == [2, 1, 1]
    assert HeldHistogram((0, 1, 3)).evaluate(store(baskets)).tolist() == [1, 2, 1]


@pytest.mark.parametrize("edges", [(), (1, 2), (0, 2, 2), (0, 3, 1)])
def test_a_histogram_needs_rising_edges_from_0(edges) -> None:
    """Ranges that overlap would count a transaction twice."""
    with pytest.raises(InputError, match="begin with 0 and rise"):
        HeldHistogram(edges)


def test_norms_of_a_long_table_are_those_of_its_worst_entry() -> None:
    """The table of a universe of a million items has its norms at once, the same as entry by entry."""
    weights = [0, 7, 7, 3, 3, 3, 1]
    declared = BoundedSupports([(i,) for i in range(6)], weights).sensitivity
    assert declared.l1 == max(held * weight for held, weight in enumerate(weights)) == 15
    assert declared.l2_squared == max(held * weight**2 for held, weight in enumerate(weights)) == 98
    long = WeightedSupports(1, 10**6, fair_weights(5, 1000, 10**6))
    assert long.sensitivity.l1 == 5000


def test_length_weights_that_round_up_are_paid_for() -> None:
    """The norm comes from the weights themselves: 3 items of weight 2 make an L1 of 6, not the 5 intended."""
    assert WeightedSupports(1, ITEMS, [0, 5, 2, 2]).sensitivity.l1 == 6


@pytest.mark.parametrize("norms", [{"l1": 0.001}, {"l1": 0}, {"l1": True}, {"l1": 1, "l2_squared": 0.5}])
def test_norms_that_clipping_cannot_keep_are_refused(norms) -> None:
    """Contributions are whole numbers, so a bound below 1, or a fraction, would be a false promise."""
    with pytest.raises(InputError, match="whole number"):
        SumQuery(hostile, 3, **norms)


@pytest.mark.parametrize("fault", [lambda t: [1 // (2 not in t)], lambda t: [1] * (2 in t), lambda t: [0.5]])
def test_a_contribution_that_fails_tells_nothing(fault) -> None:
    """It counts as zeros: a run that ends would say, unpaid, that such a transaction exists."""
    query = SumQuery(fault, 1, 1)
    for baskets in ([[0]], [[0], [2]]):
        assert len(query.evaluate(store(baskets))) == 1
    assert_within_declaration(query, [[0]], [2])


def test_weights_that_could_wrap_around_are_refused() -> None:
    """A sum beyond 64 bits would jump by more than any weight."""
    with pytest.raises(InputError, match="must not exceed"):
        WeightedSupports(1, ITEMS, [0, 2**62])
    with pytest.raises(ValueError, match="group"):
        WeightedSupports(3, ITEMS, [0, 1])


class Odd(BaseException):
    """Neither an error nor an exit."""


@pytest.mark.parametrize("kind", [SystemExit, Odd, GeneratorExit])
def test_a_contribution_cannot_leave_with_data(kind) -> None:
    """Whatever way out a function takes, it counts as zeros and nothing of it is told."""

    def leave(transaction):
        raise kind(f"secret {transaction}")

    assert SumQuery(leave, 1, 1).evaluate(store([[0, 1]])).tolist() == [0]


def test_a_sum_of_absurd_size_is_refused() -> None:
    """Before the charge, not when the memory runs out."""
    with pytest.raises(ValueError, match="dimension"):
        SumQuery(hostile, 10**9, 1)
