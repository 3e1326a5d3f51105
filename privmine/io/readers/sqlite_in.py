"""Queries that SQLite runs, by Python's own module."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from privmine.errors import InputError
from privmine.io.readers.duckdb_queries import NO_SELECT
from privmine.io.readers.python_values import column_of, kind_of_values
from privmine.io.readers.tables import SAMPLE_ROWS, Batches, RowGuard, Table, arrow

_CHUNK = 1 << 14
#: What a select does, to SQLite.
_SELECTS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def sqlite_table(sql: str, path: Path, stack: ExitStack) -> Table:
    """The result of a query over a file of SQLite.

    Args:
        sql: the query.
        path: the file of the database.
        stack: closes what is opened here.
    """
    guarded = RowGuard("the query", _complaint)
    # Read only, whatever the query says.
    connection = guarded(lambda: sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
    stack.callback(connection.close)
    # Read only is the database; other statements could still write another file.
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _SELECTS else sqlite3.SQLITE_DENY)
    cursor = guarded(lambda: connection.execute(sql))
    if cursor.description is None:
        raise InputError(NO_SELECT)
    columns = tuple(str(entry[0]) for entry in cursor.description)
    shown = [f"the column {column!r}" for column in columns]
    first = guarded(lambda: cursor.fetchmany(SAMPLE_ROWS))
    kinds = tuple(kind_of_values([row[place] for row in first]) for place in range(len(columns)))

    def batches(positions: Sequence[int]) -> Batches:
        pa = arrow()
        rows = first
        while rows:
            arrays = [column_of([row[place] for row in rows], shown[place], lists=False) for place in positions]
            yield pa.RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])
            rows = cursor.fetchmany(_CHUNK)

    return Table("the query", columns, kinds, batches, _complaint)


def _complaint(error: Exception) -> str:
    message = str(error)
    if re.match(r'no such (column|table|function): |near ".*": syntax error$|incomplete input$', message):
        return f"SQLite says: {message}"
    if re.search("not authorized|authorization denied|only execute one statement", message):
        return "it must be one select, and nothing else"
    if message == "database is locked":
        return "another connection is writing to the database; commit or close it there"
    if isinstance(error, sqlite3.DatabaseError) and re.search("image is malformed|not a database", message):
        return "the database is damaged"
    return "it fails; the reason is withheld, because it may contain data; run it in a tool of SQLite to see it"
