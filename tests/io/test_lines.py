"""From lines to rows: a row is a line, no line is too long, and what is no text is named."""

import bz2
import gzip
import lzma
import sqlite3
import sys
import zipfile
from contextlib import closing
from subprocess import run

import duckdb
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from slow_cases import slow_unless

import privmine as pm
from privmine.errors import DataError, InputError

SECRET = "TELLNOBODY"  # noqa: S105 - no password, but a cell that no message may show
LONG = {"transaction": "order_id", "item": "product", "unit": "customer_id", "max_baskets": 3}
NAMES = ["customer_id", "order_id", "product"]
#: Line breaks in cells: a quote that is not doubled, one in a cell of the last line, one that is closed by accident.
ROWS = [(f"c{n}", str(n), "bread") for n in range(40)]


def table(end, separator, *replaced):
    """A table as text, with some rows in other words: the number of a row, and its line."""
    lines = [separator.join(row) for row in ROWS]
    for number, line in replaced:
        lines[number] = line.replace(",", separator)
    return end.join([separator.join(NAMES), *lines]) + end


def message(*arguments, **options):
    """What is said where reading is refused, without anything of the data in it."""
    with pytest.raises(DataError) as caught:
        pm.read(*arguments, **options)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("window", [64, 1 << 24])
def test_a_cell_that_takes_other_rows_with_it(tmp_path, monkeypatch, name, end, window):
    """A quote that opens in one row and closes seven rows later is refused with the line where it opens."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._WINDOW_BYTES", window)
    separator = "\t" if ".tsv" in name else ","
    content = table(end, separator, (4, f'c4,4,"{SECRET}'), (11, f'c11,11,{SECRET}"'))
    content = gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    (tmp_path / name).write_bytes(content)
    assert "line 6: a cell in quotes does not end in this line" in message(tmp_path / name, **LONG)


@pytest.mark.parametrize(
    ("replaced", "line"),
    [
        ([(4, f'c4,4,"{SECRET}')], 6),  # never closed
        ([(39, f'c4,4,"{SECRET}')], 41),  # never closed, in the last line
        ([(4, f'"c4,4,{SECRET}'), (5, 'c5",5,bread')], 6),  # closed in the next line, as many cells as it should have
        ([(4, f'c4,5" nail,"{SECRET}'), (9, 'c9,9,x"')], 6),  # an even number of quotes, and yet one is open
        ([(4, f'c4,4,""" {SECRET}'), (9, 'c9,9,"')], 6),  # a doubled quote closes nothing
        ([(3, "c3,3,\\"), (4, f'c4,4,"{SECRET}'), (5, ""), (6, '"')], 6),  # a blank line within
    ],
)
def test_every_way_to_go_on(tmp_path, replaced, line):
    """However a cell goes on into the next line, it is refused there."""
    (tmp_path / "a.csv").write_text(table("\n", ",", *replaced))
    assert f"line {line}: a cell in quotes does not end in this line" in message(tmp_path / "a.csv", **LONG)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_quotes_that_harm_nobody(tmp_path, end):
    """Quotes within a cell, around cells, doubled ones and blank lines are read as ever, each row by itself."""
    replaced = [
        (1, 'c1,1,5" nail'),
        (2, 'c2,2,"a ""b"" c"'),
        (3, '"c3","3","a;b"'),
        (4, ""),
        (6, 'c6,6,"a"b"c'),
        (7, 'c7,7,""'),
    ]
    (tmp_path / "a.csv").write_bytes(table(end, ",", *replaced).encode())
    found = pm.read(tmp_path / "a.csv", **LONG)
    assert found.universe.labels.tolist() == ["", '5" nail', 'a "b" c', "a;b", 'ab"c', "bread"]
    assert found.store.count() == 39


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["\n", "\r", "\r\n"])
def test_cells_with_line_breaks_are_read_where_they_are_said_to_be(tmp_path, end, mark):
    """The option allows them, in tables and in basket lines, and the receipt says what that assumes."""
    (tmp_path / "a.csv").write_bytes(table(end, ",", (1, f'c1,1,"new{mark}line"')).encode())
    assert "line 3: a cell in quotes" in message(tmp_path / "a.csv", **LONG)
    found = pm.read(tmp_path / "a.csv", multiline_cells=True, **LONG)
    assert found.universe.labels.tolist() == ["bread", f"new{mark}line"]
    (tmp_path / "b.txt").write_bytes(f'a,b{end}"new{mark}line",b{end}'.encode())
    lines = {"layout": "baskets", "separator": ","}
    assert "line 2: a cell in quotes" in message(tmp_path / "b.txt", **lines)
    baskets = pm.read(tmp_path / "b.txt", multiline_cells=True, **lines)
    assert baskets.universe.labels.tolist() == ["a", "b", f"new{mark}line"]
    for data in (found, baskets):
        assumed = pm.mine(data, k=1, epsilon=1).receipt.assumptions
        assert any("no cell of one unit goes on into the rows of another" in sentence for sentence in assumed)
    known = pm.mine(pm.read([["a"]]), k=1, epsilon=1).receipt.assumptions
    assert not any("goes on" in sentence for sentence in known)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("closing", [f'{SECRET}",milk', "tea"])
