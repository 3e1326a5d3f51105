"""Zipf and Quest baskets."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from privmine.datasets import quest, zipf
from privmine.errors import InputError
from privmine.store.transactions import Transactions


def digest(transactions: Transactions) -> str:
    """A digest of supports of items and pairs."""
    store = transactions.store
    return sha256(store.item_supports().tobytes() + store.pair_supports(range(30)).tobytes()).hexdigest()[:12]


@pytest.mark.parametrize("generate", [zipf, quest])
def test_a_seed_gives_the_same_baskets(generate: Callable[..., Transactions]) -> None:
    """Equal arguments give equal baskets, another seed gives others."""
    first, again, other = generate(500, items=50), generate(500, items=50), generate(500, items=50, seed=1)
    assert digest(first) == digest(again) != digest(other)


def test_baskets_never_change() -> None:
    """What was generated once is generated for good, whatever the version of numpy."""
    assert (digest(zipf(500, items=50)), digest(quest(500, items=50))) == ("60b106a53afc", "6002828845d0")


@pytest.mark.parametrize("generate", [zipf, quest])
def test_baskets_have_the_size_that_was_asked_for(generate: Callable[..., Transactions]) -> None:
    """Number of transactions, universe and mean length are as given, the last one about."""
    baskets = generate(2_000, items=300, mean_length=6)
    assert baskets.store.count() == 2_000
    assert len(baskets.universe) == 300
    assert baskets.universe.given
    assert 5.3 < baskets.store.item_supports().sum() / 2_000 < 6.7


def test_popularity_follows_zipf() -> None:
    """The second item of short baskets is about half as frequent as the first, the fourth a quarter."""
    supports = zipf(40_000, items=500, mean_length=1, exponent=1).store.item_supports()
    assert abs(supports[0] / supports[1] - 2) < 0.15
    assert abs(supports[0] / supports[3] - 4) < 0.5


def test_without_exponent_items_are_alike() -> None:
    """Exponent 0 gives all items the same popularity."""
    supports = zipf(20_000, items=10, mean_length=2, exponent=0).store.item_supports()
    assert supports.max() < 1.1 * supports.min()


def test_quest_has_patterns() -> None:
    """Some pairs occur far more often than independent items would."""
    store = quest(3_000, items=200, patterns=20).store
    single = store.item_supports()[:60]
    pairs = store.pair_supports(range(60))
    first, second = np.triu_indices(60, 1)
    expected = single[first] * single[second] / store.count()
    assert (pairs[expected > 5] / expected[expected > 5]).max() > 3


def test_tiny_and_empty_requests_are_served() -> None:
    """No transactions, one item, one pattern: all are valid."""
    for generate in (zipf, quest):
        assert generate(0, items=1).store.count() == 0
        assert generate(3, items=1, mean_length=1).store.item_supports().tolist() == [3]


@pytest.mark.parametrize(
    ("generate", "wrong"),
    [
        (zipf, {"items": 0}),
        (zipf, {"mean_length": 0.5}),
        (zipf, {"exponent": -1}),
        (quest, {"patterns": 0}),
        (quest, {"corruption": 1.0}),
        (quest, {"correlation": 2}),
    ],
)
def test_impossible_sizes_are_refused(generate: Callable[..., Transactions], wrong: dict[str, Any]) -> None:
    """What cannot be generated is an InputError."""
    with pytest.raises(InputError):
        generate(10, **wrong)
