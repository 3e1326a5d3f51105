"""Made-up baskets whose itemsets have the supports of a release.

A release is public, so that baskets made of it are public too, and they cost nothing. Many baskets are drawn in which
every released itemset occurs: items fall in independently, and here and there a whole itemset does. Then they are
weighed so that each released itemset has its released support, in turns until all fit (iterative proportional
fitting), and baskets are drawn by these weights. Itemsets that were not released, but became frequent, are held below
the last released support likewise.

That is one end of what a release leaves open. Where three items are released in pairs, and the three together are not,
they may be rare, or they may not have been counted. At the other end they occur as often as their rarest pair.
"""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.errors import InputError
from privmine.model import FloatArray, IntArray, Universe
from privmine.release import Release
from privmine.store.memory import MemoryStore
from privmine.store.transactions import Transactions

#: How many baskets are drawn and weighed, and how many are made of them.
_POOL = 40_000
_SEED = 2012
#: A count that is not so many standard errors above 0 may well be noise.
_TOLD = 2.0
#: Where a total is below a count by more standard errors than this, it is no total.
_NOISE = 4.0
_SWEEPS = 30
_ROUNDS = 3
#: When all shares are as near as this to what they should be, the weights fit.
_CLOSE = 0.01
#: A weight changes by at most this factor in one step, since released supports need not fit together.
_STEP = 4.0
#: Items in fewer baskets are drawn together.
_RARE = 0.002
_DEFAULT_ITEMS = 1000
#: How fast supports fall beyond the last released item, where a release has too few items to tell.
_FALL = 1.0
#: A share of what was not released is taken to be just below what was.
_BELOW = 0.95
#: The longest itemsets that pairs imply, and how many as a multiple of the released ones.
_LONGEST_IMPLIED = 5
_MOST_IMPLIED = 4


@frozen(eq=False)
class Resembling:
    """Baskets, and how many itemsets of the release they were made from."""

    baskets: Transactions
    used: int


@frozen(eq=False)
class _Targets:
    """Itemsets of positions, and the share of baskets that each should have."""

    itemsets: list[tuple[int, ...]]
    shares: FloatArray


def may_lack_longer(release: Release) -> bool:
    """Whether itemsets may not have been counted though all their pairs are listed.

    Bases hold whole groups of items whose pairs are frequent, and estimates are made of all itemsets.
    """
    return release.joint != "bases" and not (release.selection is not None and release.selection.by_estimates)


def baskets_like(
    release: Release, items: int | None = None, transactions: int | None = None, *, together: bool = False
) -> Resembling:
    """Make baskets of a release.

    Args:
        release: the release.
        items: how many items there are to choose from; None where that is not known.
        transactions: about how many transactions it was made of, used only where the release does not tell it.
        together: whether items of which all pairs are released occur together as often as their rarest pair does;
            else as often as the pairs make likely, and no more often than the last released itemset.

    Raises:
        InputError: the release has no count that is clearly above 0, or no number of transactions.
    """
    kept = [found for found in release if found.centre > _TOLD * found.standard_error and found.items]
    largest = max((found.count for found in kept), default=0.0)
    if not kept:
        raise InputError(
            "No count of that release is clearly above 0, so nothing can be learnt from it. Take a release with a "
            "larger ε or fewer itemsets, or a public dataset."
        )
    noise = _NOISE * (release.total_error + max(found.standard_error for found in kept))
    total = max(release.total, largest)
    if release.total < largest - noise:
        if transactions is None or transactions < largest - noise:
            raise InputError(
                "That release does not tell how many transactions there were: its noisy number of transactions is "
                "below its largest count. Pass transactions=, about how many there were."
            )
        total = max(float(transactions), largest)
    position: dict[object, int] = {}
    itemsets = [tuple(sorted(position.setdefault(item, len(position)) for item in found.items)) for found in kept]
    shares = np.clip(np.array([found.count for found in kept]) / total, 1e-9, 0.999)
    targets = _Targets(itemsets, shares)
    universe = max(items or max(_DEFAULT_ITEMS, 2 * len(position)), len(position))
    cutoff = float(shares.min())
    targets = _with_implied(targets) if together else targets
    random = np.random.RandomState(_SEED)
    popularity = _popularity(targets, len(position), universe, cutoff)
    pool = _Pool.drawn(targets, popularity, random)
    pool.fit(targets)
    for _ in range(0 if together else _ROUNDS):
        made = pool.baskets(universe)
        capped = _unreleased(made, targets, len(kept), cutoff)
        if not capped.itemsets:
            break
        targets = _Targets(targets.itemsets + capped.itemsets, np.concatenate([targets.shares, capped.shares]))
        pool.fit(targets)
    return Resembling(pool.baskets(universe), len(kept))


