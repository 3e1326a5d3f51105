"""Which pairs of items could be the frequent ones: made-up answers that a selection might give.

The error of a count depends on the bases, and the bases depend on which pairs occur together often. Nobody
knows that before the data is looked at, so a plan tries patterns that are as different as can be: eight
regular ones, and three kinds of chance several times over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.model import Elements, FloatArray, IntArray

#: Maps positions i < j of pairs to the keys by which a pattern takes them, the smallest first.
Order: TypeAlias = Callable[[IntArray, IntArray], NDArray[Any]]


def _in_groups(size: int) -> Order:
    return lambda i, j: (i // size != j // size).astype(np.int64)


#: Regular patterns. Of two pairs with the same key the one with the more frequent first item comes first.
ORDERS: Mapping[str, Order] = {
    "all among a few items": lambda i, j: j,
    "one item is in nearly all": lambda i, j: i,
    "two items are in nearly all": lambda i, j: j + len(i) * ((i >= 2) | (j < 2)),
    "more popular items are in more": lambda i, j: (i + 1) * (j + 1),
    "a chain": lambda i, j: j - i,
    "almost none share an item": lambda i, j: 2 * (j - i) + i % 2,
    "groups of three": _in_groups(3),
    "groups of four": _in_groups(4),
}
#: Patterns of chance, by the weight with which each pair is drawn.
WEIGHTS: Mapping[str, Callable[[IntArray, IntArray], FloatArray]] = {
    "at random": lambda i, j: np.ones(len(i)),
    "at random, more of popular items": lambda i, j: 1 / ((i + 1) * (j + 1)),
    "at random, more within groups": lambda i, j: np.where(i // 5 == j // 5, 60.0, 1.0),
}
_REPEATS = 6
#: Building bases for more items or pairs takes a second, so that only those patterns are tried, once each, which were
#: the best or the worst ones for some λ and itemset size.
_MANY = 200
EXTREME = frozenset(
    (
        "all among a few items",
        "more popular items are in more",
        "groups of three",
        "groups of four",
        "at random, more of popular items",
    )
)
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
    # In the order of `itertools.combinations`.
    i, j = np.triu_indices(len(items), 1)
    orders = _orders(_REPEATS) if max(count, len(items)) <= _MANY else _extreme_orders()
    if count == len(i):
        orders = islice(orders, 1)  # All pairs were chosen, so that there is nothing to arrange.
    for name, order in orders:
        chosen = _smallest(order(i, j), count)
        pairs = zip(i[chosen].tolist(), j[chosen].tolist(), strict=True)
        yield name, Elements(items, [(items[one], items[other]) for one, other in pairs])


def _smallest(keys: NDArray[Any], count: int) -> IntArray:
    """The positions of the smallest keys in rising order; of equal keys the first ones come first."""
    if count < len(keys):
        largest = np.partition(keys, count - 1)[count - 1]
        below, equal = np.flatnonzero(keys < largest), np.flatnonzero(keys == largest)
        chosen = np.sort(np.concatenate([below, equal[: count - len(below)]]))
    else:
        chosen = np.arange(len(keys))
    return chosen[np.argsort(keys[chosen], kind="stable")]


def _orders(repeats: int) -> Iterator[tuple[str, Order]]:
    yield from ORDERS.items()
    for name, weight in WEIGHTS.items():
        for seed in range(repeats):
            yield name, _drawn(weight, seed)


def _extreme_orders() -> Iterator[tuple[str, Order]]:
    for name, order in ORDERS.items():
        if name in EXTREME:
            yield name, order
    for name, weight in WEIGHTS.items():
        if name in EXTREME:
            yield name, _drawn(weight, 0)


def _drawn(weight: Callable[[IntArray, IntArray], FloatArray], seed: int) -> Order:
    """Drawing without replacement in proportion to weights is taking the smallest −ln(u)/weight."""
    # A generator whose numbers are the same in every version of numpy; a pattern protects nothing.
    return lambda i, j: -np.log1p(-np.random.RandomState([seed]).random_sample(len(i))) / weight(i, j)
