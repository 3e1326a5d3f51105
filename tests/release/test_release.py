from __future__ import annotations

import csv
import io
import json
import math
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import pytest
from attrs import evolve
from estimating_component import Estimating
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.release import FrequentItemset
from privmine.release.display import caveat, items_text
from privmine.release.release_files import WRITERS, to_csv, to_html, to_json

VERSION1 = Path(__file__).parent / "version1"
ODD_LABELS = [
    'comma, "quote"',
    "line\nbreak",
    "emoji 🥐",
    "<b>html</b>",
    "# hash",
    "=1+1",
    "[red]markup[/]",
    "\u2028",
    " ",
]


@pytest.fixture(scope="module")
def simulated() -> pm.Release:
    return pm.mine([ODD_LABELS, ODD_LABELS[:3]] * 20, 12, 1, simulate=True, seed=3)


@pytest.fixture(scope="module")
def private() -> pm.Release:
    return pm.mine([["a", "b"], ["a"]] * 50, 3, 1)


@pytest.fixture(scope="module")
def overlapping() -> pm.Release:
    """Of several bases, so that there are laws with several terms; integer labels."""
    return pm.mine([[1, 2], [2, 3], [3, 4], [5, 6, 7], [1]] * 30, 30, 1, simulate=True, seed=2)


#: Estimates that rank itemsets the other way round, from twice a public number.
OPPOSITE = Estimating(lambda counts: 5000 - counts.counts)


@pytest.fixture(scope="module")
def estimated() -> pm.Release:
    return pm.Pipeline(reconstruct_counts=OPPOSITE).run([["a", "b"], ["a"], ["a"]] * 500, 3, 5)


@pytest.fixture(scope="module")
def mixed(private) -> pm.Release:
    """With a law whose noises have different scales."""
    law = private[0].law + private[0].law.__class__(private[0].law.parts[0][0].__class__(7), [(2, 0.5)])
    return evolve(private, itemsets=(evolve(private[0], law=law), *private.itemsets[1:]))


def test_estimates_are_ranked_and_shown_with_the_intervals_of_counts(estimated) -> None:
    """And the receipt says so; tables have the unbiased counts in a column of their own."""
    assert [found.items for found in estimated][2] == ("a",)
    counts = [found.count for found in estimated]
    assert counts == sorted(counts, reverse=True)
    assert all(found.count == 5000 - found.unbiased_count for found in estimated)
    assert estimated[2].unbiased_count == pytest.approx(1500, abs=100)
    for found, within in zip(estimated, estimated.intervals(0.9), strict=True):
        assert sum(within) / 2 == pytest.approx(found.unbiased_count)
        assert within.high - found.unbiased_count == found.law.half_width(0.9)
        assert found.support == min(found.count / estimated.total, 1)
    assert estimated.columns()["unbiased_count"] == [found.unbiased_count for found in estimated]
    assert any("ranked and shown by estimates, which may be biased" in note for note in estimated.receipt.notes)
    estimated.plot()


def test_what_is_ranked_by_counts_says_nothing_of_estimates(private) -> None:
    """Neither a column nor a note, and a file that earlier versions read."""
    assert "unbiased_count" not in private.columns()
    assert not any("estimates" in note for note in private.receipt.notes)
    assert private[0].unbiased_count is None
    assert "unbiased" not in to_json(private)


def test_a_file_has_the_first_version_that_can_hold_it(private, estimated, mixed) -> None:
    """Only estimates and noise of several scales need a newer privmine."""
    versions = [json.loads(to_json(release))["format_version"] for release in (private, estimated, mixed)]
    assert versions == [3, 4, 4]


def test_a_closed_release_is_ranked_by_estimates() -> None:
    """Subsets of what is estimated to be frequent come along."""
    pipeline = pm.Pipeline(reconstruct_counts=OPPOSITE)
    release = pipeline.run([["a", "b"], ["a"], ["a"]] * 500, 2, 5, downward_closed=True)
    assert [found.items for found in release] == [("b",), ("a",)]


