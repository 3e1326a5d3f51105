"""Transactions as Parquet files, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.extras import import_extra
from privmine.io.writers.sparse_out import ITEM, ITEMS, TRANSACTION, check_one_hot, dense_blocks, pairs
from privmine.io.writers.text_out import texts
from privmine.model import Universe
from privmine.store.rows import Rows

#: Makes a column of positions in the universe, where −1 stands for nothing.
Column: TypeAlias = Callable[[NDArray[np.integer[Any]]], Any]

#: How many items a row group holds, about.
_GROUP_ITEMS: Final = 1 << 20


def pyarrow() -> Any:
    """The library that writes, or a sentence on how to get it."""
    import_extra("pyarrow.parquet", "Writing Parquet needs")  # so that it is an attribute of the package
    return import_extra("pyarrow", "Writing Parquet needs")


def write_list(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a row with the list of labels for each transaction."""
    pa = pyarrow()
    kind, column = _labels(universe)
    schema = pa.schema([(ITEMS, pa.list_(kind))])

    def group(block: Rows) -> Any:
        return pa.table(
            [pa.ListArray.from_arrays(pa.array(block.offsets, pa.int32()), column(block.items))], schema=schema
        )

    _write_groups(out, schema, (group(block) for _, block in rows.blocks(_GROUP_ITEMS)))


def write_long(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a row for each item of each transaction; the item of an empty one is null."""
    pa = pyarrow()
    kind, column = _labels(universe)
    schema = pa.schema([(TRANSACTION, pa.int64()), (ITEM, kind)])

    def group(first: int, block: Rows) -> Any:
        of_row, items = pairs(block)
        return pa.table([pa.array(of_row + first), column(items)], schema=schema)

    _write_groups(out, schema, (group(first, block) for first, block in rows.blocks(_GROUP_ITEMS)))


def write_one_hot(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a truth value for each transaction and item."""
    labels = texts(universe)
    check_one_hot(labels)
    pa = pyarrow()
    schema = pa.schema([(label, pa.bool_()) for label in labels])
    blocks = dense_blocks(rows, len(universe))
    _write_groups(out, schema, (pa.table([pa.array(column) for column in cells.T], schema=schema) for cells in blocks))


def _labels(universe: Universe) -> tuple[Any, Column]:
    """The type of a column of labels, and what makes one."""
    pa = pyarrow()
    if universe.labels.dtype.kind == "i":
        numbers = np.append(universe.labels, 0)
        return pa.int64(), lambda items: pa.array(numbers[items], mask=items < 0)
    known = pa.array(universe.labels, pa.string())

    def column(items: NDArray[np.integer[Any]]) -> Any:
        # Each label is in memory once, however long it is and however often it occurs.
        return pa.DictionaryArray.from_arrays(pa.array(items.astype(np.int32), mask=items < 0), known)

    return pa.dictionary(pa.int32(), pa.string()), column


def _write_groups(out: BinaryIO, schema: Any, groups: Iterable[Any]) -> None:
    """Write tables as the row groups of one file."""
    # Without Arrow's own schema a reader finds plain text, not Arrow's dictionaries.
    with pyarrow().parquet.ParquetWriter(out, schema, compression="zstd", store_schema=False) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=max(len(group), 1))
