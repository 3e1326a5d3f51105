"""Queries that a PostgreSQL server runs, by its ADBC driver.

Privacy: a query that writes could carry exact rows elsewhere. Two checks prevent it, and the server makes both. First
it declares a cursor for the query, and a cursor takes exactly one statement that selects: nothing that changes data,
also not in a `with`, no `select … into` and no `copy`. Then the query runs in a transaction that can only read, so that
functions cannot write either, and which is never committed.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import Any

from privmine.errors import InputError
from privmine.io.tables import Guard, Table, from_stream

#: What the driver says if there is no connection, and what it means.
_NO_CONNECTION = (
    ("could not translate host name", "its host is unknown; check the host in the address"),
    ("Connection refused", "nothing answers at its host and port; check both, and that the server runs"),
    ("No such file or directory", "nothing answers at its socket; name the host, and check that the server runs"),
    ("timeout expired|timed out|unreachable|No route", "its host does not answer; check the host, port and network"),
    ('database ".*" does not exist', "the server has no database of this name; check the name after the last slash"),
    ("no password supplied", "it needs a password; set PGPASSWORD or write it to ~/.pgpass"),
    ('authentication failed|role ".*" does not exist', "the user or the password is wrong; check both"),
    ("no pg_hba.conf entry|not permitted to log in|permission denied", "this user may not connect; ask who runs it"),
    ("too many|reserved for", "it has too many connections; try again later"),
    ("starting up|shutting down|recovery mode", "the server is starting or stopping; try again later"),
    ("SSL|certificate", "the server and the address do not agree on encryption; check sslmode= in the address"),
    ("URI|invalid port|invalid .* value", "the address is not valid; it is postgresql://user@host:port/name"),
)
_UNKNOWN = "there is no connection; check the host, the port, the name, the user and the password"
_WITHHELD = (
    "it fails; the reason is withheld, because it may contain data; run it in a tool of PostgreSQL to see the reason"
)
_READS_ONLY = "it would change the database; it must be a select that only reads"


def postgres_table(sql: str, address: str, stack: ExitStack) -> Table:
    """The result of a query that a PostgreSQL server runs.

    Args:
        sql: the query.
        address: where the database is; it may contain a password.
        stack: closes what is opened here.
    """
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError("PostgreSQL needs its ADBC driver; run: pip install 'privmine[postgres]'.") from None
    query = sql.strip().rstrip(";").rstrip()
    connection = Guard("the PostgreSQL database", _no_connection)(lambda: dbapi.connect(address))
    stack.callback(connection.close)
    cursor = Guard("the query", _failure)(connection.cursor)
    stack.callback(cursor.close)
    Guard("the query", _failure)(lambda: _read_only(cursor))
    # Nothing but the query stands between the words that are added, and its last line may be a comment.
    Guard("the query", _mistake)(lambda: _run(cursor, f"declare privmine no scroll cursor for\n{query}\n"))

    def result() -> Any:
        cursor.execute(f"{query}\n")
        return cursor.fetch_record_batch()

    return from_stream(Guard("the query", _failure)(result), "the query", _failure)


def _read_only(cursor: Any) -> None:
    _run(cursor, "set transaction read only")
    # After its first query a transaction that only reads cannot become another one; this is that query.
    cursor.execute("select current_setting('transaction_read_only')")
    if cursor.fetchone() != ("on",):
        raise InputError("The PostgreSQL server does not open the database for reading only, so that nothing is read.")


def _run(cursor: Any, statement: str) -> None:
    cursor.execute(statement)


def _no_connection(error: Exception) -> str:
    message = str(error)
    return next((words for pattern, words in _NO_CONNECTION if re.search(pattern, message)), _UNKNOWN)


def _mistake(error: Exception) -> str:
    """What is wrong with a query that has not run yet, so that no data is in the message.

    Errors of class 42 are about the query: unknown names, wrong syntax, forbidden tables. What a cursor does not take
    is of class 0A.
    """
    state = _state(error)
    found = re.search(r"ERROR:\s*(.*)", str(error))
    if found is None or not state.startswith(("42", "0A")):
        return _failure(error)
    selects = "; it must be one select, and nothing else" if state in ("42601", "0A000") else ""
    return f"PostgreSQL says: {found[1].strip().rstrip('.')}{selects}"


def _failure(error: Exception) -> str:
    """What went wrong while a query ran; the error may quote data, whatever its class is."""
    if _state(error) == "25006" or "in a read-only transaction" in str(error):
        return _READS_ONLY
    return _WITHHELD


def _state(error: Exception) -> str:
    return str(getattr(error, "sqlstate", None) or "")
