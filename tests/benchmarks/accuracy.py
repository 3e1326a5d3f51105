"""FNR and RE of a pipeline in simulation, beside the figures of an independent implementation.

    python tests/benchmarks/accuracy.py --data DIR [--seeds 30] [--markdown] [--only retail]

FNR: the share of the exact top k that the release misses. RE: the median of |noisy − exact| / exact
over released itemsets that occur. A row ×n is a part of the original repeated n times, a proxy.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import common
import numpy as np

import privmine as pm

EPSILONS = ("0.1", "0.25", "0.5", "1")
#: name, repeats, k, FNR and RE of the independent implementation at each ε (3–10 runs a cell)
ROWS = (
    ("mushroom", 1, 50, (0.11, 0.04, 0.014, 0.014), (0.037, 0.012, 0.005, 0.0025)),
    ("mushroom", 1, 100, (0.33, 0.13, 0.07, 0.036), (0.06, 0.025, 0.014, 0.0074)),
    ("pumsb_star_debd163", 3, 150, (0.13, 0.03, 0.015, 0.007), (0.009, 0.003, 0.0015, 0.0008)),
    ("retail", 1, 50, (0.56, 0.31, 0.06, 0.016), (0.11, 0.035, 0.011, 0.007)),
    ("retail", 1, 100, (0.89, 0.75, 0.50, 0.18), (42, 2.1, 0.08, 0.030)),
    ("kosarak_first69999", 14, 200, (0.21, 0.03, 0.015, 0.003), (0.030, 0.009, 0.007, 0.003)),
    ("kosarak_first69999", 14, 400, (0.55, 0.16, 0.05, 0.027), (0.19, 0.033, 0.015, 0.008)),
)

_loaded: dict[str, object] = {}


def load(path: str) -> None:
    """Read the data once in each worker."""
    _loaded["data"] = pm.read(path)


def one_run(task: tuple[int, str, int]) -> tuple[float, float]:
    """FNR and RE of one simulated release."""
    k, epsilon, seed = task
    data = _loaded["data"]
    if k not in _loaded:
        itemsets, _ = data.store.top_itemsets(k)
        _loaded[k] = {data.universe.named(found) for found in itemsets}
        _loaded["index"] = {label: index for index, label in enumerate(data.universe.labels.tolist())}
    truth = _loaded[k]
    release = pm.mine(data, k, epsilon, simulate=True, seed=seed)
    missed = len(truth - {found.items for found in release}) / len(truth)
    exact = data.store.supports([tuple(_loaded["index"][label] for label in found.items) for found in release])
    noisy = np.array([found.count for found in release])
    occurs = exact > 0
    return missed, float(np.median(np.abs(noisy[occurs] - exact[occurs]) / exact[occurs]))


def main() -> int:
    """Print a row a cell."""
    options = common.parser("Accuracy of the default pipeline.")
    options.add_argument("--seeds", type=int, default=30)
    options.add_argument("--only", help="one dataset")
    options.add_argument("--markdown", action="store_true", help="print a table for the documentation")
    arguments = options.parse_args()
    lines = []
    for name, repeats, k, known_fnr, known_re in ROWS:
        if arguments.only not in (None, name):
            continue
        label = f"{name}{'' if repeats == 1 else f' ×{repeats}'}, k = {k}"
        with tempfile.TemporaryDirectory() as directory:
            path = common.plain_text(arguments.data, name, repeats, Path(directory))
            tasks = [(k, epsilon, seed) for epsilon in EPSILONS for seed in range(arguments.seeds)]
            with ProcessPoolExecutor(2, get_context("spawn"), load, (str(path),)) as pool:
                results = np.array(list(pool.map(one_run, tasks, chunksize=5)))
        cells = results.reshape(len(EPSILONS), arguments.seeds, 2)
        fnr, error = cells[:, :, 0].mean(axis=1), cells[:, :, 1].mean(axis=1)
        half = 1.96 * cells.std(axis=1, ddof=1) / np.sqrt(arguments.seeds)
        print(f"{label}  ({arguments.seeds} seeds)")
        for row, epsilon in enumerate(EPSILONS):
            print(
                f"   ε = {epsilon:<5} FNR {fnr[row]:.3f} ± {half[row, 0]:.3f}  (known {known_fnr[row]})"
                f"   RE {error[row]:.4g} ± {half[row, 1]:.2g}  (known {known_re[row]})",
                flush=True,
            )
        figures = (" / ".join(f"{value:.3f}" for value in fnr), " / ".join(f"{value:.2g}" for value in error))
        lines.append(f"| {label} | {figures[0]} | {figures[1]} |")
    if arguments.markdown:
        print(f"\n| data | FNR at ε = {' / '.join(EPSILONS)} | RE at the same ε |\n|---|---|---|")
        print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
