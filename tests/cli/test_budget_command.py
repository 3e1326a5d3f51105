"""`privmine budget`: budgets, their units and their history on the command line."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from click.testing import CliRunner

from privmine.cli.commands import cli
from privmine.errors import InputError
from privmine.ledger import Ledger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli, ["budget", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_init_says_for_whom(path) -> None:
    """The sentence names total, unit and file; the unit is a transaction unless another is named."""
    said = run("init", "--ledger", path, "--dataset", "orders", "--epsilon", "3")
    assert said == f"orders has a budget of ε = 3 for one transaction in {path}.\n"
    said = run("init", "--ledger", path, "--dataset", "sales", "-e", "1/3", "--unit", "customer_id")
    assert "sales has a budget of ε = 1/3 ≈ 0.333333 for one customer_id in" in said
    assert [made.unit for made in Ledger(path).show()] == ["transaction", "customer_id"]


def test_a_budget_with_delta_says_what_can_charge_it(path) -> None:
    """A budget of (ε, δ) pays for releases that have a δ."""
    said = run("init", "--ledger", path, "--dataset", "orders", "--epsilon", "3", "--delta", "1e-6")
    assert "ε = 3, δ = 1e-06" in said
    assert "--delta D" in said


def test_show_and_log_have_the_unit(path) -> None:
    """As tables, as JSON and as CSV."""
    ledger = Ledger(path)
    ledger.init("orders", 3)
    ledger.init("sales", 1, unit="customer_id")
    ledger.finish(ledger.charge("sales", "1/4", unit="customer_id", note="first"))
    shown = run("show", "--ledger", path).splitlines()
    assert re.split(r"\s{2,}", shown[0].strip())[:2] == ["dataset", "unit"]
    assert shown[1].split() == ["orders", "transaction", "3", "0", "3"]
    assert shown[2].split() == ["sales", "customer_id", "1", "0.25", "0.75"]
    assert [made["unit"] for made in json.loads(run("show", "--ledger", path, "--json"))] == [
        "transaction",
        "customer_id",
    ]
    log = run("log", "--ledger", path, "--dataset", "sales").splitlines()
    assert len(log) == 4
    assert "for one customer_id" in log[1]
    rows = list(csv.DictReader(io.StringIO(run("log", "--ledger", path, "--csv"))))
    assert [row["unit"] for row in rows] == ["transaction", "customer_id", "customer_id", "customer_id"]
    entries = json.loads(run("log", "--ledger", path, "--json", "--dataset", "sales"))["entries"]
    assert {entry["unit"] for entry in entries} == {"customer_id"}


def test_one_form_at_a_time(path) -> None:
    """CSV and JSON at once is neither."""
    Ledger(path).init("orders", 3)
    with pytest.raises(InputError, match="Choose one"):
        run("log", "--ledger", path, "--csv", "--json")


def test_a_log_of_80_columns_breaks_no_words(path, monkeypatch) -> None:
    """Cells are folded between words, and δ has a column only where a budget has one."""
    monkeypatch.setattr("privmine.cli.screen.PIPE_WIDTH", 80)
    ledger = Ledger(path)
    ledger.init("orders", 3, unit="customer_id")
    note = "privbasis, k = 10, at most 3 transactions a customer_id"
    ledger.finish(ledger.charge("orders", "1/4", unit="customer_id", note=note))
    ledger.charge("orders", "1/4", unit="customer_id", note=note)
    shown = run("log", "--ledger", path)
    assert max(map(len, shown.splitlines())) <= 80
    words = shown.split()
    for word in ("customer_id", "finished", "unfinished", "recorded)", "transactions", "privbasis,", "0.25"):
        assert word in words
    assert "δ" not in shown
    assert "δ" not in run("show", "--ledger", path)
    ledger.init("visits", 3, delta=1e-6)
    assert "δ" in run("log", "--ledger", path)
    assert "total δ" in run("show", "--ledger", path)
