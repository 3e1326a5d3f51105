"""PrivBasis and `plus`, in pairs of runs with the same seed: misses, errors, coverage of the intervals, time.

Uses exact data to evaluate. Needs the distribution privmine-plus and the benchmark data. Results go to a file,
one line a run; what is there is not run again.

    python tests/benchmarks/plus.py --data DIR --results FILE [--runs 5] [--only retail …] [--k 50 …] [--epsilon 0.1 …]
    python tests/benchmarks/plus.py --results FILE --report
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from common import dataset, parser

import privmine as pm
from privmine.datasets.repeated import repeated
from privmine.evaluation import Truth

#: Files, and how many times over.
DATA = {
    "retail": ("retail", 1),
    "mushroom": ("mushroom", 1),
    "kosarak ×14": ("kosarak_first69999", 14),
    "online-retail": ("online-retail", 1),
    "BMS-WebView-2": ("BMS-WebView-2", 1),
    "groceries": ("groceries", 1),
    "msnbc": ("msnbc", 1),
    "covtype": ("covtype", 1),
    "pumsb_star ×3": ("pumsb_star_debd163", 3),
    "pumsb_star_first4334": ("pumsb_star_first4334", 1),
}
METHODS = ("privbasis", "plus")
KS = (50, 100, 200, 400)
EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1")
Row = dict[str, Any]
Cell = tuple[str, int, str]


def measured(data: pm.Transactions, truth: Truth, method: str, k: int, epsilon: str, seed: int) -> Row:
    """One simulated run against the exact supports."""
    start = time.process_time()
    release = pm.mine(data, k=k, epsilon=epsilon, method=method, simulate=True, seed=seed)
    seconds = time.process_time() - start
    exact = data.store.supports(truth.indices(row.items for row in release)).tolist()
    errors = [abs(row.count - support) / support for row, support in zip(release, exact, strict=True) if support]
    inside = [low <= support <= high for (low, high), support in zip(release.intervals(), exact, strict=True)]
    return {
        "fnr": 1 - min(sum(support >= max(truth.kth_support(k), 1) for support in exact), k) / k,
        "re": median(errors) if errors else None,
        "coverage": mean(inside) if inside else None,
        "seconds": seconds,
    }


def run(arguments: Any) -> None:
    """Fill the file: all cells once, then all cells a second time, and so on."""
    done = {(row["data"], row["k"], row["epsilon"], row["method"], row["seed"]) for row in rows_of(arguments.results)}
    chosen = {name: DATA[name] for name in arguments.only or DATA}
    with arguments.results.open("a", encoding="utf-8") as results:
        for name, (file, times) in chosen.items():
            data = repeated(pm.read(dataset(arguments.data, file)), times)
            truth = Truth.mine(data, max(arguments.k))
            for seed in range(arguments.runs):
                for k in arguments.k:
                    for epsilon in arguments.epsilon:
                        for method in arguments.methods:
                            key = {"data": name, "k": k, "epsilon": epsilon, "method": method, "seed": seed}
                            if tuple(key.values()) not in done:
                                row = key | measured(data, truth, method, k, epsilon, seed)
                                results.write(json.dumps(row) + "\n")
                                results.flush()
            print(name, "done", file=sys.stderr)


def rows_of(path: Path) -> list[Row]:
    """What the file holds."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def average(values: Iterable[float | None]) -> float:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return mean(known) if known else float("nan")


def report(rows: list[Row]) -> None:
    """Means and coverage by dataset, time, and the cells in which `plus` is worse."""
    cells: dict[Cell, dict[str, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        cells[row["data"], row["k"], row["epsilon"]][row["method"]][row["seed"]] = row
    pairs = {
        cell: [(found["privbasis"][seed], found["plus"][seed]) for seed in found["plus"] if seed in found["privbasis"]]
        for cell, found in cells.items()
    }
    pairs = {cell: found for cell, found in pairs.items() if found}
    if not pairs:
        print("No cell has runs of both methods yet, so there is nothing to compare.")
        return
    print("| data | FNR PrivBasis | FNR plus | RE PrivBasis | RE plus | coverage | worst cell's | time ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(data for data, _, _ in pairs):
        own = [found for cell, found in pairs.items() if cell[0] == name]
        _print_line(name, own)
    _print_line("all", list(pairs.values()))
    ratios = []
    for found in pairs.values():
        before, after = average(one["re"] for one, _ in found), average(other["re"] for _, other in found)
        ratios.append(after / before if before else 1.0)
    print(f"\nRE plus / PrivBasis: median cell {median(ratios):.2f}, cells above 1.25: {sum(r > 1.25 for r in ratios)}")
    print(
        "\nCells where plus misses more (mean difference, half-width of its 95 % interval), and where RE is > 1.25 ×:"
    )
    for (name, k, epsilon), found in pairs.items():
        differences = [other["fnr"] - one["fnr"] for one, other in found]
        half = 1.96 * stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
        before, after = average(one["re"] for one, _ in found), average(other["re"] for _, other in found)
        if mean(differences) > 0.005 or after > 1.25 * before:
            print(f"{name} k={k} ε={epsilon}: FNR {mean(differences):+.3f} ± {half:.3f}, RE {before:.4f} → {after:.4f}")


def _print_line(name: str, cells: list[list[tuple[Row, Row]]]) -> None:
    def by_cell(side: int, value: str) -> list[float]:
        return [average(pair[side][value] for pair in found) for found in cells]

    coverage = by_cell(1, "coverage")
    seconds = [average(by_cell(side, "seconds")) for side in (0, 1)]
    print(
        f"| {name} | {average(by_cell(0, 'fnr')):.3f} | {average(by_cell(1, 'fnr')):.3f} "
        f"| {average(by_cell(0, 're')):.3f} | {average(by_cell(1, 're')):.3f} "
        f"| {average(coverage):.3f} | {min(coverage):.2f}–{max(coverage):.2f} | {seconds[1] / seconds[0]:.2f} |"
    )


def main() -> None:
    """Run, or report."""
    options = parser(__doc__ or "")
    options.add_argument("--results", type=Path, required=True)
    options.add_argument("--report", action="store_true")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", nargs="*", choices=list(DATA))
    options.add_argument("--methods", nargs="*", default=METHODS)
    options.add_argument("--k", nargs="*", type=int, default=KS)
    options.add_argument("--epsilon", nargs="*", default=EPSILONS)
    arguments = options.parse_args()
    if not arguments.report:
        run(arguments)
    report(rows_of(arguments.results))


if __name__ == "__main__":
    main()
