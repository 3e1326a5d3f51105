"""The basis set: one basis where the items are few, else cliques that are merged greedily (Alg. 2)."""

from __future__ import annotations

from itertools import combinations

from attrs import Attribute, frozen

from privmine.api import BasisSet, Elements, InputError, Itemset, Request, hookimpl, parameter
from privmine.defaults.bases import (
    DEFAULT_LIMIT,
    dissolve_triples,
    groups_of_three,
    maximal_cliques,
    merge_bases,
    split_clique,
    without_contained,
)

#: A basis of 20 items has a million bins; beyond that memory and noise are out of proportion.
LONGEST_LIMIT = 20


def _within_reach(_: object, attribute: Attribute[int], value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= LONGEST_LIMIT:
        raise InputError(
            f"{attribute.name} must be a whole number from 2 to {LONGEST_LIMIT}, not {value!r}: a basis must "
            f"hold a pair, and one of n items has 2^n bins."
        )


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
        DEFAULT_LIMIT, validator=_within_reach, help="the longest basis; one of n items has 2^n bins"
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
    return f"A clique of {size} items was split; its pairs are covered, some of its triples are not."
