"""Queries as tables: DuckDB over files or its own databases, SQLite by Python's own module, PostgreSQL by ADBC.

DuckDB has extensions for the other two, but downloads them when they are first used; here nothing is
downloaded at run time, neither these nor any other extension.

Privacy: DuckDB finds out the types of a text file by looking at all of it, so that one row decides how
the labels of all others read: 250.00 is a number until somebody has a V27.0. A query must therefore
fix these types, and that it does so where it cannot be seen, as in a view, goes into the receipt.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from attrs import evolve

from privmine.errors import DataError, InputError
from privmine.files import at_home
from privmine.io.asked import Asked
from privmine.io.queries import check_types
from privmine.io.tables import SAMPLE_ROWS, Batches, Guard, Table, arrow, from_stream, withheld
from privmine.io.values import column_of, kind_of_values

_POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)
_SQLITE = b"SQLite format 3\0"
_DUCKDB = slice(8, 12), b"DUCK"
#: What reads text in a plan of DuckDB, or makes names of columns of data.
_TEXT_IN_PLAN = re.compile(r"csv|json|pivot", re.IGNORECASE)
#: What may read text, or make names of columns of data, in a query.
_TEXT_IN_QUERY = re.compile(r"csv|tsv|txt|json|\.dat|\.log|\.gz|\.zst|pivot", re.IGNORECASE)
_ASSUMED = (
    "the query treats the rows of each unit by themselves, and the types of its columns do not depend on what is in "
    "the data",
)
_CHUNK = 1 << 14
_WITHHELD = "it fails; the reason is withheld, because it may contain data"
_NO_TABLE = "The query gives no table; it must be one select, and nothing else."
#: What a select does, to SQLite.
_SELECTS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def query_table(sql: str, database: str | PathLike[str] | None, asked: Asked) -> Table:
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
            table = _duckdb_table(sql, None, stack, asked)
        elif _POSTGRES.match(fspath(database)):
            table = _postgres_table(sql, fspath(database), stack)
        elif "://" in fspath(database):
            raise InputError(
                "Of databases at an address only PostgreSQL is known, postgresql://user@host/name. Name a file of "
                "SQLite or DuckDB instead, or read what another database gives as a frame."
            )
        else:
            path = at_home(database)
            is_sqlite = _kind(path) == "sqlite"
            table = _sqlite_table(sql, path, stack) if is_sqlite else _duckdb_table(sql, path, stack, asked)
        if not table.columns:
            raise InputError(_NO_TABLE)
        return evolve(table, assumes=_ASSUMED, close=stack.pop_all().close)


def _kind(path: Path) -> str:
    """Which kind of database a file is, by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
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


def _duckdb_table(sql: str, path: Path | None, stack: ExitStack, asked: Asked) -> Table:
    try:
        import duckdb
    except ImportError:
        raise InputError("Queries need DuckDB; run: pip install 'privmine[tables]'.") from None
    # A database may have views over text, of which the query says nothing.
    may_quote = path is not None or _TEXT_IN_QUERY.search(sql) is not None

    def complaint(error: Exception) -> str:
        return _duckdb_complaint(duckdb, error, sql, may_quote)

    guarded = Guard("the query", complaint)
    config: dict[str, Any] = dict.fromkeys(("autoinstall_known_extensions", "python_enable_replacements"), "false")
    connection = guarded(lambda: duckdb.connect(str(path or ":memory:"), read_only=path is not None, config=config))
    stack.callback(connection.close)
    guarded(lambda: connection.execute("set enable_progress_bar = false"))  # standard output is not ours
    statements = guarded(lambda: connection.extract_statements(sql))
    if len(statements) != 1 or not str(statements[0].type).endswith("SELECT"):
        # A statement before the select could write a file, exact rows and all.
        raise InputError(_NO_TABLE)
    check_types(sql)
    relation = guarded(lambda: connection.sql(sql))
    table = relation_table(relation, asked, complaint, sql)
    stack.callback(table.close)
    return table


