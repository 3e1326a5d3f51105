"""Five small datasets of different kinds, each with whose a basket is, and how releases are compared."""

from __future__ import annotations

import random

import privmine as pm

METHODS = ("privbasis", "plus", "tf", "tf-monotone", "tf-noisy")
K = 8


def _made(seed, baskets, items, length, label=int):
    generator = random.Random(seed)  # noqa: S311 - made-up data
    made = []
    for number in range(baskets):
        size = min(items, 1 + int(generator.expovariate(1 / length)))
        drawn = [min(items - 1, int(generator.expovariate(4 / items))) for _ in range(size)]
        made.append((number % (baskets // 3 + 1), [label(item) for item in drawn]))
    return made


#: Few and frequent items, many and rare ones, dense rows, few items in many rows, labels that are texts.
DATASETS = {
    "shop": _made(1, 300, 40, 4),
    "clicks": _made(2, 400, 300, 3),
    "dense": _made(3, 150, 16, 9),
    "pages": _made(4, 600, 8, 2),
    "labels": _made(5, 250, 60, 4, lambda item: f"ware {item}"),
}


def in_memory(name, unit):
    """The same data in the store in memory."""
    rows = DATASETS[name]
    how = {"unit": [str(who) for who, _ in rows], "max_baskets": 2} if unit else {}
    return pm.read([basket for _, basket in rows], **how)


def same_release(data, name, method, unit):
    """A release with a seed has every number of that of the store in memory."""
    how = {"k": K, "epsilon": 2, "method": method, "simulate": True, "seed": 7}
    expected, found = pm.mine(in_memory(name, unit), **how), pm.mine(data, **how)
    assert list(found) == list(expected)
    assert found.receipt.charges == expected.receipt.charges
