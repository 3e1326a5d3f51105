"""Items in threes, without regard to pairs."""

from __future__ import annotations

from attrs import frozen

from privmine.api import BasisSet, Elements, balanced_groups, check_length_limit, parameter
from privmine_bases.coverage import OfItems, in_groups


@frozen
class TripleBasis(OfItems):
    """Divides the selected items into groups of three, which count single items most exactly.

    Of all ways to divide λ items, groups of three give the least variance to the items' own counts:
    4/9 of what it is with every item on its own (section 4.2 of the paper). Pairs and longer itemsets are
    measured only where they happen to lie inside a group.

    Privacy: this stage has no curator and never sees data. It post-processes what selection has
    already paid for, and its notes tell numbers of selected items and itemsets only.
    """

    max_length: int = parameter(3, validator=check_length_limit, help="the size of a group; 3 is best for single items")

    def built(self, items: list[int], elements: Elements) -> BasisSet:
        """Group the items."""
        bases = tuple(balanced_groups(items, self.max_length))
        apart = (
            f"Items were measured in {len(bases)} groups of at most {self.max_length}, itemsets across groups "
            f"not at all."
        )
        return in_groups(bases, apart, elements)
