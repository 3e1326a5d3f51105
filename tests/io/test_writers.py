"""What is written is what other programs read: checked with their parsers, not with ours."""

from __future__ import annotations

import csv
import gzip
import io
import json
import stat
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from privmine.datasets.repeated import RepeatedStore
from privmine.errors import InputError
from privmine.io import read
from privmine.io.writers.destinations import FORMATS, target, write
from privmine.io.writers.sparse_out import MOST_COLUMNS
from privmine.privacy.unit import Unit
from privmine.store.transactions import Transactions

ODD = [
    "comma, inside",
    'quo"te',
    '"',
    "new\nline",
    "<b>html</b>",
    "🥛 émoji",
    " blanks ",
    "#hash",
    "semi;colon",
    "NULL",
]
BASKETS = [ODD, [ODD[0], ODD[3]], [], [ODD[1]], []]
#: Long enough for several blocks, with empty transactions at the ends and in between.
MANY = [[], *([n % 7, 7 + n % 11] if n % 5 else [] for n in range(30_000)), []]


def baskets_of(path, layout) -> list[set[str]]:
    """What a file holds, told by the standard library or by Arrow, with labels as text."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    kind = path.suffixes[0]
    if kind == ".parquet":
        rows = pq.read_table(path).to_pylist()
    elif kind == ".jsonl":
        # Not splitlines(), which breaks at more than line feeds.
        rows = [json.loads(line) for line in content.decode().split("\n")[:-1]]
    elif layout == "fimi":
        return [set(line.split()) for line in content.decode().split("\n")[:-1]]
    else:
        text = io.StringIO(content.decode(), newline="")
        separator = "\t" if kind == ".tsv" else ","
        if layout == "baskets":
            return [set(row) for row in csv.reader(text, delimiter=separator)]
        rows = list(csv.DictReader(text, delimiter=separator))
    if layout == "list":
        return [{str(item) for item in row["items"]} for row in rows]
    if layout == "one-hot":
        return [{label for label, there in row.items() if there in (True, "1")} for row in rows]
    found: dict[int, set[str]] = {}
    for row in rows:
        items = found.setdefault(int(row["transaction"]), set())
        items |= {str(row["item"])} if row["item"] not in (None, "") else set()
    assert list(found) == list(range(len(found)))
    return list(found.values())


#: The store on disk is read by nobody else; tests/store/test_disk.py has its tests.
WAYS = [(suffix, layout) for suffix, layouts in FORMATS.items() for layout in layouts if layout != "store"]


@pytest.mark.parametrize(("suffix", "layout"), [way for way in WAYS if way[1] != "fimi"])
def test_labels_of_all_kinds(tmp_path, suffix, layout) -> None:
    """Commas, quotes, newlines, emoji, markup and blanks come out as they went in, and so do empty transactions."""
    path = tmp_path / f"out{suffix}"
    assert write(Transactions.from_lists(BASKETS), path, layout=layout) == (path,)
    assert baskets_of(path, layout) == [set(basket) for basket in BASKETS]


@pytest.mark.parametrize(("suffix", "layout"), WAYS)
def test_many_transactions(tmp_path, monkeypatch, suffix, layout) -> None:
    """A file of many blocks has every transaction in its place, numbers as numbers."""
    monkeypatch.setattr("privmine.io.writers.parquet_out._GROUP_ITEMS", 5000)
    monkeypatch.setattr("privmine.io.writers.sparse_out.BLOCK_CELLS", 5000)
    path = tmp_path / f"out{suffix}"
    write(Transactions.from_lists(MANY), path, layout=layout)
    assert baskets_of(path, layout) == [{str(item) for item in basket} for basket in MANY]


def test_many_transactions_in_a_store_on_disk(tmp_path) -> None:
    """It is read back by privmine alone: every transaction in its place, and pairs counted as by hand."""
    path = tmp_path / "out.privmine"
    write(Transactions.from_lists(MANY), path)
    found = read(path)
    rows, labels = found.store.rows, found.universe.labels
    parts = np.split(np.asarray(rows.items), np.asarray(rows.offsets)[1:-1])
    assert [{str(labels[item]) for item in part} for part in parts] == [{str(i) for i in basket} for basket in MANY]
    items = np.flatnonzero(np.isin(labels.astype(str), ["3", "9"]))
    pairs = found.store.supports([tuple(items.tolist())])
    assert pairs.tolist() == [sum({3, 9} <= set(basket) for basket in MANY)]
    assert found.store.count() == len(MANY)


@pytest.mark.parametrize(("suffix", "layout"), WAYS)
def test_no_transactions_and_no_items(tmp_path, suffix, layout) -> None:
    """Nothing is written as nothing, and empty transactions alone are still counted."""
    path = tmp_path / f"out{suffix}"
    write(Transactions.from_lists([], items=["a"]), path, layout=layout)
    assert baskets_of(path, layout) == []
    write(Transactions.from_lists([[], []], items=["a"]), path, layout=layout)
    assert baskets_of(path, layout) == [set(), set()]


def test_fimi_text_has_the_labels_beside_it(tmp_path) -> None:
    """Numbers stand for themselves; other labels go to a second file, the label of 0 first."""
    path = tmp_path / "out.dat"
    assert write(Transactions.from_lists([[5, 3], [], [12]]), path) == (path,)
    assert path.read_text() == "3 5\n\n12\n"
    files = write(Transactions.from_lists([["milk", "bread, white"], [], ["milk"]]), path)
    assert files == (path, tmp_path / "out.dat.names")
    assert path.read_text() == "0 1\n\n1\n"
    assert files[1].read_text() == "bread, white\nmilk\n"
    assert write(Transactions.from_lists([[-1, 4]]), path) == files
    assert files[1].read_text() == "-1\n4\n"


@pytest.mark.parametrize("label", ["new\nline", "carriage\rreturn", "", "line\u2028separator"])
def test_labels_that_a_file_of_names_cannot_hold(tmp_path, label) -> None:
    """They are refused before a file is there, with the formats that can, and without the label."""
    path = tmp_path / "out.dat"
    with pytest.raises(InputError, match=r"write \.parquet, \.jsonl or \.csv instead") as caught:
        write(Transactions.from_lists([[label, "milk"]]), path)
    assert not label or label not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("suffix", "layout"), [way for way in WAYS if way[1] in ("one-hot", "baskets")])
def test_an_empty_label_is_no_missing_one(tmp_path, suffix, layout) -> None:
    """Where it would read as nothing, it is refused, with the layouts that can hold it."""
    with pytest.raises(InputError, match="choose the layout long or list"):
        write(Transactions.from_lists([["", "milk"]]), tmp_path / f"out{suffix}", layout=layout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.csv.gz", "out.TSV.GZ", "out.jsonl.gz", "out.dat.gz", "out.txt.gz"])
def test_compressed_text(tmp_path, name) -> None:
    """The same text behind gzip, without the time, so that the same data gives the same bytes."""
    transactions = Transactions.from_lists([[1, 2], [], [3]])
    plain = tmp_path / name.lower().removesuffix(".gz")
    write(transactions, plain)
    write(transactions, tmp_path / name)
    packed = (tmp_path / name).read_bytes()
    assert gzip.decompress(packed) == plain.read_bytes()
    assert packed[4:8] == bytes(4)  # no time of writing


def test_only_the_owner_may_read_what_is_written(tmp_path) -> None:
    """Exact data is not for everybody on the machine, even where it replaces a file that was."""
    path = tmp_path / "out.dat"
    path.write_text("old")
    path.chmod(0o644)
    for file in write(Transactions.from_lists([["a"]]), path):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_copy_is_whole_or_not_there(tmp_path, monkeypatch) -> None:
    """If writing fails halfway, the old file stays and nothing else is left, and the sentence names the path."""
    path = tmp_path / "out.csv"
    path.write_text("old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("privmine.io.writers.text_out._write_pairs", full_disk)
    with pytest.raises(InputError, match=r"Cannot write .*out.csv: No space left on device\."):
        write(Transactions.from_lists([["a"]]), path)
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "layout", "words"),
    [
        ("out.xlsx", None, r"Cannot tell a format from 'out.xlsx'; end it in one of \.csv"),
        ("out", None, "Cannot tell a format"),
        ("out.gz", None, "Cannot tell a format"),
        ("out.csv", "list", r"written as long or one-hot or baskets, not as list; that layout is for \.parquet"),
        ("out.dat", "long", "written as fimi, not as long"),
        ("out.parquet", "wide", "not as wide"),
        ("out.parquet.gz", None, "name it out.parquet"),
        ("nowhere/out.csv", None, "There is no directory"),
        (".", "long", "Cannot tell a format|is a directory"),
    ],
)
def test_targets_that_cannot_be(tmp_path, monkeypatch, name, layout, words) -> None:
    """What cannot be written is refused before any data is needed."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        target(name, layout)


