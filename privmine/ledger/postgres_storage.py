"""A ledger in PostgreSQL, for teams: the same rows and rules as in a file, kept in a schema of its own.

Every use opens an own connection and closes it, as with a file. A charge locks the ledger before it reads, and is
committed when the server has it on disk.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from attrs import astuple, frozen

from privmine.errors import LedgerError
from privmine.extras import import_extra
from privmine.ledger.book import Book
from privmine.ledger.chain import AlteredError, Head, Row, read_head, read_row, verify
from privmine.ledger.storage import Address, OutcomeUnknownError, Page

#: The format of the tables; the rows in them are those of format 3 of the file.
FORMAT = 1
SCHEMA = "privmine_ledger"
_TABLES = {
    "entries": (
        ("sequence", "bigint"),
        ("time", "text"),
        ("event", "text"),
        ("dataset", "text"),
        ("charge", "bigint"),
        ("epsilon", "text"),
        ("delta", "text"),
        ("note", "text"),
        ("fingerprint", "text"),
        ("checksum", "text"),
        ("unit", "text"),
        ("details", "text"),
    ),
    "head": (("format", "integer"), ("key", "bytea"), ("count", "bigint"), ("checksum", "text")),
}
#: Any number that privmine alone locks by: two processes must not create the tables at once.
_CREATING = 0x70764C64
#: How long a client may say nothing within a transaction, before the server takes its lock away.
_SILENCE = "60s"
#: What an error of PostgreSQL means, by the beginning of its code.
_MEANINGS = {
    "55P03": "was locked by another process for more than {timeout:g} s. Nothing was charged. Try again when that "
    "process has ended",
    "28": "cannot be opened: the user or the password is wrong. Nothing was charged. Check both",
    "3D": "cannot be opened: there is no such database. Nothing was charged. Create it, or check its name",
    "42501": "cannot be used: this user lacks the rights. Nothing was charged. Let the owner of the database grant "
    f"CREATE on it for `init`, and USAGE on the schema {SCHEMA} and SELECT, INSERT and UPDATE on its tables",
    "25006": "cannot be written: the server takes no changes, perhaps because it is a replica. Nothing was charged. "
    "Use the address of the primary server",
    "53": "cannot be used: the server has no room, memory or connection left. Nothing was charged. Try again later",
    "57": "cannot be used: the server is shutting down or starting. Nothing was charged. Try again later",
}
_GONE = "cannot be reached. Nothing was charged. Check the host, the port, the name of the database and the user"


@frozen
class PostgresStorage:
    """A ledger in a database."""

    address: Address

    def create(self) -> None:
        """See `Storage`."""
        with self._connected(timeout=30.0) as connection:
            if _exists(connection):
                return
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CREATING,))
            if _exists(connection):  # another process was faster
                return
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
            for name, columns in _TABLES.items():
                listed = ", ".join(f"{column} {kind}" for column, kind in columns)
                connection.execute(f"CREATE TABLE {SCHEMA}.{name} ({listed})")
            connection.execute(f"ALTER TABLE {SCHEMA}.entries ADD PRIMARY KEY (sequence)")
            head = Head.of_nothing(secrets.token_bytes(32))
            connection.execute(
                f"INSERT INTO {SCHEMA}.head VALUES (%s, %s, %s, %s)",  # noqa: S608 - a constant
                (FORMAT, *astuple(head)),
            )

    @contextmanager
    def reading(self, timeout: float) -> Iterator[Page]:
        """See `Storage`. One snapshot, so that rows and head are of one moment."""
        with self._connected(timeout, "REPEATABLE READ, READ ONLY") as connection:
            yield self._verified_page(connection)

    @contextmanager
    def writing(self, timeout: float) -> Iterator[Page]:
        """See `Storage`.

        The lock comes before the first look: under READ COMMITTED what follows it sees all that was committed before,
        and nobody else can write until this transaction has ended. Readers are not kept waiting.
        """
        with self._connected(timeout) as connection:
            if _exists(connection):
                connection.execute(f"LOCK TABLE {SCHEMA}.head IN EXCLUSIVE MODE")
            yield self._verified_page(connection)

    @contextmanager
    def _connected(self, timeout: float, mode: str = "READ COMMITTED, READ WRITE") -> Iterator[Any]:
        """One transaction, committed at the end; whatever goes wrong is told without the address's password."""
        psycopg = import_extra("psycopg", "A ledger in PostgreSQL needs")
        problem: LedgerError | None = None
        try:
            # A connection of a pool may serve another client next: nothing is prepared, all settings are local.
            connection = psycopg.connect(
                self.address.url,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=max(2, round(timeout)),
                application_name="privmine",
            )
        except psycopg.Error as error:
            problem = self._explained(error, timeout)
        if problem is not None:  # here, not in the except block: there the error of the driver would be its context
            raise problem
        committing = False
        try:
            connection.execute(f"BEGIN ISOLATION LEVEL {mode}")
            connection.execute(
                # Whatever the server's default: a charge that is answered is on its disk.
                "SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN "
                "('off', 'local') THEN 'on' ELSE current_setting('synchronous_commit') END, true), "
                "set_config('lock_timeout', %s, true), "
                "set_config('idle_in_transaction_session_timeout', %s, true)",
                (f"{max(1, round(timeout * 1000))}ms", _SILENCE),
            )
            yield connection
            committing = True
            connection.execute("COMMIT")
        except psycopg.Error as error:
            # A refusal of the server is an answer; silence is none.
            if committing and (error.sqlstate is None or error.sqlstate.startswith(("08", "57"))):
                problem = OutcomeUnknownError(
                    f"The connection to the ledger {self.address} was lost while it was written. See with `privmine "
                    "budget log` whether the last charge is there; until you know, take it as charged."
                )
            else:
                problem = self._explained(error, timeout)
        finally:
            connection.close()  # what is not committed is undone
        if problem is not None:
            raise problem

    def _verified_page(self, connection: Any) -> Page:
        if not _exists(connection):
            raise LedgerError(
                f"There is no ledger in {self.address}. Create it with `privmine budget init --ledger {self.address} "
                "--dataset NAME --epsilon E`, or `Ledger.init` in Python."
            )
        try:
            _refuse_other_tables(connection)
            stored = connection.execute(f"SELECT * FROM {SCHEMA}.head").fetchall()  # noqa: S608 - a constant
            if len(stored) == 1 and isinstance(stored[0][0], int) and stored[0][0] > FORMAT:
                raise LedgerError(
                    f"The ledger {self.address} was written by a newer version of privmine (format {stored[0][0]}; "
                    f"this version reads formats up to {FORMAT}). Nothing was charged. Upgrade privmine."
                )
            head = read_head([values[1:] for values in stored])
            found = connection.execute(f"SELECT * FROM {SCHEMA}.entries ORDER BY sequence").fetchall()  # noqa: S608
            rows = [read_row(values) for values in found]
            verify(head, rows)
            book = Book.replay(rows)
        except AlteredError as error:
            problem = str(error)
        else:
            # The server's clock, which is one for all machines.
            now: datetime = connection.execute("SELECT clock_timestamp() AT TIME ZONE 'UTC'").fetchone()[0]
            return Page(book, head, _Writer(connection).write, now.replace(tzinfo=UTC))
        raise LedgerError(
            f"The ledger {self.address} is damaged or was edited: {problem}. Nothing was charged. Restore it from a "
            "backup, and charge again everything that was released since then."
        )

    def _explained(self, error: Any, timeout: float) -> LedgerError:
        """Say what an error of the driver means for a budget; its own words may have the password or data in them."""
        code = str(error.sqlstate or "")
        meaning = next((words for start, words in _MEANINGS.items() if code.startswith(start)), None)
        if meaning is None and code and not code.startswith("08"):
            return LedgerError(
                f"The ledger {self.address} cannot be used: PostgreSQL refused with the code {code}. Nothing was "
                "charged. Let the administrator of the database look at it."
            )
        return LedgerError(f"The ledger {self.address} {(meaning or _GONE).format(timeout=timeout)}.")


