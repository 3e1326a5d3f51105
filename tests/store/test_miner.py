from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privmine.store import levelwise, miner
from privmine.store.memory import MemoryStore

ITEMS = 7
transactions = st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=7), max_size=30)
# Few different transactions, many times each: nearly all supports are tied.
tied = st.lists(st.sampled_from([[0, 1, 2, 3], [2, 3, 4, 5], [0, 5, 6], [6], []]), max_size=12)
untimed = settings(deadline=None, max_examples=150)


def store_of(rows: list[list[int]], item_count: int = ITEMS) -> MemoryStore:
    """The store of some transactions."""
    return MemoryStore.from_rows(np.cumsum([0, *map(len, rows)]), [x for row in rows for x in row], item_count)


def brute_force(rows, n, max_length, item_count=ITEMS):
    """All itemsets, counted and sorted the slow way."""
    longest = item_count if max_length is None else min(max_length, item_count)
    found = []
    for length in range(1, longest + 1):
        for itemset in combinations(range(item_count), length):
            support = sum(set(itemset) <= set(row) for row in rows)
            if support:
                found.append((-support, length, itemset))
    return [(itemset, -support) for support, _, itemset in sorted(found)[: max(n, 0)]]


def listed(result):
    """A miner's result as pairs of itemset and support."""
    itemsets, supports = result
    return list(zip(itemsets, supports.tolist(), strict=True))


@untimed
@given(transactions | tied, st.integers(0, 140), st.none() | st.integers(0, 8))
@example([[0, 1, 2, 3, 4, 5, 6]], 9, None)
@example([[0, 1, 2, 3, 4, 5, 6]], 127, None)
@example([[1, 2], [0, 3]], 5, 2)
def test_the_first_n_itemsets(rows, n, max_length):
    """Both miners find exactly the first n by falling support, length and item order, ties included."""
    store = store_of(rows)
    expected = brute_force(rows, n, max_length)
    assert listed(store.top_itemsets(n, max_length)) == expected
    assert listed(levelwise.top_itemsets(store, n, max_length)) == expected


@untimed
@given(transactions | tied, st.integers(0, 140))
def test_the_ways_to_count_pairs_agree(rows, n):
    """Pairs counted by going through the transactions, in small tables, are those of the bitmaps."""
    expected = brute_force(rows, n, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(miner, "_BITMAPS_AT_LEAST", 0)
        patch.setattr(miner, "PROJECTION_COST", 0)
        patch.setattr(miner, "PAIR_COST", 0)
        patch.setattr(miner, "_TABLE", 8)
        assert listed(store_of(rows).top_itemsets(n)) == expected


@untimed
@given(transactions | tied, st.integers(0, 140), st.sampled_from([0, 2, 4, 4096]))
def test_small_batches_change_nothing(rows, n, table):
    """However few candidates are counted at once, or pairs in a table, the level-wise miner finds the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levelwise, "_TABLE_ITEMS", table)
        patch.setattr(levelwise, "_FIRST_BATCH", 1)
        patch.setattr(levelwise, "_LARGEST_BATCH", 3)
        assert listed(levelwise.top_itemsets(store_of(rows), n)) == brute_force(rows, n, None)


@untimed
@given(transactions | tied, st.integers(0, 140), st.integers(0, 7))
def test_little_memory_changes_nothing(rows, n, at_once):
    """Where only few bitmaps may be kept, and no second copy of the rows, the miner finds the same."""
    store = MemoryStore(store_of(rows).rows, ITEMS, 100 * 10**6)
    store._bitmap_bytes = at_once * 8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(miner, "_STEP", 2)
        assert listed(store.top_itemsets(n)) == brute_force(rows, n, None)
        patch.setattr(miner, "_BITMAPS_AT_LEAST", 3)
        patch.setattr(miner, "PROJECTION_COST", 0)
        patch.setattr(miner, "PAIR_COST", 0)
        store.close()
        assert listed(store.top_itemsets(n)) == brute_force(rows, n, None)


@pytest.mark.parametrize("n", [1, 30, 500, 3000])
@pytest.mark.parametrize("density", [0.02, 0.3])
def test_many_items_agree_with_the_level_wise_miner(n, density):
    """On more items than one block of bitmaps both miners still agree."""
    rng = np.random.default_rng(7)
    popularity = density * 2 / (1 + np.arange(180) / 20)
    rows = [np.flatnonzero(rng.random(180) < popularity).tolist() for _ in range(700)]
    store = store_of(rows, 180)
    assert listed(store.top_itemsets(n)) == listed(levelwise.top_itemsets(store, n))


def test_one_long_transaction_does_not_explode():
    """Of the 2^300 itemsets of one transaction only the first n are looked at."""
    store = store_of([list(range(300))], 300)
    expected = [((item,), 1) for item in range(300)] + [(pair, 1) for pair in combinations(range(300), 2)]
    assert listed(store.top_itemsets(20_000)) == expected[:20_000]
    assert listed(levelwise.top_itemsets(store, 5_000)) == expected[:5_000]


def test_repeated_calls_agree():
    """Later calls, for fewer or more itemsets, find the same although results and bitmaps are kept."""
    rows = [[0, 1, 2], [1, 2, 3], [2, 3]] * 3
    store = store_of(rows)
    store.pair_supports([5, 3])
    for n, max_length in ((10, None), (3, None), (10, 1), (12, None), (-1, None), (99, None), (98, None), (2, 1)):
        result = store.top_itemsets(n, max_length)
        assert listed(result) == brute_force(rows, n, max_length)
        result[1][:] = 0
    store.close()
    assert listed(store.top_itemsets(10)) == brute_force(rows, 10, None)
