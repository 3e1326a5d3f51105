"""Who is protected: a transaction, a customer with a few of theirs, or one with all merged into one."""

from __future__ import annotations

import numpy as np
import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.privacy.unit import Unit
from privmine.store.transactions import Transactions

FIVE_EACH = Unit("customer_id", 5)
MERGED = Unit("customer_id", merged=True)


def customers(unit: Unit) -> Transactions:
    """Two customers: one with two baskets, one with six."""
    whose = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    return Transactions.from_codes(
        np.arange(9), np.arange(8) % 2, ["a", "b"], ["a", "b"], unit_of_row=whose, unit_labels=["x", "y"], unit=unit
    )


PRIVATE = {"simulate": False, "seed": None}


def run(baskets: Transactions, **options) -> pm.Release:
    return pm.mine(baskets, 3, 1, **({"simulate": True, "seed": 1} | options))


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (FIVE_EACH, "one customer_id, of whose transactions at most 5 are counted: adding or removing all that"),
        (MERGED, "one customer_id, whose transactions were merged into one: adding or removing all that"),
    ],
    ids=["bounded", "merged"],
)
def test_the_receipt_says_who_is_protected(unit: Unit, words: str) -> None:
    """By the name of the column, with what was done to that customer's transactions."""
    receipt = run(customers(unit), **PRIVATE).receipt
    assert receipt.protects.startswith(f"{words} one customer_id has changes")
    assert f"Protects: {words}" in str(receipt)
    assert "one transaction" not in str(receipt)


def test_the_default_says_that_it_is_no_customer() -> None:
    """Without a unit the receipt says plainly what is not protected."""
    protects = run(Transactions.from_lists([["a"], ["b"]]), **PRIVATE).receipt.protects
    assert protects.startswith("one transaction, not one customer: adding or removing it")


def test_errors_grow_with_the_transactions_of_a_unit() -> None:
    """A release for a customer with up to five has five times the standard errors of one for a merged customer."""
    five, one = run(customers(FIVE_EACH)), run(customers(MERGED))
    errors = {found.items: found.standard_error for found in one}
    assert len(errors) == 3
    for found in five:
        assert found.standard_error == pytest.approx(5 * errors[found.items])
    assert five.total_error == pytest.approx(5 * one.total_error)


def test_publishing_n_is_for_units_of_one_transaction() -> None:
    """Replacing a customer by another one can change N, so that N cannot be published beside the release."""
    with pytest.raises(InputError, match=r"up to 5 transactions for each customer_id.*merge_by="):
        run(customers(FIVE_EACH), n_public=True)
    assert run(customers(MERGED), n_public=True).total == 2


def test_a_ledger_refuses_another_unit_before_it_charges(tmp_path) -> None:
    """A run whose ε is per transaction does not count on a budget per customer; neither does the reverse."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2)
    ledger.init("sales", 2, unit="customer_id")
    private = {"simulate": False, "seed": None, "ledger": ledger}
    with pytest.raises(InputError, match="is counted for one transaction, but this run protects one customer_id"):
        run(customers(MERGED), **private, dataset="orders")
    with pytest.raises(InputError, match="is counted for one customer_id, but this run protects one transaction"):
        run(Transactions.from_lists([["a"], ["b"]]), **private, dataset="sales")
    assert [budget.spent_epsilon for budget in ledger.show()] == [0, 0]
    run(customers(FIVE_EACH), **private, dataset="sales")
    assert ledger.budget("sales").spent_epsilon == 1
