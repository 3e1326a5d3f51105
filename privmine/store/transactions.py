"""Transactions as the user has them: items with labels, and a store that counts them.

Labels end here: what lies below knows items as positions in the public universe. A label of the
data is the label of the universe that reads the same, so that 12 finds "12".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.errors import InputError
from privmine.model import IntArray, Universe
from privmine.store.memory import MemoryStore
from privmine.store.protocol import Store
from privmine.store.rows import Rows, slices

_Labels: TypeAlias = NDArray[np.integer[Any]]
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


@frozen(eq=False, repr=False)
class Transactions:
    """A database of transactions over a public universe of items.

    Attributes:
        universe: the items, in public order.
        store: what counts the transactions. What it returns is exact and therefore private.
    """

    universe: Universe
    store: Store

    def __repr__(self) -> str:
        # The number of transactions is private.
        return f"<Transactions over {len(self.universe)} items>"

    @classmethod
    def from_lists(
        cls, transactions: Iterable[Iterable[Any]], items: Sequence[Any] | NDArray[Any] | None = None
    ) -> Transactions:
        """Make transactions of collections of labels.

        Args:
            transactions: the labels of each transaction, in any order; repetition does not count.
            items: the public universe in the order that breaks ties; labels outside it are dropped.
                Without it the universe is taken from the data: in numeric order if all labels are
                integers, else in the order of code points.
        """
        if isinstance(transactions, str | bytes) or not isinstance(transactions, Iterable):
            raise InputError("Transactions come as a collection of baskets, each a collection of items.")
        if hasattr(transactions, "columns") or getattr(transactions, "ndim", 1) != 1:
            raise InputError(
                "A table or matrix is not a collection of baskets; pass a list with the items of each row."
            )
        offsets = [0]
        labels: list[Any] = []
        for transaction in transactions:
            if isinstance(transaction, str | bytes) or not isinstance(transaction, Iterable):
                raise InputError("A transaction must be a collection of items; split a text into items first.")
            labels.extend(transaction)
            offsets.append(len(labels))
        if any(label is None or label != label for label in labels):
            raise InputError("An item is missing (None or NaN) in some transaction; drop such items first.")
        integers = _as_integers(labels)
        if integers is not None:
            return cls.from_rows(np.array(offsets), integers, items)
        texts = [str(label) for label in labels]
        universe = Universe.of(sorted(set(texts)), given=False) if items is None else Universe.of(items)
        position = {str(label): index for index, label in enumerate(universe.labels.tolist())}
        indices = np.array([position.get(text, -1) for text in texts], dtype=np.int32)
        return cls._of(universe, np.array(offsets), indices)

    @classmethod
    def from_rows(
        cls,
        offsets: IntArray,
        labels: _Labels,
        items: Sequence[Any] | NDArray[Any] | None = None,
    ) -> Transactions:
        """Make transactions of compressed sparse rows of integer labels.

        Args:
            offsets: where each row starts in `labels`, and where the last one ends.
            labels: the labels of all transactions, one transaction after another.
            items: the public universe, as for `from_lists`.
        """
        if labels.dtype not in (np.int32, np.int64):
            labels = labels.astype(np.int64)
        if items is None:
            known, indices = _distinct(labels)
            return cls._of(Universe.of(known, given=False), offsets, indices)
        universe = Universe.of(items)
        return cls._of(universe, offsets, _positions(labels, universe))

    @classmethod
    def _of(cls, universe: Universe, offsets: IntArray, indices: NDArray[np.int32]) -> Transactions:
        """Make transactions of positions in the universe; −1 stands for an item outside it."""
        inside = indices >= 0
        rows = Rows.of(offsets, indices)
        if not inside.all():
            rows = rows.kept(inside)
        return cls(universe, MemoryStore.from_rows(rows.offsets, rows.items, len(universe)))


def _as_integers(labels: list[Any]) -> IntArray | None:
    """The labels as an array if all of them are integers of 64 bits."""
    if not all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels):
        return None
    try:
        return np.array(labels, dtype=np.int64)
    except OverflowError:
        return None


def _has_table(low: int, high: int, size: int) -> bool:
    """Whether a table of all numbers from low to high is worth its memory: it is faster than sorting."""
    return high - low < max(1 << 20, 4 * size)


def _distinct(labels: _Labels) -> tuple[IntArray, NDArray[np.int32]]:
    """The labels that occur in increasing order, and the position of each label among them."""
    if not len(labels):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    low, high = min(0, int(labels.min())), int(labels.max())
    if not _has_table(low, high, len(labels)):
        known, places = np.unique(labels, return_inverse=True)
        return known.astype(np.int64), places.astype(np.int32)
    occurs = np.zeros(high - low + 1, dtype=np.bool_)
    for part in slices(len(labels)):
        occurs[labels[part] - low] = True
    position = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    indices = np.empty(len(labels), dtype=np.int32)
    for part in slices(len(labels)):
        indices[part] = position[labels[part] - low]
    return np.flatnonzero(occurs) + low, indices


def _positions(labels: _Labels, universe: Universe) -> NDArray[np.int32]:
    """The position of each label in the universe, −1 for a label outside it."""
    known, positions = _integer_labels(universe)
    indices = np.full(len(labels), -1, dtype=np.int32)
    if not len(known):
        return indices
    order = np.argsort(known)
    known, positions = known[order], positions[order]
    low, high = int(known[0]), int(known[-1])
    # The last entry of the table is for all labels that it does not reach.
    table = np.full(high - low + 2 if _has_table(low, high, len(labels)) else 0, -1, dtype=np.int32)
    if len(table):
        table[known - low] = positions
    for part in slices(len(labels)):
        wanted = labels[part].astype(np.int64)
        if len(table):
            reached = (wanted >= low) & (wanted <= high)
            indices[part] = table[np.where(reached, wanted - low, high - low + 1)]
        else:
            places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            indices[part] = np.where(known[places] == wanted, positions[places], -1)
    return indices


def _integer_labels(universe: Universe) -> tuple[IntArray, NDArray[np.int32]]:
    """The labels of the universe that read as an integer does, and their positions."""
    labels = universe.labels
    positions = np.arange(len(labels), dtype=np.int32)
    if labels.dtype.kind == "i":
        return labels, positions
    numbers = {}
    for position, text in enumerate(labels.tolist()):
        # "007" and " 7" are other labels than 7.
        if _INTEGER.fullmatch(text) and abs(int(text)) < 1 << 63:
            numbers[position] = int(text)
    return np.array(list(numbers.values()), dtype=np.int64), np.array(list(numbers), dtype=np.int32)
