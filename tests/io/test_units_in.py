"""Whose a row is: what a unit contributes depends on its own rows alone, however the rows come."""

from collections import Counter
from datetime import time
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.privacy.unit import Unit

#: Few customers, orders and items, so that orders are shared between customers and repeat.
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("abcd")), max_size=25)


def frame(triples):
    return pd.DataFrame(triples, columns=["customer", "order_id", "item"])


def baskets_of(transactions):
    """How often each basket occurs, by its labels."""
    labels, found = transactions.universe.labels.tolist(), transactions.store.rows
    items = [labels[item] for item in found.items.tolist()]
    return Counter(frozenset(items[start:stop]) for start, stop in pairwise(found.offsets.tolist()))


def long(triples):
    return pm.read(
        frame(triples), items=list("abcd"), transaction="order_id", item="item", unit="customer", max_baskets=2
    )


def merged(triples):
    return pm.read(frame(triples), items=list("abcd"), transaction="order_id", item="item", merge_by="customer")


def as_lists(triples):
    orders = {}
    for customer, order, item in triples:
        orders.setdefault((customer, order), []).append(item)
    table = pa.table(
        {
            "who": pa.array([who for who, _ in orders], pa.int64()),
            "items": pa.array(list(orders.values()), pa.list_(pa.string())),
        }
    )
    return pm.read(table, items=list("abcd"), item="items", unit="who", max_baskets=2)


@settings(max_examples=60)
@given(rows, st.integers(0, 3), st.randoms(use_true_random=False))
@pytest.mark.parametrize("way", [long, merged, as_lists])
def test_removing_a_customer_removes_what_she_kept(way, triples, customer, random):
    """Whatever rows the others have and in whatever order, a customer keeps the same baskets, at most so many."""
    others = [triple for triple in triples if triple[0] != customer]
    own = [triple for triple in triples if triple[0] == customer]
    shuffled = random.sample(triples, len(triples))
    everything = baskets_of(way(shuffled))
    assert everything - baskets_of(way(others)) == baskets_of(way(own))
    assert baskets_of(way(own)).total() <= (1 if way is merged else 2)
    assert everything == baskets_of(way(triples))


def test_an_order_number_under_two_customers_is_two_orders():
    """A transaction never has rows of two units."""
    triples = [(1, 7, "a"), (2, 7, "b"), (2, 7, "c")]
    assert baskets_of(long(triples)) == Counter({frozenset("a"): 1, frozenset("bc"): 1})
    without = pm.read(frame(triples), transaction="order_id", item="item")
    assert baskets_of(without) == Counter({frozenset("abc"): 1})


@pytest.mark.parametrize(
    "ids",
    [
        [12, "12", 12.0, np.int64(12), np.float32(12)],
        pd.Series([12, "12", 12.0, "12", 12], dtype=object),
        ["12"] * 5,
    ],
)
def test_a_customer_has_one_label(ids):
    """12, "12" and 12.0 are one customer, who does not count twice for having two types."""
    baskets = [["a"], ["b"], ["c"], ["d"], ["a", "b"]]
    assert pm.read(baskets, unit=ids, max_baskets=1).store.count() == 1
    assert pm.read(baskets, merge_by=ids).store.count() == 1


