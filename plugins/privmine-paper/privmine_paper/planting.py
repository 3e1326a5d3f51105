"""Planting items with given supports into transactions, some pairs with given supports as well.

Every transaction has an activity, and an item is the likelier in a transaction the more active it is:
that alone makes items occur together more often than by chance, as they do where one person's searches
or clicks are one transaction. What pairs need beyond that is settled as each item is planted, against the
items planted before it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.api import FloatArray, IntArray
from privmine.datasets import StableRandom, exponential_table, total

#: How many activities there are: the most active of so many is 25 times as active as the mean.
_ACTIVITIES = 1 << 14
#: Rounds of fitting; more make little difference, since the sampling that follows has an error of its own.
_ROUNDS = 3
#: Patterns of exact partners are held in the bits of one integer.
MOST_EXACT_PARTNERS = 62


@frozen(eq=False)
class Activity:
    """How likely each transaction is to have an item, relative to the others.

    Attributes:
        values: the activities that occur.
        of_row: the position of each transaction's activity among them.
        counts: how many transactions have each.
    """

    values: FloatArray
    of_row: IntArray
    counts: IntArray
    _by_value: IntArray
    _running: FloatArray

    @classmethod
    def drawn(cls, random: StableRandom, count: int) -> Activity:
        """Draw activities whose moments give pairs 3.4 and triples 22 times the support that chance would.

        They are an exponential variable to the power of 3/2. In the published itemsets of the AOL data these
        factors are about 3.9 and 21 in the median.
        """
        exponential = exponential_table(_ACTIVITIES)
        values = exponential * np.sqrt(exponential)
        of_row = random.below(_ACTIVITIES, count)
        counts = np.bincount(of_row, minlength=_ACTIVITIES)
        return cls(values, of_row, counts, np.argsort(of_row, kind="stable"), np.cumsum(values * counts))

    def __len__(self) -> int:
        return len(self.of_row)

    @property
    def total(self) -> float:
        """The sum over all transactions."""
        return float(self._running[-1])

    def draw_rows(self, random: StableRandom, count: int) -> IntArray:
        """Draw transactions, each with a chance proportional to its activity; one may come several times."""
        point = random.uniform(count) * self.total
        value: IntArray = np.searchsorted(self._running, point, side="right")
        np.minimum(value, len(self.values) - 1, out=value)
        # How far the point reaches into the stretch of its activity says which of its transactions it hits.
        before = self._running[value] - self.values[value] * self.counts[value]
        member = ((point - before) / self.values[value]).astype(np.int64)
        member = np.clip(member, 0, self.counts[value] - 1)
        first = np.cumsum(self.counts) - self.counts
        rows: IntArray = self._by_value[first[value] + member]
        return rows


@frozen(eq=False)
class Partner:
    """An item that was planted before.

    Attributes:
        rows: the transactions that it is in.
        support: how many of them the new item should be in, too.
        is_exact: whether that number must be met exactly; otherwise it is met up to chance.
    """

    rows: IntArray
    support: int
    is_exact: bool


def plant(random: StableRandom, activity: Activity, support: int, partners: Sequence[Partner]) -> IntArray:
    """Choose the transactions of an item: exactly `support` of them, in increasing order.

    Args:
        random: where randomness comes from.
        activity: how likely each transaction is to have an item, relative to the others.
        support: in how many transactions the item is to be.
        partners: items planted before, with which pairs of given support are to arise.
    """
    chances = fitted_chances(activity, support, partners)
    # The smallest u/p are a sample of fixed size with chances close to p (sequential Poisson sampling).
    urgency = random.uniform(len(activity)) / chances
    chosen = np.zeros(len(activity), dtype=np.bool_)
    chosen[np.argpartition(urgency, support - 1)[:support]] = True
    exact = [partner for partner in partners if partner.is_exact][:MOST_EXACT_PARTNERS]
    if exact:
        _make_exact(chosen, urgency, exact)
    return np.flatnonzero(chosen)


def draw_distinct(random: StableRandom, activity: Activity, support: int) -> IntArray:
    """Choose transactions for an item without partners by activity alone, in increasing order.

    Args:
        random: where randomness comes from.
        activity: how likely each transaction is to have an item, relative to the others.
        support: in how many transactions the item is to be.
    """
    rows = np.zeros(0, dtype=np.int64)
    while len(rows) < support:
        # Never more than are missing, so that none has to be dropped again.
        rows = np.concatenate([rows, activity.draw_rows(random, support - len(rows))])
        rows.sort()
        rows = rows[np.append(True, rows[1:] != rows[:-1])]
    return rows


def fitted_chances(activity: Activity, support: int, partners: Sequence[Partner]) -> FloatArray:
    """The chance of each transaction to have the item: the sums over all rows and over partners' rows are met.

    Proportional scaling to one sum after another, over and over, gives the chances closest to where they
    started from that meet all sums.
    """
    rate = support / activity.total
    for _ in range(_ROUNDS):
        by_value = rate * activity.values
        by_value /= 1.0 + by_value
        rate *= support / total(by_value * activity.counts)
    chances = by_value[activity.of_row]
    for _ in range(_ROUNDS):
        for partner in partners:
            inside = chances[partner.rows]
            reached = total(inside)
            if reached > 0:
                inside *= partner.support / reached
                chances[partner.rows] = inside
        chances *= support / total(chances)
        np.minimum(chances, 1.0, out=chances)
    return chances


def _make_exact(chosen: NDArray[np.bool_], urgency: FloatArray, partners: Sequence[Partner]) -> None:
    """Move the item between transactions until each partner's support is met.

    A move is between two transactions that differ in this one partner, and so leaves the supports with
    the other partners as they are. The least urgent leave and the most urgent enter.
    """
    bits = np.zeros(len(chosen), dtype=np.int64)
    for position, partner in enumerate(partners):
        bits[partner.rows] |= 1 << position
    # Most transactions have none of the partners; they need no sorting.
    some = np.flatnonzero(bits)
    known, which = np.unique(np.append(0, bits[some]), return_inverse=True)
    patterns = np.zeros(len(chosen), dtype=np.int64)
    patterns[some] = which[1:]
    for position, partner in enumerate(partners):
        surplus = int(np.count_nonzero(chosen[partner.rows])) - partner.support
        if surplus:
            has_partner = (known >> position) & 1 == 1
            leaves = has_partner == (surplus > 0)
            # The pattern that differs in this partner alone; where no transaction has it, none can move.
            other = np.minimum(np.searchsorted(known, known ^ (1 << position)), len(known) - 1)
            leaves &= known[other] == known ^ (1 << position)
            _move(chosen, urgency, patterns, leaves, other, abs(surplus))


def _move(
    chosen: NDArray[np.bool_],
    urgency: FloatArray,
    patterns: IntArray,
    leaves: NDArray[np.bool_],
    other: IntArray,
    wanted: int,
) -> None:
    """Move occurrences from transactions of patterns that are to be left into such of the other pattern.

    Args:
        chosen: the transactions of the item; changed in place.
        urgency: how much each transaction wants the item, the smallest most.
        patterns: the pattern of each transaction.
        leaves: for each pattern, whether occurrences are to leave it.
        other: for each pattern, the one to move to.
        wanted: how many occurrences to move.
    """
    room = np.bincount(patterns[~chosen], minlength=len(leaves))
    candidates = np.flatnonzero(chosen & leaves[patterns])
    candidates = candidates[np.argsort(-urgency[candidates], kind="stable")]
    held = patterns[candidates]
    # No more may leave a pattern than there is room in the other one.
    order = np.argsort(held, kind="stable")
    starts = np.searchsorted(held[order], np.arange(len(leaves)))
    place = np.empty(len(held), dtype=np.int64)
    place[order] = np.arange(len(held)) - starts[held[order]]
    leaving = candidates[place < room[other[held]]][:wanted]
    sizes = np.bincount(patterns[leaving], minlength=len(leaves))
    for pattern in np.flatnonzero(sizes):
        free = np.flatnonzero(~chosen & (patterns == other[pattern]))
        chosen[free[np.argpartition(urgency[free], sizes[pattern] - 1)[: sizes[pattern]]]] = True
    chosen[leaving] = False