def test_a_basket_that_takes_others_with_it(tmp_path, end, closing):
    """In basket lines a quote that is not closed in its line is refused as well, closed later or not."""
    lines = ["bread,milk"] * 3 + [f'bread,"{SECRET}'] + ["bread,milk"] * 7 + [closing] + ["tea"]
    (tmp_path / "b.txt").write_bytes((end.join(lines) + end).encode())
    for layout in ({"layout": "baskets", "separator": ","}, {"layout": "baskets"}, {}):
        assert "line 4: a cell in quotes does not end in this line" in message(tmp_path / "b.txt", **layout)


def test_the_option_is_for_text_with_cells(tmp_path):
    """Elsewhere a cell has no quotes, and the option is refused."""
    (tmp_path / "a.jsonl").write_text('["a"]\n')
    (tmp_path / "a.dat").write_text("1\n")
    for source in (tmp_path / "a.jsonl", tmp_path / "a.dat", [["a"]], pa.table({"a": [True]})):
        with pytest.raises(InputError, match=r"multiline_cells= is for CSV and basket lines"):
            pm.read(source, multiline_cells=True)


BOMBS = {
    "a.csv": (b"customer_id,order_id,product\n1,1,", b"a", b"\n1,1,b\n"),
    "a.txt": (b"a,", b"b,", b"\nc\n"),
    "b.txt": (b"a,b\n" * 5000, b"b", b"\nc\n"),
    "a.dat": (b"1 2\n", b"1 ", b"\n3\n"),
    "b.dat": (b"1 2\n", b"1", b""),
    "a.jsonl": (b'["', b"a", b'"]\n'),
    "a.json": (b'[["', b"a", b'"]]\n'),
    "b.json": (b"[", b" ", b'["a"]]\n'),
}
CODE = """
import resource, sys
import privmine as pm
import pyarrow.csv, pyarrow.compute, pandas  # what takes room by itself
pm.read([["a"]])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
options = {"transaction": "order_id", "item": "product"} if sys.argv[1].endswith(".csv.gz") else {}
try:
    pm.read(sys.argv[1], **options)
except pm.PrivmineError as error:
    print(error)
"""


