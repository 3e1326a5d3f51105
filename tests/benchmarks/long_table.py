"""Time and memory from a long table of ten million rows to a release, against DuckDB reading and grouping it.

    python tests/benchmarks/long_table.py [--rows 10000000] [--runs 3]

The table is generated: orders of about eight rows, twenty thousand products with a long tail, and two
columns that nobody asks for. DuckDB gathers the distinct products of each order, which is what any
miner needs first. Each run is a process of its own, so that its peak of memory is its own; both
sides run in turn, and the shortest time of each is compared. Starting Python is not part of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

#: At most so many times DuckDB's time, and so much memory.
TARGET = 3.0
MEMORY_MB = 2000

GROUP = """
import duckdb
start = clock()
query = f"select order_id, list(distinct product) as products from '{path}' group by order_id"
duckdb.connect().sql(query).to_arrow_table()
"""
RELEASE = """
import privmine as pm
start = clock()
transactions = pm.read(path, transaction="order_id", item="product")
steps["read"] = clock() - start
pm.mine(transactions, k=100, epsilon=1)
"""
UNIT = RELEASE.replace('item="product"', 'item="product", unit="customer_id", max_baskets=5')
FRAME = """
import json, resource, sys
from time import perf_counter as clock
path, steps = sys.argv[1], {}
BODY
steps["total"] = clock() - start
steps["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(steps))
"""


def generate(rows: int, folder: Path) -> tuple[Path, Path]:
    """Write the same table as CSV and as Parquet."""
    random = np.random.default_rng(1)
    orders = random.integers(0, max(rows // 8, 1), rows)
    orders.sort()
    # Rows of an order lie near one another, as a shop writes them, but not in one piece.
    orders = orders[np.argsort(np.arange(rows) + random.integers(0, 50, rows), kind="stable")]
    names = pa.array([f"product {number:05}" for number in range(20_000)])
    products = names.take(pa.array((random.zipf(1.3, rows) - 1) % 20_000))
    table = pa.table(
        {
            "order_id": orders + 1_000_000,
            "customer_id": orders // 7,
            "product": products,
            "quantity": random.integers(1, 9, rows),
        }
    )
    paths = folder / "orders.csv", folder / "orders.parquet"
    csv.write_csv(table, paths[0], csv.WriteOptions(quoting_style="needed"))
    parquet.write_table(table, paths[1])
    return paths


def run(body: str, path: Path) -> dict[str, float]:
    """Run one side in a process of its own."""
    command = [sys.executable, "-c", FRAME.replace("BODY", body), str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(printed.splitlines()[-1])  # DuckDB shows its progress before
    return result


def main() -> int:
    """Print the times, and return whether a target was missed."""
    options = argparse.ArgumentParser(description="Time a long table to a release against DuckDB.")
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--runs", type=int, default=3)
    arguments = options.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for path in generate(arguments.rows, Path(folder)):
            print(f"\n{path.name}: {arguments.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB", flush=True)
            sides = {"DuckDB groups": GROUP, "privmine releases": RELEASE, "per customer": UNIT}
            found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
            for _ in range(arguments.runs):
                for name, body in sides.items():
                    found[name].append(run(body, path))
            best = {name: min(runs, key=lambda result: result["total"]) for name, runs in found.items()}
            for name, result in best.items():
                ratio = result["total"] / best["DuckDB groups"]["total"]
                peak = max(one["MB"] for one in found[name])
                read = f" (of it reading {result['read']:.2f} s)" if "read" in result else ""
                print(
                    f"  {name:<18} {result['total']:.2f} s{read}, {ratio:.2f} of DuckDB, peak {peak:.0f} MB", flush=True
                )
                missed |= name != "DuckDB groups" and (ratio > TARGET or peak > MEMORY_MB)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
