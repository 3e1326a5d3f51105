"""Labels that are written in several ways: trimmed and folded on request, with the catalogue treated alike."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import privmine as pm
from privmine.audit.written_sources import contents_of
from privmine.errors import DataError, InputError
from privmine.io.respelling import Respelling, questionable

BOTH = {"trim": True, "fold_case": True}


def labels(transactions):
    """The universe as texts."""
    return [str(label) for label in transactions.universe.labels.tolist()]


def test_nothing_is_respelt_by_default():
    """Three ways to write milk are three items."""
    assert labels(pm.read([["milk", "Milk", " milk"]])) == [" milk", "Milk", "milk"]


@pytest.mark.parametrize(
    ("options", "found"),
    [({"trim": True}, ["Milk", "milk"]), ({"fold_case": True}, [" milk", "milk"]), (BOTH, ["milk"])],
)
def test_each_option_does_its_own(options, found):
    """Blanks at the ends, capitals, or both."""
    assert labels(pm.read([["milk", "Milk", " milk"]], **options)) == found


def test_two_labels_of_one_basket_that_become_one_count_once():
    """A basket is a set once its labels are alike."""
    assert contents_of(pm.read([["milk", " MILK", "Tea"], ["tea\t"]], **BOTH)) == {("milk", "tea"): 1, ("tea",): 1}


def test_labels_are_shown_as_the_catalogue_writes_them():
    """The public universe decides how an item reads, and each item is in it once."""
    found = pm.read([["WHOLE MILK", "tea"], [" Tea "]], items=["Whole milk ", "TEA", "tea", "rice"], **BOTH)
    assert labels(found) == ["Whole milk", "TEA", "rice"]
    assert contents_of(found) == {("TEA", "Whole milk"): 1, ("TEA",): 1}
    assert found.universe.given


def test_a_catalogue_of_numbers_stays_one():
    """Whole numbers have neither blanks nor capitals."""
    found = pm.read([[1, 2], [2]], items=[2, 1], **BOTH)
    assert found.universe.labels.dtype.kind == "i"
    assert contents_of(found) == {("1", "2"): 1, ("2",): 1}


def test_every_way_in_makes_labels_alike(tmp_path):
    """Tables of every layout, basket lines, JSON, matrices and FIMI text with names give the same transactions."""
    long = tmp_path / "long.csv"
    long.write_text("order_id,product\n1,Milk\n1, milk\n1,tea\n2,TEA \n")
    baskets = tmp_path / "baskets.txt"
    baskets.write_text("Milk,milk ,tea\nTEA \n")
    lists = tmp_path / "lists.jsonl"
    lists.write_text('{"items": ["Milk", " milk", "tea"]}\n{"items": ["TEA"]}\n')
    flags = tmp_path / "flags.jsonl"
    flags.write_text('{" Milk": true, "tea": true}\n{"milk": false, "TEA": true}\n')
    numbers = tmp_path / "numbers.dat"
    numbers.write_text("0 1 2\n2\n")
    frame = pd.DataFrame({"Milk": [1, 0], "milk ": [1, 0], "TEA": [1, 1]})
    cells = np.array([[1, 1, 1], [0, 0, 1]])
    ways = [
        pm.read(long, transaction="order_id", item="product", **BOTH),
        pm.read(baskets, layout="baskets", separator=",", **BOTH),
        pm.read(lists, layout="list", item="items", **BOTH),
        pm.read(flags, layout="one-hot", items=["milk", "tea"], **BOTH),
        pm.read(flags, layout="one-hot", drop_missing=True, **BOTH),
        pm.read(numbers, names=["Milk", "MILK ", "tea"], **BOTH),
        pm.read(frame, layout="one-hot", **BOTH),
        pm.read(frame.astype(pd.SparseDtype(int, 0)), **BOTH),
        pm.read(cells, names=["Milk", "milk ", "tea"], **BOTH),
        pm.read(sparse.csr_array(cells), names=["Milk", "milk ", "tea"], **BOTH),
    ]
    for found in ways:
        assert contents_of(found) == {("milk", "tea"): 1, ("tea",): 1}, found


def test_a_label_of_blanks_alone_is_missing(tmp_path):
    """It is refused, or left out on request; without trimming it is a label."""
    path = tmp_path / "a.csv"
    path.write_text('order_id,product\n1,"  "\n1,tea\n')
    columns = {"transaction": "order_id", "item": "product"}
    assert labels(pm.read(path, **columns)) == ["  ", "tea"]
    with pytest.raises(DataError, match="missing values"):
        pm.read(path, **columns, trim=True)
    assert contents_of(pm.read(path, **columns, trim=True, drop_missing=True)) == {("tea",): 1}
    with pytest.raises(InputError, match="An item is missing"):
        pm.read([[" "]], trim=True)
    assert contents_of(pm.read([[" ", "tea"]], trim=True, drop_missing=True)) == {("tea",): 1}


def test_two_keys_of_a_json_row_that_become_one_are_refused(tmp_path):
    """Which of them holds cannot be told."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"milk": false, "Milk": true}\n')
    with pytest.raises(DataError, match="line 1: two keys of the row are one item"):
        pm.read(path, layout="one-hot", items=["milk"], fold_case=True)


