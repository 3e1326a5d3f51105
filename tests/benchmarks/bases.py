"""Compare the basis strategies end to end: FNR and relative error against the exact top k.

    python tests/benchmarks/bases.py --data DIR [--repeats 30] [--only groceries] [--epsilon 1] [--max-length 1]

Runs simulations, which are fast and not private, and reads exact supports: for research only. A seed
gives every strategy the same λ, items and pairs, so that only the bases and their noise differ.

For each strategy: the mean width w and length ℓ, the share of the exact top k that no basis covers
("lost": no reconstruction can bring it back), FNR, and RE, the median relative error of the released
itemsets that occur at all. ± is half a 95 % interval over the seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Any

import common
import numpy as np

import privmine as pm
from privmine.api import BasisSet, Itemset, hookimpl

STRATEGIES: Mapping[str, Any] = {
    "greedy-merge": "greedy-merge",
    "single": "single",
    "single, 12": {"use": "single", "max_length": 12},
    "cliques": "cliques",
    "triples": "triples",
    "worst-case": "worst-case",
    "cover": "cover",
    "cover, 6": {"use": "cover", "max_length": 6},
    "cover, 12": {"use": "cover", "max_length": 12},
}


class Watcher:
    """An observer that keeps the basis set of the last run."""

    basis: BasisSet = BasisSet(bases=((),))

    @hookimpl
    def stage_finished(self, stage: str, result: object) -> None:
        """Keep what construct_basis built."""
        if stage == "construct_basis" and isinstance(result, BasisSet):
            self.basis = result


def mean_and_half_width(values: Iterable[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval."""
    array = np.array(list(values))
    spread = array.std(ddof=1) if len(array) > 1 else float("nan")
    return float(array.mean()), float(1.96 * spread / np.sqrt(len(array)))


def lost_share(basis: BasisSet, truth: list[Itemset]) -> float:
    """The share of the true itemsets that no basis contains."""
    members = [frozenset(found) for found in basis.bases]
    return sum(not any(found.issuperset(itemset) for found in members) for itemset in truth) / len(truth)


def measure(
    baskets: pm.Transactions, k: int, epsilon: str, choice: Any, repeats: int, max_length: int | None
) -> dict[str, Any]:
    """Run one strategy on one dataset under each seed."""
    watcher = Watcher()
    pipeline = pm.Pipeline(construct_basis=choice)
    position = {label: index for index, label in enumerate(baskets.universe.labels.tolist())}
    exact, _ = baskets.store.top_itemsets(k, max_length)
    truth = list(exact)
    rows = []
    for seed in range(repeats):
        release = pipeline.run(
            baskets, k, epsilon, max_length=max_length, simulate=True, seed=seed, observers=[watcher]
        )
        released = [tuple(sorted(position[label] for label in found.items)) for found in release]
        supports = np.array(baskets.store.supports(released), dtype=np.float64)
        noisy = np.array([found.count for found in release])
        occurs = supports > 0
        error = np.median(np.abs(noisy - supports)[occurs] / supports[occurs]) if occurs.any() else float("nan")
        false_negatives = len(set(truth).difference(released)) / len(truth)
        lost = lost_share(watcher.basis, truth)
        rows.append((watcher.basis.width, watcher.basis.length, lost, false_negatives, error))
    columns = zip(*rows, strict=True)
    names = ("w", "l", "lost", "FNR", "RE")
    return {name: mean_and_half_width(values) for name, values in zip(names, columns, strict=True)}


def datasets(directory: Any) -> dict[str, tuple[Callable[[], pm.Transactions], int]]:
    """The data by name, each with its k."""
    return {
        "groceries": (pm.groceries, 30),
        "mushroom": (lambda: pm.read(common.dataset(directory, "mushroom")), 100),
        "retail": (lambda: pm.read(common.dataset(directory, "retail")), 100),
        "msnbc": (lambda: pm.read(common.dataset(directory, "msnbc")), 100),
    }


def main() -> None:
    """Print a Markdown table for each dataset."""
    parser = common.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=30, help="how many seeds")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--max-length", type=int, help="the longest itemset, in the truth as in the release")
    parser.add_argument("--only", action="append", help="a dataset; may be repeated")
    options = parser.parse_args()
    print("Uses exact data and simulated noise: for research only.", file=sys.stderr)
    for name, (load, k) in datasets(options.data).items():
        if options.only and name not in options.only:
            continue
        baskets = load()
        longest = "" if options.max_length is None else f", itemsets of at most {options.max_length}"
        print(f"\n{name}, k = {k}{longest}, ε = {options.epsilon}, {options.repeats} seeds\n")
        print("| strategy | w | ℓ | lost | FNR | RE | s a run |\n|---|---|---|---|---|---|---|")
        for label, choice in STRATEGIES.items():
            started = perf_counter()
            found = measure(baskets, k, options.epsilon, choice, options.repeats, options.max_length)
            seconds = (perf_counter() - started) / options.repeats
            print(
                f"| {label} | {found['w'][0]:.1f} | {found['l'][0]:.1f} | {found['lost'][0]:.3f} "
                f"| {found['FNR'][0]:.3f} ± {found['FNR'][1]:.3f} | {found['RE'][0]:.4f} ± {found['RE'][1]:.4f} "
                f"| {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
