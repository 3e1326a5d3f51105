"""Algorithm 2 against a from-scratch evaluation in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from graph_strategies import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.api import (
    Itemset,
    error_variance,
    groups_of_three,
    in_order,
    maximal_cliques,
    split_clique,
    without_contained,
)
from privmine.defaults import greedy as algorithm
from privmine.defaults.greedy import dissolve_triples, merge_bases

# Reciprocals are rounded at about 2^-40: two choices closer than this are equally good.
TOLERANCE = Fraction(1, 10**9)


def queries_of(items: list[int], pairs: list[Itemset]) -> list[Itemset]:
    """The itemsets that EV averages over."""
    return [*((item,) for item in items), *pairs]


def parts(items: list[int], pairs: list[Itemset], limit: int = 12) -> tuple[list[Itemset], list[Itemset]]:
    """B₁ and B₂ as Alg. 2 starts with them."""
    split = (part for clique in maximal_cliques(items, pairs) for part in split_clique(clique, limit))
    lonely = set(items).difference(*pairs)
    return without_contained(split), groups_of_three(lonely, limit)


def exact_ev(bases: list[Itemset], queries: list[Itemset]) -> Fraction:
    """The sum of EV from the definition, with nothing shared between calls."""
    total = Fraction(0)
    for query in queries:
        precision = sum(Fraction(1, 2 ** (len(b) - len(query))) for b in bases if set(query) <= set(b))
        total += len(bases) ** 2 / Fraction(precision)
    return total


def all_merges(bases: list[Itemset], limit: int) -> list[list[Itemset]]:
    """The basis sets that one merge can lead to; a union takes the place of the earlier basis."""
    results = []
    for one, other in combinations(range(len(bases)), 2):
        union = tuple(sorted({*bases[one], *bases[other]}))
        if len(union) <= limit:
            results.append([*bases[:one], union, *bases[one + 1 : other], *bases[other + 1 :]])
    return results


@settings(max_examples=150, deadline=None)
@given(graphs(), st.sampled_from([3, 4, 6, 12]))
def test_every_merge_is_the_best_one(graph: tuple[list[int], list[Itemset]], limit: int) -> None:
    """Each step reaches the least EV of all allowed merges, and the last state has no better neighbour."""
    items, pairs = graph
    cliques, triples = parts(items, pairs, limit)
    queries = queries_of(items, pairs)
    states = [merging.bases() for merging in algorithm._merge_steps(cliques, triples, items, pairs, limit)]
    for before, after in zip(states, [*states[1:], None], strict=True):
        now = exact_ev([*before, *triples], queries)
        best = min((exact_ev([*b, *triples], queries) for b in all_merges(before, limit)), default=now)
        if after is None:
            assert best >= now * (1 - TOLERANCE)
        else:
            assert after in all_merges(before, limit)
            assert exact_ev([*after, *triples], queries) <= best * (1 + TOLERANCE)
            assert best < now


@settings(max_examples=60, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 14), min_size=1, max_size=5), min_size=2, max_size=9))
def test_merging_overlapping_bases_picks_the_first_of_equal_merges(sets: list[frozenset[int]]) -> None:
    """Bases that repeat or contain each other merge as a plain search does, ties going to the first two."""
    bases = in_order(tuple(sorted(members)) for members in sets)
    items = sorted(set().union(*sets))
    pairs = sorted({pair for basis in bases for pair in combinations(basis, 2)})
    queries = queries_of(items, pairs)
    state = bases
    for number, merging in enumerate(algorithm._merge_steps(bases, [], items, pairs, 8)):
        step = merging.bases()
        if number == 0:
            assert step == bases
            continue
        costs = [exact_ev(merged, queries) for merged in all_merges(state, 8)]
        near = [cost <= min(costs) * (1 + TOLERANCE) for cost in costs]
        exactly = [cost == min(costs) for cost in costs]
        # What is nearly a tie and is none counts as one: then the first is as good, not the best.
        if near == exactly:
            assert step == all_merges(state, 8)[exactly.index(True)]
        state = step


def test_merging_two_edges_of_a_path() -> None:
    """With two bases {1,2} and {2,3}: one basis of three items has a lower EV at half the width."""
    assert merge_bases([(1, 2), (2, 3)], [], [1, 2, 3], [(1, 2), (2, 3)]) == [(1, 2, 3)]


def test_merging_never_exceeds_the_limit() -> None:
    """The same two bases stay apart where three items are too many."""
    assert merge_bases([(1, 2), (2, 3)], [], [1, 2, 3], [(1, 2), (2, 3)], limit=2) == [(1, 2), (2, 3)]


def test_merging_counts_the_bases_that_it_leaves_alone() -> None:
    """B₂ is part of the width and its items are part of the average: here it tips the scales."""
    lonely = [(item,) for item in range(100, 105)]
    cliques, pairs = [(1, 2), (2, 3)], [(1, 2), (2, 3)]
    items = [1, 2, 3, *range(100, 105)]
    assert merge_bases(cliques, lonely, items, pairs) == cliques
    assert exact_ev([*cliques, *lonely], queries_of(items, pairs)) == 7**2 * 12
    assert exact_ev([(1, 2, 3), *lonely], queries_of(items, pairs)) == 6**2 * 21


@settings(max_examples=60, deadline=None)
@given(graphs(), st.randoms())
def test_merging_and_dissolving_do_not_depend_on_order(graph: tuple[list[int], list[Itemset]], random) -> None:  # type: ignore[no-untyped-def]
    """Shuffled arguments give the same bases."""
    items, pairs = graph
    cliques, triples = parts(items, pairs)
    merged = merge_bases(cliques, triples, items, pairs)
    dissolved = dissolve_triples(merged, triples, items, pairs)
    for values in (items, pairs, cliques, triples, shuffled := list(merged)):
        random.shuffle(values)
    assert merge_bases(cliques, triples, items, pairs) == merged
    assert dissolve_triples(shuffled, triples, items, pairs) == dissolved


@settings(max_examples=100, deadline=None)
@given(graphs(max_items=18), st.sampled_from([3, 4, 6, 12]))
def test_every_dissolved_basis_is_the_best_one(graph: tuple[list[int], list[Itemset]], limit: int) -> None:
    """Each step dissolves the basis of B₂ whose removal leaves the least EV, until none lowers it."""
    items, pairs = graph
    cliques, triples = parts(items, pairs, limit)
    cliques = in_order(merge_bases(cliques, triples, items, pairs, limit))
    queries = queries_of(items, pairs)
    states = list(algorithm._dissolve_steps(cliques, triples, items, pairs, limit))
    for before, after in zip(states, [*states[1:], None], strict=True):
        results = [dissolve_naively(before, position, limit) for position in range(len(cliques), len(before))]
        possible = [bases for bases in results if bases is not None]
        now = exact_ev(before, queries)
        best = min((exact_ev(bases, queries) for bases in possible), default=now)
        if after is None:
            assert best >= now * (1 - TOLERANCE)
        else:
            assert after in possible
            assert exact_ev(after, queries) <= best * (1 + TOLERANCE)
            assert best < now


def dissolve_naively(bases: list[Itemset], position: int, limit: int) -> list[Itemset] | None:
    """Move each item of one basis to the smallest other one."""
    rest = [*bases[:position], *bases[position + 1 :]]
    for item in bases[position]:
        lengths = [len(basis) for basis in rest]
        if not rest or min(lengths) == limit:
            return None
        smallest = lengths.index(min(lengths))
        rest[smallest] = tuple(sorted((*rest[smallest], item)))
    return rest


def test_a_lonely_item_joins_the_clique() -> None:
    """One item beside one pair: a single basis of three is better than two bases."""
    assert dissolve_triples([(1, 2)], [(9,)], [1, 2, 9], [(1, 2)]) == [(1, 2, 9)]


def test_dissolved_items_spread_over_the_smallest_bases() -> None:
    """Items go one by one to what is the smallest basis by then."""
    bases = [(1, 2, 3), (4, 5), (6, 7), (8, 9)]
    moved = algorithm._dissolved(bases, np.array([3, 2, 2, 2]), 3, 12)
    assert moved == {3: (), 1: (4, 5, 8), 2: (6, 7, 9)}


def test_nothing_is_dissolved_without_room() -> None:
    """Where all other bases are full, or there is none, B₂ stays."""
    assert dissolve_triples([(1, 2)], [(9,)], [1, 2, 9], [(1, 2)], limit=2) == [(1, 2), (9,)]
    assert dissolve_triples([], [(9,)], [9], []) == [(9,)]


def test_a_pair_inside_a_group_is_never_given_up() -> None:
    """A query that only the dissolved basis covers keeps its cover."""
    bases = dissolve_triples([(1, 2)], [(8, 9)], [1, 2, 8, 9], [(1, 2), (8, 9)])
    assert np.isfinite(error_variance(bases, [(1, 2), (8, 9)])).all()


def test_no_items_at_all() -> None:
    """Every step is total."""
    assert merge_bases([], [], [], []) == []
    assert dissolve_triples([], [], [], []) == []


def test_uncovered_queries_do_not_disturb() -> None:
    """What no basis covers has no finite EV and is left out of the average."""
    assert merge_bases([(1, 2), (2, 3)], [], [1, 2, 3, 77], [(1, 2), (2, 3), (1, 77)]) == [(1, 2, 3)]


def test_two_hundred_cliques_around_one_item() -> None:
    """The worst case for updating costs: every two bases share an item."""
    pairs: list[Itemset] = [(0, item) for item in range(1, 201)]
    cliques = maximal_cliques(range(201), pairs)
    merged = merge_bases(cliques, [], range(201), pairs)
    assert len(merged) < len(cliques) == 200
