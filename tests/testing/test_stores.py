from collections.abc import Sequence

import numpy as np
import pytest

from privmine.datasets.repeated import RepeatedStore
from privmine.model import IntArray, Itemset
from privmine.store import miner
from privmine.store.abstract import Contribution, Store
from privmine.store.memory import MemoryStore
from privmine.testing import FlawedStoreError, check_store


def in_memory(baskets, items: int) -> MemoryStore:
    """The store of made-up transactions."""
    offsets = np.cumsum([0, *map(len, baskets)])
    return MemoryStore.from_rows(offsets, [item for basket in baskets for item in basket], items)


class PlainStore(Store):
    """A store as an author would begin it: loops over tuples, and only what is abstract."""

    def __init__(self, baskets, items: int) -> None:
        self.baskets = [frozenset(basket) for basket in baskets]
        self.items = items

    @property
    def item_count(self) -> int:
        return self.items

    def count(self) -> int:
        return len(self.baskets)

    def item_supports(self) -> IntArray:
        return self.supports([(item,) for item in range(self.items)])

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        counts = [sum(set(found) <= basket for basket in self.baskets) for found in itemsets]
        return np.array(counts, dtype=np.int64)

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        found = []
        for basis in bases:
            bins = np.zeros(2 ** len(basis), dtype=np.int64)
            for basket in self.baskets:
                bins[sum(1 << place for place, item in enumerate(basis) if item in basket)] += 1
            found.append(bins)
        return found

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        bins = np.zeros(cap + 1, dtype=np.int64)
        for basket in self.baskets:
            bins[min(cap, len(self._seen(basket, within)))] += 1
        return bins

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        from itertools import combinations

        groups = list(combinations(range(self.items) if within is None else within, size))
        totals = np.zeros(len(groups), dtype=np.int64)
        for basket in self.baskets:
            length = len(self._seen(basket, within))
            weight = weights[length] if length < len(weights) else 0
            totals += np.array([weight * (set(group) <= basket) for group in groups], dtype=np.int64)
        return totals

    def sum(self, contribution: Contribution, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        from privmine.store.clipping import contribute

        totals = np.zeros(dimension, dtype=np.int64)
        for basket in self.baskets:
            clipped = contribute(contribution, tuple(sorted(basket)), dimension, l1, l2_squared)
            totals += np.array(clipped, dtype=np.int64)
        return totals

    @staticmethod
    def _seen(basket, within):
        return basket if within is None else basket & set(within)


def test_a_store_that_counts_right_passes() -> None:
    """The store in memory agrees with itself, and with a wrapper around it."""
    check_store(in_memory)
    check_store(lambda baskets, items: RepeatedStore(in_memory(baskets, items), 1))


def test_a_store_of_little_memory_counts_as_one_of_much(monkeypatch) -> None:
    """Under a limit nothing is copied and few bitmaps are kept; the answers stay, however pairs are counted."""

    def make(baskets, items):
        store = MemoryStore(in_memory(baskets, items).rows, items, 100 * 10**6)
        store._bitmap_bytes = 16  # too few for nearly all questions
        return store

    check_store(make, databases=4)
    monkeypatch.setattr(miner, "PROJECTION_COST", 0)
    monkeypatch.setattr(miner, "PAIR_COST", 0)
    check_store(make, databases=4)


def test_the_defaults_of_a_store_are_right() -> None:
    """A store with the abstract methods alone mines, and counts pairs and bounded supports, as the one in memory."""
    check_store(PlainStore)


WRONG = {
    "count": lambda answer: answer + 1,
    "item_supports": lambda answer: answer + 1,
    "supports": lambda answer: answer + 1,
    "pair_supports": lambda answer: answer[::-1],
    "bin_counts": lambda answer: [part[::-1] for part in answer],
    "state_counts": lambda answer: answer[::-1],
    "lengths": lambda answer: answer[::-1],
    "weighted_supports": lambda answer: answer.astype(np.float64),
    "bounded_supports": np.abs,
    "held_counts": lambda answer: answer[::-1],
    "sum": lambda answer: 2 * answer,
    "top_itemsets": lambda answer: (answer[0], answer[1] - 1),
    "restricted": lambda answer: RepeatedStore(answer, 2),
}


@pytest.mark.parametrize("method", WRONG)
def test_a_store_with_one_wrong_method_is_told(method: str) -> None:
    """The method that answers wrongly is named, and no other one."""

    class WrongStore(RepeatedStore):
        pass

    def wrong(self, *arguments):
        return WRONG[method](getattr(super(WrongStore, self), method)(*arguments))

    setattr(WrongStore, method, wrong)
    with pytest.raises(FlawedStoreError) as told:
        check_store(lambda baskets, items: WrongStore(in_memory(baskets, items), 1), databases=6)
    assert [flaw.contract for flaw in told.value.flaws] == [method]


def test_a_method_that_fails_is_told() -> None:
    """An exception is a flaw of the method, with its message: the data is made up."""

    class Failing(MemoryStore):
        def lengths(self, within, cap):
            raise RuntimeError("no cluster")

    with pytest.raises(FlawedStoreError, match="raised RuntimeError: no cluster"):
        check_store(lambda baskets, items: Failing(in_memory(baskets, items).rows, items), databases=6)


def test_a_list_is_no_array() -> None:
    """A list has the right numbers, but queries calculate with it; the method that answers with it is named."""

    class Lists(MemoryStore):
        def lengths(self, within, cap):
            return super().lengths(within, cap).tolist()

    with pytest.raises(FlawedStoreError, match="answered list, not a numpy array"):
        check_store(lambda baskets, items: Lists(in_memory(baskets, items).rows, items), databases=6)


def test_a_store_must_be_a_subclass() -> None:
    """What only looks like a store lacks its defaults."""
    with pytest.raises(FlawedStoreError, match="not a subclass of Store"):
        check_store(lambda baskets, items: object())


def test_a_slow_store_can_be_tried_on_fewer_databases() -> None:
    """As many as were asked for, odd ones and random ones among them."""
    tried = []

    def make(baskets, items):
        tried.append(items)
        return in_memory(baskets, items)

    check_store(make, databases=5)
    assert len(tried) == 5
    assert max(tried) > 10 > min(tried)
