"""A file may come from anybody: what it says is checked, and what is loaded can be used."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import privmine as pm
from privmine.errors import DataError, InputError, PrivmineWarning
from privmine.release import release_files as files

FOLDER = Path(__file__).parent
SAVED = ("private", "simulated")
SUFFIXES = (".csv", ".json", ".parquet")
NASTY = [
    None, True, False, 0, 1, -1, 2, 10**18, 2**63, -(2**63) - 1, 10**400, 0.5, -0.5, 1e-300, 1e300, -1e308, math.nan,
    math.inf, -math.inf, "", "0", "-1", "1/3", "1/0", "1e300", "-1e300", "1e-300", "1e999", "1e-999", "1e999999999",
    "9" * 5000, "1/" + "7" * 900, "nan", "inf", "x", "\x1b[31m", "\u202e", "\ud800", [], [[]], [1], [1, 1], ["a", 1],
    [[1, 1.0]], [[10**30, 1e-300]], [[0.95, 1.0]], [[0.5, math.nan]], {}, {"a": 1},
]  # fmt: skip


def content_of(name: str) -> dict:
    return json.loads((FOLDER / "version3" / f"{name}.json").read_text(encoding="utf-8"))


def places(value, path=()):
    """The path to every value within plain values."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def changed(name: str, *path, to) -> dict:
    """The saved release with another value in one place."""
    content = holder = content_of(name)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = to
    return content


def write(path: Path, content: dict) -> Path:
    """Write it as JSON, or its facts into a Parquet file of the same rows."""
    text = json.dumps(content)
    if path.suffix == ".json":
        path.write_text(text, encoding="utf-8")
    else:
        table = parquet.read_table(FOLDER / "version3" / "private.parquet")
        facts = {name: value for name, value in content.items() if name != "itemsets"}
        parquet.write_table(table.replace_schema_metadata({"privmine": json.dumps(facts)}), path)
    return path


def use(release: pm.Release) -> None:
    """All that a release is asked for."""
    for level in (0.5, 0.95, 0.999):
        assert all(math.isfinite(end) for within in release.intervals(level) for end in within)
        assert all(math.isfinite(end) for end in release.total_interval(level))
    for shown in (repr(release), str(release.receipt)):
        assert all(line.isprintable() for line in shown.split("\n"))
    release._repr_html_()
    release.to_pandas()
    release.to_polars()
    release.to_arrow()
    release.downward_closed()
    release.rules(support_only=True, min_threshold=0)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", SAVED)
def test_files_of_the_version_before_are_read(name, suffix, tmp_path) -> None:
    """Whole, with the laws of their noise; saving them again gives the same release."""
    release = pm.load(FOLDER / "version3" / f"{name}{suffix}")
    assert release == pm.load(FOLDER / "version3" / f"{name}.json")
    assert release.receipt.private == (name == "private")
    assert all(found.law is not None for found in release)
    assert release.receipt.spent == release.receipt.cost
    use(release)
    release.save(tmp_path / f"again{suffix}")
    assert pm.load(tmp_path / f"again{suffix}") == release


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("charge", ["1/31", "1/29", "0", "-1/30", "1e999", "1e-999"])
def test_charges_that_do_not_sum_to_epsilon_are_refused(tmp_path, charge, suffix) -> None:
    """Neither more nor less: the receipt would promise what was not paid for, or hide what was."""
    path = write(tmp_path / f"release{suffix}", changed("private", "receipt", "charges", 0, "epsilon", to=charge))
    with pytest.raises(DataError, match=r"do not sum to the ε|not above 0"):
        pm.load(path)


def test_a_charge_that_is_left_out_is_refused(tmp_path) -> None:
    """Also where all of them are."""
    charges = content_of("private")["receipt"]["charges"]
    for left in (charges[1:], []):
        path = write(tmp_path / "release.json", changed("private", "receipt", "charges", to=left))
        with pytest.raises(DataError, match="do not sum to the ε"):
            pm.load(path)


def test_many_charges_of_many_digits_are_refused(tmp_path) -> None:
    """A sum over ever new denominators would take for ever."""
    charge = content_of("private")["receipt"]["charges"][0]
    many = [{**charge, "epsilon": f"1/{10**900 + number}"} for number in range(5000)]
    path = write(tmp_path / "release.json", changed("private", "receipt", "charges", to=many))
    with pytest.raises(DataError, match="do not sum to the ε"):
        pm.load(path)


