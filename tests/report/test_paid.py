"""Releases and the ledger that paid for them."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve
from report_releases import UNIT, orders

import privmine as pm
from privmine.errors import InputError, LedgerError
from privmine.privacy.payment import Payment
from privmine.report.paid import NamedRelease, books_of, together

TIME = "2026-11-18T12:00:00+00:00"
OLD = Path(__file__).parents[1] / "release"


def named(path: Path, name: str | None = None) -> NamedRelease:
    return NamedRelease(name or path.name, pm.load(path))


def changed(one: NamedRelease, name: str = "changed.json", **receipt: object) -> NamedRelease:
    return NamedRelease(name, evolve(one.release, receipt=evolve(one.receipt, **receipt)))


def test_the_row_that_paid_is_found(customers) -> None:
    """Dataset, number, amount and unit agree, so that nothing is doubtful."""
    file, ledger = customers
    books = books_of([named(file)], pm.Ledger(ledger))
    (paid,) = books.paid
    assert paid.row is not None
    assert (paid.row.sequence, paid.row.epsilon, books.doubts) == (paid.named.receipt.entry, 1, [])
    assert [charge.epsilon for charge in books.accounts["orders"].charges] == [
        Fraction(1, 4), Fraction(1, 2), Fraction(1, 8), 1,
    ]  # fmt: skip
    assert paid.time == paid.row.time == datetime.fromisoformat(str(paid.named.receipt.time))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "elsewhere"}, "Row 8 paid for another dataset or amount"),
        ({"payment": Payment(TIME, "0" * 32, 8, "0" * 64)}, "The ledger 000"),
        ({"cost": pm.api.PureDP().cost(2)}, "paid for another dataset or amount"),
        ({"payment": None}, "an earlier version of privmine made it"),
        ({"payment": None, "dataset": None, "entry": None}, "made without a ledger"),
        ({"private": False}, "simulated"),
        ({"unit": pm.api.Unit()}, f"Row 8 protects one {UNIT}, not one transaction"),
    ],
)
def test_what_does_not_fit_the_ledger_is_told(customers, change: dict, words: str) -> None:
    """A release of another ledger, of an older version, simulated or changed: a sentence each, and no row."""
    file, ledger = customers
    (paid,) = books_of([changed(named(file), **change)], pm.Ledger(ledger)).paid
    assert paid.doubtful
    assert paid.row is None
    assert words in paid.words


def test_a_run_that_did_not_finish_is_told(tmp_path) -> None:
    """A release whose charge the ledger holds for failed is paid for, and that is said beside it."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 9, unit=UNIT)
    release = pm.mine(orders(), k=3, epsilon=1, ledger=ledger, dataset="orders")
    (fine,) = books_of([NamedRelease("top.json", release)], ledger).paid
    assert "The ledger notes of it" not in fine.words
    charge = ledger.charge("orders", 1, unit=UNIT)
    other = evolve(release, receipt=evolve(release.receipt, entry=charge.id, payment=charge.payment))
    (paid,) = books_of([NamedRelease("other.json", other)], ledger).paid
    assert not paid.doubtful
    assert "The ledger notes of it: unfinished" in paid.words


def test_a_restored_backup_is_told(customers, tmp_path) -> None:
    """A copy of the ledger went on by itself: the same row of the same ledger, with another checksum."""
    file, _ = customers
    copy = tmp_path / "restored.db"
    receipt = pm.load(file).receipt
    backup = tmp_path / "backup.db"
    pm.Ledger(backup).init("orders", 9, unit=UNIT)
    shutil.copy(backup, copy)
    data = orders()
    before = pm.mine(data, k=3, epsilon=1, ledger=backup, dataset="orders")
    pm.mine(data, k=3, epsilon=1, ledger=copy, dataset="orders")
    assert before.receipt.payment is not None
    assert before.receipt.payment.ledger == pm.Ledger(copy).identity != receipt.payment.ledger
    (paid,) = books_of([NamedRelease("before.json", before)], pm.Ledger(copy)).paid
    assert paid.doubtful
    assert "an old copy of the ledger was put back" in paid.words
    (fine,) = books_of([NamedRelease("before.json", before)], pm.Ledger(backup)).paid
    assert not fine.doubtful


