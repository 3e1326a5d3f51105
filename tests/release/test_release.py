from __future__ import annotations

import csv
import io
import json
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmine as pm
from privmine.errors import DataError, InputError
from privmine.release import FrequentItemset
from privmine.release.files import WRITERS, to_csv, to_html, to_json

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


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_a_saved_release_reads_back_whole(simulated, private, tmp_path, suffix) -> None:
    """Itemsets, labels, counts, errors and every line of the receipt survive."""
    for release in (simulated, private):
        path = tmp_path / f"release{suffix}"
        release.save(path)
        assert pm.load(path) == release


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


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_export_carries_the_receipt(private, tmp_path, suffix) -> None:
    """Definition, unit, noise and charges are in the file itself."""
    path = tmp_path / f"release{suffix}"
    private.save(path)
    content = path.read_bytes().decode("utf-8", errors="replace")
    for line in ("differential privacy", "not one customer", "OpenDP", "reconstruct_counts"):
        assert line in content


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_export_of_a_simulation_passes_for_private(simulated, tmp_path, suffix) -> None:
    """Each says that it is simulated, in the rows as well where there are rows."""
    path = tmp_path / f"release{suffix}"
    simulated.save(path)
    content = path.read_bytes().decode("utf-8", errors="replace")
    assert "NOT PRIVATE" in content or '"private": false' in content
    assert "simulated" in content


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
