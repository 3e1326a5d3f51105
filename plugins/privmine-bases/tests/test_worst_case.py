"""Merging at the best length."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from privmine_bases.cliques import CliqueBasis
from privmine_bases.worst_case import WorstCaseBasis, merge_within, pack, worst_variance

from privmine.api import Elements

bases_lists = st.lists(
    st.frozensets(st.integers(0, 20), min_size=1, max_size=5).map(lambda found: tuple(sorted(found))), max_size=12
)


def test_worst_variance() -> None:
    """w²·2^ℓ; nothing at all has none."""
    assert worst_variance([(1, 2, 3), (4,)]) == 4 * 8
    assert worst_variance([()]) == 1
    assert worst_variance([]) == 0


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 30), unique=True, max_size=24),
    st.lists(st.frozensets(st.integers(0, 30), max_size=5), max_size=20),
    st.integers(2, 20),
)
def test_the_bound_is_never_larger_than_that_of_the_cliques(
    items: list[int], sets: list[frozenset[int]], max_length: int
) -> None:
    """w²·2^ℓ is at most what the same cliques have unmerged."""
    elements = Elements(items, sets)
    merged = WorstCaseBasis(max_length=max_length).construct_basis(elements)
    cliques = CliqueBasis(max_length=max_length).construct_basis(elements)
    assert worst_variance(merged.bases) <= worst_variance(cliques.bases)


@settings(max_examples=100, deadline=None)
@given(bases_lists, st.integers(5, 12))
def test_merging_goes_on_while_two_fit(bases: list[tuple[int, ...]], length: int) -> None:
    """What remains covers every basis, within the length, and no two could be joined."""
    merged = merge_within(bases, length)
    assert all(any(set(basis) <= set(found) for found in merged) for basis in bases)
    assert all(len(found) <= length for found in merged)
    assert all(len({*one, *other}) > length for one, other in combinations(merged, 2))


def test_bases_that_share_items_are_merged_first() -> None:
    """Room for one merge of two: the two that overlap, although others come earlier."""
    assert merge_within([(1, 2), (3, 4), (5, 6), (6, 7)], 3) == [(1, 2), (3, 4), (5, 6, 7)]


def test_what_fits_best_is_merged_first() -> None:
    """Nothing is shared: two and two fill four items exactly, one and two would leave room."""
    assert merge_within([(1,), (2, 3), (4, 5)], 4) == [(1,), (2, 3, 4, 5)]


def test_lonely_items_fill_the_room_that_is_left() -> None:
    """The shortest basis takes them one by one; what finds no room makes groups of its own."""
    assert pack([(1, 2), (3, 4, 5)], [6, 7, 8, 9], 4) == [(9,), (1, 2, 6, 7), (3, 4, 5, 8)]
    assert pack([], [1, 2, 3], 2) == [(1,), (2, 3)]


def test_a_longer_basis_is_taken_where_it_pays() -> None:
    """Three pairs around one item: w²·2^ℓ is 36 apart and 16 in one basis of four."""
    assert WorstCaseBasis().construct_basis(Elements((), [(0, 1), (0, 2), (0, 3)])).bases == ((0, 1, 2, 3),)


def test_a_longer_basis_is_not_taken_where_it_does_not_pay() -> None:
    """Two separate triangles: 32 apart, 64 in one basis of six."""
    elements = Elements((), [(0, 1, 2), (3, 4, 5)])
    assert WorstCaseBasis().construct_basis(elements).bases == ((0, 1, 2), (3, 4, 5))
