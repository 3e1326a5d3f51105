"""Which pairs of items could be the frequent ones: made-up answers that a selection might give.

The error of a count depends on the bases, and the bases depend on which pairs occur together often. Nobody
knows that before the data is looked at, so a plan tries patterns that are as different as can be: eight
regular ones, and three kinds of chance several times over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from itertools import combinations
from math import log
from random import Random
from typing import Any, TypeAlias

from privmine.model import Elements, Itemset

Order: TypeAlias = Callable[[Itemset], Any]


def _in_groups(size: int) -> Order:
    return lambda pair: (pair[0] // size != pair[1] // size, pair)


#: Regular patterns, each by the order in which it takes the pairs of positions i < j, the most frequent first.
ORDERS: Mapping[str, Order] = {
    "all among a few items": lambda pair: (pair[1], pair[0]),
    "one item is in nearly all": lambda pair: pair,
    "two items are in nearly all": lambda pair: (pair[0] >= 2 or pair[1] < 2, pair[1], pair[0]),
    "more popular items are in more": lambda pair: ((pair[0] + 1) * (pair[1] + 1), pair),
    "a chain": lambda pair: (pair[1] - pair[0], pair),
    "hardly any share an item": lambda pair: (pair[1] - pair[0], pair[0] % 2, pair),
    "groups of three": _in_groups(3),
    "groups of four": _in_groups(4),
}
#: Patterns of chance, by the weight with which each pair is drawn.
WEIGHTS: Mapping[str, Callable[[Itemset], float]] = {
    "at random": lambda _: 1.0,
    "at random, more of popular items": lambda pair: 1 / ((pair[0] + 1) * (pair[1] + 1)),
    "at random, more within groups": lambda pair: 60.0 if pair[0] // 5 == pair[1] // 5 else 1.0,
}
_REPEATS = 6
#: Building bases for so many items or pairs takes seconds, so that each kind of chance is tried once.
_MANY = 200
#: What a pattern is called where there are no pairs to arrange.
NO_PATTERN = ""
#: What it is called where the user gave the bases.
AS_GIVEN = "as given"


def arrangements(elements: Elements) -> Iterator[tuple[str, Elements]]:
    """The elements with their pairs arranged by each pattern, or as they are if they hold no pairs alone."""
    if not elements.itemsets or any(len(found) != 2 for found in elements.itemsets):
        yield NO_PATTERN, elements
        return
    items, count = elements.items, len(elements.itemsets)
    pairs = list(combinations(range(len(items)), 2))
    for name, order in _orders(1 if max(count, len(items)) > _MANY else _REPEATS):
        chosen = nsmallest(count, pairs, key=order)
        yield name, Elements(items, [(items[one], items[other]) for one, other in chosen])


def _orders(repeats: int) -> Iterator[tuple[str, Order]]:
    yield from ORDERS.items()
    for name, weight in WEIGHTS.items():
        for seed in range(repeats):
            yield name, _drawn(weight, Random(seed))  # noqa: S311 - a pattern, which protects nothing


def _drawn(weight: Callable[[Itemset], float], random: Random) -> Order:
    """Drawing without replacement in proportion to weights is taking the smallest −ln(u)/weight."""
    return lambda pair: -log(1 - random.random()) / weight(pair)
