"""Compare the share missed that `plan --like` predicts with the share that the pipeline misses.

    python tests/benchmarks/plan_like.py --data DIR [--only retail] [--method privbasis] [--runs 30]

For each dataset, k and ε the pipeline is simulated on the whole dataset, with seeds that no plan uses: that is the
share measured. Predicted is what a plan tells from

  half     a random half of the dataset, scaled to the size of the whole one: public data of the same kind
  release  a release of the whole dataset at k = 400 and ε = 1, with the counts of which baskets are made up

With --delta every cell is measured under pure ε and with that δ. Then a plan from the half says which is better.

A prediction is off by predicted − measured; where it is a range, by its nearer end, and by 0 within it.
Runs simulations and reads exact data: for research only.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction

import common
import numpy as np

import privmine as pm
from privmine.evaluation import Truth
from privmine.evaluation.metrics import false_negative_rate
from privmine.model import Universe
from privmine.planning.adviser import advise, installed_methods
from privmine.planning.forecast import Attempt
from privmine.planning.population import Population, population_of
from privmine.privacy.unit import Unit
from privmine.store.memory import MemoryStore
from privmine.store.shelf import Shelf

DATASETS = ("retail", "mushroom", "BMS-WebView-2", "groceries", "online-retail")
KS = (20, 50, 200)
EPSILONS = (Fraction(1, 4), Fraction(1))
CLOSE = 0.05
SAME = 0.01


def half_of(baskets: pm.Transactions) -> pm.Transactions:
    """A random half of the baskets."""
    rows = baskets.store.rows
    chosen = np.sort(np.random.RandomState(7).permutation(rows.count)[: rows.count // 2])
    store = MemoryStore(rows.in_order(chosen, Shelf()), len(baskets.universe))
    return pm.Transactions(Universe.of(np.arange(len(baskets.universe))), store)


def populations(baskets: pm.Transactions, release_method: str) -> dict[str, Population]:
    """What a plan would be told, by kind."""
    size, items = baskets.store.count(), len(baskets.universe)
    earlier = pm.mine(baskets, 400, 1, method=release_method, simulate=True, seed=4711)
    asked = {"items": items, "unit": Unit(), "transactions": size}
    return {
        "half": population_of(half_of(baskets), is_public=True, **asked),
        "release": population_of(earlier, is_public=False, **asked),
    }


def measured(baskets: pm.Transactions, truth: Truth, attempt: Attempt, runs: int) -> tuple[float, float]:
    """The share missed on the whole dataset, and its standard error."""
    pipeline = installed_methods()[attempt.method]
    shares = []
    for seed in range(10_000, 10_000 + runs):
        release = pipeline.run(baskets, attempt.k, attempt.epsilon, delta=attempt.delta, simulate=True, seed=seed)
        shares.append(false_negative_rate(truth.indices(found.items for found in release), truth.top(attempt.k)))
    return float(np.mean(shares)), float(np.std(shares, ddof=1) / np.sqrt(runs)) if runs > 1 else float("inf")


def definitions(options: argparse.Namespace) -> None:
    """Whether the definition that a plan prefers misses less."""
    delta = Fraction(options.delta)
    print("| data | method | k | ε | pure ε | with δ | a plan from a half: pure ε | with δ | it prefers | right |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    right, cells = 0, 0
    for name in options.only or DATASETS:
        baskets = pm.read(common.dataset(options.data, name))
        truth = Truth.mine(baskets, max(options.k))
        asked = {"items": len(baskets.universe), "unit": Unit(), "transactions": baskets.store.count()}
        half = population_of(half_of(baskets), is_public=True, **asked)
        for method in options.method or ["privbasis", "plus"]:
            advice = advise(half, {method: installed_methods()[method]}, options.k, EPSILONS, delta=delta)
            for k in options.k:
                for epsilon in EPSILONS:
                    found = {
                        of_delta: measured(baskets, truth, Attempt(method, k, epsilon, of_delta), options.runs)
                        for of_delta in (None, delta)
                    }
                    rows = [one for one in advice.forecasts if (one.k, one.epsilon) == (k, epsilon)]
                    told = {one.delta: one.missed for one in rows}
                    chosen = rows[0].delta
                    other = delta if chosen is None else None
                    # What differs by less than two standard errors, or a hundredth, is the same.
                    doubt = max(2 * np.hypot(found[None][1], found[delta][1]), SAME)
                    is_right = found[chosen][0] <= found[other][0] + doubt
                    right, cells = right + is_right, cells + 1
                    figures = [f"{value:.3f}" for value in (found[None][0], found[delta][0], told[None], told[delta])]
                    words = "pure ε" if chosen is None else "δ"
                    shown = [name, method, str(k), f"{float(epsilon):g}", *figures, words, "yes" if is_right else "no"]
                    print(f"| {' | '.join(shown)} |", flush=True)
    print(f"\nthe definition that the plan prefers is the better one, or as good, in {right} of {cells} cells")


def main() -> None:
    """Print a Markdown table."""
    parser = common.parser(__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=30, help="how often the pipeline is measured")
    parser.add_argument("--only", action="append", help="a dataset; may be repeated")
    parser.add_argument("--method", action="append", help="a method; may be repeated  [default: privbasis]")
    parser.add_argument("--release-method", default="plus", help="which method made the earlier release")
    parser.add_argument("--delta", help="compare the definitions of privacy at this δ instead")
    parser.add_argument("--k", type=int, action="append", help="with --delta: how many itemsets  [default: 100]")
    options = parser.parse_args()
    print("Uses exact data and simulated noise: for research only.", file=sys.stderr)
    if options.delta is not None:
        options.k = options.k or [100]
        definitions(options)
        return
    print("| data | method | k | ε | missed | from a half | off | from a release | off |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    off: dict[str, list[float]] = {"half": [], "release": []}
    wide: dict[str, list[float]] = {"half": [], "release": []}
    for name in options.only or DATASETS:
        baskets = pm.read(common.dataset(options.data, name))
        truth = Truth.mine(baskets, max(KS))
        kinds = populations(baskets, options.release_method)
        for method in options.method or ["privbasis"]:
            pipelines = {method: installed_methods()[method]}
            advice = {kind: advise(found, pipelines, KS, EPSILONS) for kind, found in kinds.items()}
            for k in KS:
                for epsilon in EPSILONS:
                    share, _ = measured(baskets, truth, Attempt(method, k, epsilon), options.runs)
                    cells = [name, method, str(k), f"{float(epsilon):g}", f"{share:.3f}"]
                    for kind in off:
                        told = next(one for one in advice[kind].best if (one.k, one.epsilon) == (k, epsilon))
                        # The nearest end of a range; 0 within it.
                        nearest = min(max(share, told.least_missed), told.most_missed)
                        off[kind].append(nearest - share)
                        wide[kind].append(told.most_missed - told.least_missed)
                        ends = sorted({f"{end:.3f}" for end in (told.least_missed, told.most_missed)})
                        words = " to ".join(ends)
                        cells += [words, f"{nearest - share:+.3f}"]
                    print(f"| {' | '.join(cells)} |", flush=True)
    for kind, values in off.items():
        close = sum(abs(value) <= CLOSE for value in values)
        worst = max(map(abs, values), default=0.0)
        print(f"\n{kind}: within {CLOSE} in {close} of {len(values)} cells, off by {worst:.3f} at most")
        print(f"  a range is {np.mean(wide[kind]):.3f} wide on average")


if __name__ == "__main__":
    main()