def test_numbers_have_nothing_to_respell(tmp_path):
    """FIMI text without names is refused with a sentence, and so is a blank entry of the catalogue."""
    path = tmp_path / "a.dat"
    path.write_text("1 2\n")
    with pytest.raises(InputError, match="trim= and fold_case= are for labels"):
        pm.read(path, trim=True)
    with pytest.raises(InputError, match="An entry of items= is blank"):
        pm.read([["tea"]], items=["tea", " "], trim=True)


def test_an_item_file_is_trimmed_too(tmp_path):
    """Blanks in it are refused without the option, which the message names."""
    catalogue = tmp_path / "items.txt"
    catalogue.write_text("Milk \n  \nTEA\n")
    with pytest.raises(InputError, match="pass trim=True"):
        pm.read([["milk"]], items=catalogue)
    assert labels(pm.read([["milk"]], items=catalogue, **BOTH)) == ["Milk", "TEA"]


@pytest.mark.parametrize(
    ("catalogue", "words"),
    [
        (["Milk", "milk", "tea"], "differ only by capitals or by blanks"),
        (["MILK", "TEA", "7UP"], "All labels of items= are in capitals"),
        (["milk", "tea", "7"], "All labels of items= are in small letters"),
        (["Milk ", "tea"], "begin or end with blanks"),
        (["Milk", "tea"], None),
        (["milk"], None),
        ([1, 2, 3], None),
    ],
)
def test_a_catalogue_is_questioned_by_its_form_alone(catalogue, words):
    """What looks like another way to write the same, or is all in one case, is asked about before any charge."""
    assert words in questionable(catalogue) if words else questionable(catalogue) is None


def test_rows_of_nobody_are_dropped_on_request(tmp_path):
    """Without it they are refused; with it the receipt says so, and nothing else of such a row is looked at."""
    path = tmp_path / "a.jsonl"
    rows = [
        ("ann", 1, "tea"),
        (None, 2, "rice"),
        (" ", 3, "rice"),
        ("bob", 4, "tea"),
        (None, None, None),
        (" ", None, None),
    ]
    path.write_text("".join(json.dumps(dict(zip("uoi", row, strict=True))) + "\n" for row in rows))
    said = {"layout": "long", "transaction": "o", "item": "i", "unit": "u", "max_baskets": 2}
    with pytest.raises(DataError, match="drop_missing_units=True"):
        pm.read(path, **said)
    found = pm.read(path, **said, drop_missing_units=True)
    assert contents_of(found) == {("tea",): 2}
    assert labels(found) == ["tea"]
    receipt = pm.mine(found, 1, 1).receipt
    assert any("rows without a value for u are nobody's; they were dropped" in line for line in receipt.lines())


def test_baskets_of_nobody_are_dropped_on_request():
    """Units may be a sequence beside the baskets."""
    said = {"unit": ["ann", None, " ", "bob"], "max_baskets": 1}
    with pytest.raises(InputError, match="drop_missing_units=True"):
        pm.read([["tea"], ["rice"], ["rice"], ["tea", "milk"]], **said)
    found = pm.read([["tea"], ["rice"], ["rice"], ["tea", "milk"]], **said, drop_missing_units=True)
    assert contents_of(found) == {("tea",): 1, ("milk", "tea"): 1}
    with pytest.raises(InputError, match="no unit is named"):
        pm.read([["tea"]], drop_missing_units=True)


def test_how_a_label_is_respelt_depends_on_it_alone():
    """Folding is Unicode's: ß and SS are one, and so are the sigmas."""
    respell = Respelling(True, True)
    assert respell("STRASSE\u00a0") == respell("Straße") == "strasse"
    assert respell("ΣΑΣ") == respell("σας")
    assert respell(" \t") is None
