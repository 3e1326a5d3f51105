"""Sheets of workbooks as tables."""

from __future__ import annotations

from datetime import datetime

import openpyxl
import pandas as pd
import pytest

import privmine as pm
from privmine.audit.written_sources import contents_of
from privmine.errors import DataError, InputError

COLUMNS = {"transaction": "order_id", "item": "product", "layout": "long"}
ROWS = [["order_id", "product"], [1, "milk"], [1, "tea"], [2, "tea"]]
EXPECTED = {("milk", "tea"): 1, ("tea",): 1}


def workbook(path, **sheets):
    """Write a workbook, and where."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_a_table(tmp_path):
    """Said or guessed; the guess is told."""
    path = workbook(tmp_path / "a.xlsx", Orders=ROWS)
    assert contents_of(pm.read(path, **COLUMNS)) == EXPECTED
    guessed = pm.read(path)
    assert contents_of(guessed) == EXPECTED
    assert guessed.origin.guess == "transaction='order_id', item='product'"


def test_a_frame_that_pandas_wrote_is_read(tmp_path):
    """Its index is a column without a name."""
    pd.DataFrame(ROWS[1:], columns=ROWS[0]).to_excel(tmp_path / "a.xlsx")
    assert contents_of(pm.read(tmp_path / "a.xlsx", **COLUMNS)) == EXPECTED


def test_cells_read_as_elsewhere(tmp_path):
    """Whole floats as integers, times without zeros, empty rows not at all."""
    cells = [7.0, "007", 1.5, True, datetime(2024, 1, 2, 3, 4)]
    rows = [ROWS[0], *([1, cell] for cell in cells[:2]), [None, None], *([1, cell] for cell in cells[2:])]
    found = pm.read(workbook(tmp_path / "a.xlsx", Orders=rows), **COLUMNS)
    assert contents_of(found) == {tuple(sorted(["7", "007", "1.5", "true", "2024-01-02 03:04:00"])): 1}


def test_one_of_several_sheets_is_named(tmp_path):
    """The message names no sheet, since its name may be data; `privmine columns` lists them."""
    path = workbook(tmp_path / "a.xlsx", Orders=ROWS, Anna=[["x"]])
    with pytest.raises(InputError, match=r"several sheets. Name one with sheet=.*privmine columns") as error:
        pm.read(path, **COLUMNS)
    assert "Anna" not in str(error.value)
    assert contents_of(pm.read(path, sheet="Orders", **COLUMNS)) == EXPECTED
    with pytest.raises(InputError, match="has no sheet 'orders'"):
        pm.read(path, sheet="orders", **COLUMNS)
    with pytest.raises(InputError, match="sheet= is for Excel workbooks"):
        pm.read([["tea"]], sheet="Orders")


def test_what_is_no_workbook_is_told(tmp_path):
    """Text by that name, an empty sheet, a cell beside the table, other columns, a separator."""
    (tmp_path / "text.xlsx").write_text("order_id,product\n1,milk\n")
    with pytest.raises(DataError, match="not an Excel workbook"):
        pm.read(tmp_path / "text.xlsx", **COLUMNS)
    with pytest.raises(DataError, match="has no row"):
        pm.read(workbook(tmp_path / "empty.xlsx", Orders=[]), **COLUMNS)
    with pytest.raises(DataError, match="to the right of the names"):
        pm.read(workbook(tmp_path / "wide.xlsx", Orders=[*ROWS, [3, "tea", "a remark"]]), **COLUMNS)
    with pytest.raises(InputError, match="no column 'article'"):
        pm.read(workbook(tmp_path / "a.xlsx", Orders=ROWS), transaction="order_id", item="article")
    with pytest.raises(InputError, match="separator= is for CSV"):
        pm.read(tmp_path / "a.xlsx", separator=",")
    with pytest.raises(DataError, match="does not exist"):
        pm.read(tmp_path / "none.xlsx", **COLUMNS)
    renamed = workbook(tmp_path / "b.xlsx", Orders=ROWS).rename(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"an Excel workbook. Rename it so that its name ends in .xlsx"):
        pm.read(renamed)


def test_what_the_library_warns_of_is_not_heard(tmp_path):
    """A date beyond the calendar makes openpyxl warn with the cell; warnings are errors in these tests."""
    path = workbook(tmp_path / "a.xlsx", Orders=ROWS)
    book = openpyxl.load_workbook(path)
    cell = book["Orders"].cell(2, 1)
    cell.value, cell.number_format = 99999999, "yyyy-mm-dd"
    book.save(path)
    assert contents_of(pm.read(path, **COLUMNS)).total() == 3


def test_several_workbooks_are_one_table(tmp_path):
    """All of them have the same columns."""
    one, other = (
        workbook(tmp_path / "1.xlsx", Orders=ROWS[:3]),
        workbook(tmp_path / "2.xlsx", Orders=[ROWS[0], ROWS[3]]),
    )
    assert contents_of(pm.read([one, other], **COLUMNS)) == EXPECTED
    odd = workbook(tmp_path / "3.xlsx", Orders=[["order_id", "article"], [1, "tea"]])
    with pytest.raises(DataError, match="has other columns"):
        pm.read([one, odd], **COLUMNS)
