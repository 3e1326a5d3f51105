"""From frames of Spark to transactions: layouts, types, units, and what is refused."""

# ruff: noqa: SLF001 - the tests look into the store
from __future__ import annotations

import datetime
import decimal
import random

import numpy as np
import pytest

import privmine as pm
from privmine.api import DataError, InputError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def orders():
    """Rows of an order, a product and a customer; some customers have many orders, some are written in two ways."""
    generator = random.Random(5)  # noqa: S311 - made-up data
    rows = []
    for order in range(120):
        customer = generator.choice(["7", "7.0", " 7 ", "ann", "bob", "Café", "Cafe\u0301", *map(str, range(20, 50))])
        rows += [
            (order, generator.choice(["tea", "milk", "jam", "05", "5"]), customer)
            for _ in range(generator.randint(1, 6))
        ]
    generator.shuffle(rows)
    return rows


def in_memory(rows, names, **how):
    """The same rows as a table in memory."""
    import pyarrow as pa

    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return pm.read(pa.table(columns), **how)


LONG = {"transaction": "order_id", "item": "product"}


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"unit": "customer", "max_baskets": 1},
        {"unit": "customer", "max_baskets": 3},
        {"merge_by": "customer"},
        {"items": ["tea", "jam", "x"]},
        {"items": ["jam", "tea"], "unit": "customer", "max_baskets": 2},
    ],
    ids=str,
)
def test_long_rows_are_read_as_in_memory(session, held, orders, how) -> None:
    """The same transactions: with a unit, the same baskets of each, chosen by the same public rule."""
    frame = session.createDataFrame(orders, "order_id int, product string, customer string").repartition(5)
    found, expected = (
        pm.read(frame, **LONG, **how),
        in_memory(orders, ("order_id", "product", "customer"), **LONG, **how),
    )
    assert list(found.universe.labels) == list(expected.universe.labels)
    assert found.universe.given == expected.universe.given
    assert held(found.store) == held(expected.store)
    assert found.unit == expected.unit
    assert found.store.count() == expected.store.count()


def test_rows_without_a_transaction_can_be_merged(session, held, orders) -> None:
    """All that a customer has is one transaction."""
    frame = session.createDataFrame(orders, "order_id int, product string, customer string")
    found = pm.read(frame, item="product", merge_by="customer")
    expected = in_memory(orders, ("order_id", "product", "customer"), item="product", merge_by="customer")
    assert held(found.store) == held(expected.store)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"transaction": "id"},
        {"unit": "who", "max_baskets": 2},
        {"merge_by": "who"},
        {"transaction": "id", "unit": "who", "max_baskets": 1},
    ],
    ids=str,
)
def test_lists_are_read_as_in_memory(session, held, how) -> None:
    """Empty lists count, repeated items count once, and rows of one id are one transaction."""
    generator = random.Random(8)  # noqa: S311 - made-up data
    rows = [
        (generator.randrange(60), generator.randrange(12) + 0.0, [generator.randrange(-3, 30) for _ in range(size)])
        for size in (generator.choice([0, 1, 2, 6]) for _ in range(90))
    ]
    frame = session.createDataFrame(rows, "id bigint, who double, items array<smallint>").repartition(3)
    found = pm.read(frame, item="items", **how)
    expected = in_memory(rows, ("id", "who", "items"), item="items", **how)
    assert list(found.universe.labels) == list(expected.universe.labels)
    assert held(found.store) == held(expected.store)