def test_a_file_with_estimates_in_some_rows_is_refused(estimated, tmp_path) -> None:
    """Nobody could tell what the others are."""
    content = json.loads(to_json(estimated))
    del content["itemsets"][1]["unbiased_count"]
    (tmp_path / "release.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError, match="estimates, or none"):
        pm.load(tmp_path / "release.json")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_a_saved_release_reads_back_whole(simulated, private, overlapping, estimated, mixed, tmp_path, suffix) -> None:
    """Itemsets, labels, counts, laws of noise and every line of the receipt survive; so any level can be asked for."""
    for release in (simulated, private, overlapping, estimated, mixed, evolve(private, itemsets=())):
        path = tmp_path / f"release{suffix}"
        release.save(path, level=0.9)
        loaded = pm.load(path)
        assert loaded == release
        assert loaded.intervals(0.5) == release.intervals(0.5)
        assert loaded.total_interval(0.99) == release.total_interval(0.99)


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
@pytest.mark.parametrize("kind", ["private", "simulated"])
def test_files_of_the_first_version_are_read(kind, suffix) -> None:
    """They know no laws, so that intervals are normal ones; all else is there."""
    first = pm.load(VERSION1 / f"{kind}.{suffix}")
    assert first == pm.load(VERSION1 / f"{kind}.json")
    assert first.receipt.private == (kind == "private")
    assert len(first) == first.requested
    for found, (low, high) in zip(first, first.intervals(0.95), strict=True):
        assert found.law is None
        assert (low, high) == pytest.approx((max(0, found.count - 1.96 * found.standard_error),
                                             found.count + 1.96 * found.standard_error), abs=0.01)  # fmt: skip
    labels = {item for found in first for item in found.items}
    assert labels <= ({1, 2} if kind == "private" else {*ODD_LABELS})


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_rows_may_be_taken_out_or_moved(overlapping, tmp_path, suffix) -> None:
    """Each row knows its law, so that a file sorted or shortened by hand still gives the right intervals."""
    path = tmp_path / f"release{suffix}"
    overlapping.save(path)
    if suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        content["itemsets"] = content["itemsets"][:1:-1]
        path.write_text(json.dumps(content), encoding="utf-8")
    elif suffix == ".csv":
        lines = path.read_text(encoding="utf-8").splitlines()
        head = next(number for number, line in enumerate(lines) if not line.startswith("#")) + 1
        path.write_text("\n".join([*lines[:head], *lines[: head + 1 : -1]]), encoding="utf-8")
    else:
        table = parquet.read_table(path)
        parquet.write_table(table.take(list(range(len(table) - 1, 1, -1))), path)
    loaded = pm.load(path)
    assert loaded.itemsets == overlapping.itemsets[:1:-1]
    assert loaded.intervals() == overlapping.intervals()[:1:-1]


def test_labels_that_look_like_several_items_are_quoted() -> None:
    """So that one item "a, b" cannot be taken for the items a and b."""
    assert items_text(("a", "b")) == "a, b"
    assert items_text(("a, b",)) == '"a, b"'
    assert items_text(('"a', "1,5")) == '"\\"a", 1,5'


def test_a_small_negative_count_is_not_minus_zero(private) -> None:
    """It is shown as 0 wherever counts are whole; files keep the count as it is."""
    tiny = evolve(private, itemsets=(evolve(private[0], count=-0.3),))
    assert "-0" not in repr(tiny).splitlines()[2]
    assert "<td>-0</td>" not in to_html(tiny)
    assert "-0.3" in to_csv(tiny)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "transactions"),
        ({"unit": list(range(300)), "max_baskets": 2}, "counted transactions, at most 2 of each unit"),
        ({"merge_by": list(range(300))}, "transactions, one for each unit"),
    ],
    ids=["transaction", "bounded", "merged"],
)
def test_the_headline_says_what_is_counted(tmp_path, options, words) -> None:
    """Transactions, those that a bound left, or one for each unit; a file remembers it."""
    release = pm.mine(pm.read([["a"], ["b"], ["a", "b"]] * 100, **options), 1, 1)
    assert repr(release).splitlines()[0].endswith(f" {words}")
    release.save(tmp_path / "release.csv")
    assert repr(pm.load(tmp_path / "release.csv")) == repr(release)


def test_a_newer_version_says_so(private, tmp_path) -> None:
    """What to do is to upgrade."""
    path = tmp_path / "release.json"
    path.write_text(to_json(private).replace('"format_version": 3', '"format_version": 5'), encoding="utf-8")
    with pytest.raises(DataError, match="upgrade privmine"):
        pm.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("total", "many"), ("total", math.nan), ("requested", None), ("laws", [{}]), ("itemsets", [{"items": 3}])],
)
def test_a_damaged_file_is_refused(private, tmp_path, name, value) -> None:
    """When it is read, not when it is used."""
    content = json.loads(to_json(private))
    path = tmp_path / "release.json"
    path.write_text(json.dumps({**content, name: value}), encoding="utf-8")
    with pytest.raises(DataError, match="is not a release"):
        pm.load(path)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
