"""Labels that come in a list or a file of their own: the public universe, and the names of numbers."""

import json

import numpy as np
import pandas as pd
import pytest

import privmine as pm
from privmine.errors import DataError, InputError, PrivmineError

SECRET = "TELLNOBODY"  # noqa: S105 - no password, but a label that no message may show


def written(path, content):
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.txt", "none\nmilk\ncafé, ground\n"),
        ("names.txt", "\ufeffnone\r\nmilk\r\ncafé, ground\r\n\r\n"),
        ("names.json", '["none", "milk", "café, ground"]'),
        ("names.json", '{"2": "café, ground", "1": "milk"}'),
        (None, ["none", "milk", "café, ground"]),
        (None, {1: "milk", "2": "café, ground"}),
        (None, np.array(["none", "milk", "café, ground"])),
    ],
)
def test_names_of_numbers(tmp_path, name, content):
    """A label for each number, in turn or by number, from a file or from Python."""
    names = content if name is None else written(tmp_path / name, content)
    for source in ([[1, 2], [2]], written(tmp_path / "a.dat", "1 2\n2\n")):
        found = pm.read(source, names=names, items=["milk", "café, ground"])
        assert found.store.item_supports().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", SECRET, SECRET], "the same label more than once"),
        ({1: SECRET, "1": "b"}, "the same label more than once"),
        (["a", None, SECRET], "not a label"),
        ({1: ["a"], 2: SECRET}, "not a label"),
        ({SECRET: 1}, "numbers that the labels belong to"),
        ({-1: SECRET}, "numbers that the labels belong to"),
    ],
)
def test_wrong_names(names, message):
    """An entry that is no label, and a label of two numbers, are refused."""
    with pytest.raises(InputError, match=message) as caught:
        pm.read([[1, 2]], names=names)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("names", [["none", "milk", "tea"], {1: "milk", 2: "tea"}])
@pytest.mark.parametrize("fimi", [False, True])
def test_a_number_without_a_name_is_outside_the_universe(tmp_path, names, fimi):
    """Nothing is refused, so that leaving a number out of the names tells nothing; its basket counts."""
    for more in ([], [[7]], [[2, 7, 9]]):
        baskets = [[1, 2], [2], *more]
        lines = "".join(" ".join(map(str, row)) + "\n" for row in baskets)
        source = written(tmp_path / "a.dat", lines) if fimi else baskets
        found = pm.read(source, names=names, items=["milk", "tea", "7"])
        assert found.store.count() == len(baskets)
        assert found.store.item_supports().tolist() == [1, sum(2 in row for row in baskets), 0]
        pm.mine(found, k=1, epsilon=1, strict=True)


@pytest.mark.parametrize("names", [{}, [], {1: "milk"}, ["none", "milk"], {7: "seven", 1: "milk"}])
def test_a_number_without_a_name_is_its_own_label(tmp_path, names):
    """Where the universe is taken from the data, as is said in the receipt."""
    far = 10**18 - 1
    for source in ([[1, 2], [far, 2]], written(tmp_path / "a.dat", f"1 2\n{far} 2\n")):
        found = pm.read(source, names=names)
        supports = dict(
            zip(map(str, found.universe.labels.tolist()), found.store.item_supports().tolist(), strict=True)
        )
        named = "milk" if len(names) else "1"
        assert {label: count for label, count in supports.items() if count} == {named: 1, "2": 2, str(far): 1}
    assert pm.read([[2**70], [-1]], names={1: "1"}).store.item_supports().sum() == 2
    assert pm.read([[7], [1]], names={1: "7"}).store.item_supports().tolist() == [2]  # what reads the same is the same


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.txt", f"a\n\n{SECRET}\n", "line 2: a line is empty"),
        ("n.json", f'"{SECRET}"', "neither a JSON list"),
        ("n.json", f'{{"1": "{SECRET}"', "neither a JSON list"),
    ],
)
def test_wrong_files_of_names(tmp_path, name, content, message):
    """A file of names that is not whole is refused with its place."""
    with pytest.raises(DataError, match=message) as caught:
        pm.read([[1]], names=written(tmp_path / name, content))
    assert SECRET not in str(caught.value)
    with pytest.raises(DataError, match="Cannot read the file of names"):
        pm.read([[1]], names=tmp_path / "nowhere.txt")


def test_names_are_for_numbers():
    """Data with its own labels takes no names."""
    with pytest.raises(InputError, match="its own labels"):
        pm.read([["a"]], names=["b"])


