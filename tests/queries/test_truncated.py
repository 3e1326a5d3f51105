"""Truncated supports: against their definition, against every neighbour, and without listing them all."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privmine.errors import InputError, QueryError
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import PureDP
from privmine.queries import VERIFIED, TruncatedSupports
from privmine.queries.numbering import itemset_at, itemset_count, number_of
from privmine.store.transactions import Transactions
from privmine.testing import curator_for


def transactions(baskets, items):
    """A database over the items 0, 1 and so on."""
    return Transactions.from_lists(baskets, items=list(range(items)))


def candidates(items, max_length):
    """All itemsets of up to that length, in order."""
    return [found for length in range(1, max_length + 1) for found in combinations(range(items), length)]


def scores_by_definition(query, baskets):
    """max(c, c_k − γ, c_M) of every candidate, from a list of all of them."""
    supports = [
        sum(set(found) <= set(basket) for basket in baskets) for found in candidates(query.item_count, query.max_length)
    ]
    ranked = sorted(supports, reverse=True) + [0] * query.explicit_limit
    floor = max(ranked[query.k - 1] - query.gamma, ranked[query.explicit_limit - 1])
    return [max(support, floor) for support in supports]


def scores_as_selected_from(query, baskets):
    """The score of every candidate as a selection sees it: listed, or a member of the tail."""
    scores = query.scores(transactions(baskets, query.item_count).store)
    listed = {scores.candidate(index): int(value) for index, value in enumerate(scores.values)}
    assert len(listed) == len(scores.values) < query.explicit_limit
    assert len(listed) + scores.tail.size == query.size
    return [listed.get(found, scores.tail.score) for found in candidates(query.item_count, query.max_length)]


queries = st.integers(1, 6).flatmap(
    lambda k: st.builds(
        TruncatedSupports,
        k=st.just(k),
        max_length=st.integers(1, 4),
        item_count=st.just(4),
        gamma=st.integers(0, 6),
        explicit_limit=st.integers(k, 18),
    )
)
baskets_of_four = st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=12)


@settings(max_examples=300, deadline=None)
@given(query=queries, baskets=baskets_of_four)
def test_scores_are_those_of_the_definition(query, baskets):
    """Listed or in the tail, every candidate has the score max(c, c_k − γ, c_M), and fewer than M are listed."""
    expected = scores_by_definition(query, baskets)
    assert scores_as_selected_from(query, baskets) == expected
    assert query.evaluate(transactions(baskets, query.item_count).store).tolist() == expected


SMALL_QUERIES = [
    TruncatedSupports(k, m, 3, gamma, limit)
    for k, m, gamma, limit in product((1, 3, 6), (1, 2, 3), (0, 1, 2), (1, 3, 8))
    if limit >= k
]


def test_every_neighbour_of_every_small_database_moves_scores_by_0_or_1_upwards():
    """Over 3 items and up to 2 transactions, L∞ = 1 and monotonicity hold, wherever the floor lies."""
    kinds = [found for length in range(4) for found in combinations(range(3), length)]
    databases = [chosen for size in range(4) for chosen in combinations_with_replacement(kinds, size)]
    stores = {chosen: transactions(chosen, 3).store for chosen in databases}
    for query in SMALL_QUERIES:
        exact = {chosen: np.array(query.evaluate(store)) for chosen, store in stores.items()}
        for chosen in databases:
            if len(chosen) == 3:
                continue
            for newcomer in kinds:
                grown = tuple(sorted((*chosen, newcomer), key=kinds.index))
                change = exact[grown] - exact[chosen]
                assert set(change.tolist()) <= {0, 1}, (query, chosen, newcomer)
    assert all(query.sensitivity.linf == 1 and query.sensitivity.monotone for query in SMALL_QUERIES)


@settings(max_examples=200, deadline=None)
@given(query=queries, baskets=baskets_of_four, newcomer=st.lists(st.integers(0, 3), max_size=4))
def test_neighbours_of_larger_databases_move_scores_by_0_or_1_upwards(query, baskets, newcomer):
    """The same for databases of up to 12 transactions over 4 items, at random."""
    before = query.evaluate(transactions(baskets, 4).store)
    after = query.evaluate(transactions([*baskets, newcomer], 4).store)
    assert set((after - before).tolist()) <= {0, 1}


def test_a_transaction_with_all_items_moves_every_score():
    """The declared L1 norm, the number of candidates, is reached, and privmine vouches for the query."""
    query = TruncatedSupports(1, 2, 3, 0)
    change = query.evaluate(transactions([[0, 1, 2]], 3).store) - query.evaluate(transactions([], 3).store)
    assert change.sum() == query.sensitivity.l1 == query.sensitivity.l2_squared == 6
    assert TruncatedSupports in VERIFIED


def test_monotonicity_need_not_be_claimed():
    """A query that does not claim monotonicity is selected from at half the rate, as in the paper."""
    definition, share = PureDP(), PureDP().cost(Fraction(1, 2))
    paper = TruncatedSupports(10, 2, 5, 0, monotone=False)
    assert definition.rate_for(paper.sensitivity, share, 10) == Fraction(1, 40)
    assert definition.rate_for(TruncatedSupports(10, 2, 5, 0).sensitivity, share, 10) == Fraction(1, 20)


class CountingStore:
    """A store that notes how many itemsets it is asked to list."""

    def __init__(self, store):
        self.store, self.asked = store, []

    item_count = property(lambda self: self.store.item_count)

    def top_itemsets(self, n, max_length):
        """Note the number, then list."""
        self.asked.append((n, max_length))
        return self.store.top_itemsets(n, max_length)


FALLING = [list(range(index + 1)) for index in range(40)]  # item i has support 40 − i


@pytest.mark.parametrize(
    ("gamma", "limit", "asked", "listed", "floor"),
    [
        (0, 30, [2], 1, 39),
        (5, 30, [2, 8], 6, 34),
        (20, 30, [2, 8, 30], 21, 19),
        (25, 20, [2, 8, 20], 19, 21),
        (39, 30, [2, 30], 29, 11),
        (100, 30, [2, 30], 29, 11),
        (100, 60, [2, 60], 40, 0),
    ],
)
def test_the_list_grows_until_it_reaches_the_floor(gamma, limit, asked, listed, floor):
    """No more itemsets are mined than the floor asks for, and never more than M."""
    store = CountingStore(transactions(FALLING, 40).store)
    scores = TruncatedSupports(2, 1, 40, gamma, limit).scores(store)
    assert store.asked == [(n, 1) for n in asked]
    assert (len(scores.values), scores.tail.score, scores.tail.size) == (listed, floor, 40 - listed)


def test_a_billion_candidates_are_not_listed():
    """With m = 3, 2,088 items, 1.5·10⁹ candidates, are selected from in a moment; most draws are in the tail."""
    random = Random(4)  # noqa: S311 - test data
    data = transactions([random.sample(range(2088), 12) for _ in range(300)], 2088)
    query = TruncatedSupports(20, 3, 2088, 10**6)
    chosen = curator_for(data, noise=SecureNoise()).choose(query, 20).chosen
    assert query.size == 1_517_192_652
    assert len(set(chosen)) == 20
    assert {len(found) for found in chosen} <= {1, 2, 3}
    assert all(tuple(sorted(set(found))) == found and set(found) <= set(range(2088)) for found in chosen)


@pytest.mark.parametrize("noise", [SecureNoise(), SimulatedNoise(3)], ids=["exact", "simulated"])
def test_members_of_the_tail_are_equally_likely(noise):
    """Of 25 candidates in one tail each is drawn as often as any other (χ², false-alarm rate 10⁻⁷)."""
    data = transactions([[0, 1, 2, 3, 4]] * 3, 5)
    query = TruncatedSupports(1, 3, 5, 0)  # The floor is the support of all of them.
    curator = curator_for(data, 10**4, noise=noise)
    draws = Counter(found for _ in range(700) for found in curator.choose(query, 3, PureDP().cost(1)).chosen)
    assert set(draws) == set(candidates(5, 3))
    assert stats.chisquare(list(draws.values())).pvalue > 1e-7


@pytest.mark.parametrize(("items", "longest"), list(product(range(7), range(1, 8))))
def test_numbers_of_itemsets_are_their_places_in_the_list(items, longest):
    """Itemsets are numbered by length, then in the order of `combinations`, without gaps."""
    listed = candidates(items, longest)
    assert itemset_count(items, longest) == len(listed)
    assert [itemset_at(number, items) for number in range(len(listed))] == listed
    assert [number_of(found, items) for found in listed] == list(range(len(listed)))


@given(items=st.integers(10, 3_000_000), longest=st.integers(1, 9), share=st.fractions(0, 1))
def test_numbers_of_itemsets_of_large_universes_can_be_inverted(items, longest, share):
    """Also where itemsets are too many for 64 bits, a number gives an itemset that has this number."""
    number = int((itemset_count(items, longest) - 1) * share)
    found = itemset_at(number, items)
    assert len(found) <= longest
    assert number_of(found, items) == number


def test_a_universe_of_another_size_is_refused():
    """A query about other items than those of the store fails, whatever it would have counted."""
    data = transactions([[0]], 2)
    with pytest.raises(QueryError, match="truncated 0 below rank 1"):
        curator_for(data, noise=SecureNoise()).choose(TruncatedSupports(1, 1, 3, 0))


def test_an_answer_that_would_not_fit_in_memory_is_refused():
    """One number for each of 1.5·10⁹ candidates is not given."""
    with pytest.raises(ValueError):
        TruncatedSupports(1, 3, 2088, 0).evaluate(transactions([], 2088).store)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k of TruncatedSupports must be at least 1"),
        ({"max_length": 0}, "max_length of TruncatedSupports must be at least 1"),
        ({"gamma": -1}, "gamma of TruncatedSupports must be at least 0"),
        ({"explicit_limit": 4}, "It must be at least k"),
    ],
)
def test_senseless_parameters_are_refused(changed, message):
    """A rank, a length, a margin or a limit that means nothing is named in the error."""
    with pytest.raises(InputError, match=message):
        TruncatedSupports(**{"k": 5, "max_length": 2, "item_count": 9, "gamma": 3, **changed})


@pytest.mark.parametrize("items", [1, 3])
def test_an_empty_database_has_one_class(items):
    """With no transactions nothing is listed, and the tail holds every candidate at score 0."""
    scores = TruncatedSupports(2, 2, items, 7).scores(transactions([], items).store)
    assert len(scores.values) == 0
    assert (scores.tail.score, scores.tail.size) == (0, itemset_count(items, 2))
