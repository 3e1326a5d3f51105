"""Data small enough to check by hand, and data large enough to run pipelines on."""

from __future__ import annotations

import pytest

from privmine.evaluation.truth import Truth
from privmine.store.transactions import Transactions

#: Supports: a 6, b 5, c 4, d 1; ab 4, ac 3, bc 3, abc 2; everything else at most 1.
HAND = ["ab", "ab", "abc", "abc", "ac", "bc", "ad"]


@pytest.fixture
def by_hand() -> Transactions:
    """Seven transactions over four items and one item, e, that never occurs."""
    return Transactions.from_lists([list(row) for row in HAND], items=list("abcde"))


@pytest.fixture
def hand_truth(by_hand: Transactions) -> Truth:
    """Its true top 7."""
    return Truth.mine(by_hand, 7)


def generated_rows(count: int = 400) -> list[list[int]]:
    """Transactions in which item i occurs in every (i+1)-th: many nested itemsets, no randomness."""
    return [[item for item in range(12) if number % (item + 1) == 0] for number in range(count)]


@pytest.fixture(scope="session")
def generated() -> Transactions:
    """Twelve items, 400 transactions."""
    return Transactions.from_lists(generated_rows())
