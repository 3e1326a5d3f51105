"""A stage with a budget of its own, whose questions a test can read afterwards."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import pytest

from privmine.api import Public, Request
from privmine.curator import Curator
from privmine.noise.simulated import SimulatedNoise
from privmine.privacy import PureDP
from privmine.store.transactions import Transactions
from privmine.testing import curator_for

Staged: TypeAlias = tuple[Request, Curator]


@pytest.fixture
def stage() -> Callable[..., Staged]:
    """A request for the top k of some baskets, the curator of a stage that has ε = 1/2, and what it asks."""

    def make(k: int, baskets: list[list[int]], items: int, max_length: int | None = None) -> Staged:
        data = Transactions.from_lists(baskets, items=list(range(items)))
        public = Public(data.universe)
        request = Request(k, k, PureDP().cost(1), public, max_length)
        return request, curator_for(data, share=Fraction(1, 2), noise=SimulatedNoise(7))

    return make
