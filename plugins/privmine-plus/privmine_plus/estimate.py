"""How large the k-th support is, and how many transactions there are."""

from __future__ import annotations

from attrs import frozen

from privmine.api import Curator, Estimate, Request, hookimpl
from privmine_plus.budget import affordable
from privmine_plus.regime import FEW_ITEMS, measure_threshold


@frozen
class NoisyThreshold:
    """Measures the support of the k-th itemset and the number of transactions.

    Both decide which method the later stages use, and how they divide their budget. A universe of at most
    20 items leaves nothing to decide, so that nothing is measured.

    Privacy: Laplace measurements, each of one number that a transaction moves by at most 1: the k-th largest
    support (`RankSupport`), once or twice, and the support of the empty itemset. What is decided by them is decided by
    the noisy answers.
    """

    @hookimpl
    def estimate_lambda(self, request: Request, curator: Curator) -> Estimate:
        """Measure θ̂ and N̂; see `Stages.estimate_lambda`."""
        if request.k == 0 or len(request.public.universe) <= FEW_ITEMS:
            return Estimate()
        return Estimate(theta=measure_threshold(request, curator, affordable(request, curator)).theta)
