"""The same baskets through every way in: the same universe, the same counts, the same simulated release."""

import csv
import gzip
import json
import sqlite3
from itertools import chain, pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve
from scipy import sparse

import privmine as pm


@pytest.fixture(scope="module")
def groceries():
    """The embedded baskets as lists of labels, and their universe."""
    transactions = pm.groceries()
    labels = transactions.universe.labels.tolist()
    rows = transactions.store.rows
    items = [labels[item] for item in rows.items.tolist()]
    return [items[start:stop] for start, stop in pairwise(rows.offsets.tolist())][:2000], labels


def release_of(transactions):
    """What a simulated run releases, labels and all; of the receipt, all but how the data was read."""
    release = pm.mine(transactions, k=30, epsilon=1, simulate=True, seed=7)
    ways_in = {line for line in release.receipt.assumptions if "detected" in line or "query" in line}
    assumptions = [line for line in release.receipt.assumptions if line not in ways_in]
    return release.columns(), release.itemsets, evolve(release.receipt, assumptions=assumptions)


@pytest.fixture(scope="module")
def expected(groceries):
    """The release of the baskets as Python lists."""
    baskets, labels = groceries
    return release_of(pm.Transactions.from_lists(baskets, items=labels))


def long_rows(baskets):
    return [(1000 + number, item) for number, basket in enumerate(baskets) for item in reversed(basket)]


def long_table(baskets):
    numbers, items = zip(*long_rows(baskets), strict=True)
    return pa.table({"price": [1.5] * len(items), "order_id": numbers, "product": items})


def list_table(baskets):
    return pa.table({"items": baskets, "shop": ["here"] * len(baskets)})


def flags(baskets, labels):
    return np.array([[label in basket for label in labels] for basket in map(set, baskets)])


def to_text(path, write):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt", encoding="utf-8", newline="") as file:
        write(file)
    return path


def write_long(path, baskets, separator=",", shuffled=False):
    rows = long_rows(baskets)
    if shuffled:
        rows = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))] + rows[:100]
    return to_text(path, lambda file: csv.writer(file, delimiter=separator).writerows([("order_id", "product"), *rows]))


def write_lines(path, lines):
    return to_text(path, lambda file: file.writelines(f"{line}\n" for line in lines))


def write_sqlite(path, baskets):
    with sqlite3.connect(path) as connection:
        connection.execute("create table orders (order_id, product)")
        connection.executemany("insert into orders values (?, ?)", long_rows(baskets))
    connection.close()
    return path


def write_duckdb(path, baskets):
    table = long_table(baskets)
    with duckdb.connect(str(path)) as connection:
        connection.register("rows", table)
        connection.execute("create table orders as select order_id, product from rows")
    return path


def write_parts(folder, table):
    for number, start in enumerate(range(0, table.num_rows, 700)):
        pq.write_table(table.slice(start, 700), folder / f"part-{number:03}.parquet")
    return folder


