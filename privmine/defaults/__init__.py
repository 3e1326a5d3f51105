"""PrivBasis (Li, Qardaji, Su, Cao, VLDB 2012) as five ordinary plugins."""

from __future__ import annotations

from privmine.api import Registrar, hookimpl

#: By stage, the component of PrivBasis: its name and where it is.
COMPONENTS = {
    "allocate_budget": ("fixed-shares", "allocate:FixedShares"),
    "estimate_lambda": ("rank-gap", "estimate:RankGapLambda"),
    "select_elements": ("items-and-pairs", "select:ItemsAndPairs"),
    "construct_basis": ("greedy-merge", "construct:GreedyBasis"),
    "reconstruct_counts": ("basis-frequencies", "reconstruct:BasisFrequencies"),
}


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five components of PrivBasis and the preset that joins them."""
    for stage, (name, place) in COMPONENTS.items():
        registry.add(stage, name, f"privmine.defaults.{place}")
    registry.add_preset(
        "privbasis",
        {stage: name for stage, (name, _) in COMPONENTS.items()},
        "PrivBasis (VLDB 2012): noisy histograms of a few small item sets that cover the frequent itemsets",
    )