def test_one_hot_is_for_small_universes(tmp_path) -> None:
    """A table with a column for each of very many items is refused, and one without columns cannot be."""
    path = tmp_path / "out.csv"
    with pytest.raises(InputError, match=r"One-hot would need 2,001 columns.*long or list"):
        write(Transactions.from_lists([[0]], items=range(MOST_COLUMNS + 1)), path, layout="one-hot")
    with pytest.raises(InputError, match="there is no item"):
        write(Transactions.from_lists([[]]), path, layout="one-hot")
    assert not path.exists()


def test_a_copy_would_forget_whose_a_transaction_is(tmp_path) -> None:
    """A bounded unit is refused; one whose transactions were merged is one transaction each, and is written."""
    made = {"offsets": np.arange(4), "codes": np.arange(3), "labels": ["a", "b", "c"]}
    whose = {"unit_of_row": np.array([0, 0, 1]), "unit_labels": ["x", "y"]}
    path = tmp_path / "out.txt"
    with pytest.raises(InputError, match="could no longer be protected"):
        write(Transactions.from_codes(**made, **whose, unit=Unit("customer", 2)), path)
    assert not path.exists()
    write(Transactions.from_codes(**made, **whose, unit=Unit("customer", merged=True)), path)
    assert path.read_text() == "a,b\nc\n"


def test_what_cannot_be_written(tmp_path) -> None:
    """Lists are read first, and a store that gives out counts alone has nothing to write."""
    with pytest.raises(InputError, match=r"make them with privmine\.read first"):
        write([["a"]], tmp_path / "out.csv")  # type: ignore[arg-type]
    known = Transactions.from_lists([["a"]])
    with pytest.raises(InputError, match="gives out counts only"):
        write(Transactions(known.universe, RepeatedStore(known.store, 2)), tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_text_needs_no_extra(tmp_path, monkeypatch) -> None:
    """Without pyarrow text is written all the same, and Parquet is refused with what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    transactions = Transactions.from_lists(BASKETS)
    for suffix, layout in (way for way in WAYS if way[0] != ".parquet" and way[1] != "fimi"):
        write(transactions, tmp_path / f"out{suffix}", layout=layout)
    with pytest.raises(InputError, match=r"pip install 'privmine\[tables\]'"):
        target(tmp_path / "out.parquet")
