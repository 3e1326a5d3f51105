"""What a table is taken for: as the options say, else as its columns look; a guess is always told."""

import json
import re
from collections import Counter
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pytest

import privmine as pm
from privmine.errors import DataError, InputError


def baskets_of(transactions):
    """How often each basket occurs, by its labels."""
    labels, rows = transactions.universe.labels.tolist(), transactions.store.rows
    items = [labels[item] for item in rows.items.tolist()]
    return Counter(frozenset(items[start:stop]) for start, stop in pairwise(rows.offsets.tolist()))


def counted(*baskets):
    return Counter(map(frozenset, baskets))


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return path


LONG = counted("ab", "b")


@pytest.mark.parametrize(
    ("columns", "options", "guessed"),
    [
        ({"order_id": [1, 1, 2], "product": list("abb")}, {}, {"transaction": "order_id", "item": "product"}),
        ({"Order ID": [1, 1, 2], "SKU": list("abb"), "n": [3, 4, 5]}, {}, {"transaction": "Order ID", "item": "SKU"}),
        (
            {"InvoiceNo": ["x", "x", "y"], "StockCode": list("abb")},
            {},
            {"transaction": "InvoiceNo", "item": "StockCode"},
        ),
        (
            {"order_id": ["0", "0", "1"], "item": list("abb"), "x": [0, 1, 0], "y": [1, 1, 1], "z": [0, 0, 0]},
            {},
            {"transaction": "order_id", "item": "item"},
        ),
        ({"u": [1, 1, 2], "what": list("abb")}, {}, {"transaction": "u", "item": "what"}),
        ({"u": [1, 1, 2], "what": list("abb")}, {"transaction": "u"}, {"item": "what"}),
        ({"u": [1, 1, 2], "what": list("abb")}, {"item": "what"}, {"transaction": "u"}),
        ({"u": [1, 1, 2], "what": list("abb"), "z": list("zzz")}, {"transaction": "u", "item": "what"}, {}),
        ({"c": [7, 7, 8], "order_id": [1, 1, 2], "item": list("abb")}, {"unit": "c", "max_baskets": 1}, None),
        ({"words": [["a", "b"], ["b"]]}, {}, {"item": "words"}),
        ({"words": [["a", "b"], ["b"]]}, {"layout": "list"}, {}),
        ({"words": [["a", "b"], ["b"]], "n": [1, 2]}, {"layout": "list"}, {"item": "words"}),
        ({"words": [["a", "b"], ["b"]], "n": [[1], [2]]}, {"item": "words"}, {}),
        ({"t": [1, 1, 2], "words": [["a"], ["b"], ["b"]]}, {"item": "words", "transaction": "t"}, {}),
        ({"a": [True, False], "b": [True, True]}, {}, {"layout": "one-hot"}),
        ({"tid": [5, 6], "a": [True, False], "b": [True, True]}, {}, {"layout": "one-hot", "transaction": "tid"}),
        ({"a": [1, 0], "b": [2, 1]}, {"layout": "one-hot"}, {}),
    ],
)
def test_tables(columns, options, guessed):
    """Options decide; what they leave open is guessed from names and kinds, and told."""
    found = pm.read(pa.table(columns), **options)
    assert baskets_of(found) == LONG
    if guessed is not None:
        assert dict(found.origin.guessed) == guessed
        for name, value in guessed.items():
            assert f"{name}={value!r}" in repr(found)
        # The options that were told say the same.
        again = pm.read(pa.table(columns), **options, **guessed)
        assert baskets_of(again) == LONG
        assert not again.origin.guessed


