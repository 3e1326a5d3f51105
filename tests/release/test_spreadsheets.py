"""Files that other programs open: a plain CSV with the receipt beside it, and an Excel workbook."""

from __future__ import annotations

import json
import zipfile
from importlib.metadata import version
from typing import Any

import attrs
import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pytest

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.release.release_files import to_html

ODD = ["=1+1", "a, b", "-x", "line\nbreak", "plain"]


@pytest.fixture(scope="module")
def release() -> Any:
    """A private release with labels that break spreadsheets."""
    return pm.mine([ODD] * 400, 31, 10)


def test_a_plain_file_opens_as_it_is(release, tmp_path) -> None:
    """pandas needs no option, no cell is a formula, and the release is read back whole."""
    path = tmp_path / "top.csv"
    release.save(path, plain=True)
    frame = pd.read_csv(path)
    assert list(frame.columns) == ["rank", "itemset", "support", "count", "length", "ci_low", "ci_high"]
    assert len(frame) == len(release)
    assert frame["count"].dtype.kind == "i"
    assert not frame["itemset"].str.startswith(("=", "+", "-", "@")).any()
    assert pm.load(path) == pm.load(tmp_path / "top.receipt.json") == release


def test_letters_beyond_ascii_are_marked_for_spreadsheets(tmp_path) -> None:
    """A mark of the byte order tells them that it is UTF-8; pandas, Polars, DuckDB and `pm.load` do not mind it."""
    path = tmp_path / "top.csv"
    release = pm.mine([["café", "日本"]] * 400, 3, 10)
    release.save(path, plain=True)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfrank,")
    assert (
        pd.read_csv(path).columns[0] == pl.read_csv(path).columns[0] == duckdb.read_csv(str(path)).columns[0] == "rank"
    )
    assert pm.load(path) == release
    pm.mine([["tea"]] * 400, 1, 10).save(tmp_path / "ascii.csv", plain=True)
    assert (tmp_path / "ascii.csv").read_bytes().startswith(b"rank,")


def test_rows_may_be_taken_out_of_a_plain_file(release, tmp_path) -> None:
    """What is left is loaded; another release's receipt is refused."""
    path = tmp_path / "top.csv"
    release.save(path, plain=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], *lines[3:6]]) + "\n", encoding="utf-8")
    assert pm.load(path).itemsets == release.itemsets[2:5]
    path.write_text(lines[0] + "\n1,other,1,1,1,1,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="of another release"):
        pm.load(path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_plain_file_that_a_spreadsheet_saved_is_read(release, tmp_path, separator) -> None:
    """In many countries a spreadsheet separates cells by semicolons; rows and counts are checked as ever."""
    path = tmp_path / "top.csv"
    release.save(path, plain=True)
    frame = pd.read_csv(path)
    frame.to_csv(path, sep=separator, decimal=",", index=False)
    assert pm.load(path) == release
    frame.assign(count=frame["count"] + 1).to_csv(path, sep=separator, index=False)
    with pytest.raises(DataError, match="a count in it was changed"):
        pm.load(path)


def test_a_plain_file_without_its_receipt_is_told(release, tmp_path) -> None:
    """It was renamed or sent alone; what is missing has a name."""
    release.save(tmp_path / "top.csv", plain=True)
    (tmp_path / "top.csv").rename(tmp_path / "may.csv")
    with pytest.raises(DataError, match=r"needs its receipt, may\.receipt\.json, which is not beside it"):
        pm.load(tmp_path / "may.csv")


def test_labels_that_read_alike_are_told_apart_by_their_rank(tmp_path) -> None:
    """A line break is written as two signs, and so are these two signs."""
    release = pm.mine([["a\nb"], ["a\\nb"], ["a\nb"]] * 100, 2, 10)
    release.save(tmp_path / "top.csv", plain=True)
    assert pm.load(tmp_path / "top.csv") == release


def test_a_workbook_has_rows_and_a_receipt(release, tmp_path) -> None:
    """Numbers are numbers, labels are text, the receipt is a sheet; and it is read back whole."""
    path = tmp_path / "top.xlsx"
    release.save(path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Itemsets", "Receipt", "privmine"]
    sheet = book["Itemsets"]
    assert sheet.max_row == len(release) + 1
    assert {cell.data_type for cell in sheet["B"]} == {"s"}
    assert all(isinstance(cell.value, int) for cell in sheet["D"][1:])
    words = [cell.value for cell in book["Receipt"]["A"]]
    assert all(line in words for line in [*release.receipt.lines(), *release.verdict.lines(release)])
    assert pm.load(path) == release
    assert len(pd.read_excel(path)) == len(release)


def test_another_workbook_is_no_release(tmp_path) -> None:
    """With several sheets, none of them privmine's."""
    book = openpyxl.Workbook()
    book.create_sheet("other")
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match="no sheet 'privmine'"):
        pm.load(tmp_path / "x.xlsx")


def test_a_simulation_says_so_in_every_row(tmp_path) -> None:
    """In the plain file too, and in the one beside it."""
    made = pm.mine(pm.groceries(), 5, 1, simulate=True, seed=1, output=tmp_path / "a.csv", plain=True)
    assert pd.read_csv(tmp_path / "a.csv")["simulated"].all()
    assert json.loads((tmp_path / "a.receipt.json").read_text(encoding="utf-8"))["private"] is False
    assert pm.load(tmp_path / "a.csv") == made


def test_plain_is_for_csv_and_replaces_nothing(tmp_path) -> None:
    """Told before anything is charged; the file beside counts as well."""
    with pytest.raises(InputError, match="plain"):
        pm.mine([["a"]], 1, 1, output=tmp_path / "a.json", plain=True)
    (tmp_path / "a.receipt.json").write_text("kept")
    with pytest.raises(InputError, match=r"a\.receipt\.json exists"):
        pm.mine([["a"]], 1, 1, output=tmp_path / "a.csv", plain=True)


def test_the_version_is_known() -> None:
    """As the installed distribution states it."""
    assert pm.__version__ == version("privmine")


def test_a_page_has_a_chart(release, tmp_path) -> None:
    """Drawn in the page itself, labels escaped; nothing is drawn where nothing is listed."""
    release.save(tmp_path / "top.html")
    text = (tmp_path / "top.html").read_text(encoding="utf-8")
    assert text.count("<rect") == 25
    assert "<svg" not in to_html(attrs.evolve(release, itemsets=()))


def test_columns_stand_in_one_order_everywhere(release, tmp_path) -> None:
    """The support before the count, the count before the interval: in frames, files and on every screen."""
    names = ("support", "count", "ci_low", "ci_high")
    release.save(tmp_path / "plain.csv", plain=True)
    release.save(tmp_path / "whole.csv")
    release.save(tmp_path / "whole.json")
    sheets = [
        list(release.to_pandas().columns),
        release.to_polars().columns,
        release.to_arrow().column_names,
        list(pd.read_csv(tmp_path / "plain.csv").columns),
        list(pd.read_csv(tmp_path / "whole.csv", comment="#").columns),
        list(json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))["itemsets"][0]),
    ]
    for columns in sheets:
        assert tuple(name for name in columns if name in names) == names
    for screen in (repr(release), release._repr_html_()):
        assert screen.index("support") < screen.index("count") < screen.index("95 % interval")


