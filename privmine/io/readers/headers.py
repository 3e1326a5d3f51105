"""The names of the columns of files, for their owner, who must see them to name them.

Privacy: what stands here is shown to whoever asks for it on a file of their own, and goes into no release, receipt or
log. The first line of a text file without names is a row of data; whoever shows it says so.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from privmine.errors import InputError
from privmine.io.readers.arrow_in import arrow_table
from privmine.io.readers.csv_in import csv_table, has_names, sample_of
from privmine.io.readers.excel_in import excel_table, sheet_names
from privmine.io.readers.files_in import check_text, files_of, format_of, is_fimi
from privmine.io.readers.json_in import json_table
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.parquet_in import parquet_table
from privmine.io.readers.tables import Table


@frozen
class Header:
    """What a file calls its columns.

    Attributes:
        path: the file; of a pattern the first one.
        sheet: the sheet of a workbook; empty for other files.
        columns: the names.
        certain: whether they are names for sure, and not a first row of data.
    """

    path: Path
    sheet: str
    columns: tuple[str, ...]
    certain: bool


def headers(source: str, asked: ReadOptions) -> list[Header]:
    """The columns of a file; of a workbook those of every sheet, unless one is named."""
    path = files_of(source)[0]
    kind = format_of(path)
    if kind == "store" or kind == "fimi":
        raise InputError(f"{path} has no columns: it holds transactions, not a table.")
    if kind == "excel":
        sheets = sheet_names(path) if asked.sheet is None else [asked.sheet]
        return [_of(path, excel_table([path], ReadOptions(sheet=sheet), source), sheet) for sheet in sheets]
    asked.without_sheet(str(path))
    if kind == "parquet":
        return [_of(path, parquet_table([path], source))]
    if kind == "arrow":
        return [_of(path, arrow_table([path], source))]
    check_text(path)
    if kind == "json":
        return [_of(path, json_table([path], asked, source))]
    if kind == "text" and is_fimi(path):
        raise InputError(f"{path} has no columns: it is FIMI text, numbers between blanks.")
    sample = sample_of(path, asked)
    return [_of(path, csv_table([path], sample, asked, source), certain=has_names(sample, asked))]


def _of(path: Path, table: Table, sheet: str = "", *, certain: bool | None = None) -> Header:
    return Header(path, sheet, table.columns, table.named if certain is None else certain)
