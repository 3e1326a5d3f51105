"""Merging and dissolving against a slow search that evaluates every choice from scratch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privmine.api import Itemset, groups_of_three, in_order, maximal_cliques, split_clique, without_contained
from privmine.defaults import merging
from privmine.defaults.greedy import _different, dissolve_triples, merge_bases
from privmine.defaults.precision import Queries


def merge_slowly(
    cliques: list[Itemset], triples: list[Itemset], items: list[int], pairs: list[Itemset], limit: int
) -> list[Itemset]:
    """What `merge_bases` returns."""
    cliques = in_order(cliques)
    average = Average([*cliques, *triples], items, pairs, limit)
    while True:
        choices = []
        for one, other in combinations(range(len(cliques)), 2):
            union = tuple(sorted({*cliques[one], *cliques[other]}))
            if len(union) <= limit:
                choices.append([*cliques[:one], union, *cliques[one + 1 : other], *cliques[other + 1 :]])
        totals = [average.total([*choice, *triples]) for choice in choices]
        if not totals:
            return cliques
        first = next(place for place, total in enumerate(totals) if total <= min(totals) + average.rounding)
        if not average.falls([*cliques, *triples], [*choices[first], *triples]):
            return cliques
        cliques = choices[first]


def dissolve_slowly(
    cliques: list[Itemset], triples: list[Itemset], items: list[int], pairs: list[Itemset], limit: int
) -> list[Itemset]:
    """What `dissolve_triples` returns."""
    bases = [*in_order(cliques), *in_order(triples)]
    average = Average(bases, items, pairs, limit)
    while True:
        best = None
        for position in range(len(cliques), len(bases)):
            rest = without(bases, position, limit)
            total = None if rest is None else average.total(rest)
            if total is not None and (best is None or total < average.total(best) - average.rounding):
                best = rest
        if best is None or not average.falls(bases, best):
            return bases
        bases = best


def without(bases: list[Itemset], position: int, limit: int) -> list[Itemset] | None:
    """The bases after the items of one of them moved to the smallest others; None where they have no room."""
    rest = [*bases[:position], *bases[position + 1 :]]
    for item in bases[position]:
        lengths = [len(basis) for basis in rest]
        if not rest or min(lengths) >= limit:
            return None
        smallest = lengths.index(min(lengths))
        rest[smallest] = tuple(sorted({*rest[smallest], item}))
    return rest


class Average:
    """The sum of EV over the queries that the first bases cover, at w = 1 and in the fixed point of the fast code."""

    def __init__(self, bases: list[Itemset], items: list[int], pairs: list[Itemset], limit: int) -> None:
        queries = {frozenset({item}) for item in items} | {frozenset(pair) for pair in pairs}
        self._queries = [query for query in queries if any(query.issubset(basis) for basis in bases)]
        self.rounding = len(self._queries)
        self._scale = 2.0 ** (62 - limit - self.rounding.bit_length())

    def total(self, bases: list[Itemset]) -> int | None:
        """The sum; None where a query lost its cover."""
        total = 0
        sized = [(len(basis), frozenset(basis)) for basis in bases]
        for query in self._queries:
            precision = sum(2.0 ** (len(query) - length) for length, basis in sized if query <= basis)
            if not precision:
                return None
            total += int(np.rint(self._scale / precision))
        return total

    def falls(self, before: list[Itemset], after: list[Itemset]) -> bool:
        """Whether EV falls by more than rounding can make it fall."""
        one, other = self.total(before), self.total(after)
        assert one is not None
        assert other is not None
        return len(after) ** 2 * (other + self.rounding) < len(before) ** 2 * (one - self.rounding)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[Itemset]]:
    """Items and some pairs of them."""
    items = draw(st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=16))
    possible = list(combinations(sorted(items), 2))
    pairs = draw(st.lists(st.sampled_from(possible), unique=True, max_size=16)) if possible else []
    return items, pairs


def parts(items: list[int], pairs: list[Itemset], limit: int = 12) -> tuple[list[Itemset], list[Itemset]]:
    """B₁ and B₂ as Alg. 2 starts with them."""
    split = (part for clique in maximal_cliques(items, pairs) for part in split_clique(clique, limit))
    return without_contained(split), groups_of_three(set(items).difference(*pairs), limit)


@pytest.fixture(params=[(64, 8, 1 << 22), (2, 3, 40)], ids=["as shipped", "tiny blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few bases fill one block only, so the blocks are made tiny too."""
    for name, size in zip(("_BLOCK", "_TOGETHER", "_FLAGS"), request.param, strict=True):
        monkeypatch.setattr(merging, name, size)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.sampled_from([2, 3, 4, 6, 12]))
