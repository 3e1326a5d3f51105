"""What is asked of a run is checked before any data is read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import privmine as pm
from privmine.errors import InputError, LedgerError, PrivmineError, UnknownNameError
from privmine.model import Origin
from privmine.option_names import READING_OPTIONS, RUN_OPTIONS
from privmine.pipeline.request import Wish
from privmine.privacy.unit import Unit

#: What no data can grant.
MISTAKES: list[tuple[dict[str, Any], type[PrivmineError], str]] = [
    ({"epsilon": None}, InputError, "Specify the privacy budget"),
    ({"epsilon": 0}, InputError, "greater than 0"),
    ({"epsilon": float("nan")}, InputError, "must be finite"),
    ({"epsilon": 10**5}, InputError, "between"),
    ({"k": 0}, InputError, "at least 1"),
    ({"k": 2.5}, InputError, "whole number"),
    ({"k": 10_001}, InputError, "at most 10,000"),
    ({"max_length": 0}, InputError, "max_length"),
    ({"seed": 1}, InputError, "simulate=True"),
    ({"strict": True}, InputError, "items="),
    ({"dataset": "orders"}, InputError, "ledger="),
    ({"ledger": "budget.db"}, InputError, "dataset="),
    ({"ledger": 5, "dataset": "orders"}, InputError, "not int"),
    ({"ledger": "nowhere.db", "dataset": "orders"}, LedgerError, "nowhere.db"),
    ({"ledger": "budget.db", "dataset": "order"}, UnknownNameError, "'orders'"),
    ({"ledger": "budget.db", "dataset": "orders", "epsilon": 4}, pm.BudgetError, "exceeds"),
    ({"ledger": "budget.db", "dataset": "customers"}, InputError, "one customer_id"),
    ({"ledger": "budget.db", "dataset": "orders", "simulate": True}, InputError, "protects nobody"),
    ({"ledger": "budget.db", "dataset": "orders", "n_public": True}, InputError, "n_public"),
    ({"output": "top.doc"}, InputError, "format"),
]
OF_THE_ESTIMATOR = [case for case in MISTAKES if "output" not in case[0]]


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> pm.Ledger:
    """A ledger in the current folder."""
    monkeypatch.chdir(tmp_path)
    ledger = pm.Ledger("budget.db")
    ledger.init("orders", 3)
    ledger.init("customers", 3, unit="customer_id")
    return ledger


def unread() -> Iterator[list[str]]:
    """Baskets that must not be read."""
    pytest.fail("the data was read")
    yield []


@pytest.mark.parametrize(("changes", "error", "words"), MISTAKES)
def test_mine_refuses_before_it_reads_baskets(ledger, changes, error, words) -> None:
    """A generator is not even begun, and nothing is charged."""
    with pytest.raises(error, match=words):
        pm.mine(unread(), **{"k": 5, "epsilon": 1, **changes})
    assert all(not budget.spent_epsilon for budget in ledger.show())


@pytest.mark.parametrize(("changes", "error", "words"), OF_THE_ESTIMATOR)
def test_the_estimator_refuses_before_it_reads(ledger, changes, error, words) -> None:
    """Whatever it is fitted to."""
    with pytest.raises(error, match=words):
        pm.ItemsetMiner(**{"k": 5, "epsilon": 1, **changes}).fit(unread())
    assert all(not budget.spent_epsilon for budget in ledger.show())


def test_the_estimator_knows_unit_and_universe_before_it_reads(ledger) -> None:
    """As its own options name them, or as transactions have them that are read already."""
    with pytest.raises(InputError, match="does not cover publishing"):
        pm.ItemsetMiner(5, 1, n_public=True, unit=["a"], max_baskets=2).fit(unread())
    with pytest.raises(InputError, match="one customer_id"):
        pm.ItemsetMiner(5, 1, ledger=ledger, dataset="orders", merge_by="customer_id").fit(unread())
    read = pm.read([["a"], ["b"]], items=["a", "b"])
    options: dict[str, Any] = {"strict": True, "simulate": True}
    assert pm.ItemsetMiner(1, 1, **options).fit(read).release_.receipt
    assert pm.ItemsetMiner(1, 1, items=["a", "b"], **options).fit([["a"]]).release_.receipt


def test_the_estimator_refuses_a_guess_before_it_reads_rows(tmp_path) -> None:
    """In strict mode; the bad row at the end is not met."""
    rows = "".join(f"{row},p{row % 3}\n" for row in range(60_000))
    (tmp_path / "orders.csv").write_bytes(b"order_id,product\n" + rows.encode() + b"1,\xff\n")
    strict: dict[str, Any] = {"strict": True, "items": ["p1"]}
    with pytest.raises(InputError, match="was detected"):
        pm.ItemsetMiner(1, 1, **strict).fit(tmp_path / "orders.csv")
    with pytest.raises(PrivmineError, match="is not UTF-8 text"):
        pm.ItemsetMiner(1, 1, transaction="order_id", item="product", **strict).fit(tmp_path / "orders.csv")


def test_a_wish_knows_what_would_be_left(ledger) -> None:
    """Without charging it."""
    wish = Wish(5, "0.5", ledger="budget.db", dataset="orders")
    left = wish.left(Unit())
    assert left is not None
    assert left.remaining_epsilon == pm.Ledger("budget.db").budget("orders").remaining_epsilon - wish.epsilon
    assert Wish(5, 1).left(Unit()) is None


def test_a_wish_is_granted_where_nothing_is_wrong() -> None:
    """Strictness asks for a named universe, and for a layout that was not guessed."""
    strict = Wish(5, 1, strict=True)
    strict.check(Unit(), universe_given=True)
    strict.check_origin(Origin("long", "orders.csv"))
    guessed = Origin("long", "orders.csv", {"transaction": "order_id"})
    with pytest.raises(InputError, match=r"pm\.read\(…, transaction='order_id'\)"):
        strict.check_origin(guessed)
    with pytest.raises(InputError, match=r"what was detected: --transaction order_id\."):
        strict.check_origin(guessed, "--transaction order_id")
    Wish(5, 1).check_origin(Origin("long", "orders.csv", {"transaction": "order_id"}))


def test_options_of_reading_are_told_where_they_belong() -> None:
    """To `pm.read`; whatever the data is."""
    frame = pd.DataFrame({"order": [1, 1, 2], "product": ["x", "y", "x"]})
    with pytest.raises(InputError, match=r"pm\.mine\(pm\.read\(data, transaction=…, item=…\), k=…, epsilon=…\)"):
        pm.mine(frame, 2, 1, transaction="order", item="product")
    assert set(inspect.signature(pm.read).parameters) - {"source", "misplaced"} == READING_OPTIONS
    assert not READING_OPTIONS & set(inspect.signature(pm.Pipeline.run).parameters)


def test_options_of_a_release_are_told_where_they_belong() -> None:
    """To `pm.mine`, before any data is read; another name is told as unknown."""
    with pytest.raises(InputError, match=r"pm\.mine\(pm\.read\(data, …\), k=…, epsilon=…, strict=…\)"):
        pm.read("nowhere.csv", strict=True)
    with pytest.raises(InputError, match=r"pm\.read\(data, …\), k=…, epsilon=…\)"):
        pm.read("nowhere.csv", epsilon=1)
    with pytest.raises(UnknownNameError, match="Did you mean 'transaction'"):
        pm.read("nowhere.csv", transactions="order_id")
    assert set(inspect.signature(pm.Pipeline.run).parameters) - {"self", "baskets"} | {"method"} == RUN_OPTIONS


@pytest.mark.parametrize("path", ["orders.csv", b"orders.csv", __file__])
def test_a_path_is_to_be_read_first(path) -> None:
    """A text is no collection of baskets."""
    with pytest.raises(InputError, match=r"pm\.mine\(pm\.read\("):
        pm.mine(path, 2, 1)


def test_a_frame_is_to_be_read_first() -> None:
    """Its columns must be named, which `pm.read` does."""
    with pytest.raises(InputError, match=r"pm\.read\(frame, transaction='order_id', item='product'\)"):
        pm.mine(pd.DataFrame({"order": [1], "product": ["x"]}), 2, 1)
