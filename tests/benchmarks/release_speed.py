"""From a text file to a private release, against PyFIM's load and exact mining of the same file.

    python tests/benchmarks/release_speed.py --data DIR [--runs 5] [--k 100]

PyFIM is used as well as it can be: garbage collection is off while it loads and mines, and of its
miners the fastest counts, at the support of the k-th itemset (which privmine is not told). All sides
run in turn in one process; the shortest time of each is compared.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import common
import fim

import privmine as pm

CASES = (("retail", 1), ("kosarak_first69999", 14))
MINERS = ("eclat", "fpgrowth")


def seconds(step: Callable[[], object]) -> float:
    """How long a step takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def release_seconds(path: Path, k: int, **options: object) -> float:
    """From the file to a release."""
    return seconds(lambda: pm.mine(pm.read(path), k, 1, **options))


def pyfim_seconds(path: Path, support: int, miner: str) -> float:
    """Load and mine with the garbage collector off, as PyFIM should be run."""

    def load_and_mine() -> None:
        with path.open() as lines:
            rows = [[int(item) for item in line.split()] for line in lines]
        getattr(fim, miner)(rows, target="s", supp=-support, zmin=1, report="a")

    gc.collect()
    gc.disable()
    try:
        return seconds(load_and_mine)
    finally:
        gc.enable()


def main() -> int:
    """Print times and ratios."""
    options = common.parser("Time from a file to a release, against PyFIM.")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--k", type=int, default=100)
    arguments = options.parse_args()
    pm.mine([["warm"]], 1, 1)
    for name, repeats in CASES:
        with tempfile.TemporaryDirectory() as directory:
            path = common.plain_text(arguments.data, name, repeats, Path(directory))
            support = int(pm.read(path).store.top_itemsets(arguments.k)[1][-1])
            times: dict[str, list[float]] = {}
            for run in range(arguments.runs):
                measured = {
                    "simulated": release_seconds(path, arguments.k, simulate=True, seed=run),
                    "exact noise": release_seconds(path, arguments.k),
                    **{miner: pyfim_seconds(path, support, miner) for miner in MINERS},
                }
                for side, value in measured.items():
                    times.setdefault(side, []).append(value)
        best = {side: min(runs) for side, runs in times.items()}
        peer = min(best[miner] for miner in MINERS)
        print(f"{name} ×{repeats}, k = {arguments.k}, the shortest of {arguments.runs} runs:")
        print("   " + "  ".join(f"{side} {value:.3f} s" for side, value in best.items()))
        print(
            f"   simulated ÷ PyFIM {best['simulated'] / peer:.2f}   exact noise ÷ PyFIM "
            f"{best['exact noise'] / peer:.2f}   exact noise ÷ simulated {best['exact noise'] / best['simulated']:.2f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