@given(cut=st.floats(0, 1), gap=st.integers(0, 60), put=st.binary(max_size=20))
@settings(max_examples=60)
def test_a_broken_file_is_a_release_or_a_sentence(saved, cut, gap, put, suffix) -> None:
    """Whatever happened to its bytes; and what is read can be shown."""
    folder, contents = saved
    content = contents[suffix]
    place = int(cut * len(content))
    path = folder / f"broken{suffix}"
    path.write_bytes(content[:place] + put + content[place + gap :])
    with suppress(DataError):
        repr(pm.load(path))


@pytest.fixture(scope="module")
def saved(overlapping, tmp_path_factory):
    """A folder, and the bytes of a saved release in each format."""
    folder = tmp_path_factory.mktemp("saved")
    contents = {}
    for suffix in (".csv", ".json", ".parquet"):
        overlapping.save(folder / f"whole{suffix}")
        contents[suffix] = (folder / f"whole{suffix}").read_bytes()
    return folder, contents


def test_a_cell_may_be_of_any_size(tmp_path) -> None:
    """Beyond the limit of the csv module, which stays as it was for everybody else."""
    limit = csv.field_size_limit()
    release = pm.mine([["x" * 150_000]] * 9, 1, 1, simulate=True, seed=1)
    release.save(tmp_path / "release.csv")
    assert pm.load(tmp_path / "release.csv") == release
    assert csv.field_size_limit() == limit


def test_intervals_come_from_the_law_of_each_count(overlapping, private) -> None:
    """Quantiles of the noise, whose standard deviation is the standard error; wider for a higher level."""
    assert len({found.law for found in overlapping}) > 2
    for release in (overlapping, private):
        for found, inner, outer in zip(
            release, release.intervals(0.5, selected=False), release.intervals(selected=False), strict=True
        ):
            assert found.law.standard_error == pytest.approx(found.standard_error)
            assert inner.low <= found.count <= inner.high or found.count < 0
            assert inner.high - found.count == pytest.approx(found.law.half_width(0.5))
            assert 0 <= outer.low <= inner.low
            assert inner.high < outer.high
        assert release.total_law.standard_error == pytest.approx(release.total_error)
        low, high = release.total_interval(0.9)
        assert low < release.total < high


def test_a_public_total_bounds_every_count() -> None:
    """It is exact, and no itemset occurs more often."""
    release = pm.mine([["a", "b"]] * 40, 3, "0.1", n_public=True, simulate=True, seed=4)
    assert release.total_interval(0.99) == (40, 40)
    assert max(high for _, high in release.intervals(0.99)) == 40


def test_a_total_that_was_raised_to_one_may_be_none(private) -> None:
    """A noisy total of −5 is shown as 1, so the interval holds 0 however small the noise; a public total is exact."""
    raised = evolve(private, total=1.0, total_error=0.1, total_law=None)
    assert raised.total_interval(0.95) == (0, pytest.approx(1.196, abs=1e-3))
    assert evolve(raised, total=1.3).total_interval(0.95).low == pytest.approx(1.104, abs=1e-3)
    public = evolve(raised, total_error=0.0, receipt=evolve(private.receipt, n_public=True))
    assert public.total_interval(0.95) == (1, 1)


def test_a_component_without_laws_gets_normal_intervals(private, tmp_path) -> None:
    """The standard error is all that is known then, also after saving."""
    plain = evolve(private, itemsets=tuple(evolve(found, law=None) for found in private), total_law=None)
    low, high = plain.intervals(0.95)[0]
    assert high - plain[0].count == pytest.approx(1.959964 * plain[0].standard_error)
    assert low < plain[0].count
    plain.save(tmp_path / "release.csv")
    assert pm.load(tmp_path / "release.csv") == plain


COLUMNS = ["support", "itemsets", "count", "length", "ci_low", "ci_high", "standard_error"]


def test_tables_have_the_same_columns(simulated, private, overlapping) -> None:
    """pandas, Polars and Arrow: names, order and values; mlxtend's names first."""
    for release in (simulated, private, overlapping, evolve(private, itemsets=())):
        extra = [] if release.receipt.private else ["simulated"]
        pandas, polars, arrow = release.to_pandas(0.8), release.to_polars(0.8), release.to_arrow(0.8)
        assert list(pandas.columns) == COLUMNS + extra
        assert polars.columns == [*COLUMNS, *extra, "receipt"]
        assert arrow.column_names == COLUMNS + extra
        expected = release.columns(0.8)
        for name in [*COLUMNS, *extra]:
            values = [tuple(value) if name == "itemsets" else value for value in polars[name].to_list()]
            assert values == [tuple(value) if name == "itemsets" else value for value in arrow[name].to_pylist()]
            assert values == expected[name]
            if name != "itemsets":
                assert pandas[name].tolist() == expected[name]
        assert pandas["itemsets"].tolist() == [frozenset(items) for items in expected["itemsets"]]
        assert [*zip(expected["ci_low"], expected["ci_high"], strict=True)] == release.intervals(0.8)


