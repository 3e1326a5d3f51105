"""A file that cannot be used as a ledger is left as it is, and a sentence says why."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privmine.errors import LedgerError
from privmine.ledger import Ledger
from privmine.ledger.file import _explained, _make_durable


def foreign_database(path: Path, *statements: str) -> None:
    """An SQLite database of somebody else."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("CREATE TABLE entries (a)", "INSERT INTO entries VALUES (1)", *statements):
            connection.execute(statement)


def write_ahead_database(path: Path) -> None:
    """A foreign database in the middle of its work: part of it is still in its -wal file."""
    source = path.with_name("source")
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE entries (a)")
        connection.execute("PRAGMA wal_checkpoint")
        connection.execute("INSERT INTO entries VALUES (1)")
        for suffix in ("", "-wal"):
            shutil.copy(f"{source}{suffix}", f"{path}{suffix}")
    source.unlink()


def newer_ledger(path: Path) -> None:
    """A ledger of a later format."""
    Ledger(path).init("orders", epsilon=1)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 4")


def older_ledger(path: Path) -> None:
    """A ledger of a format that never was."""
    Ledger(path).init("orders", epsilon=1)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 0")


def half_ledger(path: Path) -> None:
    """The first half of a ledger."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1000)
    for _ in range(30):
        ledger.charge("orders", 1, note="x" * 500)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("milk bread\n" * 500), "is not a ledger: it is not an SQLite database"),
    "short": (lambda path: path.write_bytes(b"SQLite"), "is not a ledger"),
    "empty": (lambda path: path.touch(), "is an empty file, not a ledger"),
    "folder": (lambda path: path.mkdir(), "is a folder, not a ledger"),
    "pipe": (os.mkfifo, "is not a regular file"),
    "foreign": (foreign_database, "is an SQLite database, but not a privmine ledger"),
    "foreign in WAL mode": (write_ahead_database, "is an SQLite database, but not a privmine ledger"),
    "newer": (newer_ledger, "written by a newer version of privmine .format 4.*Upgrade"),
    "older": (older_ledger, "damaged or was edited: its format is 0"),
    "half": (half_ledger, "is damaged or was edited.*Restore it from a backup"),
}


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file there, to the byte."""
    return {file.name: file.read_bytes() if file.is_file() else None for file in folder.iterdir()}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_left_alone(path: Path, kind: str) -> None:
    """Every use of a bad file is a LedgerError that says what is there, and changes no byte."""
    make, message = BAD[kind]
    make(path)
    before = contents(path.parent)
    ledger = Ledger(path)
    uses: list[Callable[[], object]] = [
        ledger.show,
        ledger.export,
        lambda: ledger.charge("orders", 0.1),
        lambda: ledger.init("new", epsilon=1),
    ]
    for use in uses:
        with pytest.raises(LedgerError, match=message) as caught:
            use()
        assert str(path) in str(caught.value)
    assert contents(path.parent) == before


