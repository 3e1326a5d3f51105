"""The SQLite file: made whole or not at all, checked in full at every use, appended to in one transaction.

Every use opens an own connection and closes it: nothing is held between uses, so threads, forked
processes and pickled ledgers need no special care.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from attrs import astuple, define, frozen

from privmine.errors import LedgerError
from privmine.ledger.book import Book
from privmine.ledger.chain import AlteredError, Head, Row, read_head, read_row, verify
from privmine.ledger.storage import Page

APPLICATION_ID = 0x70764C64  # "pvLd"
#: The format of a new ledger, which every ledger gets with the next row that is written to it. Versions of privmine
#: that do not know of units (format 2) or of details (format 3) then refuse it, instead of counting wrongly.
FORMAT = 3

_HEAD = ("head", "CREATE TABLE head (key BLOB, count INTEGER, checksum TEXT)")
_COLUMNS = (
    "sequence INTEGER PRIMARY KEY, time TEXT, event TEXT, dataset TEXT, "
    "charge INTEGER, epsilon TEXT, delta TEXT, note TEXT, fingerprint TEXT, checksum TEXT"
)
#: The columns that each format added, in the words of SQLite.
_ADDED = {1: (), 2: ("unit TEXT",), 3: ("unit TEXT", "details TEXT")}
_SCHEMAS = {
    version: (("entries", f"CREATE TABLE entries ({', '.join((_COLUMNS, *added))})"), _HEAD)
    for version, added in _ADDED.items()
}
#: Besides what SQLite raises: a damaged file can hold text that is no UTF-8 and integers out of range.
_DAMAGE = (sqlite3.Error, OverflowError, UnicodeError, MemoryError)


@frozen
class FileStorage:
    """A ledger in a file."""

    path: Path

    def create(self) -> None:
        """See `Storage`."""
        create(self.path)

    def reading(self, timeout: float) -> AbstractContextManager[Page]:
        """See `Storage`. A read lock until the end, so that rows and head are of one moment."""
        return _transaction(self.path, timeout, begin="BEGIN")

    def writing(self, timeout: float) -> AbstractContextManager[Page]:
        """See `Storage`.

        IMMEDIATE takes the one write lock before anything is read: what the sum is computed from cannot change until
        the charge is in.
        """
        return _transaction(self.path, timeout, begin="BEGIN IMMEDIATE")


@define
class _Pen:
    """Writes rows within one transaction, and brings the file to the present format before the first one."""

    connection: sqlite3.Connection
    format: int

    def write(self, sealed: Row, head: Head) -> None:
        if self.format < FORMAT:
            # Within the transaction: another process sees the old format, or the new one with its row.
            for column in _ADDED[FORMAT][len(_ADDED[self.format]) :]:
                self.connection.execute(f"ALTER TABLE entries ADD COLUMN {column}")
            self.connection.execute(f"PRAGMA user_version = {FORMAT}")
            self.format = FORMAT
        values = astuple(sealed)
        places = ", ".join("?" for _ in values)
        self.connection.execute(f"INSERT INTO entries VALUES ({places})", values)  # noqa: S608 - question marks
        self.connection.execute("UPDATE head SET count = ?, checksum = ?", (head.count, head.checksum))


@contextmanager
def _transaction(path: Path, timeout: float, begin: str) -> Iterator[Page]:
    _refuse_what_is_no_ledger(path)
    try:
        with closing(_connect(path, "mode=rw", timeout)) as connection:
            _make_durable(connection)
            connection.execute(begin)
            yield _verified_page(path, connection)
            connection.execute("COMMIT")  # not reached after an error: closing rolls back
    except _DAMAGE as error:
        raise _explained(error, path, timeout) from error


def create(path: Path) -> None:
    """Put a ledger without rows at the path, unless there is something: nothing is ever overwritten."""
    if os.path.lexists(path):
        return
    try:
        # Only the owner may read it: it holds the key of the fingerprints.
        descriptor, name = tempfile.mkstemp(prefix=".privmine-ledger-", suffix=".new", dir=path.parent)
    except (OSError, ValueError) as error:
        raise LedgerError(f"No ledger can be created at {path}: its folder must exist and be writable.") from error
    os.close(descriptor)
    draft = Path(name)
    try:
        _fill(draft)
        _publish(draft, path)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise LedgerError(f"No ledger can be created at {path}: {error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _fill(draft: Path) -> None:
    head = Head.of_nothing(secrets.token_bytes(32))
    with closing(_connect(draft, "mode=rw", timeout=0)) as connection:
        _make_durable(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for _name, statement in _SCHEMAS[FORMAT]:
            connection.execute(statement)
        connection.execute("INSERT INTO head VALUES (?, ?, ?)", astuple(head))
        connection.execute("COMMIT")


def _publish(draft: Path, path: Path) -> None:
    """Give the finished file its name in one step, so that no other process ever sees half a ledger."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return  # Another process was faster; its ledger is as good.
    except (OSError, NotImplementedError):
        # A file system without hard links: reserve the name, then replace what reserved it.
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            return
        draft.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _connect(path: Path, options: str, timeout: float) -> sqlite3.Connection:
    # A URI, because only there can SQLite be told not to create a missing file.
    uri = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    # Damaged text is left for the checksums to notice: SQLite's own error would quote the text.
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")
    return connection


