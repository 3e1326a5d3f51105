"""Compare what `plan` promises with what reconstructions do: standard errors by itemset size.

    python tests/benchmarks/plan.py --data DIR [--repeats 2000] [--only retail] [--epsilon 1] [--exact-noise]

For each dataset one simulated run builds its bases, and these are measured again and again with new noise
from the pipeline's own last stage; the spread of each count over the repetitions is its true standard error. Three
promises are held against it, each as the ratio promised ÷ measured:

  bases    plan(bases=…), given the very bases of the run: the typical error over all itemsets of a size
  w, l     plan(bases=w, length=l), as a receipt tells them: of itemsets that one basis of l items answers
  range    plan(lam=…): whether the measured typical error lies between the two ends

Runs simulations, which are fast and not private, and reads exact data: for research only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import common
import numpy as np
from attrs import evolve

import privmine as pm
from privmine.api import BasisSet, hookimpl
from privmine.model import FloatArray
from privmine.noise.protocol import NoiseSource
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.pipeline.request import Wish
from privmine.pipeline.run import Run

DATASETS = {"retail": 100, "mushroom": 100}
MORE = {"msnbc": 100, "BMS-WebView-2": 100, "groceries": 100, "kosarak_first69999": 200, "online-retail": 100}


class Watcher:
    """An observer that keeps what the stages of the last run returned."""

    @hookimpl
    def stage_finished(self, stage: str, result: object) -> None:
        """Keep it."""
        setattr(self, stage, result)


def reconstructions(
    baskets: pm.Transactions, k: int, epsilon: str, basis: BasisSet, repeats: int, noise: Callable[[int], NoiseSource]
) -> Iterator[tuple[FloatArray, Any]]:
    """The counts of the same bases under new noise each time, and the itemsets that they are of."""
    pipeline = pm.Pipeline()
    request = Wish(k, epsilon).request(baskets)
    plan = pipeline.prepare(request).plan()
    share = plan.reconstruct_counts * request.budget
    for seed in range(repeats):
        # A run of the last stage alone, whose whole budget is that stage's share.
        run: Run = pipeline.prepare(evolve(request, epsilon=share))
        access = run.access(baskets.store, noise(seed), lambda _: False)
        counts = run.stage("reconstruct_counts", plan, access, basis=basis)
        yield counts.counts, counts.itemsets


def measured_errors(
    baskets: pm.Transactions, k: int, epsilon: str, basis: BasisSet, repeats: int, noise: Callable[[int], NoiseSource]
) -> tuple[FloatArray, Any]:
    """The spread of each count about its true value, and the itemsets."""
    total: FloatArray | None = None
    for counts, itemsets in reconstructions(baskets, k, epsilon, basis, repeats, noise):
        if total is None:
            truth = np.array(baskets.store.supports(list(itemsets)), dtype=np.float64)
            total = np.zeros(len(truth))
        total += (counts - truth) ** 2
    assert total is not None
    return np.sqrt(total / repeats), itemsets


def answered_once(basis: BasisSet, itemsets: Any) -> np.ndarray:
    """Which itemsets one basis of the full length answers, and no other basis."""
    members = [frozenset(found) for found in basis.bases]
    chosen = []
    for itemset in itemsets:
        covering = [found for found in members if found.issuperset(itemset)]
        chosen.append(len(covering) == 1 and len(covering[0]) == basis.length)
    return np.array(chosen)


def compare(
    name: str,
    baskets: pm.Transactions,
    k: int,
    epsilon: str,
    repeats: int,
    noise: Callable[[int], NoiseSource],
    sizes: int = 4,
) -> None:
    """Print a table for one dataset."""
    watcher: Any = Watcher()
    pm.Pipeline().run(baskets, k, epsilon, simulate=True, seed=1, observers=[watcher])
    basis, lam, items = watcher.construct_basis, watcher.estimate_lambda.lam, len(baskets.universe)
    errors, itemsets = measured_errors(baskets, k, epsilon, basis, repeats, noise)
    lengths, once = itemsets.lengths, answered_once(basis, itemsets)
    facts = {"k": k, "epsilon": epsilon, "items": items, "lam": lam}
    exact, alike, spread = (
        pm.plan(**facts, bases=basis),
        pm.plan(**facts, bases=basis.width, length=basis.length),
        pm.plan(**facts),
    )
    print(f"\n{name}, k = {k}, ε = {epsilon}: λ = {lam}, w = {basis.width}, ℓ = {basis.length}; {repeats:,} repeats\n")
    print("| size | measured | plan(bases=…) | ratio | one basis of ℓ | plan(w, ℓ) | ratio | plan(λ) | inside |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in range(1, sizes + 1):
        of_size = lengths == size
        if not of_size.any():
            continue
        typical = typical_of(errors[of_size])
        promised, found = exact.errors(size).high, spread.errors(size)
        single, told = "", ["", ""]
        if (of_size & once).any():
            value = typical_of(errors[of_size & once])
            single, told = f"{value:.1f}", [f"{alike.errors(size).high:.1f}", f"{alike.errors(size).high / value:.3f}"]
        inside = position(typical, found.low, found.high, repeats)
        print(
            f"| {size} | {typical:.1f} | {promised:.1f} | {promised / typical:.3f} | {single} | {told[0]} | {told[1]} "
            f"| {found.low:.1f} – {found.high:.1f} | {inside} |",
            flush=True,
        )


def position(measured: float, low: float, high: float, repeats: int) -> str:
    """Where the measured error lies; where all items are in one basis there is one figure, held by the ratios."""
    if low == high:
        return "one figure"
    slack = 1 / np.sqrt(2 * repeats)  # the relative standard error of one measured error
    if low <= measured <= high:
        return "yes"
    return "at its end" if low * (1 - slack) <= measured <= high * (1 + slack) else "NO"


def typical_of(errors: FloatArray) -> float:
    """The root of the mean square, as `plan` has it."""
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    """Print a Markdown table for each dataset."""
    parser = common.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2000, help="how many reconstructions")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--only", action="append", help="a dataset; may be repeated")
    parser.add_argument("--more", action="store_true", help="more datasets than retail and mushroom")
    parser.add_argument("--exact-noise", action="store_true", help="draw the discrete noise of a release; no seed")
    options = parser.parse_args()
    print("Uses exact data and simulated noise: for research only.", file=sys.stderr)
    for name, k in (DATASETS | MORE if options.more else DATASETS).items():
        if options.only and name not in options.only:
            continue
        path: Path = common.dataset(options.data, name)
        noise = (lambda _: SecureNoise()) if options.exact_noise else SimulatedNoise
        compare(name, pm.read(path), k, str(Fraction(options.epsilon)), options.repeats, noise)


if __name__ == "__main__":
    main()
