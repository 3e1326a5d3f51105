"""Pure ε beside (ε, δ) on all datasets: what is missed, and whether a plan prefers the better one.

    python tests/benchmarks/delta.py --data DIR --results DIR [--runs 30] [--until 13:25] [--only retail …]
    python tests/benchmarks/delta.py --results DIR --report [--page docs/delta-results.md]

FNR: the share of the exact top k that a release misses. All runs are simulated. Runs with one seed are made of every
cell before the next seed, so that each cell has as many; a run or plan that the folder has is not made again. A plan
is told a random half of the dataset, scaled to the size of the whole one. Reads exact data: for research only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from common import dataset, parser
from plan_like import half_of
from plus import DATA, METHODS, rows_of

import privmine as pm
from privmine.datasets.repeated import repeated
from privmine.evaluation import Truth
from privmine.evaluation.metrics import false_negative_rate
from privmine.planning.adviser import advise, installed_methods
from privmine.planning.population import population_of
from privmine.privacy.unit import Unit

K = 100
EPSILONS = ("0.1", "0.25", "0.5", "1")
DELTA = "1e-6"
DEFINITIONS = (None, DELTA)
#: After so many runs of each cell, plans are made, so that a run that is stopped has both.
RUNS_BEFORE_PLANS = 6
#: What differs by less is the same, as it is for a plan.
SAME = 0.01
Row = dict[str, Any]
Cell = tuple[str, str, str]


class Bench:
    """The datasets, each read once, and the files that results go to."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._data = arguments.data
        self._until = arguments.until
        self._runs_file, self._plans_file = files(arguments.results)
        self.names = arguments.only or list(DATA)
        self._runs = {
            tuple(row[key] for key in ("data", "method", "epsilon", "delta", "seed"))
            for row in rows_of(self._runs_file)
        }
        self._plans = {tuple(row[key] for key in ("data", "method")) for row in rows_of(self._plans_file)}

    def check_time(self) -> None:
        """Stop where the time is over; what was done is on file."""
        if self._until and datetime.datetime.now().strftime("%H:%M") >= self._until:
            sys.exit("The time is over; run this again to continue.")

    @cache  # noqa: B019 - one bench a process
    def baskets(self, name: str) -> tuple[pm.Transactions, Truth]:
        """A dataset, and its exact top k."""
        file, times = DATA[name]
        baskets = repeated(pm.read(dataset(self._data, file)), times)
        return baskets, Truth.mine(baskets, K)

    def run(self, name: str, seed: int) -> None:
        """Every method, ε and definition once."""
        for method, epsilon, delta in cells_of_a_dataset():
            if (name, method, epsilon, delta, seed) in self._runs:
                continue
            self.check_time()
            baskets, truth = self.baskets(name)
            start = process_time()
            release = installed()[method].run(baskets, K, epsilon, delta=delta, simulate=True, seed=seed)
            seconds = process_time() - start
            missed = false_negative_rate(truth.indices(row.items for row in release), truth.top(K))
            key = {"data": name, "method": method, "epsilon": epsilon, "delta": delta, "seed": seed}
            append(self._runs_file, key | {"fnr": missed, "seconds": seconds})

    def plan(self, name: str, method: str) -> None:
        """What a plan tells of a dataset, of which it is told a half."""
        if (name, method) in self._plans:
            return
        self.check_time()
        baskets, _ = self.baskets(name)
        asked = {"items": len(baskets.universe), "unit": Unit(), "transactions": baskets.store.count()}
        half = population_of(half_of(baskets), is_public=True, **asked)
        told = advise(half, {method: installed()[method]}, [K], list(map(Fraction, EPSILONS)), delta=Fraction(DELTA))
        cells = {}
        for epsilon in EPSILONS:
            rows = [row for row in told.forecasts if row.epsilon == Fraction(epsilon) and row.k == K]
            cells[epsilon] = {
                "prefers": "pure" if rows[0].delta is None else "delta",
                "missed": {"pure" if row.delta is None else "delta": row.missed for row in rows},
            }
        append(self._plans_file, {"data": name, "method": method, "cells": cells})


@cache
def installed() -> dict[str, pm.Pipeline]:
    """The methods by name."""
    return installed_methods()


def cells_of_a_dataset() -> Iterator[tuple[str, str, str | None]]:
    """Every method, ε and δ."""
    return ((method, epsilon, delta) for method in METHODS for epsilon in EPSILONS for delta in DEFINITIONS)