def _make_durable(connection: sqlite3.Connection) -> None:
    # A rollback journal, not a write-ahead log: between uses the one file is the whole ledger, while a
    # copy without its -wal file would have lost charges. EXTRA also syncs the folder when the journal is
    # deleted, which is the moment of commit: no power cut takes a charge back after its noise was drawn.
    [mode] = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    if mode != "delete":
        raise LedgerError(f"Another program keeps the ledger open in journal mode {mode!r}. Close that program first.")
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: past the drive's cache


def _refuse_what_is_no_ledger(path: Path) -> None:
    """Check the file without writing, locking or creating anything, because it may not be a ledger."""
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            # Nothing is created through a link: its target may be on a disk that is not there at the moment.
            raise LedgerError(
                f"{path} is a symbolic link to {path.readlink()}, where there is no file. Bring that file back, or "
                f"delete the link and create a ledger with `privmine budget init`, or `Ledger.init` in Python."
            ) from None
        raise LedgerError(
            f"There is no ledger at {path}. Create it with "
            f"`privmine budget init --ledger {path} --dataset NAME --epsilon E`, or `Ledger.init` in Python."
        ) from None
    except (OSError, ValueError) as error:
        raise LedgerError(f"The ledger {str(path)!r} cannot be reached: {error}.") from error
    if stat.S_ISDIR(status.st_mode):
        raise LedgerError(f"{path} is a folder, not a ledger. Name a file.")
    if not stat.S_ISREG(status.st_mode):
        raise LedgerError(f"{path} is not a regular file. A ledger must be a regular file.")
    if status.st_size == 0:
        raise LedgerError(
            f"{path} is an empty file, not a ledger. If nothing was ever charged there, "
            f"delete it and create a ledger with `privmine budget init`."
        )
    # Through SQLite, not by reading the header: closing a file drops all locks that this process has on
    # it, those of another thread's connection included. "immutable" reads without touching anything.
    try:
        with closing(_connect(path, "mode=ro&immutable=1", timeout=0)) as connection:
            [application] = connection.execute("PRAGMA application_id").fetchone()
            [version] = connection.execute("PRAGMA user_version").fetchone()
    except _DAMAGE as error:
        raise _explained(error, path, timeout=0) from error
    if application != APPLICATION_ID:
        raise LedgerError(f"{path} is an SQLite database, but not a privmine ledger. It was not changed.")
    if version > FORMAT:
        raise LedgerError(
            f"The ledger {path} was written by a newer version of privmine (format {version}; this "
            f"version reads formats up to {FORMAT}). Nothing was charged. Upgrade privmine."
        )
    if version not in _SCHEMAS:
        raise _altered(path, f"its format is {version}, which no version of privmine wrote")


def _verified_page(path: Path, connection: sqlite3.Connection) -> Page:
    """Read everything, and check that all of it is consistent."""
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise AlteredError("SQLite finds it inconsistent")
        # Asked again, under the lock: another process may have changed the format.
        [version] = connection.execute("PRAGMA user_version").fetchone()
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        if schema != [("table", name, statement) for name, statement in _SCHEMAS.get(version, ())]:
            raise AlteredError("its tables are not those that privmine made")
        head = read_head(connection.execute("SELECT key, count, checksum FROM head").fetchall())
        stored = connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()
        rows = [read_row(values) for values in stored]
        verify(head, rows)
        return Page(Book.replay(rows), head, _Pen(connection, version).write)
    except AlteredError as error:
        raise _altered(path, str(error)) from None


def _altered(path: Path, reason: str) -> LedgerError:
    return LedgerError(
        f"The ledger {path} is damaged or was edited: {reason}. Nothing was charged. Restore it from "
        "a backup, and charge again everything that was released since then."
    )


def _explained(error: BaseException, path: Path, timeout: float) -> LedgerError:
    """Say what an error of SQLite means for a budget."""
    kind = getattr(error, "sqlite_errorname", "")
    if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerError(
            f"The ledger {path} was locked by another process for more than {timeout:g} s. Nothing "
            "was charged. Try again when that process has ended."
        )
    if kind.startswith("SQLITE_READONLY"):
        return LedgerError(
            f"The ledger {path} cannot be written: the file or its folder is read-only. Nothing was "
            "charged. Make both writable. Do not use a copy: it would be counted separately."
        )
    if kind.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return LedgerError(
            f"The ledger {path} cannot be opened. Nothing was charged. Make the file and its folder "
            "readable and writable: a journal is kept there during a charge."
        )
    if kind.startswith(("SQLITE_IOERR", "SQLITE_FULL")):
        return LedgerError(
            f"The ledger {path} could not be read or written completely ({error}). Free some space or "
            "check the disk. Then see with `privmine budget log` whether the last charge was "
            "recorded."
        )
    if kind == "SQLITE_NOTADB":
        return LedgerError(f"{path} is not a ledger: it is not an SQLite database, or its beginning is damaged.")
    return _altered(path, str(error))
