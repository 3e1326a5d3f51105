"""The hooks: five stages, discovery, observers.

An implementation takes only the arguments that it needs, by name and without defaults. Argument
names, types and results are the contract that `docs/hooks.md` documents and the pipeline checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    # Only for annotations: what needs the marker alone, such as the command line, starts without numpy.
    from privmine.curator import Answer, Curator
    from privmine.model import BasisSet, BudgetPlan, Elements, Estimate, NoisyCounts, Request
    from privmine.privacy import Charge

PROJECT = "privmine"
#: The entry-point group in which plugins announce themselves.
ENTRY_POINT_GROUP = "privmine"

hookspec = pluggy.HookspecMarker(PROJECT)
#: Marks a method as the implementation of a hook: the one thing that a plugin must use.
hookimpl = pluggy.HookimplMarker(PROJECT)


class Stages:
    """The five stages of a run, in their order; a pipeline holds one component for each."""

    @hookspec(firstresult=True)
    def allocate_budget(self, request: Request) -> BudgetPlan:  # type: ignore[empty-body]
        """Divide the budget among the stages that look at data.

        Args:
            request: k, ε and what is public of the data.

        Returns:
            A share of 1 for each of estimate_lambda, select_elements and reconstruct_counts.
        """

    @hookspec(firstresult=True)
    def estimate_lambda(self, request: Request, curator: Curator) -> Estimate:  # type: ignore[empty-body]
        """Estimate how many items the k most frequent itemsets are made of.

        Args:
            request: k, ε and what is public of the data.
            curator: the access to the data, within this stage's share.

        Returns:
            λ, or None where the method needs none; and a noisy support threshold if there is one.
        """

    @hookspec(firstresult=True)
    def select_elements(  # type: ignore[empty-body]
        self, request: Request, estimate: Estimate, curator: Curator, answers: tuple[Answer, ...]
    ) -> Elements:
        """Select the items, and the itemsets of any length, that the basis set has to cover.

        Args:
            request: k, ε and what is public of the data.
            estimate: what estimate_lambda found.
            curator: the access to the data, within this stage's share and what was left unspent.
            answers: every noisy answer of the run so far.

        Returns:
            Items of the universe, and itemsets of them, most promising first.
        """

    @hookspec(firstresult=True)
    def construct_basis(  # type: ignore[empty-body]
        self, request: Request, elements: Elements, answers: tuple[Answer, ...]
    ) -> BasisSet:
        """Cover the elements with bases, few and short. This stage has no access to the data.

        Args:
            request: k, ε and what is public of the data.
            elements: what select_elements found.
            answers: every noisy answer of the run so far.

        Returns:
            The bases to measure, and which itemsets to report of them (None: all their subsets).
        """

    @hookspec(firstresult=True)
    def reconstruct_counts(  # type: ignore[empty-body]
        self, request: Request, basis: BasisSet, curator: Curator, answers: tuple[Answer, ...]
    ) -> NoisyCounts:
        """Measure the bases and compute the noisy support of every candidate.

        Args:
            request: k, ε and what is public of the data.
            basis: what construct_basis built.
            curator: the access to the data, with all that remains of the budget.
            answers: every noisy answer of the run so far.

        Returns:
            Noisy supports with standard errors, and the noisy number of transactions.
        """


class Observers:
    """Called around each stage, for progress, timing and logging; an observer changes nothing."""

    @hookspec
    def stage_started(self, stage: str, component: object) -> None:
        """A stage begins.

        Args:
            stage: the name of the stage.
            component: the component that implements it.
        """

    @hookspec
    def stage_finished(self, stage: str, component: object, result: object, charges: tuple[Charge, ...]) -> None:
        """A stage has returned a valid result.

        Args:
            stage: the name of the stage.
            component: the component that implements it.
            result: what it returned, frozen.
            charges: what this stage was charged.
        """
