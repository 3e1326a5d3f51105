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

from privmine.datasets.words import Words, total
from privmine.model import FloatArray, IntArray

#: Rounds of fitting; more make little difference, since the sampling that follows has an error of its own.
_ROUNDS = 4
#: How often moves are tried to make a pair exact: a second time is needed where transactions ran out.
_TRIES = 4
#: Patterns of exact partners are held in the bits of one integer.
MOST_EXACT_PARTNERS = 62


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


def plant(words: Words, activity: FloatArray, support: int, partners: Sequence[Partner]) -> IntArray:
    """Choose the transactions of an item: exactly `support` of them, in increasing order.

    Args:
        words: where randomness comes from.
        activity: how likely each transaction is to have an item, relative to the others.
        support: in how many transactions the item is to be.
        partners: items planted before, with which pairs of given support are to arise.
    """
    chances = fitted_chances(activity, support, partners)
    # The smallest u/p are a sample of fixed size with chances close to p (sequential Poisson sampling).
    with np.errstate(divide="ignore"):
        urgency = words.uniform(len(activity)) / chances
    chosen = np.zeros(len(activity), dtype=np.bool_)
    chosen[np.argpartition(urgency, support - 1)[:support]] = True
    _make_exact(chosen, urgency, [partner for partner in partners if partner.is_exact][:MOST_EXACT_PARTNERS])
    return np.flatnonzero(chosen)


def draw_distinct(words: Words, running: FloatArray, support: int) -> IntArray:
    """Choose transactions for an item without partners by activity alone, in increasing order.

    Args:
        words: where randomness comes from.
        running: the running sums of the activity.
        support: in how many transactions the item is to be.
    """
    drawn = np.zeros(0, dtype=np.int64)
    while True:
        drawn = np.concatenate([drawn, words.by_weight(running, support - support // 2)])
        rows, first = np.unique(drawn, return_index=True)
        if len(rows) >= support:
            # The earliest drawn are kept, so that a chance does not depend on the order of the rows.
            return np.sort(rows[np.argsort(first)[:support]])


def fitted_chances(activity: FloatArray, support: int, partners: Sequence[Partner]) -> FloatArray:
    """The chance of each transaction to have the item: the sums over all rows and over partners' rows are met.

    Proportional scaling to one sum after another, over and over, gives the chances closest to where they
    started from that meet all sums.
    """
    rate = support / total(activity)
    for _ in range(_ROUNDS):
        scaled = rate * activity
        chances = scaled / (1.0 + scaled)
        rate *= support / total(chances)
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
    patterns = np.zeros(len(chosen), dtype=np.int64)
    for position, partner in enumerate(partners):
        patterns[partner.rows] |= 1 << position
    for position, partner in enumerate(partners):
        for _ in range(_TRIES):
            surplus = int(np.count_nonzero(chosen[partner.rows])) - partner.support
            if surplus == 0:
                break
            _move(chosen, urgency, patterns, 1 << position, surplus)


def _move(chosen: NDArray[np.bool_], urgency: FloatArray, patterns: IntArray, bit: int, surplus: int) -> None:
    """Move up to |surplus| occurrences out of the transactions with a partner, or into them if it is negative."""
    has_partner = (patterns & bit) != 0
    candidates = np.flatnonzero(chosen & (has_partner == (surplus > 0)))
    leaving = candidates[np.argsort(-urgency[candidates], kind="stable")[: abs(surplus)]]
    free = np.flatnonzero(~chosen & (has_partner == (surplus < 0)))
    free_patterns = patterns[free]
    for pattern, size in zip(*np.unique(patterns[leaving], return_counts=True), strict=True):
        entering = free[free_patterns == pattern ^ bit]
        entering = entering[np.argsort(urgency[entering], kind="stable")[:size]]
        chosen[leaving[patterns[leaving] == pattern][: len(entering)]] = False
        chosen[entering] = True