def test_labels_keep_their_type_in_tables(overlapping, private) -> None:
    """Whole numbers are whole numbers, text is text."""
    assert str(overlapping.to_arrow()["itemsets"].type) == "list<item: int64>"
    assert str(private.to_arrow()["itemsets"].type) == "list<item: string>"
    assert str(overlapping.to_polars()["itemsets"].dtype) == "List(Int64)"
    assert str(private.to_polars()["itemsets"].dtype) == "List(String)"


def test_tables_carry_the_receipt(private) -> None:
    """In attrs, in a column, in the schema's metadata; with the level of the intervals where there is room."""
    receipt = private.receipt
    assert pm.Receipt.from_dict(private.to_pandas(0.8).attrs["privmine"]) == receipt
    assert private.to_pandas(0.8).attrs["privmine_level"] == 0.8
    assert [pm.Receipt.from_dict(json.loads(text)) for text in private.to_polars()["receipt"]] == [receipt] * 3
    facts = json.loads(private.to_arrow(0.8).schema.metadata[b"privmine"])
    assert pm.Receipt.from_dict(facts["receipt"]) == receipt
    assert facts["level"] == 0.8


@pytest.mark.parametrize(
    ("library", "method", "extra"),
    [("pandas", "to_pandas", "pandas"), ("polars", "to_polars", "polars"), ("pyarrow", "to_arrow", "tables")],
)
def test_a_missing_library_is_named_with_its_extra(private, monkeypatch, library, method, extra) -> None:
    """The message is the command that installs it."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"pip install 'privmine\[{extra}\]'"):
        getattr(private, method)()


def test_parquet_needs_pyarrow(private, monkeypatch, tmp_path) -> None:
    """Told before anything is spent, and when a file is read."""
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for call in (private.save, pm.load):
        with pytest.raises(InputError, match=r"privmine\[tables\]"):
            call(tmp_path / "release.parquet")


def test_the_caveat_stands_where_intervals_are_shown(private) -> None:
    """Text, notebooks, pages, CSV and JSON."""
    for shown in (repr(private), private._repr_html_(), to_html(private), to_csv(private), to_json(private)):
        assert caveat(private) in shown
    assert "95 % interval" in repr(private)
    assert "80 % interval" in to_html(private, 0.8)
    assert "# ci_low and ci_high: 80 %" in to_csv(private, 0.8)


@settings(max_examples=40, deadline=None)
@given(
    labels=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=4, unique=True)
)
def test_any_label_survives_csv_and_json(labels, tmp_path_factory) -> None:
    """A label may contain anything that text can."""
    release = pm.mine([labels] * 5, 3, 1, simulate=True, seed=1)
    for suffix in (".csv", ".json"):
        path = tmp_path_factory.mktemp("labels") / f"release{suffix}"
        release.save(path)
        assert pm.load(path) == release


def test_integer_labels_stay_integers(tmp_path) -> None:
    """A FIMI item comes back as a number from every format."""
    release = pm.mine([[1, 2], [1]] * 9, 3, 1, simulate=True, seed=1)
    for suffix in (".csv", ".json", ".parquet"):
        path = tmp_path / f"release{suffix}"
        release.save(path)
        assert pm.load(path)[0].items == release[0].items
        assert isinstance(pm.load(path)[0].items[0], int)


def content_of(path: Path) -> str:
    """What a reader finds in a file; a workbook is packed."""
    if path.suffix != ".xlsx":
        return path.read_bytes().decode("utf-8", errors="replace")
    with ZipFile(path) as packed:
        return "".join(packed.read(name).decode() for name in packed.namelist())


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_export_carries_the_receipt(private, tmp_path, suffix) -> None:
    """Definition, unit, noise and charges are in the file itself."""
    path = tmp_path / f"release{suffix}"
    private.save(path)
    content = content_of(path)
    for line in ("differential privacy", "not one customer", "OpenDP", "reconstruct_counts"):
        assert line in content


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_export_of_a_simulation_passes_for_private(simulated, tmp_path, suffix) -> None:
    """Each says that it is simulated, in the rows as well where there are rows."""
    path = tmp_path / f"release{suffix}"
    simulated.save(path)
    content = content_of(path)
    assert "NOT PRIVATE" in content or '"private": false' in content
    assert "simulated" in content


@pytest.mark.parametrize("suffix", [".csv", ".json", ".html", ".parquet"])
def test_no_export_of_a_simulation_promises_anything(simulated, tmp_path, suffix) -> None:
    """It protects nobody, and says whom a private run would protect."""
    simulated.save(tmp_path / f"top{suffix}")
    content = (tmp_path / f"top{suffix}").read_bytes().decode(errors="replace")
    for text in (content, repr(simulated), simulated._repr_html_()):
        assert "nobody: the noise is simulated; a private run would protect one transaction, not one customer" in text
        assert "changes the probability" not in text


def test_one_is_no_plural() -> None:
    """Neither in the headline of a release nor of the data."""
    data = pm.Transactions.from_lists([["a"]])
    assert repr(data) == "<Transactions over 1 item>"
    assert repr(pm.mine(data, 1, 1, n_public=True)).startswith("1 private frequent itemset of 1 transaction\n")


def test_simulated_rows_say_so(simulated, private) -> None:
    """A column that only simulations have goes along into frames and tables."""
    assert simulated.to_pandas()["simulated"].all()
    assert "simulated" not in private.to_pandas()
    assert repr(simulated).startswith("12 SIMULATED, NOT PRIVATE")
    assert "NOT PRIVATE" in simulated._repr_html_()


def test_pandas_has_mlxtend_names_first(private) -> None:
    """support and itemsets, with frozensets; the receipt is in attrs."""
    frame = private.to_pandas()
    assert list(frame.columns[:2]) == ["support", "itemsets"]
    assert isinstance(frame["itemsets"][0], frozenset)
    assert frame.attrs["privmine"]["epsilon"] == "1"
    assert frame["length"].tolist() == [len(found.items) for found in private]


def test_csv_has_one_row_an_itemset(simulated) -> None:
    """Below the # lines it is plain CSV, whatever the labels."""
    lines = to_csv(simulated).split("\n")
    start = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    assert len(rows) == len(simulated)
    assert json.loads(rows[0]["itemsets"]) == list(simulated[0].items)


