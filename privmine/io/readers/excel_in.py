"""Sheets of Excel workbooks as tables. The first row of a sheet has the names of the columns.

Privacy: every cell reads on its own: as text, as a number without a fraction of zeros, as a time. A row of a sheet is a
row of the table, and an empty one means nothing. What the library warns of may quote a cell, so that it is not heard.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from attrs import evolve

from privmine.errors import DataError, InputError
from privmine.extras import import_extra
from privmine.io.readers.csv_in import CsvSample, has_names, shows_names
from privmine.io.readers.files_in import metered, problem_of
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.python_values import column_of, kind_of_values
from privmine.io.readers.tables import SAMPLE_ROWS, Batches, RowGuard, Table, arrow
from privmine.store.labels import text_of

_CHUNK = 1 << 14


def _rows(path: Path, sheet: str | None) -> Iterator[tuple[Any, ...]]:
    """The cells of each row of a sheet that is not empty."""
    with metered(path) as file:
        book = _quietly(lambda: _openpyxl().load_workbook(file, read_only=True, data_only=True))
        try:
            coming = iter(_chosen(book, sheet, path).iter_rows(values_only=True))
            while chunk := _quietly(lambda: list(islice(coming, _CHUNK))):
                yield from (row for row in chunk if any(cell is not None for cell in row))
        finally:
            book.close()


def _openpyxl() -> Any:
    return import_extra("openpyxl", "Excel workbooks need")


def _quietly(work: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def _chosen(book: Any, wanted: str | None, path: Path) -> Any:
    """The sheet that is named, or the only one there is; charts are no sheets."""
    names = [sheet.title for sheet in book.worksheets]
    if wanted is not None:
        if wanted not in names:
            raise InputError(f"{path} has no sheet {wanted!r}. {_LIST}")
        return book[wanted]
    if len(names) != 1:
        raise InputError(f"{path} has several sheets. Name one with sheet=. {_LIST}")
    return book.worksheets[0]


#: The names of sheets may be data, and so are shown only where somebody asks for them.
_LIST = "The command `privmine columns FILE` lists its sheets."


def sheet_names(path: Path) -> list[str]:
    """The sheets of a workbook."""

    def work() -> list[str]:
        with metered(path) as file:
            book = _quietly(lambda: _openpyxl().load_workbook(file, read_only=True))
            names = [sheet.title for sheet in book.worksheets]
            book.close()
        return names

    found: list[str] = RowGuard(str(path), _complaint)(work)
    return found


def excel_table(paths: Sequence[Path], asked: ReadOptions, name: str) -> Table:
    """A table of one sheet of each workbook; all of them have the same columns."""
    arrow()
    _openpyxl()
    guard = RowGuard(name, _complaint)
    sample: list[tuple[Any, ...]] = guard(lambda: list(islice(_rows(paths[0], asked.sheet), SAMPLE_ROWS)))
    if not sample:
        raise DataError(f"{paths[0]} has no row that could be read; the first one has the names of the columns.")
    header = _header(sample[0])
    width = len(header)
    for path in paths[1:]:
        first = guard(lambda: next(_rows(path, asked.sheet), ()))  # noqa: B023 - called at once
        if _header(first) != header:
            raise DataError(f"{path} has other columns than {paths[0]}; read only files that are alike.")

    def first_cells(position: int) -> list[Any]:
        return [row[position] if position < len(row) else None for row in sample[1:]]

    texts = [["" if cell is None else text_of(cell) for cell in row[:width]] for row in sample]
    looked_at = CsvSample(texts, ",", guessed=False)
    shows = shows_names(looked_at, asked)
    table = Table(
        name,
        header,
        tuple(kind_of_values(first_cells(position)) for position in range(width)),
        lambda _: iter(()),
        _complaint,
        named=shows if asked.declares_table else has_names(looked_at, asked),
        known=None if shows else frozenset[str](),
        first=first_cells,
    )

    def batches(positions: Sequence[int]) -> Batches:
        for path in paths:
            coming = islice(_rows(path, asked.sheet), 1, None)
            while chunk := list(islice(coming, _CHUNK)):
                if any(cell is not None for row in chunk for cell in row[width:]):
                    raise DataError(f"{path}: some row has a cell to the right of the names of the columns. Clear it.")
                columns = [[row[p] if p < len(row) else None for row in chunk] for p in positions]
                arrays = [
                    column_of(cells, table.shown(p), lists=False) for p, cells in zip(positions, columns, strict=True)
                ]
                yield arrow().RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])

    return evolve(table, batches=batches)


def _header(row: Sequence[Any]) -> tuple[str, ...]:
    """The names of the columns, without empty cells at the end."""
    names = ["" if cell is None else text_of(cell) for cell in row]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _complaint(error: Exception) -> str:
    if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
        return f"it {problem_of(error, None)}"
    if isinstance(error, BadZipFile):
        return "it is not an Excel workbook, or it is cut off or has a password. Save it as .xlsx without a password"
    return "it is not a whole Excel workbook. Open it in a spreadsheet program and save it as .xlsx, or as CSV"
