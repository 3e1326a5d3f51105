"""What came after PrivBasis, as components of privmine.

Sparse data: candidates are counted directly, in measurements that bound what a transaction adds. Dense data:
a model of noisy item and pair counts. A noisy gate chooses between the two.
"""

from __future__ import annotations

from privmine.api import Registrar, hookimpl


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the components, and the preset that joins them."""
    registry.add("allocate_budget", "plus", "privmine_plus.dispatch:PlusShares")
    registry.add("estimate_lambda", "threshold", "privmine_plus.estimate:NoisyThreshold")
    registry.add("select_elements", "bounded-levels", "privmine_plus.levels:BoundedLevels")
    registry.add("select_elements", "noisy-items", "privmine_plus.noisy_items:NoisyItems")
    registry.add("select_elements", "plus", "privmine_plus.dispatch:PlusSelection")
    registry.add("construct_basis", "first-fit", "privmine_plus.cover:FirstFitBases")
    registry.add("construct_basis", "item-pairs", "privmine_plus.item_pairs:ItemPairs")
    registry.add("construct_basis", "plus", "privmine_plus.dispatch:PlusBases")
    registry.add("reconstruct_counts", "refine", "privmine_plus.refine:Refine")
    registry.add("reconstruct_counts", "pair-moments", "privmine_plus.pair_moments:PairMoments")
    registry.add("reconstruct_counts", "walsh-gls", "privmine_plus.better_bins:WalshLeastSquares")
    registry.add("reconstruct_counts", "unequal-budgets", "privmine_plus.better_bins:UnequalBudgets")
    registry.add("reconstruct_counts", "norm-cut", "privmine_plus.better_bins:NormCut")
    registry.add("reconstruct_counts", "plus", "privmine_plus.dispatch:PlusCounts")
    registry.add_preset(
        "plus",
        {
            "allocate_budget": "plus",
            "estimate_lambda": "threshold",
            "select_elements": "plus",
            "construct_basis": "plus",
            "reconstruct_counts": "plus",
        },
        "bounded counts on sparse data, moments of pairs on dense data: far fewer misses than PrivBasis",
    )
