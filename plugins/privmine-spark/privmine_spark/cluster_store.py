"""The counting store on a cluster: each partition is counted by the code of the store in memory, and sums are added.

Every question is one pass over the packed rows, in which the executors send what is not 0 of their sums. Where there
are many sums of many numbers, executors add them before the driver does.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from math import isqrt
from typing import Any
from weakref import finalize

import numpy as np

from privmine.api import DataError, IntArray, Itemset, Itemsets, MemoryStore, PrivmineWarning, Rows, Store
from privmine_spark.packed_rows import PackedRow, added, stores_of
from privmine_spark.problems import CHANGED
from privmine_spark.quiet import Quiet

#: What a partition answers: whether it failed, how many transactions it has, their digest, where its sums are not 0,
#: and these sums. No positions: the sums are all there.
_Sums = tuple[int, int, int, bytes, bytes]
#: How many bytes of sums the driver collects at most, and an executor at a time.
_COLLECTED_BYTES = 1 << 28
_INT64 = np.iinfo(np.int64).max
#: Why a partition has no answer.
_FAILED, _NO_MODULE = 1, 2


class SparkStore(Store):
    """Transactions in packed rows that Spark keeps.

    They are an RDD of what Python pickles, not a frame: executors hand the bytes to Python as they are, where a frame
    is planned, compiled and converted to Arrow in each pass.

    Privacy: it holds sets, at most `Unit.baskets` of a unit, as `making_rows` packs them. `MemoryStore` clips what is
    summed, on the executors. What this store returns is exact and for the curator only. An answer that was counted on
    other rows than those that were read is refused: one unit could have more rows in it than it had then.
    """

    def __init__(self, session: Any, rows: Any, item_count: int, count: int, digest: int) -> None:
        """Count on packed rows.

        Args:
            session: the session of Spark.
            rows: an RDD of `PackedRow`, which Spark keeps.
            item_count: the size of the universe.
            count: how many transactions there are.
            digest: the sum of the digests.
        """
        self._packed = rows
        self._item_count = item_count
        self._count, self._digest = count, digest
        self._partitions = max(rows.getNumPartitions(), 1)
        self._quiet = Quiet(session)
        #: Without transactions: it checks questions, and its answers have the form of all answers.
        self._empty = MemoryStore(Rows.of(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)), item_count)
        self._item_supports: IntArray | None = None
        self._mined: dict[int | None, tuple[int, Itemsets, IntArray]] = {}
        self._let_go = finalize(self, _unpersist, rows)
        self._let_go.atexit = False  # the session ends by itself

    @property
    def item_count(self) -> int:
        """The size of the universe."""
        return self._item_count

    def count(self) -> int:
        """The number of transactions, empty ones included."""
        return self._count

    def item_supports(self) -> IntArray:
        """The support of every item of the universe, in item order."""
        if self._item_supports is None:
            found = self._ask("item_supports")
            found.flags.writeable = False
            self._item_supports = found
        return self._item_supports

    def supports(self, itemsets: Sequence[Itemset]) -> IntArray:
        """The support of each itemset; that of the empty itemset is the number of transactions."""
        asked = itemsets if isinstance(itemsets, Itemsets) else Itemsets.of(itemsets)
        answers = self._empty.supports(asked)  # which checks the items
        answers[asked.lengths == 0] = self._count
        single = np.flatnonzero(asked.lengths == 1)
        if len(single):
            answers[single] = self.item_supports()[asked.members[asked.offsets[single]]]
        longer = np.flatnonzero(asked.lengths > 1)
        if len(longer):
            answers[longer] = self._ask("supports", Itemsets.of([asked[place] for place in longer.tolist()]))
        return answers

    def pair_supports(self, items: Sequence[int]) -> IntArray:
        """The supports of all pairs of the given items, in the order of `itertools.combinations`."""
        return self._ask("pair_supports", items)

    def bin_counts(self, bases: Sequence[Itemset]) -> list[IntArray]:
        """For each basis the number of transactions by their intersection with it, in one pass."""
        return self._ask("bin_counts", bases)

    def state_counts(self, items: Sequence[int], states: IntArray) -> IntArray:
        """How many transactions have, of the given items, exactly those of each state."""
        return self._ask("state_counts", items, states)

    def lengths(self, within: Sequence[int] | None, cap: int) -> IntArray:
        """How many transactions have 0, 1, …, cap items of `within` (None: of all); cap means cap or more."""
        return self._ask("lengths", within, cap)

    def weighted_supports(self, size: int, within: Sequence[int] | None, weights: IntArray) -> IntArray:
        """Sum over transactions t of weights[|t ∩ within|], for each item (size 1) or pair (size 2) of `within`."""
        return self._ask("weighted_supports", size, within, weights)

    def bounded_supports(self, itemsets: Sequence[Itemset], weights: IntArray) -> IntArray:
        """For each itemset the sum of weights[T(t)] over the transactions t that contain it."""
        return self._ask("bounded_supports", itemsets, weights)

    def held_counts(self, itemsets: Sequence[Itemset], cap: int) -> IntArray:
        """How many transactions contain 0, 1, …, cap of the itemsets; cap means cap or more."""
        return self._ask("held_counts", itemsets, cap)

    def sum(self, contribution: Any, dimension: int, l1: int, l2_squared: int | None = None) -> IntArray:
        """Add up integer contributions, each clipped to an L1 norm (and squared L2 norm) before it is added."""
        return self._ask("sum", contribution, dimension, l1, l2_squared)

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
        """The n itemsets of largest support, by falling support, then length, then item order."""
        asked, found, supports = self._mined.get(max_length, (0, Itemsets.of([]), np.zeros(0, dtype=np.int64)))
        if n > asked:
            found, supports = super().top_itemsets(n, max_length)
            self._mined[max_length] = n, found, supports
        size = min(max(n, 0), len(found))
        offsets = found.offsets[: size + 1]
        return Itemsets(found.members[: offsets[-1]], offsets), supports[:size].copy()

    def persist(self) -> None:
        """Count the items, which also tells whether the session is there and the data is what was read."""
        self._item_supports = None
        self.item_supports()

    def close(self) -> None:
        """Let Spark forget the transactions; it computes them again if they are asked for."""
        self._mined = {}
        self._item_supports = None
        self._let_go()

    def _ask(self, method: str, *arguments: Any) -> Any:
        """The answer of all partitions to a question, in the form of the answer of the store in memory."""
        form = getattr(self._empty, method)(*arguments)
        sizes = [len(part) for part in form] if isinstance(form, list) else [len(form)]
        if not sum(sizes):
            return form
        total = self._checked(self._quiet(lambda: self._total(method, arguments, sum(sizes))))
        return np.split(total, np.cumsum(sizes)[:-1]) if isinstance(form, list) else total

    def _total(self, method: str, arguments: tuple[Any, ...], size: int) -> _Total:
        from pyspark import cloudpickle

        # Here, since Spark would print what is wrong with a function that cannot be sent.
        question = cloudpickle.dumps((method, arguments))
        sums = self._packed.mapPartitions(_part_sums(question, size, self._item_count))
        for parts in _levels(self._partitions, 8 * size):
            sums = spread(sums, parts).mapPartitions(_added_sums(size))
        found = _Total(size)
        for answer in sums.collect():
            found.add_sums(answer)
        return found

    def _checked(self, found: _Total) -> IntArray:
        """The sums, if all partitions have counted, and have counted what was read."""
        if found.failed == _NO_MODULE:
            raise DataError(
                "Spark failed: a function needs a module that the executors lack. Install it there, or ship it with "
                "spark.sparkContext.addPyFile()."
            )
        if found.failed:
            raise DataError(
                "Spark failed: the executors could not count; the reason is withheld, because it may contain data. "
                "Give them more memory (spark.executor.memory, spark.executor.memoryOverhead)."
            )
        if (found.count, found.digest) != (self._count, self._digest):
            words = f"{CHANGED[:1].upper()}{CHANGED[1:]}."
            # The curator tells no reason of a failure; these words hold no data.
            warnings.warn(words, PrivmineWarning, stacklevel=2)
            raise DataError(words)
        return found.sums


class _Total:
    """Adds up what partitions answer."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.failed = 0
        self.count = self.digest = 0
        self.sums = np.zeros(size, dtype=np.int64)

    def add(self, count: int, digest: int, positions: IntArray, sums: IntArray) -> None:
        self.count += count
        self.digest = added((self.digest, digest))
        before = self.sums[positions]
        after = before + sums
        # A sum beyond 64 bits stays at the end of the range, as in the store in memory.
        wrapped = (before > 0) == (sums > 0)
        wrapped &= (after > 0) != (sums > 0)
        wrapped &= (before != 0) & (sums != 0)
        if wrapped.any():
            after = np.where(wrapped, np.where(sums > 0, _INT64, -_INT64), after)
        self.sums[positions] = after

    def add_sums(self, answer: _Sums) -> None:
        failed, count, digest, positions, sums = answer
        self.failed = max(self.failed, failed)
        numbers = np.frombuffer(sums, dtype=np.int64)
        # All of them, where few are 0.
        dense = len(numbers) == self._size and not positions
        places = np.arange(self._size) if dense else np.frombuffer(positions, dtype=np.int32)
        self.add(count, digest, places, numbers)

    def answer(self) -> _Sums:
        places = np.flatnonzero(self.sums)
        if 3 * len(places) > 2 * self._size or self._size > np.iinfo(np.int32).max:
            positions, sums = b"", self.sums
        else:
            positions, sums = places.astype(np.int32).tobytes(), self.sums[places]
        return self.failed, self.count, self.digest, positions, sums.tobytes()


