import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmine.errors import InputError
from privmine.store import bitmaps, memory, miner
from privmine.store.abstract import Store
from privmine.store.clipping import clip as clip_entries
from privmine.store.memory import MemoryStore
from privmine.store.rows import Rows

ITEMS = 9
transactions = st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=12), max_size=80)
some_items = st.lists(st.integers(0, ITEMS - 1), max_size=ITEMS, unique=True)
untimed = settings(deadline=None, max_examples=60)


def store_of(rows: list[list[int]], item_count: int = ITEMS, **options: bool) -> MemoryStore:
    """The store of some transactions."""
    offsets = np.cumsum([0, *map(len, rows)])
    return MemoryStore.from_rows(offsets, [item for row in rows for item in row], item_count, **options)


def support(rows: list[list[int]], itemset: tuple[int, ...]) -> int:
    """The support of an itemset, counted the slow way."""
    return sum(set(itemset) <= set(row) for row in rows)


@untimed
@given(transactions)
def test_counts_transactions_and_items(rows):
    """Empty transactions count, and a repeated item counts once."""
    store = store_of(rows)
    assert store.count() == len(rows)
    assert store.item_supports().tolist() == [support(rows, (item,)) for item in range(ITEMS)]


@untimed
@given(transactions)
def test_rows_become_sorted_sets(rows):
    """The rows of a store are sorted and free of repetition, whatever they were made of."""
    made = store_of(rows)._rows
    assert [made.between(row, row + 1).items.tolist() for row in range(made.count)] == [
        sorted(set(row)) for row in rows
    ]
    assert made.items.dtype == np.int32


@untimed
@given(transactions)
def test_sorted_sets_are_recognised(rows):
    """Rows count as strictly increasing if each one is, whatever the next row starts with."""
    made = Rows.of(np.cumsum([0, *map(len, rows)]), np.array([x for row in rows for x in row], dtype=np.int32))
    assert made.are_strictly_increasing() == all(row == sorted(set(row)) for row in rows)
    assert made.as_sets().are_strictly_increasing()


def test_large_item_numbers_sort_as_well():
    """Rows of items that need a wide sorting key become sets."""
    rows = Rows.of(np.array([0, 3, 3, 5]), np.array([2**30, 5, 2**30, 7, 6], dtype=np.int32))
    assert rows.as_sets().items.tolist() == [5, 2**30, 6, 7]
    assert rows.as_sets().offsets.tolist() == [0, 2, 2, 4]


def test_blocks_cover_long_rows_and_many_empty_ones(monkeypatch):
    """Blocks of rows make up the rows, also where a row is longer than a block."""
    monkeypatch.setattr("privmine.store.rows.BLOCK_ITEMS", 4)
    monkeypatch.setattr(Rows.blocks, "__defaults__", (4,))
    rows = [[1], list(range(9)), *[[] for _ in range(11)], [3, 3], [4, 1], [2]]
    store = store_of(rows)
    assert store.item_supports().tolist() == [support(rows, (item,)) for item in range(ITEMS)]
    assert store.lengths(None, 9).tolist() == [11, 3, 1, 0, 0, 0, 0, 0, 0, 1]


@untimed
@given(transactions, st.lists(some_items, max_size=20))
def test_supports_of_itemsets(rows, itemsets):
    """Supports of any itemsets in any order; that of the empty one is the number of transactions."""
    asked = [tuple(sorted(itemset)) for itemset in itemsets]
    assert store_of(rows).supports(asked).tolist() == [support(rows, itemset) for itemset in asked]


@untimed
@given(transactions, some_items)
def test_pair_supports(rows, items):
    """Pairs come in the order of combinations."""
    expected = [support(rows, pair) for pair in combinations(items, 2)]
    assert store_of(rows).pair_supports(items).tolist() == expected


