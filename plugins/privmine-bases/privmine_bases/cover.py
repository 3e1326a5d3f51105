"""A covering design: blocks of one length that contain every pair of items, selected or not."""

from __future__ import annotations

from attrs import frozen

from privmine.api import BasisSet, Elements, check_length_limit, parameter, whole_from
from privmine_bases.coverage import OfItems, in_groups
from privmine_bases.designs import covering_design

#: About where 2^(ℓ/2)/(ℓ(ℓ−1)), the noise of a pair in blocks of ℓ, is least; 8 also holds more triples.
BLOCK_LENGTH = 8
MOST_ITERATIONS = 100_000


@frozen
class CoveringDesign(OfItems):
    """Covers every pair of the selected items by blocks of one length, whichever pairs were selected.

    The manner of PriView (Qardaji, Yang, Li, SIGMOD 2014): a covering design of strength 2 over the
    items. No pair of items is missed because selection missed it, at the price of about
    λ²/(ℓ(ℓ−1)) bases. Itemsets of three and more items are covered only where a block happens to hold
    them; notes say so. The search at random has nothing to do with the data or with its noise: the
    design depends on the selected items, `max_length`, `iterations` and `seed` only.

    Privacy: this stage has no curator and never sees data. It post-processes what selection has
    already paid for, and its notes tell numbers of selected items and itemsets only.
    """

    max_length: int = parameter(BLOCK_LENGTH, validator=check_length_limit, help="the length of a block")
    iterations: int = parameter(
        200, validator=whole_from(0, MOST_ITERATIONS), help="how many attempts to make at fewer blocks; 0: greedy only"
    )
    seed: int = parameter(0, validator=whole_from(0), help="of the attempts' random choices, not of any noise")

    def built(self, items: list[int], elements: Elements) -> BasisSet:
        """Build the design."""
        items = sorted(items)
        design = covering_design(len(items), self.max_length, self.iterations, self.seed)
        bases = tuple(tuple(items[point] for point in block) for block in design)
        pairs_only = (
            f"All pairs of the {len(items)} selected items are covered by {len(bases)} blocks of at most "
            f"{self.max_length} items; of longer itemsets only those inside a block are."
        )
        return in_groups(bases, pairs_only, elements)