@pytest.mark.parametrize(
    ("name", "content", "options", "guessed"),
    [
        ("a.csv", "order_id,product\n1,a\n1,b\n2,b\n", {}, {"transaction": "order_id", "item": "product"}),
        (
            "a.csv",
            "order_id;product\r\n1;a\r\n1;b\r\n2;b",
            {"transaction": "order_id", "item": "product"},
            {},
        ),
        ("a.csv", "\n\norder_id,product\n\n1,a\n1,b\n\n2,b\n", {}, {"transaction": "order_id", "item": "product"}),
        ("a.csv", "order_id,x\0y\n1,a\n1,b\n2,b\n", {"transaction": "order_id", "item": "x\0y"}, {}),
        ("a.csv", "a,b\nb\n", {}, {"layout": "baskets", "separator": ","}),
        ("a.csv", "a,b\nb,b\n", {"layout": "baskets"}, {"separator": ","}),
        ("a.txt", "a| b\nb\n", {}, {"layout": "baskets", "separator": "|"}),
        ("a.txt", "a b\nb\n", {"layout": "baskets", "separator": " "}, {}),
        ("a.csv", "a,b,,,\nb,,,,\n", {"layout": "baskets"}, {"separator": ","}),
        ("a.csv", "a,b\n1,1\n0,1\n", {"layout": "one-hot"}, {}),
        ("a.csv", "a,b\n12,1.0\n0.0,3\n", {"layout": "one-hot"}, {}),
        ("a.csv", "a,b\n.05,2.5\n0.00,1e-05\n", {"layout": "one-hot"}, {}),
        ("a.csv", ",order_id,product\n0,1,a\n1,1,b\n2,2,b\n", {}, {"transaction": "order_id", "item": "product"}),
        ("a.csv", ",a,b,c\n0,1,1,0\n1,0,1,0\n", {"items": ["a", "b"]}, {"layout": "one-hot"}),
        (
            "a.csv",
            "sep=;\norder_id;product\n1;a\n1;b\n2;b\n",
            {},
            {"transaction": "order_id", "item": "product", "separator": ";"},
        ),
        ("a.csv", '"SEP=|"\r\norder_id|item\r\n1|a\r\n1|b\r\n2|b', {"layout": "long", "separator": "|"}, None),
        ("a.tsv", "a\tb\n1\t1\n0\t1\n", {"layout": "one-hot", "separator": "tab"}, {}),
        ("a.csv", "a,b,c\n1,1,0\n0,1,0\n", {"items": ["a", "b", "c"]}, {"layout": "one-hot"}),
        ("a.tsv", "a\tb\ntrue\tTRUE\nfalse\t1\n", {"layout": "one-hot"}, {}),
        (
            "a.jsonl",
            '{"o": 1, "p": "a"}\n\n{"p": "b", "o": 1}\n{"o": 2, "p": "b"}\n',
            {},
            {"layout": "long", "transaction": "o", "item": "p"},
        ),
        ("a.jsonl", '["a", "b"]\n["b"]\n', {}, {"layout": "list", "item": "items"}),
        ("a.json", '[{"x": ["a", "b"]}, {"x": ["b", "b"]}]', {}, {"layout": "list", "item": "x"}),
        ("orders", "order_id,product\n1,a\n1,b\n2,b\n", {}, {"transaction": "order_id", "item": "product"}),
    ],
)
def test_text_files(tmp_path, name, content, options, guessed):
    """Text is a table if its first line has names, else basket lines; separators are found."""
    path = text(tmp_path / name, content)
    found = pm.read(path, **options)
    assert baskets_of(found) == LONG
    if guessed is not None:
        assert dict(found.origin.guessed) == guessed
        assert baskets_of(pm.read(path, **options, **guessed)) == LONG


def test_names_come_before_kinds():
    """A long table whose numbers all happen to be 0 or 1 is still a long table."""
    found = pm.read(pa.table({"order_id": [0, 0, 1], "item": [0, 1, 1], "quantity": [1, 1, 1]}))
    assert baskets_of(found) == counted([0, 1], [1])


def test_numbers_between_blanks_are_fimi(tmp_path):
    """A text file of nothing but numbers is FIMI text; one called .dat must be."""
    found = pm.read(text(tmp_path / "a.txt", "1 2\n\n2\n"))
    assert baskets_of(found) == Counter({frozenset({1, 2}): 1, frozenset(): 1, frozenset({2}): 1})
    assert dict(found.origin.guessed) == {"layout": "fimi"}
    with pytest.raises(DataError, match=r"line 1: not FIMI text"):
        pm.read(text(tmp_path / "a.dat", "milk bread\n"))
    assert baskets_of(pm.read(tmp_path / "a.dat", layout="baskets", separator=" ")) == counted(["milk", "bread"])


