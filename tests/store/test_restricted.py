"""A store with some items of another one, against the store in memory."""

from __future__ import annotations

import numpy as np
import pytest

from privmine.store.abstract import Store
from privmine.store.memory import MemoryStore
from privmine.store.restricted import RestrictedStore
from privmine.testing import check_store

#: Where the items of a database stand among others that are not wanted.
SPREAD, FIRST = 3, 2


def crowded(baskets: tuple[tuple[int, ...], ...], items: int) -> tuple[MemoryStore, list[int]]:
    """The database among other items, in the opposite order, and where its items are."""
    places = [FIRST + SPREAD * (items - 1 - item) for item in range(items)]
    rows = [[*(places[item] for item in basket), 0, *([1] if len(basket) % 2 else [])] for basket in baskets]
    offsets = np.cumsum([0, *map(len, rows)])
    return MemoryStore.from_rows(offsets, [item for row in rows for item in row], SPREAD * items + FIRST), places


def wrapped(baskets: tuple[tuple[int, ...], ...], items: int) -> Store:
    """What any store gives by default."""
    return RestrictedStore(*crowded(baskets, items))


def copied(baskets: tuple[tuple[int, ...], ...], items: int) -> Store:
    """What the store in memory gives."""
    store, places = crowded(baskets, items)
    return store.restricted(places)


@pytest.mark.parametrize("make", [wrapped, copied])
def test_it_counts_as_if_there_were_no_other_items(make) -> None:
    """Every question of the kit, in another order of items."""
    check_store(make)
