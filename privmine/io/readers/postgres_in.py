"""Queries that a PostgreSQL server runs, by its ADBC driver.

Privacy: a query that writes could carry exact rows elsewhere. Two checks prevent it, and the server makes both. First
it declares a cursor for the query, and a cursor takes exactly one statement that selects: nothing that changes data,
also not in a `with`, no `select … into` and no `copy`. Then the query runs in a transaction that can only read, so that
functions cannot write either, and which is never committed.

What the server says of a query may be data, even before it runs: the planner runs stable functions, and a cast such as
`quote_ident(…)::regclass` quotes what they give as the name of a table. So the query is prepared first, which resolves
its names without planning it. Only words about that are quoted, if they are of a known form and have no name that is
not in the query; of what fails later, only the kind is told.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from typing import Any

from privmine.errors import InputError
from privmine.io.readers.tables import RowGuard, Table, from_stream

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
_ONE_SELECT = "it must be one select, and nothing else"
_NOT_KNOWN = "a table, column or function that it names is not known; check their names and the types of arguments"
_FORBIDDEN = "this user may not read what it selects from; ask who runs the database for the right"
#: What the server says of a query and may be quoted; every group is a name, and must be in the query.
_NAME = r'"?([^\s"()]+)"?'
_QUOTED = tuple(
    re.compile(words.replace("NAME", _NAME))
    for words in (
        "(?:relation|column|schema|type|collation) NAME does not exist",
        r"(?:function|procedure) NAME\([\w ,.\[\]]*\) does not exist",
        r"operator does not exist: [\w ]+ [-+*/<>=~!@#%^&|`?]+ [\w ]+",
        "missing FROM-clause entry for table NAME",
        "(?:column|function|table) reference NAME is ambiguous",
        "column NAME must appear in the GROUP BY clause or be used in an aggregate function",
        "aggregate functions are not allowed in [A-Z ]+",
        "each [A-Z]+ query must have the same number of columns",
        "subquery in FROM must have an alias",
        "syntax error at or near NAME",
        "syntax error at end of input",
        "cannot insert multiple commands into a prepared statement",
    )
)


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
    connection = RowGuard("the PostgreSQL database", _no_connection)(lambda: dbapi.connect(address))
    stack.callback(connection.close)
    cursor = RowGuard("the query", _failure)(connection.cursor)
    stack.callback(cursor.close)
    RowGuard("the query", _failure)(lambda: _read_only(cursor))
    # Nothing but the query stands between the words that are added, and its last line may be a comment.
    RowGuard("the query", partial(_mistake, query))(lambda: _run(cursor, f"prepare privmine as\n{query}\n"))
    RowGuard("the query", _kind)(lambda: _run(cursor, f"declare privmine no scroll cursor for\n{query}\n"))

    def result() -> Any:
        cursor.execute(f"{query}\n")
        return cursor.fetch_record_batch()

    return from_stream(RowGuard("the query", _failure)(result), "the query", _failure)


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


def _mistake(query: str, error: Exception) -> str:
    """What is wrong with a query that was not planned yet.

    Errors of class 42 are about the query: unknown names, wrong syntax. What cannot be prepared is of class 0A.
    """
    state = _state(error)
    found = re.search(r"ERROR:[ \t]*(.*)", str(error))
    if found is None or not state.startswith(("42", "0A")):
        return _failure(error)
    said = found[1].strip().rstrip(".")
    if not _may_quote(said, query):
        return _NOT_KNOWN if state in ("42P01", "42703", "42883", "42704", "3F000") else _kind(error)
    selects = f"; {_ONE_SELECT}" if state in ("42601", "0A000") else ""
    return f"PostgreSQL says: {said}{selects}"


def _may_quote(said: str, query: str) -> bool:
    """Whether words of the server are of a known form, and every name in them is a word of the query."""
    known = next(filter(None, (form.fullmatch(said) for form in _QUOTED)), None)
    if known is None:
        return False
    names = [part for name in known.groups() for part in name.split(".")]
    return all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query, re.IGNORECASE) for name in names)


def _kind(error: Exception) -> str:
    """What kind of query the server does not plan; its words are not told, because the planner looks at data."""
    state = _state(error)
    if state == "42601":
        return _ONE_SELECT
    if state == "0A000":
        return f"PostgreSQL does not support what it does; {_ONE_SELECT}"
    return _FORBIDDEN if state == "42501" else _failure(error)


def _failure(error: Exception) -> str:
    """What went wrong while a query ran; the error may quote data, whatever its class is."""
    if _state(error) == "25006" or "in a read-only transaction" in str(error):
        return _READS_ONLY
    return _WITHHELD


def _state(error: Exception) -> str:
    return str(getattr(error, "sqlstate", None) or "")
