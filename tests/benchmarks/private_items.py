"""What private items cost: how many are found, and what is missed beside the same run with known items.

    python tests/benchmarks/private_items.py --data DIR [--runs 10] [--epsilon 1] [--k 100]

FNR: the share of the exact top k that a release misses. All runs are simulated, with δ = 10⁻⁶. aol-like has 2.3 million
items, and is generated first.
"""

from __future__ import annotations

import argparse
import re
from time import process_time

import numpy as np

import privmine as pm
from privmine.datasets import open_dataset
from privmine.evaluation.evaluate import evaluate

DATASETS = ("retail", "BMS-WebView-2", "online-retail", "aol-like")
DELTA = "1e-6"
_FOUND = re.compile(r"private: ([\d,]+) of them")


def main() -> None:
    """Print a row for each dataset and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--only", action="append")
    asked = parser.parse_args()
    print("| data | items | method | found | FNR, private | FNR, known | seconds of CPU, private | known |")
    print("|---|---|---|---|---|---|---|---|")
    for name in asked.only or DATASETS:
        known = open_dataset(name, asked.data)
        private = known.hiding_items()
        for method in ("privbasis", "plus"):
            found, cells = [], []
            for data in (private, known):
                missed, start = [], process_time()
                for seed in range(asked.runs):
                    options = {"delta": DELTA, "method": method, "simulate": True, "seed": seed}
                    release = pm.mine(data, k=asked.k, epsilon=asked.epsilon, **options)
                    missed.append(evaluate(release, known)["fnr"])
                    found += [
                        int(n[1].replace(",", "")) for note in release.receipt.notes if (n := _FOUND.search(note))
                    ]
                cells.append((np.mean(missed), np.std(missed) / asked.runs**0.5, (process_time() - start) / asked.runs))
            fnr = " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error, _ in cells)
            seconds = " | ".join(f"{cell[2]:.2f}" for cell in cells)
            print(
                f"| {name} | {len(known.universe):,} | {method} | {np.mean(found):,.0f} | {fnr} | {seconds} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