@untimed
@given(transactions, some_items)
def test_pair_supports_by_transactions(rows, items):
    """Going through the transactions, which is chosen where bitmaps cost more, counts the same."""
    expected = [support(rows, pair) for pair in combinations(items, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(miner, "bitmap_cost", lambda *_: 10**12)
        patch.setattr(bitmaps, "triangle_counts", None)  # not called
        assert store_of(rows).pair_supports(items).tolist() == expected


@pytest.mark.parametrize(("items", "by_transactions"), [(20, False), (600, True)])
def test_many_pairs_are_counted_by_transactions(items, by_transactions, monkeypatch):
    """Few items are counted on bitmaps, many rare ones by transactions."""
    store = store_of([[item, (7 * item + 1) % 600] for item in range(600)] * 5, 600)
    counted = []
    monkeypatch.setattr(bitmaps, "triangle_counts", lambda *a: counted.append(a) or np.zeros((items, items), int))
    store.pair_supports(range(items))
    assert bool(counted) != by_transactions


@untimed
@given(transactions, st.lists(some_items, max_size=5))
def test_bin_counts(rows, bases):
    """A bin counts the transactions whose intersection with the basis it stands for, first item lowest."""
    expected = []
    for basis in bases:
        bins = [0] * 2 ** len(basis)
        for row in rows:
            bins[sum(1 << position for position, item in enumerate(basis) if item in row)] += 1
        expected.append(bins)
    counted = store_of(rows).bin_counts([tuple(basis) for basis in bases])
    assert [bins.tolist() for bins in counted] == expected


def test_bin_counts_of_long_bases():
    """Bases of more than 8 and more than 16 items have the same bins as their parts."""
    rows = [[item for item in range(18) if (number * 2654435761 >> item) & 1] for number in range(300)]
    store = store_of(rows, 18)
    (long,) = store.bin_counts([tuple(range(18))])
    assert len(long) == 2**18
    for length in (8, 9, 16, 17):
        (short,) = store.bin_counts([tuple(range(length))])
        assert (long.reshape(-1, 2**length).sum(axis=0) == short).all()
    assert [int(b) for b in np.flatnonzero(long)] == sorted({sum(1 << item for item in row) for row in rows})


def test_basis_too_long_is_refused():
    """A basis whose bins cannot fit in memory is refused by its length."""
    with pytest.raises(InputError, match="31 items"):
        store_of([], 40).bin_counts([tuple(range(31))])


@untimed
@given(transactions, st.none() | some_items, st.integers(0, 12))
def test_lengths(rows, within, cap):
    """Lengths are counted within the given items, and the last bin is for all that are longer."""
    chosen = range(ITEMS) if within is None else within
    expected = [0] * (cap + 1)
    for row in rows:
        expected[min(cap, len(set(row) & set(chosen)))] += 1
    assert store_of(rows).lengths(within, cap).tolist() == expected


@untimed
@given(transactions, st.none() | some_items, st.sampled_from([1, 2]), st.lists(st.integers(-5, 2**40), max_size=7))
def test_weighted_supports(rows, within, size, weights):
    """Each transaction weighs by its length within the items, and nothing past the end of the weights."""
    chosen = list(range(ITEMS) if within is None else within)
    expected = []
    for itemset in combinations(chosen, size):
        lengths = [len(set(row) & set(chosen)) for row in rows if set(itemset) <= set(row)]
        expected.append(sum(weights[length] for length in lengths if length < len(weights)))
    assert store_of(rows).weighted_supports(size, within, np.array(weights, dtype=np.int64)).tolist() == expected


def bounded(rows: list[list[int]], itemsets: list[list[int]], weights: list[int]) -> list[int]:
    """Bounded supports, counted the slow way."""
    totals = [0] * len(itemsets)
    for row in rows:
        contained = [set(found) <= set(row) for found in itemsets]
        weight = weights[sum(contained)] if sum(contained) < len(weights) else 0
        totals = [total + weight * has for total, has in zip(totals, contained, strict=True)]
    return totals


some_itemsets = st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=4, unique=True), max_size=20)
any_weights = st.lists(st.integers(-5, 5) | st.integers(-(2**31), 2**31), max_size=15)