def test_a_customer_has_one_label_in_a_file(tmp_path):
    """In JSON a customer may be a number in one row and a text in another."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"who": 12, "items": ["a"]}\n{"who": "12", "items": ["b"]}\n{"who": 12.0, "items": ["c"]}\n')
    assert pm.read(path, unit="who", item="items", max_baskets=1).store.count() == 1


def test_what_a_customer_keeps_does_not_depend_on_how_others_are_called():
    """A fraction among the ids, or one that needs more than 64 bits, renames nobody else."""
    orders = [(float(2**52 + 1), order, item) for order, item in enumerate("abcdabcd")]
    alone = baskets_of(long(orders))
    for stranger in (0.5, 1e300):
        both = baskets_of(long([*orders, (stranger, 99, "d")]))
        assert both - alone == Counter({frozenset("d"): 1})


def test_what_a_customer_keeps_does_not_depend_on_what_others_buy():
    """Another's item may come before all others in the universe; a basket is told by its labels, not their places."""
    baskets = [[f"item {number}", f"item {number + 1}"] for number in range(40)]

    def kept(more):
        found = pm.read([*more, *baskets], unit=["newcomer"] * len(more) + ["customer"] * 40, max_baskets=5)
        return {basket for basket in baskets_of(found) if "first of all" not in basket}

    assert len(kept([])) == 5
    assert kept([["first of all"]]) == kept([])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_unit_is_always_refused(missing, tmp_path):
    """A row that does not say whose it is cannot be protected; it is not even dropped on request."""
    for drop in (False, True):
        with pytest.raises(InputError, match="missing"):
            pm.read([["a"], ["b"]], unit=["x", missing], max_baskets=1, drop_missing=drop)
        with pytest.raises(DataError, match="missing values in the column 'customer'"):
            pm.read(
                frame([("x", 1, "a"), (missing, 2, "b")]),
                unit="customer",
                max_baskets=1,
                item="item",
                drop_missing=drop,
            )
    path = tmp_path / "a.csv"
    path.write_text("customer_id,order_id,item\n1,1,a\n,2,b\n")
    with pytest.raises(DataError, match="missing values in the column 'customer_id'"):
        pm.read(path, merge_by="customer_id", drop_missing=True)


def test_the_unit_is_told():
    """Who is protected goes with the data, and into the receipt."""
    transactions = long([(1, 1, "a"), (2, 1, "b")])
    assert transactions.unit == Unit("customer", 2)
    assert "customer" in str(pm.mine(transactions, k=2, epsilon=1, simulate=True, seed=1).receipt)
    assert merged([(1, 1, "a")]).unit == Unit("customer", 1, merged=True)


def test_units_of_matrices_and_lines(tmp_path):
    """Where there are no columns, the unit is a sequence with an entry for each transaction."""
    path = tmp_path / "a.dat"
    path.write_text("0 1\n1\n0\n")
    for source, options in (
        (sparse.csr_array([[1, 1], [0, 1], [1, 0]]), {}),
        (np.array([[1, 1], [0, 1], [1, 0]]), {}),
        (path, {}),
        (path, {"names": ["x", "y"]}),
        ([["a", "b"], ["b"], ["a"]], {}),
    ):
        assert pm.read(source, unit=["p", "q", "p"], max_baskets=1, **options).store.count() == 2
        assert pm.read(source, merge_by=pd.Series(["p", "q", "p"], name="who"), **options).unit.name == "who"
        with pytest.raises(InputError, match="exactly one entry"):
            pm.read(source, unit=["p", "q"], max_baskets=1, **options)
    with pytest.raises(InputError, match="no columns here"):
        pm.read([["a"]], unit="who", max_baskets=1)


DAY = pd.Timestamp("2026-11-17")
#: Columns whose type has one scale or resolution, the ids of customers in them, and one that needs a finer one.
FINER = {
    "decimals": ([Decimal(number) for number in range(6)], Decimal("7.5")),
    "many decimals": ([Decimal(f"{number}.5") for number in range(6)], Decimal("0.000000125")),
    "floats": ([float(number) for number in range(6)], 0.5),
    "days": ([DAY + pd.Timedelta(days=number) for number in range(6)], DAY + pd.Timedelta(microseconds=1)),
    "seconds": ([pd.Timedelta(seconds=number) for number in range(6)], pd.Timedelta(microseconds=1)),
    "times": ([time(number) for number in range(6)], time(1, 2, 3, 456)),
}


def finest(values):
    """An Arrow array with the scale or the resolution that the finest of its values needs."""
    column = pa.array(values)
    for unit in ("s", "ms", "us"):
        kind = column.type
        try:
            if pa.types.is_timestamp(kind):
                return column.cast(pa.timestamp(unit))
            if pa.types.is_duration(kind):
                return column.cast(pa.duration(unit))
            if pa.types.is_time(kind):
                return column.cast(pa.time32(unit) if unit != "us" else pa.time64(unit))
        except pa.ArrowInvalid:
            continue
    return column


