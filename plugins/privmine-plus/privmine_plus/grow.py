"""Which pairs and longer itemsets are worth a look, from what is believed of shorter ones. No data here."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from privmine.api import Itemset
from privmine_plus.beliefs import Beliefs, guessed, in_public_order

#: Items of pairs reach θ̂ with this probability.
_ITEM_CHANCE = 0.3
#: A pair needs a rarer item of so much of θ̂, give or take its noise, or so much of θ̂ predicted by independence. Few
#: pairs reach θ without a rarer item that is well above it, and every pair that is looked at costs all others noise.
_RARER, _PREDICTED = 1.3, 0.4
#: Longer itemsets grow from pairs that reach θ̂ with this probability, where so much of θ̂ is predicted.
_PAIR_CHANCE, _GROWN = 0.05, 0.35
#: At most so many pairs, longer itemsets, and attempts to join.
MOST_PAIRS, _MOST_LONG, _MOST_WORK = 40_000, 2000, 200_000


def promising_pairs(items: Beliefs) -> list[Itemset]:
    """Pairs of likely items, the most frequent items first, in item order."""
    threshold = items.threshold
    likely = np.flatnonzero(items.chances() >= _ITEM_CHANCE)
    means = items.means()[likely]
    names = np.array([item for (item,) in items.itemsets], dtype=np.int64)[likely]
    first, second = np.triu_indices(len(names), 1)
    rarer = np.minimum(means[first], means[second])
    predicted = means[first] * means[second] / threshold.total
    enough = _RARER * items.likely_multiple * threshold.theta
    worth = (rarer >= enough) | (predicted >= _PREDICTED * threshold.theta)
    first, second, predicted = first[worth], second[worth], predicted[worth]
    if len(first) > MOST_PAIRS:
        best = np.argsort(-predicted, kind="stable")[:MOST_PAIRS]
        first, second = first[best], second[best]
    ends = np.stack([names[first], names[second]], axis=1)
    return sorted(map(tuple, np.sort(ends, axis=1).tolist()))


def grown(found: Beliefs, k: int, longest: int | None) -> dict[Itemset, float]:
    """Itemsets of three and more items that likely pairs suggest, each with a guess at its count."""
    theta = found.threshold.theta
    chances, means = found.chances(), found.means()
    lengths = np.array([len(itemset) for itemset in found.itemsets])
    order = in_public_order(found.itemsets, chances)
    order = order[(lengths[order] == 2) & (chances[order] >= _PAIR_CHANCE)][: max(200, 2 * k)]
    level = [found.itemsets[place] for place in order.tolist()]
    known = np.concatenate([np.flatnonzero(lengths != 2), order])
    predicted = {found.itemsets[place]: float(means[place]) for place in known.tolist()}
    sizes: dict[Itemset, float] = {}
    work = 0
    while level and len(sizes) < _MOST_LONG and work < _MOST_WORK and (longest is None or len(level[0]) < longest):
        by_start: dict[Itemset, list[int]] = {}
        for itemset in sorted(level):
            by_start.setdefault(itemset[:-1], []).append(itemset[-1])
        candidates = []
        for start, ends in by_start.items():
            for one, other in combinations(ends, 2):
                work += 1
                itemset = (*start, one, other)
                if itemset[1:] not in predicted:
                    continue
                size = predicted[itemset] if itemset in predicted else _predicted(itemset, predicted)
                if size >= _GROWN * theta:
                    candidates.append((-size, itemset))
        kept = sorted(candidates)[: _MOST_LONG - len(sizes)]
        sizes |= {itemset: -size for size, itemset in kept}
        predicted |= sizes
        level = [itemset for _, itemset in kept]
    return sizes


def with_grown(found: Beliefs, k: int, longest: int | None) -> Beliefs:
    """What is believed together with the longer itemsets that it suggests and nobody has looked at."""
    known = set(found.itemsets)
    guesses = {itemset: size for itemset, size in grown(found, k, longest).items() if itemset not in known}
    if not guesses:
        return found
    sizes = np.array(list(guesses.values()))
    return found.joined(guessed(found, list(guesses), sizes))


def _predicted(itemset: Itemset, predicted: dict[Itemset, float]) -> float:
    """A guess at a count: two subsets are independent given what they share; 0 where a subset is unlikely."""
    places = range(len(itemset))
    smaller = [predicted.get(itemset[:place] + itemset[place + 1 :]) for place in places]
    sizes = [size for size in smaller if size is not None]
    if len(sizes) < len(smaller):
        return 0.0
    best = 0.0
    for one, other in combinations(places, 2):
        shared = tuple(itemset[place] for place in places if place not in (one, other))
        given = predicted.get(shared, 0.0)
        best = max(best, sizes[one] * sizes[other] / max(given, sizes[one], sizes[other], 1.0))
    return min(best, *sizes)
