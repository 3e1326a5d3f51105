"""Time from a plain text file to all counts that a release needs, against PyFIM from the same file.

    python tests/benchmarks/load_and_mine.py --data DIR [--runs 5]

PyFIM is used as well as it can be: garbage collection is off, lines are split and converted by
`map` in a comprehension, and of its miners the fastest is taken, at the support of the k-th itemset (which
privmine is not told). Both sides run in turn, and the shortest time of each is compared.
"""

from __future__ import annotations

import gc
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import common
import fim
import numpy as np

from privmine.io.readers.fimi import read_fimi

CASES = (("retail", 1), ("kosarak_first69999", 14))
MINERS = ("eclat", "fpgrowth", "apriori")
K = 100
#: At most this part of PyFIM's time, so that the private pipeline has room on top of it.
TARGET = 0.6


def time_steps(steps: list[tuple[str, Callable[[], object]]]) -> dict[str, float]:
    """Run steps one after another, and time each."""
    times = {}
    for name, step in steps:
        start = time.perf_counter()
        step()
        times[name] = time.perf_counter() - start
    return times


def run_ours(path: Path) -> tuple[dict[str, float], int]:
    """Read, and count what a release of k itemsets needs; the times, and the k-th support."""
    state: dict[str, object] = {}

    def read() -> None:
        state["store"] = read_fimi(path).store

    def mine() -> None:
        state["supports"] = state["store"].top_itemsets(110)[1]

    def items() -> None:
        state["items"] = np.argsort(-state["store"].item_supports(), kind="stable")[:50].tolist()

    def pairs() -> None:
        state["store"].pair_supports(state["items"])

    def bins() -> None:
        chosen = state["items"]
        bases = [tuple(sorted(chosen[(2 * basis + item) % 50] for item in range(8))) for basis in range(20)]
        state["store"].bin_counts(bases)

    steps = [("read", read), ("top 110", mine), ("items", items), ("pairs of 50", pairs), ("20 bases of 8", bins)]
    return time_steps(steps), int(state["supports"][K - 1])


def run_pyfim(path: Path, kth: int) -> dict[str, float]:
    """Load, and mine with each of PyFIM's miners."""
    state: dict[str, list[list[int]]] = {}

    def load() -> None:
        with path.open() as lines:
            state["rows"] = [list(map(int, line.split())) for line in lines]

    def mine(miner: str) -> Callable[[], object]:
        return lambda: getattr(fim, miner)(state["rows"], target="s", supp=-kth, zmin=1, report="a")

    gc.disable()
    try:
        return time_steps([("load", load), *((miner, mine(miner)) for miner in MINERS)])
    finally:
        state.clear()
        gc.enable()


def shortest(runs: list[dict[str, float]]) -> dict[str, float]:
    """The shortest time of each step."""
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> int:
    """Print the times, and return whether a target was missed."""
    options = common.parser("Time loading and mining against PyFIM.")
    options.add_argument("--runs", type=int, default=5)
    arguments = options.parse_args()
    missed = False
    for name, repeats in CASES:
        with tempfile.TemporaryDirectory() as directory:
            path = common.plain_text(arguments.data, name, repeats, Path(directory))
            ours, theirs = [], []
            for _ in range(arguments.runs):
                times, kth = run_ours(path)
                ours.append(times)
                if len(ours) == 1:
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                theirs.append(run_pyfim(path, kth))
        print(f"\n{name} × {repeats}   (the shortest of {arguments.runs} runs, seconds)")
        for title, times in (("privmine", shortest(ours)), ("PyFIM", shortest(theirs))):
            print(f"  {title:<9}", "  ".join(f"{step} {seconds:.3f}" for step, seconds in times.items()))
        our_total = min(sum(run.values()) for run in ours)
        miner = min(MINERS, key=lambda miner: shortest(theirs)[miner])
        their_total = min(run["load"] + run[miner] for run in theirs)
        ratio = our_total / their_total
        missed |= ratio > TARGET
        print(f"  total     privmine {our_total:.3f}  PyFIM ({miner}) {their_total:.3f}  ratio {ratio:.2f}")
        print(f"  peak memory before PyFIM read this file: {peak:.0f} MB")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