def relation_table(
    relation: Any, asked: Asked, complaint: Callable[[Exception], str] = withheld, sql: str = ""
) -> Table:
    """The rows of a DuckDB relation, a batch at a time."""
    guarded = Guard("the query", complaint)
    plan = guarded(relation.explain)
    # What DuckDB writes for a relation of its own may list the columns, and so says nothing about their names.
    read = sql or guarded(relation.sql_query)
    # The name of DuckDB 1.4 and later, then that of earlier ones.
    open_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    with ExitStack() as stack:
        reader = guarded(lambda: open_reader(1 << 17))
        # While it is open, whoever opens the database again waits for ever, even where a traceback alone holds it.
        stack.callback(reader.close)
        table = from_stream(reader, "the query", complaint)
        said = None
        if _TEXT_IN_PLAN.search(plan) or _TEXT_IN_QUERY.search(read):
            # The first line of a text may be data, which DuckDB takes for the names of columns all the same.
            said = frozenset(name for name in table.columns if name in asked.wanted or _says(sql, name))
        return evolve(table, known=said, assumes=_ASSUMED, close=stack.pop_all().close)


def _says(sql: str, name: str) -> bool:
    """Whether a query names a column, as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) is not None


def _duckdb_complaint(duckdb: Any, error: Exception, sql: str, may_quote: bool) -> str:
    """What DuckDB says about the query itself is told; what it says about data is not."""
    message = str(error)
    if isinstance(error, duckdb.ParserException | duckdb.CatalogException):
        return f"DuckDB says: {_first_line(message)}"
    if isinstance(error, duckdb.BinderException):
        if not may_quote:
            return f"DuckDB says: {' '.join(message.splitlines()[:2])}"
        missing = re.search(r'Referenced column "([^"]*)" not found', message)
        if missing and _says(sql, missing[1]):
            return f"there is no column {missing[1]!r}"
        return "its columns do not fit together; the reason is withheld, because it may contain data"
    if isinstance(error, duckdb.IOException) and "No files found" in message:
        return "there is no file of the name that it selects from"
    if isinstance(error, duckdb.HTTPException) or "extension" in message.lower():
        return (
            "it needs an extension of DuckDB that is not installed; install it in DuckDB, and pass a relation instead"
        )
    return f"{_WITHHELD}; if it reads a file, read that by itself, without sql= (--sql), to learn more"


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0].rstrip(".")


def _sqlite_table(sql: str, path: Path, stack: ExitStack) -> Table:
    guarded = Guard("the query", _sqlite_complaint)
    # Read only, whatever the query says.
    connection = guarded(lambda: sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
    stack.callback(connection.close)
    # Read only is the database; other statements could still write another file.
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _SELECTS else sqlite3.SQLITE_DENY)
    cursor = guarded(lambda: connection.execute(sql))
    if cursor.description is None:
        raise InputError(_NO_TABLE)
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

    return Table("the query", columns, kinds, batches, _sqlite_complaint)


def _sqlite_complaint(error: Exception) -> str:
    message = str(error)
    if re.match(r'no such (column|table|function): |near ".*": syntax error$|incomplete input$', message):
        return f"SQLite says: {message}"
    if re.search("not authorized|authorization denied|only execute one statement", message):
        return "it must be one select, and nothing else"
    if isinstance(error, sqlite3.DatabaseError) and re.search("image is malformed|not a database", message):
        return "the database is damaged"
    return f"{_WITHHELD}; run it in a tool of SQLite to see it"


def _postgres_table(sql: str, address: str, stack: ExitStack) -> Table:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError("PostgreSQL needs its ADBC driver; run: pip install 'privmine[postgres]'.") from None
    there = Guard("the PostgreSQL database", lambda _: _NO_CONNECTION)
    guarded = Guard("the query", _postgres_complaint)
    connection = there(lambda: dbapi.connect(address))
    stack.callback(connection.close)
    cursor = guarded(connection.cursor)
    stack.callback(cursor.close)

    def result() -> Any:
        cursor.execute(sql)
        return cursor.fetch_record_batch()

    return from_stream(guarded(result), "the query", _postgres_complaint)


_NO_CONNECTION = (
    "no connection; check the host, the port, the name and the password, and that the server takes connections"
)


def _postgres_complaint(error: Exception) -> str:
    """Errors of class 42 are about the query: unknown names, wrong syntax, forbidden tables."""
    if str(getattr(error, "sqlstate", "") or "").startswith("42"):
        found = re.search(r"ERROR:\s*(.*)", str(error))
        if found:
            return f"PostgreSQL says: {_first_line(found[1])}"
    return f"{_WITHHELD}; run it in a tool of PostgreSQL to see it"
