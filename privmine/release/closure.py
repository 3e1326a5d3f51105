"""Releases in which every subset of a released itemset is released as well.

True supports are such that a subset is never rarer than the whole; noisy ones are not, so that the k largest may
lack a subset. Both functions here look at noisy counts only: they cost no budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from privmine.model import Itemset, NoisyCounts

Named = TypeVar("Named")

#: For the receipt of a release that was made so.
CLOSED = "itemsets were chosen so that every subset of a released one is released as well"

#: The first guess at how many of the largest counts decide, as a multiple of k.
_MARGIN = 4


def closed_top(counts: NoisyCounts, k: int, max_length: int | None = None) -> tuple[list[int], float | None]:
    """Positions of k itemsets without a missing subset, largest counts first; and the count of the next one.

    An itemset counts for as much as the rarest of its subsets, itself included: then no subset ranks below
    the whole, and with ties going to the shorter the first k have all their subsets among them. An itemset
    of which a subset is not among the candidates is left out, so that there may be fewer than k.
    """
    lengths = counts.itemsets.lengths
    eligible = lengths > 0
    if max_length is not None:
        eligible &= lengths <= max_length
    positions = np.flatnonzero(eligible)
    tried = min(_MARGIN * k, len(positions))
    while True:
        ranked = _ranked(counts, _largest(counts, positions, tried))
        # What was left out has smaller counts than all that was tried, so that it ranks below what was found.
        if len(ranked) > k or tried == len(positions):
            break
        tried = min(_MARGIN * tried, len(positions))
    chosen = [row for row, _ in ranked[:k]]
    rows = sorted(chosen, key=lambda row: (-counts.shown[row], lengths[row], counts.itemsets[row]))
    return rows, ranked[k][1] if len(ranked) > k else None


def _largest(counts: NoisyCounts, positions: Any, number: int) -> list[int]:
    """So many positions with the largest counts, and all that tie with the last of them."""
    if number < len(positions):
        values = counts.shown[positions]
        positions = positions[values >= np.partition(values, len(values) - number)[len(values) - number]]
    return [int(position) for position in positions]


def _ranked(counts: NoisyCounts, rows: list[int]) -> list[tuple[int, float]]:
    """The rows whose subsets are all present, each with the smallest count of its subsets, ranked by that."""
    named = sorted(((counts.itemsets[row], row) for row in rows), key=lambda pair: len(pair[0]))
    worth: dict[Itemset, float] = {}
    kept = []
    for items, row in named:
        parts = _parts(items)
        if all(part in worth for part in parts):
            worth[items] = min([float(counts.shown[row]), *(worth[part] for part in parts)])
            kept.append((items, row))
    kept.sort(key=lambda pair: (-worth[pair[0]], len(pair[0]), pair[0]))
    return [(row, worth[items]) for items, row in kept]


def _parts(items: Sequence[Named]) -> Iterable[tuple[Named, ...]]:
    """The subsets with one item less; a single item has none."""
    return list(combinations(items, len(items) - 1)) if len(items) > 1 else []


def without_gaps(itemsets: Sequence[tuple[Any, ...]]) -> list[int]:
    """Positions of the itemsets of which no subset is missing."""
    order = sorted(range(len(itemsets)), key=lambda position: len(itemsets[position]))
    whole: set[frozenset[Any]] = set()
    for position in order:
        if all(frozenset(part) in whole for part in _parts(itemsets[position])):
            whole.add(frozenset(itemsets[position]))
    return [position for position, items in enumerate(itemsets) if frozenset(items) in whole]
