"""The log says what became of every charge; exports carry it, and never a source."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import warnings
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from privmine.errors import InputError, PrivmineWarning, UnknownNameError
from privmine.ledger import Ledger, LedgerCharge


def test_what_became_of_a_charge(ledger: Ledger) -> None:
    """A charge is finished, failed, or unfinished as long as nothing was recorded."""
    finished, failed, _unfinished = (ledger.charge("orders", 0.1) for _ in range(3))
    ledger.finish(finished)
    ledger.fail(failed, ValueError("row 7: bread, milk"))
    log = ledger.log("orders")
    assert [(entry.event, entry.charge, entry.state) for entry in log] == [
        ("init", None, ""),
        ("charge", None, "finished"),
        ("charge", None, "failed (stays charged)"),
        ("charge", None, "unfinished (charged, no result recorded)"),
        ("finished", finished.id, ""),
        ("failed", failed.id, ""),
    ]
    assert log[-1].note == "ValueError"
    assert ledger.budget("orders").spent_epsilon == Fraction(3, 10)


def test_rows_are_numbered_and_dated(ledger: Ledger) -> None:
    """Entries are numbered from 1 without gaps, in UTC, with their amounts and notes."""
    ledger.charge("visits", "1/3", delta="1/7000", note="weekly top 100")
    log = ledger.log()
    assert [entry.sequence for entry in log] == [1, 2, 3]
    assert all(timedelta(0) <= datetime.now(UTC) - entry.time < timedelta(minutes=1) for entry in log)
    assert [(entry.epsilon, entry.delta) for entry in log] == [
        (1, None),
        (2, Fraction(1, 1000)),
        (Fraction(1, 3), Fraction(1, 7000)),
    ]
    assert log[-1].note == "weekly top 100"
    assert ledger.log("visits") == log[1:]


def test_a_charge_ends_once(ledger: Ledger) -> None:
    """An end is recorded once, and only for a charge of this ledger."""
    charge = ledger.charge("orders", 0.1)
    ledger.fail(charge, KeyboardInterrupt)
    for stranger in (LedgerCharge(99, "orders", Fraction(1)), LedgerCharge(charge.id, "visits", Fraction(1))):
        with pytest.raises(InputError, match="is not in the ledger"):
            ledger.finish(stranger)
    with pytest.raises(InputError, match="has already been recorded as ended"):
        ledger.finish(charge)


def test_an_odd_class_name_is_not_written(ledger: Ledger) -> None:
    """The class of an error is written only if it is a plain name."""
    ledger.fail(ledger.charge("orders", 0.1), type("bread, milk\n", (Exception,), {}))
    assert ledger.log()[-1].note == "Exception"


@pytest.mark.parametrize("note", ["two\nlines", "bell\a", "x" * 1001, None, "\ud800"])
def test_odd_notes(ledger: Ledger, note: object) -> None:
    """A note is one printable line."""
    with pytest.raises(InputError, match="A note"):
        ledger.charge("orders", 0.1, note=note)  # type: ignore[arg-type]
    assert ledger.budget("orders").spent_epsilon == 0


def test_csv(ledger: Ledger) -> None:
    """The CSV has one line an entry, with exact amounts."""
    ledger.finish(ledger.charge("orders", "1/3", note='say "a, b"'))
    text = ledger.export("csv", "orders")
    assert "\r" not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["sequence"] for row in rows] == ["1", "3", "4"]
    assert list(rows[0]) == list(ledger.log()[0].to_dict())
    assert (rows[1]["epsilon"], rows[1]["delta"], rows[1]["note"]) == ("1/3", "", 'say "a, b"')
    assert (rows[2]["event"], rows[2]["charge"]) == ("finished", "3")
    assert datetime.fromisoformat(rows[0]["time"]).tzinfo == UTC


def test_json(ledger: Ledger) -> None:
    """The JSON has budgets and entries, with exact amounts as text."""
    ledger.charge("visits", "1/3", delta="1/4000")
    document = json.loads(ledger.export("json"))
    assert [entry["event"] for entry in document["entries"]] == ["init", "init", "charge"]
    assert document["datasets"][1] == {
        "name": "visits",
        "definition": "(ε, δ)-differential privacy",
        "composition": "sums",
        "unit": "transaction",
        "total_epsilon": "2",
        "spent_epsilon": "1/3",
        "remaining_epsilon": "5/3",
        "total_delta": "1/1000",
        "spent_delta": "1/4000",
        "remaining_delta": "3/4000",
        "reserved_epsilon": "0",
        "reserved_delta": "0",
        "account": "",
        "part": "",
        "until": None,
    }
    assert [budget["name"] for budget in json.loads(ledger.export("json", "orders"))["datasets"]] == ["orders"]


def test_an_unknown_format(ledger: Ledger) -> None:
    """An unknown format is answered with the known ones."""
    with pytest.raises(UnknownNameError, match=r"'xml'.*csv, json"):
        ledger.export("xml")


def test_another_source_gives_a_warning(ledger: Ledger) -> None:
    """The first source charged to a name is remembered, and another one gets a warning, but is charged."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.charge("orders", 0.1)
        ledger.charge("orders", 0.1, source="june.csv")
        ledger.charge("orders", 0.1, source="june.csv")
        ledger.charge("orders", 0.1)
        ledger.charge("visits", 0.1, delta=1e-4, source="july.csv")
    with pytest.warns(PrivmineWarning, match="'orders' was first charged for another source") as caught:
        ledger.charge("orders", 0.1, source="july.csv")
    assert caught[0].filename == __file__
    with pytest.warns(PrivmineWarning):
        ledger.charge("orders", 0.1, source="july.csv")
    assert ledger.budget("orders").spent_epsilon == Fraction(6, 10)


def test_a_warning_turned_into_an_error_costs_nothing(ledger: Ledger) -> None:
    """The warning comes before the charge."""
    ledger.charge("orders", 0.1, source="june.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PrivmineWarning):
            ledger.charge("orders", 0.1, source="july.csv")
    assert ledger.budget("orders").spent_epsilon == Fraction(1, 10)


def test_a_source_is_never_shown(ledger: Ledger, path: Path) -> None:
    """Neither the source, its hash nor the key is in an export, in the log or in any repr; each ledger has its own."""
    charge = ledger.charge("orders", 0.1, source="/home/alice/june.csv")
    with closing(sqlite3.connect(path)) as connection:
        [fingerprint] = connection.execute("SELECT fingerprint FROM entries WHERE sequence = 3").fetchone()
        [key] = connection.execute("SELECT key FROM head").fetchone()
    shown = [
        ledger.export("csv"),
        ledger.export("json"),
        repr(ledger.log()),
        repr(ledger),
        repr(ledger.show()),
        repr(charge),
    ]
    kind, _, digest = fingerprint.partition(":")
    assert (kind, len(digest)) == ("public", 64)
    assert b"alice" not in path.read_bytes()
    assert not any(secret in text for text in shown for secret in ("alice", digest, key.hex(), repr(key)))

    other = Ledger(path.with_name("other.db"))
    other.init("orders", 1)
    other.charge("orders", 0.1, source="/home/alice/june.csv")
    with closing(sqlite3.connect(other.path)) as connection:
        assert connection.execute("SELECT fingerprint FROM entries WHERE sequence = 2").fetchone() != (fingerprint,)


def test_a_source_is_text(ledger: Ledger) -> None:
    """Bytes, such as a digest of the data, are refused."""
    with pytest.raises(InputError, match="must be text, not bytes"):
        ledger.charge("orders", 0.1, source=b"digest")  # type: ignore[arg-type]
