"""How often the answers of a release are right: rules that are shown, verdicts, intervals, changes of two releases.

Uses exact data to evaluate, and simulated noise. Needs the benchmark data.

    python tests/benchmarks/verdict.py rules    --data DIR [--runs 50] [--method privbasis] [--k 20] [--epsilon 1]
    python tests/benchmarks/verdict.py verdicts --data DIR [--runs 40] [--method privbasis] [--k 50] [--epsilon 0.5]
    python tests/benchmarks/verdict.py changes  --data DIR [--runs 20]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import content, dataset, lists, parser

import privmine as pm
from privmine.release.verdict import told_from_zero

#: The datasets on which verdicts are tried.
DATASETS = ("groceries", "retail", "mushroom", "BMS-WebView-2", "kosarak_first69999")
#: In how many fewer baskets the most frequent item is, where a change is planted.
PLANTED = (0.1, 0.15, 0.2, 0.3, 0.4)
METRICS = ("support", "confidence", "lift", "leverage", "conviction")


def months(baskets: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """The baskets in two halves."""
    half = len(baskets) // 2
    return [list(basket) for basket in baskets[:half]], [list(basket) for basket in baskets[half:]]


def customers(baskets: Sequence[Any]) -> list[str]:
    """Made-up customers of three baskets each."""
    return [f"c{number // 3}" for number in range(len(baskets))]


def read(baskets: Sequence[Sequence[int]], items: Sequence[int], *, units: bool) -> pm.Transactions:
    """Transactions over all items, per customer if units are asked for."""
    unit = {"unit": customers(baskets), "max_baskets": 3} if units else {}
    return pm.read(baskets, items=items, **unit)


def exact_of(data: pm.Transactions, itemsets: Sequence[Any]) -> Any:
    """The exact counts of itemsets."""
    place = {label: number for number, label in enumerate(data.universe.labels.tolist())}
    return data.store.supports([tuple(sorted(place[label] for label in items)) for items in itemsets])


def rules(baskets: Sequence[Sequence[int]], items: Sequence[int], runs: int, epsilon: str, k: int, method: str) -> None:
    """Of the rules that are shown, those whose exact lift is above 1, and how often intervals hold."""
    shown, above, released = 0, 0, 0
    covered: dict[str, list[int]] = {metric: [] for metric in METRICS}
    sizes = []
    for number, month in enumerate(months(baskets)):
        data = read(month, items, units=True)
        n = data.store.count()
        for seed in range(number, runs, 2):  # The same seed for both months would be the same noise twice.
            release = pm.mine(data, k, epsilon, method=method, simulate=True, seed=seed, downward_closed=True)
            released += 1
            rows = release.rules().to_dict("records")
            sizes.append(len(rows))
            for metric in METRICS:
                covered[metric].append(0)
            for row in rows:
                a, c = frozenset(row["antecedents"]), frozenset(row["consequents"])
                w, x, y = (float(value) for value in exact_of(data, [a | c, a, c]))
                confidence = w / x if x else np.nan
                lift = w * n / (x * y) if x * y else np.nan
                exact = {
                    "support": w / n,
                    "confidence": confidence,
                    "lift": lift,
                    "leverage": w / n - x * y / n**2,
                    "conviction": (1 - y / n) / (1 - confidence) if confidence < 1 else np.inf,
                }
                shown += 1
                above += lift > 1
                for metric in METRICS:
                    covered[metric][-1] += row[f"{metric}_low"] <= exact[metric] <= row[f"{metric}_high"]
    print(f"{method}, {released} releases, k = {k}, ε = {epsilon}: {shown} rules shown, exact lift above 1: {above}")
    for metric in METRICS:
        # Rules of one release share their noise, so that a release is what is independent.
        hits, share = np.array(covered[metric]), sum(covered[metric]) / max(shown, 1)
        error = np.sqrt(np.sum((hits - share * np.array(sizes)) ** 2)) / max(shown, 1)
        print(f"  95 % intervals of {metric:<11} cover {hits.sum()} ({share:.1%} ± {error:.1%})")


def verdicts(name: str, data: pm.Transactions, runs: int, method: str, k: int, epsilon: str) -> None:
    """How often the sentences of the verdict are right."""
    rows, covered, told, wrongly, order, clear, zero = 0, 0, 0, 0, 0, 0, 0
    last_rows, last_covered = 0, 0
    for seed in range(runs):
        release = pm.mine(data, k, epsilon, method=method, simulate=True, seed=seed)
        exact = exact_of(data, [found.items for found in release])
        inside = [low <= count <= high for (low, high), count in zip(release.intervals(), exact, strict=True)]
        rows, covered = rows + len(inside), covered + sum(inside)
        last = inside[-len(inside) // 4 :]
        last_rows, last_covered = last_rows + len(last), last_covered + sum(last)
        above = told_from_zero(release).tolist()
        told += sum(above)
        wrongly += sum(bool(yes) and not count for yes, count in zip(above, exact, strict=True))
        zero += len(above) - sum(above)
        found = release.verdict.clear_order
        clear += found
        order += bool((exact[:found] > exact[-1]).all())
    print(
        f"{name:<20} {method} k = {k} ε = {epsilon}: intervals cover {covered / rows:.3f} of {rows} "
        f"(last quarter {last_covered / last_rows:.3f}), clearly above 0: {told}, of these exactly 0: {wrongly}, "
        f"cannot be told: {zero}, order right in {order} of {runs} runs (mean rank {clear / runs:.0f})",
        flush=True,
    )


def changes(baskets: Sequence[Sequence[int]], items: Sequence[int], runs: int) -> None:
    """False alarms on two halves of one dataset, and how often a planted change is found, by its size."""
    alarms = {"k = 30, ε = 1": 0, "k = 30, ε = 0.2": 0, "k = 10, ε = 0.5": 0}
    covered = compared = 0
    found, others = dict.fromkeys(PLANTED, 0), dict.fromkeys(PLANTED, 0)
    order = np.random.default_rng(7)
    for seed in range(runs):
        mixed = [list(baskets[place]) for place in order.permutation(len(baskets))]
        first, second = months(mixed)
        before = pm.mine(read(first, items, units=False), 30, 1, simulate=True, seed=2 * seed)
        same = read(second, items, units=False)
        for asked, k, epsilon in zip(alarms, (30, 30, 10), ("1", "0.2", "0.5"), strict=True):
            comparison = before.compare(pm.mine(same, k, epsilon, simulate=True, seed=2 * seed + 1))
            alarms[asked] += bool(comparison.clear)
            inside = [change.low <= 0 <= change.high for change in comparison if change.change is not None]
            covered, compared = covered + sum(inside), compared + len(inside)
        common = Counter(item for basket in first for item in basket).most_common(1)[0][0]
        chances = order.random(len(second))
        for part in PLANTED:
            rest = [[i for i in b if i != common or at >= part] for b, at in zip(second, chances, strict=True)]
            after = pm.mine(read(rest, items, units=False), 30, 1, simulate=True, seed=2 * seed + 1)
            clear = {frozenset(change.items) for change in before.compare(after).clear}
            found[part] += frozenset({common}) in clear
            others[part] += any(common not in itemset for itemset in clear)
    for asked, number in alarms.items():
        print(f"two halves of one dataset, k = 30, ε = 1 against {asked}, {runs} runs: false alarms in {number}")
    print(f"95 % intervals of these {compared} changes contain 0: {covered / max(compared, 1):.3f}")
    for part in PLANTED:
        told = f"found in {found[part]}, another change told in {others[part]}"
        print(f"the most frequent item in {part:.0%} fewer baskets: {told}")


def main() -> None:
    """Run one of the three."""
    options = parser(__doc__ or "")
    options.add_argument("what", choices=("rules", "verdicts", "changes"))
    options.add_argument("--runs", type=int)
    options.add_argument("--method", default="privbasis")
    options.add_argument("--k", type=int)
    options.add_argument("--epsilon")
    options.add_argument("--only", nargs="*", default=DATASETS)
    chosen = options.parse_args()
    if chosen.what == "verdicts":
        for name in chosen.only:
            data = pm.read(dataset(chosen.data, name))
            verdicts(name, data, chosen.runs or 40, chosen.method, chosen.k or 50, chosen.epsilon or "0.5")
        return
    baskets = lists(content(dataset(chosen.data, "groceries")))
    items = sorted({item for basket in baskets for item in basket})
    if chosen.what == "rules":
        rules(baskets, items, chosen.runs or 50, chosen.epsilon or "1", chosen.k or 20, chosen.method)
    else:
        changes(baskets, items, chosen.runs or 20)


if __name__ == "__main__":
    main()
