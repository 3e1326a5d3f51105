"""A budget is counted for one unit of protection, for good; ledgers from before units keep working."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from privmine.errors import BudgetError, InputError, LedgerError
from privmine.ledger import Ledger


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


@pytest.fixture
def customers(ledger: Ledger) -> Ledger:
    """A ledger whose dataset "sales" is counted for one customer, beside two for one transaction."""
    ledger.init("sales", epsilon=1, unit="customer_id")
    return ledger


def test_a_budget_knows_its_unit(customers: Ledger) -> None:
    """One transaction unless another unit was named; every way of looking at a ledger shows it."""
    assert [budget.unit for budget in customers.show()] == ["transaction", "transaction", "customer_id"]
    customers.charge("sales", "1/2", unit="customer_id")
    assert [entry.unit for entry in customers.log("sales")] == ["customer_id", "customer_id"]
    assert {entry["unit"] for entry in csv.DictReader(io.StringIO(customers.export("csv", "orders")))} == {
        "transaction"
    }
    assert customers.budget("sales").to_dict()["unit"] == "customer_id"


@pytest.mark.parametrize(
    ("dataset", "unit", "advice"),
    [
        ("orders", "customer_id", "Read the data without a unit"),
        ("sales", "transaction", "unit='customer_id' or merge_by='customer_id'"),
        ("sales", "household", "unit='customer_id' or merge_by='customer_id'"),
    ],
)
def test_units_are_not_mixed(customers: Ledger, dataset: str, unit: str, advice: str) -> None:
    """A charge for somebody else than the budget counts for is refused, with what to do, and costs nothing."""
    uses: list[Callable[..., object]] = [customers.charge, customers.check]
    for use in uses:
        with pytest.raises(InputError, match=advice):
            use(dataset, "1/10", unit=unit)
    assert customers.budget(dataset).spent_epsilon == 0
    assert [entry.event for entry in customers.log(dataset)] == ["init"]


def test_a_check_is_a_charge_without_the_charge(customers: Ledger, path: Path) -> None:
    """It tells what would be left, refuses what a charge would refuse, and changes no byte."""
    customers.charge("sales", "1/4", unit="customer_id")
    before = path.read_bytes()
    assert customers.check("sales", "1/2", unit="customer_id").remaining_epsilon == Fraction(1, 4)
    left = customers.check("visits", 1, "1/4000")
    assert (left.remaining_epsilon, left.remaining_delta) == (1, Fraction(3, 4000))
    with pytest.raises(BudgetError) as caught:
        customers.check("sales", 1, unit="customer_id")
    assert caught.value.remaining == Fraction(3, 4)
    with pytest.raises(InputError, match="cannot be added to it"):
        customers.check("visits", 1)
    assert path.read_bytes() == before


def test_the_name_of_a_unit_is_one_name(customers: Ledger) -> None:
    """Spellings that look the same are the same; what cannot be a name is refused in a sentence."""
    customers.init("café", 1, unit="cafe\u0301_id")
    customers.charge("café", 1, unit="caf\u00e9_id")
    for name in ("", " id", "a\nb", "x" * 201, 7):
        with pytest.raises(InputError, match="name of a unit"):
            customers.init("other", 1, unit=name)  # type: ignore[arg-type]


@pytest.mark.parametrize(("old", "number"), [("before_units.ledger", 1), ("with_contents.ledger", 2)])
def test_the_next_row_changes_the_format_and_no_row(path: Path, old: str, number: int) -> None:
    """A ledger of an earlier version is only read until it is written to; then earlier versions refuse it."""
    path.write_bytes((Path(__file__).parent / old).read_bytes())
    ledger = Ledger(path)
    before, whole, identity = ledger.log(), path.read_bytes(), ledger.identity
    assert format_of(path) == number
    assert path.read_bytes() == whole
    ledger.init("returns", epsilon=1, unit="customer_id")
    assert format_of(path) == 3
    assert ledger.log()[:-1] == before
    assert {entry.by for entry in before} == {""}
    assert ledger.log()[-1].host
    assert ledger.identity == identity
    charge = ledger.charge("returns", 1, unit="customer_id")
    assert charge.payment is not None
    assert charge.payment.ledger == identity


def test_a_refused_first_unit_leaves_the_format(ledger: Ledger, path: Path) -> None:
    """The format changes together with the row, or not at all."""
    before = path.read_bytes()
    with pytest.raises(InputError, match="already has a budget"):
        ledger.init("orders", epsilon=1, unit="customer_id")
    assert path.read_bytes() == before


def test_a_ledger_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """A file that privmine wrote before it knew of units has the same sums, and can be charged."""
    path = tmp_path / "budget.db"
    path.write_bytes((Path(__file__).parent / "before_units.ledger").read_bytes())
    ledger = Ledger(path)
    assert [(made.name, made.unit, made.remaining_epsilon) for made in ledger.show()] == [
        ("orders", "transaction", Fraction(2, 3)),
        ("visits", "transaction", Fraction(3, 2)),
    ]
    assert [entry.note for entry in ledger.log("orders")] == ["", "first", "", "", "ValueError"]
    ledger.charge("orders", "1/6")
    ledger.init("sales", 1, unit="customer_id")
    assert ledger.budget("orders").remaining_epsilon == Fraction(1, 2)


EDITS = {
    "another unit": "UPDATE entries SET unit = 'shop' WHERE dataset = 'sales'",
    "no unit": "UPDATE entries SET unit = NULL",
    "a unit for a transaction": "UPDATE entries SET unit = 'customer_id' WHERE sequence = 1",
    "a unit for a charge": "UPDATE entries SET unit = 'customer_id' WHERE event = 'charge'",
    "the unit as bytes": "UPDATE entries SET unit = CAST('customer_id' AS BLOB) WHERE dataset = 'sales'",
    "the format": "PRAGMA user_version = 1",
    "the format before": "PRAGMA user_version = 2",
    "the column": "ALTER TABLE entries DROP COLUMN unit",
    "column and format": "ALTER TABLE entries DROP COLUMN unit; PRAGMA user_version = 1",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_unit_is_noticed(customers: Ledger, path: Path, edit: str) -> None:
    """Who a budget protects is under the checksums like its total."""
    customers.charge("sales", "1/2", unit="customer_id")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(EDITS[edit])
    before = path.read_bytes()
    for use in (customers.show, lambda: customers.charge("sales", "1/100", unit="customer_id")):
        with pytest.raises(LedgerError, match="is damaged or was edited"):
            use()
    assert path.read_bytes() == before