def test_two_releases_that_claim_one_row_are_told(customers) -> None:
    """A restored backup lets one row pay twice: both releases are marked, and each names the other."""
    file, ledger = customers
    first = named(file)
    second = NamedRelease("second.json", evolve(first.release, total=first.release.total + 1))
    for books in (books_of([first, second], pm.Ledger(ledger)), books_of([first, second], None)):
        assert [paid.doubtful for paid in books.paid] == [True, True]
        assert "It and second.json claim row 8" in books.paid[0].words
        assert "It and top.json claim row 8" in books.paid[1].words


def test_the_same_release_twice_is_refused(customers, tmp_path) -> None:
    """Also where it was saved in another format: it would be counted twice."""
    file, ledger = customers
    copy = tmp_path / "copy.csv"
    pm.load(file).save(copy)
    with pytest.raises(InputError, match=r"top.json and copy.csv hold the same release"):
        books_of([named(file), named(copy)], pm.Ledger(ledger))
    with pytest.raises(InputError, match="at least one release"):
        books_of([], None)


def test_without_a_ledger_the_receipt_is_quoted(customers) -> None:
    """Nothing is known of other releases, and nothing is claimed."""
    books = books_of([named(customers[0])], None)
    assert "It claims row 8 of the ledger" in books.paid[0].words
    assert not books.paid[0].doubtful
    assert books.accounts == {}
    assert books.paid[0].row is None


@pytest.mark.parametrize("version", ["version1", "version3"])
def test_releases_of_earlier_versions_can_be_looked_up(version: str, customers) -> None:
    """They were made before rows were noted."""
    (paid,) = books_of([named(OLD / version / "private.json")], pm.Ledger(customers[1])).paid
    assert paid.doubtful
    assert paid.row is None


def test_a_ledger_that_cannot_be_read_is_told(customers, tmp_path) -> None:
    """Missing, cut, of a future version, locked: the ledger's own sentence."""
    file, ledger = customers
    releases = [named(file)]
    with pytest.raises(LedgerError):
        books_of(releases, pm.Ledger(tmp_path / "missing.db"))
    cut = tmp_path / "cut.db"
    cut.write_bytes(ledger.read_bytes()[:5000])
    with pytest.raises(LedgerError):
        books_of(releases, pm.Ledger(cut))
    future = tmp_path / "future.db"
    shutil.copy(ledger, future)
    with sqlite3.connect(future) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(LedgerError, match="newer version"):
        books_of(releases, pm.Ledger(future))
    connection = sqlite3.connect(ledger)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(LedgerError, match="locked"):
            books_of(releases, pm.Ledger(ledger, timeout=0))
    finally:
        connection.rollback()
        connection.close()


def test_costs_add_up_exactly() -> None:
    """Pure ε is summed; δ is summed beside it; different units do not add up; a published N counts twice."""
    data = orders()
    pure = pm.mine(data, k=2, epsilon="0.1").receipt
    total, why = together([pure, pure, pure])
    assert total is not None
    assert total.epsilon == Fraction(3, 10)
    assert why.startswith("ε = 0.1 + 0.1 + 0.1")
    mixed = pm.mine(data, k=2, epsilon=1, delta="1e-6").receipt
    total, _ = together([pure, mixed])
    assert total is not None
    assert total.epsilon == Fraction(1, 10) + mixed.guarantee.epsilon
    assert total.delta == Fraction(1, 10**6)
    other = evolve(pure, unit=pm.api.Unit())
    assert together([pure, other])[0] is None
    published = evolve(pure, n_public=True)
    total, why = together([pure, published])
    assert total is not None
    assert total.epsilon == Fraction(4, 10)
    assert "replaces" in why
    assert together([evolve(pure, private=False)])[0] is None
