"""`privmine columns`: what the owner of a file calls its columns."""

from __future__ import annotations

import json

import openpyxl
import pandas as pd
import pytest

FRAME = pd.DataFrame({"order_id": [1], "product [EUR]": ["milk"]})
WRITERS = {
    "a.csv": lambda path: FRAME.to_csv(path, index=False),
    "a.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False, sep=";"),
    "a.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "a.parquet": lambda path: FRAME.to_parquet(path),
    "a.feather": lambda path: FRAME.to_feather(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_columns_are_listed_one_a_line(privmine, tmp_path, name):
    """Of every format, as they stand there, and as JSON."""
    WRITERS[name](tmp_path / name)
    assert privmine("columns", str(tmp_path / name)) == (0, "order_id\nproduct [EUR]\n", "")
    code, out, _ = privmine("columns", str(tmp_path / name), "--json")
    assert (code, json.loads(out)) == (0, [{"sheet": None, "columns": ["order_id", "product [EUR]"]}])


def test_blanks_around_a_name_are_told(privmine, tmp_path):
    """They cannot be seen on a screen, and without them there is no such column."""
    path = tmp_path / "a.csv"
    path.write_text("order_id, Customer ,product\n1,2,tea\n")
    told = "privmine: blanks at an end and line breaks belong to a name. Pass it with them: ' Customer '.\n"
    assert privmine("columns", str(path)) == (0, "order_id\n Customer \nproduct\n", told)
    assert privmine("columns", str(path), "--json")[2] == ""
    book = openpyxl.Workbook()
    book.active.append(["Customer\nID", "product"])
    book.active.append([1, "tea"])
    book.save(tmp_path / "a.xlsx")
    assert "Pass it with them: $'Customer\\nID'." in privmine("columns", str(tmp_path / "a.xlsx"))[2]


def test_sheets_are_listed_with_their_columns(privmine, tmp_path):
    """All of a workbook, or the one that is named."""
    book = openpyxl.Workbook()
    book.active.title = "May"
    book.active.append(["order_id", "product"])
    book.active.append([1, "tea"])
    book.create_sheet("June").append(["order_id", "article"])
    path = str(tmp_path / "a.xlsx")
    book.save(path)
    lines = ["Sheet: May", "order_id", "product", "Sheet: June", "order_id", "article"]
    assert privmine("columns", path) == (0, "\n".join(lines) + "\n", "")
    assert privmine("columns", path, "--sheet", "May")[1].splitlines() == lines[:3]
    code, _, err = privmine("mine", path, "--epsilon", "1")
    assert code == 2
    assert "has several sheets. Name one with --sheet." in err


def test_a_title_above_the_names_of_a_sheet_is_told(privmine, tmp_path):
    """As reports have it; basket lines, which text may be, are no way out for a workbook."""
    book = openpyxl.Workbook()
    book.active.title = "May"
    for row in (["Sales 2026"], [], ["order_id", "product"], [1, "tea"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    code, _, err = privmine("columns", str(tmp_path / "a.xlsx"))
    assert code == 0
    assert "the first line of the sheet 'May'" in err
    assert "delete what is above them" in err
    assert "baskets" not in err


def test_a_first_line_that_may_be_data_is_told(privmine, tmp_path):
    """It is shown to its owner, with a word of doubt."""
    path = tmp_path / "a.csv"
    path.write_text("milk,tea\nmilk,bread\n")
    code, out, err = privmine("columns", str(path))
    assert (code, out) == (0, "milk\ntea\n")
    assert "may be a row of data" in err


@pytest.mark.parametrize(("name", "content"), [("a.dat", "1 2\n"), ("a.txt", "1 2\n3\n"), ("none.csv", None)])
def test_what_has_no_columns_is_told(privmine, tmp_path, name, content):
    """FIMI text, and a file that is not there."""
    if content is not None:
        (tmp_path / name).write_text(content)
    code, out, err = privmine("columns", str(tmp_path / name))
    assert (code, out) == (2, "")
    assert "has no columns" in err or "does not exist" in err