def test_any_cut_is_noticed(ledger: Ledger, path: Path) -> None:
    """A ledger cut anywhere is refused."""
    ledger.charge("orders", 1)
    whole = path.read_bytes()
    for size in [1, 15, 16, 99, 100, 101, *range(512, len(whole), 512), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(LedgerError):
            ledger.charge("orders", 1)
    path.write_bytes(whole)
    assert ledger.budget("orders").remaining_epsilon == 0


def test_a_missing_folder(tmp_path: Path) -> None:
    """A ledger is not created in a folder that does not exist."""
    with pytest.raises(LedgerError, match="its folder must exist"):
        Ledger(tmp_path / "nowhere" / "budget.db").init("orders", epsilon=1)


def test_a_path_through_a_file(path: Path) -> None:
    """A path that leads through a file is no place for a ledger."""
    path.touch()
    with pytest.raises(LedgerError, match="No ledger can be created"):
        Ledger(path / "budget.db").init("orders", epsilon=1)
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger(path / "budget.db").show()


def test_a_path_that_is_none(tmp_path: Path) -> None:
    """A path with a null byte is refused in a sentence."""
    for use in (Ledger(tmp_path / "a\0b").show, lambda: Ledger(tmp_path / "a\0b").init("orders", epsilon=1)):
        with pytest.raises(LedgerError):
            use()


def test_odd_paths(tmp_path: Path) -> None:
    """A path is a path, whatever it means in a URI or to SQLite."""
    for name in ("a?mode=memory", "b#c", "d%20e", ":memory:", "f g", "ä'\"", "h&i=j"):
        ledger = Ledger(tmp_path / name)
        ledger.init("orders", epsilon=1)
        ledger.charge("orders", 1)
        assert (tmp_path / name).is_file()


def test_a_switched_journal_mode_is_switched_back(ledger: Ledger, path: Path) -> None:
    """A ledger that a tool put into WAL mode works, and is one file again afterwards."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    ledger.charge("orders", 1)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_bytes()[18:20] == b"\1\1"


def test_a_full_disk(ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge that cannot be written is an error, and not a charge."""
    connect = sqlite3.connect
    pages = path.stat().st_size // 4096

    def connect_to_a_full_disk(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    granted = 0

    def charge_for_ever() -> None:
        nonlocal granted
        while True:
            ledger.charge("orders", "1/1000", note="x" * 1000)
            granted += 1

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect_to_a_full_disk)
        with pytest.raises(LedgerError, match=r"Free some space.*budget log"):
            charge_for_ever()
    assert ledger.budget("orders").spent_epsilon == Fraction(granted, 1000)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that other users can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="privmine-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


ASK = """
import os, sys
from privmine.errors import LedgerError
from privmine.ledger import Ledger
if os.geteuid() == 0:  # permissions do not bind root
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
ledger = Ledger(sys.argv[1])
for use in (ledger.show, lambda: ledger.charge("orders", 0.1), lambda: Ledger(sys.argv[1] + "2").init("a", 1)):
    try:
        use()
        print("done")
    except LedgerError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "messages"),
    [
        (0o444, 0o555, ["done", "the file or its folder is read-only", "must exist and be writable"]),
        (0o666, 0o555, ["done", "the file or its folder is read-only", "must exist and be writable"]),
        (0o000, 0o555, ["cannot be opened", "cannot be opened", "must exist and be writable"]),
    ],
)
def test_read_only(
    shared_folder: Path,
    start_python: Callable[..., subprocess.Popen[str]],
    file_mode: int,
    folder_mode: int,
    messages: list[str],
) -> None:
    """A ledger that may not be written can be looked at, and a charge says that nothing was charged."""
    path = shared_folder / "budget.db"
    Ledger(path).init("orders", epsilon=1)
    path.chmod(file_mode)
    shared_folder.chmod(folder_mode)
    output, errors = start_python(ASK, path).communicate(timeout=60)
    assert errors == ""
    assert len(output.splitlines()) == 3
    for line, message in zip(output.splitlines(), messages, strict=True):
        assert message in line
    path.chmod(0o600)
    assert Ledger(path).budget("orders").spent_epsilon == 0
    assert sorted(file.name for file in shared_folder.iterdir()) == ["budget.db"]


def test_a_link_to_nothing_is_told(path: Path) -> None:
    """Not as a missing ledger that `init` would create: nothing is written through a link, to wherever it leads."""
    target = path.with_name("elsewhere.db")
    path.symlink_to(target)
    for use in (lambda: Ledger(path).init("orders", 1), lambda: Ledger(path).show()):
        with pytest.raises(LedgerError, match=r"is a symbolic link to .*elsewhere\.db, where there is no file\. Bring"):
            use()
    assert not target.exists()
    path.unlink()
    Ledger(target).init("orders", 1)
    path.symlink_to(target)
    assert Ledger(path).init("visits", 1).name == "visits"
    assert [made.name for made in Ledger(target).show()] == ["orders", "visits"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("SQLITE_BUSY", "was locked by another process for more than 2.5 s"),
        ("SQLITE_LOCKED_SHAREDCACHE", "was locked by another process"),
        ("SQLITE_READONLY_DIRECTORY", "cannot be written"),
        ("SQLITE_CANTOPEN_ISDIR", "cannot be opened"),
        ("SQLITE_PERM", "cannot be opened"),
        ("SQLITE_AUTH", "cannot be opened"),
        ("SQLITE_IOERR_READ", "could not be read or written completely (what SQLite said)"),
        ("SQLITE_FULL", "could not be read or written completely (what SQLite said)"),
        ("SQLITE_NOTADB", "is not a ledger"),
        ("SQLITE_CORRUPT", "what SQLite said"),
        ("", "what SQLite said"),
    ],
)
def test_an_error_of_sqlite_is_told_by_what_it_means(kind: str, words: str) -> None:
    """Each names the file; what nobody foresaw is told as damage, with the words of SQLite."""
    error = sqlite3.OperationalError("what SQLite said")
    error.sqlite_errorname = kind
    told = str(_explained(error, Path("budget.db"), timeout=2.5))
    assert words in told
    assert "budget.db" in told


def test_a_charge_outlives_a_power_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite syncs file and folder at each commit, and so does the step that gives a new ledger its name."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda place: synced.append(os.fstat(place)))
    Ledger(path).init("orders", epsilon=1)
    assert path.parent.stat().st_ino in {place.st_ino for place in synced}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _make_durable(connection)
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
