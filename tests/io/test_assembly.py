"""Rows in any order, batches of any size and keys of any type make the transactions that a dictionary makes."""

from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmine as pm
from privmine.io.readers import grouping

patient = settings(max_examples=80)
integers = st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1])
texts = st.sampled_from(["1", "01", "-1", "-0", "+1", " 1", "1.0", "", "9" * 30, "ä", "-", "x"]) | st.integers(
    -3, 3
).map(str)
floats = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 2.0**53, 2.0**60, 1e300])
kinds = st.sampled_from(
    [(integers, pa.int64()), (texts, pa.string()), (floats, pa.float64()), (texts, pa.large_string())]
)


@st.composite
def columns(draw, count):
    """A column of so many values of one type."""
    values, kind = draw(kinds)
    return pa.array(draw(st.lists(values, min_size=count, max_size=count)), kind)


def read_as(value):
    """How a value reads: whole floats as integers, up to where floats tell integers apart."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) <= 2**53
    return str(int(value)) if whole else str(value)


def baskets_of(transactions):
    labels, rows = list(map(str, transactions.universe.labels.tolist())), transactions.store.rows
    items = [labels[item] for item in rows.items.tolist()]
    return Counter(frozenset(items[start:stop]) for start, stop in pairwise(rows.offsets.tolist()))


@patient
@given(st.data(), st.integers(0, 20), st.integers(1, 7))
def test_long_tables(data, count, size):
    """Rows are one transaction if their keys read the same, and one item if their items do."""
    table = pa.table({"order": data.draw(columns(count)), "item": data.draw(columns(count))})
    expected = {}
    for row in table.to_pylist():
        expected.setdefault(read_as(row["order"]), set()).add(read_as(row["item"]))
    found = pm.read(table.to_reader(max_chunksize=size), transaction="order", item="item")
    assert baskets_of(found) == Counter(map(frozenset, expected.values()))


@pytest.mark.parametrize("bits", [6, 64])
@patient
@given(st.data(), st.integers(0, 15))
def test_keys_that_do_not_fit_are_numbered(bits, data, count):
    """Where owner, key and item do not fit into one number, the result is the same."""
    table = pa.table({name: data.draw(columns(count)) for name in ("who", "order", "item")})
    who = table["who"]
    if who.type in (pa.string(), pa.large_string()):
        # A blank one is none.
        table = table.set_column(0, "who", pa.array([value or "nobody" for value in who.to_pylist()], who.type))
    expected = {}
    for row in table.to_pylist():
        owner = read_as(row["who"])
        owner = {" 1": "1", "1.0": "1", "-0": "0"}.get(owner, owner)
        expected.setdefault((owner, read_as(row["order"])), set()).add(read_as(row["item"]))
    with pytest.MonkeyPatch.context() as patch:
        # As if a number had fewer bits: then keys are numbered in turn first.
        patch.setattr(grouping, "_KEY_BITS", bits)
        found = pm.read(table, transaction="order", item="item", unit="who", max_baskets=1000)
    assert baskets_of(found) == Counter(map(frozenset, expected.values()))


@patient
@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=12), st.integers(1, 5))
def test_lists_and_one_hot(baskets, size):
    """Lists and one-hot columns give the same transactions, empty ones as well, in batches of any size."""
    expected = Counter(frozenset(map(str, basket)) for basket in baskets)
    lists = pa.table({"items": pa.array(baskets, pa.list_(pa.int64()))})
    assert baskets_of(pm.read(lists.to_reader(max_chunksize=size))) == expected
    flags = pa.table({str(item): pa.array([item in basket for basket in baskets], pa.bool_()) for item in range(6)})
    assert baskets_of(pm.read(flags.to_reader(max_chunksize=size), layout="one-hot")) == expected
    keyed = lists.append_column("key", pa.array([f"order {number}" for number in range(len(baskets))], pa.string()))
    assert baskets_of(pm.read(keyed.to_reader(max_chunksize=size), item="items", transaction="key")) == expected
