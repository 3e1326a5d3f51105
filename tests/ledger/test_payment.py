"""A charge is a payment that a receipt can name: time, ledger, row, checksum."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path

import pytest

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.ledger import Ledger
from privmine.privacy.payment import Payment

BASKETS = [["a", "b"], ["a"], ["b", "c"]] * 30


def test_a_charge_names_its_row(ledger: Ledger) -> None:
    """What the payment says of a row is what the log says of it; each ledger has its own identity."""
    payment = ledger.charge("orders", "1/3", origin="orders.csv").payment
    assert payment is not None
    entry = ledger.log()[payment.row - 1]
    assert (entry.time.isoformat(timespec="milliseconds"), entry.checksum) == (payment.time, payment.checksum)
    assert payment.ledger == ledger.identity
    assert (entry.by, entry.host, entry.origin) == (getpass.getuser(), platform.node(), "orders.csv")
    other = Ledger(ledger.path.with_name("other.db"))
    other.init("orders", 1)
    assert other.identity != ledger.identity


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".xlsx", ".plain.csv"])
def test_every_release_file_keeps_the_payment(ledger: Ledger, tmp_path: Path, suffix: str) -> None:
    """A release that was paid for says by which row, in every format, and loads with it."""
    target = tmp_path / f"release{suffix}"
    made = pm.mine(BASKETS, 3, 0.5, ledger=ledger, dataset="orders", output=target, plain=suffix == ".plain.csv")
    receipt = pm.load(target).receipt
    assert receipt == made.receipt
    assert receipt.payment is not None
    assert receipt.payment.row == receipt.entry == 3
    assert receipt.payment.checksum == ledger.log()[2].checksum
    assert receipt.time == receipt.payment.time
    assert f"Paid by: {receipt.payment}" in receipt.lines()
    assert f"Date: {receipt.time}" in receipt.lines()


def test_unpaid_and_simulated_releases(tmp_path: Path) -> None:
    """Without a ledger there is a date and no payment; a simulation has neither, and its file has no trace of them."""
    unpaid = pm.mine(BASKETS, 3, 1).receipt
    assert unpaid.payment is None
    assert unpaid.time is not None
    simulated = pm.mine(BASKETS, 3, 1, simulate=True, seed=1).receipt
    assert (simulated.payment, simulated.time) == (None, None)
    assert not {"payment", "time"} & simulated.to_dict().keys()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time", "yesterday"),
        ("time", "2026-01-01T00:00:00"),
        ("time", 7),
        ("ledger", "../../etc"),
        ("ledger", "AB" * 16),
        ("row", 0),
        ("row", True),
        ("row", "3"),
        ("checksum", "00"),
        ("checksum", None),
        ("colour", "red"),
    ],
)
def test_a_payment_is_read_strictly(ledger: Ledger, tmp_path: Path, field: str, value: object) -> None:
    """A file may come from anybody: what is no payment is refused in a sentence."""
    target = tmp_path / "release.json"
    pm.mine(BASKETS, 3, 0.5, ledger=ledger, dataset="orders", output=target)
    whole = json.loads(target.read_text())
    whole["receipt"]["payment"][field] = value
    target.write_text(json.dumps(whole))
    with pytest.raises(DataError, match="is not a release that privmine saved"):
        pm.load(target)


@pytest.mark.parametrize(
    "change",
    [
        {"entry": 4},
        {"time": "2020-01-01T00:00:00+00:00"},
        {"time": "noon"},
        {"dataset": None},
        {"payment": "row 3"},
    ],
)
def test_a_receipt_that_contradicts_its_payment(ledger: Ledger, change: dict[str, object]) -> None:
    """The number, the time and the dataset of a receipt go with its payment."""
    plain = pm.mine(BASKETS, 3, 0.5, ledger=ledger, dataset="orders").receipt.to_dict()
    pm.Receipt.from_dict(plain)
    with pytest.raises(InputError):
        pm.Receipt.from_dict(plain | change)


def test_a_payment_in_words() -> None:
    """Row, ledger and checksum, to be compared by eye."""
    paid = Payment("2026-01-01T00:00:00+00:00", "ab" * 16, 7, "cd" * 32)
    assert str(paid) == f"row 7 of ledger {'ab' * 16}, checksum {'cd' * 32}"
    assert Payment.from_dict(paid.to_dict()) == paid
