"""A release of data on Spark is that of the same data in memory."""

# ruff: noqa: SLF001 - the tests look into the store
from __future__ import annotations

import random

import pytest
from spark_data import DATASETS, METHODS, same_release

import privmine as pm
from privmine.errors import InputError
from privmine.testing import check_store

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def read(session):
    """Reads a dataset on Spark, once for each way to protect."""
    known = {}

    def reader(name, unit):
        if (name, unit) not in known:
            rows = [(int(who), list(basket)) for who, basket in DATASETS[name]]
            kind = "string" if isinstance(rows[0][1][0], str) else "int"
            frame = session.createDataFrame(rows, f"customer int, items array<{kind}>")
            how = {"unit": "customer", "max_baskets": 2} if unit else {}
            known[name, unit] = pm.read(frame, item="items", **how)
        return known[name, unit]

    return reader


@pytest.mark.parametrize("unit", [False, True], ids=["transactions", "customers"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DATASETS)
def test_a_release_is_that_of_the_store_in_memory(read, name, method, unit) -> None:
    """The same seed gives the same itemsets, counts, errors and laws."""
    same_release(read(name, unit), name, method, unit)


def test_the_store_counts_as_the_one_in_memory_does(session) -> None:
    """On several databases of the kit, each question before and after `persist`."""

    def make(baskets, items):
        frame = session.createDataFrame([(list(basket),) for basket in baskets], "items array<int>")
        return pm.read(frame, item="items", items=list(range(items)) or None).store

    check_store(make, databases=4)


def test_a_ledger_is_charged_once(read, tmp_path) -> None:
    """The charge is that of any store, and the receipt names what privmine relies on."""
    ledger = pm.Ledger(tmp_path / "budget.db")
    ledger.init("orders", epsilon=2, unit="customer")
    release = pm.mine(read("clicks", True), k=5, epsilon=1, ledger=ledger, dataset="orders")
    (charge,) = [entry for entry in ledger.log("orders") if entry.event == "charge"]
    assert (str(charge.epsilon), charge.state) == ("1", "finished")
    said = " ".join(release.receipt.assumptions)
    assert "the counting store is not privmine's own" in said
    assert "relies on the reader 'spark' of privmine-spark" in said
    assert "one customer" in str(release.receipt)


def test_a_plan_is_not_made_like_data_on_spark(read) -> None:
    """It would draw from the transactions, which stay on the executors."""
    with pytest.raises(InputError, match="baskets in memory or on disk"):
        pm.plan(k=5, epsilon=1, like=read("clicks", False), like_is_public=True)


def test_sums_that_are_many_are_added_by_executors(session, monkeypatch, held) -> None:
    """As they are where the driver adds all of them."""
    generator = random.Random(3)  # noqa: S311 - made-up data
    baskets = [tuple(generator.sample(range(50), 4)) for _ in range(200)]
    frame = session.createDataFrame([(list(basket),) for basket in baskets], "items array<int>")
    store = pm.read(frame.repartition(7), item="items").store
    expected = store.pair_supports(range(50)).tolist()
    monkeypatch.setattr("privmine_spark.cluster_store._COLLECTED_BYTES", 5000)
    store._partitions = 7
    assert store.pair_supports(range(50)).tolist() == expected
    assert sum(expected) == 200 * 6
