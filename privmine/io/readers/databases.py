"""Queries as tables: DuckDB over files or its own databases, SQLite by Python's own module, PostgreSQL by ADBC.

DuckDB has extensions for the other two, but downloads them when they are first used; here nothing is
downloaded at run time, neither these nor any other extension.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path

from attrs import evolve

from privmine.errors import DataError, InputError
from privmine.files import at_home
from privmine.io.readers.duckdb_in import ASSUMED, duckdb_table
from privmine.io.readers.duckdb_queries import NO_SELECT
from privmine.io.readers.files_in import head_if_open
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.postgres_in import postgres_table
from privmine.io.readers.sqlite_in import sqlite_table
from privmine.io.readers.tables import Table, arrow

_POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)
#: How many bytes tell a kind.
_HEAD = 16
_SQLITE = b"SQLite format 3\0"
_DUCKDB = slice(8, 12), b"DUCK"


def query_table(sql: str, database: str | PathLike[str] | None, asked: ReadOptions) -> Table:
    """The result of a query as a table.

    Args:
        sql: the query, in the dialect of what runs it.
        database: a file of SQLite or DuckDB, the address of a PostgreSQL database, or None for DuckDB without one.
        asked: the options.
    """
    if not isinstance(sql, str) or not sql.strip().strip(";").strip():
        raise InputError(
            "The query is empty; say what to select: sql=\"select order_id, product from 'orders.parquet'\"."
        )
    if not isinstance(database, str | PathLike | None):
        raise InputError(
            "database= is the name of a file or the address of a PostgreSQL database, not a connection. What a "
            "connection of DuckDB gives is a source of its own: pm.read(connection.sql('select …')); of others, pass "
            "a frame."
        )
    arrow()
    # What is open is closed with the table, or here if something fails before there is one.
    with ExitStack() as stack:
        if database is None:
            table = duckdb_table(sql, None, stack, asked)
        elif _POSTGRES.match(fspath(database)):
            table = postgres_table(sql, fspath(database), stack)
        elif "://" in fspath(database):
            raise InputError(
                "Of databases at an address only PostgreSQL is known, postgresql://user@host/name. Name a file of "
                "SQLite or DuckDB instead, or read what another database gives as a frame."
            )
        else:
            path = at_home(database)
            is_sqlite = _kind(path) == "sqlite"
            table = sqlite_table(sql, path, stack) if is_sqlite else duckdb_table(sql, path, stack, asked)
        if not table.columns:
            raise InputError(NO_SELECT)
        return evolve(table, assumes=table.assumes or ASSUMED, close=stack.pop_all().close)


def _kind(path: Path) -> str:
    """Which kind of database a file is, by its first bytes."""
    try:
        head = head_if_open(path, _HEAD) or b""
        if not head:
            with path.open("rb") as file:
                head = file.read(_HEAD)
    except (OSError, ValueError) as error:
        problem = f"The database {path} cannot be read: {getattr(error, 'strerror', None) or 'the name is not usable'}."
    else:
        place, mark = _DUCKDB
        if head[place] == mark:
            return "duckdb"
        if head == _SQLITE:
            return "sqlite"
        problem = f"{path} is neither a SQLite nor a DuckDB database; read a file of data without database=."
    raise DataError(problem)
