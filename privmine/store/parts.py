"""Limiting what units have: of all transactions, or of a part of them, such as one on a cluster.

A part that has all rows of its units keeps the same baskets of them as the store in memory does, which has
all parts. `MemoryStore` counts a part, and the answers of parts add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from privmine.model import IntArray
from privmine.privacy.unit import Unit
from privmine.store.rows import Rows
from privmine.store.shelf import Shelf
from privmine.store.units import Salts, bounded, merged, salts


def label_salts(labels: Iterable[Any]) -> Salts:
    """A 64-bit hash of what each label reads as, for `limit_units`: 12 and "12" have the same."""
    return salts(labels)


def limit_units(
    rows: Rows,
    unit_of_row: IntArray,
    unit_labels: Iterable[Any],
    item_salts: Salts,
    unit: Unit,
    shelf: Shelf | None = None,
) -> Rows:
    """Merge the rows of each unit into one, or keep at most `unit.baskets` of them.

    Privacy: which rows a unit keeps depends on its own rows and on public labels, so that a part must have
    all rows of each of its units. A unit in two parts would keep twice as much as the noise allows for.

    Args:
        rows: the transactions as sets; see `Rows.as_sets`.
        unit_of_row: a position in `unit_labels` for each row.
        unit_labels: how each unit reads, by `unit_of`; each once.
        item_salts: the salts of the labels of all items of the universe.
        unit: who is protected.
        shelf: makes the arrays; without it they are in memory.
    """
    if unit.merged:
        return merged(rows, unit_of_row, shelf)
    return bounded(rows, unit_of_row, salts(unit_labels), item_salts, unit.baskets, shelf)
