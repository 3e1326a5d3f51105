"""PrivBasis (Li, Qardaji, Su, Cao, VLDB 2012) as five ordinary plugins."""

from __future__ import annotations

from privmine.api import Registrar, hookimpl


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five components of PrivBasis and the preset that joins them."""
    registry.add("allocate_budget", "fixed-shares", "privmine.defaults.allocate:FixedShares")
    registry.add("estimate_lambda", "rank-gap", "privmine.defaults.estimate:RankGapLambda")
    registry.add("select_elements", "items-and-pairs", "privmine.defaults.select:ItemsAndPairs")
    registry.add("construct_basis", "greedy-merge", "privmine.defaults.construct:GreedyBasis")
    registry.add("reconstruct_counts", "basis-frequencies", "privmine.defaults.reconstruct:BasisFrequencies")
    registry.add_preset(
        "privbasis",
        {
            "allocate_budget": "fixed-shares",
            "estimate_lambda": "rank-gap",
            "select_elements": "items-and-pairs",
            "construct_basis": "greedy-merge",
            "reconstruct_counts": "basis-frequencies",
        },
        "PrivBasis (VLDB 2012): noisy histograms of a few small item sets that cover the frequent itemsets",
    )
