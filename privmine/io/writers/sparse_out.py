"""What the writers share: names of columns, and rows taken apart for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from privmine.errors import InputError
from privmine.model import IntArray
from privmine.store.rows import Rows

#: The columns of a long table, and the one of a table with a list in each row.
TRANSACTION: Final = "transaction"
ITEM: Final = "item"
ITEMS: Final = "items"
#: One-hot has a cell for every transaction and item, so it is for small universes only.
MOST_COLUMNS: Final = 2_000
#: How many cells of a one-hot table are in memory at a time.
BLOCK_CELLS: Final = 1 << 22


def pairs(rows: Rows) -> tuple[IntArray, IntArray]:
    """The row of each item, and the item; an empty row has one item, −1, since a long table would lose it."""
    lengths = np.maximum(rows.lengths, 1)
    of_row = np.repeat(np.arange(rows.count), lengths)
    items = np.full(len(of_row), -1, dtype=np.int64)
    items[np.repeat(rows.lengths > 0, lengths)] = rows.items
    return of_row, items


def check_names(labels: Sequence[str]) -> None:
    """Refuse an empty label where it would read as nothing at all."""
    if "" in labels:
        raise InputError("One label is empty, and reads as a missing one there; choose the layout long or list.")


def check_one_hot(labels: Sequence[str]) -> None:
    """Refuse a table that would have too many columns, or none, or one without a name."""
    check_names(labels)
    width = len(labels)
    if width > MOST_COLUMNS:
        raise InputError(
            f"One-hot would need {width:,} columns, and {MOST_COLUMNS:,} is the most; choose the layout long or list, "
            "or name fewer items."
        )
    if not width:
        raise InputError("One-hot has a column for each item, and there is no item; choose another layout.")


def dense_blocks(rows: Rows, width: int) -> Iterator[NDArray[np.bool_]]:
    """The rows as those of a matrix with a column for each of `width` items, a block of rows at a time."""
    step = max(BLOCK_CELLS // width, 1)
    for first in range(0, rows.count, step):
        block = rows.between(first, min(first + step, rows.count))
        cells = np.zeros((block.count, width), dtype=np.bool_)
        cells[block.row_of_item(), block.items] = True
        yield cells
