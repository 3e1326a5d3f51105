"""One session of Spark for all tests, and the transactions that a store on Spark holds."""

# ruff: noqa: SLF001 - the tests look into the store
from __future__ import annotations

import os
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

# For `spark_data`, which a process of its own uses as well.
sys.path.insert(0, str(Path(__file__).parent))

#: Little memory, few threads, and a compiler that starts soon: the tests are many small jobs.
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "2",
}


def started(master):
    """A session on a cluster of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("privmine-tests")
    for name, value in CONFIGURATION.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PySpark thinks of other libraries
        return builder.getOrCreate()


@pytest.fixture(scope="session")
def session():
    """Two threads that are executors."""
    found = started("local[2]")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def held():
    """The transactions that a store on Spark, or one in memory, holds, in an order of their own."""
    from privmine_spark.cluster_store import SparkStore
    from privmine_spark.packed_rows import stores_of

    def rows_of(store):
        parts = [store]
        if isinstance(store, SparkStore):
            parts = [part for part, _ in stores_of(store._packed.collect(), store.item_count)]
        found = []
        for part in parts:
            items, bounds = part.rows.items.tolist(), part.rows.offsets.tolist()
            found += [tuple(items[start:stop]) for start, stop in pairwise(bounds)]
        return sorted(found)

    return rows_of
