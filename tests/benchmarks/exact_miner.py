"""Compare the exact top-k miner with PyFIM: supports, itemsets above the last tie, and time.

    python tests/benchmarks/exact_miner.py --data DIR

PyFIM needs a minimum support; it is given the k-th support that privmine found, so that it must
find the same supports from there up. The itemsets on that last support are compared as well: ours
must be some of PyFIM's. Exit code 1 if anything differs.

PyFIM (6.28) leaves out the singleton of an item that is in every transaction (mushroom's 85), in
each of its miners; the supersets are there. That singleton is added to its result here.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import common
import fim

from privmine.io.readers.fimi import read_fimi

NAMES = ("retail", "mushroom", "BMS-WebView-2", "msnbc", "kosarak_first69999")
KS = (1, 10, 100, 1000)


def universal_items(rows: list[list[int]]) -> set[int]:
    """The items that are in every transaction."""
    return set.intersection(*map(set, rows)) if rows else set()


def compare(ours: dict[frozenset[int], int], theirs: dict[frozenset[int], int], k: int) -> str:
    """Say in what way two results differ; nothing if they do not."""
    kth = min(ours.values())
    if len(ours) != k:
        return f"{len(ours)} itemsets"
    best = sorted(theirs.values(), reverse=True)[:k]
    if sorted(ours.values(), reverse=True) != best:
        return "supports differ"
    if any(theirs.get(itemset) != support for itemset, support in ours.items()):
        return "an itemset is not PyFIM's"
    above = {itemset for itemset, support in theirs.items() if support > kth}
    return "" if above <= ours.keys() else "an itemset is missing"


def main() -> int:
    """Print a table, and return whether something differs."""
    arguments = common.parser("Compare the exact miner with PyFIM.").parse_args()
    different = 0
    print(f"{'data':<20}{'k':>6}{'k-th':>9}{'ours s':>9}{'PyFIM s':>9}  result")
    for name in NAMES:
        path = common.dataset(arguments.data, name)
        transactions = read_fimi(path)
        rows = common.lists(common.content(path))
        everywhere = universal_items(rows)
        for k in KS:
            transactions.store.close()  # every k starts without bitmaps
            start = time.perf_counter()
            itemsets, supports = transactions.store.top_itemsets(k)
            our_time = time.perf_counter() - start
            named = map(frozenset, map(transactions.universe.named, itemsets))
            ours = dict(zip(named, supports.tolist(), strict=True))
            kth = min(ours.values())
            start = time.perf_counter()
            found = fim.eclat(rows, target="s", supp=-kth, zmin=1, report="a")
            their_time = time.perf_counter() - start
            theirs = {frozenset(itemset): support for itemset, support in found}
            added = [item for item in everywhere if frozenset([item]) not in theirs]
            theirs.update({frozenset([item]): len(rows) for item in added})
            problem = compare(ours, theirs, k)
            different += bool(problem)
            note = f" (singleton of {added} added to PyFIM's)" if added else ""
            print(f"{name:<20}{k:>6}{kth:>9}{our_time:>9.3f}{their_time:>9.3f}  {problem or 'OK'}{note}", flush=True)
            if len(theirs) != len(found) + len(added) or Counter(map(len, ours)).get(0):
                different += 1
                print("    an itemset was listed twice, or is empty")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