def _with_implied(targets: _Targets) -> _Targets:
    """The same with the itemsets of which all pairs are there, each with the share of its rarest part."""
    share: dict[tuple[int, ...], float] = dict(zip(targets.itemsets, targets.shares.tolist(), strict=True))
    longest: list[tuple[int, ...]] = [itemset for itemset in share if len(itemset) == 2]
    most = len(share) * (1 + _MOST_IMPLIED)
    for size in range(3, _LONGEST_IMPLIED + 1):
        longer: dict[tuple[int, ...], float] = {}
        for itemset in longest:
            for item in {other[-1] for other in longest if other[:-1] == itemset[:-1] and other[-1] > itemset[-1]}:
                parts = combinations((*itemset, item), size - 1)
                longer[(*itemset, item)] = min(share.get(part, 0.0) for part in parts)
        found = sorted((itemset for itemset in longer if longer[itemset] > 0), key=lambda itemset: -longer[itemset])
        longest = found[: max(most - len(share), 0)]
        share |= {itemset: longer[itemset] for itemset in longest if itemset not in share}
    return _Targets(list(share), np.array(list(share.values())))


def _popularity(targets: _Targets, known: int, universe: int, cutoff: float) -> FloatArray:
    """The share of baskets that each item is in: as released, at least that of its itemsets, then falling on."""
    shares = np.zeros(universe)
    for itemset, share in zip(targets.itemsets, targets.shares.tolist(), strict=True):
        for item in itemset:
            shares[item] = max(shares[item], share)
    alone = np.sort([share for found, share in zip(targets.itemsets, targets.shares, strict=True) if len(found) == 1])
    alone = alone[::-1]
    fall = _FALL
    if len(alone) >= 8:
        # From the middle on: the first few items of a shop are a law of their own.
        first, last = len(alone) // 2, len(alone) - 1
        fall = min(max(log(alone[first] / alone[last]) / log((last + 1) / (first + 1)), 0.3), 3.0)
    ranks = np.arange(known + 1, universe + 1)
    start = min(cutoff, float(alone[-1]) if len(alone) else cutoff) * _BELOW
    shares[known:] = start * (ranks / max(known, 1)) ** -fall
    return shares


