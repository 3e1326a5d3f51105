"""Intervals cover as claimed, for every candidate of a fixed basis set over 2,000 reconstructions.

How often an interval covers is binomial, and is tested with exact binomial tails against the claimed level,
from below and from above. Over all candidates, levels and both sides the false-alarm rate of a test is at most
10^(−6) (Bonferroni). A coverage that is off by 5 points is found almost surely at 90 and 95 %, one by 9 at 50 %.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import privmine as pm
from privmine.defaults.reconstruct import BasisFrequencies
from privmine.model import BasisSet, NoisyCounts
from privmine.noise.secure import SecureNoise
from privmine.noise.simulated import SimulatedNoise
from privmine.release.intervals import interval
from privmine.testing import curator_for

pytestmark = pytest.mark.statistics

RUNS = 2000
LEVELS = (0.5, 0.9, 0.95)
FALSE_ALARM = 1e-6
#: Of different lengths, with itemsets that are covered once, twice and three times, equally and unequally.
BASES = BasisSet([(0, 1, 2, 3, 4), (3, 4, 5), (0, 5), (1, 2, 6, 7), (3, 4, 7), (8,)])
#: Four standard errors and more away from 0, so that no interval is cut off there.
BASKETS = [list(range(9))] * 2000 + [[item, item + 1] for item in range(8)] * 20
SCALE = 40


def reconstructions(noise: Any) -> tuple[NoisyCounts, np.ndarray]:
    """One result, for its itemsets and laws, and the noisy counts of all runs, those of the empty itemset last."""
    transactions = pm.Transactions.from_lists(BASKETS, items=range(9))
    epsilon = Fraction(BASES.width, SCALE)
    runs = []
    for _ in range(RUNS):
        found = BasisFrequencies().reconstruct_counts(BASES, curator_for(transactions, epsilon, noise=noise))
        runs.append([*found.counts, found.total])
    return found, np.array(runs)


@pytest.mark.parametrize(
    ("noise", "atom"), [(SimulatedNoise(7), 0.0), (SecureNoise(), 1 / SCALE)], ids=["simulated", "secure"]
)
def test_intervals_cover_as_claimed(noise: Any, atom: float) -> None:
    """At 50, 90 and 95 %, for every candidate and the total; discrete noise may cover more by a point of its lattice.

    The probability of any one value of a sum with discrete Laplace noise is at most 1/scale on both sides together.
    """
    found, runs = reconstructions(noise)
    truth = np.array(
        [sum(set(itemset) <= set(basket) for basket in BASKETS) for itemset in [*found.itemsets, ()]], dtype=float
    )
    laws = [*(found.laws[number] for number in found.law_of), found.total_law]
    assert len(laws) > 50
    significance = FALSE_ALARM / (2 * len(LEVELS) * len(laws))
    for level in LEVELS:
        for column, law in enumerate(laws):
            intervals = [interval(count, law, level) for count in runs[:, column]]
            covered = sum(low <= truth[column] <= high for low, high in intervals)
            assert stats.binom.cdf(covered, RUNS, level) >= significance, (level, column, covered / RUNS)
            assert stats.binom.sf(covered - 1, RUNS, level + atom) >= significance, (level, column, covered / RUNS)
