"""A component for each stage, as small as they can be, and the method that joins them."""

from __future__ import annotations

from math import sqrt

from attrs import frozen

from privmine.api import (
    BasisSet,
    BudgetPlan,
    Curator,
    Elements,
    Estimate,
    ItemSupports,
    NoisyCounts,
    Registrar,
    Request,
    Supports,
    exact,
    hookimpl,
    parameter,
)


@frozen
class Halves:
    """Half for the selection, half for the counts."""

    @hookimpl
    def allocate_budget(self) -> BudgetPlan:
        """Divide."""
        return BudgetPlan(exact("0.1"), exact("0.4"), exact("0.5"))


@frozen
class FixedLambda:
    """Takes λ as given.

    Privacy: looks at no data.
    """

    lam: int = parameter(5, help="λ")

    @hookimpl
    def estimate_lambda(self, request: Request) -> Estimate:
        """Clamp λ to what there is."""
        return Estimate(lam=min(self.lam, request.k, len(request.public.universe)))


@frozen
class Items:
    """Selects items.

    Privacy: draws of the exponential mechanism on supports.
    """

    @hookimpl
    def select_elements(self, request: Request, estimate: Estimate, curator: Curator) -> Elements:
        """Choose."""
        chosen = curator.choose(ItemSupports(len(request.public.universe)), estimate.lam or 0).chosen
        return Elements([item for (item,) in chosen])  # type: ignore[misc]


@frozen
class Singletons:
    """Every item is a basis."""

    @hookimpl
    def construct_basis(self, elements: Elements) -> BasisSet:
        """Take the items one by one."""
        return BasisSet([(item,) for item in sorted({*elements.items}.union(*elements.itemsets))])


@frozen
class BasisSupports:
    """Counts the bases themselves.

    Privacy: one measurement of supports, with a sensitivity of their number.
    """

    @hookimpl
    def reconstruct_counts(self, basis: BasisSet, curator: Curator) -> NoisyCounts:
        """Measure."""
        bases = sorted({members for members in basis.bases if members})
        answer = curator.measure(Supports([(), *bases]))
        total, *counts = answer.values.tolist()
        error = sqrt(answer.noise.variance)
        return NoisyCounts(bases, counts, [error] * len(counts), total, error)


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five, and the method `sample`."""
    stages = {
        "allocate_budget": ("sample-halves", Halves),
        "estimate_lambda": ("sample-fixed", FixedLambda),
        "select_elements": ("sample-items", Items),
        "construct_basis": ("sample-singletons", Singletons),
        "reconstruct_counts": ("sample-supports", BasisSupports),
    }
    for stage, (name, cls) in stages.items():
        registry.add(stage, name, cls)
    registry.add_preset("sample", {stage: name for stage, (name, _) in stages.items()}, "single items, for tests")
