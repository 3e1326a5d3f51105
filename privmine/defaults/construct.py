"""The basis set: one basis where the items are few, else cliques that are merged greedily (Alg. 2)."""

from __future__ import annotations

from itertools import combinations

from attrs import frozen

from privmine.api import (
    DEFAULT_LIMIT,
    BasisSet,
    Elements,
    Itemset,
    Request,
    check_length_limit,
    groups_of_three,
    hookimpl,
    maximal_cliques,
    parameter,
    split_clique,
    without_contained,
)
from privmine.defaults.greedy import dissolve_triples, merge_bases


@frozen
class GreedyBasis:
    """Covers the selected items and pairs by cliques, merged while that lowers the error variance.

    Every selected item and every pair of a selected itemset is inside some basis. Itemsets of three and
    more items are too, unless they belong to a clique longer than `max_length`, which has to be split; a
    note says so.

    Privacy: this stage has no curator and never sees data. It only post-processes the items and
    itemsets that selection has already paid for, so it costs nothing, and what it does with them may
    be shown: the notes tell sizes of cliques of selected pairs.
    """

    max_length: int = parameter(
        DEFAULT_LIMIT, validator=check_length_limit, help="the longest basis; one of n items has 2^n bins"
    )

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements) -> BasisSet:
        """Cover the elements with bases; see `Stages.construct_basis`."""
        items = {*elements.items, *(item for itemset in elements.itemsets for item in itemset)}
        # Alg. 3, l. 3–5: few items need one basis and no pairs. With none, () still measures N.
        if len(items) <= self.max_length and not elements.itemsets:
            return BasisSet(bases=(tuple(items),))
        pairs: set[Itemset] = {pair for itemset in elements.itemsets for pair in combinations(itemset, 2)}
        bases, split = _construct(items, pairs, self.max_length)
        return BasisSet(bases=bases, notes=tuple(_split_note(size) for size in split))


def _construct(items: set[int], pairs: set[Itemset], limit: int) -> tuple[list[Itemset], list[int]]:
    """Alg. 2: a basis set that covers items and pairs, and the sizes of the cliques that were split."""
    cliques = maximal_cliques(items, pairs)
    split = [len(clique) for clique in cliques if len(clique) > limit]
    if split:
        # Parts of overlapping cliques may contain each other, which maximal cliques never do.
        cliques = without_contained(part for clique in cliques for part in split_clique(clique, limit))
    lonely = items.difference(*pairs)
    triples = groups_of_three(lonely, limit)
    merged = merge_bases(cliques, triples, items, pairs, limit)
    return dissolve_triples(merged, triples, items, pairs, limit), split


def _split_note(size: int) -> str:
    return f"A clique of {size} items was split: all its pairs are covered, but not all its triples."