def test_empty_transactions_count(tmp_path):
    """An empty list, a row of zeros, an empty line and an order without items are transactions."""
    nothing = Counter({frozenset(): 1, frozenset("a"): 1})
    assert baskets_of(pm.read([["a"], []])) == nothing
    assert baskets_of(pm.read(pa.table({"x": [["a"], []]}))) == nothing
    assert baskets_of(pm.read(pa.table({"a": [True, False]}))) == nothing
    assert baskets_of(pm.read(text(tmp_path / "a.csv", "a\n\n"), layout="baskets", separator=",")) == nothing
    table = pa.table({"order_id": [1, 2], "item": ["a", None]})
    assert baskets_of(pm.read(table, drop_missing=True)) == nothing


def test_labels_keep_their_text(tmp_path):
    """Zeros in front, blanks, commas, quotes, newlines, emoji, HTML and words such as NA are part of a label."""
    labels = ["007", " 7", "7", "a,b", 'c"d', "e\nf", "🥛", "<b>x</b>", "NA", "null", "#1", "1.0", "é"]
    cells = ['"' + label.replace('"', '""') + '"' for label in labels]
    rows = "".join(f"1,{cell}\n" for cell in cells)
    lines = json.dumps(labels) + "\n"
    for found in (
        pm.read(text(tmp_path / "a.csv", f"order_id,product\n{rows}"), multiline_cells=True),
        pm.read(text(tmp_path / "a.jsonl", lines)),
        pm.read([labels]),
        pm.read(pd.DataFrame({"order_id": 1, "product": labels})),
        pm.read(pa.table({label: [True] for label in labels})),
        pm.read(pa.table({"order_id": [1] * len(labels), "product": labels}), items=sorted(labels)),
        pm.read(text(tmp_path / "b.csv", ",".join(cells) + "\n"), layout="baskets", multiline_cells=True),
    ):
        assert found.universe.labels.tolist() == sorted(labels)
        assert baskets_of(found) == counted(labels)


def test_whole_floats_are_integers():
    """A column with gaps has floats in pandas; its labels are integers all the same."""
    frame = pd.DataFrame({"order_id": [1.0, 1.0, None, 2.0], "item": [10, 12, 11, 12]})
    assert baskets_of(pm.read(frame, drop_missing=True)) == counted([10, 12], [12])
    frame = pd.DataFrame({"order_id": [1, 1, 2], "item": [10.0, 12.5, 12.5]})
    assert baskets_of(pm.read(frame)) == counted(["10", "12.5"], ["12.5"])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"order_id": [1], "product": ["a"]},
            {"transaction": "order"},
            r"no column 'order'.*'order_id'.*order_id, product",
        ),
        ({"order_id": [1], "product": ["a"]}, {"item": "zzz"}, r"no column 'zzz'.*Its columns are: order_id, product"),
        ({"x": ["a"], "y": ["b"], "z": ["c"]}, {}, r"not clear.*Its columns are: x, y, z\. .*transaction="),
        ({"x": [["a"]], "y": [["b"]]}, {}, "not clear"),
        ({"x": ["a"]}, {"layout": "list"}, "not clear"),
        ({"x": ["a"]}, {"layout": "list", "item": "x"}, "holds no lists"),
        ({"x": [["a"]], "o": [1]}, {"layout": "long", "item": "x"}, "contains lists"),
        ({"x": ["a"]}, {"layout": "fimi"}, "is for text files"),
        ({"x": ["a"]}, {"layout": "wide"}, "There is no layout 'wide'"),
        ({"x": ["a"], "o": [1]}, {"item": "x", "transaction": "x"}, "item and the transaction at once"),
        ({"x": ["a"], "o": [1]}, {"item": "x", "unit": "x", "max_baskets": 1}, "item and the unit at once"),
        ({"order_id": [1], "item": ["a"]}, {"unit": "order_id"}, "max_baskets=5"),
        ({"order_id": [1], "item": ["a"]}, {"max_baskets": 5}, "unit="),
        ({"order_id": [1], "item": ["a"]}, {"unit": "order_id", "max_baskets": 0}, "at least 1"),
        ({"order_id": [1], "item": ["a"]}, {"unit": "a", "max_baskets": 1, "merge_by": "b"}, "cannot be combined"),
        ({"order_id": [1], "item": ["a"]}, {"separator": ","}, "for CSV and basket lines"),
        ({"order_id": [1], "item": ["a"]}, {"encoding": "cp1252"}, "for text files"),
        ({"order_id": [1], "item": ["a"]}, {"names": ["a"]}, "its own labels"),
        ({"a": [float("inf")]}, {"layout": "one-hot"}, "other values than numbers from 0"),
        ({"a": [-1]}, {"layout": "one-hot"}, "other values than numbers from 0"),
        ({"a": ["yes"]}, {"layout": "one-hot"}, "other values than numbers from 0"),
    ],
)
def test_what_is_not_clear_is_refused(columns, options, message):
    """A wrong or missing option is refused with what is there and what to do."""
    with pytest.raises((InputError, DataError), match=message):
        pm.read(pa.table(columns), **options)