@pytest.mark.parametrize("way", ["arrow", "pandas", "polars", "lists"])
@pytest.mark.parametrize("kind", FINER)
def test_a_finer_value_renames_nobody(kind, way):
    """A column has one scale and one resolution; whoever needs a finer one changes nothing for others."""
    ids, stranger = FINER[kind]
    orders = [(who, order, "abcdefgh"[order * order // 7 % 8]) for order, who in enumerate(ids * 8)]

    def kept(triples):
        whose, numbers, items = map(list, zip(*triples, strict=True))
        options = {"items": list("abcdefgh"), "unit": "who", "max_baskets": 2}
        if way == "lists":
            return baskets_of(pm.read([[item] for item in items], **{**options, "unit": whose}))
        table = pa.table({"who": finest(whose), "order_id": numbers, "item": items})
        made = {"arrow": lambda: table, "pandas": table.to_pandas, "polars": lambda: pl.DataFrame(table)}[way]()
        return baskets_of(pm.read(made, transaction="order_id", item="item", **options))

    both, alone = kept([*orders, (stranger, 99, "d")]), kept(orders)
    assert both - alone == Counter({frozenset("d"): 1})
    assert not alone - both


@pytest.mark.parametrize("kind", FINER)
def test_a_finer_value_renames_no_item(kind):
    """The same for items, in a long table and in lists of Arrow and of Python."""
    known, stranger = FINER[kind]
    universe = [pm.read([[value]]).universe.labels.tolist()[0] for value in known]
    for values in (known, [*known, stranger]):
        column = finest(values)
        for found in (
            pm.read(pa.table({"order_id": range(len(values)), "item": column}), items=universe),
            pm.read(pa.table({"x": pa.ListArray.from_arrays(range(len(values) + 1), column)}), items=universe),
            pm.read([[value] for value in values], items=universe),
        ):
            assert found.store.item_supports().tolist() == [1] * len(known)


@pytest.mark.parametrize(
    "ids",
    [
        ["17", "17.0", " 17", "17.00 ", "17"],
        [Decimal("17.0"), 17, b"17", np.str_("17"), np.array(17)],
        [True, "true", b"true", np.True_, " true "],
        ["\u00e9", "e\u0301", "\u00e9 ", b"\xc3\xa9", "\u00e9"],
        [pa.scalar(17), pa.scalar(17.0), pa.scalar("17"), pa.scalar(Decimal("17.0")), 17.0],
        [np.datetime64("2026-11-17"), np.datetime64("2026-11-17T00:00:00.000"), DAY, str(DAY), DAY.to_pydatetime()],
    ],
)
def test_a_customer_is_one_however_written(ids, tmp_path):
    """Blanks, a fraction of zeros, the type and the form of accents make no second customer, who would count twice."""
    baskets = [["a"], ["b"], ["c"], ["d"], ["a", "b"]]
    assert pm.read(baskets, unit=ids, max_baskets=1).store.count() == 1
    texts = [each for each in ids if isinstance(each, str)]
    if len(texts) == len(ids):
        path = tmp_path / "a.csv"
        path.write_text("who,order_id,item\n" + "".join(f"{who},{n % 2},{n}\n" for n, who in enumerate(ids)))
        assert pm.read(path, unit="who", max_baskets=1).store.count() == 1
        # One customer's order is one order, whichever way each of its rows is written.
        assert pm.read(path, unit="who", max_baskets=9).store.count() == 2


def test_customers_who_differ_stay_apart():
    """Zeros in front, letters and real fractions tell customers apart, as they do items."""
    ids = ["7", "007", "7.5", "7.50", "x7", "7.0.0", "-7", "7e0"]
    assert pm.read([["a"]] * len(ids), unit=ids, max_baskets=1).store.count() == len(ids)
    # Of items only the type does not matter.
    assert len(pm.read([["17", "17.0", " 17", 17]]).universe) == 3


@pytest.mark.parametrize("nobody", ["", " ", "\t", b"", np.ma.masked, pa.scalar(None, pa.int64()), pa.scalar(None)])
def test_a_unit_that_is_nobody(nobody, tmp_path):
    """A blank, a masked cell and a null of Arrow are no unit: they would make one customer of many."""
    with pytest.raises(InputError, match="missing"):
        pm.read([["a"], ["b"]], unit=["x", nobody], max_baskets=1)
    if isinstance(nobody, str):
        path = tmp_path / "a.csv"
        path.write_text(f'who,order_id,item\n1,1,a\n"{nobody}",2,b\n')
        with pytest.raises(DataError, match="missing values in the column 'who'"):
            pm.read(path, unit="who", max_baskets=1, drop_missing=True)
