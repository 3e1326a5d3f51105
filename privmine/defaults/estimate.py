"""λ, the number of items that the top itemsets are made of (Alg. 3, GETLAMBDA)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from attrs import frozen

from privmine.api import Curator, Estimate, InputError, RankGap, Request, exact, hookimpl, itemset_count, parameter


def at_least_one(_: object, attribute: object, value: Fraction) -> None:
    """Refuse a safety margin below 1."""
    if value < 1:
        raise InputError(f"The safety margin eta must be at least 1, not {value}.")


def lambda_range(request: Request, rank: int) -> tuple[int, int]:
    """The values that λ can take, from public facts only.

    At least: so many items that they have `rank` itemsets. At most: k, because every item of a
    top-k itemset is itself among the top k. (Alg. 3, l. 22 prints 1..|I|; see docs/paper.md.)
    """
    high = min(request.k, len(request.public.universe))
    length = request.max_length
    low = 1
    while low < high and itemset_count(low, length) < rank:
        low += 1
    return low, high


@frozen
class RankGapLambda:
    """Draws λ such that the λ-th most frequent item is about as frequent as the (η·k)-th itemset.

    Privacy: one draw of the exponential mechanism on `RankGap`, whose scores move by at most 1 and
    not all in one direction, so the exponent is ε/2. The range of λ depends on k, η and the
    universe only. Where it holds a single value, that value is public and nothing is charged.
    """

    eta: Fraction = parameter(Fraction(11, 10), converter=exact, validator=at_least_one, help="safety margin on k (η)")

    @hookimpl
    def estimate_lambda(self, request: Request, curator: Curator) -> Estimate:
        """Choose λ; see `Stages.estimate_lambda`."""
        if request.k == 0:
            return Estimate(lam=0)
        universe = request.public.universe
        rank = min(ceil(self.eta * request.k), universe.itemset_count(request.max_length))
        low, high = lambda_range(request, rank)
        if low == high:
            return Estimate(lam=low)
        chosen = curator.choose(RankGap(rank, low, high, request.max_length))
        (lam,) = chosen.chosen
        assert isinstance(lam, int)
        return Estimate(lam=lam)
