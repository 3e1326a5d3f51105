"""Downward closure: of noisy counts when mining, of a release afterwards."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmine as pm
from privmine.model import NoisyCounts
from privmine.privacy import PureDP, Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.closure import CLOSED, closed_top, without_gaps


def is_closed(itemsets: Any) -> bool:
    """Whether every nonempty subset of each is there."""
    there = {frozenset(items) for items in itemsets}
    return all(
        frozenset(subset) in there
        for items in itemsets
        for size in range(1, len(items))
        for subset in combinations(items, size)
    )


def subsets(bases: Any) -> list[tuple[int, ...]]:
    """All subsets of the bases, the empty one included, each once."""
    found = {
        subset for basis in bases for size in range(len(basis) + 1) for subset in combinations(sorted(basis), size)
    }
    return sorted(found, key=lambda items: (len(items), items))


def counts_of(table: dict[tuple[int, ...], float]) -> NoisyCounts:
    return NoisyCounts(list(table), list(table.values()), [1.0] * len(table), 100.0, 1.0)


bases = st.lists(st.lists(st.integers(0, 7), unique=True, min_size=1, max_size=5), min_size=1, max_size=3)


@st.composite
def tables(draw: st.DrawFn) -> dict[tuple[int, ...], float]:
    """Noisy counts of all subsets of a few bases, with ties."""
    return {items: draw(st.sampled_from([-3.0, 0.0, 1.0, 2.5, 9.0])) for items in subsets(draw(bases))}


def smallest_part(table: dict[tuple[int, ...], float], items: tuple[int, ...]) -> float:
    return min(table[part] for size in range(1, len(items) + 1) for part in combinations(items, size))


@given(table=tables(), k=st.integers(1, 40), longest=st.one_of(st.none(), st.integers(1, 4)))
def test_the_closed_top_is_what_its_definition_says(table: Any, k: int, longest: int | None) -> None:
    """Ranked by the smallest count of any subset, ties to the shorter; found here by looking at all of them."""
    counts = counts_of(table)
    ranked = sorted(
        (items for items in table if items and (longest is None or len(items) <= longest)),
        key=lambda items: (-smallest_part(table, items), len(items), items),
    )
    rows, _ = closed_top(counts, k, longest)
    found = [counts.itemsets[row] for row in rows]
    assert set(found) == set(ranked[:k])
    assert len(found) == min(k, len(ranked))
    assert is_closed(found)
    assert found == sorted(found, key=lambda items: (-table[items], len(items), items))


@given(table=tables(), k=st.integers(1, 40))
def test_a_closed_top_is_the_plain_top_where_that_is_closed(table: Any, k: int) -> None:
    """Nothing changes for whoever had all subsets anyway, ties aside: the counts here are made distinct."""
    distinct = {items: count + position / 1000 for position, (items, count) in enumerate(table.items())}
    counts = counts_of(distinct)
    plain = counts.top(k)
    if is_closed([counts.itemsets[row] for row in plain]):
        assert closed_top(counts, k)[0] == plain


def test_an_itemset_without_its_parts_among_the_candidates_is_left_out() -> None:
    """Where a method names its candidates itself; nothing is made up to fill the place."""
    counts = counts_of({(0,): 5.0, (0, 1): 9.0, (2,): 1.0, (0, 2): 8.0, (3, 4, 5): 7.0})
    assert [counts.itemsets[row] for row in closed_top(counts, 5)[0]] == [(0, 2), (0,), (2,)]


def test_missing_parts_are_looked_for_among_small_counts() -> None:
    """A pair whose items have the smallest counts of many is still found, if there is room for it."""
    table = {(item,): float(item) for item in range(100)} | {(0, 1): 500.0}
    rows, _ = closed_top(counts_of(table), 101)
    assert len(rows) == 101
    assert len(closed_top(counts_of(table), 100)[0]) == 100
    assert closed_top(counts_of({(): 4.0}), 3) == ([], None)


def made_up(*itemsets: tuple[Any, ...]) -> Release:
    receipt = Receipt(PureDP().cost(1), "none", True, charges=())
    return Release(tuple(FrequentItemset(items, 10.0, 0.1, 1.0) for items in itemsets), 9, 100.0, 1.0, receipt)


def test_a_release_drops_what_lacks_a_subset() -> None:
    """Also what lacks one only after others were dropped; the order of the rest stays."""
    release = made_up("ab", "a", "abc", "ac", "b", "cd", "d")
    assert ["".join(found.items) for found in release.downward_closed()] == ["ab", "a", "b", "d"]
    assert release.downward_closed().requested == 9
    assert release.downward_closed().downward_closed() == release.downward_closed()


@given(
    itemsets=st.lists(st.lists(st.integers(0, 5), unique=True, min_size=1, max_size=4).map(tuple), unique_by=frozenset)
)
def test_what_is_kept_is_the_largest_closed_part(itemsets: Any) -> None:
    """Closed, and each one that is left out lacks a subset among all."""
    kept = [itemsets[position] for position in without_gaps(itemsets)]
    assert is_closed(kept)
    everything = {frozenset(items) for items in itemsets}
    for items in itemsets:
        whole = all(
            frozenset(part) in everything for size in range(1, len(items)) for part in combinations(items, size)
        )
        assert (items in kept) == whole


def test_a_very_long_itemset_takes_no_time() -> None:
    """Its 2^60 subsets are not listed."""
    assert len(made_up(tuple(range(60)), (0,)).downward_closed()) == 1


@pytest.mark.parametrize("seed", range(5))
def test_mining_can_keep_a_release_closed(seed: int) -> None:
    """With so little budget that plain releases are not; k itemsets all the same, and the receipt says so."""
    baskets = pm.groceries()
    options: dict[str, Any] = {"simulate": True, "seed": seed}
    plain = pm.mine(baskets, 60, "0.05", **options)
    closed = pm.mine(baskets, 60, "0.05", downward_closed=True, **options)
    assert not is_closed([found.items for found in plain])
    assert is_closed([found.items for found in closed])
    assert len(closed) == len(plain) > len(plain.downward_closed())
    assert CLOSED in closed.receipt.notes
    assert closed.receipt.charges == plain.receipt.charges
    assert len(closed.rules("lift", 0, refined=False)) > 0


def test_a_method_with_candidates_of_its_own_releases_fewer() -> None:
    """TF counts what it selected and nothing else."""
    options: dict[str, Any] = {"method": "tf", "simulate": True, "seed": 1}
    plain = pm.mine(pm.groceries(), 20, "0.2", **options)
    closed = pm.mine(pm.groceries(), 20, "0.2", downward_closed=True, **options)
    assert closed.itemsets == plain.downward_closed().itemsets
    assert is_closed([found.items for found in closed])
