"""Error variance, cliques and groups: what every basis strategy is made of."""

from __future__ import annotations

from itertools import combinations

import igraph
import numpy as np
import pytest
from graph_strategies import graphs
from hypothesis import given
from hypothesis import strategies as st

from privmine.api import (
    Itemset,
    average_error_variance,
    balanced_groups,
    error_variance,
    groups_of_three,
    maximal_cliques,
    split_clique,
    without_contained,
)


def test_error_variance_of_a_single_basis() -> None:
    """One basis answers X with variance 2^(|B|-|X|), the empty itemset included."""
    assert error_variance([(1, 2, 3)], [(), (1,), (1, 3), (1, 2, 3)]).tolist() == [8, 4, 2, 1]


def test_error_variance_grows_with_the_square_of_the_width() -> None:
    """Two disjoint bases quadruple the variance of each one's own itemsets."""
    assert error_variance([(1, 2), (3,)], [(1, 2), (1,), (3,)]).tolist() == [4, 8, 4]


def test_error_variance_combines_overlapping_bases() -> None:
    """Variances v and v' combine to v·v'/(v+v'), as in Alg. 1, l. 23."""
    one, other = 9 * 2.0, 9 * 4.0
    (combined,) = error_variance([(1, 2), (1, 3, 4), (5,)], [(1,)])
    assert combined == pytest.approx(one * other / (one + other))


def test_error_variance_of_an_uncovered_itemset_is_infinite() -> None:
    """An itemset that no basis contains cannot be answered."""
    assert error_variance([(1, 2), (2, 3)], [(1, 3), (2,)]).tolist() == [np.inf, 4]
    assert error_variance([], [(1,)]).tolist() == [np.inf]


def test_average_error_variance() -> None:
    """The average is over the queries; without any it is 0."""
    assert average_error_variance([(1, 2, 3)], [(1,), (1, 2)]) == 3
    assert average_error_variance([(1,)], []) == 0


@pytest.mark.parametrize(("length", "expected"), [(1, 1.0), (2, 0.5), (3, 4 / 9), (4, 0.5), (6, 32 / 36)])
def test_groups_of_three_are_the_best_groups(length: int, expected: float) -> None:
    """Section 4.2: groups of ℓ items have 2^(ℓ-1)/ℓ² of the variance of single items."""
    items = range(12)
    groups = [tuple(items[start : start + length]) for start in range(0, 12, length)]
    average = average_error_variance(groups, [(item,) for item in items])
    assert average == pytest.approx(expected * 12**2)


def test_maximal_cliques_of_a_known_graph() -> None:
    """Two triangles that share an edge and a separate edge; the isolated item is in none."""
    pairs = [(7, 3), (1, 2), (2, 3), (1, 3), (2, 7), (10, 11)]
    assert maximal_cliques([99, 1, 2, 3, 7, 10, 11], pairs) == [(10, 11), (1, 2, 3), (2, 3, 7)]
    assert maximal_cliques([5, 6], []) == []
    assert maximal_cliques([], []) == []


@given(graphs(), st.randoms())
def test_maximal_cliques_do_not_depend_on_order(graph: tuple[list[int], list[Itemset]], random) -> None:  # type: ignore[no-untyped-def]
    """Shuffled items and reversed, repeated pairs give the same list; every clique is one and is maximal."""
    items, pairs = graph
    cliques = maximal_cliques(items, pairs)
    shuffled = [tuple(reversed(pair)) for pair in pairs] + pairs
    random.shuffle(shuffled)
    assert maximal_cliques(sorted(items, reverse=True), shuffled) == cliques
    edges = set(pairs)
    for clique in cliques:
        assert edges.issuperset(combinations(clique, 2))
        for item in set(items) - set(clique):
            assert any((min(item, member), max(item, member)) not in edges for member in clique)
    assert edges == {pair for clique in cliques for pair in combinations(clique, 2)}


@pytest.mark.parametrize("seed", range(20))
def test_maximal_cliques_are_those_of_igraph(seed: int) -> None:
    """Random graphs of 60 items, sparse to dense, have the cliques that igraph finds."""
    random = np.random.default_rng(seed)
    adjacent = np.triu(random.random((60, 60)) < (seed + 1) / 25, k=1)
    pairs = [(int(one), int(other)) for one, other in zip(*np.nonzero(adjacent), strict=True)]
    expected = igraph.Graph(n=60, edges=pairs).maximal_cliques(min=2)
    assert maximal_cliques(range(60), pairs) == sorted(
        (tuple(sorted(clique)) for clique in expected), key=lambda clique: (len(clique), clique)
    )


def test_a_pair_of_an_item_with_itself_is_no_clique() -> None:
    """Such a pair joins nothing."""
    assert maximal_cliques([1, 2], [(1, 1), (1, 2)]) == [(1, 2)]


@given(st.integers(0, 40), st.integers(2, 20))
def test_split_clique_covers_all_pairs(size: int, limit: int) -> None:
    """Every pair stays inside a part and no part is longer than the limit."""
    clique = tuple(range(100, 100 + size))
    split = split_clique(clique, limit)
    assert all(len(part) <= limit for part in split)
    assert set(combinations(clique, 2)) == {pair for part in split for pair in combinations(part, 2)}


@pytest.mark.parametrize(("size", "lengths"), [(12, [12]), (13, [8, 9, 9]), (18, [12] * 3), (19, [9] * 3 + [10] * 3)])
def test_split_clique_has_few_balanced_groups(size: int, lengths: list[int]) -> None:
    """Beyond 12 items there are as few groups of at most 6 as possible, and a part is two groups."""
    assert [len(part) for part in split_clique(tuple(range(size)))] == lengths


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, []), (1, [1]), (2, [2]), (3, [3]), (4, [2, 2]), (5, [2, 3]), (7, [2, 2, 3])]
)
def test_groups_of_three_are_few_and_balanced(count: int, lengths: list[int]) -> None:
    """As few groups as possible with at most three items, none much smaller than another."""
    groups = groups_of_three(range(count))
    assert [len(group) for group in groups] == lengths
    assert [item for group in groups for item in group] == list(range(count))


def test_groups_respect_a_limit_below_three() -> None:
    """With bases of at most two items, groups have two."""
    assert groups_of_three([5, 1, 3], limit=2) == [(1,), (3, 5)]


def test_without_contained() -> None:
    """Contained and equal bases go; the rest come in order."""
    assert without_contained([(1, 2), (2, 1, 3), (1, 2), (4,), (3, 4)]) == [(3, 4), (2, 1, 3)]


@given(st.sets(st.integers(0, 60)), st.integers(1, 20))
def test_balanced_groups_are_few_and_differ_by_one_item_at_most(items: set[int], size: int) -> None:
    """Every item is in one group, there are as few groups as the size allows, and none is much smaller."""
    groups = balanced_groups(items, size)
    assert [item for group in groups for item in group] == sorted(items)
    assert len(groups) == -(-len(items) // size)
    lengths = [len(group) for group in groups]
    assert not groups or max(lengths) - min(lengths) <= 1
