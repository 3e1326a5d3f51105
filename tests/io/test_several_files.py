"""Several files as one source."""

from __future__ import annotations

import pandas as pd
import pytest

import privmine as pm
from privmine.audit.written_sources import contents_of
from privmine.errors import DataError, InputError, PrivmineError
from privmine.io.readers.files_in import counting_bytes

COLUMNS = {"transaction": "order_id", "item": "product"}


def orders(path, *rows):
    """Write a long table, and where."""
    path.write_text("order_id,product\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_several_files_are_one_table(tmp_path):
    """Paths and texts, files and patterns; the receipt tells neither their number nor their names."""
    one, other = orders(tmp_path / "anna.csv", "1,milk", "2,tea"), orders(tmp_path / "bob.csv", "1,tea")
    for source in ([one, other], (str(one), str(other)), [f"{tmp_path}/a*.csv", other]):
        found = pm.read(source, **COLUMNS)
        assert contents_of(found) == {("milk", "tea"): 1, ("tea",): 1}
        assert found.origin.source == "several .csv files"
    assert "anna" not in str(pm.mine(found, 1, 1).receipt)


def test_a_file_that_is_named_twice_is_refused(tmp_path):
    """Its transactions would count twice, and so would whoever made them."""
    path = orders(tmp_path / "a.csv", "1,milk")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for source in ([path, path], [path, tmp_path / "." / "a.csv"], [path, link], [path, f"{tmp_path}/*.csv"]):
        with pytest.raises(InputError, match="is named twice"):
            pm.read(source, **COLUMNS)


def test_files_of_several_formats_are_refused(tmp_path):
    """So are files with other columns, and one that is not there."""
    path = orders(tmp_path / "a.csv", "1,milk")
    (tmp_path / "b.dat").write_text("1 2\n")
    (tmp_path / "c.csv").write_text("order,product\n1,milk\n")
    with pytest.raises(InputError, match=r"different formats \(.csv, .dat\)"):
        pm.read([path, tmp_path / "b.dat"], **COLUMNS)
    with pytest.raises(DataError, match="has other columns"):
        pm.read([path, tmp_path / "c.csv"], **COLUMNS)
    with pytest.raises(DataError, match="does not exist"):
        pm.read([path, tmp_path / "none.csv"], **COLUMNS)


def test_a_basket_of_texts_is_not_taken_for_files():
    """No message may quote an item."""
    with pytest.raises(PrivmineError) as error:
        pm.read(["milk", "my secret.thing"])
    assert "secret" not in str(error.value)


def test_bytes_are_counted_while_reading(tmp_path):
    """As many as the files have, and the first lines more than once; without a listener nothing is counted."""
    parts = [orders(tmp_path / f"{part}.csv", *(f"{row},item {row % 7}" for row in range(5000))) for part in "ab"]
    done = []
    with counting_bytes(done.append):
        pm.read(parts, **COLUMNS)
    size = sum(path.stat().st_size for path in parts)
    assert size <= sum(done) <= 6 * size
    before = len(done)
    pm.read(parts, **COLUMNS)
    assert len(done) == before


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.xlsx", "a.dat"])
def test_bytes_of_other_formats_are_counted_too(tmp_path, name):
    """About as many as the file has."""
    frame = pd.DataFrame({"order_id": range(500), "product": "tea"})
    if name == "a.xlsx":
        frame.to_excel(tmp_path / name, index=False)
    elif name == "a.feather":
        frame.to_feather(tmp_path / name)
    else:
        pm.write(pm.read([[1, 2], [2]] * 500), tmp_path / name)
    done = []
    with counting_bytes(done.append):
        pm.read(tmp_path / name)
    size = (tmp_path / name).stat().st_size
    assert size / 4 <= sum(done) <= 6 * size
