"""Bad input: a clear sentence or correct work, never a traceback, never data in a message."""

import gzip
import sqlite3
import sys
from contextlib import closing, contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from subprocess import run
from threading import get_ident
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import dataset
from scipy import sparse
from slow_cases import slow_after

import privmine as pm
from privmine.errors import DataError, InputError, PrivmineError
from privmine.io.readers import csv_rows
from privmine.io.readers.files_in import opened

SECRET = "TELLNOBODY"  # noqa: S105 - no password, but a cell that no message may show


def refused(match, *arguments, **options):
    """Check that reading is refused with such a sentence, and that nothing of the data comes with the error."""
    with pytest.raises(PrivmineError, match=match) as caught:
        pm.read(*arguments, **options)
    error = caught.value
    assert SECRET not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    return str(error)


@pytest.fixture
def orders(tmp_path):
    """A Parquet file of many orders."""
    path = tmp_path / "orders.parquet"
    numbers = np.arange(20_000) // 3
    pq.write_table(pa.table({"order_id": numbers, "product": [f"{SECRET}{n % 17}" for n in range(20_000)]}), path)
    return path


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_parquet_file_cut_off(orders, part):
    """A Parquet file that is not whole is said to be so."""
    content = orders.read_bytes()
    orders.write_bytes(content[: int(len(content) * part)])
    refused("not a whole Parquet file", orders)