def test_the_first_line_of_a_file_without_names_is_not_shown(tmp_path):
    """Where the first line may be data, no message lists it as columns."""
    for content, options in (
        ("milk,bread\nbeer,milk\n", {}),
        ("milk,bread\nbeer,milk\n", {"transaction": "order_id"}),
        ("1,milk\n1,beer\n", {}),
        ("1,milk\n1,beer\n", {"item": "product"}),
        ("milk,milk\n1,2\n", {}),
        ("milk,\n1,2\n", {}),
        ("1,milk\n1,beer\n", {"layout": "long"}),
    ):
        with pytest.raises(InputError, match="not certain that its first line has the names") as caught:
            pm.read(text(tmp_path / "a.csv", content), **options)
        assert "milk" not in str(caught.value)
    with pytest.raises(DataError, match="in column 1") as caught:
        pm.read(text(tmp_path / "a.csv", "milk,bread\nbeer,milk\n"), layout="one-hot")
    assert "milk" not in str(caught.value)


def test_names_that_nobody_would_guess(tmp_path):
    """The advice for names in another language is to pass them, which works; not to add a line above them."""
    path = text(tmp_path / "a.csv", "Bestellung,Kunde,Artikel\nA1,Anna,a\nA1,Anna,b\nA2,Bert,b\n")
    for options in ({}, {"transaction": "order_id", "item": "product"}):
        with pytest.raises(InputError, match="If it has, pass them as they stand there; if it has none, add") as caught:
            pm.read(path, **options)
        assert not re.search("Bestellung|Anna", str(caught.value))
    assert baskets_of(pm.read(path, transaction="Bestellung", item="Artikel")) == LONG


