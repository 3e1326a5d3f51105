"""Strict mode: what is looked up in the data is refused, what is said is read, and no transaction decides which."""

import gzip
import json
from itertools import chain, combinations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from slow_cases import slow_after

import privmine as pm
from privmine.errors import PrivmineError

WORDS = ["bread", "milk", "tea"]
ITEMS = [*WORDS, "[a]", "sep=;", "007", "12"]
#: Baskets among which each could decide something: separators, brackets, numbers, marks, marks of other formats.
BASKETS = [
    ["bread", "milk"],
    ["bread;milk;tea"],
    ["[a]"],
    ["007", "12"],
    ["1"],
    ["sep=;"],
    ["\ufeffbread", "milk"],
    ["PAR1", "ORC"],
    ["tea|x", "a\tb"],
    ["order_id", "product"],
    [],
]
OWNED = {"unit": "customer_id", "max_baskets": 2}


def _quoted(cell: str, separator: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if separator in cell else cell


def _long(path, baskets, separator):
    rows = [("customer_id", "order_id", "product")]
    rows += [(f"c{n}", str(n), item) for n, basket in enumerate(baskets) for item in basket or [""]]
    path.write_text(
        "".join(separator.join(_quoted(c, separator) for c in row) + "\n" for row in rows), encoding="utf-8"
    )


def _flags(baskets):
    return [{item: int(item in basket) for item in ITEMS} for basket in baskets]


def _one_hot(path, baskets, separator, items=ITEMS):
    lines = [items, *([str(row[item]) for item in items] for row in _flags(baskets))]
    path.write_text(
        "".join(separator.join(_quoted(c, separator) for c in row) + "\n" for row in lines), encoding="utf-8"
    )


def _baskets(path, baskets, separator):
    lines = [separator.join(_quoted(cell, separator) for cell in basket) for basket in baskets]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _numbers(path, baskets):
    path.write_text("".join(" ".join(str(len(cell)) for cell in basket) + "\n" for basket in baskets))


def _json(path, rows):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _objects(baskets):
    return [{"order_id": n, "items": basket} for n, basket in enumerate(baskets)]


def _triples(baskets):
    triples = [(n, item) for n, basket in enumerate(baskets) for item in basket or [None]]
    return [{"order_id": n, "product": item} for n, item in triples]


def _parquet(path, baskets, layout):
    if layout == "long":
        rows = _triples(baskets)
        columns = {"order_id": pa.int64(), "product": pa.string()}
    else:
        rows = _objects(baskets)
        columns = {"order_id": pa.int64(), "items": pa.list_(pa.string())}
    pq.write_table(
        pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in columns.items()}), path
    )


def _frame(baskets, layout):
    if layout == "one-hot":
        return pd.DataFrame([[row[item] for item in ITEMS] for row in _flags(baskets)], columns=ITEMS, dtype="int64")
    rows = _triples(baskets) if layout == "long" else _objects(baskets)
    return pd.DataFrame(rows, columns=["order_id", "product" if layout == "long" else "items"], dtype=object)


