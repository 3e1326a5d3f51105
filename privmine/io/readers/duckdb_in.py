"""Queries that DuckDB runs, over files or its own databases, and relations of DuckDB.

Nothing that DuckDB shows by itself may reach an output: a plan has exact numbers of rows, and a progress bar is not in
our words. In a notebook DuckDB shows both instead of returning or printing them, so they are caught there.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from attrs import evolve

from privmine.errors import InputError
from privmine.extras import import_extra
from privmine.io.readers.duckdb_queries import NO_SELECT, Catalog, check_query, serialized
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.tables import RowGuard, Table, from_stream, withheld

#: What reads text in a plan of DuckDB, or makes names of columns of data.
_TEXT_IN_PLAN = re.compile(r"csv|json|pivot", re.IGNORECASE)
#: What may read text, or make names of columns of data, in the query of a relation.
_TEXT_IN_QUERY = re.compile(r"csv|tsv|txt|json|\.dat|\.log|\.gz|\.zst|pivot", re.IGNORECASE)
ASSUMED = (
    "the query treats the rows of each unit by themselves, and the types of its columns do not depend on what is in "
    "the data",
)
_BAR = "enable_progress_bar"
_BATCH_ROWS = 1 << 17


def duckdb_table(sql: str, path: Path | None, stack: ExitStack, asked: ReadOptions) -> Table:
    """The result of a query that DuckDB runs.

    Args:
        sql: the query.
        path: the file of a database, or None.
        stack: closes what is opened here.
        asked: the options.
    """
    duckdb = import_extra("duckdb", "Queries need")
    may_quote = True

    def complaint(error: Exception) -> str:
        return _complaint(duckdb, error, sql, may_quote)

    guarded = RowGuard("the query", complaint)
    config: dict[str, Any] = dict.fromkeys(("autoinstall_known_extensions", "python_enable_replacements"), "false")
    config["temp_directory"] = _own_folder(os.getpid())
    opened = RowGuard(f"the database {path}", _cannot_open)
    connection = opened(lambda: duckdb.connect(str(path or ":memory:"), read_only=path is not None, config=config))
    stack.callback(connection.close)
    guarded(lambda: _turn_bar_off(connection))
    statements = guarded(lambda: connection.extract_statements(sql))
    if len(statements) != 1 or not str(statements[0].type).endswith("SELECT"):
        # A statement before the select could write a file, exact rows and all.
        raise InputError(NO_SELECT)
    catalog = Catalog() if path is None else guarded(lambda: _catalog(connection))
    reads = check_query(guarded(lambda: serialized(connection, sql)), catalog)
    # A database may have views over text, of which the query says nothing.
    may_quote = path is not None or reads.names
    from_contents = reads.names
    if path is not None and not from_contents:
        from_contents = _TEXT_IN_PLAN.search(guarded(lambda: _plan(connection, sql))) is not None
    relation = guarded(lambda: connection.sql(sql))
    table = _relation_table(relation, complaint)
    table = evolve(table, guessed=reads.guessed, assumes=table.assumes + reads.assumes)
    stack.callback(table.close)
    return evolve(table, known=_said(table, asked, sql)) if from_contents else table


@cache
def _own_folder(process: int) -> str:
    """Where DuckDB puts what does not fit into memory, one folder for a process.

    Privacy: these are exact rows. By itself DuckDB makes a folder that anybody may read, where the process runs.
    """
    folder = mkdtemp(prefix="privmine-")

    def remove() -> None:
        if os.getpid() == process:  # a fork of it has what the process has, and ends first
            rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def relation_table(relation: Any, asked: ReadOptions) -> Table:
    """The rows of a DuckDB relation, a batch at a time."""
    guarded = RowGuard("the query")
    with ExitStack() as stack:
        shown = stack.enter_context(_nothing_shown())
        plan = guarded(lambda: relation.explain() + shown() if _is_early() else relation.explain(format="text"))
        # What DuckDB writes for a relation of its own may list the columns, and so says nothing about their names.
        from_contents = _TEXT_IN_PLAN.search(plan) or _TEXT_IN_QUERY.search(guarded(relation.sql_query))
        _turn_off_bar_of(relation, stack)
        table = _relation_table(relation)
        stack.callback(table.close)
        # Where no plan can be had, nothing is known.
        looks = from_contents or not plan.strip()
        # What reads text in a relation may have found its types and its dialect in the rows.
        guessed = {"sql": "the query of the relation, in which everything about its files is said"} if looks else {}
        known = _said(table, asked) if looks else None
        return evolve(table, known=known, guessed=guessed, close=stack.pop_all().close)


def _relation_table(relation: Any, complaint: Callable[[Exception], str] = withheld) -> Table:
    guarded = RowGuard("the query", complaint)
    # The name of DuckDB 1.4 and later, then that of earlier ones.
    open_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    with ExitStack() as stack:
        reader = guarded(lambda: open_reader(_BATCH_ROWS))
        # While it is open, whoever opens the database again waits for ever, even where a traceback alone holds it.
        stack.callback(reader.close)
        table = from_stream(reader, "the query", complaint)
        return evolve(table, assumes=ASSUMED, close=stack.pop_all().close)


def _turn_bar_off(connection: Any) -> None:
    """Standard output is not ours, and a notebook neither."""
    ((shows,),) = connection.execute(f"select current_setting('{_BAR}')").fetchall()
    # A notebook without ipywidgets has no bar, and there DuckDB fails if it is turned off.
    if shows:
        connection.execute(f"set {_BAR} = false")


def _turn_off_bar_of(relation: Any, stack: ExitStack) -> None:
    """Show no progress while a relation is read, and let its connection show it again afterwards."""
    if _is_early():
        return  # Its query() makes a view, which stays in the user's database.
    run = partial(relation.query, "privmine")
    with suppress(Exception):  # whatever is wrong with the relation is told when it is read
        if run(f"select current_setting('{_BAR}')").fetchall() == [(True,)]:
            run(f"set {_BAR} = false")
            stack.callback(run, f"set {_BAR} = true")


def _is_early() -> bool:
    """Whether this DuckDB is one that cannot return the plan of a relation in a notebook, but shows it only."""
    import duckdb

    return int(duckdb.__version__.partition(".")[0]) < 2


def _catalog(connection: Any) -> Catalog:
    tables = set()
    for kind in ("table", "view"):
        found = f"select database_name, schema_name, {kind}_name from duckdb_{kind}s()"  # noqa: S608 - words of ours
        for database, schema, name in connection.execute(found).fetchall():
            for parts in ((name,), (schema, name), (database, name), (database, schema, name)):
                tables.add(".".join(parts).lower())
    found = "select function_name from duckdb_functions() where function_type = 'table_macro' and not internal"
    return Catalog(tables, {name.lower() for (name,) in connection.execute(found).fetchall()})


def _plan(connection: Any, sql: str) -> str:
    """The plan of a query before it is optimised: an optimised one depends on what is in the tables."""
    connection.execute("set explain_output = 'all'")
    plans = dict(connection.execute(f"explain {sql}").fetchall())
    return str(plans["logical_plan"])


@contextmanager
def _nothing_shown() -> Iterator[Callable[[], str]]:
    """Catch what DuckDB shows in a notebook, plans and progress bars; gives the plans."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        yield str
        return
    from IPython.utils.capture import capture_output

    with capture_output(stdout=False, stderr=False) as caught:
        yield lambda: "".join(output.data.get("text/html", "") for output in caught.outputs)


def _said(table: Table, asked: ReadOptions, sql: str = "") -> frozenset[str]:
    """The names of columns that the user has written; others may be the first line of a text, which may be data."""
    return frozenset(name for name in table.columns if name in asked.wanted or _says(sql, name))


def _says(sql: str, name: str) -> bool:
    """Whether a query names a column, as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) is not None


def _cannot_open(error: Exception) -> str:
    if re.search("Could not set lock|used by another process", str(error)):
        return "another process has it open for writing; close it there, or copy the file and read the copy"
    if "different configuration" in str(error):
        return (
            "this process has it open already, with other settings; close it first, or pass what that connection "
            "gives: pm.read(connection.sql('select …'))"
        )
    return "DuckDB cannot open it; it is damaged, or a newer version of DuckDB has made it"


def _complaint(duckdb: Any, error: Exception, sql: str, may_quote: bool) -> str:
    """What DuckDB says about the query itself is told; what it says about data is not."""
    message = str(error)
    if isinstance(error, duckdb.ParserException | duckdb.CatalogException):
        return f"DuckDB says: {message.strip().splitlines()[0].rstrip('.')}"
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
    return (
        "it fails; the reason is withheld, because it may contain data; if it reads a file, read "
        "that file without sql= to learn more"
    )