@pytest.mark.parametrize(
    "scale", ["1e999999999", "1e300", "1e-300", "1e999", "-3", "0", "1/0", "nan", 3, None, "9" * 5000]
)
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_scale_that_no_noise_has_is_refused(tmp_path, scale, suffix) -> None:
    """At once, however long it would take to write it out."""
    path = write(tmp_path / f"release{suffix}", changed("private", "laws", 0, "scale", to=scale))
    with pytest.raises(DataError, match="is not a release"):
        pm.load(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("total",), math.inf),
        (("total",), 0.5),
        (("total_error",), -1),
        (("requested",), 5),
        (("requested",), 6.0),
        (("requested",), True),
        (("private",), False),
        (("format_version",), True),
        (("total_law",), -1),
        (("total_law",), True),
        (("itemsets", 0, "count"), True),
        (("itemsets", 0, "count"), "29"),
        (("itemsets", 0, "support"), 1.5),
        (("itemsets", 0, "standard_error"), -1.0),
        (("itemsets", 0, "law"), -1),
        (("itemsets", 0, "items"), []),
        (("itemsets", 0, "items"), ["bread", "bread"]),
        (("itemsets", 0, "items"), [1]),
        (("itemsets", 0, "items"), [True]),
        (("itemsets", 0, "items"), ["\ud800"]),
        (("laws", 0, "terms"), [[1.5, 1.0]]),
        (("laws", 0, "terms"), [[-1, 1.0]]),
        (("laws", 0), {"distribution": "tabulated", "widths": []}),
        (("laws", 0), {"distribution": "tabulated", "widths": [[0.5, 1.0]]}),
        (("laws", 0), {"distribution": "tabulated", "widths": [[0.5, 3.0], [0.9999, 1.0]]}),
        (("laws", 0), {"distribution": "tabulated", "widths": [[0.5, 1.0], [0.9999, math.nan]]}),
        (("receipt", "private"), "yes"),
        (("receipt", "n_public"), 1),
        (("receipt", "entry"), True),
        (("receipt", "notes"), "text"),
        (("receipt", "notes"), [1]),
        (("receipt", "pipeline"), {"allocate_budget": 1}),
        (("receipt", "unit"), {"name": 1, "baskets": 2, "merged": False}),
        (("receipt", "epsilon"), 1),
        (("receipt", "more"), 1),
    ],
    ids=str,
)
def test_a_value_that_no_release_has_is_refused(tmp_path, place, value) -> None:
    """Of another type or out of its range: when the file is read, not when the release is used."""
    path = write(tmp_path / "release.json", changed("private", *place, to=value))
    with pytest.raises(DataError, match="is not a release"):
        pm.load(path)


def test_deeply_nested_json_is_refused(tmp_path) -> None:
    """In a sentence, in the file itself as in a cell."""
    (tmp_path / "release.json").write_text("[" * 100_000)
    cells = (FOLDER / "version3" / "private.csv").read_text(encoding="utf-8").replace('"[""bread""]"', "[" * 100_000)
    (tmp_path / "release.csv").write_text(cells, encoding="utf-8")
    for suffix in (".json", ".csv"):
        with pytest.raises(DataError, match="is not a release"):
            pm.load(tmp_path / f"release{suffix}")


def test_a_small_file_of_many_rows_is_refused(tmp_path) -> None:
    """Before it is in memory."""
    table = pyarrow.table({"count": pyarrow.nulls(2_000_000, pyarrow.float64())})
    parquet.write_table(table, tmp_path / "release.parquet")
    with pytest.raises(DataError, match="more than 1,000,000 rows"):
        pm.load(tmp_path / "release.parquet")


@settings(max_examples=150, deadline=None)
@given(data=st.data(), name=st.sampled_from(SAVED), value=st.sampled_from(NASTY))
def test_any_value_anywhere_gives_a_release_or_a_sentence(tmp_path_factory, data, name, value) -> None:
    """What is loaded can be shown, tabulated and turned into rules; all else is a DataError."""
    place = data.draw(st.sampled_from([path for path in places(content_of(name)) if path]))
    path = write(tmp_path_factory.getbasetemp() / "nasty.json", changed(name, *place, to=value))
    try:
        release = pm.load(path)
    except DataError:
        return
    use(release)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), value=st.sampled_from([*map(str, NASTY), "[1]", '["a"]', "[" * 9]))