def test_a_parquet_file_with_a_hole(orders):
    """Damage in the middle of a Parquet file is told, or does not matter."""
    content = bytearray(orders.read_bytes())
    content[len(content) // 4 : len(content) // 2] = bytes(len(content) // 4)
    orders.write_bytes(content)
    refused("not a whole Parquet file", orders)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_another_encoding(tmp_path, name):
    """Text that is not UTF-8 is refused with what to do, and read if its encoding is given."""
    lines = {
        "a.csv": f"order_id,product\n1,{SECRET} café\n1,thé\n2,thé\n",
        "a.jsonl": f'["{SECRET} café", "thé"]\n["thé"]\n',
        "a.txt": f"{SECRET} café,thé\nthé\n",
    }[name]
    path = tmp_path / name
    path.write_bytes(lines.encode("cp1252"))
    assert "cp1252" in refused("is not UTF-8 text.*encoding=", path)
    assert pm.read(path, encoding="cp1252").universe.labels.tolist() == [f"{SECRET} café", "thé"]
    path.write_bytes(lines.encode("utf-8-sig"))
    assert pm.read(path).store.count() == 2
    refused("is not text in the encoding utf-16", path, encoding="utf-16")
    refused("Python knows no encoding", path, encoding="klingon")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_marks_of_the_byte_order(tmp_path, name, encoding):
    """A mark tells the encoding where none is said, and is no part of the text where the very one is said."""
    lines = {"a.csv": "Artikel,Bon\nthé,1\ncafé,1\n", "a.jsonl": '["thé", "café"]\n', "a.txt": "thé,café\nthé\n"}[name]
    columns = {"item": "Artikel", "transaction": "Bon"} if name == "a.csv" else {}
    path = tmp_path / name
    path.write_bytes(f"\ufeff{lines}".encode(encoding))
    for said in (None, encoding, encoding[:6]):
        assert pm.read(path, encoding=said, **columns).universe.labels.tolist() == ["café", "thé"]


def test_bytes_that_are_no_text_far_below(tmp_path):
    """What does not decode is found wherever it is, not only in the first lines."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"order_id,product\n" + f"1,{SECRET}\n".encode() * 200_000 + b"1,caf\xe9\n")
    refused("is not UTF-8 text", path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "no line"),
        ("a.csv", f"order_id,product\n1,{SECRET}\n2,{SECRET},3\n", "more or fewer cells"),
        ("a.csv", f'order_id,product\n1,a\n1,"{SECRET}\n', "line 3: a cell in quotes does not end"),
        ("a.csv", f'order_id,"product\n1,{SECRET}\n', "line 1: the quotes"),
        ("a.csv", f'order_id,product\n"1,{SECRET}\n2,b\n', "line 2: a cell in quotes does not end"),
        ("a.txt", f'a,"{SECRET}\n', "line 1: the quotes"),
        ("a.txt", f'a,b\na,"{SECRET}\n', "line 2: a cell in quotes does not end"),
        ("a.txt", f"{SECRET}\n{SECRET}1\n", "not clear which separator"),
        ("a.txt", f"a,,{SECRET}\nb\n", "missing items"),
        ("a.jsonl", f'["{SECRET}"]\n["{SECRET}"', "line 2: this is not JSON"),
        ("a.jsonl", f'["a"]\n"{SECRET}"\n', "line 2: neither an object"),
        ("a.jsonl", f'{{"a": ["{SECRET}"]}}\n{{"a": "{SECRET}"}}\n', "not clear"),
        ("a.jsonl", f'{{"o": 1, "p": "{SECRET}"}}\n{{"o": {{"{SECRET}": 1}}, "p": "b"}}\n', "not clear"),
        ("a.jsonl", '["\\ud800"]\n', "lone surrogate"),
        ("a.jsonl", "[" * 100_000 + "\n", "line 1: this is not JSON"),
        ("a.json", f'{{"{SECRET}": ', "line 1: this is not JSON"),
        ("a.dat", f"1 2\n{SECRET}\n", "line 2: not FIMI text"),
    ],
)
def test_text_that_is_not_what_it_should_be(tmp_path, name, content, message):
    """Broken text is refused with its place, never with its content."""
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    refused(message, path)


def test_rows_of_several_kinds_beyond_the_sample(tmp_path):
    """A row that does not fit what the first rows showed is refused as well."""
    path = tmp_path / "a.jsonl"
    lines = '{"a": ["x"]}\n' * 2000
    path.write_text(lines + f'{{"a": "{SECRET}"}}\n')
    refused("something else than a list in some row", path)
    path.write_text('{"order_id": 1, "item": "x"}\n' * 2000 + f'{{"order_id": 1, "item": ["{SECRET}"]}}\n')
    refused("contains lists, not labels", path)


def test_a_gzip_file_cut_off(tmp_path):
    """A compressed table that ends too early is refused."""
    path = tmp_path / "a.csv.gz"
    noise = np.random.default_rng(1).integers(0, 10**9, 100_000)
    content = gzip.compress(b"order_id,product\n" + b"".join(b"%d,x\n" % number for number in noise))
    path.write_bytes(content[: len(content) // 2])
    refused("cut off", path)
    path.write_bytes(content[:1000] + bytes(100) + content[1100:])
    refused("corrupt gzip|cut off", path)


def test_names_that_lead_nowhere(tmp_path):
    """Missing files, directories and patterns without a match are told apart."""
    refused("does not exist", tmp_path / "no.csv")
    refused("does not exist", tmp_path / "no.parquet")
    refused(r"No file matches .*\*\.parquet", f"{tmp_path}/*.parquet")
    refused("is a directory; name its files with a pattern", tmp_path)
    refused("zero byte", "a\0b")
    refused("Say what to read")
    refused("Cannot read int", 7)
    refused("Cannot read bytes", b"abc")
    refused("Cannot read dict", {"a": [1]})
    refused("collection of items", [{"order": 1}], drop_missing=True)
    refused("collection of items", ["milk"])


def test_what_is_no_source_is_told_what_to_pass(tmp_path):
    """Lists of texts, open files, datasets, connections and pipes are refused with what to pass instead."""
    path = tmp_path / "o.parquet"
    pq.write_table(pa.table({"order_id": [1], "product": ["a"]}), path)
    for drop in (False, True):
        refused(r"list of files or a pattern", ["orders"], drop_missing=drop)
    with path.open("rb") as file:
        refused("open file; pass its name", file)
    refused(r"pass dataset\.to_table", dataset.dataset(path))
    with closing(sqlite3.connect(":memory:")) as connection:
        refused("not a connection", sql="select 1", database=connection)
    with pytest.raises(InputError, match=r"pm\.mine\(pm\.read\("):
        pm.mine(str(path), k=1, epsilon=1)
    for name in ("-", "/dev/null"):
        refused("standard input and pipes cannot be read", name)


@pytest.mark.parametrize("label", [["a"], ("a",), {"a"}, {"a": 1}, SECRET.encode(), np.array([1]), pa.scalar(["a"])])
def test_collections_and_bytes_are_no_labels(label):
    """What a frame does not take as a label, a list of baskets does not either."""
    refused("a collection or bytes. An item must be a label", [["b", label]])
    refused("a collection or bytes. An item must be a label", [["b", label]], unit=["x"], max_baskets=1)
    with pytest.raises(InputError, match=r"a collection or bytes\. An item must be a label"):
        pm.mine([["b", label]], k=1, epsilon=1)


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["b", "a", "c"])])
def test_categories_of_polars(kind):
    """Codes of texts are read as the texts, as items, orders, units and in lists."""
    frame = pl.DataFrame({"order_id": ["a", "a", "b"], "product": ["b", "a", "b"]})
    for columns in (["product"], ["order_id"], ["order_id", "product"]):
        found = pm.read(frame.with_columns(pl.col(columns).cast(kind)))
        assert found.universe.labels.tolist() == ["a", "b"]
        assert found.store.item_supports().tolist() == [1, 2]
    coded = frame.with_columns(pl.all().cast(kind))
    assert pm.read(coded, item="product", merge_by="order_id").store.count() == 2
    assert pm.read(coded.group_by("order_id").agg("product")).store.item_supports().tolist() == [1, 2]


def test_files_of_a_pattern_must_be_alike(tmp_path):
    """Files with other columns than the first are refused by name."""
    for ending, content in (("csv", "order_id,product\n1,a\n"), ("csv", "product,order_id\nb,2\n")):
        (tmp_path / f"{len(list(tmp_path.iterdir()))}.{ending}").write_text(content)
    refused(r"1\.csv has other columns or another separator than .*0\.csv", f"{tmp_path}/*.csv")
    (tmp_path / "1.csv").write_text("order_id;product\n2;b\n")
    refused(r"1\.csv has other columns or another separator than .*0\.csv", f"{tmp_path}/*.csv")
    pq.write_table(pa.table({"order_id": [1], "product": ["a"]}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"order_id": [1], "article": ["a"]}), tmp_path / "3.parquet")
    refused(r"3\.parquet has other columns", f"{tmp_path}/*.parquet")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_items_are_refused_or_dropped(missing):
    """A missing item or order is refused; on request it is left out, and the rest stays."""
    frame = pd.DataFrame({"order_id": [1, 1, 2], "item": ["a", missing, "b"]})
    refused(r"missing values in the column 'item'.*drop_missing=True", frame)
    assert pm.read(frame, drop_missing=True).store.item_supports().tolist() == [1, 1]
    frame = pd.DataFrame({"order_id": [1, 1, missing], "item": ["a", "b", SECRET]})
    refused("missing values in the column 'order_id'", frame)
    dropped = pm.read(frame, drop_missing=True, items=["a", "b", SECRET])
    assert (dropped.store.count(), dropped.store.item_supports().tolist()) == (1, [1, 1, 0])
    refused("missing.*drop_missing=True", [["a", missing], ["b"]])
    assert pm.read([["a", missing], ["b"]], drop_missing=True).store.item_supports().tolist() == [1, 1]


def test_missing_lists_and_cells():
    """A missing list is an empty basket on request, a missing cell of a one-hot table no item."""
    table = pa.table({"x": [["a", None], None, ["b"]]})
    refused("missing values in the column 'x'", table)
    found = pm.read(table, drop_missing=True)
    assert (found.store.count(), found.store.item_supports().tolist()) == (3, [1, 1])
    table = pa.table({"a": [True, None], "b": [True, False]})
    refused("missing values in the column 'a'", table)
    assert pm.read(table, drop_missing=True).store.item_supports().tolist() == [1, 1]


def test_missing_cells_of_text(tmp_path):
    """An empty cell is missing; an empty text in quotes is a label."""
    path = tmp_path / "a.csv"
    path.write_text('order_id,product\n1,a\n1,\n2,""\n')
    refused("missing values in the column 'product'", path)
    assert pm.read(path, drop_missing=True).universe.labels.tolist() == ["", "a"]
    path.write_text('order_id,product\n1,a\n2,""\n')
    assert pm.read(path).universe.labels.tolist() == ["", "a"]


def test_mixed_types():
    """Numbers and texts in one column of pandas are labels; records and bytes are none."""
    frame = pd.DataFrame({"order_id": [1, 2], "product": ["a", 7]}, dtype=object)
    for made in (frame, frame.astype("string")):
        assert pm.read(made).universe.labels.tolist() == ["7", "a"]
    frame = pd.DataFrame({"order_id": [1, 2], "product": ["a", "b"], "note": ["x", {SECRET: 7}]}, dtype=object)
    assert pm.read(frame).store.count() == 2
    refused("does not convert to Arrow.*the same name", frame.set_axis(["order_id", "product", "product"], axis=1))
    assert pm.read([["a", 7], [7.0]]).store.item_supports().tolist() == [2, 1]
    refused("contains records", pa.table({"order_id": [1], "item": [{"a": SECRET}]}))
    for kind in (pa.binary(), pa.binary(len(SECRET)), pa.large_binary(), pa.binary_view()):
        refused("contains bytes", pa.table({"order_id": [1], "item": pa.array([SECRET.encode()], kind)}))


def test_types_of_databases():
    """Decimals, large integers, dates and UUIDs are labels as people write them."""
    uuid = UUID(int=7)
    columns = {
        "decimal": (pa.array([Decimal("12"), None], pa.decimal128(20, 0)), 12),
        "cents": (pa.array([Decimal("1.50"), None], pa.decimal128(20, 2)), "1.5"),
        "exponent": (pa.array([Decimal("0.00000120"), None], pa.decimal128(20, 12)), "0.0000012"),
        "wide": (pa.array([Decimal("7.50"), None], pa.decimal256(60, 5)), "7.5"),
        "timestamp": (pa.array([datetime(2026, 11, 17, 8), None], pa.timestamp("ns")), "2026-11-17 08:00:00"),
        "time": (pa.array([time(8, 30, 0, 250_000), None], pa.time64("us")), "08:30:00.25"),
        "duration": (pa.array([timedelta(seconds=90, milliseconds=500), None], pa.duration("us")), "90.5"),
        "large": (pa.array([2**64 - 1, None], pa.uint64()), "18446744073709551615"),
        "small": (pa.array([7, None], pa.uint64()), 7),
        "date": (pa.array([date(2026, 11, 17), None]), "2026-11-17"),
        "uuid": (pa.array([uuid.bytes, None], pa.uuid()), str(uuid)),
        "view": (pa.array(["a", None], pa.string_view()), "a"),
        "nothing": (pa.array([None, None]), None),
    }
    for column, label in columns.values():
        found = pm.read(pa.table({"order_id": [1, 1], "item": column}), drop_missing=True)
        assert found.universe.labels.tolist() == ([] if label is None else [label])
        assert found.store.count() == 1


def test_columns_of_one_name():
    """Two columns of one name are refused, if they are asked for."""
    table = pa.table([[1], ["a"], ["b"]], names=["order_id", "item", "item"])
    refused("several columns named 'item'", table, item="item")
    refused("the same name", pa.table([[True], [False]], names=["a", "a"]))


def test_duplicate_rows_count_once():
    """A transaction is a set."""
    frame = pd.DataFrame({"order_id": [1, 1, 1, 2], "item": ["a", "a", "b", "a"]})
    assert pm.read(frame).store.item_supports().tolist() == [2, 1]
    doubled = sparse.coo_array((np.ones(3), ([0, 0, 0], [0, 0, 1])), shape=(2, 2))
    assert pm.read(doubled).store.item_supports().tolist() == [1, 1]


def test_matrices_that_are_none():
    """A matrix has two dimensions and no missing or negative cell; stored zeros are zeros."""
    refused("missing values", sparse.csr_array([[1.0, np.nan]]))
    refused("never negative", sparse.csr_array([[1, -1]]))
    refused("0 and 1", np.array([["a", "b"]]))
    refused("missing values", np.array([[1.0, np.nan]]))
    refused("exactly one label for each column", np.eye(3), names=["a", "b"])
    refused("the same label more than once", np.eye(2), names=["a", "a"])
    stored = sparse.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert pm.read(stored).store.item_supports().tolist() == [1, 0]


def test_one_basket_with_many_items(tmp_path):
    """A basket of 100,000 items is read as any other, from a line, a list or rows."""
    many = [f"item {number}" for number in range(100_000)]
    path = tmp_path / "a.txt"
    path.write_text(f"{','.join(many)}\nitem 1,item 2\n")
    for found in (
        pm.read(path),
        pm.read([many, many[1:3]]),
        pm.read(pd.DataFrame({"order_id": [1] * 100_000 + [2, 2], "item": many + many[1:3]})),
        pm.read(pa.table({"items": [many, many[1:3]]})),
    ):
        assert found.store.count() == 2
        assert int(found.store.item_supports().sum()) == 100_002


@pytest.mark.statistics
def test_a_universe_of_a_million_items():
    """A million labels are no hindrance, and none of them is shown."""
    items = pa.array(np.arange(10**6)).cast(pa.string())
    table = pa.table({"order_id": np.arange(10**6) // 10, "item": pa.compute.binary_join_element_wise("x", items, "")})
    found = pm.read(table)
    assert len(found.universe) == 10**6
    assert found.store.count() == 10**5
    assert len(repr(found)) < 200


def test_tables_without_rows(tmp_path):
    """No rows are no transactions, and no error."""
    path = tmp_path / "a.csv"
    path.write_text("order_id,product\n")
    pq.write_table(
        pa.table({"order_id": pa.array([], pa.int64()), "product": pa.array([], pa.string())}), tmp_path / "a.parquet"
    )
    for found in (
        pm.read(path),
        pm.read(tmp_path / "a.parquet"),
        pm.read(pd.DataFrame({"order_id": [], "product": []})),
        pm.read([]),
        pm.read(sparse.csr_array((0, 0))),
        pm.read(sql="select 1 as order_id, 'a' as product where false"),
        pm.read(path, unit="order_id", max_baskets=1, item="product", transaction="order_id"),
    ):
        assert found.store.count() == 0


def test_transactions_are_read_already():
    """What `read` returned can be passed on, but no option with it."""
    transactions = pm.read([["a"]])
    assert pm.read(transactions) is transactions
    with pytest.raises(InputError, match="read already"):
        pm.read(transactions, items=["a"])
    with pytest.raises(InputError, match="read already"):
        pm.read(transactions, drop_missing=True)


def test_without_the_extra(tmp_path, monkeypatch):
    """Without Arrow, tables are refused with what to install; lines, lists and matrices need nothing."""
    path = tmp_path / "a.csv"
    path.write_text("order_id,product\n1,a\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for options in ({"source": path}, {"source": pd.DataFrame({"order_id": [1], "item": ["a"]})}, {"sql": "select 1"}):
        with pytest.raises(InputError, match=r"pip install 'privmine\[tables\]'"):
            pm.read(**options)
    assert pm.read(path, layout="baskets").store.count() == 2
    assert pm.read([["a"]]).store.count() == 1
    assert pm.read(np.eye(2)).store.count() == 2


def test_lists_have_no_columns():
    """Names of columns are refused where there are none."""
    refused("has no columns", [["a"]], item="x")
    refused("has no columns", np.eye(2), transaction="x")
    refused("has the layout list", [["a"]], layout="long")
    with pytest.raises(DataError, match="does not exist"):
        pm.read("nowhere.dat", item="x")


class Untold:
    """A label whose code fails, and says what it holds."""

    def __init__(self, *methods):
        self.methods = methods

    def _fail(self, method):
        if method in self.methods:
            raise ValueError(SECRET)

    def __str__(self):
        self._fail("str")
        return "x"

    def __ne__(self, other):
        self._fail("ne")
        return False

    __hash__ = None


@pytest.mark.parametrize("method", ["str", "ne"])
def test_labels_whose_own_code_fails(method):
    """Errors of the caller's own types are told without their words."""
    label = Untold(method)
    for options in ({}, {"drop_missing": True}, {"merge_by": [1]}):
        refused("withheld", [[label]], **options)
    refused("withheld", [["a"]], unit=[label], max_baskets=1)
    with pytest.raises(InputError, match="withheld"):
        pm.mine([[label]], k=1, epsilon=1)
    assert pm.read([[Untold()]]).store.count() == 1


def test_sources_whose_own_code_fails():
    """A generator or a lazy frame that fails says nothing of its data."""

    def baskets():
        yield ["a"]
        raise ValueError(SECRET)

    refused("withheld", baskets())
    lazy = pl.LazyFrame({"order_id": [SECRET], "item": ["a"]}).with_columns(pl.col("order_id").cast(pl.Int64))
    refused("The frame: .*withheld", lazy)


@pytest.mark.parametrize("encoding", [None, "utf-16-le", "latin-1"])
@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_lines_that_end_where_a_block_does(tmp_path, monkeypatch, encoding, blocks, beyond):
    """A file of CRLF lines may be one byte longer than some blocks: the line feed is then all that is left."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._BLOCK_BYTES", 512)
    path = tmp_path / "a.csv"
    width = len("x".encode(encoding or "utf-8"))
    size = (512 * blocks) // width + beyond
    head, row = "order_id,product\r\n", "1,a\r\n"
    count = (size - len(head) - 10) // len(row)
    last = size - len(head) - count * len(row)
    content = head + row * count + f"2,{'b' * (last - 4)}\r\n"
    path.write_bytes(content.encode(encoding or "utf-8"))
    assert path.stat().st_size == size * width
    found = pm.read(path, encoding=encoding)
    assert (found.store.count(), len(found.universe)) == (2, 2)


@pytest.mark.parametrize("window", [16, 17, 18, 19, 64, 300])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_windows_that_end_anywhere(tmp_path, monkeypatch, window, end):
    """However little of a file is looked at, lines in quotes, lone quotes and marks keep what they hold."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._WINDOW_BYTES", window)
    labels = ["a", "b\r\nc", 'd,\n\n"e"\n' * 5, "\ufefff", "", 'g "h', "i" * 40]
    bare = ["\ufefff", 'g "h']
    cells = ['"' + label.replace('"', '""') + '"' if label not in bare else label for label in labels]
    rows = [f"{cell},{number}" for number in range(3) for cell in cells]
    (tmp_path / "a.csv").write_bytes((end.join(["item,order_id", *rows]) + end).encode())
    found = pm.read(tmp_path / "a.csv", multiline_cells=True)
    assert found.universe.labels.tolist() == sorted(labels)
    assert found.store.item_supports().tolist() == [3] * len(labels)


