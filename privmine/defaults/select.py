"""The frequent items, and the frequent pairs of them (Alg. 3, l. 3–13)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt
from typing import cast

from attrs import Attribute, frozen, validators

from privmine.api import (
    Curator,
    Elements,
    Estimate,
    InputError,
    Itemset,
    ItemSupports,
    PairSupports,
    Request,
    Selection,
    exact,
    hookimpl,
    parameter,
)
from privmine.defaults.estimate import at_least_one


def pair_target(lam: int, k: int, eta: Fraction) -> int:
    """λ₂, how many pairs to look for (Alg. 3, l. 7–8, kept within 0 and the number of pairs).

    As printed, λ₂ is negative where λ > η·k, and then the selection spends more than its share.
    """
    wanted = max(Fraction(0), eta * k - lam)
    return min(comb(lam, 2), round(wanted / Fraction(sqrt(max(Fraction(1), wanted / lam)))))


def not_negative(_: object, attribute: Attribute[int], value: int) -> None:
    """Refuse a number of items below 0."""
    if value < 0:
        raise InputError(f"{attribute.name} must not be negative, not {value}.")


@frozen
class ItemsAndPairs:
    """Selects λ items and, where one basis cannot hold them all, λ₂ pairs of those items.

    Privacy: two runs of the exponential mechanism on supports, which are monotone with L∞ = 1, so
    that each of n draws on a share ε has the exponent ε/n (no factor ½). The second run's
    candidates are pairs of the items that the first one chose. The share is divided in
    proportion to the number of draws.

    With `at_once` each run is one draw of a whole set. The weight e^(−r·gap) goes by the largest
    support outside the set less the smallest inside. A transaction moves each of the two by 0 or 1, so the gap by at
    most 1, in either direction: the exponent is half the share.
    """

    eta: Fraction = parameter(Fraction(11, 10), converter=exact, validator=at_least_one, help="safety margin on k (η)")
    single_basis: int = parameter(
        12, validator=not_negative, help="up to this many items, no pairs are selected: one basis holds them all"
    )

    at_once: bool = parameter(
        False,
        validator=validators.instance_of(bool),
        help="draw the items as one set and the pairs as another; better on some data, worse on other",
    )

    @hookimpl
    def select_elements(self, request: Request, estimate: Estimate, curator: Curator) -> Elements:
        """Choose items and pairs; see `Stages.select_elements`."""
        if estimate.lam is None:
            raise InputError(
                "items-and-pairs needs λ, but the estimate has none. Use another estimate_lambda, such as rank-gap."
            )
        lam = estimate.lam
        pairs = 0
        if lam > self.single_basis and request.max_length != 1:
            pairs = pair_target(lam, request.k, self.eta)
        items_query = ItemSupports(len(request.public.universe))
        choose = curator.choose_set if self.at_once else curator.choose
        if pairs == 0:
            return Elements(_items(choose(items_query, lam)))
        shares = curator.split(items=lam, pairs=pairs)
        items = _items(choose(items_query, lam, shares["items"]))
        chosen = choose(PairSupports(items), pairs, shares["pairs"])
        return Elements(items, cast(tuple[Itemset, ...], chosen.chosen))


def _items(selection: Selection) -> tuple[int, ...]:
    return tuple(item for (item,) in cast(tuple[Itemset, ...], selection.chosen))
