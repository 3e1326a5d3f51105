"""Every way in, for the audit of the path from a file to rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
from functools import partial
from random import Random
from unittest.mock import patch

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import evolve, fields, frozen
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from pyarrow import feather
from scipy import sparse

import privmine as pm
from privmine.audit.odd_cells import whole_number
from privmine.audit.written_sources import COLUMNS, UNIT, Basket, Source
from privmine.store import shelf

LONG = {"transaction": "order_id", "item": "product", "layout": "long"}
BREAKS = frozenset("\r\n")
CANONICAL = re.compile("0|[1-9][0-9]{0,17}")


# What cells can hold


def one_line(text):
    return not BREAKS & set(text)


def filled(text):
    """A cell that is written without quotes is missing if it is empty."""
    return text != "" and one_line(text)


def unseparated(text):
    """A cell that is written as it is, quotes and all."""
    return filled(text) and "," not in text


def filled_lines(text):
    """A cell that may have line breaks."""
    return text != ""


def trimmed(text):
    """Blanks after a separator are no part of a label in basket lines."""
    return filled(text) and text.strip(" ") == text


def not_a_column(text):
    """The name of a column of a one-hot table, which is an item."""
    return text not in ("", UNIT) and one_line(text)


def names_an_item(text):
    """The name of a column or key that is an item: the first one without a name would be the index of a frame."""
    return text not in ("", UNIT)


def without_quotes(text):
    return text.replace('"', "").strip()


def is_small_number(text):
    return CANONICAL.fullmatch(text) is not None and int(text) <= 2**53


def is_number(text):
    return CANONICAL.fullmatch(text) is not None


def in_latin_1(text):
    return one_line(text) and text.encode("latin-1", "ignore").decode("latin-1") == text


# Rows of each layout


def long_rows(rows):
    return [(row.unit, row.key, row.labels[0] if row.labels else None) for row in rows]


def one_hot_rows(rows, case):
    """A column for each item, and one for the unit where it is told apart: every other column would be an item."""
    owned = case.protected != "transaction"
    header = [*([UNIT] if owned else []), *case.catalogue]
    return header, [
        [*([row.unit] if owned else []), *(int(label in row.labels) for label in case.catalogue)] for row in rows
    ]


def flags(rows, case, dtype=bool):
    cells = [[label in row.labels for label in case.catalogue] for row in rows]
    return np.array(cells, dtype=dtype).reshape(len(rows), len(case.catalogue))


# Text


def saved(path, text, encoding="utf-8"):
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return {"source": path}


def as_csv(rows, separator=",", end="\n", quoting=csv.QUOTE_ALL):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def unquoted(rows, separator=",", end="\n"):
    """As careless programs write it."""
    return "".join(f"{separator.join('' if cell is None else str(cell) for cell in row)}{end}" for row in rows)


def write_long(folder, rows, case, name="a.csv", encoding="utf-8", text=as_csv, **dialect):
    return saved(folder / name, text([COLUMNS, *long_rows(rows)], **dialect), encoding)


def write_one_hot(folder, rows, case, name="a.csv", **dialect):
    header, cells = one_hot_rows(rows, case)
    return saved(folder / name, as_csv([header, *cells], **dialect))


def write_baskets(folder, rows, case, name="a.txt", text=as_csv, **dialect):
    return saved(folder / name, text([row.labels for row in rows], **dialect))


def write_numbers(folder, rows, case, name="a.dat", end="\n"):
    return saved(folder / name, "".join(" ".join(row.labels) + end for row in rows))


def plain(text):
    return str(text)


def typed(text):
    """Numbers and truths as JSON has them."""
    return int(text) if text is not None and is_number(text) else {"true": True}.get(text, text)


def write_json_long(folder, rows, case, name="a.jsonl", cell=plain, whole=False, ascii_only=True):
    records = [
        {name: value if value is None else cell(value) for name, value in zip(COLUMNS, row, strict=True)}
        for row in long_rows(rows)
    ]
    return _json(folder / name, records, whole, ascii_only)


def write_json_lists(folder, rows, case, name="a.jsonl", bare=False, whole=False, ascii_only=True):
    records = [[*row.labels] if bare else {UNIT: row.unit, "items": [*row.labels]} for row in rows]
    return _json(folder / name, records, whole, ascii_only)


def write_json_one_hot(folder, rows, case, sparse=False):
    owned = case.protected != "transaction"
    records = [
        {
            **({UNIT: row.unit} if owned else {}),
            **{label: label in row.labels for label in case.catalogue if label in row.labels or not sparse},
        }
        for row in rows
    ]
    return _json(folder / "a.jsonl", records, False, True)


def _json(path, records, whole, ascii_only):
    if whole:
        return saved(path, json.dumps(records, ensure_ascii=ascii_only, indent=1))
    return saved(path, "".join(f"{json.dumps(record, ensure_ascii=ascii_only)}\n" for record in records))


# Tables


def long_table(rows, coded=False, kind=None):
    cells = [list(column) for column in zip(*long_rows(rows), strict=True)] or [[], [], []]
    table = pa.table({name: pa.array(column, kind or pa.string()) for name, column in zip(COLUMNS, cells, strict=True)})
    if not coded:
        return table
    return pa.table({name: table[name].dictionary_encode() for name in COLUMNS})


def numbers_table(rows):
    cells = [[int(cell) for cell in column] for column in zip(*long_rows(rows), strict=True)] or [[], [], []]
    return pa.table({name: pa.array(column, pa.int64()) for name, column in zip(COLUMNS, cells, strict=True)})


def list_table(rows):
    return pa.table(
        {
            UNIT: pa.array([row.unit for row in rows], pa.string()),
            "items": pa.array([row.labels for row in rows], pa.list_(pa.string())),
        }
    )


def one_hot_table(rows, case):
    header, cells = one_hot_rows(rows, case)
    columns = [pa.array([row[place] for row in cells]) for place in range(len(header))]
    kinds = [pa.string() if name == UNIT else pa.bool_() for name in header]
    return pa.Table.from_arrays([column.cast(kind) for column, kind in zip(columns, kinds, strict=True)], names=header)


def write_parquet(folder, rows, case, table=lambda rows, case: long_table(rows)):
    pq.write_table(table(rows, case), folder / "a.parquet")
    return {"source": folder / "a.parquet"}


def write_parts(folder, rows, case):
    """Two files that are read by a pattern."""
    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        pq.write_table(long_table(part), folder / f"{number}.parquet")
    return {"source": f"{folder}/*.parquet"}


def write_csv_parts(folder, rows, case):
    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        write_long(folder, part, case, f"{number}.csv")
    return {"source": f"{folder}/*.csv"}


# Workbooks and Arrow files


def in_workbooks(text):
    """Cells of a workbook hold no control characters; openpyxl writes what begins with "=" as a formula."""
    return not ILLEGAL_CHARACTERS_RE.search(text) and "\r" not in text and not text.startswith("=") and text != ""


def write_excel(folder, rows, case, cell=plain, sheets=()):
    return _workbook(folder, [COLUMNS, *long_rows(rows)], cell, sheets)


def write_excel_one_hot(folder, rows, case):
    header, cells = one_hot_rows(rows, case)
    return _workbook(folder, [header, *cells], lambda value: value, ())


def _workbook(folder, rows, cell, sheets):
    book = openpyxl.Workbook()
    sheet = book.active
    for number, row in enumerate(rows):
        # A row that is all empty would not be there; those of a sheet without cells are not written at all.
        for column, value in enumerate(row, 1):
            if value is not None:
                sheet.cell(number + 1, column).value = value if number == 0 else cell(value)
    for name in sheets:
        book.create_sheet(name).append(["nothing"])
    book.save(folder / "a.xlsx")
    return {"source": folder / "a.xlsx"}


def write_feather(folder, rows, case, table=lambda rows, case: long_table(rows)):
    feather.write_feather(table(rows, case), folder / "a.feather")
    return {"source": folder / "a.feather"}


def write_stream(folder, rows, case):
    table = long_table(rows, coded=True)
    with pa.OSFile(str(folder / "a.arrows"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    return {"source": folder / "a.arrows"}


# Labels that are written in several ways


def as_respelt(text):
    """What trimming and folding make of a label."""
    return text.strip().casefold()


def not_blank(carries=one_line):
    return lambda text: text.strip() != "" and carries(text) and all(carries(way) for way in ways_of(text))


def ways_of(text):
    """Other ways to write a label that are one with it."""
    ways = (f"  {text}", f"{text}\u00a0", text.upper(), text.lower(), f"\t{text.swapcase()} ")
    return [way for way in ways if as_respelt(way) == as_respelt(text)]


def other_way(row):
    """The row with its labels written otherwise; the row itself tells how, so that it does in both neighbours."""
    random = Random(f"{row.unit}|{row.key}|{row.labels}")  # noqa: S311 - made-up data
    return evolve(row, labels=tuple(random.choice([*ways_of(label), label]) for label in row.labels))


def in_two_rows(write):
    """Write every row of a long table twice, so that two labels of one transaction become one."""
    return lambda folder, rows, case: write(folder, [way for row in rows for way in (row, other_way(row))], case)


def in_one_row(write):
    """Write every label of a list twice, so that two labels of one transaction become one."""
    return lambda folder, rows, case: write(
        folder, [evolve(row, labels=(*row.labels, *other_way(row).labels)) for row in rows], case
    )


def with_nobody(write):
    """Add rows that are nobody's: those of a missing and of a blank unit."""

    def written(folder, rows, case):
        if case.protected == "transaction":
            return write(folder, rows, case)
        nobody = [Basket(unit, "17", ("nobody bought this",)) for unit in (None, " ", None)]
        return {**write(folder, [*nobody[:1], *rows, *nobody[1:]], case), "drop_missing_units": True}

    return written


