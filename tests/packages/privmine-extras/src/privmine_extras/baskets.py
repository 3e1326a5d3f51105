"""A dataset and a metric."""

from __future__ import annotations

from privmine.api import ReleaseAndTruth


def corner_shop() -> list[list[str]]:
    """The same baskets every time."""
    return [["bread", "milk"], ["bread", "tea"], ["milk"]] * 100


def longest(found: ReleaseAndTruth) -> float | None:
    """How many items the longest released itemset has."""
    return max((len(itemset) for itemset in found.released), default=None)
