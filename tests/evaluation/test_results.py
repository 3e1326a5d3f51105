from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from privmine.errors import DataError, InputError
from privmine.evaluation.result_rows import columns
from privmine.evaluation.results import CsvResults, ParquetResults, check_same, open_results


def row(repeat: int, **values: Any) -> dict[str, Any]:
    """A row in which most columns do not apply."""
    key = {
        "data": "d, with a comma",
        "pipeline": "p",
        "k": 10,
        "epsilon": "1/3",
        "repeat": repeat,
        "seed": 2**55 + repeat,
    }
    return dict.fromkeys(columns()) | key | {"database": "ab", "definition": "cd", "fnr": 0.1 + 0.2} | values


@pytest.fixture(params=["results.csv", "folder"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A CSV file, or a folder of Parquet parts."""
    return tmp_path / str(request.param)


def test_what_was_written_is_read_back(path: Path) -> None:
    """Exact floats, infinite ones, missing values and text with commas survive."""
    rows = [row(0, re_strict=float("inf")), row(1, lam=7, re=0.25)]
    results = open_results(path)
    results.add(rows)
    assert open_results(path).rows() == rows


def test_rows_added_later_come_on_top(path: Path) -> None:
    """Opening again keeps what is there, and closing joins parts without losing any."""
    for repeat in (2, 0, 1):
        results = open_results(path)
        results.add([row(repeat)])
    results.close()
    results.close()
    assert [found["repeat"] for found in open_results(path).rows()] == [0, 1, 2]


def test_a_run_that_is_listed_twice_counts_once(path: Path) -> None:
    """The first listing stands."""
    results = open_results(path)
    results.add([row(0, fnr=0.5)])
    results.add([row(0, fnr=0.6)])
    assert [found["fnr"] for found in results.rows()] == [0.5]


def test_adding_nothing_changes_nothing(path: Path) -> None:
    """An empty batch is no row and no part."""
    results = open_results(path)
    results.add([])
    assert results.rows() == []


def test_joined_parts_are_one_file(tmp_path: Path) -> None:
    """After closing, a folder holds one part."""
    results = ParquetResults(tmp_path / "parts")
    for repeat in range(3):
        results.add([row(repeat)])
    results.close()
    assert len(list((tmp_path / "parts").iterdir())) == 1


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_half_written_line_is_dropped(tmp_path: Path, cut: int) -> None:
    """A kill in the middle of a line loses that line and no other, and the next line starts fresh."""
    path = tmp_path / "results.csv"
    CsvResults(path).add([row(0), row(1)])
    path.write_bytes(path.read_bytes()[:-cut])
    results = CsvResults(path)
    results.add([row(2)])
    assert [found["repeat"] for found in results.rows()] == [0, 2]


@pytest.mark.parametrize("left", [0, 3])
def test_a_half_written_header_is_written_again(tmp_path: Path, left: int) -> None:
    """A kill at the very beginning leaves a file that can be used."""
    path = tmp_path / "results.csv"
    CsvResults(path)
    path.write_bytes(path.read_bytes()[:left])
    results = CsvResults(path)
    results.add([row(0)])
    assert results.rows() == [row(0)]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "notes of mine"])
def test_another_file_is_not_written_to(tmp_path: Path, content: str) -> None:
    """A file that is no results file is refused and stays as it is."""
    path = tmp_path / "results.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="This experiment cannot continue"):
        open_results(path)
    assert path.read_text() == content


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    """Too few fields, or a field of the wrong kind, give the line's number."""
    path = tmp_path / "results.csv"
    CsvResults(path).add([row(0)])
    whole = path.read_text()
    path.write_text(whole + "1,2\n")
    with pytest.raises(DataError, match="line 3: 2 fields"):
        open_results(path).rows()
    path.write_text(whole.replace("1/3,0,", "1/3,zero,"))
    with pytest.raises(DataError, match="line 2: a field"):
        open_results(path).rows()


def test_a_broken_part_is_named(tmp_path: Path) -> None:
    """A file that is no Parquet file, or has other columns, is refused by name."""
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path / "parts"
    results = ParquetResults(folder)
    (folder / "part-0.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match=r"part-0\.parquet is not a Parquet file"):
        results.rows()
    parquet.write_table(pa.table({"a": [1]}), folder / "part-0.parquet")
    with pytest.raises(DataError, match="cannot continue"):
        results.rows()


def test_an_unusable_output_is_refused(tmp_path: Path) -> None:
    """An unknown ending, a folder that is not there, and a file in the place of a folder."""
    (tmp_path / "file").write_text("x")
    for bad in ("results.xlsx", "none/results.csv", "none/folder", "file"):
        with pytest.raises(InputError):
            open_results(tmp_path / bad)


def test_two_things_of_one_name_are_not_mixed() -> None:
    """Rows of another pipeline, or of other data, under the same name stop the experiment."""
    with pytest.raises(InputError, match="another pipeline with the name 'p'"):
        check_same([row(0)], "definition", "pipeline", {"p": "other"})
    check_same([row(0)], "definition", "pipeline", {"p": "cd", "q": "other"})
