"""Columns of objects in pandas: how a cell reads is a matter of that cell alone."""

import datetime as dt
from collections import Counter
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.io.readers import python_values as values
from privmine.io.readers.tables import arrow
from privmine.store.labels import text_of

NAME = "Erika Mustermann"
NEW_YORK, UTC = ZoneInfo("America/New_York"), ZoneInfo("UTC")
#: Cells, and how each of them reads.
CELLS = [
    ("a", "a"),
    ("007", "007"),
    ("2.50", "2.50"),
    (np.str_("b"), "b"),
    (5, "5"),
    (5.0, "5"),
    (np.int8(5), "5"),
    (2**70, str(2**70)),
    (0.1, "0.1"),
    (-0.0, "0"),
    (np.float32(0.5), "0.5"),
    (float("inf"), "inf"),
    (True, "true"),
    (np.bool_(False), "false"),
    (Decimal("2.50"), "2.5"),
    (dt.date(2020, 1, 1), "2020-01-01"),
    (dt.datetime(2020, 1, 1, 5), "2020-01-01 05:00:00"),
    (dt.datetime(2020, 1, 1, 5, 0, 0, 500000), "2020-01-01 05:00:00.5"),
    (pd.Timestamp("2020-01-01 05:00"), "2020-01-01 05:00:00"),
    (np.datetime64("2020-01-01T05:00"), "2020-01-01 05:00:00"),
    (dt.datetime(2020, 1, 1, 5, tzinfo=UTC), "2020-01-01 05:00:00+00:00"),
    (dt.datetime(2020, 1, 1, 5, tzinfo=NEW_YORK), "2020-01-01 05:00:00-05:00"),
    (pd.Timestamp("2020-01-01 05:00", tz="UTC"), "2020-01-01 05:00:00+00:00"),
    (dt.time(6, 0, 0, 1), "06:00:00.000001"),
    (dt.timedelta(days=1), "86400"),
    (pd.Timedelta(days=1), "86400"),
    (np.timedelta64(1, "D"), "86400"),
    (UUID(int=7), str(UUID(int=7))),
]
MISSING = [None, np.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT"), Decimal("NaN")]
#: What is no label, and what is said of it.
NO_LABELS = [
    ({NAME: 1}, "contains records, not labels"),
    (NAME.encode(), "contains bytes, not labels"),
    (bytearray(NAME.encode()), "contains bytes, not labels"),
    (1j, "no text of its own; make them text first"),
    (pd.Interval(0, 1), "no text of its own"),
    (pd.Series([NAME]), "no text of its own"),
    (f"{NAME}\ud800", "lone surrogate"),
]


def column(cells):
    """A series of objects that holds the cells as they are."""
    made = np.empty(len(cells), dtype=object)
    made[:] = [None] * len(cells)
    for place, cell in enumerate(cells):
        made[place] = cell
    return pd.Series(made, dtype=object)


def long(cells, **options):
    """Read a long frame with each cell in a transaction of its own."""
    frame = pd.DataFrame({"order": range(len(cells)), "item": column(cells)})
    return pm.read(frame, layout="long", transaction="order", item="item", **options)


def lists(cells, **options):
    """Read a frame with a list in each row."""
    return pm.read(pd.DataFrame({"basket": column(cells)}), layout="list", item="basket", **options)


def supports(found):
    """How often each label occurs."""
    return dict(zip(map(str, found.universe.labels.tolist()), found.store.item_supports().tolist(), strict=True))


def test_each_cell_reads_as_itself_whatever_the_others_are():
    """Alone, beside any other, and beside all others at once."""
    for cell, text in CELLS:
        assert supports(long([cell])) == {text: 1}
        assert supports(lists([[cell]])) == {text: 1}
        for other, beside in CELLS:
            assert supports(lists([[other], (cell,)])) == dict(Counter([text, beside])), (cell, other)
    expected = dict(Counter(text for _, text in CELLS))
    assert supports(long([cell for cell, _ in CELLS])) == expected
    assert supports(lists([np.array([cell], dtype=object) for cell, _ in CELLS])) == expected


@pytest.mark.parametrize("make", [long, lambda cells, **more: lists([[cell] for cell in cells], **more)])
def test_one_row_does_not_change_what_strict_mode_releases(make):
    """The reproductions: another time zone, a span of time among numbers, a number among texts."""
    there = dt.datetime(2020, 1, 1, 5, tzinfo=UTC)
    for cell, odd in ((there, there.replace(day=2, tzinfo=NEW_YORK)), (5, dt.timedelta(days=1)), ("a", 5), (1, 0.5)):
        for cells in ([cell] * 100, [odd, *[cell] * 100], [*[cell] * 100, odd]):
            found = make(cells, items=[text_of(cell)])
            assert (found.store.count(), found.store.item_supports().tolist()) == (len(cells), [100])
            pm.mine(found, k=1, epsilon=1, strict=True)


@pytest.mark.parametrize("cells", [["a", "b"], [1, 2], [0.5, 2.5], [dt.datetime(2020, 1, 1, tzinfo=UTC)] * 2], ids=str)
def test_one_row_does_not_decide_what_pandas_infers(cells):
    """Another value makes a column of objects; strict mode asks for the layout with it and without it."""
    for more in ([], [7, "x"]):
        frame = pd.DataFrame({"order": range(len(cells + more)), "item": cells + more})
        found = pm.read(frame, transaction="order", item="item", items=["a"])
        assert "detected: layout='long'" in repr(found)
        with pytest.raises(InputError, match="Strict mode: the layout was detected"):
            pm.mine(found, k=1, epsilon=1, strict=True)


@pytest.mark.parametrize("kind", ["string", "category", "Int64"])
def test_a_type_that_somebody_chose_is_no_guess(kind):
    """No row can change it."""
    frame = pd.DataFrame({"order": [1, 2], "item": pd.Series([1, 2]).astype(kind)})
    pm.mine(pm.read(frame, transaction="order", item="item", items=[1, 2]), k=1, epsilon=1, strict=True)


@pytest.mark.parametrize("missing", MISSING)
def test_missing_cells(missing):
    """They are refused or left out, beside texts as beside anything else."""
    for other in ("a", 5, dt.date(2020, 1, 1)):
        with pytest.raises(DataError, match="missing values in the column 'item'"):
            long([other, missing])
        found = long([other, missing], drop_missing=True)
        assert (found.store.count(), supports(found)) == (2, {text_of(other): 1})
        for cells in ([[other], missing], [[other, missing], []]):
            found = lists(cells, drop_missing=True)
            assert (found.store.count(), supports(found)) == (2, {text_of(other): 1})


@pytest.mark.parametrize(("cell", "message"), NO_LABELS)
@pytest.mark.parametrize("others", [[], ["a"], [1, "a"]])
def test_what_is_no_label_is_refused_by_its_type(cell, message, others):
    """Whatever stands beside it, and without a word of it."""
    for make in (lambda: long([*others, cell]), lambda: lists([[*others, cell]])):
        with pytest.raises(DataError, match=message) as caught:
            make()
        assert NAME not in str(caught.value)
        assert caught.value.__context__ is None
    # Of a column that is not used nothing is asked.
    frame = pd.DataFrame({"basket": [["a"]], "note": column([cell])})
    assert pm.read(frame, layout="list", item="basket").store.count() == 1


def test_lists_among_labels():
    """A column holds lists or labels, as is said."""
    for cell in (["a"], ("a",), {"a"}, np.array(["a"])):
        for cells in ([cell], ["a", cell], [cell, "a"]):
            with pytest.raises(pm.PrivmineError, match="contains lists"):
                long(cells)
        with pytest.raises(DataError, match="something else than a list in some row"):
            lists([cell, "a"])
        assert supports(lists([cell, [], [1, "a"]])) == {"1": 1, "a": 2}


def test_texts_are_read_the_same_way_in_a_hurry(monkeypatch):
    """Arrow makes the texts of a column of texts, and makes what is made of each by itself."""
    cells = ["a", "", "\0", "é", "e\u0301", "😀", None, np.nan, "nan", "None", " a "]
    quick = values.column_of(column(cells).to_numpy(), "it", lists=False)
    slow = arrow().array([values._text(cell, "it") for cell in cells], "string")
    assert quick.equals(slow)
    assert values.column_of([*cells, 1], "it", lists=False).to_pylist() == [*slow.to_pylist(), "1"]
    monkeypatch.setattr(values, "_text", None)
    assert values.column_of(cells, "it", lists=False).equals(slow)


def test_categories_of_objects():
    """Their categories are read as the cells of a column of objects are; a gap is a missing value."""
    cells = [cell for cell, _ in CELLS if not isinstance(cell, np.generic)]
    frame = pd.DataFrame({"order": range(len(cells)), "item": pd.Categorical(column(cells))})
    assert frame["item"].cat.categories.dtype == object
    expected = supports(long(frame["item"].tolist()))
    assert supports(pm.read(frame, transaction="order", item="item")) == expected
    frame.loc[0, "item"] = None
    with pytest.raises(DataError, match="missing values in the column 'item'"):
        pm.read(frame, transaction="order", item="item")
    for cell, what in ((NAME.encode(), "bytes"), ((NAME,), "lists")):
        kind = pd.CategoricalDtype(pd.Index(column(["a", cell]), tupleize_cols=False))
        frame = pd.DataFrame({"order": [1], "item": pd.Series(["a"], dtype=kind)})
        with pytest.raises(DataError, match=f"contains {what}, not labels"):
            pm.read(frame, layout="long", transaction="order", item="item")


def test_an_index_of_objects():
    """It is a column, and read as one; with several levels too."""
    orders = [1, "1", "x", 1.0, dt.date(2020, 1, 1)]
    items = ["a", "b", 5, "5", "c"]
    frame = pd.DataFrame({"order": column(orders), "item": column(items), "who": [1, 2, 3, 4, 5]})
    for index in ("order", "item", ["who", "order"], ["order", "item"]):
        found = pm.read(frame.set_index(index), layout="long", transaction="order", item="item")
        assert (found.store.count(), supports(found)) == (3, {"5": 2, "a": 1, "b": 1, "c": 1})


def test_series_and_derived_frames():
    """A series of lists, and frames of types of one's own that derive from those of pandas."""

    class Frame(pd.DataFrame):
        pass

    assert supports(pm.read(column([["a", 5], [5.0]]), layout="list", item="items")) == {"5": 2, "a": 1}
    frame = Frame({"order": [1, 2], "item": column([5, dt.timedelta(days=1)])})
    assert supports(pm.read(frame, transaction="order", item="item")) == {"5": 1, "86400": 1}


def test_flags_in_columns_of_objects():
    """In the layout one-hot a cell of an object column is a flag by itself."""
    frame = pd.DataFrame({"a": column([True, 0, "1"]), "b": column([1.0, np.bool_(False), None]), "c": [0, 1, 1]})
    found = pm.read(frame, layout="one-hot", drop_missing=True)
    assert found.store.item_supports().tolist() == [2, 1, 2]


def test_many_batches(monkeypatch):
    """Columns of objects go along with the others, a batch at a time."""
    from privmine.io.readers import tables

    monkeypatch.setattr(tables, "BATCH_ROWS", 2)
    cells = ["a", 1, "b", 2, "c", 3, 1]
    frame = pd.DataFrame({"order": range(7), "item": column(cells), "kind": pd.Categorical(column(cells))})
    for item in ("item", "kind"):
        found = pm.read(frame, layout="long", transaction="order", item=item)
        assert supports(found) == {"1": 2, "2": 1, "3": 1, "a": 1, "b": 1, "c": 1}
