"""Queries of the command line: what they may do, and what is said of those that fail."""

# ruff: noqa: S608 - queries of our own
from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from privmine_spark.plans import guesses
from privmine_spark.sessions import open_query

import privmine as pm
from privmine.api import InputError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def orders(session, tmp_path_factory):
    """A folder with the same orders in several formats."""
    folder = tmp_path_factory.mktemp("orders")
    frame = session.createDataFrame([([1, 2],), ([2],), ([],)] * 20, "items array<int>")
    frame.write.parquet(str(folder / "lists.parquet"))
    frame.write.json(str(folder / "lists.json"))
    long = session.createDataFrame([(1, "tea"), (1, "jam"), (2, "tea")], "id int, product string")
    long.write.partitionBy("product").parquet(str(folder / "folders.parquet"))
    long.write.csv(str(folder / "long.csv"))
    return folder


def test_a_query_is_mined_on_the_command_line(orders, tmp_path) -> None:
    """In a session of its own, with the release that the same file gives in memory, and without a word of Spark's."""
    path, items = orders / "lists.parquet", tmp_path / "items.txt"
    items.write_text("1\n2\n3\n")
    common = ["--item", "items", "--items", str(items), "--k", "3", "--epsilon", "1", "--simulate", "--seed", "3"]
    query = f"select items from parquet.`{path}` -- all of them"
    shown = [
        subprocess.run(
            [sys.executable, "-m", "privmine", "mine", *source, *common, "--json", "--strict"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYSPARK_SUBMIT_ARGS": "--master local[1] --driver-memory 1g pyspark-shell"},
        )
        for source in (["--spark", query], [f"{path}/*.parquet"])
    ]
    ours, theirs = (json.loads(ran.stdout) for ran in shown)
    assert ours["itemsets"] == theirs["itemsets"]
    assert len(ours["itemsets"]) == 3
    assert "Stage" not in shown[0].stderr
    assert "ERROR" not in shown[0].stderr


@pytest.mark.parametrize(
    "query",
    [
        "insert overwrite directory '{folder}/stolen' using parquet select * from parquet.`{folder}/lists.parquet`",
        "create table stolen using parquet as select * from parquet.`{folder}/lists.parquet`",
        "select 1) ; drop table x; select (2",
        "select from where",
        "cache table x",
    ],
)
def test_only_a_select_is_run(session, orders, query) -> None:
    """Nothing that writes, and nothing that is no query."""
    with pytest.raises(InputError, match=r"Spark does not accept the query: [A-Z_]+.*It must be one select"):
        open_query(query.format(folder=orders))
    assert not (orders / "stolen").exists()
    assert session.catalog.listTables() == []


def test_what_is_not_there_is_named(session, orders) -> None:
    """By the words of the query."""
    with pytest.raises(InputError, match=r"TABLE_OR_VIEW_NOT_FOUND \(`?no_such_table`?\)"):
        open_query("select * from no_such_table")
    with pytest.raises(InputError, match="UNRESOLVED_COLUMN"):
        open_query(f"select wrong from parquet.`{orders}/lists.parquet`")


def test_types_that_depend_on_rows_are_refused(session, orders) -> None:
    """In a query; a frame is taken, but told as a guess, which strict mode refuses."""
    with pytest.raises(InputError, match="a file of JSON or XML"):
        open_query(f"select items from json.`{orders}/lists.json`")
    with pytest.raises(InputError, match="the names of folders"):
        open_query(f"select id, product from parquet.`{orders}/folders.parquet`")
    open_query(f"select _c0, _c1 from csv.`{orders}/long.csv`")
    open_query(f"with x as (select items from parquet.`{orders}/lists.parquet`) select * from x")
    for frame in (
        session.read.json(str(orders / "lists.json")),
        session.read.option("inferSchema", "true").csv(str(orders / "long.csv")),
        session.read.parquet(str(orders / "folders.parquet")),
    ):
        assert guesses(frame)
    assert not guesses(session.read.parquet(str(orders / "lists.parquet")))
    read = pm.read(session.read.json(str(orders / "lists.json")), item="items", items=[1, 2])
    with pytest.raises(InputError):
        pm.mine(read, k=1, epsilon=1, strict=True)
