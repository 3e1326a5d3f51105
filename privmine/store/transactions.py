"""Transactions as the user has them: items with labels, and a store that counts them.

Labels end here: what lies below knows items as positions in the public universe. A label of the
data is the label of the universe that reads the same, so that 12 finds "12".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from privmine.errors import InputError
from privmine.model import PRIVATE, IntArray, Origin, Private, Universe
from privmine.model.universe import is_writable
from privmine.privacy.unit import Unit
from privmine.store.abstract import Store
from privmine.store.labels import in_words, is_label, is_missing, text_of, unit_of
from privmine.store.memory import MemoryStore
from privmine.store.parts import label_salts, limit_units
from privmine.store.rows import Rows, slices
from privmine.store.shelf import Shelf

_Labels: TypeAlias = NDArray[np.integer[Any]]
#: The universe as it is given, `PRIVATE`, or None to take it from the data.
_Items: TypeAlias = Sequence[Any] | NDArray[Any] | Private | None
_EACH_TRANSACTION = Unit()
_MADE_HERE = Origin()
#: How many numbers a table may have at most, and how many labels are sorted at a time where there is none.
_LARGEST_TABLE = 1 << 26
_SORTED_ITEMS = 1 << 20
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
#: What is wrong with a collection of baskets.
NO_BASKET = (
    "A basket must be a collection of items. Split a text into items first, and make a data frame of "
    "records. To read several files, pass a list of files or a pattern such as pm.read('orders/*.parquet')."
)
NO_ITEM = (
    "An item is missing (None or NaN) in some basket. Drop such items first, or read with pm.read(…, "
    "drop_missing=True)."
)
NO_LABEL = "An item of some basket is a collection or bytes. An item must be a label, such as a text or a number."
_NO_UNIT = "The unit of some transaction is missing (None, NaN or blank). Drop such transactions first."


@frozen(eq=False, repr=False)
class Transactions:
    """A database of transactions over a public universe of items.

    Attributes:
        universe: the items, in public order.
        store: what counts the transactions. What it returns is exact and therefore private.
        unit: who is protected; the store holds at most `unit.baskets` transactions of each.
        origin: how the data was read.
        hidden: the items of the store, where which ones occur is private; `universe` then names none. Exact data.
    """

    universe: Universe
    store: Store
    unit: Unit = _EACH_TRANSACTION
    origin: Origin = _MADE_HERE
    hidden: Universe | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        # The number of transactions is private.
        told = f", {self.origin}" if self.origin.layout else ""
        if self.universe.private:
            return f"<Transactions over private items{told}>"
        return f"<Transactions over {len(self.universe)} item{'' if len(self.universe) == 1 else 's'}{told}>"

    @property
    def counted(self) -> Universe:
        """The items that the store counts; where they are private, for those only who may see exact data."""
        return self.universe if self.hidden is None else self.hidden

    def hiding_items(self) -> Transactions:
        """The same transactions, where which items occur is private."""
        return evolve(self, universe=Universe.unknown(), hidden=self.counted)

    def found_items(self, positions: IntArray) -> tuple[Universe, IntArray]:
        """The universe of the items at these positions of the store, and the positions in its order.

        Privacy: labels and order depend on the found items alone. Whether labels are numbers is decided among them,
        since an item that was not found must not turn the numbers of all others into texts.
        """
        found = _plain_labels(self.counted.labels[positions].tolist())
        universe = _universe_of(found)
        order = np.empty(len(positions), dtype=np.int64)
        order[_places(found, universe)] = positions
        return evolve(universe, private=True), order

    @classmethod
    def from_lists(cls, transactions: Iterable[Iterable[Any]], items: _Items = None) -> Transactions:
        """Make transactions of collections of labels.

        Args:
            transactions: the labels of each transaction, in any order; repetition does not count.
            items: the public universe in the order that breaks ties; labels outside it are dropped.
                Without it the universe is taken from the data: in numeric order if all labels are
                integers, else in the order of code points. With "private" it stays private which items occur.
        """
        return in_words(lambda: cls._from_lists(transactions, items))

    @classmethod
    def _from_lists(cls, transactions: Iterable[Iterable[Any]], items: _Items) -> Transactions:
        if isinstance(transactions, str | bytes) or not isinstance(transactions, Iterable):
            raise InputError(
                "The data must be a collection of baskets, each a collection of items. Read files, "
                "frames and queries first, for example pm.mine(pm.read('orders.csv'), k=100, "
                "epsilon=1)."
            )
        if hasattr(transactions, "columns") or getattr(transactions, "ndim", 1) != 1:
            raise InputError(
                "A table or matrix is not a collection of baskets. Read it first: pm.read(frame, "
                "transaction='order_id', item='product'), or pm.read(matrix)."
            )
        offsets = [0]
        labels: list[Any] = []
        for transaction in transactions:
            if isinstance(transaction, str | bytes | Mapping) or not isinstance(transaction, Iterable):
                raise InputError(NO_BASKET)
            labels.extend(transaction)
            offsets.append(len(labels))
        texts = labels
        if set(map(type, labels)) != {str}:  # usually they are texts, of which nothing needs a look
            if any(map(is_missing, labels)):
                raise InputError(NO_ITEM)
            integers = _as_integers(labels)
            if integers is not None:
                return cls.from_rows(np.array(offsets), integers, items)
            if not all(map(is_label, labels)):
                raise InputError(NO_LABEL)
            texts = [text_of(label) for label in labels]
        universe = _universe_for(texts, items)
        places = np.append(_places(texts, universe), np.int32(-1))
        rows = Rows(np.array(offsets), np.arange(len(texts), dtype=np.int32)).placed(places, Shelf())
        return _told(cls(universe, MemoryStore(rows, len(universe))), items)

    @classmethod
    def from_rows(
        cls,
        offsets: IntArray,
        labels: _Labels,
        items: _Items = None,
        *,
        origin: Origin = _MADE_HERE,
        shelf: Shelf | None = None,
    ) -> Transactions:
        """Make transactions of compressed sparse rows of integer labels.

        Args:
            offsets: where each row starts in `labels`, and where the last one ends.
            labels: the labels of all transactions, one transaction after another.
            items: the public universe, as for `from_lists`.
            origin: how the data was read.
            shelf: makes long arrays; without it they are in memory.
        """
        shelf = shelf or Shelf()
        if labels.dtype not in (np.int32, np.int64):
            labels = labels.astype(np.int64)
        known, codes, table = coded(labels, shelf)
        universe = _universe_for(known, items)
        places = np.append(_positions(known, universe), np.int32(-1))
        # From the numbers themselves, or from their codes, to places in the universe.
        rows = Rows(offsets, codes.astype(np.int32, copy=False)).placed(
            places if table is None else places[table], shelf
        )
        return _told(cls(universe, MemoryStore(rows, len(universe), shelf.limit), origin=origin), items)

    @classmethod
    def from_codes(
        cls,
        offsets: IntArray,
        codes: _Labels,
        labels: Sequence[Any] | NDArray[Any],
        items: _Items = None,
        *,
        unit_of_row: _Labels | None = None,
        unit_labels: Sequence[Any] | NDArray[Any] | None = None,
        unit: Unit = _EACH_TRANSACTION,
        origin: Origin = _MADE_HERE,
        shelf: Shelf | None = None,
    ) -> Transactions:
        """Make transactions of compressed sparse rows of codes, as tables and databases have them.

        Args:
            offsets: where each row starts in `codes`, and where the last one ends.
            codes: a position in `labels` for each item of each transaction; −1 for an item to leave out.
            labels: texts or integers, in any order; labels that read the same are one item.
            items: the public universe in the order that breaks ties; labels outside it are dropped.
                Without it the universe is the labels: as integers in numeric order if all of them
                read as integers, else as texts in the order of code points.
            unit_of_row: for each transaction a position in `unit_labels`, where a unit is protected.
            unit_labels: what the units are called; labels that read the same are one unit.
            unit: who is protected; whether all that a unit has is merged, else how much of it is kept.
            origin: how the data was read.
            shelf: makes long arrays; without it they are in memory.
        """
        shelf = shelf or Shelf()
        _check_rows(offsets, codes, len(labels))
        known = _plain_labels(labels)
        universe = _universe_for(known, items)
        table = np.append(_places(known, universe), np.int32(-1))  # the last entry is where −1 leads
        if unit_of_row is None and unit_labels is None and unit.is_transaction:
            rows = Rows(offsets, codes.astype(np.int32, copy=False)).placed(table, shelf)
            return _told(cls(universe, MemoryStore(rows, len(universe), shelf.limit), origin=origin), items)
        if unit_of_row is None or unit_labels is None:
            raise InputError(
                "A unit of protection needs the unit of each transaction: pass unit_of_row and unit_labels."
            )
        if unit.name == _EACH_TRANSACTION.name:
            raise InputError(
                f"A unit cannot be called {unit.name!r}: that name means that each transaction is "
                "protected on its own. Rename the column."
            )
        units, names = _distinct_units(unit_of_row, unit_labels, len(offsets) - 1)
        rows = Rows(offsets, codes.astype(np.int32, copy=False)).placed(table, shelf)
        # Merging needs none, and there may be millions.
        item_salts = label_salts(() if unit.merged else universe.labels)
        rows = limit_units(rows, units, names, item_salts, unit, shelf)
        return _told(cls(universe, MemoryStore(rows, len(universe), shelf.limit), unit, origin), items)


def _check_rows(offsets: IntArray, codes: _Labels, size: int) -> None:
    ends_meet = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(codes)
    if not ends_meet or (np.diff(offsets) < 0).any():
        raise InputError("Offsets must start at 0, never decrease, and end at the number of codes.")
    if codes.min(initial=-1) < -1 or codes.max(initial=-1) >= size:
        raise InputError("A code must be the position of a label, or −1 for an item to drop.")


def _plain_labels(labels: Sequence[Any] | NDArray[Any]) -> IntArray | list[str]:
    """The labels as integers if all of them read as one does, else as texts."""
    if isinstance(labels, np.ndarray):
        if labels.dtype.kind == "i":
            return labels.astype(np.int64, copy=False)
        labels = labels.tolist()
    if any(map(is_missing, labels)):
        raise InputError("A label is missing (None or NaN). Drop such items first.")
    texts = [text_of(label) for label in labels]
    if not all(map(_reads_as_integer, texts)):
        return texts
    return np.array([int(text) for text in texts], dtype=np.int64)


def given_universe(items: Sequence[Any] | NDArray[Any]) -> Universe:
    """The universe of labels that the user names, as labels of the data read."""
    if isinstance(items, np.ndarray) and items.dtype.kind in "iu":
        return Universe.of(items)
    return Universe.of([label if _is_integer(label) else text_of(label) for label in items])


def is_private(items: object) -> bool:
    """Whether it was said, instead of a universe, that which items occur is private."""
    return isinstance(items, str) and items == PRIVATE


def _told(transactions: Transactions, items: _Items) -> Transactions:
    return transactions.hiding_items() if is_private(items) else transactions


def _universe_for(labels: IntArray | list[str], items: _Items) -> Universe:
    """The items to count in data with these labels."""
    if items is None:
        return _universe_of(labels)
    if not is_private(items):
        return given_universe(items)
    # Privacy: a refusal of a label that nothing can write would tell that it occurs. It is dropped.
    return _universe_of([label for label in labels if is_writable(label)] if isinstance(labels, list) else labels)


def _universe_of(labels: IntArray | list[str]) -> Universe:
    """The universe of labels that occur in the data, in their public order."""
    if isinstance(labels, list):
        return Universe.of(sorted(set(labels)), given=False)
    return Universe.of(coded(labels, Shelf())[0], given=False)


def _places(labels: IntArray | list[str], universe: Universe) -> NDArray[np.int32]:
    """The position of each label in the universe, −1 for a label outside it."""
    if not isinstance(labels, list):
        return _positions(labels, universe)
    position = {str(label): index for index, label in enumerate(universe.labels.tolist())}
    return np.array([position.get(label, -1) for label in labels], dtype=np.int32)


def _distinct_units(
    unit_of_row: _Labels, labels: Sequence[Any] | NDArray[Any], count: int
) -> tuple[IntArray, list[str]]:
    """The unit of each row and the texts of all units, where units that read the same have one number.

    Two numbers for one customer would let her keep twice as much as the noise allows for.
    """
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    if any(map(is_missing, plain)):
        raise InputError(_NO_UNIT)
    texts = [unit_of(label) for label in plain]
    if "" in texts:
        raise InputError(_NO_UNIT)
    units = np.asarray(unit_of_row, dtype=np.int64)
    if len(units) != count or units.min(initial=0) < 0 or units.max(initial=-1) >= len(texts):
        raise InputError("Every transaction needs the position of its unit among the labels of units.")
    if len(set(texts)) < len(texts):
        first: dict[str, int] = {}
        units = np.array([first.setdefault(text, number) for number, text in enumerate(texts)])[units]
    return units, texts


def _is_integer(label: Any) -> bool:
    return isinstance(label, int | np.integer) and not isinstance(label, bool)


def _as_integers(labels: list[Any]) -> IntArray | None:
    """The labels as an array if all of them are integers of 64 bits."""
    if not all(map(_is_integer, labels)):
        return None
    try:
        return np.array(labels, dtype=np.int64)
    except OverflowError:
        return None


def _has_table(low: int, high: int, size: int) -> bool:
    """Whether a table of all numbers from low to high is worth its memory: it is faster than sorting."""
    return high - low < min(max(1 << 20, 4 * size), _LARGEST_TABLE)


def coded(labels: _Labels, shelf: Shelf) -> tuple[IntArray, _Labels, NDArray[np.int32] | None]:
    """The labels that occur in increasing order, a code for each label, and the position among them of each code.

    Where a table of all numbers is small enough, the labels themselves are the codes. Otherwise the codes
    are the positions, and there is no table.
    """
    low, high = int(labels.min(initial=0)), int(labels.max(initial=0))
    if low >= 0 and _has_table(0, high, len(labels)):
        occurs = np.zeros(high + 1, dtype=np.bool_)
        for part in slices(len(labels)):
            occurs[labels[part]] = True
        # What does not occur, as what stands for no item, is at the last place.
        table = np.full(high + 2, -1, dtype=np.int32)
        known = np.flatnonzero(occurs)
        table[known] = np.arange(len(known), dtype=np.int32)
        return known, labels, table
    known = np.zeros(0, dtype=np.int64)
    for part in slices(len(labels), _SORTED_ITEMS):
        known = np.union1d(known, np.unique(labels[part]).astype(np.int64))
    codes = shelf.column(np.int32)
    for part in slices(len(labels)):
        codes.add(np.searchsorted(known, labels[part]))
    return known, codes.finish(), None


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


def _reads_as_integer(text: str) -> bool:
    """Whether this is how an integer of 64 bits is written: "007" and " 7" are other labels than 7."""
    return _INTEGER.fullmatch(text) is not None and -(1 << 63) <= int(text) < 1 << 63


def _integer_labels(universe: Universe) -> tuple[IntArray, NDArray[np.int32]]:
    """The labels of the universe that read as an integer does, and their positions."""
    labels = universe.labels
    positions = np.arange(len(labels), dtype=np.int32)
    if labels.dtype.kind == "i":
        return labels, positions
    numbers = {}
    for position, text in enumerate(labels.tolist()):
        if _reads_as_integer(text):
            numbers[position] = int(text)
    return np.array(list(numbers.values()), dtype=np.int64), np.array(list(numbers), dtype=np.int32)