def write_named_files(folder, rows, case):
    """Two files that are both named."""
    half = len(rows) // 2
    parts = (rows[:half], rows[half:])
    return {"source": [write_long(folder, part, case, f"{number}.csv")["source"] for number, part in enumerate(parts)]}


# Queries

QUERY = f"select {', '.join(COLUMNS)} from "  # noqa: S608 - a file of this test


def write_sqlite(folder, rows, case):
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.execute("create table orders (customer_id text, order_id text, product text)")
        connection.executemany("insert into orders values (?, ?, ?)", long_rows(rows))
    connection.close()
    return {"sql": f"{QUERY}orders", "database": folder / "shop.db"}


def write_duckdb(folder, rows, case):
    with duckdb.connect(str(folder / "shop.db")) as connection:
        connection.register("made", long_table(rows))
        connection.execute("create table orders as from made")
    return {"sql": f"{QUERY}orders", "database": folder / "shop.db"}


def query_parquet(folder, rows, case):
    path = write_parquet(folder, rows, case)["source"]
    return {"sql": f"{QUERY}'{path}'"}


DETECTED = "read_csv('{}', all_varchar=true)"
#: Nothing is left for DuckDB to find out; the names of the columns are the query's.
_TYPES = ", ".join(f"'{name}': 'VARCHAR'" for name in COLUMNS)
QUOTED = f"read_csv('{{}}', auto_detect=false, header=true, columns={{{{{_TYPES}}}}})"
#: Quotes are characters like any other, so that no row goes on into the next line.
FIXED = QUOTED.replace("header", "quote='', header")


