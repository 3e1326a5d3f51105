"""The k itemsets of at most m items to release, chosen by their truncated supports."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log
from typing import ClassVar, cast

from attrs import Attribute, evolve, frozen
from attrs.validators import optional

from privmine.api import (
    Curator,
    Elements,
    InputError,
    Itemset,
    Request,
    Selection,
    TruncatedSupports,
    exact,
    hookimpl,
    parameter,
    whole_from,
)

#: The engine counts bases of up to 24 items, and itemsets far shorter than that are already past finding.
LONGEST = 20


def _probability(_: object, attribute: Attribute[Fraction], value: Fraction) -> None:
    if not 0 < value < 1:
        raise InputError(f"{attribute.name} bounds a probability, so it must lie between 0 and 1, not {value}.")


def equation_3(k: int, candidates: int, epsilon: Fraction, rho: Fraction) -> int:
    """γN = (4k/ε)·(ln(k/ρ) + ln|U|) in whole transactions, rounded down; there is no N in it.

    Args:
        k: how many itemsets are chosen.
        candidates: |U|, how many they are chosen from.
        epsilon: the budget of the whole run, of which the choice has one half.
        rho: bounds the probability that the choice is further off than γ.
    """
    return floor(float(4 * k / epsilon) * (log(k / rho) + log(candidates)))


@frozen
class _ByTruncatedSupports:
    """What the three selectors have in common: the query, its parameters, and a draw by the exponential mechanism."""

    _monotone: ClassVar[bool] = False

    m: int = parameter(
        2, validator=whole_from(1, LONGEST), help="the longest itemset to choose; not to be taken from the data"
    )
    rho: Fraction = parameter(
        Fraction(9, 10), converter=exact, validator=_probability, help="bound on the probability of an error past γ (ρ)"
    )
    gamma: int | None = parameter(
        None,
        validator=optional(whole_from(0)),
        help="how far below the k-th support to truncate, in transactions (γN); None: Equation 3",
    )
    explicit_limit: int = parameter(
        20_000,
        validator=whole_from(1),
        help="fewer itemsets than this are considered one by one (M); at least k is taken",
    )

    @hookimpl
    def select_elements(self, request: Request, curator: Curator) -> Elements:
        """Choose itemsets; see `Stages.select_elements`."""
        if not request.k:
            return Elements(())
        chosen = cast(tuple[Itemset, ...], self._choose(curator, self._query(request, curator)).chosen)
        return Elements(tuple(dict.fromkeys(item for found in chosen for item in found)), chosen)

    def _choose(self, curator: Curator, query: TruncatedSupports) -> Selection:
        return curator.choose(query, query.k)

    def _query(self, request: Request, curator: Curator) -> TruncatedSupports:
        universe = request.public.universe
        longest = self.m if request.max_length is None else min(self.m, request.max_length)
        candidates = universe.itemset_count(longest)
        k = min(request.k, candidates)
        query = TruncatedSupports(
            k=k,
            max_length=longest,
            item_count=len(universe),
            gamma=self.gamma or 0,
            explicit_limit=max(self.explicit_limit, k),
            monotone=False,
        )
        gamma = self.gamma
        if gamma is None:
            # In the paper k draws have the rate ε/(4k). What the curator says of the published draw, which is not
            # monotone, gives the ε that Equation 3 means, under any definition and for any unit.
            gamma = equation_3(k, candidates, 4 * k * curator.rate_for(query, k), self.rho)
        return evolve(query, gamma=gamma, monotone=self._monotone)


@frozen
class Truncated(_ByTruncatedSupports):
    """Chooses k itemsets by repeated draws of the exponential mechanism, as the paper publishes it.

    Privacy: k draws without replacement on `TruncatedSupports`, whose scores move by at most 1,
    although the point of truncation depends on the data. Monotonicity is not claimed, so with ε/2
    for all draws each has the exponent ε/(4k) of the paper. m, ρ, γ and M are public.
    """


@frozen
class MonotoneTruncated(_ByTruncatedSupports):
    """Chooses k itemsets as `truncated` does, with half the noise.

    Privacy: k draws on `TruncatedSupports`, whose scores all move by 0 or +1 when a transaction is
    added. For monotone scores the exponential mechanism needs no factor ½ (the paper, end of
    Section 2.1), so with ε/2 for all draws each has the exponent ε/(2k), twice the published one.
    γ stays that of Equation 3, which bounds this selector's error as well, with room to spare.
    """

    _monotone: ClassVar[bool] = True


@frozen
class NoisyTruncated(_ByTruncatedSupports):
    """Chooses the k itemsets whose truncated supports are largest after Laplace noise, as the paper publishes it.

    Privacy: the k largest of `TruncatedSupports` with noise of scale 4k/ε on each, for ε/2. Only the
    chosen itemsets and their order are told, never a noisy value. Let one transaction come or go:
    raising the noise of each chosen itemset by 1 − (the change of its score), at most 2, keeps their
    order and keeps them above all others, which costs a factor of e^(2k/scale) = e^(ε/2). Nothing is
    paid for the candidates that are not chosen, however many they are.
    """

    def _choose(self, curator: Curator, query: TruncatedSupports) -> Selection:
        return curator.choose_noisy(query, query.k)
