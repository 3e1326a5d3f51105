"""The embedded grocery baskets."""

from __future__ import annotations

from hashlib import sha256
from itertools import combinations, pairwise

import numpy as np
import pytest

from privmine.io.groceries import HABITS, LONGEST, SHOPPERS, generate, groceries

# What the generator made when it was written: the baskets in the docs and in bug reports are these.
DIGEST = "4c5b193891d309c477bf500e01f1605c17710c51226f4ef28bc430c3bae630ec"


def support(*names: str) -> float:
    """The share of baskets that contain all of these products."""
    labels, offsets, items = generate()
    inside = np.isin(items, [labels.index(name) for name in names])
    basket = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return float((np.bincount(basket[inside], minlength=len(offsets) - 1) == len(names)).mean())


def test_the_baskets_never_change() -> None:
    """Labels, offsets and items are the same bytes on every platform and numpy."""
    labels, offsets, items = generate()
    digest = sha256("\n".join(labels).encode())
    digest.update(offsets.astype("<i8").tobytes())
    digest.update(items.astype("<i4").tobytes())
    assert digest.hexdigest() == DIGEST


def test_another_seed_makes_other_baskets() -> None:
    """The seed matters, and only the seed."""
    _, _, items = generate(500, seed=1)
    assert np.array_equal(items, generate(500, seed=1)[2])
    assert not np.array_equal(items, generate(500, seed=2)[2])


def test_baskets_are_sets_of_products_on_the_shelves() -> None:
    """Items ascend strictly within a basket, all within the universe; no basket is empty or overfull."""
    labels, offsets, items = generate()
    assert offsets.dtype == np.int64
    assert items.dtype == np.int32
    assert len(labels) == len(set(labels)) == 120
    assert labels == sorted(labels)
    assert set(items.tolist()) == set(range(120))
    lengths = np.diff(offsets)
    assert (offsets[0], offsets[-1], len(lengths)) == (0, len(items), 10_000)
    assert (lengths.min(), lengths.max()) == (1, LONGEST)
    assert 6 < lengths.mean() < 7.5
    for start, stop in pairwise(offsets[:500].tolist()):
        assert np.all(np.diff(items[start:stop]) > 0)


def test_habits_and_shoppers_fit_together() -> None:
    """Habits name products that are sold, shoppers name habits that exist, shares make a whole."""
    labels = set(generate(0)[0])
    assert all(labels.issuperset(products) for products in HABITS.values())
    assert set(HABITS) == set().union(*(shopper.habits for shopper in SHOPPERS))
    assert sum(shopper.share for shopper in SHOPPERS) == 1000


@pytest.mark.parametrize(
    ("names", "least"),
    [
        (("whole milk",), 0.45),
        (("coffee", "whole milk"), 0.2),
        (("butter", "jam", "white bread"), 0.13),
        (("parmesan", "spaghetti", "tomato sauce"), 0.15),
        (("avocados", "beef mince", "salsa", "tortillas"), 0.11),
        (("beer", "nappies"), 0.11),
        (("butter", "eggs", "flour", "sugar"), 0.07),
        (("cucumber", "lettuce", "tomatoes"), 0.07),
    ],
)
def test_planted_structure_is_there(names: tuple[str, ...], least: float) -> None:
    """What the habits plant is frequent, and far more so than independent purchases would be."""
    together = support(*names)
    assert together >= least
    if len(names) > 1:
        assert together > 1.5 * np.prod([support(name) for name in names])


def test_the_top_fifty_need_several_bases() -> None:
    """More than twelve products make up the top itemsets, so that a first run shows pairs being selected."""
    labels, offsets, items = generate()
    dense = np.zeros((len(offsets) - 1, len(labels)), dtype=np.float64)
    dense[np.repeat(np.arange(len(dense)), np.diff(offsets)), items] = 1
    common = np.argsort(-dense.sum(axis=0), kind="stable")[:30]
    counts = sorted(
        (
            (int(dense[:, list(itemset)].all(axis=1).sum()), itemset)
            for size in (1, 2)
            for itemset in combinations(common.tolist(), size)
        ),
        reverse=True,
    )[:40]
    assert 12 < len({item for _, itemset in counts for item in itemset}) <= 25
    assert sum(len(itemset) == 2 for _, itemset in counts) >= 15


def test_no_baskets() -> None:
    """The generator is total."""
    labels, offsets, items = generate(0)
    assert (len(labels), offsets.tolist(), items.tolist()) == (120, [0], [])


def test_groceries_are_transactions_over_the_whole_assortment() -> None:
    """All baskets arrive, with the shelves as a given universe."""
    transactions = groceries()
    assert transactions.universe.given
    assert transactions.universe.labels.tolist() == generate(0)[0]