@pytest.mark.parametrize("name", slow_unless(["a.csv", "a.txt", "a.json"], BOMBS))
def test_a_small_file_that_opens_to_a_long_line(tmp_path, name):
    """A gzip file of some hundred KB that opens to a line of 300 MB is refused, in less memory than the line takes."""
    start, middle, end = BOMBS[name]
    path = tmp_path / f"{name}.gz"
    part = middle * ((1 << 20) // len(middle))
    # Members of a gzip file are read as one, so that a part is compressed only once.
    path.write_bytes(gzip.compress(start) + gzip.compress(part, 1) * 300 + gzip.compress(end))
    found = run([sys.executable, "-c", CODE, str(path)], capture_output=True, text=True, timeout=300, check=False)
    assert "longer than" in found.stdout or "does not end in this line" in found.stdout, found.stdout + found.stderr
    assert found.returncode == 0


@pytest.mark.parametrize("limit", [1 << 8, 1 << 10])
def test_whether_a_line_is_too_long_does_not_depend_on_others(tmp_path, monkeypatch, limit):
    """A line of a table, just within the limit or just beyond, is so wherever it stands."""
    monkeypatch.setattr("privmine.io.readers.csv_rows._BLOCK_BYTES", limit)
    for before in (0, 1, limit // 9, limit // 7, limit // 3):
        rows = "1,1,x\r\n" * before
        for more in (-1, 0):
            line = "2,2," + "y" * (limit - 4 + more)
            (tmp_path / "a.csv").write_bytes(f"{','.join(NAMES)}\r\n{rows}{line}\r\n{rows}".encode())
            if more < 0:
                assert pm.read(tmp_path / "a.csv", **LONG).store.count() == 1 + bool(before)
            else:
                assert "a line is longer than" in message(tmp_path / "a.csv", **LONG)


def test_long_arrays_of_json(tmp_path, monkeypatch):
    """An array is read piece by piece, and gives what it gives as a whole; what is wrong is told with its entry."""
    monkeypatch.setattr("privmine.io.readers.json_in._PART", 7)
    path = tmp_path / "a.json"
    path.write_text('\n[ ["a", "b\\\\\\""],\n\t["c,]"] , [], {"items": ["a"]}\n]\n ')
    found = pm.read(path, layout="list", item="items")
    assert found.universe.labels.tolist() == ["a", 'b\\"', "c,]"]
    assert found.store.count() == 4
    for content, entry in (
        (f'[["a"], ["{SECRET}"', 2),
        (f'[["a"] ["{SECRET}"]]', 2),
        (f'[["a"], {SECRET}]', 2),
        ('[["a"],]', 2),
        ('[["a"]', 2),
        (f'[["a"]] ["{SECRET}"]', 2),
        ("[" * 5000, 1),
    ):
        path.write_text(content)
        assert f"entry {entry}: this is not JSON" in message(path, layout="list", item="items")
    path.write_text(f'[["a"], "{SECRET}"]')
    assert "entry 2: neither an object" in message(path, layout="list", item="items")


def _sqlite(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table orders (a)")


def _duckdb(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table orders (a int)")


def _zip(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "application/vnd.oasis.opendocument.spreadsheet" if name == "mimetype" else "x")


TABLE = pa.table({"order_id": [1, 2], "product": ["a", "b"]})
FOREIGN = {
    "xlsx.csv": (lambda p: _zip(p, "[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook. Rename it"),
    "a.ods": (lambda p: _zip(p, "mimetype", "content.xml"), "an OpenDocument file. Save the sheet"),
    "a.zip": (lambda p: _zip(p, "orders.csv"), "a zip archive. Unpack it"),
    "a.xls": (lambda p: p.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)), "an old Excel workbook"),
    "feather.txt": (lambda p: feather.write_feather(TABLE, p), "an Arrow or Feather file. Rename it"),
    "old.dat": (lambda p: p.write_bytes(b"FEA1" + bytes(60)), "a Feather file"),
    "a.orc": (lambda p: orc.write_table(TABLE, p), "an ORC file"),
    "a.avro": (lambda p: p.write_bytes(b"Obj\x01\x04\x14avro.codec\x08null"), "an Avro file"),
    "a.h5": (lambda p: p.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(90)), "an HDF5 file"),
    "a.db": (_sqlite, 'a SQLite database. Query it: sql="select …", database="a.db"'),
    "a.duckdb": (_duckdb, "a DuckDB database. Query it"),
    "a.bin": (lambda p: pq.write_table(TABLE, p), "a Parquet file. Rename it"),
    "a.pdf": (lambda p: p.write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\0stream"), "a PDF document"),
    "a.7z": (lambda p: p.write_bytes(b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(24)), "a 7z archive"),
    "a.csv.zst": (lambda p: p.write_bytes(b"\x28\xb5\x2f\xfd\x04\x00"), "a file compressed by zstd"),
    "a.csv.xz": (lambda p: p.write_bytes(lzma.compress(b"a,b\n")), "a file compressed by xz"),
    "a.csv.bz2": (lambda p: p.write_bytes(bz2.compress(b"a,b\n" * 99)), "a file compressed by bzip2"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_are_no_text_are_named(tmp_path, name):
    """By their first bytes, whatever their name, compressed or not, and with what to do.

    The first bytes of ORC without compression and of PDF could be a line of text, so that only the name tells these.
    """
    make, words = FOREIGN[name]
    make(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert f"{name} is {words}" in message(tmp_path / name)
    assert f"{name} is {words}" in message(tmp_path / name, layout="baskets", separator=",", encoding="latin-1")
    if name in ("a.orc", "a.pdf"):
        return
    for other in ("a.csv", "a.dat", "a.jsonl", "a.json"):
        (tmp_path / other).write_bytes(content)
        assert f"{other} is {words.split('.')[0]}" in message(tmp_path / other)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    assert f"a.csv.gz is {words.split('.')[0]}" in message(tmp_path / "a.csv.gz")


def test_mistakes_are_told_before_the_data_is_read(tmp_path, monkeypatch):
    """Columns that are not there, files that are not alike, and units without a column cost no reading."""
    (tmp_path / "1.csv").write_text("order_id,product\n1,a\n")
    (tmp_path / "2.csv").write_text("order_id,article\n1,a\n")
    pq.write_table(TABLE, tmp_path / "1.parquet")
    pq.write_table(TABLE.rename_columns(["order_id", "article"]), tmp_path / "2.parquet")
    (tmp_path / "a.dat").write_text("1 2\n")

    def untouched(*_, **__):
        raise AssertionError("rows were read")

    for reader in (("dispatch", "assemble"), ("rows_in", "fimi_rows"), ("rows_in", "read_lines")):
        monkeypatch.setattr(sys.modules[f"privmine.io.readers.{reader[0]}"], reader[1], untouched)
    assert "2.csv has other columns" in message(f"{tmp_path}/*.csv", transaction="order_id", item="product")
    assert "2.parquet has other columns" in message(f"{tmp_path}/*.parquet", transaction="order_id", item="product")
    for source, options, words in (
        (tmp_path / "1.csv", {"transaction": "order", "item": "product"}, "no column 'order'"),
        (tmp_path / "1.parquet", {"transaction": "order", "item": "product"}, "no column 'order'"),
        (tmp_path / "a.dat", {"unit": "who", "max_baskets": 1}, "no columns here"),
        (tmp_path / "a.dat", {"items": ["milk"]}, "whole numbers"),
        (tmp_path / "1.csv", {"layout": "baskets", "separator": ",", "merge_by": "who"}, "no columns here"),
    ):
        with pytest.raises(InputError, match=words):
            pm.read(source, **options)


@pytest.mark.parametrize("after", ["", "\n", "milk\n"])
def test_a_quote_that_stays_open_is_told_alike_wherever_it_stands(tmp_path, after):
    """What is said of a basket whose quote is not closed does not depend on whether another basket follows."""
    path = tmp_path / "baskets.txt"
    path.write_text('tea\n"open\n' + after)
    with pytest.raises(DataError, match="line 2: a cell in quotes does not end in this line"):
        pm.read(path, layout="baskets", separator=",")


@pytest.mark.parametrize("options", [{"layout": "long", "transaction": "id", "item": "product"}, {"layout": "one-hot"}])
def test_an_empty_array_of_objects_has_no_rows(tmp_path, options):
    """`[]` is read as no transactions where rows are objects, as it is with one object more."""
    path = tmp_path / "orders.json"
    path.write_text("[ ]")
    assert pm.read(path, items=["tea"], **options).store.count() == 0
