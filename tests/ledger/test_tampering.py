"""An edit by hand is noticed, and no damage ever gives more budget than before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from attrs import evolve

from privmine.errors import LedgerError
from privmine.ledger import Ledger
from privmine.ledger.book import Book, read_fraction
from privmine.ledger.chain import AlteredError, Head, Row, verify


@pytest.fixture
def spent(ledger: Ledger) -> Ledger:
    """A ledger with a history; its rows are: 2 inits, charge, finished, charge, failed, charge with δ, charge."""
    ledger.finish(ledger.charge("orders", "1/3", note="first", source="orders.csv"))
    ledger.fail(ledger.charge("orders", "1/4"), ValueError)
    ledger.charge("visits", "1/2", delta="1/2000")
    ledger.charge("orders", "1/5")
    return ledger


EDITS = {
    "amount": "UPDATE entries SET epsilon = '1/30' WHERE sequence = 3",
    "same amount, other text": "UPDATE entries SET epsilon = '2/6' WHERE sequence = 3",
    "amount as a number": "UPDATE entries SET epsilon = 0 WHERE sequence = 3",
    "amount as bytes": "UPDATE entries SET epsilon = CAST('1/3' AS BLOB) WHERE sequence = 3",
    "amount away": "UPDATE entries SET epsilon = NULL WHERE sequence = 3",
    "last amount": "UPDATE entries SET epsilon = '1/50' WHERE sequence = 8",
    "delta": "UPDATE entries SET delta = '1/20000' WHERE sequence = 7",
    "total": "UPDATE entries SET epsilon = '100/1' WHERE sequence = 1",
    "total delta": "UPDATE entries SET delta = '1/2' WHERE sequence = 2",
    "delta to a pure dataset": "UPDATE entries SET delta = '1/2' WHERE sequence = 1",
    "dataset": "UPDATE entries SET dataset = 'visits' WHERE sequence = 3",
    "dataset, everywhere": "UPDATE entries SET dataset = 'other' WHERE dataset = 'orders'",
    "event": "UPDATE entries SET event = 'failed' WHERE sequence = 4",
    "time": "UPDATE entries SET time = '2020-01-01T00:00:00.000+00:00' WHERE sequence = 3",
    "note": "UPDATE entries SET note = 'second' WHERE sequence = 3",
    "text that is no UTF-8": "UPDATE entries SET note = CAST(X'FF' AS TEXT) WHERE sequence = 3",
    "charge": "UPDATE entries SET charge = 5 WHERE sequence = 4",
    "fingerprint": "UPDATE entries SET fingerprint = NULL WHERE sequence = 3",
    "details": "UPDATE entries SET details = replace(details, 'by', 'host') WHERE sequence = 3",
    "who charged": """UPDATE entries SET details = '{"by": "nobody"}' WHERE sequence = 3""",
    "details away": "UPDATE entries SET details = NULL WHERE sequence = 3",
    "details of the last row": "UPDATE entries SET details = NULL WHERE sequence = 8",
    "checksum": "UPDATE entries SET checksum = '' WHERE sequence = 3",
    "number": "UPDATE entries SET sequence = 9 WHERE sequence = 8",
    "row in the middle": "DELETE FROM entries WHERE sequence = 3",
    "first row": "DELETE FROM entries WHERE sequence = 1",
    "last row": "DELETE FROM entries WHERE sequence = 8",
    "last row and count": "DELETE FROM entries WHERE sequence = 8; UPDATE head SET count = 7",
    "all rows": "DELETE FROM entries",
    "insert": "INSERT INTO entries SELECT 9, time, 'init', 'new', NULL, '9/1', NULL, '', NULL, checksum, NULL, NULL "
    "FROM entries WHERE sequence = 8",
    "insert, and count": "INSERT INTO entries SELECT 9, time, 'init', 'new', NULL, '9/1', NULL, '', NULL, checksum, "
    "NULL, NULL FROM entries WHERE sequence = 8; UPDATE head SET count = 9",
    "swap": "UPDATE entries SET sequence = -1 WHERE sequence = 3; UPDATE entries SET sequence = 3 WHERE sequence = 5; "
    "UPDATE entries SET sequence = 5 WHERE sequence = -1",
    "count": "UPDATE head SET count = 7",
    "head checksum": "UPDATE head SET checksum = ''",
    "key": "UPDATE head SET key = zeroblob(32)",
    "key as text": "UPDATE head SET key = 'secret'",
    "no head": "DELETE FROM head",
    "two heads": "INSERT INTO head SELECT * FROM head",
    "no table": "DROP TABLE head",
    "another table": "CREATE TABLE more (a)",
    "another column": "ALTER TABLE entries ADD COLUMN more TEXT",
    "trigger": "CREATE TRIGGER undo AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(spent: Ledger, path: Path, edit: str) -> None:
    """Whatever is changed with an SQL tool, the ledger refuses to work, to charge and to be shown."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(EDITS[edit])
    before = path.read_bytes()
    for use in (spent.show, spent.log, lambda: spent.charge("orders", "1/100"), lambda: spent.init("new", 1)):
        with pytest.raises(LedgerError, match=r"is damaged or was edited.*Restore it from a backup"):
            use()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        ("amount", "row 3 or the one before it was changed"),
        ("text that is no UTF-8", "row 3 or the one before it was changed"),
        ("row in the middle", "row 3 is missing"),
        ("last row", "rows after row 7 are missing"),
        ("another table", "its tables are not those that privmine made"),
    ],
)
def test_the_place_of_an_edit_is_named(spent: Ledger, path: Path, edit: str, place: str) -> None:
    """The error says where the ledger was changed."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(EDITS[edit])
    with pytest.raises(LedgerError, match=place):
        spent.show()


def test_harmless_maintenance_is_not_an_edit(spent: Ledger, path: Path) -> None:
    """Compacting the file with an SQL tool changes nothing that is said in it."""
    before = spent.log()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    assert spent.log() == before


def attempt(use: Callable[[], object]) -> object:
    """What a use of a damaged ledger gives, or None where it is refused in a sentence; no other error is caught."""
    try:
        return use()
    except LedgerError as error:
        return None if str(error).endswith(".") else error


def test_flipped_bytes(spent: Ledger, path: Path) -> None:
    """Of 500 random flips of a byte, each gives a LedgerError or no more budget than before; a charge, too."""
    random = Random("flips")  # noqa: S311
    whole = path.read_bytes()
    used = [position for position, byte in enumerate(whole) if byte]  # most of the file is slack
    budgets = spent.show()
    refused = 0
    for trial in range(500):
        # 100 flips in SQLite's header, 300 in bytes that are used, 100 anywhere.
        position = random.randrange(100) if trial % 5 == 0 else random.choice(used)
        position = random.randrange(len(whole)) if trial % 5 == 1 else position
        damaged = bytearray(whole)
        damaged[position] ^= random.randrange(1, 256)
        path.write_bytes(damaged)
        shown = attempt(spent.show)
        assert shown in (budgets, None)
        refused += shown is None
        if attempt(lambda: spent.charge("orders", "1/100")):
            assert spent.budget("orders").remaining_epsilon == budgets[0].remaining_epsilon - Fraction(1, 100)
    assert refused > 250


def test_damage_beside_the_rows(spent: Ledger, path: Path) -> None:
    """A file whose rows are right, but whose free pages are not, is not written to."""
    whole = bytearray(path.read_bytes())
    whole[36:40] = (3).to_bytes(4, "big")  # SQLite's header: the number of free pages
    path.write_bytes(whole)
    with pytest.raises(LedgerError, match="SQLite finds it inconsistent"):
        spent.charge("orders", "1/100")
    assert path.read_bytes() == whole


def test_zeroed_and_repeated_blocks(spent: Ledger, path: Path) -> None:
    """A lost or misplaced block of the disk is noticed, or was not in use."""
    whole = path.read_bytes()
    budgets = spent.show()
    for start in range(0, len(whole), 512):
        for block in (bytes(512), whole[:512], whole[-512:]):
            path.write_bytes(whole[:start] + block + whole[start + 512 :])
            assert attempt(spent.show) in (budgets, None)


def chained(*rows: Row) -> tuple[Head, list[Row]]:
    """Rows with right checksums, as only a forger would write them."""
    head, sealed = Head.of_nothing(b"key"), []
    for row in rows:
        row, head = head.followed_by(row)
        sealed.append(row)
    return head, sealed


def row(
    sequence: int, event: str, epsilon: str | None = None, charge: int | None = None, dataset: str = "orders"
) -> Row:
    """A row without the rest."""
    return Row(sequence, "2026-01-01T00:00:00+00:00", event, dataset, charge, epsilon, None, "")


FORGED = {
    "charged more than there was": [row(1, "init", "1/1"), row(2, "charge", "2/1")],
    "charge before init": [row(1, "charge", "1/1")],
    "second init": [row(1, "init", "1/1"), row(2, "init", "2/1")],
    "init without total": [row(1, "init")],
    "charge of nothing": [row(1, "init", "1/1"), row(2, "charge")],
    "negative charge": [row(1, "init", "1/1"), row(2, "charge", "-1/1")],
    "end of no charge": [row(1, "init", "1/1"), row(2, "finished", charge=1)],
    "end of another dataset's charge": [
        row(1, "init", "1/1"),
        row(2, "charge", "1/2"),
        row(3, "failed", charge=2, dataset="visits"),
    ],
    "charge with a δ of a pure budget": [row(1, "init", "1/1"), evolve(row(2, "charge", "1/2"), delta="1/9")],
    "charge without a δ of a budget with one": [evolve(row(1, "init", "1/1"), delta="1/9"), row(2, "charge", "1/2")],
    "charged more δ than there was": [
        evolve(row(1, "init", "1/1"), delta="1/9"),
        evolve(row(2, "charge", "1/2"), delta="1/8"),
    ],
    "charge that ends twice": [
        row(1, "init", "1/1"),
        row(2, "charge", "1/2"),
        row(3, "failed", charge=2),
        row(4, "finished", charge=2),
    ],
    "charge with a unit": [row(1, "init", "1/1"), evolve(row(2, "charge", "1/2"), unit="customer_id")],
    "unit that is none": [evolve(row(1, "init", "1/1"), unit="transaction")],
    "details that are no JSON": [evolve(row(1, "init", "1/1"), details="by: me")],
    "details that are no texts": [evolve(row(1, "init", "1/1"), details='{"by": 7}')],
    "details written in another way": [evolve(row(1, "init", "1/1"), details='{"by":"me"}')],
    "details of a later version": [evolve(row(1, "init", "1/1"), details='{"colour": "red"}')],
    "details that steer a terminal": [evolve(row(1, "init", "1/1"), details='{"by": "\\u001b[2J"}')],
    "text that steers a terminal": [evolve(row(1, "init", "1/1"), note="\x1b[2J")],
    "name that is turned around": [row(1, "init", "1/1", dataset="\u202eorders")],
    "unknown event": [row(1, "refund", "1/1")],
    "time": [evolve(row(1, "init", "1/1"), time="yesterday")],
    "local time": [evolve(row(1, "init", "1/1"), time="2026-01-01T00:00:00")],
}


@pytest.mark.parametrize("kind", FORGED)
def test_rows_that_privmine_would_not_write(kind: str) -> None:
    """Rows that make no sense are refused even where their checksums are right."""
    head, rows = chained(*FORGED[kind])
    verify(head, rows)
    with pytest.raises(AlteredError):
        Book.replay(rows).entries()


@pytest.mark.parametrize(
    "text",
    ["", "1", "0/1", "-1/2", "1/0", "2/4", "01/2", "1/2 ", " 1/2", "1/2\n", "٣/4", "1e1/1", "0.5", "9" * 5000 + "/1"],
)
def test_amounts_are_read_strictly(text: str) -> None:
    """Only the one way in which an amount is written is read."""
    with pytest.raises(AlteredError):
        read_fraction(text)