@pytest.mark.usefixtures("blocks")
def test_fast_and_slow_search_find_the_same_bases(graph: tuple[list[int], list[Itemset]], limit: int) -> None:
    """The tables of costs lead to the very bases that evaluating every choice from scratch leads to."""
    items, pairs = graph
    cliques, triples = parts(items, pairs, limit)
    merged = merge_bases(cliques, triples, items, pairs, limit)
    assert merged == merge_slowly(cliques, triples, items, pairs, limit)
    assert dissolve_triples(merged, triples, items, pairs, limit) == dissolve_slowly(
        merged, triples, items, pairs, limit
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.frozensets(st.integers(0, 14), max_size=5), max_size=9),
    st.lists(st.frozensets(st.integers(0, 20), min_size=1, max_size=4), max_size=6),
    st.sets(st.integers(0, 22)),
    st.sets(st.frozensets(st.integers(0, 16), min_size=2, max_size=2), max_size=20),
)
@pytest.mark.usefixtures("blocks")
def test_fast_and_slow_search_agree_on_any_sets(
    cliques: list[frozenset[int]], triples: list[frozenset[int]], items: set[int], pairs: set[frozenset[int]]
) -> None:
    """Bases may repeat, contain each other or be empty, and queries may be missing."""
    one, two, queries = ([tuple(sorted(found)) for found in sets] for sets in (cliques, triples, pairs))
    merged = merge_bases(one, two, items, queries, 6)
    assert merged == merge_slowly(one, two, list(items), queries, 6)
    assert dissolve_triples(merged, two, items, queries, 6) == dissolve_slowly(merged, two, list(items), queries, 6)


@pytest.mark.parametrize("hubs", [1, 2])
@pytest.mark.usefixtures("blocks")
def test_fast_and_slow_search_agree_where_all_bases_share_an_item(hubs: int) -> None:
    """Then many pairs of bases are alike, and their costs change together."""
    items = list(range(24))
    pairs: list[Itemset] = [(hub, item) for hub in range(hubs) for item in range(hubs, 24)]
    cliques = maximal_cliques(items, pairs)
    assert merge_bases(cliques, [], items, pairs) == merge_slowly(cliques, [], items, pairs, 12)


def test_many_groups_of_lonely_items_dissolve_as_in_a_slow_search() -> None:
    """Of groups that are equally good to dissolve, the first one goes."""
    pairs: list[Itemset] = [(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (8, 9)]
    items = list(range(50))
    cliques, triples = parts(items, pairs)
    dissolved = dissolve_triples(cliques, triples, items, pairs)
    assert len(dissolved) < len(cliques) + len(triples)
    assert dissolved == dissolve_slowly(cliques, triples, items, pairs, 12)


def test_a_group_that_must_stay_does_not_keep_the_others() -> None:
    """The first group holds a pair that would lose its only cover; a later one is dissolved all the same."""
    groups: list[Itemset] = [(3, 4), (5, 6)]
    pairs: list[Itemset] = [(0, 1), (1, 2), (3, 4)]
    found = dissolve_triples([(0, 1, 2)], groups, range(7), pairs, 12)
    assert found == dissolve_slowly([(0, 1, 2)], groups, list(range(7)), pairs, 12)
    assert len(found) == 2
    assert (3, 4) in [basis[:2] for basis in found]


def test_only_the_first_of_equally_good_groups_is_tried() -> None:
    """Groups of one length are equally good, but those among the smallest bases must move elsewhere."""
    bases = [(1, 2, 3, 4), (10,), (11, 12), (13, 14), (15, 16), (17, 18), (19, 20)]
    lengths = np.array([len(basis) for basis in bases])
    assert list(_different(bases, 1, lengths, set(range(10, 21)))) == [1, 2, 3, 4]
    assert list(_different(bases, 1, lengths, set(range(10, 20)))) == [1, 2, 3, 4, 6]


def test_lonely_items_have_no_query_but_their_own_and_one_basis() -> None:
    """An item with a pair, in two bases or without a query of its own is not lonely."""
    bases = [(1, 2), (3, 4), (4, 5, 6)]
    assert Queries(bases, [1, 2, 3, 4, 5], [(1, 2)], 12).lonely_items(bases) == {3, 5}