def test_html_escapes_labels() -> None:
    """A label cannot bring markup into a page."""
    page = to_html(pm.mine([["<b>html</b>"]], 1, 1, simulate=True))
    assert "<b>html</b>" not in page
    assert "&lt;b&gt;html&lt;/b&gt;" in page


def test_json_keeps_amounts_exact() -> None:
    """A third of ε is written as a fraction."""
    release = pm.mine([["a"]], 1, "1/3", simulate=True, seed=1)
    assert json.loads(to_json(release))["receipt"]["epsilon"] == "1/3"


def test_text_shows_what_matters(private) -> None:
    """A readable repr: the table, the charges, the total."""
    text = repr(private)
    assert "frequent itemsets of about" in text
    assert "Total: ε = 1 in" in text


def test_iteration_and_indexing(private) -> None:
    """A release is a sequence of frequent itemsets, most frequent first."""
    assert all(isinstance(found, FrequentItemset) for found in private)
    assert [found.count for found in private] == sorted((found.count for found in private), reverse=True)
    for found in private:
        assert found.support == pytest.approx(min(max(found.count / private.total, 0), 1))


def test_a_failed_write_leaves_the_old_file(private, tmp_path, monkeypatch) -> None:
    """A reader finds the old file whole, and no debris beside it."""
    path = tmp_path / "release.csv"
    path.write_text("precious")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        private.save(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_saved_file_has_ordinary_rights(private, tmp_path) -> None:
    """A release is meant to be read by others, within the user's umask."""
    path = tmp_path / "release.csv"
    private.save(path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("content", ["", "support,itemsets\n", "# privmine: {}\nsupport\n", "{}", "[1]", "nonsense"])
@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_a_file_that_is_no_release_is_refused(tmp_path, content, suffix) -> None:
    """One sentence, whatever is inside."""
    path = tmp_path / f"other{suffix}"
    path.write_text(content)
    with pytest.raises(DataError, match=r"is not a release|Cannot read"):
        pm.load(path)


def test_a_missing_file_is_refused(tmp_path) -> None:
    """The path is in the sentence."""
    with pytest.raises(DataError, match=r"gone\.csv"):
        pm.load(tmp_path / "gone.csv")


@pytest.mark.parametrize("name", ["release", "release.xls"])
def test_an_unknown_format_is_refused(private, tmp_path, name) -> None:
    """The error lists the formats that there are."""
    with pytest.raises(InputError, match=r"\.csv, \.json"):
        private.save(tmp_path / name)
