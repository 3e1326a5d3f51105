"""One door for all data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from privmine.errors import InputError, UnknownNameError
from privmine.io.label_lists import read_names
from privmine.io.layouts import choose_layout
from privmine.io.readers.arrow_in import arrow_table
from privmine.io.readers.assembly import assemble
from privmine.io.readers.csv_in import csv_table, has_names, said_separator, sample_of, separator_of
from privmine.io.readers.databases import query_table
from privmine.io.readers.duckdb_in import relation_table
from privmine.io.readers.excel_in import excel_table
from privmine.io.readers.files_in import (
    Source,
    all_files_of,
    are_files,
    check_text,
    format_of,
    is_fimi,
    name_of,
    title_of,
)
from privmine.io.readers.frames_in import frame_table, is_frame, is_of
from privmine.io.readers.json_in import json_table
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.parquet_in import parquet_table
from privmine.io.readers.plugin_readers import read_by, reader_of
from privmine.io.readers.refusals import refuse_first_rows, refuse_missing_columns
from privmine.io.readers.rows_in import is_sparse, read_array, read_baskets, read_collections, read_numbers, read_sparse
from privmine.io.readers.tables import RowGuard, Table, from_stream
from privmine.model import Origin
from privmine.option_names import READING_OPTIONS, RUN_OPTIONS
from privmine.store.disk import open_store
from privmine.store.labels import in_words
from privmine.store.transactions import Transactions


def read(
    source: Any = None,
    *,
    items: Iterable[Any] | str | PathLike[str] | None = None,
    names: Mapping[Any, Any] | Iterable[Any] | str | PathLike[str] | None = None,
    layout: str | None = None,
    transaction: str | None = None,
    item: str | None = None,
    unit: str | Sequence[Any] | None = None,
    max_baskets: int | None = None,
    merge_by: str | Sequence[Any] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    multiline_cells: bool = False,
    drop_missing: bool = False,
    drop_missing_units: bool = False,
    trim: bool = False,
    fold_case: bool = False,
    sheet: str | None = None,
    memory_limit: int | str | None = None,
    sql: str | None = None,
    database: str | PathLike[str] | None = None,
    **misplaced: Any,
) -> Transactions:
    """Make transactions of a file, a frame, a query, a matrix or a collection of baskets.

    What you do not specify is detected, and `origin` of the result lists what was detected, as the options
    that you could have passed. Items keep their labels, and an item counts once in a
    transaction, however often it is listed.

    Args:
        source: one of

            - a path, a pattern such as `orders/*.parquet`, or a list of them: .csv, .tsv, .txt, .json,
              .jsonl, .ndjson and .dat (FIMI text), each plain or as .gz, .parquet, .feather, .arrow, .xlsx,
              and .privmine (what `write` makes);
            - a frame of pandas or Polars, an Arrow table, a DuckDB relation, or anything else that
              hands over an Arrow stream;
            - a scipy sparse matrix or a numpy array with a row for each transaction and a column for
              each item;
            - an iterable of baskets, each a collection of labels;
            - whatever the reader of a plugin takes, see `privmine plugins`.

            None with `sql`.
        items: the public item universe, in the order that breaks ties: labels, a text file with one label
            a line, or a .json file with a list of labels. Without it the universe is taken from the data,
            and the receipt says so.
        names: labels for items that are the numbers 0, 1, 2, … in the data (FIMI text, a matrix, lists
            of integers): the labels, or a file with one label a line. They are no public universe; that
            is for `items` to say, and then a number without a name is outside of it. Otherwise a number
            without a name is its own label.
        layout: "long" (a row for each item of each transaction), "list" (a list of items in each row),
            "one-hot" (a column for each item), "baskets" (a transaction a line, items between
            separators) or "fimi" (numbers between blanks).
        transaction: the column that tells which transaction a row belongs to.
        item: the column of the items, or of the lists of items.
        unit: the column that tells whose a transaction is, such as "customer_id"; for matrices and
            baskets a sequence with one entry for each transaction. Needs `max_baskets`. The guarantee
            then holds for everything that a unit has in the data.
        max_baskets: how many transactions of a unit count at most; noise grows in proportion.
        merge_by: like `unit`, but all that a unit has is merged into one transaction.
        separator: what stands between the cells of a line, one character, or the word "tab".
        encoding: how a text file is encoded, if it is not UTF-8 and no mark of the byte order tells it.
        multiline_cells: a CSV file or a file of basket lines has cells in quotes with line breaks. Otherwise a
            line break ends a row, and a cell in quotes that goes on is refused: it may be a quote that is not
            doubled, which takes the rows of others with it. The receipt then says what that assumes.
        drop_missing: leave missing values out instead of refusing them. A transaction that has
            nothing left still counts as one.
        drop_missing_units: leave rows without a unit out instead of refusing them. The receipt says so.
        trim: leave blanks at both ends of item labels out; a label of blanks alone is missing. `items` is treated
            alike.
        fold_case: let capitals and small letters of item labels be the same. Labels are shown as `items` writes them,
            without `items` in small letters.
        sheet: which sheet of an Excel workbook to read, if it has several.
        memory_limit: about how much memory reading and counting may take, such as "2GB". What does not fit goes to
            temporary files without names, in the folder for temporary files.
        sql: a query, one select, to read instead of a source, in the dialect of DuckDB, which knows files as well:
            `select order_id, product from 'orders/*.parquet'`; with a database, in that of the database.
        database: where the query runs: a file of SQLite or DuckDB, or the address of a PostgreSQL
            database, "postgresql://user:password@host/name".
        misplaced: nothing; options that belong elsewhere are refused in words.

    Raises:
        InputError: an option is wrong, or it is not clear how the data is laid out. The message says
            what to do and lists the columns.
        DataError: the data cannot be read. The message says where, and never what is there.
    """
    _refuse_misplaced(misplaced)
    asked = ReadOptions.of(
        items=items,
        names=names,
        layout=layout,
        transaction=transaction,
        item=item,
        unit=unit,
        max_baskets=max_baskets,
        merge_by=merge_by,
        separator=separator,
        encoding=encoding,
        multiline_cells=multiline_cells,
        drop_missing=drop_missing,
        drop_missing_units=drop_missing_units,
        trim=trim,
        fold_case=fold_case,
        sheet=sheet,
        memory_limit=memory_limit,
    )
    return read_asked(source, asked, sql, database)


def _refuse_misplaced(options: Iterable[str]) -> None:
    """Say of the first option that is none of `read` where it belongs."""
    name = next(iter(options), None)
    if name in RUN_OPTIONS:
        given = ", ".join(f"{option}=…" for option in dict.fromkeys(("k", "epsilon", name)))
        raise InputError(
            f"{name}= is for a release, and pm.read only reads data. Pass it to pm.mine: "
            f"pm.mine(pm.read(data, …), {given})."
        )
    if name is not None:
        raise UnknownNameError("option of pm.read", name, READING_OPTIONS)


def read_asked(
    source: Any, asked: ReadOptions, sql: str | None = None, database: str | PathLike[str] | None = None
) -> Transactions:
    """What `read` does once its options are checked."""
    found = in_words(lambda: _read(source, asked, sql, database))
    reference = _reference(source, sql, database)
    return evolve(found, origin=evolve(found.origin, reference=reference)) if reference else found


def _reference(source: Any, sql: str | None, database: str | PathLike[str] | None) -> str:
    """What the user wrote to name a source, without a password; nothing for data in memory."""
    if sql is not None:
        address = "" if database is None else re.sub(r"://([^:/@]*):[^@]*@", r"://\1@", fspath(database))
        return f"{address} {' '.join(sql.split())}".strip()
    if are_files(source):
        return " ".join(map(fspath, source))
    return fspath(source) if isinstance(source, str | PathLike) else ""


def _read(source: Any, asked: ReadOptions, sql: str | None, database: str | PathLike[str] | None) -> Transactions:
    if sql is not None or database is not None:
        return _read_query(source, sql, database, asked)
    found = None if source is None or isinstance(source, Transactions) else reader_of(source)
    if found is not None:
        return read_by(found, source, asked)
    if isinstance(source, str | PathLike) or are_files(source):
        return _read_files(source, asked)
    asked.without_sheet("data that is no workbook")
    if source is None:
        raise InputError("Say what to read: a file, a frame, a matrix, a list of baskets, or a query (sql=).")
    asked.without_text("data that is no text file")
    if isinstance(source, Transactions):
        if not asked.is_empty:
            raise InputError("These transactions have been read already; pass the options where they are read.")
        return source
    return _read_object(source, asked)


def _read_query(source: Any, sql: str | None, database: str | PathLike[str] | None, asked: ReadOptions) -> Transactions:
    if sql is None:
        raise InputError("A database needs a query. Specify what to select with sql=.")
    if source is not None:
        raise InputError(
            "A query reads the files that it names itself, so it takes no other source. Name the file in the query: "
            "select … from read_csv('orders.csv', all_varchar=true)."
        )
    asked.without_text("a query")
    asked.without_sheet("a query")
    return _read_table(query_table(sql, database, asked), asked)


def _read_files(source: Source, asked: ReadOptions) -> Transactions:
    paths = all_files_of(source)
    name, title = name_of(source), title_of(source)
    kind = format_of(paths[0])
    if kind == "excel":
        asked.without_text("an Excel workbook")
        return _read_table(excel_table(paths, asked, title), asked, name)
    asked.without_sheet(title)
    if kind == "parquet":
        asked.without_text("a Parquet file")
        return _read_table(parquet_table(paths, title), asked, name)
    if kind == "arrow":
        asked.without_text("an Arrow file")
        return _read_table(arrow_table(paths, title), asked, name)
    if kind == "store":
        return _open_store(paths, asked)
    for path in paths:
        check_text(path)
    if kind == "json":
        asked.without_separator("JSON")
        return _read_json(paths, asked, name, title)
    if asked.layout == "fimi" or (kind == "fimi" and asked.layout is None):
        return read_numbers(paths, asked, Origin("fimi", name))
    if asked.layout is None and kind == "text" and not asked.names_columns and is_fimi(paths[0]):
        return read_numbers(paths, asked, Origin("fimi", name, {"layout": "fimi"}))
    said = said_separator(paths[0], asked)
    if asked.layout == "baskets" and said is not None:
        return read_baskets(paths, said, asked, Origin("baskets", name, {}, asked.assumes))
    sample = sample_of(paths[0], asked)
    separator = {"separator": sample.separator} if sample.guessed else {}
    is_table = asked.declares_table or has_names(sample, asked)
    is_baskets = not is_table and bool(sample.rows) and (kind == "text" or not sample.is_even)
    if asked.layout == "baskets" or is_baskets:
        guessed = {**({} if asked.layout else {"layout": "baskets"}), **separator}
        origin = Origin("baskets", name, guessed, asked.assumes)
        return read_baskets(paths, separator_of(sample, paths[0]), asked, origin)
    # Where the columns are named, these tell the separator, so that a comma need not be told.
    table = evolve(csv_table(paths, sample, asked, title), guessed={} if sample.separator == "," else separator)
    return _read_table(table, asked, name)


def _open_store(paths: tuple[Path, ...], asked: ReadOptions) -> Transactions:
    if len(paths) > 1:
        raise InputError("Only one privmine file can be opened at a time; convert all sources into one.")
    asked.settled(str(paths[0]))
    found = open_store(paths[0], asked.memory_limit)
    asked.tell(found.origin)
    return found


def _read_json(paths: tuple[Path, ...], asked: ReadOptions, name: str, title: str) -> Transactions:
    if asked.layout in ("baskets", "fimi"):
        raise InputError(
            f"The layout {asked.layout} is for text files; {title} is a table. Say another layout, or none."
        )
    table = json_table(paths, asked, title)
    refuse_missing_columns(table, asked)
    layout = choose_layout(table, asked)
    if layout.kind == "one-hot" and asked.items is None:
        refuse_first_rows(table, layout, asked)
        table = json_table(paths, asked, title, whole=True)
    elif layout.kind == "one-hot" and asked.layout is None:
        # As if what was guessed had been said.
        transaction = None if layout.transaction is None else table.columns[layout.transaction]
        asked = evolve(asked, layout="one-hot", transaction=transaction)
        table = evolve(json_table(paths, asked, title), guessed=layout.guessed)
    return _read_table(table, asked, name)


def _read_object(source: Any, asked: ReadOptions) -> Transactions:
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        lazy = source  # a frame of Polars that is made only now
        source = RowGuard("the frame")(lambda: lazy.collect())
    if is_sparse(source):
        asked.only_layout("one-hot", "A matrix")
        return read_sparse(source, asked, Origin("one-hot", "a sparse matrix"))
    if isinstance(source, np.ndarray) and source.ndim == 2:
        asked.only_layout("one-hot", "A matrix")
        return read_array(source, asked, Origin("one-hot", "an array"))
    if _is_sparse_frame(source):
        asked.only_layout("one-hot", "A sparse frame")
        asked.without_names("a frame")
        asked = asked.named(read_names([str(column) for column in source.columns]))
        return read_sparse(source.sparse.to_coo(), asked, Origin("one-hot", "a sparse frame"))
    if is_of(source, "duckdb", "_duckdb"):
        return _read_table(relation_table(source, asked), asked)
    if is_frame(source) or hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        pruned = _pruned(source, asked)
        return _read_table(frame_table(pruned, asked) if is_frame(pruned) else from_stream(pruned, "the frame"), asked)
    if hasattr(source, "read"):
        raise InputError("This is an open file; pass its name instead.")
    if hasattr(source, "to_table"):
        raise InputError("A dataset is no table yet; pass dataset.to_table(columns=[…]), or the names of its files.")
    if hasattr(source, "columns"):
        raise InputError("This frame hands over no Arrow stream; pandas does from version 2.2 on, Polars from 1.3 on.")
    asked.only_layout("list", "A collection of baskets")
    return read_collections(source, asked, Origin("list", "a collection"))


def _is_sparse_frame(source: Any) -> bool:
    """Whether something is a frame of pandas whose columns are all sparse; Arrow would make them dense."""
    if not (is_of(source, "pandas") and hasattr(source, "columns")):
        return False
    return len(source.columns) > 0 and all(type(kind).__name__ == "SparseDtype" for kind in source.dtypes)


def _pruned(source: Any, asked: ReadOptions) -> Any:
    """A frame without the columns that do not matter, which may not even convert, if it is known which ones do."""
    wanted = asked.wanted
    known = asked.item is not None and (asked.transaction is not None or asked.merge_by is not None)
    if not known or not is_of(source, "pandas", "polars") or not set(wanted) <= set(getattr(source, "columns", ())):
        return source
    return source[list(dict.fromkeys(wanted))]


def _read_table(table: Table, asked: ReadOptions, name: str | None = None) -> Transactions:
    try:
        layout = choose_layout(table, asked)
        if table.known is not None:
            table = evolve(table, known=table.known | layout.told)
        guessed = {**layout.guessed, **table.guessed}
        origin = Origin(layout.kind, name or table.name, guessed, table.assumes, layout.roles(table))
        return assemble(table, layout, asked, origin)
    finally:
        table.close()