@pytest.mark.parametrize("options", [{}, {"multiline_cells": True}, {"transaction": "order_id", "item": "product"}])
@pytest.mark.parametrize(
    ("before", "line"),
    [("", 4), ('2,"a, b"\n', 5), ("\n\n", 6), ("2,a\r\n" * 5000, 5004), ("2,a\n" * 40_000, 40_004)],
    ids=["none", "quotes", "empty lines", "CRLF", "a later window"],
)
def test_a_line_with_more_or_fewer_cells_is_named(tmp_path, monkeypatch, before, line, options):
    """By its number, since the file may be long; never by what it holds."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._WINDOW_BYTES", 1 << 16)
    path = tmp_path / "a.csv"
    for odd in (f"3,{SECRET},x\n", f"{SECRET}\n"):
        path.write_bytes(f"order_id,product\n1,a\n1,b\n{before}{odd}4,c\n".encode())
        refused(rf"a\.csv, line {line}: it has more or fewer cells than the first line.*separator=", path, **options)


def test_lines_are_numbered_as_an_editor_does(tmp_path):
    """Where a first line tells the separator, and where a cell has a line break, which is a row of two lines."""
    path = tmp_path / "a.csv"
    path.write_text("sep=;\norder_id;product\n1;a\n2;b;c\n")
    refused("line 4: it has more", path)
    path.write_text('order_id,product\n1,"a\nb"\n2,b,c\n')
    refused("line 4: it has more", path, multiline_cells=True)


def test_a_wrong_separator_is_named_as_the_cause(tmp_path):
    """Where the first line is one cell, whatever else is missing."""
    path = tmp_path / "a.csv"
    path.write_text("order_id;product\n1;a\n2;b\n")
    for options in (
        {"transaction": "order_id", "item": "product"},
        {"layout": "long"},
        {"layout": "one-hot"},
        {"unit": "who", "max_baskets": 1},
    ):
        refused(
            r"first line is a single cell, so check the separator: separator=",
            path,
            separator=",",
            **options,
        )
    path.write_text("order_id,product\n1,a\n2,b\n")
    assert "one cell" not in refused("no column 'order'", path, transaction="order", item="product")


def test_rows_that_never_end(tmp_path, monkeypatch):
    """A quote that is opened and never closed is told before all that follows is in memory."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._WINDOW_BYTES", 1 << 10)
    monkeypatch.setattr("privmine.io.readers.csv_rows._LONGEST_WINDOW", 1 << 12)
    looked_at = []
    original = csv_rows._Window.rows
    monkeypatch.setattr(
        csv_rows._Window, "rows", lambda self, data, **how: looked_at.append(len(data)) or original(self, data, **how)
    )
    path = tmp_path / "a.csv"
    for start, message in (('1,"', "more or fewer cells|never closed"), ("1,2,3\n", "more or fewer cells")):
        path.write_text(f"order_id,product\n{start}{SECRET}\n" + f"1,{SECRET}\n" * 2000)
        refused(message, path, multiline_cells=True)
        path.write_text(f"order_id,product\n{start}{SECRET}\n" + SECRET * 2000)
        refused(message, path, multiline_cells=True)
    assert max(looked_at) <= 1 << 12