class _Pool:
    """Baskets with weights."""

    def __init__(self, offsets: IntArray, items: NDArray[np.int32], universe: int) -> None:
        self._store = MemoryStore.from_rows(offsets, items, universe)
        self._weights = np.full(self._store.count(), 1.0 / self._store.count())
        self._holding: dict[tuple[int, ...], IntArray] = {}
        self._has: dict[int, NDArray[np.bool_]] = {}

    @classmethod
    def drawn(cls, targets: _Targets, popularity: FloatArray, random: np.random.RandomState) -> _Pool:
        """Draw baskets: items by their popularity, and into half of the baskets one of the itemsets."""
        rows, items = [], []
        planted = [itemset for itemset in targets.itemsets if len(itemset) > 1]
        expected = np.array([np.prod(popularity[list(itemset)]) for itemset in planted])
        shares = np.array(
            [share for found, share in zip(targets.itemsets, targets.shares, strict=True) if len(found) > 1]
        )
        excess = np.maximum(shares - expected, 0.0)
        # As often as the itemsets are short of, but not into more than half of the baskets.
        chance = min(float(excess.sum()), 0.5)
        if chance > 0:
            chosen = np.flatnonzero(random.random_sample(_POOL) < chance)
            which = np.searchsorted(np.cumsum(excess), random.random_sample(len(chosen)) * excess.sum(), side="right")
            for row, number in zip(chosen.tolist(), np.minimum(which, len(planted) - 1).tolist(), strict=True):
                rows.append(np.full(len(planted[number]), row))
                items.append(np.array(planted[number]))
        frequent = np.flatnonzero(popularity > _RARE)
        for item in frequent.tolist():
            holding = np.flatnonzero(random.random_sample(_POOL) < popularity[item])
            rows.append(holding)
            items.append(np.full(len(holding), item))
        # Of a rare item hardly any basket is drawn twice, and those that are count once.
        rare = np.where(popularity > _RARE, 0.0, popularity)
        often = random.poisson(_POOL * rare)
        rows.append(random.randint(0, _POOL, often.sum()))
        items.append(np.repeat(np.arange(len(rare)), often))
        universe = len(popularity)
        keys = np.unique(np.concatenate(rows).astype(np.int64) * universe + np.concatenate(items))
        offsets = np.searchsorted(keys, np.arange(_POOL + 1) * universe)
        return cls(offsets.astype(np.int64), (keys % universe).astype(np.int32), universe)

    def fit(self, targets: _Targets) -> None:
        """Weigh the baskets so that the itemsets have their shares, as far as these fit together."""
        holding = [self._rows_with(itemset) for itemset in targets.itemsets]
        weights = self._weights
        for _ in range(_SWEEPS):
            total = float(weights.sum())
            worst = 0.0
            for rows, share in zip(holding, targets.shares.tolist(), strict=True):
                held = float(weights[rows].sum())
                now = held / total
                if not 0 < now < 1:
                    continue
                worst = max(worst, abs(now / share - 1))
                factor = min(max(share * (1 - now) / (now * (1 - share)), 1 / _STEP), _STEP)
                weights[rows] *= factor
                total += held * (factor - 1)
            weights /= weights.sum()
            if worst < _CLOSE:
                break

    def baskets(self, universe: int) -> Transactions:
        """As many baskets as there are, taken in proportion to their weights at equal distances."""
        ends = np.cumsum(self._weights)
        taken = np.searchsorted(ends, (np.arange(_POOL) + 0.5) / _POOL * ends[-1], side="left")
        rows = self._store.rows
        taken = np.minimum(taken, rows.count - 1)
        lengths = rows.lengths[taken]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(rows.offsets[taken] - offsets[:-1], lengths) + np.arange(offsets[-1])
        store = MemoryStore.from_rows(offsets, rows.items[places], universe, strictly_increasing=True)
        return Transactions(Universe.of(np.arange(universe)), store)

    def _rows_with(self, itemset: tuple[int, ...]) -> IntArray:
        if itemset not in self._holding:
            held = np.ones(self._store.count(), dtype=np.bool_)
            for item in itemset:
                held &= self._flags(item)
            self._holding[itemset] = np.flatnonzero(held)
        return self._holding[itemset]

    def _flags(self, item: int) -> NDArray[np.bool_]:
        if item not in self._has:
            rows = self._store.rows
            places = np.flatnonzero(rows.items == item)
            self._has[item] = np.zeros(rows.count, dtype=np.bool_)
            self._has[item][np.searchsorted(rows.offsets, places, side="right") - 1] = True
        return self._has[item]


def _unreleased(made: Transactions, targets: _Targets, released: int, cutoff: float) -> _Targets:
    """Itemsets that are more frequent than the last released one, though they were not released."""
    known = set(targets.itemsets)
    found, supports = made.store.top_itemsets(2 * released)
    count = made.store.count()
    above = [
        tuple(itemset)
        for itemset, support in zip(found, supports.tolist(), strict=True)
        if support > cutoff * count and tuple(itemset) not in known
    ]
    return _Targets(above, np.full(len(above), cutoff * _BELOW))
