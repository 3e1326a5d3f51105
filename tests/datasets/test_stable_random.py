from __future__ import annotations

import numpy as np
import pytest

from privmine.datasets.stable_random import StableRandom, exponential_table, poisson_table, power_table, total
from privmine.errors import InputError


def test_the_stream_is_fixed() -> None:
    """The numbers of a seed never change, since data is generated from them."""
    assert StableRandom(1).below(1000, 4).tolist() == [511, 950, 144, 948]
    assert StableRandom(1).uniform(2).tolist() == [0.5118216247002567, 0.9504636963259353]


def test_numbers_stay_in_range() -> None:
    """Uniform numbers are below 1, whole numbers below their bound."""
    chance = StableRandom(7)
    assert 0 <= chance.uniform(10_000).min() <= chance.uniform(10_000).max() < 1
    assert set(chance.below(3, 1_000).tolist()) == {0, 1, 2}


def test_positions_come_by_weight() -> None:
    """A position of weight 0 never comes, one of weight 3 three times as often as one of weight 1."""
    counts = np.bincount(StableRandom(3).by_weight(np.cumsum([1.0, 0.0, 3.0]), 40_000), minlength=3)
    assert counts[1] == 0
    assert abs(counts[2] / counts[0] - 3) < 0.15


def test_a_stream_goes_on() -> None:
    """Numbers one by one are those of the blocks."""
    stream = StableRandom(5).stream()
    assert [next(stream) for _ in range(3)] == StableRandom(5).uniform(3).tolist()


def test_tables_have_the_moments_of_their_distributions() -> None:
    """The quantiles of the exponential and of the Poisson distribution have the right means and variances."""
    exponential, poisson = exponential_table(4096), poisson_table(4.0)
    assert abs(exponential.mean() - 1) < 0.001
    assert abs(poisson.mean() - 4) < 0.01
    assert abs(poisson.var() - 4) < 0.05
    assert power_table(3, 1.0).tolist() == [1.0, 0.5, 1 / 3]


def test_a_total_is_summed_in_order() -> None:
    """The sum is the one from first to last, which is the same on every processor."""
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert total(values) == ((1e16 + 1.0) - 1e16) + 1.0
    assert total(values[:0]) == 0.0


def test_a_negative_seed_is_refused() -> None:
    """A seed is a natural number."""
    with pytest.raises(InputError, match="seed"):
        StableRandom(-1)