LABELS = {
    "boolean": [True, False],
    "double": [1.0, 2.5, float("nan"), -0.0, 1e300],
    "float": [1.0, 0.1],
    "decimal(10,3)": [decimal.Decimal("1.500"), decimal.Decimal("2.000")],
    "date": [datetime.date(2026, 1, 2)],
    "timestamp_ntz": [datetime.datetime(2026, 1, 2, 3, 4, 5, 600000), datetime.datetime(2026, 1, 2)],
    "bigint": [2**62, -5],
    "string": ["", " x", "007", "7", "é", "a\nb", "🍎"],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_read_as_in_memory(session, held, kind) -> None:
    """Whatever their type: as items, as transactions and as units."""
    values = [value for value in LABELS[kind] if value != ""]
    rows = [(number, value, str(number % 3)) for number, value in enumerate(values * 2)]
    frame = session.createDataFrame(rows, f"id int, thing {kind}, who string")
    import pyarrow as pa

    arrow = pa.table({"id": [row[0] for row in rows], "thing": [row[1] for row in rows], "who": [r[2] for r in rows]})
    if kind == "float":
        arrow = arrow.set_column(1, "thing", arrow["thing"].cast(pa.float32()))
    for how in (
        {"transaction": "id", "item": "thing"},
        {"transaction": "thing", "item": "who"},
        {"transaction": "id", "item": "who", "unit": "thing", "max_baskets": 1},
    ):
        dropped = {} if how.get("unit") == "thing" else {"drop_missing": True}
        if kind == "double" and not dropped:
            continue  # a unit that is no number is refused
        found, expected = pm.read(frame, **how, **dropped), pm.read(arrow, **how, **dropped)
        assert list(found.universe.labels) == list(expected.universe.labels)
        assert held(found.store) == held(expected.store)


def test_missing_values_are_refused_or_dropped(session, held) -> None:
    """An item or a transaction on request; a unit never."""
    rows = [(1, "tea", "ann"), (1, None, "ann"), (None, "jam", "bob"), (2, "jam", "bob"), (3, None, "bob")]
    frame = session.createDataFrame(rows, "order_id int, product string, customer string")
    for column in ("product", "order_id"):
        whole = frame.where("product is not null") if column == "order_id" else frame.where("order_id is not null")
        with pytest.raises(DataError, match=rf"missing values in the column '{column}'.*drop_missing=True"):
            pm.read(whole, **LONG)
    found = pm.read(frame, **LONG, drop_missing=True)
    expected = in_memory(rows, ("order_id", "product", "customer"), **LONG, drop_missing=True)
    assert held(found.store) == held(expected.store) == [(), (0,), (1,)]
    for value in (None, "  "):
        nobody = session.createDataFrame(
            [(1, "tea", "ann"), (2, "tea", value)], "order_id int, product string, c string"
        )
        with pytest.raises(DataError, match=r"missing values in the column 'c'\. Every row must say whose it is"):
            pm.read(nobody, **LONG, unit="c", max_baskets=1, drop_missing=True)
    lists = session.createDataFrame([(["a", None],), (None,)], "items array<string>")
    with pytest.raises(DataError, match="missing values in the column 'items'"):
        pm.read(lists)
    assert held(pm.read(lists, drop_missing=True).store) == [(), (0,)]


def test_odd_names_of_columns_are_found(session, held) -> None:
    """Dots, backticks, blanks, and names that differ in case only."""
    frame = session.createDataFrame(
        [(1, "a", "b"), (1, "c", "d")], "`or.der``s` int, `the item` string, `The Item` string"
    )
    found = pm.read(frame, transaction="or.der`s", item="the item")
    assert list(found.universe.labels) == ["a", "c"]
    assert found.origin.columns == (("transaction", "or.der`s"), ("item", "the item"))


def test_what_is_guessed_is_told(session) -> None:
    """The only column needs no guess; of several columns the one with lists is guessed, and strict mode refuses."""
    frame = session.createDataFrame([(["a"], 1)], "items array<string>, number int")
    assert pm.read(frame.select("items")).origin.guess == ""
    found = pm.read(frame)
    assert found.origin.guess == "item='items'"
    with pytest.raises(InputError, match="item"):
        pm.mine(found, k=1, epsilon=1, strict=True)


REFUSED = [
    ("items array<string>, id int", {"item": "item"}, "no column 'item'. Its columns are: items, id"),
    ("a int, b string", {}, "not clear which column of the Spark frame has the items"),
    ("a int, b string", {"item": "b"}, "transaction= must name the column"),
    ("a int, b string", {"item": "b", "transaction": "b"}, "cannot be the item and the transaction at once"),
    ("a int, b string", {"item": "b", "unit": "b", "max_baskets": 1}, "cannot be the item and the unit at once"),
    ("a array<string>", {"layout": "long", "item": "a"}, "contains lists"),
    ("a int, b string", {"layout": "list", "item": "b"}, "contains no lists"),
    ("a int, b int", {"layout": "one-hot"}, "layout long or list, not one-hot"),
    ("a int, b binary", {"transaction": "a", "item": "b"}, "type binary, which holds no labels"),
    ("a int, b map<string,int>", {"transaction": "a", "item": "b"}, "type map, which holds no labels"),
    ("a struct<x:int>, b string", {"transaction": "a", "item": "b"}, "type struct, which holds no labels"),
    ("a int, b array<array<int>>", {"item": "b"}, "type array, which holds no labels"),
    ("a int, b timestamp", {"transaction": "a", "item": "b"}, "depends on a time zone"),
    ("a int, a string", {"transaction": "a", "item": "a"}, "several columns named 'a'"),
    ("a int, b string", {"transaction": "a", "item": "b", "separator": ","}, "does not take separator="),
    (
        "a int, b string",
        {"transaction": "a", "item": "b", "unit": ["x"], "max_baskets": 1},
        "name of one of its columns",
    ),
]


@pytest.mark.parametrize(("schema", "how", "said"), REFUSED, ids=[said for _, _, said in REFUSED])
def test_what_does_not_fit_is_refused_before_any_row_is_read(session, schema, how, said) -> None:
    """By the schema and the options alone."""
    frame = session.createDataFrame([], schema)
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        pm.read(frame, **how)


def test_a_frame_without_rows_is_read_if_the_universe_is_named(session) -> None:
    """As in memory: whether there are rows is private. Without a universe nothing can be mined or charged."""
    empty = session.createDataFrame([], "items array<string>")
    assert pm.read(empty, items=["tea"]).store.item_supports().tolist() == [0]
    release = pm.mine(pm.read(empty, items=["tea"]), k=1, epsilon=1, simulate=True, seed=1)
    assert list(release) == list(pm.mine(pm.read([[]][:0], items=["tea"]), k=1, epsilon=1, simulate=True, seed=1))
    with pytest.raises((InputError, DataError), match="item"):
        pm.mine(pm.read(empty), k=1, epsilon=1)


def test_streams_and_ended_sessions_are_refused(session) -> None:
    """In a sentence that says what to do."""
    stream = session.readStream.format("rate").load()
    with pytest.raises(InputError, match="a stream, which has no end"):
        pm.read(stream, item="value", transaction="timestamp")


def test_a_transaction_of_a_hundred_thousand_items(session, held) -> None:
    """Is one like any other, beside skewed and empty partitions."""
    long = list(range(100_000))
    rows = [(long,), ([1, 2],), ([],)] + [([2, 3],)] * 500
    frame = (
        session.createDataFrame(rows, "items array<int>")
        .repartition(1)
        .union(session.createDataFrame([], "items array<int>").repartition(9))
    )
    found, expected = pm.read(frame, item="items"), pm.read([basket for (basket,) in rows])
    assert held(found.store) == held(expected.store)
    assert np.array_equal(found.store.item_supports(), expected.store.item_supports())
    assert found.store.lengths(None, 3).tolist() == expected.store.lengths(None, 3).tolist()
    flat = session.createDataFrame([(1, item) for item in range(30_000)] + [(2, 5)], "id int, item int")
    assert pm.read(flat, transaction="id", item="item").store.lengths(None, 30_000)[[1, 30_000]].tolist() == [1, 1]


def test_skewed_partitions_are_spread(session, monkeypatch) -> None:
    """One full partition among empty ones becomes as many as there are cores."""
    monkeypatch.setattr("privmine_spark.reading.PACKED_ITEMS", 100)
    monkeypatch.setattr("privmine_spark.reading._WORTH_ITEMS", 100)
    frame = session.createDataFrame([([number % 7, 9],) for number in range(2000)], "items array<int>").coalesce(1)
    store = pm.read(frame, item="items").store
    sizes = [sum(1 for _ in part) for part in store._packed.glom().collect()]
    assert len(sizes) == 2
    assert store.item_supports()[-1] == 2000