def test_a_universe_from_a_file(tmp_path):
    """One label a line, in the order that breaks ties; whole numbers if all are."""
    found = pm.read([["b", "c"], [1]], items=written(tmp_path / "items.txt", "b\na\n\n1\n"))
    assert found.universe.labels.tolist() == ["b", "a", "1"]
    assert found.store.item_supports().tolist() == [1, 0, 1]
    found = pm.read([[10, 9]], items=written(tmp_path / "items.txt", "10\n9\n"))
    assert found.universe.labels.tolist() == [10, 9]
    with pytest.raises(PrivmineError, match="Cannot read the item file"):
        pm.read([["a"]], items=tmp_path / "nowhere.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(PrivmineError, match="is not UTF-8 text"):
        pm.read([["a"]], items=tmp_path / "bad.txt")


def test_lines_of_a_universe_are_labels_as_they_stand(tmp_path):
    """Quotes and blanks within a label are part of it; the end of a line is not, whatever it is."""
    for start, end in (("", "\n"), ("", "\r\n"), ("\ufeff", "\n")):
        (tmp_path / "items.txt").write_bytes((start + end.join(["a b", "", 'b "c"', "d, e", "name tag"])).encode())
        found = pm.read([["a b", 'b "c"'], ["ab"]], items=tmp_path / "items.txt")
        assert found.universe.labels.tolist() == ["a b", 'b "c"', "d, e", "name tag"]
        assert found.store.item_supports().tolist() == [1, 1, 0, 0]


def test_labels_of_a_json_list_are_taken_as_they_are(tmp_path):
    """Quotes, blanks and line breaks too: so one says that a catalogue is really like that."""
    odd = ["product", '"a"', " b ", "c,1", "d\ne", "7"]
    assert pm.read([odd], items=written(tmp_path / "items.json", json.dumps(odd))).universe.labels.tolist() == odd
    assert pm.read([[2, 1]], items=written(tmp_path / "items.JSON", "[2, 1]")).universe.labels.tolist() == [2, 1]
    for wrong in ("{}", '"a"', "[[1]]", "[true]", "[1.5]", "[null]", "[", "a\nb\n"):
        with pytest.raises(InputError, match="must be a JSON list of texts or whole numbers"):
            pm.read([[1]], items=written(tmp_path / "items.json", wrong))
    with pytest.raises(InputError, match="The universe has no items"):
        pm.read([[1]], items=written(tmp_path / "items.json", "[]"))
    with pytest.raises(InputError, match="more than once"):
        pm.read([[1]], items=written(tmp_path / "items.json", '["a", "a"]'))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("products.csv", f"product\n{SECRET}\n", "one label a line, without quotes and without a name"),
        ("items.txt", "\n\r\n", "The universe has no items"),
        ("items.txt", "", "The universe has no items"),
        ("items.txt", "a\nb\na\n", "more than once"),
    ],
)
def test_files_that_are_no_universe(tmp_path, name, content, message):
    """A table and no labels at all are refused, before anything is spent on them."""
    with pytest.raises(InputError, match=message) as caught:
        pm.read([["a"]], items=written(tmp_path / name, content))
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match="one label a line, without quotes and without a name"):
        pm.read([[0]], names=written(tmp_path / "names.csv", "name\nmilk\n"))
    with pytest.raises(InputError, match="The universe has no items"):
        pm.read([["a"]], items=[])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'"{SECRET}"\r\n"b"\r\n', "Line 1: the label is in quotes"),
        (f'a\n"{SECRET}"\n', "Line 2: the label is in quotes"),
        (f"a\n'{SECRET}'\n", "Line 2: the label is in quotes"),
        (f"a\n\n{SECRET} \n", "Line 3: the label has blanks at its ends"),
        (f" {SECRET}\na\n", "Line 1: the label has blanks at its ends"),
        ("a\n\t\n", "Line 2: the label has blanks at its ends"),
        ("a\n\u00a0b\n", "Line 2: the label has blanks at its ends"),
        ("item\na\n", "first line looks like the name of a column"),
        ("Products\na\n", "first line looks like the name of a column"),
        ('"product_name"\n"a"\n', "first line looks like the name of a column"),
        ("SKU\n17\n", "first line looks like the name of a column"),
        ("StockCode\na\n", "first line looks like the name of a column"),
        (f"{SECRET}\n1\n2\n", "first line looks like the name of a column"),
        (f"{SECRET},1\nb,2\n", "Every line has a comma"),
        (f"{SECRET};1\nb;2\n", "Every line has a semicolon"),
        (f"1\t{SECRET}\n2\tb\n", "Every line has a tab"),
        (f"a,b,{SECRET}\n", "Every line has a comma"),
    ],
)
def test_a_catalogue_that_looks_wrong_is_questioned(tmp_path, content, message):
    """By itself, without a look at the data; the message says how to insist, and quotes no label."""
    for baskets in ([["a"]], [[]]):
        with pytest.raises(InputError, match=f"^Check the item file .*{message}.*If the labels are really") as caught:
            pm.read(baskets, items=written(tmp_path / "items.txt", content))
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_a_catalogue_in_another_encoding_is_told(tmp_path, encoding):
    """What to do is to save it as UTF-8."""
    (tmp_path / "items.txt").write_bytes(f"milk\n{'café' if encoding == 'latin-1' else 'tea'}\n".encode(encoding))
    with pytest.raises(DataError, match=r"not UTF-8 text.*Save it as UTF-8"):
        pm.read([["milk"]], items=tmp_path / "items.txt")


def test_json_keys_keep_large_numbers():
    """A number may be large; nothing is as long as the largest number."""
    names = json.loads('{"999999999999999999": "far", "0": "near"}')
    assert pm.read([[999999999999999999], [0]], names=names).universe.labels.tolist() == ["far", "near"]


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch) -> None:
    """As a shell reads it, for data, names and items; a name that nobody has is a name."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "sold.dat").write_text("0 1\n1\n")
    (tmp_path / "labels.txt").write_text("bread\nmilk\n")
    read = pm.read("~/sold.dat", names="~/labels.txt", items="~/labels.txt")
    assert read.universe.labels.tolist() == ["bread", "milk"]
    assert pm.read("~/*.dat").universe.labels.tolist() == [0, 1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~nobody.dat").write_text("7\n")
    assert pm.read("~nobody.dat").universe.labels.tolist() == [7]


@pytest.mark.parametrize(
    "items",
    [5, {"a": 1}, ["a", None], ["a", float("nan")], [("a",)], [b"a"], pd.DataFrame({"product": ["a"]})],
    ids=repr,
)
def test_a_universe_of_no_labels_is_refused(items) -> None:
    """What is no label in a basket is none in the list of items either; nothing is turned into text."""
    with pytest.raises(InputError, match="items="):
        pm.read([["a"]], items=items)
