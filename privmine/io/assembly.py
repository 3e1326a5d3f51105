"""From the batches of a table to transactions, whatever its layout.

Privacy: which rows make a transaction depends on the keys of these rows alone, and with a unit on
that unit's rows alone: a transaction never has rows of two units. A missing value is refused or left
out for itself; it never decides about other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.io.asked import Asked
from privmine.io.grouping import grouped, paired
from privmine.io.labels import Codes, Keys, plain, sorted_order
from privmine.io.layouts import Layout
from privmine.io.tables import Table, arrow, is_list
from privmine.model import IntArray, Origin
from privmine.store.labels import unit_of
from privmine.store.transactions import Transactions

#: What a cell of text reads as in a one-hot table: true or a number above 0, false or 0.
_YES = r"^([Tt]rue|TRUE|(0*[1-9][0-9]*(\.[0-9]*)?|0*\.0*[1-9][0-9]*)([eE][+-]?[0-9]{1,3})?)$"
_NO = r"^([Ff]alse|FALSE|0+(\.0*)?|\.0+)$"


def assemble(table: Table, layout: Layout, asked: Asked, origin: Origin) -> Transactions:
    """Read a table and make transactions of it."""
    asked.without_names(table.name)
    asked.tell(origin)
    assembly: Transactions = table.guard(lambda: _Assembly(table, layout, asked).transactions(origin))
    return assembly


class _Assembly:
    """Pairs of a row's key and an item, collected batch by batch."""

    def __init__(self, table: Table, layout: Layout, asked: Asked) -> None:
        self._table, self._layout, self._asked = table, layout, asked
        self._items = Codes(table.shown(layout.items[0]))
        self._keys = None if layout.transaction is None else Keys(table.shown(layout.transaction))
        self._owners = None if layout.owner is None else Codes(table.shown(layout.owner))
        #: For each item, its row; only where rows have lists, since a row of a long table is an item.
        self._rows: list[IntArray] = []
        #: Codes of one-hot columns, which need no table of labels.
        self._columns: list[NDArray[np.int32]] = []
        #: Which rows count.
        self._kept: list[NDArray[np.bool_]] = []
        self._count = 0

    def transactions(self, origin: Origin) -> Transactions:
        layout = self._layout
        positions = [*layout.items, *(p for p in (layout.transaction, layout.owner) if p is not None)]
        take = {"long": self._take_labels, "list": self._take_lists, "one-hot": self._take_flags}[layout.kind]
        for batch in self._table.batches(positions):
            columns = list(batch.columns)
            rest = columns[len(layout.items) :]
            self._take_keys(rest, batch.num_rows)
            take(columns[: len(layout.items)])
            self._count += batch.num_rows
        return self._finished(origin)

    def _take_keys(self, columns: list[Any], count: int) -> None:
        """The keys of the next rows; a row without a key is left out on request, one without an owner never."""
        kept = None
        if self._keys is not None:
            missing = self._keys.add(columns.pop(0))
            if missing is not None:
                self._refuse_missing(self._layout.transaction or 0)
                kept = ~missing
        if self._owners is not None and self._owners.add(columns.pop(0)) is not None:
            raise self._ownerless()
        self._kept.append(np.ones(count, dtype=np.bool_) if kept is None else kept)

    def _ownerless(self) -> DataError:
        where = self._table.shown(self._layout.owner or 0)
        return DataError(
            f"{self._table.title} has missing values in {where}. Every row must say whose it is, or it could not "
            "be protected; leave such rows out where the data is made."
        )

    def _refuse_missing(self, position: int) -> None:
        if not self._asked.drop_missing:
            raise DataError(
                f"{self._table.title} has missing values in {self._table.shown(position)}. Pass drop_missing=True "
                "(--drop-missing) to leave them out: a row without a transaction is then left out, and an item that is "
                "missing is none."
            )

    def _take_labels(self, columns: list[Any]) -> None:
        if self._items.add(columns[0]) is not None:
            self._refuse_missing(self._layout.items[0])

    def _take_lists(self, columns: list[Any]) -> None:
        pa = arrow()
        lists = columns[0] if is_list(columns[0].type) else columns[0].cast(pa.list_(pa.string()))
        if lists.null_count:
            self._refuse_missing(self._layout.items[0])
        lengths = pa.compute.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        self._take_labels([pa.compute.list_flatten(lists)])
        self._rows.append(self._count + np.repeat(np.arange(len(lengths)), lengths))

    def _take_flags(self, columns: list[Any]) -> None:
        """The items of the next rows, where each column is one: column by column, never as a matrix."""
        rows, items = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
        for item, (position, column) in enumerate(zip(self._layout.items, columns, strict=True)):
            found = np.flatnonzero(self._flags(column, position))
            rows.append(found)
            items.append(np.full(len(found), item, dtype=np.int32))
        self._rows.append(self._count + np.concatenate(rows))
        self._columns.append(np.concatenate(items))

    def _flags(self, column: Any, position: int) -> NDArray[np.bool_]:
        """Which rows have the item of a column: true, or any number above 0, as in a matrix."""
        pa = arrow()
        if pa.types.is_boolean(column.type):
            flags, missing = column.fill_null(False), column.null_count
        else:
            values = plain(column, self._table.shown(position))
            missing = values.null_count
            if pa.types.is_integer(values.type):
                values = values.fill_null(0)
                wrong, flags = pa.compute.less(values, 0), pa.compute.greater(values, 0)
            else:
                values = values.fill_null("0")
                flags = pa.compute.match_substring_regex(values, _YES)
                wrong = pa.compute.invert(pa.compute.or_(flags, pa.compute.match_substring_regex(values, _NO)))
            if pa.compute.any(wrong).as_py():
                raise DataError(
                    f"{self._table.title} has other values than numbers from 0 on, true and false, in "
                    f"{self._table.shown(position)}, which so is no item of a one-hot table; leave that column out, or "
                    "say with transaction= (--transaction) or unit= (--unit) what it is. If the table is not one-hot, "
                    "say so with layout= (--layout)."
                )
        if missing:
            self._refuse_missing(position)
        return np.asarray(flags.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def _finished(self, origin: Origin) -> Transactions:
        if self._layout.kind == "one-hot":
            codes = np.concatenate([np.zeros(0, dtype=np.int32), *self._columns])
            self._columns = []
            labels: Any = [self._table.columns[position] for position in self._layout.items]
        else:
            codes, labels = self._items.finish()
        # In the order of the universe if that is the labels', which saves sorting every row once more.
        places = np.append(sorted_order(labels), -1).astype(np.int32)
        codes = places[codes]
        labels = _in_places(labels, places[:-1])
        keys, bound, divisor, owner_labels = self._row_keys()
        kept = _all(self._kept)
        if self._layout.kind != "long":
            keys, codes, kept = self._with_empty_rows(keys, codes, kept)
        if not kept.all():
            keys, codes = keys[kept], codes[kept]
        found = grouped(keys, bound, codes, len(labels))
        if owner_labels is None:
            return Transactions.from_codes(found.offsets, found.items, labels, self._asked.items, origin=origin)
        return Transactions.from_codes(
            found.offsets,
            found.items,
            labels,
            self._asked.items,
            unit_of_row=(found.keys // np.uint64(divisor)).astype(np.int64),
            unit_labels=owner_labels,
            unit=self._asked.protected,
            origin=origin,
        )

    def _row_keys(self) -> tuple[NDArray[np.uint64], int, int, Any]:
        """What transaction each row belongs to, a bound of these numbers, and how to get the owner from one."""
        if self._keys is not None:
            keys, bound = self._keys.finish()
        elif self._layout.kind == "long":
            # All that an owner has is one transaction.
            keys, bound = np.zeros(self._count, dtype=np.uint64), 1
        else:
            keys, bound = np.arange(self._count, dtype=np.uint64), max(self._count, 1)
        if self._owners is None:
            return keys, bound, 1, None
        owners, labels = self._owners.finish()
        if isinstance(labels, list):
            # Before rows are put together, so that an order of 17 and of 17.0 is one order of one customer.
            places: dict[str, int] = {}
            renamed = np.array([places.setdefault(unit_of(label), len(places)) for label in labels], dtype=np.int32)
            owners, labels = renamed[owners], list(places)
            if "" in places:
                raise self._ownerless()
        keys, bound, divisor = paired(owners, len(labels), keys, bound)
        return keys, bound, divisor, labels

    def _with_empty_rows(
        self, keys: NDArray[np.uint64], codes: NDArray[np.int32], kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.bool_]]:
        """The key of each item instead of each row; rows without items get one that is none, so that they count."""
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *self._rows])
        self._rows = []
        empty = np.ones(self._count, dtype=np.bool_)
        empty[rows] = False
        rows = np.concatenate([rows, np.flatnonzero(empty)])
        codes = np.concatenate([codes, np.full(np.count_nonzero(empty), -1, dtype=np.int32)])
        return keys[rows], codes, kept[rows]


def _all(parts: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])


def _in_places(labels: Any, places: NDArray[np.int32]) -> Any:
    """The labels, each in its place."""
    order = np.empty(len(places), dtype=np.int64)
    order[places] = np.arange(len(places))
    return labels[order] if isinstance(labels, np.ndarray) else [labels[index] for index in order.tolist()]
