"""Cells that no transaction can be made of: what is said of them, and a look at the first rows before all are read.

Privacy: what the first rows show would be refused in any case once all rows are read. So they decide when
it is refused, never whether.
"""

from __future__ import annotations

import re

from privmine.errors import DataError
from privmine.io.layouts import Layout
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.python_values import no_list
from privmine.io.readers.tables import Table
from privmine.store.labels import text_of

#: What a cell of text reads as in a one-hot table: true or a number above 0, false or 0.
YES = r"^([Tt]rue|TRUE|(0*[1-9][0-9]*(\.[0-9]*)?|0*\.0*[1-9][0-9]*)([eE][+-]?[0-9]{1,3})?)$"
NO = r"^([Ff]alse|FALSE|0+(\.0*)?|\.0+)$"
_FLAG = re.compile(f"{YES}|{NO}")


def missing(table: Table, position: int) -> DataError:
    """What is said of missing values."""
    return DataError(
        f"{table.title} has missing values in {table.shown(position)}. Check the name of the column, "
        "or pass drop_missing=True: then rows without a transaction id are dropped, and missing "
        "items are ignored."
    )


def ownerless(table: Table, position: int) -> DataError:
    """What is said of rows that are nobody's."""
    return DataError(
        f"{table.title} has missing values in {table.shown(position)}. Every row must say whose it is, or it could not "
        "be protected; check the name of the column, or drop such rows with drop_missing_units=True."
    )


def no_flag(table: Table, position: int | None = None) -> DataError:
    """What is said of a one-hot column that holds something else than flags; without a position it has no name."""
    column = "a column whose name is not shown" if position is None else table.shown(position)
    words = (
        f"{table.title} has other values than numbers from 0, true and false in "
        f"{column}, so that column is not an item of a one-hot table. Drop the column, "
        "or name it with transaction= or unit=. If the table is not one-hot, specify its layout=."
    )
    return DataError(f"{words} {table.advice}".rstrip())


def refuse_missing_columns(table: Table, asked: ReadOptions) -> None:
    """Refuse a column that options name and that some of the first rows lacks, before a layout is looked for.

    Privacy: whatever the layout, such a row would be refused; so this decides only by which words.
    """
    if asked.drop_missing_units:
        return  # what stands beside a missing unit does not count, whatever it is
    for column in sorted(asked.wanted, key=lambda column: column != asked.owner):
        position = table.position(column)
        if None in table.first(position):
            if column == asked.owner:
                raise ownerless(table, position)
            if not asked.drop_missing:
                raise missing(table, position)


def refuse_first_rows(table: Table, layout: Layout, asked: ReadOptions) -> None:
    """Refuse what the first rows show already, before the others are read."""
    if asked.drop_missing_units:
        return  # what stands beside a missing unit does not count, whatever it is
    if layout.owner is not None and None in table.first(layout.owner):
        raise ownerless(table, layout.owner)
    for position in () if layout.transaction is None else (layout.transaction,):
        if None in table.first(position) and not asked.drop_missing:
            raise missing(table, position)
    for position in layout.items:
        cells = table.first(position)
        if layout.kind == "one-hot" and not all(map(may_be_flag, cells)):
            raise no_flag(table, position)
        if layout.kind == "list" and not all(cell is None or isinstance(cell, list) for cell in cells):
            raise no_list(table.shown(position))
        if None in cells and not asked.drop_missing:
            raise missing(table, position)


def may_be_flag(cell: object) -> bool:
    """Whether a cell may stand in a one-hot table; what is no text and no number is for the reader to tell."""
    return not isinstance(cell, str | int | float) or cell != cell or _FLAG.fullmatch(text_of(cell)) is not None