LONG = {"transaction": "order_id", "item": "product"}
#: For each way in: how to write it, what must be said, and what else may be said (the name or the schema tells it).
WAYS = {
    "a.csv long": (lambda p, b: _long(p, b, ","), LONG, {"layout": "long", "separator": ","}),
    "a.csv long with semicolons": (lambda p, b: _long(p, b, ";"), LONG, {"layout": "long", "separator": ";"}),
    "a.txt long with bars": (lambda p, b: _long(p, b, "|"), LONG, {"layout": "long", "separator": "|"}),
    "a.tsv long": (lambda p, b: _long(p, b, "\t"), LONG, {"layout": "long", "separator": "\t"}),
    "a.csv long of units": (lambda p, b: _long(p, b, ","), {**LONG, **OWNED}, {"layout": "long"}),
    "a.csv one-hot": (lambda p, b: _one_hot(p, b, ","), {"layout": "one-hot"}, {"separator": ","}),
    "a.csv one-hot with semicolons": (lambda p, b: _one_hot(p, b, ";"), {"layout": "one-hot"}, {"separator": ";"}),
    "a.csv one-hot of words": (lambda p, b: _one_hot(p, b, ",", WORDS), {"layout": "one-hot"}, {"separator": ","}),
    "a.txt baskets": (lambda p, b: _baskets(p, b, ","), {"layout": "baskets", "separator": ","}, {}),
    "a.csv baskets": (lambda p, b: _baskets(p, b, ","), {"layout": "baskets", "separator": ","}, {}),
    "a.csv baskets with semicolons": (lambda p, b: _baskets(p, b, ";"), {"layout": "baskets", "separator": ";"}, {}),
    "a.tsv baskets": (lambda p, b: _baskets(p, b, "\t"), {"layout": "baskets"}, {"separator": "\t"}),
    "a.txt fimi": (_numbers, {"layout": "fimi"}, {}),
    "a.dat fimi": (_numbers, {}, {"layout": "fimi"}),
    "a.jsonl list": (lambda p, b: _json(p, _objects(b)), {"layout": "list", "item": "items"}, {}),
    "a.jsonl bare lists": (_json, {"layout": "list", "item": "items"}, {}),
    "a.jsonl long": (lambda p, b: _json(p, _triples(b)), {"layout": "long", **LONG}, {}),
    "a.jsonl one-hot": (lambda p, b: _json(p, _flags(b)), {"layout": "one-hot"}, {}),
    "a.json long": (lambda p, b: _json(p, _triples(b)), {"layout": "long", **LONG}, {}),
    "a.json list": (lambda p, b: _json(p, _objects(b)), {"layout": "list", "item": "items"}, {}),
    "a.parquet long": (lambda p, b: _parquet(p, b, "long"), LONG, {"layout": "long"}),
    "a.parquet list": (lambda p, b: _parquet(p, b, "list"), {"item": "items"}, {"layout": "list"}),
    "frame long": (lambda _, b: _frame(b, "long"), {"layout": "long", **LONG}, {}),
    "frame list": (lambda _, b: _frame(b, "list"), {"layout": "list", "item": "items"}, {}),
    "frame one-hot": (lambda _, b: _frame(b, "one-hot"), {"layout": "one-hot"}, {}),
    "lists": (lambda _, b: b, {}, {"layout": "list"}),
}
#: Names of columns that may as well be values: reading does not guess, and says so, before strict mode can.
UNCLEAR = {"a.csv one-hot", "a.csv one-hot with semicolons"}


def _source(way, tmp_path, baskets):
    write = WAYS[way][0]
    name = way.split()[0]
    made = write(tmp_path / name, baskets)
    return made if made is not None else tmp_path / name


def _outcome(source, options, way=""):
    """What refuses the data, reading ("read") or strict mode ("strict"); else of how many transactions it releases."""
    universe = [5, 7] if way.endswith("fimi") else ITEMS
    try:
        data = pm.read(source, items=universe, drop_missing=True, **options)
    except PrivmineError:
        return "read"
    try:
        pm.mine(data, k=2, epsilon=1, strict=True)
    except PrivmineError as error:
        if "Strict mode" not in str(error):
            raise
        return "strict"
    return data.store.count()


