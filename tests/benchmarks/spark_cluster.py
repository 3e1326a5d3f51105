"""Data on Spark: releases against those of the store in memory, speed against FPGrowth, and growth.

    python tests/benchmarks/spark_cluster.py same --data DIR [--master local[2]]
    python tests/benchmarks/spark_cluster.py fpgrowth --data DIR
    python tests/benchmarks/spark_cluster.py growth [--occurrences 1e6 1e7 1e8]

Needs PySpark and Java. Seconds are of processor time of this process and all that it has started, and of the clock.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from common import dataset, parser
from generated import Baskets
from pyarrow import parquet

import privmine as pm

METHODS = ("privbasis", "plus", "tf", "tf-monotone", "tf-noisy")
DATASETS = ("retail", "mushroom", "kosarak_first69999", "BMS-WebView-2", "online-retail")
ROWS_IN_GROUP = 125_000


def processor_times() -> dict[int, float]:
    """Of this process and of all that it has started, each with its ended children."""
    times, parents = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            parents[int(entry.name)] = int(words[1])
            times[int(entry.name)] = sum(map(int, words[11:15]))
    mine = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return {process: times.get(process, 0) / os.sysconf("SC_CLK_TCK") for process in mine}


def measured(work: Callable[[], Any], times: int = 1) -> tuple[Any, float, float]:
    """What comes of the work, its processor time and its time by the clock, the least of several."""
    best = []
    for _ in range(times):
        before, clock = processor_times(), time.perf_counter()
        found = work()
        wall = time.perf_counter() - clock
        # One by one: a worker that has been idle ends, and must not take its earlier time away from the sum.
        spent = sum(cpu - before.get(process, 0) for process, cpu in processor_times().items())
        best.append((spent, wall))
    return found, min(cpu for cpu, _ in best), min(wall for _, wall in best)


def session(master: str, *, soon: bool = False) -> Any:
    """A session of Spark on this machine; soon: with the compiler that starts soonest, for many small jobs."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for name, value in {
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.files.maxPartitionBytes": "8m",
    }.items():
        builder = builder.config(name, value)
    if soon:
        for side in ("driver", "executor"):
            builder = builder.config(f"spark.{side}.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def lists_file(rows: Any, path: Path, owners: np.ndarray | None = None) -> str:
    """Write rows as Parquet with a list in each row."""
    lists = pa.ListArray.from_arrays(pa.array(rows.offsets.astype(np.int32)), pa.array(rows.items))
    columns = {"items": lists} if owners is None else {"items": lists, "customer": pa.array(owners)}
    parquet.write_table(pa.table(columns), path, row_group_size=ROWS_IN_GROUP)
    return str(path)


def same(directory: Any, master: str, k: int, names: list[str]) -> None:
    """Whether a release of each dataset by each method is that of the store in memory."""
    spark = session(master, soon=True)
    different = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            rows = pm.read(dataset(directory, name)).store.rows
            owners = np.random.default_rng(1).integers(0, max(rows.count // 3, 1), rows.count)
            path = lists_file(rows, Path(folder) / f"{name}.parquet", owners)
            for how in ({}, {"unit": "customer", "max_baskets": 2}):
                ours, theirs = (pm.read(source, item="items", **how) for source in (path, spark.read.parquet(path)))
                for method in METHODS:
                    asked = {"k": k, "epsilon": 1, "method": method, "simulate": True, "seed": 11}
                    found, cpu, wall = measured(lambda data=theirs, asked=asked: pm.mine(data, **asked))
                    unequal = list(found) != list(pm.mine(ours, **asked))
                    compared, different = compared + 1, different + unequal
                    whose = "with units" if how else "without"
                    outcome = "DIFFERENT" if unequal else "same"
                    print(f"{name}, {whose}, {method}: {outcome}, {cpu:.1f} s of processor, {wall:.1f} s", flush=True)
                theirs.store.close()
            print(f"{master} {name}: {compared} releases compared, {different} differ", flush=True)
    spark.stop()
    sys.exit(different > 0)


def released(data: pm.Transactions, k: int) -> pm.Release:
    """A release for which everything is counted, nothing remembered from one before."""
    data.store._mined = {}
    return pm.mine(data, k=k, epsilon=1)


def fpgrowth(directory: Any, master: str, k: int, repeats: int, turns: int) -> None:
    """A release, and the itemsets that MLlib's FPGrowth finds when it is given their support."""
    from pyspark.ml.fpm import FPGrowth

    spark = session(master)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "kosarak.dat"
        from common import content

        text.write_bytes(content(dataset(directory, "kosarak_first69999")) * repeats)
        memory = pm.read(text)
        path = lists_file(memory.store.rows, Path(folder) / "kosarak.parquet")
        _, supports = memory.store.top_itemsets(k)
        frame = spark.read.parquet(path)
        pm.read(frame, item="items")  # workers and the compiler are warm for all
        kept = spark.read.parquet(path).persist()
        kept.count()
        fits = FPGrowth(itemsCol="items", minSupport=(float(supports[-1]) - 0.5) / memory.store.count())
        data, read_cpu, read_wall = measured(lambda: pm.read(frame, item="items"))
        _, cpu, wall = measured(lambda: released(data, k), turns)
        found, their_cpu, their_wall = measured(lambda: fits.fit(kept).freqItemsets.count(), turns)
        _, cold_cpu, cold_wall = measured(lambda: fits.fit(spark.read.parquet(path)).freqItemsets.count())
        print(f"kosarak x{repeats}, k = {k}, {master}: {found} itemsets of FPGrowth")
        print(f"  read into the store   {read_cpu:7.2f} s of processor, {read_wall:7.2f} s")
        print(f"  release               {cpu:7.2f} s of processor, {wall:7.2f} s")
        print(f"  FPGrowth, cached rows {their_cpu:7.2f} s of processor, {their_wall:7.2f} s")
        print(f"  FPGrowth, from file   {cold_cpu:7.2f} s of processor, {cold_wall:7.2f} s")
        print(f"  release / FPGrowth: {cpu / their_cpu:.2f} of processor, {wall / their_wall:.2f} by the clock")
    spark.stop()


def growth(master: str, k: int, sizes: list[int]) -> None:
    """How reading, a pass and a release grow with the number of items in all baskets."""
    spark = session(master)
    print("occurrences   read cpu, wall      pass cpu, wall      release cpu, wall   partitions")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            target = Path(folder) / f"o{size}"
            target.mkdir()
            # Files of a million baskets at most, the same over and over: that takes little memory and time.
            baskets = Baskets.of(min(1_000_000, max(1, size // 9)), items=20_000)
            first = Path(baskets.write_lists(target / "0.parquet"))
            made = len(baskets.items)
            for number in range(1, -(-size // made)):
                os.link(first, target / f"{number}.parquet")
                made += len(baskets.items)
            frame = spark.read.parquet(str(target))
            if size == sizes[0]:
                pm.mine(pm.read(frame, item="items"), k=k, epsilon=1)  # workers and the compiler are warm for all
            data, *reading = measured(lambda frame=frame: pm.read(frame, item="items"))
            _, *one = measured(lambda data=data: data.store.lengths(None, 50), 2)
            _, *release = measured(lambda data=data: pm.mine(data, k=k, epsilon=1))
            shown = "   ".join(f"{cpu:7.2f}, {wall:7.2f} s" for cpu, wall in (reading, one, release))
            print(f"{made:11,}   {shown}   {data.store._partitions}", flush=True)
            data.store.close()
    spark.stop()


def main() -> None:
    """Run one of the benchmarks."""
    options = parser(__doc__.splitlines()[0])
    options.add_argument("what", choices=["same", "fpgrowth", "growth"])
    options.add_argument("--master", default="local[2]")
    options.add_argument("--k", type=int)
    options.add_argument("--datasets", nargs="*", default=list(DATASETS))
    options.add_argument("--repeats", type=int, default=14)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--occurrences", type=float, nargs="*", default=[1e6, 1e7, 1e8])
    asked = options.parse_args()
    if asked.what == "same":
        same(asked.data, asked.master, asked.k or 50, asked.datasets)
    elif asked.what == "fpgrowth":
        fpgrowth(asked.data, asked.master, asked.k or 200, asked.repeats, asked.turns)
    else:
        growth(asked.master, asked.k or 100, [int(size) for size in asked.occurrences])


if __name__ == "__main__":
    main()
