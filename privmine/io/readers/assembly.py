"""From the batches of a table to transactions, whatever its layout.

Privacy: which rows make a transaction depends on the keys of these rows alone, and with a unit on
that unit's rows alone: a transaction never has rows of two units. A missing value is refused or left
out for itself; it never decides about other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmine.io.label_codes import Codes, Keys, plain
from privmine.io.layouts import Layout
from privmine.io.readers.grouping import grouped, paired
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.refusals import NO, YES, missing, no_flag, ownerless, refuse_first_rows
from privmine.io.readers.tables import Table, arrow, is_list
from privmine.model import IntArray, Origin
from privmine.store.labels import unit_of
from privmine.store.rows import Rows, offsets_of
from privmine.store.transactions import Transactions


def assemble(table: Table, layout: Layout, asked: ReadOptions, origin: Origin) -> Transactions:
    """Read a table and make transactions of it."""
    asked.without_names(table.name)
    origin = asked.noted(origin)
    asked.tell(origin)
    refuse_first_rows(table, layout, asked)
    assembly: Transactions = table.guard(lambda: _Assembly(table, layout, asked).transactions(origin))
    return assembly


class _Assembly:
    """Codes of items, and runs of rows that belong to one transaction, collected batch by batch."""

    def __init__(self, table: Table, layout: Layout, asked: ReadOptions) -> None:
        self._table, self._layout, self._asked = table, layout, asked
        self._shelf = asked.shelf()
        self._items = Codes(table.shown(layout.items[0]), asked.respelling)
        self._keys = None if layout.transaction is None else Keys(table.shown(layout.transaction), self._shelf)
        # Where rows without an owner are left out, a blank one is none from the start.
        owner = (lambda text: unit_of(text) or None) if asked.drop_missing_units else None
        self._owners = None if layout.owner is None else Codes(table.shown(layout.owner), owner)
        self._codes = self._shelf.column(np.int32)
        #: How many items each run has, and whose it is.
        self._lengths = self._shelf.column(np.int32)
        self._owner_of = self._shelf.column(np.int32)

    def transactions(self, origin: Origin) -> Transactions:
        layout = self._layout
        positions = [*layout.items, *(p for p in (layout.transaction, layout.owner) if p is not None)]
        for batch in self._table.batches(positions):
            columns = list(batch.columns)
            self._take(columns[: len(layout.items)], columns[len(layout.items) :], batch.num_rows)
        return self._finished(origin)

    def _take(self, items: list[Any], columns: list[Any], count: int) -> None:
        """Take the next rows; a row without a key or without an owner is left out on request."""
        take = {"long": self._labels, "list": self._lists, "one-hot": self._flagged}[self._layout.kind]
        keys = None if self._keys is None else self._keys.plain(columns.pop(0))
        owners = None if self._owners is None else self._owners.encode(columns.pop(0))
        if owners is not None and owners.min(initial=0) < 0:
            if not self._asked.drop_missing_units:
                raise ownerless(self._table, self._layout.owner or 0)
            # Before anything else of such a row is looked at: what is nobody's cannot be wrong.
            kept = owners >= 0
            count, owners, mask = int(np.count_nonzero(kept)), owners[kept], arrow().array(kept)
            items, keys = [column.filter(mask) for column in items], None if keys is None else keys.filter(mask)
        codes, lengths = take(items)
        if keys is not None and keys.null_count:
            self._refuse_missing(self._layout.transaction or 0)
            kept = np.asarray(keys.is_valid().to_numpy(zero_copy_only=False))
            keys, count = keys.drop_null(), int(np.count_nonzero(kept))
            codes = codes[kept if lengths is None else np.repeat(kept, lengths)]
            lengths = None if lengths is None else lengths[kept]
            owners = None if owners is None else owners[kept]
        self._codes.add(codes)
        self._add_runs(keys, owners, lengths, count)

    def _add_runs(self, keys: Any, owners: NDArray[np.int32] | None, lengths: IntArray | None, count: int) -> None:
        """Note where the key or the owner changes; a row of a list without a key is a transaction of its own."""
        if not count:
            return
        alone = keys is None and lengths is not None
        fresh = np.full(count, alone)
        fresh[0] = True
        identities = None
        if self._keys is not None:
            identities = self._keys.identities(keys)
            fresh[1:] |= identities[1:] != identities[:-1]
        if owners is not None:
            fresh[1:] |= owners[1:] != owners[:-1]
        starts = np.flatnonzero(fresh)
        if self._keys is not None and identities is not None:
            self._keys.add(keys, identities, starts)
        if owners is not None:
            self._owner_of.add(owners[starts])
        if lengths is None:
            self._lengths.add(np.diff(starts, append=count))
        else:
            self._lengths.add(lengths if alone else np.add.reduceat(lengths, starts))

    def _refuse_missing(self, position: int) -> None:
        if not self._asked.drop_missing:
            raise missing(self._table, position)

    def _labels(self, columns: list[Any]) -> tuple[NDArray[np.int32], None]:
        codes = self._items.encode(columns[0])
        if codes.min(initial=0) < 0:
            self._refuse_missing(self._layout.items[0])
        return codes, None

    def _lists(self, columns: list[Any]) -> tuple[NDArray[np.int32], IntArray]:
        pa = arrow()
        lists = columns[0] if is_list(columns[0].type) else columns[0].cast(pa.list_(pa.string()))
        if lists.null_count:
            self._refuse_missing(self._layout.items[0])
        lengths = pa.compute.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        return self._labels([pa.compute.list_flatten(lists)])[0], lengths.astype(np.int64, copy=False)

    def _flagged(self, columns: list[Any]) -> tuple[NDArray[np.int32], IntArray]:
        """The items of the next rows, where each column is one: column by column, never as a matrix."""
        width = len(columns)
        found = [np.zeros(0, dtype=np.int64)]
        for item, (position, column) in enumerate(zip(self._layout.items, columns, strict=True)):
            found.append(np.flatnonzero(self._flags(column, position)) * width + item)
        cells = np.concatenate(found)
        cells.sort()
        return (cells % width).astype(np.int32), np.bincount(cells // width, minlength=len(columns[0]))

    def _flags(self, column: Any, position: int) -> NDArray[np.bool_]:
        """Which rows have the item of a column: true, or any number above 0, as in a matrix."""
        pa = arrow()
        if pa.types.is_boolean(column.type):
            flags, absent = column.fill_null(False), column.null_count
        else:
            values = plain(column, self._table.shown(position))
            absent = values.null_count
            if pa.types.is_integer(values.type):
                values = values.fill_null(0)
                wrong, flags = pa.compute.less(values, 0), pa.compute.greater(values, 0)
            else:
                values = values.fill_null("0")
                flags = pa.compute.match_substring_regex(values, YES)
                wrong = pa.compute.invert(pa.compute.or_(flags, pa.compute.match_substring_regex(values, NO)))
            if pa.compute.any(wrong).as_py():
                raise no_flag(self._table, position)
        if absent:
            self._refuse_missing(position)
        return np.asarray(flags.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def _finished(self, origin: Origin) -> Transactions:
        shelf = self._shelf
        if self._layout.kind == "one-hot":
            labels: Any = self._asked.respelt([self._table.columns[position] for position in self._layout.items])
        else:
            labels = self._items.labels()
        runs = Rows(offsets_of(self._lengths.finish(), shelf), self._codes.finish())
        keys, bound = (None, 1) if self._keys is None else self._keys.finish()
        if self._owners is None:
            rows = runs if keys is None else grouped(runs, keys, bound, len(labels), shelf).rows
            return Transactions.from_codes(
                rows.offsets, rows.items, labels, self._asked.items, origin=origin, shelf=shelf
            )
        owners, owner_labels = self._units()
        if keys is None and self._layout.kind == "long":
            # All that an owner has is one transaction.
            keys = np.zeros(runs.count, dtype=np.uint64)
        if keys is not None:
            pairs, bound, divisor = paired(owners, len(owner_labels), keys, bound)
            found = grouped(runs, pairs, bound, len(labels), shelf)
            runs, owners = found.rows, (found.keys // np.uint64(divisor)).astype(np.int32)
        return Transactions.from_codes(
            runs.offsets,
            runs.items,
            labels,
            self._asked.items,
            unit_of_row=owners,
            unit_labels=owner_labels,
            unit=self._asked.protected,
            origin=origin,
            shelf=shelf,
        )

    def _units(self) -> tuple[NDArray[np.int32], Any]:
        """Whose each run is, and what the owners are called."""
        assert self._owners is not None
        owners, labels = self._owner_of.finish(), self._owners.labels()
        if not isinstance(labels, list):
            return owners, labels
        # Before rows are put together, so that an order of 17 and of 17.0 is one order of one customer.
        places: dict[str, int] = {}
        renamed = np.array([places.setdefault(unit_of(label), len(places)) for label in labels], dtype=np.int32)
        if "" in places:
            raise ownerless(self._table, self._layout.owner or 0)
        return renamed[owners], list(places)
