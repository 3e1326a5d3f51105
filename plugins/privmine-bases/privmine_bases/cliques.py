"""The maximal cliques of the selected pairs, as they are."""

from __future__ import annotations

from attrs import frozen

from privmine.api import (
    DEFAULT_LIMIT,
    BasisSet,
    Elements,
    Itemset,
    check_length_limit,
    groups_of_three,
    maximal_cliques,
    parameter,
    split_clique,
    without_contained,
)
from privmine_bases.coverage import OfItems, items_of, pairs_of


@frozen
class Cliques:
    """What the pairs of a selection fall into.

    Attributes:
        bases: the maximal cliques, those longer than the limit split such that their pairs stay covered.
        lonely: the items without a pair.
        notes: for the receipt, which cliques were split.
    """

    bases: tuple[Itemset, ...]
    lonely: tuple[int, ...]
    notes: tuple[str, ...]


def find_cliques(elements: Elements, limit: int) -> Cliques:
    """Find the maximal cliques of the selected pairs; a longer itemset counts as all its pairs."""
    items, pairs = items_of(elements), pairs_of(elements)
    whole = maximal_cliques(items, pairs)
    bases = without_contained(part for clique in whole for part in split_clique(clique, limit))
    notes = tuple(
        f"A clique of {len(clique)} items was split: all its pairs are covered, but not all its triples."
        for clique in whole
        if len(clique) > limit
    )
    return Cliques(tuple(bases), tuple(sorted(set(items).difference(*pairs))), notes)


def one_basis_will_do(elements: Elements, limit: int) -> bool:
    """Whether selection counted on a single basis: few items, and no itemsets (Alg. 3, l. 3–5).

    Taken at its word, a selection without pairs would have every item measured apart and no pair at all.
    """
    return len(items_of(elements)) <= limit and not elements.itemsets


@frozen
class CliqueBasis(OfItems):
    """Takes the maximal cliques of the selected pairs as bases, unmerged, and items without pairs in threes.

    The bases are as short as a cover can be (Proposition 3 of the paper, on the graph of pairs), but
    many. Every selected item and itemset is covered; of a clique longer than `max_length`, which has
    to be split, only the pairs are, and a note says so. Where no itemsets were selected and the items
    fit into one basis, they are one basis, as in Alg. 3.

    Privacy: this stage has no curator and never sees data. It post-processes what selection has
    already paid for, and its notes tell sizes of cliques of selected pairs only.
    """

    max_length: int = parameter(
        DEFAULT_LIMIT, validator=check_length_limit, help="the longest basis; one of n items has 2^n bins"
    )

    def built(self, items: list[int], elements: Elements) -> BasisSet:
        """Find the cliques."""
        if one_basis_will_do(elements, self.max_length):
            return BasisSet(bases=(tuple(items),))
        found = find_cliques(elements, self.max_length)
        return BasisSet(bases=tuple(self.arranged(found, elements)), notes=found.notes)

    def arranged(self, found: Cliques, elements: Elements) -> list[Itemset]:
        """The bases that are made of the cliques."""
        return [*found.bases, *groups_of_three(found.lonely, self.max_length)]