@pytest.mark.parametrize("limits", [{}, {"_WORDS_OF_ITEMSETS": 1}])
@untimed
@given(rows=transactions, itemsets=some_itemsets, weights=any_weights)
def test_bounded_supports(rows, itemsets, weights, limits):
    """Each transaction weighs by how many of the itemsets it contains, and nothing past the end of the weights."""
    table = np.array(weights, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(bitmaps, name, value)
        assert store_of(rows).bounded_supports(itemsets, table).tolist() == bounded(rows, itemsets, weights)


@untimed
@given(rows=transactions, itemsets=some_itemsets, weights=any_weights)
def test_bounded_supports_with_few_bitmaps_in_memory(rows, itemsets, weights):
    """What does not fit is counted a part of the transactions at a time, with the same result."""
    table = np.array(weights, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_BITMAP_BYTES", 8)
        assert store_of(rows).bounded_supports(itemsets, table).tolist() == bounded(rows, itemsets, weights)


@pytest.mark.parametrize("most", [0, 1 << 24])
def test_what_is_too_large_to_keep_is_made_again(most, monkeypatch):
    """Whether the occurrences of pairs are kept or not, the second question has the same answer."""
    monkeypatch.setattr(memory, "_MOST_KEPT", most)
    monkeypatch.setattr(memory, "_HELD_COST", 10**6)  # rows, not bitmaps
    rows = [[0, 1], [0, 1, 2], [2], []] * 3
    itemsets = [(0,), (0, 1), (1, 2)]
    store, weights = store_of(rows), np.array([0, 6, 3, 2])
    assert store.held_counts(itemsets, 3).tolist() == [6, 0, 3, 3]
    for _ in range(2):
        assert store.bounded_supports(itemsets, weights).tolist() == bounded(rows, itemsets, weights.tolist())
    assert bool(store._asked[1]) == (most > 0)


@pytest.mark.parametrize("last", [8, 5])
def test_windows_of_equal_size_are_counted_each(last, monkeypatch):
    """Of three windows of transactions the first one must not stand for the others, however often they are asked."""
    monkeypatch.setattr(memory, "_BITMAP_BYTES", 8)
    rows = [[0]] * 8 + [[0, 1]] * 8 + [[0, 1, 2]] * last
    itemsets = [(0,), (0, 1), (0, 1, 2), (3,), (4,)]  # bitmaps of five items have room for 8 transactions
    store, weights = store_of(rows), np.array([0, 6, 3, 2])
    for _ in range(2):
        assert store.held_counts(itemsets, 3).tolist() == [0, 8, 8, last]
        assert store.bounded_supports(itemsets, weights).tolist() == bounded(rows, itemsets, weights.tolist())


@untimed
@given(rows=transactions, itemsets=some_itemsets, weights=any_weights)
def test_bounded_supports_of_any_store(rows, itemsets, weights):
    """A store that has no way of its own gets the same result from its sum."""
    table = np.array(weights, dtype=np.int64)
    assert Store.bounded_supports(store_of(rows), itemsets, table).tolist() == bounded(rows, itemsets, weights)


def test_bounded_supports_of_many_itemsets():
    """More itemsets than a power of two, in more transactions than a word has bits."""
    rows = [[item for item in range(ITEMS) if (number >> item) & 1] for number in range(512)] * 3
    itemsets = [list(found) for size in (1, 2, 3) for found in combinations(range(ITEMS), size)]
    weights = [1000 // max(held, 1) for held in range(len(itemsets) + 1)]
    assert store_of(rows).bounded_supports(itemsets, np.array(weights)).tolist() == bounded(rows, itemsets, weights)


def test_weighted_supports_are_exact_past_floating_point():
    """Weights add up as integers: 2^53 + 1 is no float."""
    total = store_of([[0], [0]]).weighted_supports(1, None, np.array([0, 2**53 + 1]))
    assert total[0] == 2 * (2**53 + 1)


def test_weighted_supports_of_other_sizes_are_refused():
    """Only items and pairs have weighted supports."""
    with pytest.raises(InputError, match="size 3"):
        store_of([[0]]).weighted_supports(3, None, np.array([1]))


def clip(values, dimension, l1, l2_squared=None):
    """A clipped contribution with its zeros."""
    entries = clip_entries(values, dimension, l1, l2_squared)
    return [entries.get(position, 0) for position in range(dimension)]


@untimed
@given(transactions, st.integers(0, 30), st.none() | st.integers(0, 30))
def test_sum_adds_clipped_contributions(rows, l1, l2_squared):
    """A sum adds what each transaction, a sorted tuple, contributes within the norms."""

    def contribution(transaction):
        assert list(transaction) == sorted(set(transaction))
        return [len(transaction), -sum(transaction), 1]

    expected = np.zeros(3, dtype=np.int64)
    for row in rows:
        expected += clip(contribution(tuple(sorted(set(row)))), 3, l1, l2_squared)
    assert store_of(rows).sum(contribution, 3, l1, l2_squared).tolist() == expected.tolist()


def test_sum_does_not_overflow():
    """A sum past 64 bits stays at the largest number, which keeps its sensitivity."""
    rows = [[], [], []]
    assert store_of(rows).sum(lambda _: [2**62, -(2**63)], 2, 2**65).tolist() == [2**63 - 1, -(2**63 - 1)]


@untimed
@given(
    st.lists(st.integers(-(2**70), 2**70) | st.integers(-5, 5), max_size=6),
    st.integers(0, 2**71),
    st.none() | st.integers(0, 2**71),
)
def test_clipping_keeps_norms_integers_and_what_fits(values, l1, l2_squared):
    """A clipped contribution is within both norms, never grows an entry, and is unchanged if it fits."""
    clipped = clip(values, len(values), l1, l2_squared)
    assert all(type(value) is int for value in clipped)
    assert sum(map(abs, clipped)) <= l1
    assert l2_squared is None or sum(value * value for value in clipped) <= l2_squared
    assert all(abs(new) <= abs(old) and new * old >= 0 for new, old in zip(clipped, values, strict=True))
    fits = sum(map(abs, values)) <= l1 and (l2_squared is None or sum(value * value for value in values) <= l2_squared)
    assert not fits or clipped == values


def test_clipping_keeps_the_first_entries():
    """What exceeds a norm is taken off in order: the first entries stay."""
    assert clip([2, -3, 4], 3, 4) == [2, -2, 0]
    assert clip([2, -3, 4], 3, 100, 13) == [2, -3, 0]
    assert clip([5, -3, 4], 3, 100, 20) == [4, -2, 0]
    assert clip([5, -3, 4], 3, 5, 20) == [4, -1, 0]


@pytest.mark.parametrize("bad", [[1.5, 2], ["7777", 1], [1], [1, 2, 3], [None, 1], 7777, np.array([1.0, 2.0])])
def test_bad_contributions_are_refused_without_data(bad):
    """A contribution that is not the right number of integers is a ValueError that shows none of it."""
    with pytest.raises(ValueError, match="contribution") as caught:
        clip(bad, 2, 10)
    assert "7777" not in str(caught.value)
    assert caught.value.__context__ is None


def test_clipping_takes_numpy_integers():
    """Contributions may be arrays of integers."""
    assert clip(np.array([3, -4], dtype=np.int16), 2, 5) == [3, -2]


@pytest.mark.parametrize("rows", [[], [[]], [[], [], []]])
@pytest.mark.parametrize("item_count", [0, 1, 3])
def test_every_question_has_an_answer_without_data(rows, item_count):
    """No transactions, no items or only empty transactions: every count is there, twice."""
    store = store_of(rows, item_count)
    items = list(range(item_count))
    for _ in range(2):
        assert store.count() == len(rows)
        assert store.item_supports().tolist() == [0] * item_count
        assert store.supports([(), tuple(items)]).tolist() == [len(rows), 0 if items else len(rows)]
        assert store.supports([]).tolist() == []
        assert store.pair_supports(items).tolist() == [0] * (item_count * (item_count - 1) // 2)
        assert store.pair_supports([]).tolist() == []
        assert [bins.sum() for bins in store.bin_counts([(), tuple(items)])] == [len(rows), len(rows)]
        assert store.bin_counts([]) == []
        assert store.lengths(None, 0).tolist() == store.lengths([], 0).tolist() == [len(rows)]
        assert store.weighted_supports(1, None, np.array([3])).tolist() == [0] * item_count
        assert store.weighted_supports(2, [], np.array([3])).tolist() == []
        assert store.sum(lambda _: [1], 1, 1).tolist() == [len(rows)]
        assert store.sum(lambda _: [], 0, 1).tolist() == []
        found, supports = store.top_itemsets(5)
        assert (len(found), len(supports)) == (0, 0)
        store.persist()
        store.close()


@pytest.mark.parametrize("item", [-1, ITEMS])
def test_items_outside_the_universe_are_refused(item):
    """An item that is no item of the universe is refused, in rows and in questions."""
    store = store_of([[0]])
    questions = (
        lambda: store_of([[item]]),
        lambda: store.supports([(item,)]),
        lambda: store.pair_supports([0, item]),
        lambda: store.bin_counts([(item,)]),
        lambda: store.lengths([item], 2),
        lambda: store.weighted_supports(1, [item], np.array([1, 1])),
    )
    for question in questions:
        with pytest.raises(InputError, match="outside the universe"):
            question()


def test_a_store_travels():
    """A pickled store counts the same; bitmaps do not travel with it."""
    store = store_of([[0, 1, 2], [1, 2], []] * 200)
    before = len(pickle.dumps(store))
    store.pair_supports([0, 1, 2])
    assert len(pickle.dumps(store)) == before
    again = pickle.loads(pickle.dumps(store))  # noqa: S301
    assert again.pair_supports([0, 1, 2]).tolist() == [200, 200, 400]
    assert again.count() == 600


def test_results_are_the_callers_own_or_read_only():
    """Nobody can change a store through what it returns."""
    store = store_of([[0, 1], [1]])
    assert not store.item_supports().flags.writeable
    store.supports([(0,), (1,)])[:] = 99
    store.pair_supports([0, 1])[:] = 99
    assert store.supports([(0,), (1,), (0, 1)]).tolist() == [1, 2, 1]


@pytest.mark.parametrize("limit", [0, 8, 24, 64])
def test_few_bitmaps_in_memory_count_the_same(monkeypatch, limit):
    """Where not all bitmaps may be kept, old ones go and counts stay."""
    monkeypatch.setattr(memory, "_BITMAP_BYTES", limit)
    rows = [[item for item in range(ITEMS) if (number >> item) & 1] for number in range(60)]
    store = store_of(rows)
    for items in ([0, 1], [1, 2, 3], [0, 1], list(range(ITEMS)), [3, 2, 8]):
        assert store.pair_supports(items).tolist() == [support(rows, pair) for pair in combinations(items, 2)]
    triples = list(combinations(range(ITEMS), 3))
    assert store.supports(triples).tolist() == [support(rows, triple) for triple in triples]
    bases = [(0, 1, 2), (), (2, 5), tuple(range(ITEMS))]
    expected = [[0] * 2 ** len(basis) for basis in bases]
    for row in rows:
        for counts, basis in zip(expected, bases, strict=True):
            counts[sum(1 << place for place, item in enumerate(basis) if item in row)] += 1
    assert [counts.tolist() for counts in store.bin_counts(bases)] == expected


def test_bitmaps_longer_than_a_window_count_the_same(monkeypatch):
    """Counting goes through bitmaps in windows; where they end does not matter."""
    whole = store_of([np.flatnonzero(row).tolist() for row in np.random.default_rng(2).random((9000, ITEMS)) < 0.4])
    bases = [tuple(range(ITEMS)), (1, 2), ()]
    expected = [counts.tolist() for counts in whole.bin_counts(bases)]
    monkeypatch.setattr(bitmaps, "_WORDS_OF_BINS", 5)
    assert [counts.tolist() for counts in whole.bin_counts(bases)] == expected
    monkeypatch.setattr(bitmaps, "_WORDS_IN_CACHE", 128)
    monkeypatch.setattr(bitmaps, "_WIDTH", 3)
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(rng.random(ITEMS) < 0.4).tolist() for _ in range(9000)]
    store = store_of(rows, strictly_increasing=True)
    asked = [*combinations(range(ITEMS), 2), *combinations(range(ITEMS), 3)]
    assert store.supports(asked).tolist() == [support(rows, itemset) for itemset in asked]
    assert store.pair_supports(range(ITEMS)).tolist() == [support(rows, pair) for pair in asked[:36]]
    assert store.bin_counts([tuple(range(ITEMS))])[0].sum() == 9000