def query_csv(folder, rows, case, reader=QUOTED, **dialect):
    path = write_long(folder, rows, case, **dialect)["source"]
    return {"sql": QUERY + reader.format(path)}


# Objects


def pandas_long(folder, rows, case, kind=object):
    return {"source": pd.DataFrame(long_rows(rows), columns=COLUMNS).astype(kind)}


def pandas_one_hot(folder, rows, case):
    header, cells = one_hot_rows(rows, case)
    return {"source": pd.DataFrame(cells, columns=header)}


def pandas_sparse(folder, rows, case):
    matrix = sparse.csr_matrix(flags(rows, case, np.int8))
    return {"source": pd.DataFrame.sparse.from_spmatrix(matrix, columns=case.catalogue)}


def objects(make):
    return lambda folder, rows, case: {"source": make(rows, case)}


def relation(folder, rows, case):
    return {"source": duckdb.from_arrow(long_table(rows))}


CSV = Source("csv", write_long, {**LONG, "separator": ","}, carries=one_line)
GUESSED = {"guesses": True, "options": {}}
CARELESS = {"key": without_quotes, "carries": filled, "themes": ("quotes",)}


def careless(separator):
    return lambda text: '"' not in text and separator not in text


def dialect(title, options=None, carries=one_line, **writing):
    separator = writing.get("separator", ",")
    return evolve(
        CSV,
        name=title,
        write=partial(write_long, **writing),
        carries=carries,
        options={**LONG, "separator": separator, **(options or {})},
    )


