from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privmine import queries
from privmine.curator import Curator
from privmine.noise.secure import SecureNoise
from privmine.privacy import PureDP
from privmine.store.transactions import Transactions
from privmine.testing import curator_for

QUERIES = [
    queries.ItemSupports(3),
    queries.PairSupports((0, 1, 2)),
    queries.Supports([(), (0, 1)]),
    queries.RankGap(3, 1, 3),
    queries.BinCounts([(0, 1), (2,)]),
    queries.BoundedSupports([(0,), (0, 1)], [0, 6, 3]),
    queries.LengthHistogram(3),
    queries.StateCounts([0, 2], [0, 3]),
    queries.MomentMatrix([0, 1, 2]),
    queries.ItemCutoff(3, 1, 3),
    queries.HeldHistogram((0, 1), [(0,), (0, 1)]),
    queries.RankSupport(2),
    queries.RankAtFrequency(Fraction(1, 3), 4),
    queries.WeightedSupports(1, 3, [0, 6, 3, 2]),
    queries.SumQuery(lambda transaction: [len(transaction)], 1, 3),
    queries.TruncatedSupports(k=2, max_length=2, item_count=3, gamma=1),
]
#: Whole numbers, sevenths and a scale far beyond any count: the noise stays whole.
PRICES = [Fraction(1), Fraction(1, 7), Fraction(1, 10**5)]


def curator() -> Curator:
    transactions = Transactions.from_lists([[0, 1], [0], [1, 2]], items=[0, 1, 2])
    return curator_for(transactions, 10, noise=SecureNoise(), stage="select_elements")


def test_all_verified_queries_are_here() -> None:
    """A new query joins this test."""
    assert {type(query) for query in QUERIES} == queries.VERIFIED


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_every_measured_answer_is_an_integer(query, price) -> None:
    """Whatever is asked at whatever price: 64-bit integers, no floating-point artefact."""
    if isinstance(query, queries.TruncatedSupports):
        answer = curator().choose(query, 2, PureDP().cost(price))
        assert all(isinstance(item, int) for found in answer.chosen for item in found)
        return
    answer = curator().measure(query, PureDP().cost(price))
    assert answer.values.dtype == np.int64
    assert len(answer.values) == query.size


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_every_selection_names_public_candidates(query) -> None:
    """A selection answers with plain integers and itemsets of them, never with a score."""
    for found in curator().choose(query, 1, PureDP().cost(1)).chosen:
        assert isinstance(found, int) or all(type(item) is int for item in found)
