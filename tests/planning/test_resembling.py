"""Baskets that are made up of a release."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

import privmine as pm
from privmine.datasets import quest
from privmine.errors import InputError
from privmine.planning.resembling import baskets_like, may_lack_longer


@pytest.fixture(scope="module")
def baskets() -> pm.Transactions:
    return quest(4000, items=60, mean_length=6, patterns=15, seed=3)


@pytest.fixture(scope="module")
def release(baskets: pm.Transactions) -> pm.Release:
    return pm.mine(baskets, 60, 1000, simulate=True, seed=1)


def test_released_itemsets_have_their_supports(baskets, release) -> None:
    """The exact ones here, since hardly any noise was added; no itemset that was not released is as frequent."""
    made = baskets_like(release, items=60)
    assert made.used == len(release)
    count = made.baskets.store.count()
    position: dict[object, int] = {}
    itemsets = [tuple(sorted(position.setdefault(item, len(position)) for item in found.items)) for found in release]
    shares = made.baskets.store.supports(itemsets) / count
    wanted = np.array([found.count for found in release]) / release.total
    assert np.abs(shares / wanted - 1).max() < 0.1
    assert np.abs(shares / wanted - 1).mean() < 0.02
    top, _ = made.baskets.store.top_itemsets(len(release))
    assert len({tuple(itemset) for itemset in top} & set(itemsets)) >= 0.9 * len(release)


def test_the_same_release_gives_the_same_baskets(release) -> None:
    """Seeds are fixed."""
    one, other = (baskets_like(release, items=80).baskets.store.item_supports() for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_itemsets_are_enough(release, rows: int) -> None:
    """One itemset, of one item or more."""
    few = evolve(release, itemsets=release.itemsets[-rows:])
    made = baskets_like(few)
    assert made.used == rows
    assert made.baskets.store.item_supports()[0] > 0


def test_what_noise_explains_is_left_out(release) -> None:
    """Counts that are not clearly above 0 say nothing; if all are, the release is refused, as is one of no itemset."""
    noisy = tuple(evolve(found, standard_error=found.count) for found in release.itemsets)
    assert baskets_like(evolve(release, itemsets=(release[0], *noisy[1:]))).used == 1
    for itemsets in (noisy, ()):
        with pytest.raises(InputError, match="clearly above 0"):
            baskets_like(evolve(release, itemsets=itemsets))


def test_a_total_below_the_counts_is_not_believed(release) -> None:
    """A release without a number of transactions needs one from the user."""
    without = evolve(release, total=1.0)
    with pytest.raises(InputError, match="Pass transactions="):
        baskets_like(without)
    with pytest.raises(InputError, match="Pass transactions="):
        baskets_like(without, transactions=100)
    made = baskets_like(without, items=60, transactions=4000).baskets.store
    same = baskets_like(evolve(release, total=4000.0), items=60).baskets.store
    assert np.array_equal(made.item_supports(), same.item_supports())


def test_three_items_whose_pairs_are_released_may_occur_together() -> None:
    """Once as their pairs make likely, and once as often as the rarest pair; a pair that is missing implies nothing."""
    two = [["a", "b"]] * 200 + [["a", "c"]] * 200 + [["b", "c"]] * 200 + [["d", "e"]] * 200 + [["d", "f"]] * 200
    release = pm.mine(two + [[]] * 1000, 63, 1000, simulate=True, seed=1)
    kept = tuple(found for found in release if found.count > 100 and len(found.items) < 3)
    pairs = evolve(release, itemsets=kept, joint="")
    position: dict[object, int] = {}
    for found in kept:
        for item in found.items:
            position.setdefault(item, len(position))
    known, unknown = (tuple(sorted(position[item] for item in items)) for items in ("abc", "def"))
    shares = []
    for together in (False, True):
        store = baskets_like(pairs, items=30, together=together).baskets.store
        shares.append(store.supports([known, unknown]) / store.count())
    assert shares[1][0] == pytest.approx(0.1, abs=0.02)
    assert shares[0][0] < 0.07
    assert max(shares[0][1], shares[1][1]) < 0.07


def test_bases_and_estimates_leave_no_longer_itemset_out(release) -> None:
    """A range is told only where itemsets may not have been counted though all their pairs were."""
    assert not may_lack_longer(release)
    assert may_lack_longer(evolve(release, joint=""))
    assert not may_lack_longer(evolve(release, joint="", selection=evolve(release.selection, by_estimates=True)))