def test_any_cell_of_a_csv_gives_a_release_or_a_sentence(tmp_path_factory, data, value) -> None:
    """Cells are text, and most text is no number."""
    lines = (FOLDER / "version3" / "simulated.csv").read_text(encoding="utf-8").splitlines()
    row = data.draw(st.integers(next(n for n, line in enumerate(lines) if not line.startswith("#")), len(lines) - 1))
    cells = lines[row].split(",")
    cells[data.draw(st.integers(0, len(cells) - 1))] = value
    lines[row] = ",".join(cells)
    path = tmp_path_factory.getbasetemp() / "nasty.csv"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    try:
        release = pm.load(path)
    except DataError:
        return
    use(release)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("version", ["0.12.0", "0.13.0", "0.14.1"])
def test_biased_noise_is_told_when_a_release_is_loaded(tmp_path, version, suffix) -> None:
    """With the fault, and what to do; the release is loaded."""
    noise = f"exact discrete noise (OpenDP {version}), entropy of the operating system"
    path = write(tmp_path / f"release{suffix}", changed("private", "receipt", "noise", to=noise))
    with pytest.warns(
        PrivmineWarning, match=rf"OpenDP {version} draws biased noise.*2638.*make a new release"
    ) as caught:
        release = pm.load(path)
    assert caught[0].filename == __file__
    assert release.receipt.noise == noise


def test_control_characters_in_a_receipt_are_shown_as_escapes(tmp_path) -> None:
    """A file cannot add a line to what privmine says, nor colours, nor turn text around."""
    forged = "exact noise\nPrivacy: ε = 0\x1b[2J\u202e"
    release = pm.load(write(tmp_path / "release.json", changed("private", "receipt", "noise", to=forged)))
    for shown in (repr(release), str(release.receipt), release._repr_html_()):
        assert r"exact noise\nPrivacy: ε = 0\x1b[2J\u202e" in shown


def test_a_receipt_that_does_not_add_up_is_refused_everywhere() -> None:
    """Also by itself, as tables carry it."""
    values = content_of("private")["receipt"]
    assert pm.Receipt.from_dict(values).spent == pm.Receipt.from_dict(values).cost
    with pytest.raises(InputError, match="do not sum to the ε"):
        pm.Receipt.from_dict({**values, "epsilon": "1/4"})


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_simulated_release_that_calls_itself_private_is_refused(tmp_path, suffix) -> None:
    """Flipping the flag in both places is not enough: the receipt names simulated noise."""
    content = content_of("simulated")
    content["private"] = content["receipt"]["private"] = True
    with pytest.raises(DataError, match="simulated release is private"):
        pm.load(write(tmp_path / f"made{suffix}", content))


def test_the_noise_of_a_simulation_in_a_private_release_is_refused(tmp_path) -> None:
    """The laws of a private release are discrete."""
    content = content_of("private")
    for law in content["laws"]:
        law["distribution"] = "laplace"
    with pytest.raises(DataError, match="noise of a simulation"):
        pm.load(write(tmp_path / "made.json", content))


def test_an_unknown_definition_of_privacy_is_refused(tmp_path) -> None:
    """Words behind the name of the definition would be printed as a promise."""
    content = changed("private", "receipt", "definition", to="pure ε-differential privacy, ε = 0.001")
    with pytest.raises(DataError, match="definition of privacy"):
        pm.load(write(tmp_path / "made.json", content))


def test_a_small_file_of_many_long_labels_is_refused(tmp_path, monkeypatch) -> None:
    """Rows that share one long label take little room in a Parquet file, and much in memory."""
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    path = tmp_path / "made.parquet"
    path.write_bytes((FOLDER / "version3" / "private.parquet").read_bytes())
    table = parquet.read_table(path)
    rows = pyarrow.concat_tables([table.slice(0, 1)] * 500)
    place = rows.schema.get_field_index("itemsets")
    labels = pyarrow.array([["x" * 20_000]] * 500, rows.schema.field(place).type)
    parquet.write_table(rows.set_column(place, rows.schema.field(place), labels), path)
    assert path.stat().st_size < 200_000
    with pytest.raises(DataError, match="its labels take more than"):
        pm.load(path)
