"""What a support is made of, beyond what small basis sets show."""

from __future__ import annotations

import numpy as np

from privmine.defaults.reconstruct import combine


def test_recipes_stay_apart_with_very_many_bases() -> None:
    """Eleven lengths with 63 bases of each: 64^11 ways to be covered are more than 64 bits can number.

    The variance of a support tells whether its recipe is the right one.
    """
    bases = tuple(tuple(range(length)) for length in range(1, 12) for _ in range(63))
    found = combine(bases, [np.zeros(2 ** len(basis)) for basis in bases])
    variances = [sum(bins * weight**2 for bins, weight in profile) for profile in found.profiles]
    np.testing.assert_allclose(np.array(variances)[found.profile_of], found.variances)
    # An itemset is covered by all bases that are long enough for its last item.
    assert len(found.profiles) == len({(len(itemset), max(itemset, default=0)) for itemset in found.itemsets})
