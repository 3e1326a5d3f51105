"""The preset's stages: each hands over to the sparse or to the dense method, as the noisy answers say."""

from __future__ import annotations

from attrs import frozen

from privmine.api import Answer, BasisSet, BudgetPlan, Curator, Elements, NoisyCounts, Request, hookimpl
from privmine_plus.budget import SELECT_SHARE, THRESHOLD_SHARE
from privmine_plus.cover import FirstFitBases
from privmine_plus.item_pairs import ItemPairs
from privmine_plus.levels import BoundedLevels
from privmine_plus.noisy_items import NoisyItems
from privmine_plus.pair_moments import PairMoments
from privmine_plus.refine import Refine
from privmine_plus.regime import is_dense


@frozen
class PlusShares:
    """Gives up to 7 % of the budget to the threshold, up to 60 % to the selection, and the rest to the counts.

    Privacy: looks at no data.
    """

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Divide the budget; see `Stages.allocate_budget`."""
        return BudgetPlan(THRESHOLD_SHARE, SELECT_SHARE, 1 - THRESHOLD_SHARE - SELECT_SHARE)


@frozen
class PlusSelection:
    """Selects by `bounded-levels` on sparse data, by `noisy-items` on dense data.

    Privacy: that of the component that it hands over to. Which one that is follows from noisy answers and
    public facts.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator, answers: tuple[Answer, ...]) -> Elements:
        """Hand over; see `Stages.select_elements`."""
        method = NoisyItems() if is_dense(request, answers) else BoundedLevels()
        return method.select_elements(request, curator, answers)


@frozen
class PlusBases:
    """What is to be counted: a cover of what matters (`first-fit`), or all pairs of items (`item-pairs`) on dense data.

    Privacy: this stage has no curator; it post-processes noisy answers.
    """

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements, answers: tuple[Answer, ...]) -> BasisSet:
        """Hand over; see `Stages.construct_basis`."""
        if is_dense(request, answers):
            return ItemPairs().construct_basis(request, elements, answers)
        return FirstFitBases().construct_basis(request, elements, answers)


@frozen
class PlusCounts:
    """Counts by `refine` on sparse data, by `pair-moments` on dense data.

    Bias: as in the component that it hands over to.

    Privacy: that of the component that it hands over to. Which one that is follows from noisy answers and
    public facts.
    """

    @hookimpl
    def reconstruct_counts(
        self, request: Request, basis: BasisSet, curator: Curator, answers: tuple[Answer, ...]
    ) -> NoisyCounts:
        """Hand over; see `Stages.reconstruct_counts`."""
        method = PairMoments() if is_dense(request, answers) else Refine()
        return method.reconstruct_counts(request, basis, curator, answers)
