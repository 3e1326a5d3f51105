from __future__ import annotations

import pickle
from itertools import chain, repeat

import numpy as np
import pytest
from attrs import evolve

from privmine.datasets import repeated
from privmine.errors import InputError
from privmine.pipeline import Pipeline
from privmine.store.memory import MemoryStore
from privmine.store.transactions import Transactions

BASKETS = [[0, 1, 2], [0, 1], [3], [], [1, 2, 3]]


@pytest.fixture
def stores() -> tuple[Transactions, Transactions]:
    """Baskets repeated by the store, and the same written out."""
    copies = chain.from_iterable(repeat(BASKETS, 3))
    return repeated(Transactions.from_lists(BASKETS), 3), Transactions.from_lists(copies)


def test_every_count_is_that_of_the_copies(stores: tuple[Transactions, Transactions]) -> None:
    """Each method of the store answers as if the transactions were there several times."""
    short, long = (transactions.store for transactions in stores)
    assert short.item_count == long.item_count
    assert short.count() == long.count() == 15
    weights = np.array([0, 5, 3, 2])
    answers = [
        (
            store.item_supports(),
            store.supports([(), (0, 1), (2, 3)]),
            store.pair_supports([0, 1, 2, 3]),
            *store.bin_counts([(0, 1), (2,)]),
            store.lengths(None, 2),
            store.lengths([0, 1], 3),
            store.weighted_supports(1, None, weights),
            store.weighted_supports(2, [0, 1, 2], weights),
            store.sum(lambda items: (len(items), 9), 2, 4),
            store.top_itemsets(5)[1],
        )
        for store in (short, long)
    ]
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)
    assert list(short.top_itemsets(5)[0]) == list(long.top_itemsets(5)[0])


def test_sums_are_bounded_as_in_any_store() -> None:
    """A sum past 64 bits stays at their limit instead of wrapping around."""
    limit = np.iinfo(np.int64).max
    huge = repeated(Transactions.from_lists([[0]]), 4).store.sum(lambda _: (2**62,), 1, 2**62)
    assert huge.tolist() == [limit]


def test_once_is_the_same() -> None:
    """Repeating once gives the transactions themselves, less is refused."""
    baskets = Transactions.from_lists(BASKETS)
    assert repeated(baskets, 1) is baskets
    with pytest.raises(InputError, match="at least once"):
        repeated(baskets, 0)


def test_the_receipt_says_that_copies_are_protected_one_by_one(stores: tuple[Transactions, Transactions]) -> None:
    """One transaction of the original moves counts three times as far as the noise allows for."""
    short, long = stores
    for transactions, told in ((short, 1), (repeated(short, 2), 2), (long, 0)):
        receipt = Pipeline().run(transactions, k=3, epsilon=1).receipt
        assert sum("one copy of a transaction" in words for words in receipt.assumptions) == told


def test_the_receipt_says_whose_store_is_repeated() -> None:
    """What repeats counts by another store, which may be a stranger's."""

    class Strange(MemoryStore):
        pass

    baskets = Transactions.from_lists(BASKETS)
    stranger = evolve(baskets, store=Strange(baskets.store.rows, baskets.store.item_count))
    for transactions, told in ((baskets, False), (stranger, True)):
        receipt = Pipeline().run(repeated(repeated(transactions, 2), 2), k=3, epsilon=1).receipt
        assert any("store is not privmine's own" in words for words in receipt.assumptions) is told


def test_repeated_data_can_be_mined_and_sent(stores: tuple[Transactions, Transactions]) -> None:
    """A pipeline gives the same release as on copies, also after a journey to another process."""
    releases = [
        Pipeline().run(transactions, k=3, epsilon=1, simulate=True, seed=3)
        for transactions in (*stores, pickle.loads(pickle.dumps(stores[0])))  # noqa: S301
    ]
    first, *others = [release.columns() for release in releases]
    assert first == others[0] == others[1]
    stores[0].store.persist()
    stores[0].store.close()
