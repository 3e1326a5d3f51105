"""The exact top-n itemsets of any store, level by level, from nothing but its supports.

For stores that have no miner of their own. A subset precedes its supersets in the order of the
result, so that an itemset which is not among the first n known so far need not be extended, and a
candidate's support is bounded by those of its subsets. Candidates are counted by falling bound,
in batches that grow, since a batch may be a pass over the data. Pairs are counted as tables of all
pairs of the most frequent items, as long as these are not too large: there may be millions of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from math import isqrt

import numpy as np

from privmine.model import IntArray, Itemset, Itemsets
from privmine.store.abstract import Store

_FIRST_BATCH, _LARGEST_BATCH = 1024, 1 << 18
#: The most items whose pairs are counted as a table, which has 8 million numbers then.
_TABLE_ITEMS = 4096


def top_itemsets(store: Store, n: int, max_length: int | None = None) -> tuple[Itemsets, IntArray]:
    """The n itemsets of largest support, by falling support, then length, then item order.

    Itemsets of support 0 are never listed, so there may be fewer than n.
    """
    longest = store.item_count if max_length is None else max_length
    item_supports = store.item_supports()
    items = np.argsort(-item_supports, kind="stable")[: max(n, 0)].tolist()
    found: dict[Itemset, int] = {}
    if longest >= 1:
        found = {(item,): support for item in items if (support := int(item_supports[item])) > 0}
    for length in range(2, longest + 1):
        level = [itemset for itemset in found if len(itemset) == length - 1]
        if length == 2:
            found, done = _with_pairs(store, found, items, item_supports, n)
            candidates: Iterable[tuple[int, Itemset]] = _pairs(items, found, done)
        else:
            candidates = _joined(sorted(level), found)
        found = _with_candidates(store, found, candidates, length, n)
        if not any(len(itemset) == length for itemset in found):
            break
    ranked = sorted(found, key=lambda itemset: _order(itemset, found[itemset]))
    return Itemsets.of(ranked), np.array([found[itemset] for itemset in ranked], dtype=np.int64)


def _order(itemset: Itemset, support: int) -> tuple[int, int, Itemset]:
    return -support, len(itemset), itemset


def _with_pairs(
    store: Store, found: dict[Itemset, int], items: list[int], item_supports: IntArray, n: int
) -> tuple[dict[Itemset, int], int]:
    """The first n of what was found and of all pairs of the most frequent items, and how many of these there are.

    They are twice as many from table to table, until no further item can be in one of the first n pairs.
    """
    if type(store).pair_supports is Store.pair_supports:
        return found, 0  # it would count a list of all pairs
    counts = item_supports[items]
    done, size = 0, max(2, isqrt(2 * max(_FIRST_BATCH, n)))
    while done < (reach := min(_reach(found, counts, n), _TABLE_ITEMS)):
        width = min(reach, size)
        supports = store.pair_supports(items[:width])
        first, second = np.triu_indices(width, 1)
        # Pairs of the items of the table before are known.
        fresh = (second >= done) & (supports > 0)
        if np.count_nonzero(fresh) > n:
            worth = supports[fresh]
            fresh &= supports >= np.partition(worth, len(worth) - n)[len(worth) - n]
        chosen = zip(first[fresh].tolist(), second[fresh].tolist(), supports[fresh].tolist(), strict=True)
        pairs = ((items[one], items[other], support) for one, other, support in chosen)
        found = _first(found | {(min(x, y), max(x, y)): support for x, y, support in pairs}, n)
        done, size = width, 2 * size
    return found, done


def _reach(found: dict[Itemset, int], counts: IntArray, n: int) -> int:
    """How many of the most frequent items may be in a pair that is among the first n."""
    if len(found) < n:
        return int(np.count_nonzero(counts > 0))
    last = max(((-support, len(itemset)) for itemset, support in found.items()), default=(0, 0))
    # With equal bounds a pair may still precede the last itemset by its items.
    return int(np.count_nonzero(counts >= -last[0] if last[1] >= 2 else counts > -last[0]))


def _first(found: dict[Itemset, int], n: int) -> dict[Itemset, int]:
    """The first n of some itemsets."""
    return {itemset: found[itemset] for itemset in sorted(found, key=lambda one: _order(one, found[one]))[:n]}


def _pairs(items: list[int], found: dict[Itemset, int], done: int) -> Iterator[tuple[int, Itemset]]:
    """Pairs with an item past the first ones, with their bounds, made as they are asked for: there may be very many."""
    for position, rarer in enumerate(items):
        if position < done:
            continue
        if (rarer,) not in found:
            return
        bound = found[(rarer,)]
        for other in items[:position]:
            yield bound, (min(rarer, other), max(rarer, other))


def _joined(level: list[Itemset], found: dict[Itemset, int]) -> list[tuple[int, Itemset]]:
    """Candidates one longer than the level's itemsets, all of whose subsets were found, by falling bound."""
    tails: dict[Itemset, list[int]] = {}
    for itemset in level:
        tails.setdefault(itemset[:-1], []).append(itemset[-1])
    candidates = []
    for prefix, lasts in tails.items():
        for pair in combinations(lasts, 2):
            candidate = prefix + pair
            bound = min(found.get(subset, 0) for subset in combinations(candidate, len(candidate) - 1))
            if bound > 0:
                candidates.append((bound, candidate))
    candidates.sort(key=lambda candidate: -candidate[0])
    return candidates


def _with_candidates(
    store: Store, found: dict[Itemset, int], candidates: Iterable[tuple[int, Itemset]], length: int, n: int
) -> dict[Itemset, int]:
    """The first n of what was found and of the candidates, which come by falling bound."""
    remaining = iter(candidates)
    size = _FIRST_BATCH
    while True:
        last = max((_order(itemset, support) for itemset, support in found.items()), default=None)
        batch = []
        for bound, candidate in islice(remaining, size):
            # With equal bounds a candidate may still precede the last itemset by its items.
            if len(found) < n or last is None or (-bound, length) <= last[:2]:
                batch.append(candidate)
        if not batch:
            return found
        counted = store.supports(batch)
        found = found | {
            candidate: support for candidate, support in zip(batch, counted.tolist(), strict=True) if support > 0
        }
        found = _first(found, n)
        size = min(2 * size, _LARGEST_BATCH)
