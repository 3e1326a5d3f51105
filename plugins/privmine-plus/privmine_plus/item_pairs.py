"""The pairs of the selected items, for `pair-moments`."""

from __future__ import annotations

from itertools import combinations

from attrs import frozen

from privmine.api import Answer, BasisSet, Elements, Request, hookimpl, itemset
from privmine_plus.pair_moments import NOTES
from privmine_plus.regime import doubts, threshold_of


@frozen
class ItemPairs:
    """Makes every pair of the selected items a basis: what `pair-moments` measures at once.

    Privacy: looks at no data.
    """

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements, answers: tuple[Answer, ...]) -> BasisSet:
        """Pair the items; see `Stages.construct_basis`."""
        pairs = tuple(itemset(pair) for pair in combinations(elements.items, 2))
        notes = NOTES + doubts(threshold_of(request, answers))
        return BasisSet(pairs or (itemset(elements.items),), notes=notes, across=True)