def files(folder: Path) -> tuple[Path, Path]:
    """Where runs and plans are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "delta-runs.jsonl", folder / "delta-plans.jsonl"


def append(path: Path, row: Row) -> None:
    """Write a line; whoever stops the run loses one at most."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def report(folder: Path) -> str:
    """Two tables as Markdown: what is missed, and what plans prefer."""
    runs_file, plans_file = files(folder)
    shares: dict[Cell, dict[str | None, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of(runs_file):
        shares[row["data"], row["method"], row["epsilon"]][row["delta"]].append(row["fnr"])
    found = {
        cell: {delta: mean_and_error(of[delta]) for delta in DEFINITIONS} for cell, of in shares.items() if len(of) == 2
    }
    counts = sorted({len(values) for of in shares.values() for values in of.values()}) or [0]
    runs = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    lines = [
        f"k = {K}, δ = {DELTA}, {runs} simulated runs a cell: the mean with its standard error.",
        "",
        "| data | ε | " + " | ".join(f"{method} | {method}, δ" for method in METHODS) + " |",
        "|---|---|" + "---|---|" * len(METHODS),
    ]
    for name in DATA:
        for epsilon in EPSILONS:
            cells = [found.get((name, method, epsilon)) for method in METHODS]
            if all(cells):
                texts = [f"{of[delta][0]:.3f} ± {of[delta][1]:.3f}" for of in cells for delta in DEFINITIONS if of]
                lines.append(f"| {name if epsilon == EPSILONS[0] else ''} | {epsilon} | {' | '.join(texts)} |")
    return "\n".join([*lines, *preferences(found, {(row["data"], row["method"]): row for row in rows_of(plans_file)})])


def preferences(found: dict[Cell, Any], plans: dict[tuple[str, str], Row]) -> list[str]:
    """How often the definition that a plan prefers is the better one."""
    judged: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    wrong = []
    for (name, method, epsilon), of in found.items():
        if (name, method) not in plans:
            continue
        prefers = plans[name, method]["cells"][epsilon]["prefers"]
        chosen, other = (None, DELTA) if prefers == "pure" else (DELTA, None)
        worse_by = of[chosen][0] - of[other][0]
        doubt = max(2 * float(np.hypot(of[None][1], of[DELTA][1])), SAME)
        judged[method].append((worse_by <= 0, worse_by <= doubt))
        if worse_by > doubt:
            words = "pure ε" if prefers == "pure" else "δ"
            wrong.append(f"- {name}, {method}, ε = {epsilon}: it prefers {words}, which misses {worse_by:.3f} more.")
    if not judged:
        return []
    lines = [
        "",
        "## What a plan prefers",
        "",
        "A plan is told a random half of the dataset. *The same* means: within a hundredth, or two standard errors.",
        "",
        "| method | cells | prefers the better one by the means | the better one, or one that is the same |",
        "|---|---|---|---|",
    ]
    for method, cells in judged.items():
        strict, fair = (sum(kind) for kind in zip(*cells, strict=True))
        lines.append(f"| {method} | {len(cells)} | {strict} | {fair} |")
    return [*lines, *(["", "Where it prefers the worse one:", "", *wrong] if wrong else [])]


PAGE = """# Pure ε beside (ε, δ), measured

The share of the true top k that is missed, without and with [a δ](delta.md), on ten datasets. Two of them are proxies:
×14 and ×3 are parts of the original that were repeated so many times. `python tests/benchmarks/delta.py --data DIR
--results DIR --page docs/delta-results.md` makes this page. It uses exact data and simulated noise.

{}
"""


def main() -> None:
    """Run, or report."""
    options = parser(__doc__.partition("\n")[0])
    options.add_argument("--results", type=Path, required=True)
    options.add_argument("--report", action="store_true")
    options.add_argument("--runs", type=int, default=30)
    options.add_argument("--until", help="stop at this time of day, for example 13:25")
    options.add_argument("--only", nargs="*", choices=list(DATA))
    options.add_argument("--page", type=Path, help="write the report as a page of the documentation")
    arguments = options.parse_args()
    if not arguments.report:
        print("Uses exact data and simulated noise: for research only.", file=sys.stderr)
        bench = Bench(arguments)
        for seed in range(arguments.runs):
            if seed == min(RUNS_BEFORE_PLANS, arguments.runs - 1):
                for name in bench.names:
                    for method in METHODS:
                        bench.plan(name, method)
            for name in bench.names:
                bench.run(name, seed)
    found = report(arguments.results)
    print(found)
    if arguments.page:
        arguments.page.write_text(PAGE.format(found), encoding="utf-8")


if __name__ == "__main__":
    main()