def _neighbours(baskets):
    """The baskets, then with any one of them left out."""
    return [baskets, *(baskets[:place] + baskets[place + 1 :] for place in range(len(baskets)))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", range(len(BASKETS)))
def test_whatever_is_said_is_released_with_any_transaction_in_front(tmp_path, way, first):
    """With all options said strict mode releases every format and layout; each transaction counts, and counts once."""
    _, needed, more = WAYS[way]
    baskets = [BASKETS[first], ["bread", "milk"], *BASKETS[:first], *BASKETS[first + 1 :]]
    for options in (needed, {**needed, **more}):
        for neighbour in (baskets, baskets[1:]):
            assert _outcome(_source(way, tmp_path, neighbour), options, way) == len(neighbour)


@pytest.mark.parametrize("way", WAYS)
def test_one_transaction_and_none_are_released_as_well(tmp_path, way):
    """Data with a single transaction, or with none, is read as it is said to be."""
    for baskets in ([], *([basket] for basket in BASKETS)):
        assert _outcome(_source(way, tmp_path, baskets), WAYS[way][1], way) == len(baskets)


@pytest.mark.parametrize("way", slow_after(10, WAYS))
def test_what_is_left_out_is_refused_whatever_the_data(tmp_path, way):
    """Without one of the options that are needed no data is released, with or without any one transaction."""
    _, needed, more = WAYS[way]
    some = chain.from_iterable(combinations(needed, size) for size in range(len(needed)))
    for said in some:
        if set(OWNED) & set(needed) and not set(OWNED) <= set(said):
            continue  # whom to protect is no guess
        options = {name: needed[name] for name in said}
        outcomes = {
            _outcome(_source(way, tmp_path, neighbour), {**options, **extra}, way)
            for neighbour in (*_neighbours(BASKETS), [["bread", "milk"]] * 3, [["a", "b"]], [["5", "milk"]] * 4)
            for extra in ({}, {name: more[name] for name in more if name == "separator"})
        }
        assert outcomes <= {"read", "strict"}, options
        assert ("strict" in outcomes) == (way not in UNCLEAR), options


def test_one_line_does_not_decide_what_separates_items(tmp_path):
    """The reproduction: 400 lines with commas, and then one with semicolons in front of them."""
    path = tmp_path / "b.txt"
    for front in ("", "bread;milk;tea\n"):
        path.write_text(front + "bread,milk\n" * 400)
        assert _outcome(path, {"layout": "baskets"}) == "strict"
        assert _outcome(path, {"layout": "baskets", "separator": ","}) == 400 + bool(front)


@pytest.mark.parametrize("label", ["[a]", "['bread', 'milk']"])
def test_labels_that_look_like_lists_decide_nothing_where_a_universe_is_given(tmp_path, label):
    """They are refused only where the universe is taken from the data, which strict mode refuses as well."""
    path = tmp_path / "a.csv"
    for front in ([], [["bread"]] * 3):
        _long(path, [*front, [label]], ";")
        assert _outcome(path, LONG) == len(front) + 1


def test_a_mark_of_the_byte_order_means_nothing_in_front_of_any_line(tmp_path):
    """In basket lines it is left out everywhere, so that the first line is read as all others are."""
    path = tmp_path / "a.txt"
    path.write_text("\ufeffbread,\ufeffmilk\n\ufeff\ufeffbread\n" + '"\ufefftea"\n', encoding="utf-8")
    found = pm.read(path, layout="baskets", separator=",")
    assert found.universe.labels.tolist() == ["bread", "\ufeffmilk", "\ufefftea"]


def test_a_line_that_tells_the_separator_is_a_basket_like_any_other(tmp_path):
    """So it is one wherever it stands; where the separator is guessed, it tells that, and strict mode refuses."""
    path = tmp_path / "a.txt"
    path.write_text("sep=;\nbread;milk\n")
    assert pm.read(path, layout="baskets", separator=";").store.count() == 2
    assert pm.read(path, layout="baskets").store.count() == 2
    assert dict(pm.read(path, layout="baskets").origin.guessed) == {"separator": ";"}


def test_text_that_begins_as_another_format_does(tmp_path):
    """What a file holds is told by its name; a basket with the name of a format is a basket."""
    for label in ("PAR1", "ORC", "%PDF-1.7", "BZh91AY&SY", "FEA1", "PK"):
        (tmp_path / "a.txt").write_text(f"{label},milk\nbread\n")
        assert pm.read(tmp_path / "a.txt", layout="baskets", separator=",").store.count() == 2


def test_arrays_and_lines_of_json(tmp_path):
    """The first character decides which of them a .json file is, and no row: `[` begins an array."""
    path = tmp_path / "a.json"
    for content, count in (
        ('[["a"], []]', 2),
        ("[]\n", 0),
        (" [\n[ ] ]\n", 1),
        ('[{"items": []}]', 1),
        ('{"items": []}\n', 1),
    ):
        path.write_text(content)
        assert pm.read(path, layout="list", item="items", items=["a"]).store.count() == count
    for lines in ('[]\n["a"]\n', '["a"]\n[]\n', '["a"]\n'):
        path.write_text(lines)
        with pytest.raises(PrivmineError, match=r"line.* is a .*\.jsonl"):
            pm.read(path, layout="list", item="items", items=["a"])


def test_empty_baskets_of_one_hot_json_are_baskets(tmp_path):
    """Rows without the key of any item are read where a universe is given, as a file without rows is."""
    path = tmp_path / "a.jsonl"
    for count in range(3):
        path.write_text('{"customer_id": "c"}\n' * count)
        found = pm.read(path, layout="one-hot", drop_missing=True, items=["a"], unit="customer_id", max_baskets=2)
        assert found.store.count() == count


def test_a_column_that_first_occurs_far_below(tmp_path):
    """A column of JSON that an option names is one wherever it occurs; rows without it have a missing value."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"items": ["a"]}\n' * 3000 + '{"items": ["b"], "who": 1}\n')
    found = pm.read(path, layout="list", item="items", transaction="who", drop_missing=True)
    assert found.store.count() == 1
    assert pm.read(path, layout="list", item="items", transaction="whose", drop_missing=True).store.count() == 0
    with pytest.raises(PrivmineError, match="missing values in the column 'whose'"):
        pm.read(path, layout="list", item="items", transaction="whose")


def test_the_form_of_a_gzip_file_is_that_of_the_file_in_it(tmp_path):
    """Compression changes nothing of what must be said."""
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"bread\tmilk\ntea\nbread\tmilk\ttea\n"))
    assert _outcome(tmp_path / "a.tsv.gz", {"layout": "baskets"}) == 3
    assert _outcome(tmp_path / "a.tsv.gz", {}) == "strict"


@pytest.mark.parametrize("mark", ["PAR1", "ORC", "ORCID", "FEA1", "%PDF-1.7", "BZh91AY&SY", "Obj"])
@pytest.mark.parametrize("control", ["\x0b", "\x01", "\x1f"])
def test_a_control_character_below_does_not_make_text_another_format(tmp_path, mark, control):
    """What stands behind the mark decides, and no other row."""
    path = tmp_path / "a.csv"
    for more in ("", f"2,milk{control}fresh\n", f"3{control},milk\n"):
        path.write_text(f"{mark},product\n" + "1,bread\n" * 50 + more)
        found = pm.read(path, transaction=mark, item="product", layout="long", items=ITEMS, drop_missing=True)
        assert found.store.count() == 1 + bool(more)
    path.write_text(f"{mark}{control}milk\nbread\n")
    assert pm.read(path, layout="baskets", separator=control).store.count() == 2


def test_a_pattern_is_the_source_however_many_files_match_it(tmp_path):
    """A file for each customer: a second customer must not change what the ledger is told."""
    for customer in ("17", "18"):
        for end, write in ((".parquet", _parquet_long), (".csv", lambda p, b: _long(p, b, ",")), (".dat", _numbers)):
            write(tmp_path / f"customer_{customer}{end}", [["bread", "milk"]])
            options = {} if end == ".dat" else LONG
            assert pm.read(f"{tmp_path}/*{end}", **options).origin.source == f"{tmp_path}/*{end}"
    (tmp_path / "a[1].csv").write_bytes((tmp_path / "customer_17.csv").read_bytes())
    assert pm.read(tmp_path / "a[1].csv", **LONG).origin.source == "a[1].csv"
    assert pm.read(tmp_path / "customer_17.csv", **LONG).origin.source == "customer_17.csv"


def _parquet_long(path, baskets):
    _parquet(path, baskets, "long")


def _complaint(source, **options):
    with pytest.raises(PrivmineError) as caught:
        pm.read(source, **options)
    return str(caught.value)


@pytest.mark.parametrize("header", ["vorgang,artikel", "order_id,artikel", "order_id,product", "vorgang,artikel,preis"])
@pytest.mark.parametrize(
    "options",
    [
        {"layout": "long", "transaction": "order", "item": "thing"},
        {"transaction": "order", "item": "thing"},
        {"layout": "long"},
        {"layout": "list", "item": "thing"},
        {"layout": "one-hot", "transaction": "who"},
    ],
)
def test_no_row_decides_what_is_said_of_the_columns_of_a_csv_file(tmp_path, header, options):
    """Where the options say that it is a table, the first line alone tells whether its names may be shown."""
    path = tmp_path / "a.csv"
    cells = ",x" * (header.count(",") - 1)
    said = set()
    for rows in ("", f"1,brot{cells}\n", f"1,brot{cells}\n" * 50, f"1,brot{cells}\nA1,brot{cells}\n", "1\n"):
        path.write_text(f"{header}\n{rows}")
        if options == {"layout": "long"} and header == "order_id,product":
            continue  # it is guessed, and read
        said.add(_complaint(path, items=["brot"], **options))
    assert len(said) <= 1


def test_whether_any_row_of_json_has_a_key_is_not_answered(tmp_path):
    """A column that an option names is there, and its cells may all be missing."""
    rows = [{"order_id": n, "product": "bread"} for n in range(30)]
    more = [*rows, {"order_id": 99, "product": "milk", "diagnosis": "[a]"}]
    for column in ("diagnosis", "diagnoses"):
        for layout in ("long", "list"):
            said = set()
            options = {"layout": layout, "transaction": "order_id", "item": column}
            for neighbour in (rows, [{**row, "diagnosis": None} for row in rows]):
                _json(tmp_path / "a.jsonl", neighbour)
                assert _outcome(tmp_path / "a.jsonl", options) == len(neighbour)
                said.add(_complaint(tmp_path / "a.jsonl", items=ITEMS, **options))
            _json(tmp_path / "a.jsonl", more)
            if layout == "long":
                assert _outcome(tmp_path / "a.jsonl", options) == len(more)
                said.add(_complaint(tmp_path / "a.jsonl", items=ITEMS, **options))
            assert len(said) == 1


def test_one_row_of_json_does_not_change_the_list_of_columns(tmp_path):
    """Only names that were asked for are shown, also where a key says what it is; others are never said to be none."""
    rows = [{"order_id": n, "product": ["bread"], "coupon": ["x"]} for n in range(30)]
    odd = [
        {"order_id": 99, "product": ["milk"]},
        {"order_id": 98, "product": ["tea"], "coupon": ["x"], "anna": 1},
        {"patient_no": 7, "order_id": 97, "product": ["tea"], "coupon": ["x"]},
    ]
    for options in ({}, {"layout": "long"}, {"layout": "list"}, {"layout": "fimi"}, {"layout": "baskets"}):
        said = set()
        for neighbour in (rows, *([*rows, row] for row in odd)):
            _json(tmp_path / "a.jsonl", neighbour)
            said.add(_complaint(tmp_path / "a.jsonl", **options))
        assert len(said) == 1
        assert "coupon" not in said.pop()
    _json(tmp_path / "a.jsonl", [{"order_id": 1, "item": ["a"], "product": ["a"]}] * 3)
    assert "names of its columns are not shown" in _complaint(tmp_path / "a.jsonl")


def test_no_row_of_json_decides_what_a_message_calls_a_column(tmp_path):
    """A key that another row has in front of all others changes no place of a column."""
    rows = [{"order_id": n, "bread": 1, "milk": 0, "tea": None} for n in range(9)]
    said = set()
    for neighbour in (
        rows,
        [{"patient_no": 1, **rows[0]}, *rows],
        [*rows, {"order_id": 99, "patient_no": 1, "bread": 1}],
    ):
        _json(tmp_path / "a.jsonl", neighbour)
        said.add(_complaint(tmp_path / "a.jsonl", layout="one-hot", transaction="order_id"))
    assert len(said) == 1
    assert "a column whose name is not shown" in said.pop()


def test_a_key_outside_the_catalogue_changes_nothing_about_other_rows(tmp_path):
    """With items= the columns of a one-hot table are the items: a key that is not there is false, null is missing."""
    rows = [{"bread": 1}, {"bread": 1, "milk": 0}, {"milk": True}] * 10
    for more in ([], [{"bread": 1, "milk": 0, "secret": 1}], [{"secret": None}], [{"secret": "1"}], [{}]):
        _json(tmp_path / "a.jsonl", [*rows, *more])
        found = pm.read(tmp_path / "a.jsonl", layout="one-hot", items=["bread", "milk", 12])
        assert found.store.count() == 30 + len(more)
        assert found.universe.labels.tolist() == ["bread", "milk", "12"]
    _json(tmp_path / "a.jsonl", [*rows, {"bread": None}])
    assert "missing values in" in _complaint(tmp_path / "a.jsonl", layout="one-hot", items=["bread", "milk"])
    assert pm.read(tmp_path / "a.jsonl", layout="one-hot", items=["bread"], drop_missing=True).store.count() == 31
    _json(tmp_path / "a.jsonl", [{"bread": True, "milk": False}, {"bread": True}])
    guessed = pm.read(tmp_path / "a.jsonl", items=["bread", "milk"])
    assert (guessed.store.count(), dict(guessed.origin.guessed)) == (2, {"layout": "one-hot"})
    _json(tmp_path / "a.jsonl", [["bread"]])
    assert "layout='list'" in _complaint(tmp_path / "a.jsonl", layout="one-hot", items=["bread"])


@pytest.mark.parametrize("cell", ["bread", ["bread"], {"bread": 1}, -1])
@pytest.mark.parametrize("before", [0, 20_000])
def test_a_cell_that_is_no_flag_is_refused_under_any_key(tmp_path, cell, before):
    """Long JSON that is said to be one-hot is refused, as a long CSV file is, and not read as empty baskets."""
    _json(tmp_path / "a.jsonl", [{"bread": 1}] * before + [{"order_id": 1, "product": cell}])
    said = _complaint(tmp_path / "a.jsonl", layout="one-hot", items=["bread"])
    assert "other values than numbers from 0, true and false" in said
    assert "product" not in said
