"""Every selected itemset on its own."""

from __future__ import annotations

from attrs import frozen

from privmine.api import BasisSet, Elements, hookimpl


@frozen
class SelectedAsBases:
    """Makes each selected itemset a basis, and reports these itemsets and no others.

    Where a selection names items only, its itemsets are the single items.

    Privacy: this stage has no curator and only post-processes what selection has paid for.
    """

    @hookimpl
    def construct_basis(self, elements: Elements) -> BasisSet:
        """Take what was selected; see `Stages.construct_basis`."""
        selected = elements.itemsets or tuple((item,) for item in elements.items)
        distinct = tuple(dict.fromkeys(found for found in selected if found))
        return BasisSet(bases=distinct, candidates=distinct)
