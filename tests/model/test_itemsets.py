"""The one form of an itemset: a sorted tuple of whole numbers without repetition."""

from __future__ import annotations

import numpy as np
import pytest

from privmine.errors import ContractError
from privmine.model import itemset


@pytest.mark.parametrize(
    "given",
    [(1, 2, 5), (5, 2, 1), [2, 1, 5], (1, 1, 2, 5), {5, 1, 2}, np.array([5, 1, 2]), (np.int64(1), 2, 5), range(0)],
    ids=repr,
)
def test_every_collection_becomes_a_sorted_tuple(given) -> None:
    """In order or not, with repetition or without, of Python's numbers or numpy's."""
    found = itemset(given)
    assert found == tuple(sorted(set(map(int, given))))
    assert type(found) is tuple
    assert all(type(item) is int for item in found)


@pytest.mark.parametrize("given", [(True, 2), (False, True), [True]], ids=repr)
def test_masks_are_refused(given) -> None:
    """True is no item, also where the tuple is in order."""
    with pytest.raises(ContractError, match="not True or False"):
        itemset(given)