@pytest.mark.parametrize("whole", [True, False])
def test_numbers_of_one_hot_tables(tmp_path, whole):
    """Any number above 0 means that an item is there, from a frame, a file or a matrix."""
    frame = pd.DataFrame({"a": [3, 0], "b": [2, 1]}) * (1 if whole else 0.25)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (frame, tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert baskets_of(pm.read(source, layout="one-hot")) == LONG
    assert baskets_of(pm.read(frame.to_numpy(), names=["a", "b"])) == LONG


def test_numbers_below_the_first_line_are_no_reason_to_show_it(tmp_path):
    """Numbers below may tell that the first line has names, but it may be a basket: it is not shown, nor guessed by."""
    path = text(tmp_path / "a.csv", "anna smith,hiv test\n1,bread\n2,milk\n")
    for options in ({}, {"transaction": "order"}, {"transaction": "anna smit", "item": "x"}, {"item": "hiv tests"}):
        with pytest.raises(InputError, match="not shown") as caught:
            pm.read(path, **options)
        assert "anna smith" not in str(caught.value)
        assert "hiv test'" not in str(caught.value)
    found = pm.read(path, transaction="anna smith", item="hiv test")
    assert baskets_of(found) == counted(["bread"], ["milk"])
    # One-hot is told without a name, and a cell that is missing by its place.
    path = text(tmp_path / "a.csv", "bread,milk,hiv test\n1,0,1\n0,1,\n")
    assert baskets_of(pm.read(path, drop_missing=True)) == counted(["bread", "hiv test"], ["milk"])
    with pytest.raises(DataError, match="missing values in column 3") as caught:
        pm.read(path)
    assert "hiv" not in str(caught.value)


def lines(path, rows):
    return text(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def test_keys_of_json_may_be_data(tmp_path):
    """Only keys that say what they are, or that were asked for, are shown: others may be the names of persons."""
    path = lines(tmp_path / "a.jsonl", [{f"person{n}": ["bread"], "city": "x"} for n in range(30)])
    for options in ({}, {"transaction": "person"}, {"item": "person7", "layout": "long"}, {"layout": "one-hot"}):
        with pytest.raises((InputError, DataError)) as caught:
            pm.read(path, **options)
        assert re.findall(r"person\d+", str(caught.value)) == re.findall(r"person\d+", str(options))
    with pytest.raises(InputError, match="names of its columns are not shown"):
        pm.read(path)
    with pytest.raises(InputError, match="not clear") as caught:
        pm.read(lines(tmp_path / "a.jsonl", [{"anna smith": ["bread"]}]))
    assert "anna" not in str(caught.value)
    rows = [{"order_id": n, "bread": 1, "milk": 0, "tea": 1} for n in range(9)] + [{"order_id": 9, "hiv test": 1}]
    for options in ({}, {"layout": "one-hot", "transaction": "order_id"}):
        with pytest.raises(DataError, match="missing values in a column") as caught:
            pm.read(lines(tmp_path / "a.jsonl", rows), **options)
        assert not re.search("hiv|bread|milk|tea", str(caught.value))


@pytest.mark.parametrize("row", [{"shop": "n", "items": ["a"]}, {"shop": "n", "day": 3, "item": "a"}, ["a"]])
@pytest.mark.parametrize("role", ["item", "transaction", "unit"])
def test_a_column_that_no_row_of_json_has_is_refused_by_its_name(tmp_path, row, role):
    """Also where nothing else tells the layout."""
    options = {role: "things", **({"max_baskets": 1} if role == "unit" else {})}
    with pytest.raises(DataError, match=r"missing values in the column 'things'.*heck the name of the column"):
        pm.read(lines(tmp_path / "a.jsonl", [row] * 3), **options)


def test_rows_of_nobody_are_left_out_before_columns_are_missed(tmp_path):
    """What stands beside a missing unit does not count, so that nothing there is refused."""
    rows = [{"order": 1, "item": "a", "who": "x"}, {"order": 2, "who": None}, {"item": "b"}]
    path = lines(tmp_path / "a.jsonl", rows)
    options = {"transaction": "order", "item": "item", "merge_by": "who"}
    assert baskets_of(pm.read(path, **options, drop_missing_units=True)) == counted("a")
    with pytest.raises(DataError, match="missing values in the column 'who'"):
        pm.read(path, **options)


@pytest.mark.parametrize("options", [{}, {"layout": "one-hot"}])
def test_keys_that_occur_late_are_items_as_well(tmp_path, options):
    """However far below a key of one-hot JSON first occurs, nothing is lost, and nobody's row decides that."""
    late = [{"bread": True} for _ in range(1200)] + [{"bread": True, "milk": True}] * 500
    for rows in (late, [{"milk": True}, *late]):
        found = pm.read(lines(tmp_path / "a.jsonl", rows), items=["bread", "milk"], drop_missing=True, **options)
        assert found.store.item_supports().tolist() == [1700, 500 + (rows is not late)]
    with pytest.raises((InputError, DataError), match=r"other values than numbers from 0|not clear"):
        pm.read(lines(tmp_path / "a.jsonl", [*late, {"note": "x"}]), drop_missing=True, **options)


@pytest.mark.parametrize(
    ("name", "content", "separator", "columns"),
    [
        ("a.csv", '"a;b;c",d\n1,1\n', ",", ["a;b;c", "d"]),
        ("a.csv", 'd;"a,b,c"\n1;1\n', ";", ["a,b,c", "d"]),
        ("a.csv", '"a ""x"", b"|"c,\nd"\n1|1\n', "|", ['a "x", b', "c,\nd"]),
        ("a.csv", 'x 5";y 7";z\n1;1;1\n', ";", ['x 5"', 'y 7"', "z"]),
        ("a.txt", "a\tb\n1\t1\n", "\t", ["a", "b"]),
    ],
)
def test_separators(tmp_path, name, content, separator, columns):
    """The names of columns tell the separator of a table that is said to be one; in quotes it does not count."""
    path = text(tmp_path / name, content)
    found = pm.read(path, layout="one-hot", multiline_cells=True)
    assert found.universe.labels.tolist() == columns
    assert not found.origin.guessed
    assert baskets_of(pm.read(path, layout="one-hot", multiline_cells=True, separator=separator)) == baskets_of(found)


def test_columns_that_are_named_tell_the_separator(tmp_path):
    """Between what stands more often and what makes them columns, the latter; and no row is asked."""
    path = text(tmp_path / "a.csv", "a;b;c,order_id\nbread,1\nmilk,1\n")
    found = pm.read(path, transaction="order_id", item="a;b;c")
    assert baskets_of(found) == counted(["bread", "milk"])
    assert not found.origin.guessed


AS_TEXT = {"order_id": ["1", "2", "3"], "products": ["['bread', 'butter']", '["tea"]', "[]"]}


@pytest.mark.parametrize("options", [{}, {"item": "products"}, {"transaction": "order_id", "item": "products"}])
@pytest.mark.parametrize("source", ["csv", "frame", "parquet", "jsonl"])
def test_lists_written_as_text_are_no_items(tmp_path, options, source) -> None:
    """Each whole basket would be one item; the sentence says what to do, and shows nothing."""
    frame = pd.DataFrame(AS_TEXT)
    path = tmp_path / f"orders.{source}"
    if source == "csv":
        frame.to_csv(path, index=False)
    elif source == "parquet":
        frame.to_parquet(path)
    elif source == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    with pytest.raises(InputError, match=r"explode.*layout='long'") as caught:
        pm.read(frame if source == "frame" else path, **options)
    assert not re.search("bread|butter|tea", str(caught.value))


def test_sets_written_as_text_are_no_items(tmp_path) -> None:
    """A few other cells among them, and missing ones, make no difference."""
    cells = [*["{'bread', 'butter'}"] * 10, *(f"{{'item {n}'}}" for n in range(20)), "set()", None]
    frame = pd.DataFrame({"order_id": range(len(cells)), "product": cells})
    frame.to_csv(tmp_path / "orders.csv", index=False)
    with pytest.raises(InputError, match="lists that are written as text"):
        pm.read(tmp_path / "orders.csv", drop_missing=True)


def test_a_label_in_brackets_is_an_item_where_the_layout_says_so(tmp_path) -> None:
    """Or where most labels have none."""
    frame = pd.DataFrame({"order_id": [1, 1, 2], "product": ["[a]", "[b]", "[b]"]})
    frame.to_csv(tmp_path / "orders.csv", index=False)
    assert baskets_of(pm.read(tmp_path / "orders.csv", layout="long")) == counted(["[a]", "[b]"], ["[b]"])
    frame["product"] = ["a", "[b]", "[b]"]
    assert baskets_of(pm.read(frame)) == counted(["a", "[b]"], ["[b]"])