SQL = "select order_id, product from orders"
FILES = {
    "csv": lambda p, b, _: pm.read(write_long(p / "a.csv", b), items=_),
    "csv in any order, with duplicates": lambda p, b, _: pm.read(write_long(p / "a.csv", b, shuffled=True), items=_),
    "csv.gz": lambda p, b, _: pm.read(write_long(p / "a.csv.gz", b), items=_),
    "semicolons": lambda p, b, _: pm.read(write_long(p / "a.csv", b, ";"), items=_),
    "tsv": lambda p, b, _: pm.read(str(write_long(p / "a.tsv", b, "\t")), items=_),
    "one-hot csv": lambda p, b, _: pm.read(
        write_lines(p / "a.csv", [",".join(_), *(",".join("01"[x] for x in row) for row in flags(b, _).tolist())]),
        items=_,
    ),
    "basket lines": lambda p, b, _: pm.read(write_lines(p / "a.txt", map(", ".join, b)), items=_),
    "basket lines as csv.gz": lambda p, b, _: pm.read(
        write_lines(p / "a.csv.gz", map(",".join, b)), layout="baskets", items=_
    ),
    "fimi": lambda p, b, _: pm.read(
        write_lines(p / "a.dat.gz", (" ".join(str(_.index(x)) for x in row) for row in b)), names=_, items=_
    ),
    "fimi with a file of names": lambda p, b, _: pm.read(
        write_lines(p / "a.dat", (" ".join(str(_.index(x)) for x in row) for row in b)),
        names=write_lines(p / "names.txt", _),
        items=write_lines(p / "items.txt", _),
    ),
    "json lines": lambda p, b, _: pm.read(
        write_lines(p / "a.jsonl", (json.dumps({"order_id": n, "product": x}) for n, x in long_rows(b))), items=_
    ),
    "json lines with lists": lambda p, b, _: pm.read(
        write_lines(p / "a.ndjson.gz", (json.dumps({"shop": "here", "items": row}) for row in b)), items=_
    ),
    "json array": lambda p, b, _: pm.read(write_lines(p / "a.json", [json.dumps(b, indent=1)]), items=_),
    "parquet": lambda p, b, _: pm.read(pq.write_table(long_table(b), p / "a.parquet") or p / "a.parquet", items=_),
    "parquet with lists": lambda p, b, _: pm.read(
        pq.write_table(list_table(b), p / "a.parquet") or p / "a.parquet", items=_
    ),
    "parquet files": lambda p, b, _: pm.read(f"{write_parts(p, long_table(b))}/*.parquet", items=_),
    "sql over files": lambda p, b, _: pm.read(
        sql="select order_id, product from 'PARTS/*.parquet'".replace("PARTS", str(write_parts(p, long_table(b)))),
        items=_,
    ),
    "sqlite": lambda p, b, _: pm.read(sql=SQL, database=write_sqlite(p / "shop.db", b), items=_),
    "duckdb": lambda p, b, _: pm.read(sql=SQL, database=str(write_duckdb(p / "shop.db", b)), items=_),
}
OBJECTS = {
    "lists": lambda b, _: pm.read(b, items=_),
    "a generator of sets": lambda b, _: pm.read(map(set, b), items=_),
    "pandas": lambda b, _: pm.read(long_table(b).to_pandas(), items=_),
    "pandas with an index": lambda b, _: pm.read(
        long_table(b).to_pandas().sort_values("product").set_index("order_id"), items=_
    ),
    "pandas with lists": lambda b, _: pm.read(pd.DataFrame({"basket": b}), items=_),
    "a series of lists": lambda b, _: pm.read(pd.Series(b), items=_),
    "pandas categories": lambda b, _: pm.read(long_table(b).to_pandas().astype({"product": "category"}), items=_),
    "pandas one-hot": lambda b, _: pm.read(pd.DataFrame(flags(b, _), columns=_), items=_),
    "pandas one-hot, whole numbers": lambda b, _: pm.read(pd.DataFrame(flags(b, _).astype(int), columns=_), items=_),
    "pandas sparse": lambda b, _: pm.read(
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(flags(b, _).astype(np.int8)), columns=_), items=_
    ),
    "polars": lambda b, _: pm.read(pl.DataFrame(long_table(b)), items=_),
    "polars, lazy": lambda b, _: pm.read(pl.DataFrame(long_table(b)).lazy(), items=_),
    "polars with lists": lambda b, _: pm.read(pl.DataFrame(list_table(b)), items=_),
    "arrow": lambda b, _: pm.read(long_table(b), items=_),
    "an arrow reader": lambda b, _: pm.read(long_table(b).to_reader(max_chunksize=999), items=_),
    "an arrow batch": lambda b, _: pm.read(long_table(b).combine_chunks().to_batches()[0], items=_),
    "arrow dictionaries": lambda b, _: pm.read(
        long_table(b).set_column(2, "product", long_table(b)["product"].dictionary_encode()), items=_
    ),
    "a duckdb relation": lambda b, _: pm.read(duckdb.from_arrow(long_table(b)), items=_),
    "scipy csr": lambda b, _: pm.read(sparse.csr_array(flags(b, _)), names=_, items=_),
    "scipy coo": lambda b, _: pm.read(sparse.coo_matrix(flags(b, _).astype(float)), names=_, items=_),
    "numpy": lambda b, _: pm.read(flags(b, _), names=_, items=_),
    "numbers with names": lambda b, _: pm.read([[_.index(item) for item in basket] for basket in b], names=_, items=_),
}


@pytest.mark.parametrize("way", FILES)
def test_files_and_queries(way, groceries, expected, tmp_path):
    """A file of any format and layout gives the release that the lists give."""
    baskets, labels = groceries
    assert release_of(FILES[way](tmp_path, baskets, labels)) == expected


@pytest.mark.parametrize("way", OBJECTS)
def test_objects(way, groceries, expected):
    """A frame, a matrix or a collection gives the release that the lists give."""
    baskets, labels = groceries
    assert release_of(OBJECTS[way](baskets, labels)) == expected


def test_without_items_the_universe_is_what_occurs(groceries, tmp_path):
    """Every way in takes the same universe from the data, in the same order, and marks it as not given."""
    baskets, _ = groceries
    for read in (
        pm.read(baskets),
        pm.read(long_table(baskets)),
        pm.read(write_long(tmp_path / "a.csv", baskets)),
        pm.read(write_lines(tmp_path / "a.txt", map(",".join, baskets))),
    ):
        assert read.universe.labels.tolist() == sorted(set(chain.from_iterable(baskets)))
        assert not read.universe.given