def test_no_thread_but_the_callers_asks_for_bytes(tmp_path, monkeypatch):
    """A thread of Arrow that called Python might do so when Python ends, and hang or abort the process."""
    seen = set()

    @contextmanager
    def watched(path):
        with opened(path) as file:

            def read(size):
                seen.add(get_ident())
                return file.read(size)

            yield SimpleNamespace(read=read)

    monkeypatch.setattr("privmine.io.readers.csv_rows.opened", watched)
    monkeypatch.setattr("privmine.io.readers.csv_rows._WINDOW_BYTES", 1 << 10)
    (tmp_path / "a.csv").write_text("order_id,product\n" + "1,a\n2,b\n" * 2000)
    assert pm.read(tmp_path / "a.csv").store.count() == 2
    assert seen == {get_ident()}


@pytest.mark.parametrize(
    "second",
    slow_after(1, ["order_id;product\n1;a\n", "order_id,product\n1,a,b\n" + "1,a\n" * 100_000]),
    ids=["separator", "long row"],  # the text itself would be an environment variable of 400 KB
)
def test_a_process_ends_after_an_error(tmp_path, second):
    """What goes wrong in a file leaves nothing behind that would keep the process from its end."""
    (tmp_path / "a.csv").write_text("order_id,product\n1,a\n")
    (tmp_path / "b.csv").write_text(second)
    code = "import sys, privmine as pm\ntry: pm.read(sys.argv[1])\nexcept pm.PrivmineError: sys.exit(7)"
    for _ in range(2):
        assert run([sys.executable, "-c", code, f"{tmp_path}/*.csv"], timeout=120, check=False).returncode == 7


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_stretches_longer_than_a_block(tmp_path, monkeypatch, end):
    """Blank lines mean nothing in a table, however many there are, in between or at the end."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._BLOCK_BYTES", 512)
    path = tmp_path / "a.csv"
    for tail in ("", f"0,1,0{end}" * 3):
        rows = f"bread,milk,eggs{end}" + f"1,0,1{end}" * 10 + end * 3000 + tail
        path.write_bytes(rows.encode())
        found = pm.read(path, layout="one-hot")
        assert found.store.item_supports().tolist() == [10, 10, 3 if tail else 0]
        assert found.store.count() == (13 if tail else 10)


def test_files_without_rows_or_columns(tmp_path):
    """An empty file has no rows, whatever its format; and where there are no columns, none can be named."""
    for name, content in (("a.jsonl", ""), ("a.jsonl", "\n\n"), ("a.json", "[]"), ("a.jsonl", "{}\n")):
        (tmp_path / name).write_text(content)
        refused("has no row that could be read", tmp_path / name)
        refused("has no row that could be read", tmp_path / name, layout="one-hot")
    (tmp_path / "a.dat").write_text("1 2\n")
    refused("no columns here that unit= or merge_by= could name", tmp_path / "a.dat", unit="who", max_baskets=1)
