"""Exact facts of a dataset: what Table 2 lists, and how crowded the supports are around the k-th."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import comb, log
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen

from privmine.datasets import Transactions
from privmine.evaluation import Truth
from privmine_paper.plan import LENGTHS, RHO, TABLE_EPSILON, Panel

#: An itemset less than so many transactions, or less than this share, below the k-th support is close to it.
CLOSE, CLOSE_SHARE = 100, 0.1
#: No more itemsets than this are mined to count the close ones.
MOST_CLOSE = 20_000


@frozen
class Facts:
    """Measured facts of one dataset; the names are those of `Printed`.

    Attributes:
        database: a digest of the data.
        gamma: γ·N with the items of the data at hand.
        gamma_printed_items: γ·N with as many items as the paper's data has.
        lams: for each k of the figure, the number of items in the top k.
        kth_supports: for each k of the figure, the support of the k-th itemset.
        longer: for each k and m, how many of the top k have more than m items: TF with that m cannot find them.
        close: for each k of the figure, how many itemsets lie less than `CLOSE` transactions below the k-th support.
        close_share: for each k of the figure, how many lie less than the share `CLOSE_SHARE` below it.
        proxy: what the data stands for if it is not the original, else None.
    """

    database: str
    n: int
    items: int
    average: float
    lam: int
    pairs: int
    triples: int
    kth_support: int
    gamma: float
    gamma_printed_items: float
    lams: Mapping[str, int]
    kth_supports: Mapping[str, int]
    longer: Mapping[str, Mapping[str, int]]
    close: Mapping[str, int]
    close_share: Mapping[str, int]
    proxy: str | None = None


def gamma_count(k: int, items: int, m: int, epsilon: float = TABLE_EPSILON, rho: float = RHO) -> float:
    """γ·N = (4k/ε)(ln(k/ρ) + ln|U|), Equation 3 in counts; U is the itemsets of at most m items."""
    candidates = sum(comb(items, length) for length in range(1, m + 1))
    return 4 * k / epsilon * (log(k / rho) + log(candidates))


def facts_of(panel: Panel, transactions: Transactions, proxy: str | None) -> Facts:
    """Measure a dataset."""
    printed = panel.printed
    truth = Truth.mine(transactions, max(printed.k, *panel.k))
    top = truth.itemsets[: printed.k]
    supports = truth.store.item_supports()
    count = truth.store.count()
    return Facts(
        database=truth.database,
        n=count,
        items=len(transactions.universe),
        average=float(supports.sum()) / max(count, 1),
        lam=_items(truth, printed.k),
        pairs=sum(len(itemset) == 2 for itemset in top),
        triples=sum(len(itemset) == 3 for itemset in top),
        kth_support=truth.kth_support(printed.k),
        gamma=gamma_count(printed.k, len(transactions.universe), printed.m),
        gamma_printed_items=gamma_count(printed.k, printed.items, printed.m),
        lams={str(k): _items(truth, k) for k in panel.k},
        kth_supports={str(k): truth.kth_support(k) for k in panel.k},
        longer={str(k): {str(m): _longer(truth, k, m) for m in LENGTHS} for k in panel.k},
        close={str(k): _close(truth, k, truth.kth_support(k) - CLOSE) for k in panel.k},
        close_share={str(k): _close(truth, k, (1 - CLOSE_SHARE) * truth.kth_support(k)) for k in panel.k},
        proxy=proxy,
    )


def _items(truth: Truth, k: int) -> int:
    return len({item for itemset in truth.itemsets[:k] for item in itemset})


def _longer(truth: Truth, k: int, m: int) -> int:
    return sum(len(itemset) > m for itemset in truth.itemsets[:k])


def _close(truth: Truth, k: int, floor: float) -> int:
    """How many itemsets are less frequent than the k-th, but more frequent than the floor."""
    kth_support = truth.kth_support(k)
    asked = 2 * k
    while True:
        _, supports = truth.store.top_itemsets(asked)
        if len(supports) < asked or supports[-1] <= floor or asked >= MOST_CLOSE:
            return int(np.count_nonzero((supports < kth_support) & (supports > floor)))
        asked = min(2 * asked, MOST_CLOSE)


def load_facts(path: Path) -> dict[str, Facts]:
    """What was noted in an earlier run; nothing if it cannot be read."""
    try:
        content: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return {name: Facts(**values) for name, values in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def save_facts(path: Path, facts: Mapping[str, Facts]) -> None:
    """Note facts for a later run."""
    content = {name: asdict(found) for name, found in facts.items()}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