def matrix(name, make, carries=one_line):
    return Source(
        name,
        lambda folder, rows, case: {"source": make(flags(rows, case)), "names": list(case.catalogue)},
        layout="one-hot",
        owners="sequence",
        carries=carries,
    )


LISTS = {"layout": "list", "options": {"item": "items", "layout": "list"}}
ONE_HOT = {"layout": "one-hot", "options": {"layout": "one-hot"}}
BASKETS = {"layout": "list", "owners": "sequence"}
#: Items of FIMI text are numbers, also the one that is in no basket: `whole_number` makes none as large.
NUMBERS = {**BASKETS, "cell": whole_number, "absent": "1000000000000000001"}

RESPELT = {"trim": True, "fold_case": True}

SOURCES = [
    # CSV
    CSV,
    dialect("csv, quotes where needed", carries=filled, quoting=csv.QUOTE_MINIMAL),
    dialect("csv, semicolons", separator=";"),
    dialect("csv, tabs", separator="\t"),
    dialect("csv, bars", separator="|"),
    dialect("csv, CRLF", end="\r\n"),
    dialect("csv, CR", end="\r"),
    dialect("csv, byte order mark", encoding="utf-8-sig"),
    dialect("csv, UTF-16", {"encoding": "utf-16"}, encoding="utf-16"),
    dialect("csv, Latin-1", {"encoding": "latin-1"}, in_latin_1, encoding="latin-1"),
    dialect("csv, gzip", name="a.csv.gz"),
    evolve(
        dialect("csv, missing items", {"drop_missing": True}, filled, quoting=csv.QUOTE_MINIMAL),
        layout="long with gaps",
    ),
    dialect("csv, line breaks in cells", {"multiline_cells": True}, lambda text: True),
    dialect(
        "csv, CRLF, line breaks in cells",
        {"multiline_cells": True},
        filled_lines,
        end="\r\n",
        quoting=csv.QUOTE_MINIMAL,
    ),
    evolve(CSV, name="csv files by a pattern", write=write_csv_parts),
    evolve(
        CSV,
        name="csv, one-hot",
        write=write_one_hot,
        layout="one-hot",
        options={"layout": "one-hot", "separator": ","},
        carries=not_a_column,
    ),
    evolve(CSV, name="csv, guessed", **GUESSED),
    evolve(dialect("csv, semicolons, guessed", separator=";"), **GUESSED),
    evolve(CSV, name="csv, one-hot, guessed", write=write_one_hot, layout="one-hot", carries=not_a_column, **GUESSED),
    Source(
        "csv, careless",
        partial(write_long, text=unquoted),
        {**LONG, "separator": ","},
        careful=careless(","),
        **CARELESS,
    ),
    Source(
        "csv, careless, semicolons",
        partial(write_long, text=unquoted, separator=";"),
        {**LONG, "separator": ";"},
        careful=careless(";"),
        **CARELESS,
    ),
    Source(
        "csv, careless, guessed", partial(write_long, text=unquoted), careful=careless(","), guesses=True, **CARELESS
    ),
    evolve(CSV, name="tsv", write=partial(write_long, name="a.tsv", separator="\t"), options=LONG),
    evolve(
        CSV,
        name="tsv, careless",
        write=partial(write_long, name="a.tsv", separator="\t", text=unquoted),
        options=LONG,
        careful=careless("\t"),
        **CARELESS,
    ),
    # Baskets
    Source("baskets", write_baskets, {"layout": "baskets", "separator": ","}, carries=filled, **BASKETS),
    Source(
        "baskets, line breaks in cells",
        write_baskets,
        {"layout": "baskets", "separator": ",", "multiline_cells": True},
        carries=filled_lines,
        **BASKETS,
    ),
    Source(
        "baskets, tabs, CRLF",
        partial(write_baskets, separator="\t", end="\r\n"),
        {"layout": "baskets", "separator": "tab"},
        carries=filled,
        **BASKETS,
    ),
    Source(
        "baskets, separator guessed",
        partial(write_baskets, quoting=csv.QUOTE_MINIMAL),
        {"layout": "baskets"},
        carries=trimmed,
        guesses=True,
        themes=("separators", "syntax"),
        **BASKETS,
    ),
    Source("baskets, guessed", write_baskets, carries=filled, guesses=True, **BASKETS),
    Source(
        "baskets, careless",
        partial(write_baskets, text=unquoted),
        {"layout": "baskets", "separator": ","},
        careful=careless(","),
        carries=trimmed,
        themes=("quotes",),
        **BASKETS,
    ),
    Source(
        "baskets, careless, guessed",
        partial(write_baskets, text=unquoted),
        {"layout": "baskets"},
        careful=careless(","),
        carries=trimmed,
        guesses=True,
        themes=("separators", "syntax"),
        **BASKETS,
    ),
    Source("fimi", write_numbers, {"layout": "fimi"}, **NUMBERS),
    Source("fimi by its name, gzip, CRLF", partial(write_numbers, name="a.dat.gz", end="\r\n"), **NUMBERS),
    Source("fimi, guessed", partial(write_numbers, name="a.txt"), guesses=True, **NUMBERS),
    # JSON
    Source("json lines", write_json_long, LONG),
    Source("json lines, not only ASCII", partial(write_json_long, ascii_only=False), LONG),
    Source("json lines, numbers and truths", partial(write_json_long, cell=typed, name="a.ndjson.gz"), LONG),
    Source("json lines, missing items", write_json_long, {**LONG, "drop_missing": True}, layout="long with gaps"),
    Source("json lines, lists", write_json_lists, **LISTS),
    Source(
        "json lines, bare lists",
        partial(write_json_lists, bare=True),
        {"item": "items", "layout": "list"},
        layout="list",
        owners="nobody",
    ),
    Source("json lines, one-hot", write_json_one_hot, carries=names_an_item, **ONE_HOT),
    Source(
        "json lines, one-hot, missing keys",
        partial(write_json_one_hot, sparse=True),
        {"layout": "one-hot", "drop_missing": True},
        layout="list",
        carries=names_an_item,
    ),
    Source("json lines, guessed", write_json_long, guesses=True),
    Source("json lines, lists, guessed", write_json_lists, layout="list", guesses=True),
    Source("json array", partial(write_json_long, name="a.json", whole=True), LONG),
    Source("json array of lists", partial(write_json_lists, name="a.json", whole=True), **LISTS),
    Source(
        "json array of bare lists",
        partial(write_json_lists, name="a.json", bare=True, whole=True),
        {"item": "items", "layout": "list"},
        layout="list",
        owners="nobody",
    ),
    Source("json lines called .json", partial(write_json_lists, name="a.json"), **LISTS),
    # Parquet
    Source("parquet", write_parquet, LONG),
    Source(
        "parquet, dictionaries", partial(write_parquet, table=lambda rows, case: long_table(rows, coded=True)), LONG
    ),
    Source(
        "parquet, numbers",
        partial(write_parquet, table=lambda rows, case: numbers_table(rows)),
        LONG,
        cell=whole_number,
        carries=is_number,
    ),
    Source("parquet, missing items", write_parquet, {**LONG, "drop_missing": True}, layout="long with gaps"),
    Source("parquet, lists", partial(write_parquet, table=lambda rows, case: list_table(rows)), **LISTS),
    Source("parquet, one-hot", partial(write_parquet, table=one_hot_table), carries=not_a_column, **ONE_HOT),
    Source("parquet files by a pattern", write_parts, LONG),
    Source("parquet, guessed", write_parquet, guesses=True),
    # Workbooks and Arrow files
    Source("excel", write_excel, LONG, carries=in_workbooks),
    Source("excel, numbers and truths", partial(write_excel, cell=typed), LONG, carries=in_workbooks),
    Source(
        "excel, missing items, a sheet of several",
        partial(write_excel, sheets=("other",)),
        {**LONG, "drop_missing": True, "sheet": "Sheet"},
        layout="long with gaps",
        carries=in_workbooks,
    ),
    Source(
        "excel, one-hot",
        write_excel_one_hot,
        carries=lambda text: in_workbooks(text) and not_a_column(text),
        **ONE_HOT,
    ),
    Source("excel, guessed", write_excel, guesses=True, carries=in_workbooks),
    Source("feather", write_feather, LONG),
    Source("feather, lists", partial(write_feather, table=lambda rows, case: list_table(rows)), **LISTS),
    Source("feather, one-hot", partial(write_feather, table=one_hot_table), carries=not_a_column, **ONE_HOT),
    Source("feather, guessed", write_feather, guesses=True),
    Source("arrow stream, dictionaries", write_stream, LONG),
    # Labels that are written in several ways, rows that are nobody's, files that are named
    evolve(CSV, name="csv files by their names", write=write_named_files),
    evolve(
        CSV,
        name="csv, trimmed and folded",
        write=in_two_rows(write_long),
        options={**LONG, "separator": ",", **RESPELT},
        label=as_respelt,
        carries=not_blank(),
    ),
    Source(
        "parquet, dictionaries, trimmed and folded",
        in_two_rows(partial(write_parquet, table=lambda rows, case: long_table(rows, coded=True))),
        {**LONG, **RESPELT},
        label=as_respelt,
        carries=not_blank(),
    ),
    Source(
        "baskets, trimmed and folded",
        in_one_row(write_baskets),
        {"layout": "baskets", "separator": ",", **RESPELT},
        label=as_respelt,
        carries=not_blank(filled),
        **BASKETS,
    ),
    Source(
        "json lines, lists, trimmed and folded",
        in_one_row(write_json_lists),
        {"item": "items", "layout": "list", **RESPELT},
        label=as_respelt,
        carries=not_blank(),
        layout="list",
    ),
    Source(
        "lists of lists, trimmed and folded",
        in_one_row(objects(lambda rows, case: [[*row.labels] for row in rows])),
        RESPELT,
        label=as_respelt,
        carries=not_blank(),
        layout="list",
        owners="sequence",
    ),
    Source("parquet, rows that are nobody's", with_nobody(write_parquet), LONG),
    Source("json lines, rows that are nobody's", with_nobody(write_json_long), LONG),
    # Queries
    Source("DuckDB over Parquet", query_parquet, LONG),
    Source("DuckDB over CSV", partial(query_csv, reader=FIXED, text=unquoted), LONG, carries=unseparated),
    Source("DuckDB over CSV, quotes", query_csv, LONG, carries=filled, guesses=True),
    Source("DuckDB over CSV, all_varchar", partial(query_csv, reader=DETECTED), LONG, carries=filled, guesses=True),
    Source(
        "DuckDB over CSV, quotes where needed",
        partial(query_csv, quoting=csv.QUOTE_MINIMAL),
        LONG,
        carries=filled,
        guesses=True,
    ),
    Source("DuckDB table", write_duckdb, LONG),
    Source("DuckDB table, guessed", write_duckdb, guesses=True),
    Source("SQLite", write_sqlite, LONG),
    Source("SQLite, missing items", write_sqlite, {**LONG, "drop_missing": True}, layout="long with gaps"),
    Source("SQLite, guessed", write_sqlite, guesses=True),
    # Objects
    Source("pandas, objects", pandas_long, LONG),
    Source(
        "pandas, strings", partial(pandas_long, kind="string"), {**LONG, "drop_missing": True}, layout="long with gaps"
    ),
    Source(
        "pandas, categories",
        partial(pandas_long, kind="category"),
        {**LONG, "drop_missing": True},
        layout="long with gaps",
    ),
    Source("pandas, integers", partial(pandas_long, kind="int64"), LONG, cell=whole_number, carries=is_number),
    *(
        Source(
            f"pandas, {words}",
            partial(pandas_long, kind=kind),
            {**LONG, "drop_missing": True},
            layout="long with gaps",
            cell=whole_number,
            carries=is_small_number,
        )
        for words, kind in (("floats with gaps", "float64"), ("nullable integers", "Int64"))
    ),
    Source("pandas, one-hot", pandas_one_hot, carries=names_an_item, **ONE_HOT),
    Source("pandas, sparse", pandas_sparse, layout="one-hot", owners="sequence", carries=names_an_item),
    Source("pandas, guessed", pandas_long, guesses=True),
    Source("polars", objects(lambda rows, case: pl.DataFrame(long_table(rows))), LONG),
    Source("polars, lazy, lists", objects(lambda rows, case: pl.DataFrame(list_table(rows)).lazy()), **LISTS),
    Source("polars, categories", objects(lambda rows, case: pl.DataFrame(long_table(rows)).cast(pl.Categorical)), LONG),
    Source("arrow", objects(lambda rows, case: long_table(rows)), LONG),
    Source("arrow, batches", objects(lambda rows, case: long_table(rows).to_reader(max_chunksize=1)), LONG),
    Source("arrow, guessed", objects(lambda rows, case: long_table(rows)), guesses=True),
    Source("DuckDB relation", relation, LONG),
    matrix("numpy matrix", lambda cells: cells),
    matrix("scipy sparse", sparse.csr_array),
    Source(
        "lists of lists", objects(lambda rows, case: [[*row.labels] for row in rows]), layout="list", owners="sequence"
    ),
    Source(
        "lists of numbers",
        objects(lambda rows, case: [[*map(int, row.labels)] for row in rows]),
        layout="list",
        owners="sequence",
        cell=whole_number,
        carries=is_number,
    ),
]