@frozen
class _Writer:
    connection: Any

    def write(self, sealed: Row, head: Head) -> None:
        values = astuple(sealed)
        places = ", ".join("%s" for _ in values)
        self.connection.execute(f"INSERT INTO {SCHEMA}.entries VALUES ({places})", values)  # noqa: S608 - places
        self.connection.execute(
            f"UPDATE {SCHEMA}.head SET count = %s, checksum = %s",  # noqa: S608 - a constant
            (head.count, head.checksum),
        )


def _exists(connection: Any) -> bool:
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,)).fetchone()
    return found is not None


def _refuse_other_tables(connection: Any) -> None:
    """Refuse tables that privmine did not make: a column, a view, a trigger or a rule could undo a charge."""
    columns = connection.execute(
        "SELECT c.relname, c.relkind::text, a.attname, format_type(a.atttypid, a.atttypmod), c.relhastriggers, "
        "c.relhasrules, c.relrowsecurity, c.relpersistence::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = "
        "c.oid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind <> 'i' "
        "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum",
        (SCHEMA,),
    ).fetchall()
    # An unlogged table ("u" for "p") would be emptied by a crash of the server.
    expected = [
        (table, "r", name, kind, False, False, False, "p") for table, made in _TABLES.items() for name, kind in made
    ]
    if columns != expected:
        raise AlteredError("its tables are not those that privmine made")
