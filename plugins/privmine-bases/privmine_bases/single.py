"""All items in one basis."""

from __future__ import annotations

from attrs import frozen

from privmine.api import BasisSet, Elements, check_length_limit, parameter
from privmine_bases.coverage import OfItems

#: Where one basis ends to be useful: 65,536 bins, and an item's count adds up half of them.
SINGLE_LIMIT = 16


@frozen
class SingleBasis(OfItems):
    """Puts all selected items into one basis, whatever λ; beyond a limit, the first ones selected.

    Every itemset of the items is covered at the least width. The noise of an item's count adds up
    2^(λ−1) bins, so this is for few items, or for many transactions. Selected pairs play no part.
    Beyond `max_length` items only the first ones in selection order are kept, which are those that
    selection drew first; a note says how many were left out.

    Privacy: this stage has no curator and never sees data. It post-processes what selection has
    already paid for, and its note tells the number of selected items only.
    """

    max_length: int = parameter(
        SINGLE_LIMIT, validator=check_length_limit, help="the most items to keep; n items have 2^n bins"
    )

    def built(self, items: list[int], elements: Elements) -> BasisSet:
        """Put the items into one basis."""
        kept = items[: self.max_length]
        if len(kept) == len(items):
            return BasisSet(bases=(tuple(kept),))
        note = (
            f"One basis holds at most {self.max_length} items. In none, so that they cannot be released: the "
            f"last {len(items) - len(kept)} of the {len(items)} selected items."
        )
        return BasisSet(bases=(tuple(kept),), notes=(note,))
