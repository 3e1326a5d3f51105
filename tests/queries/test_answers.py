"""What each query counts, what it names, and what it declares, computed by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine import queries
from privmine.errors import InputError
from privmine.privacy import Sensitivity
from privmine.store.transactions import Transactions

ITEMS = 4
STORE = Transactions.from_lists([[0, 1], [0], [0, 1, 2], [], [1, 2, 3]], items=list(range(ITEMS))).store


def lengths(transaction: tuple[int, ...]) -> list[int]:
    """Its number of items, and a minus for the item 3."""
    return [len(transaction), -(3 in transaction)]


ANSWERS: list[tuple[queries.Query, list[int]]] = [
    (queries.ItemSupports(ITEMS), [3, 3, 2, 1]),
    (queries.PairSupports((0, 1, 2)), [2, 1, 2]),
    (queries.Supports([(), (0,), (1, 2), (0,)]), [5, 3, 2, 3]),
    (queries.BinCounts([(0, 1), (3,)]), [1, 1, 1, 2, 4, 1]),
    (queries.BinCounts([]), []),
    (queries.LengthHistogram(2), [1, 1, 3]),
    (queries.LengthHistogram(2, within=(0, 1)), [1, 2, 2]),
    (queries.RankGap(rank=1, low=1, high=4), [0, 0, -1, -2]),
    (queries.RankGap(rank=5, low=2, high=3), [-1, 0]),
    (queries.RankGap(rank=5, low=2, high=3, max_length=1), [-3, -2]),
    (queries.RankGap(rank=4, low=2, high=3, max_length=1), [-2, -1]),
    (queries.RankSupport(rank=5), [2]),
    (queries.RankAtFrequency(Fraction(2, 5), 7), [-5, 0, 0, 0, 0, -5, -5]),
    (queries.RankAtFrequency(Fraction(2, 5), 5, max_length=1), [-5, 0, 0, -5, -10]),
    (queries.RankSupport(rank=5, max_length=1), [0]),
    (queries.ItemCutoff(rank=1, low=1, high=4), [0, 0, -1, -2]),
    (queries.ItemCutoff(rank=5, low=2, high=3, max_length=1), [-2, -1]),
    (queries.ItemCutoff(rank=5, low=2, high=3, max_length=2), [0, 0]),
    (queries.HeldHistogram((0, 1, 3)), [1, 2, 2]),
    (queries.HeldHistogram((0, 1), [(0,), (1, 2)]), [1, 4]),
    (queries.StateCounts((0, 1), [3, 0]), [2, 1, 2]),
    (queries.SumQuery(lengths, 2, 3), [9, 0]),
    (queries.SumQuery(lengths, 2, 4), [9, -1]),
    (queries.SumQuery(lengths, 2, 4, 4), [7, 0]),
    (queries.WeightedSupports(1, ITEMS, [9, 4, 2, 1]), [4 + 2 + 1, 2 + 1 + 1, 1 + 1, 1]),
    (queries.WeightedSupports(1, ITEMS, [9, 4, 2], within=(1, 2)), [4 + 2 + 2, 2 + 2]),
    (queries.WeightedSupports(2, ITEMS, [9, 9, 5, 1]), [5 + 1, 1, 0, 1 + 1, 1, 1]),
    (queries.TruncatedSupports(k=2, max_length=2, item_count=ITEMS, gamma=1), [3, 3, 2, 2, 2, 2, 2, 2, 2, 2]),
    (queries.TruncatedSupports(k=2, max_length=1, item_count=ITEMS, gamma=9), [3, 3, 2, 1]),
]


@pytest.mark.parametrize(("query", "answer"), ANSWERS, ids=lambda value: getattr(value, "name", ""))
def test_the_exact_answer(query: queries.Query, answer: list[int]) -> None:
    """Counted by hand in five baskets."""
    found = query.evaluate(STORE)
    assert found.tolist() == answer
    assert found.dtype == np.int64
    assert query.size == len(answer)


SENSITIVITIES: list[tuple[queries.Query, tuple[int, int, int, bool]]] = [
    (queries.ItemSupports(4), (4, 4, 1, True)),
    (queries.PairSupports((0, 2, 4, 5)), (6, 6, 1, True)),
    (queries.Supports([(), (0,), (0,)]), (3, 3, 1, True)),
    (queries.BinCounts([(0,), (1, 2), ()]), (3, 3, 1, True)),
    (queries.LengthHistogram(7), (1, 1, 1, True)),
    (queries.RankGap(2, 3, 7), (5, 5, 1, False)),
    (queries.ItemCutoff(2, 3, 7), (5, 5, 1, False)),
    (queries.RankSupport(7), (1, 1, 1, True)),
    (queries.RankAtFrequency(Fraction(1, 10), 4), (36, 324, 9, False)),
    (queries.RankAtFrequency(Fraction(3, 4), 2), (6, 18, 3, False)),
    (queries.RankAtFrequency(Fraction(1), 3), (3, 3, 1, False)),
    (queries.HeldHistogram((0, 1, 4)), (1, 1, 1, True)),
    (queries.HeldHistogram((0, 1, 4), [(0,), (1, 2)]), (1, 1, 1, True)),
    (queries.StateCounts((0, 1), [3, 0]), (1, 1, 1, True)),
    (queries.SumQuery(lengths, 2, 4), (4, 16, 4, False)),
    (queries.SumQuery(lengths, 2, 4, 9), (4, 9, 4, False)),
    (queries.SumQuery(lengths, 2, 2, 9), (2, 4, 2, False)),
    # Two items make one pair of weight 4, three make three of weight 2; none has weight 9.
    (queries.WeightedSupports(2, 5, [9, 9, 4, 2]), (6, 16, 4, True)),
    (queries.WeightedSupports(1, 5, [9, 5, 2, 2]), (6, 25, 5, True)),
    (queries.WeightedSupports(1, 5, [0, -3, 2]), (4, 9, 3, False)),
    (queries.WeightedSupports(1, 5, [0, 1, 1, 1, 1, 1], within=(0, 1)), (2, 2, 1, True)),
    (queries.WeightedSupports(1, 2, [0, 1, 1, 1, 1, 1]), (2, 2, 1, True)),
    (queries.WeightedSupports(1, 5, []), (0, 0, 0, True)),
    (queries.TruncatedSupports(k=2, max_length=2, item_count=4, gamma=1), (10, 10, 1, True)),
    (queries.TruncatedSupports(k=2, max_length=9, item_count=4, gamma=1, monotone=False), (15, 15, 1, False)),
]


@pytest.mark.parametrize(("query", "norms"), SENSITIVITIES, ids=lambda value: getattr(value, "name", ""))
def test_the_declared_sensitivity(query: queries.Query, norms: tuple[int, int, int, bool]) -> None:
    """All three norms and the direction: too small breaks privacy, too large wastes noise."""
    assert query.sensitivity == Sensitivity(*norms)


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        (queries.ItemSupports(3), [(0,), (1,), (2,)]),
        (queries.PairSupports((4, 0, 2)), [(0, 2), (0, 4), (2, 4)]),
        (queries.Supports([(), (1, 0)]), [(), (0, 1)]),
        (queries.RankGap(2, 3, 5), [3, 4, 5]),
        (queries.RankAtFrequency(Fraction(1, 3), 4), [1, 2, 3, 4]),
        (queries.ItemCutoff(2, 3, 5), [3, 4, 5]),
        (queries.LengthHistogram(2), [0, 1, 2]),
        (
            queries.TruncatedSupports(k=1, max_length=2, item_count=3, gamma=0),
            [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)],
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_a_selection_names(query: queries.Query, candidates: list[object]) -> None:
    """Each position stands for one candidate, and there are as many as the query says."""
    assert [query.candidate(index) for index in range(query.size)] == candidates


def test_bins_are_cut_by_basis() -> None:
    """An answer goes back to its bases in their order."""
    query = queries.BinCounts([(0, 1), (), (2,)])
    assert [part.tolist() for part in query.by_basis(np.arange(7))] == [[0, 1, 2, 3], [4], [5, 6]]


def test_a_receipt_tells_the_size_of_a_histogram() -> None:
    """How many bases, and the longest of them."""
    assert queries.BinCounts([(0,), (1, 2)]).name == "bins of 2 bases of up to 2 items"
    assert queries.BinCounts([]).name == "bins of 0 bases of up to 0 items"
    assert queries.HeldHistogram((0, 1)).name == "transactions by how many items they contain"
    assert queries.HeldHistogram((0, 1), [(0,), (1,)]).name == "transactions by how many of 2 itemsets they contain"


def test_queries_are_values() -> None:
    """Two that ask the same are equal, whatever form their arguments had; weights are compared by value."""
    assert queries.Supports([[1, 0]]) == queries.Supports(((0, 1),))
    assert queries.WeightedSupports(1, 3, [0, 1]) == queries.WeightedSupports(1, 3, np.array([0, 1]))
    assert queries.WeightedSupports(1, 3, [0, 1]) != queries.WeightedSupports(1, 3, [0, 2])
    assert queries.LengthHistogram(2, within=[2, 0]) == queries.LengthHistogram(2, within=(0, 2))
    assert queries.LengthHistogram(2).within is None
    assert queries.BinCounts([[1, 0]]) == queries.BinCounts(((0, 1),))
    assert queries.BoundedSupports([[1, 0]], [0, 1]) == queries.BoundedSupports(((0, 1),), np.array([0, 1]))
    assert queries.BoundedSupports([[1, 0]], [0, 1]) != queries.BoundedSupports([[1, 0]], [0, 2])
    assert (
        queries.HeldHistogram([0, 1], [[1, 0]])
        == queries.HeldHistogram((0, 1), ((0, 1),))
        != queries.HeldHistogram((0, 1))
    )
    assert (
        queries.StateCounts([1, 0], [3])
        == queries.StateCounts((0, 1), np.array([3]))
        != queries.StateCounts((0, 1), [2])
    )
    penalised = queries.ItemCutoff(2, 3, 4, penalties=[1, 2])
    assert penalised == queries.ItemCutoff(2, 3, 4, penalties=np.array([1, 2])) != queries.ItemCutoff(2, 3, 4)
    assert queries.MomentMatrix([1, 0]) == queries.MomentMatrix((0, 1))


@pytest.mark.parametrize(
    "arguments",
    [{"l1": 1.5}, {"l1": 2, "l2_squared": 2.5}, {"l1": 2, "l2_squared": 0}, {"l1": 2, "dimension": 2.5}],
    ids=str,
)
def test_bounds_of_a_sum_are_whole_numbers(arguments: dict[str, object]) -> None:
    """A fraction above 1 promises as much that clipping does not keep as one below."""
    with pytest.raises(InputError, match="whole number of at least"):
        queries.SumQuery(lengths, **({"dimension": 2} | arguments))


def test_the_largest_bounds_are_accepted() -> None:
    """What is refused is what exceeds them."""
    assert queries.WeightedSupports(1, ITEMS, []).sensitivity.l1 == 0
    assert queries.SumQuery(lengths, 0, 1, 1).size == 0
    assert queries.SumQuery(lengths, 2**24, 1).size == 2**24
    assert queries.MomentMatrix(range(100)).size == 101 * 100 // 2 + 1
    assert queries.StateCounts(range(62), [2**62 - 1]).size == 2
    with pytest.raises(InputError, match="62 items at most, not 63"):
        queries.StateCounts(range(63), [0])
    assert queries.WeightedSupports(1, ITEMS, [0, 2**31, -(2**31)]).sensitivity.linf == 2**31
    for weight in (2**31 + 1, -(2**31) - 1):
        with pytest.raises(InputError, match="must not exceed"):
            queries.WeightedSupports(1, ITEMS, [0, weight])


def test_scores_cannot_wrap_around() -> None:
    """A transaction more would throw them from one end of 64 bits to the other, whatever the sensitivity says."""
    finest = queries.RankAtFrequency(Fraction(1, 10**6), 1)
    assert finest.evaluate(STORE).tolist() == [-3 * 10**6 + 5]
    for theta in (Fraction(1, 2**62), Fraction(1, 10**6 + 1), 0, 1, 0.5, Fraction(0), Fraction(-1, 2), Fraction(3, 2)):
        with pytest.raises(InputError, match="more than 0 and at most 1, with a denominator of at most"):
            queries.RankAtFrequency(theta, 1)
    largest = queries.ItemCutoff(rank=1, low=1, high=4, penalties=[0, 2**61, -(2**61), 0])
    assert largest.evaluate(STORE).tolist() == [0, -(2**61), 2**61 - 1, -2]
    for penalty in (2**61 + 1, -(2**61) - 1, np.iinfo(np.int64).max):
        with pytest.raises(InputError, match="penalty must lie within"):
            queries.ItemCutoff(rank=1, low=1, high=1, penalties=[penalty])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 3)), max_size=8),
    st.integers(1, 16),
    st.integers(1, 3),
    st.integers(3, 6),
    st.sampled_from([None, 1, 2]),
)
def test_rank_gaps_are_those_of_the_definition(
    baskets: list[set[int]], rank: int, low: int, high: int, max_length: int | None
) -> None:
    """−|c_j − c_θ| from sorted supports, with zeros beyond what occurs."""
    store = Transactions.from_lists([sorted(basket) for basket in baskets], items=list(range(ITEMS))).store
    masks = [mask for mask in range(1, 16) if mask.bit_count() <= (max_length or 4)]
    supports = sorted((sum(all(i in b for i in range(4) if m >> i & 1) for b in baskets) for m in masks), reverse=True)
    singles = sorted((sum(item in basket for basket in baskets) for item in range(4)), reverse=True)
    threshold = (supports + [0] * 16)[rank - 1]
    expected = [-abs((singles + [0] * 6)[j - 1] - threshold) for j in range(low, high + 1)]
    assert queries.RankGap(rank, low, high, max_length).evaluate(store).tolist() == expected


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "2"], ids=repr)
def test_ranks_are_whole_numbers_from_1(wrong: object) -> None:
    """There is no rank 0, and a truth value is no rank."""
    for made in (
        lambda: queries.RankSupport(wrong),
        lambda: queries.RankGap(wrong, 1, 2),
        lambda: queries.RankGap(1, wrong, 2),
        lambda: queries.RankGap(1, 1, wrong),
        lambda: queries.RankAtFrequency(Fraction(1), wrong),
    ):
        with pytest.raises(InputError):
            made()
