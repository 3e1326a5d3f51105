"""Itemsets above a frequency: how many there are, and recall and precision of releases.

    python tests/benchmarks/thresholds.py --data DIR [--runs 10] [--epsilon 1] [--k-max 500] [--only retail …]

All runs are simulated, and measured against the exact itemsets of that frequency: for research only.
"""

from __future__ import annotations

import sys

import numpy as np
from common import dataset, parser

import privmine as pm
from privmine.evaluation import Truth, compare
from privmine.exact import exact

FREQUENCIES = {
    "retail": ("0.1", "0.03", "0.01"),
    "mushroom": ("0.9", "0.7", "0.5"),
    "BMS-WebView-2": ("0.03", "0.015", "0.0075"),
    "groceries": ("0.1", "0.05", "0.02"),
    "online-retail": ("0.04", "0.02", "0.015"),
}
METHODS = ("privbasis", "plus")
DEFINITIONS = {"": None, ", δ": "1e-6"}


def main() -> None:
    """Print a Markdown table."""
    options = parser(__doc__.partition("\n")[0])
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--epsilon", default="1")
    options.add_argument("--k-max", type=int, default=500)
    options.add_argument("--only", nargs="*", choices=list(FREQUENCIES))
    asked = options.parse_args()
    print("Uses exact data and simulated noise: for research only.", file=sys.stderr)
    names = [f"{method}{words}" for method in METHODS for words in DEFINITIONS]
    print("| data | θ | itemsets | " + " | ".join(names) + " |")
    print("|---|---|---|" + "---|" * len(names))
    for name in asked.only or FREQUENCIES:
        baskets = pm.read(dataset(asked.data, name))
        truth = Truth.mine(baskets, 1)
        for theta in FREQUENCIES[name]:
            recipes = {
                f"{method}{words}": {"method": method, "delta": delta, "theta": theta}
                for method in METHODS
                for words, delta in DEFINITIONS.items()
            }
            frame = compare(recipes, baskets, k=asked.k_max, epsilon=asked.epsilon, repeats=asked.runs, data=name)
            means = frame.groupby("pipeline")[["recall", "precision"]].mean()
            figures = [f"{means.loc[one, 'recall']:.2f} / {means.loc[one, 'precision']:.2f}" for one in names]
            frequent = truth.of_frequency(exact(theta, "θ"))[1]
            shown = "" if theta != FREQUENCIES[name][0] else name
            print(f"| {shown} | {theta} | {frequent} | {' | '.join(figures)} |", flush=True)
            assert np.isfinite(means.to_numpy()).all()


if __name__ == "__main__":
    main()