@frozen
class OnDisk(Source):
    """A way in through a store on disk, which is made of what was read and opened again."""

    def read(self, folder, rows, case):
        path = folder / "copy.privmine"
        pm.write(Source.read(self, folder, rows, case), path)
        opened = pm.read(path)
        opened.store.persist()
        return opened


@frozen
class Limited(Source):
    """A way in with so little memory that all arrays go to files from the first batch on."""

    def read(self, folder, rows, case):
        with patch.object(shelf, "_PART", 1 << 60):
            limited = evolve(self, options={**self.options, "memory_limit": "100MB"})
            return Source.read(limited, folder, rows, case)


def through(way, source, name):
    return way(**{**{one.name: getattr(source, one.name) for one in fields(Source)}, "name": name})


_PLAIN = {source.name: source for source in SOURCES}
SOURCES += [
    *(
        through(OnDisk, _PLAIN[name], f"store on disk of {name}")
        for name in ("csv", "csv, guessed", "csv, missing items", "parquet, lists", "fimi", "parquet, one-hot")
    ),
    *(
        through(Limited, _PLAIN[name], f"{name}, memory limit")
        for name in ("csv", "csv, missing items", "parquet", "parquet, lists", "fimi", "arrow, batches")
    ),
]
#: Those that make a database of DuckDB for every file, which takes long.
SLOW = {"DuckDB table", "DuckDB table, guessed"}
