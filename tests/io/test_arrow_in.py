"""Feather and Arrow files as tables."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

import privmine as pm
from privmine.audit.written_sources import contents_of
from privmine.errors import DataError, InputError

COLUMNS = {"transaction": "order_id", "item": "product", "layout": "long"}
TABLE = pa.table({"order_id": [1, 1, 2], "product": ["milk", "tea", "tea"]})
EXPECTED = {("milk", "tea"): 1, ("tea",): 1}


def stream(path, table):
    """Write the streaming format."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as made:
        made.write_table(table, max_chunksize=1)


WRITERS = {
    "pandas.feather": lambda path: TABLE.to_pandas().to_feather(path),
    "polars.arrow": lambda path: pl.from_arrow(TABLE).write_ipc(path),
    "lz4.feather": lambda path: feather.write_feather(TABLE, path, compression="lz4"),
    "zstd.ipc": lambda path: feather.write_feather(TABLE, path, compression="zstd"),
    "chunks.arrow": lambda path: feather.write_feather(TABLE, path, chunksize=1),
    "stream.arrows": lambda path: stream(path, TABLE),
    "stream.arrow": lambda path: stream(path, TABLE),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_every_writer_are_read(tmp_path, name):
    """pandas, Polars and Arrow, compressed or not, as a file or as a stream."""
    WRITERS[name](tmp_path / name)
    assert contents_of(pm.read(tmp_path / name, **COLUMNS)) == EXPECTED
    assert contents_of(pm.read(tmp_path / name)) == EXPECTED


def test_categories_and_lists_are_read(tmp_path):
    """Codes of texts, and a list a row."""
    frame = TABLE.to_pandas()
    frame["product"] = frame["product"].astype("category")
    frame.to_feather(tmp_path / "coded.feather")
    assert contents_of(pm.read(tmp_path / "coded.feather", **COLUMNS)) == EXPECTED
    pd.DataFrame({"items": [["milk", "tea"], ["tea"]]}).to_feather(tmp_path / "lists.feather")
    assert contents_of(pm.read(tmp_path / "lists.feather")) == EXPECTED


def test_a_release_is_no_data(tmp_path):
    """Its itemsets are lists of labels, and would be read as transactions."""
    pm.mine([["tea", "milk"], ["tea"]] * 50, 2, 1).save(tmp_path / "top.parquet")
    with pytest.raises(DataError, match="is a release that privmine saved, not data"):
        pm.read(tmp_path / "top.parquet")


def test_damaged_files_are_told(tmp_path):
    """Cut off, changed, of another version, or no such file; never in Arrow's words."""
    whole = tmp_path / "a.feather"
    feather.write_feather(TABLE, whole, compression="uncompressed")
    data = whole.read_bytes()
    for name, content in {"cut": data[: len(data) // 2], "text": b"order_id,product\n", "empty": b""}.items():
        (tmp_path / f"{name}.feather").write_bytes(content)
        with pytest.raises(DataError, match="not a whole Feather or Arrow file"):
            pm.read(tmp_path / f"{name}.feather", **COLUMNS)
    (tmp_path / "old.feather").write_bytes(b"FEA1" + data)
    with pytest.raises(DataError, match="version 1"):
        pm.read(tmp_path / "old.feather", **COLUMNS)
    with pytest.raises(DataError, match="does not exist"):
        pm.read(tmp_path / "none.feather", **COLUMNS)
    with pytest.raises(InputError, match="no column 'article'"):
        pm.read(whole, transaction="order_id", item="article")
    with pytest.raises(DataError, match=r"Rename it so that its name ends in .feather"):
        pm.read(whole.rename(tmp_path / "a.csv"))