def test_receipts_and_ledgers_are_readable(release, tmp_path) -> None:
    """In a terminal and in a notebook; a ledger that is not there is named only."""
    assert repr(release.receipt) == str(release.receipt)
    page = release.receipt._repr_html_()
    lines, charges = release.receipt.lines(), release.receipt.charges
    assert page.count("<tr>") == len(lines) + 1
    assert all(charge.query in page for charge in charges)
    assert "<script>" not in attrs.evolve(release.receipt, notes=("<script>",))._repr_html_()
    ledger = pm.Ledger(tmp_path / "budget.db")
    assert repr(ledger) == f"Ledger({str(tmp_path / 'budget.db')!r})"
    ledger.init("orders", 3)
    assert "orders: ε = 3 left of ε = 3" in repr(ledger)
    assert "<td>orders</td><td>transaction</td><td>ε = 3</td><td>ε = 0</td><td>ε = 3</td>" in ledger._repr_html_()
    assert "budget.db" in pm.Ledger(tmp_path / "other" / "budget.db")._repr_html_()


def test_a_small_workbook_that_unpacks_to_much_is_refused(tmp_path) -> None:
    """Before the library that reads it holds its parts in memory."""
    path, bomb = tmp_path / "a.xlsx", tmp_path / "bomb.xlsx"
    pm.mine([["a", "b"]] * 20, 2, 1, simulate=True, seed=1).save(path)
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        for name in packed.namelist():
            with out.open(name, "w") as part:
                part.write(packed.read(name))
                for _ in range(130 if name == "xl/styles.xml" else 0):
                    part.write(b" " * (1 << 20))
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(DataError, match="unpacks to more than 128 MiB"):
        pm.load(bomb)
    assert pm.load(path).itemsets


def test_a_changed_count_in_a_plain_file(tmp_path) -> None:
    """It is not what was released, whatever the receipt beside it says; `budget verify` must not call it paid."""
    target = tmp_path / "release.csv"
    made = pm.mine([["a"], ["a", "b"]] * 30, 1, 1, output=target, plain=True)
    target.write_text(target.read_text().replace(f",{round(made[0].count)},", ",123456,"))
    with pytest.raises(DataError, match="a count in it was changed"):
        pm.load(target)
