"""The truncated-frequency method: false negatives for m = 1, 2, 3, and time and memory of large universes.

Uses exact data to evaluate. Needs the distribution privmine-tf and the benchmark data:

    python tests/benchmarks/tf.py --data DIR [--runs 30] [--json FILE] [--only fnr|time]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from common import dataset, parser, plain_text

import privmine as pm
from privmine.api import Itemsets

METHODS = ("tf", "tf-monotone", "tf-noisy")
# (data, copies, k, ε, m): what the paper says of TF, what design.md's quick check found.
SAID = {
    ("mushroom", 1, 50, "0.5", 2): ("about 0.6", ".51"),
    ("mushroom", 1, 50, "0.5", 3): ("", ".35"),
    ("mushroom", 1, 100, "1", 2): ("over 0.6", ".59"),
    ("mushroom", 1, 100, "1", 3): ("", ".48"),
    ("pumsb_star_debd163", 3, 50, "0.5", 2): ("about 0.4", ".46"),
    ("pumsb_star_debd163", 3, 50, "0.5", 3): ("", ".15"),
    ("pumsb_star_debd163", 3, 150, "1", 2): ("over 0.7", ".73"),
    ("pumsb_star_debd163", 3, 150, "1", 3): ("", ".44"),
}
CELLS = (("mushroom", 1, (50, 100)), ("pumsb_star_debd163", 3, (50, 150)))
TIMED = (("pumsb_star_first4334", 3, 100), ("retail", 2, 100), ("retail", 1, 100))


class RememberingStore:
    """A store that lists itemsets once and gives later calls the beginning of the list."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._known: dict[int | None, tuple[int, Itemsets, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def top_itemsets(self, n: int, max_length: int | None = None) -> tuple[Itemsets, Any]:
        """The first n of the longest list so far, or a longer list."""
        asked, itemsets, supports = self._known.get(max_length, (0, None, ()))
        if asked < n:
            itemsets, supports = self._store.top_itemsets(n, max_length)
            self._known[max_length] = n, itemsets, supports
        stop = min(n, len(supports))
        return Itemsets(itemsets.members[: itemsets.offsets[stop]], itemsets.offsets[: stop + 1]), supports[:stop]


def transactions(directory: Path | None, name: str, copies: int) -> pm.Transactions:
    """A dataset, so many times over, in a store that remembers."""
    with tempfile.TemporaryDirectory() as target:
        read = pm.read(plain_text(directory, name, copies, Path(target)))
    return pm.Transactions(read.universe, RememberingStore(read.store))  # type: ignore[arg-type]


def false_negatives(directory: Path | None, runs: int) -> list[dict[str, Any]]:
    """The share of the exact top k that is not released, for each cell over so many simulated runs."""
    rows = []
    print(f"FNR over {runs} simulated runs: mean ± standard error; 'no noise': what m alone misses")
    for name, copies, ks in CELLS:
        data = transactions(directory, name, copies)
        for k in ks:
            found, _ = data.store.top_itemsets(k)
            exact = {data.universe.named(items) for items in found}
            for m in (1, 2, 3):
                reachable, _ = data.store.top_itemsets(k, m)
                floor = 1 - len(exact & {data.universe.named(items) for items in reachable}) / k
                for epsilon in ("0.5", "1"):
                    row = {"data": name, "copies": copies, "k": k, "m": m, "epsilon": epsilon, "no noise": floor}
                    for method in METHODS:
                        pipeline = pm.Pipeline(method, select_elements={"m": m})
                        rates = [
                            1 - len(exact & {one.items for one in release.itemsets}) / k
                            for release in (
                                pipeline.run(data, k, epsilon, simulate=True, seed=seed) for seed in range(runs)
                            )
                        ]
                        row[method] = {"mean": mean(rates), "error": stdev(rates) / runs**0.5}
                    paper, quick = SAID.get((name, copies, k, epsilon, m), ("", ""))
                    row |= {"paper": paper, "quick check": quick}
                    rows.append(row)
                    cells = "  ".join(
                        f"{method} {row[method]['mean']:.3f}±{row[method]['error']:.3f}" for method in METHODS
                    )
                    print(
                        f"{name}×{copies} k={k:<3} ε={epsilon:<3} m={m}  no noise {floor:.2f}  {cells}"
                        f"  paper: {paper or '-'}  quick check: {quick or '-'}",
                        flush=True,
                    )
    return rows


def one_timing(path: str, m: int, k: int, method: str) -> dict[str, Any]:
    """A release with exact noise: its time without reading, and the peak memory of this process."""
    data = pm.read(path)
    started = time.perf_counter()
    release = pm.Pipeline(method, select_elements={"m": m}).run(data, k, 1)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "candidates": data.universe.itemset_count(m),
        "seconds": round(seconds, 2),
        "peak MB": round(peak),
        "released": len(release.itemsets),
    }


def timings(directory: Path | None) -> list[dict[str, Any]]:
    """Time and memory of releases with exact noise, each in a process of its own."""
    rows = []
    print("Exact noise, ε = 1: time without reading, peak memory of the process")
    for name, m, k in TIMED:
        for method in METHODS:
            command = [sys.executable, __file__, "--one", str(dataset(directory, name)), str(m), str(k), method]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            row = {"data": name, "m": m, "k": k, "method": method, **json.loads(done.stdout)}
            rows.append(row)
            print(
                f"{name} m={m} k={k} {method:<11} |U| = {row['candidates']:,}: "
                f"{row['seconds']} s, {row['peak MB']} MB, {row['released']} itemsets",
                flush=True,
            )
    return rows


def main() -> None:
    """Run what is asked for."""
    if sys.argv[1:2] == ["--one"]:
        path, m, k, method = sys.argv[2:]
        print(json.dumps(one_timing(path, int(m), int(k), method)))
        return
    arguments = parser(__doc__ or "")
    arguments.add_argument("--runs", type=int, default=30, help="simulated runs a cell")
    arguments.add_argument("--only", choices=("fnr", "time"), help="one of the two parts")
    arguments.add_argument("--json", type=Path, help="a file for the figures")
    options = arguments.parse_args()
    figures: dict[str, Any] = {}
    if options.only != "fnr":
        figures["time"] = timings(options.data)
    if options.only != "time":
        figures["fnr"] = false_negatives(options.data, options.runs)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