def _part_sums(question: bytes, size: int, item_count: int) -> Callable[[Iterator[PackedRow]], Iterator[_Sums]]:
    """Makes a function that counts the packed rows of a partition."""

    def work(rows: Iterator[PackedRow]) -> Iterator[_Sums]:
        total = _Total(size)
        try:
            method, arguments = pickle.loads(question)  # noqa: S301 - it comes from the driver, as the function does
            for store, digest in stores_of(rows, item_count):
                answer = getattr(store, method)(*arguments)
                sums = np.concatenate(answer) if isinstance(answer, list) else answer
                total.add(store.count(), digest, np.arange(size), sums)
        except ModuleNotFoundError:
            total.failed = _NO_MODULE
        except Exception:  # noqa: BLE001 - what it says may quote data, and Spark would log it
            total.failed = _FAILED
        yield total.answer()

    return work


def _added_sums(size: int) -> Callable[[Iterator[_Sums]], Iterator[_Sums]]:
    """Makes a function that adds up the sums of several partitions."""

    def work(answers: Iterator[_Sums]) -> Iterator[_Sums]:
        total = _Total(size)
        try:
            for answer in answers:
                total.add_sums(answer)
        except Exception:  # noqa: BLE001 - as above
            total.failed = _FAILED
        yield total.answer()

    return work


def spread(rows: Any, partitions: int) -> Any:
    """The elements of an RDD dealt out evenly to so many partitions, always in the same way."""

    def numbered(place: int, elements: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        return ((place + number, element) for number, element in enumerate(elements))

    return rows.mapPartitionsWithIndex(numbered).partitionBy(partitions, int).values()


def _levels(partitions: int, sum_bytes: int) -> Iterable[int]:
    """In how many partitions sums are added, again and again, until the driver can take them all."""
    while partitions > 1 and partitions * sum_bytes > _COLLECTED_BYTES:
        partitions = -(-partitions // max(2, min(isqrt(partitions), _COLLECTED_BYTES // sum_bytes)))
        yield partitions


def _unpersist(rows: Any) -> None:
    with suppress(Exception):  # the session may have ended
        rows.unpersist()
