"""A number for every itemset of bounded length, so that one can be drawn from sets too large to list.

Itemsets are numbered by length, and within a length as `itertools.combinations` lists them. Numbers
are Python integers of any size.
"""

from __future__ import annotations

from bisect import bisect_right
from math import comb

from privmine.model import Itemset


def itemset_count(item_count: int, max_length: int) -> int:
    """How many nonempty itemsets of at most this length there are."""
    return sum(comb(item_count, length) for length in range(1, min(item_count, max_length) + 1))


def itemset_at(number: int, item_count: int) -> Itemset:
    """The itemset that has this number."""
    length = 1
    while number >= (size := comb(item_count, length)):
        number -= size
        length += 1
    # Counted from the last one of its length, and with items counted from the last one, an itemset's
    # number is C(x₁, length) + C(x₂, length − 1) + … with x₁ > x₂ > …: each x is the largest that fits.
    rest = size - 1 - number
    members = []
    above = item_count
    for size_left in range(length, 0, -1):
        above = _largest_that_fits(rest, size_left, above)
        rest -= comb(above, size_left)
        members.append(item_count - 1 - above)
    return tuple(members)


def _largest_that_fits(number: int, size: int, below: int) -> int:
    """The largest x < below with C(x, size) ≤ number."""
    return bisect_right(range(below), number, key=lambda x: comb(x, size)) - 1


def number_of(items: Itemset, item_count: int) -> int:
    """The number that this itemset has; the inverse of `itemset_at`."""
    length = len(items)
    shorter = itemset_count(item_count, length - 1)
    from_the_last = sum(comb(item_count - 1 - item, length - place) for place, item in enumerate(items))
    return shorter + comb(item_count, length) - 1 - from_the_last
