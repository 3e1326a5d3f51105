"""A store in parts keeps of each unit what the store in memory keeps."""

from __future__ import annotations

import random

import numpy as np
import pytest

from privmine.api import MemoryStore, Rows, Transactions, Unit, label_salts, limit_units, unit_of

LABELS = ["tea", "milk", "jam", "5", "salt"]
BASKETS = [random.Random(seed).sample(range(5), seed % 5) for seed in range(80)]  # noqa: S311 - made-up data
OWNERS = [random.Random(seed).choice(["ann", " 7", "7.0", "7", "bob", "eve"]) for seed in range(80)]  # noqa: S311 - made-up data


def rows_of(store: MemoryStore) -> list[list[int]]:
    """The transactions, in an order of their own."""
    return sorted(part.tolist() for part in np.split(store.rows.items, store.rows.offsets[1:-1]))


def part(number: int, of: int, unit: Unit) -> MemoryStore:
    """The part of all units whose number is this one."""
    units = [unit_of(owner) for owner in OWNERS]
    known = sorted(set(units))[number::of]
    mine = [place for place, owner in enumerate(units) if owner in known]
    offsets = np.cumsum([0, *(len(BASKETS[place]) for place in mine)])
    items = np.array([item for place in mine for item in BASKETS[place]], dtype=np.int32)
    rows = Rows.of(offsets, items).as_sets()
    owners = np.array([known.index(units[place]) for place in mine])
    return MemoryStore(limit_units(rows, owners, known, label_salts(LABELS), unit), len(LABELS))


@pytest.mark.parametrize("unit", [Unit("who", 1), Unit("who", 3), Unit("who", merged=True)], ids=str)
def test_parts_keep_what_the_whole_keeps(unit) -> None:
    """The same baskets of every unit, chosen by the same rule, however units are divided."""
    offsets = np.cumsum([0, *map(len, BASKETS)])
    codes = np.array([item for basket in BASKETS for item in basket])
    whole = Transactions.from_codes(
        offsets, codes, LABELS, LABELS, unit_of_row=np.arange(80), unit_labels=OWNERS, unit=unit
    ).store
    parts = [part(number, 3, unit) for number in range(3)]
    assert sorted(row for store in parts for row in rows_of(store)) == rows_of(whole)
    assert sum(store.count() for store in parts) == whole.count() <= 4 * unit.baskets
    assert sum(store.item_supports() for store in parts).tolist() == whole.item_supports().tolist()
