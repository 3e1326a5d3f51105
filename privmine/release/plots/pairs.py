"""The items of a release and its pairs: what a graph and a matrix show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from privmine.model import FloatArray
from privmine.release.verdict import told_from_zero

if TYPE_CHECKING:
    from privmine.release.release import Release


@frozen
class Pairs:
    """The most frequent items of a release and the pairs of them that were released.

    Attributes:
        items: their labels, most frequent first.
        singles: their supports; NaN where only a pair of them was released.
        pairs: the supports of pairs, by positions in `items`.
        unclear: the pairs whose counts are not clearly above 0; an item with itself is the item.
    """

    items: tuple[Any, ...]
    singles: FloatArray
    pairs: dict[tuple[int, int], float]
    unclear: frozenset[tuple[int, int]]


def pairs_of(release: Release, top: int) -> tuple[Pairs, int]:
    """The `top` items, and how many there are in all."""
    single = {found.items[0]: found.support for found in release if len(found.items) == 1}
    pairs = [found for found in release if len(found.items) == 2]
    rank = dict(single)
    for found in pairs:
        for item in found.items:
            # An item is at least as frequent as a pair with it.
            rank[item] = max(rank.get(item, 0.0), single.get(item, found.support))
    items = sorted(rank, key=lambda item: -rank[item])
    place = {item: position for position, item in enumerate(items[:top])}
    measured = {
        (min(ends), max(ends)): found.support
        for found in pairs
        if all(item in place for item in found.items) and (ends := tuple(place[item] for item in found.items))
    }
    singles = np.array([single.get(item, np.nan) for item in place], dtype=float)
    unclear = frozenset(
        (min(ends), max(ends))
        for found, is_clear in zip(release, told_from_zero(release).tolist(), strict=True)
        if not is_clear and len(found.items) <= 2 and all(item in place for item in found.items)
        for ends in [[place[item] for item in found.items]]
    )
    return Pairs(tuple(place), singles, measured, unclear), len(items)
