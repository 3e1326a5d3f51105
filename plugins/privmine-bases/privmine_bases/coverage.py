"""What the strategies have to cover, and how they say what they did not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import combinations

from privmine.api import BasisSet, Elements, Itemset, hookimpl

#: What is measured where nothing was selected: the one bin of the empty basis is N.
ONLY_THE_TOTAL = BasisSet(bases=((),))


class OfItems(ABC):
    """A strategy that builds its bases of the selected items; without any, it measures the total alone."""

    @hookimpl
    def construct_basis(self, elements: Elements) -> BasisSet:
        """Build the bases; see `Stages.construct_basis`."""
        items = items_of(elements)
        return self.built(items, elements) if items else ONLY_THE_TOTAL

    @abstractmethod
    def built(self, items: list[int], elements: Elements) -> BasisSet:
        """The bases of one or more items, which are in selection order."""


def items_of(elements: Elements) -> list[int]:
    """All selected items in selection order; those that only an itemset names come last."""
    return list(dict.fromkeys((*elements.items, *(item for found in elements.itemsets for item in found))))


def pairs_of(elements: Elements) -> set[Itemset]:
    """All pairs inside selected itemsets, whatever the length of these."""
    return {pair for found in elements.itemsets for pair in combinations(found, 2)}


def uncovered(bases: Iterable[Itemset], itemsets: Iterable[Itemset]) -> list[Itemset]:
    """The itemsets that no basis contains."""
    members = [frozenset(basis) for basis in bases]
    return [found for found in itemsets if not any(basis.issuperset(found) for basis in members)]


def missing_note(bases: Sequence[Itemset], elements: Elements) -> tuple[str, ...]:
    """A sentence for the receipt if a selected itemset cannot be released, else none."""
    selected = set(elements.itemsets)
    missing = len(uncovered(bases, selected))
    if not missing:
        return ()
    return (f"In no basis, so that they cannot be released: {missing} of the {len(selected)} selected itemsets.",)


def in_groups(bases: Sequence[Itemset], note: str, elements: Elements) -> BasisSet:
    """Bases that do not hold every itemset of the items, with a note that says so; one basis alone holds them all."""
    if len(bases) == 1:
        return BasisSet(bases)
    return BasisSet(bases, notes=(note, *missing_note(bases, elements)))
