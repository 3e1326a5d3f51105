"""The truncated-frequency method (Bhaskar, Laxman, Smith, Thakurta, KDD 2010) as five plugins.

As Section 3 of the PrivBasis paper describes it: one half of the budget chooses k itemsets of at most
m items, the other half counts them.
"""

from __future__ import annotations

from privmine.api import Registrar, hookimpl
from privmine_tf.allocate import Halves
from privmine_tf.construct import SelectedAsBases
from privmine_tf.estimate import NoLambda
from privmine_tf.reconstruct import DirectSupports
from privmine_tf.select import MonotoneTruncated, NoisyTruncated, Truncated

__all__ = [
    "DirectSupports",
    "Halves",
    "MonotoneTruncated",
    "NoLambda",
    "NoisyTruncated",
    "SelectedAsBases",
    "Truncated",
    "privmine_register",
]


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the components, and a preset for each of the three selectors."""
    registry.add("allocate_budget", "halves", Halves)
    registry.add("estimate_lambda", "none", NoLambda)
    registry.add("select_elements", "truncated", Truncated)
    registry.add("select_elements", "truncated-monotone", MonotoneTruncated)
    registry.add("select_elements", "truncated-noisy", NoisyTruncated)
    registry.add("construct_basis", "direct", SelectedAsBases)
    registry.add("reconstruct_counts", "direct", DirectSupports)
    for name, selector, summary in (
        ("tf", "truncated", "truncated frequencies (KDD 2010), selected by the exponential mechanism as published"),
        ("tf-monotone", "truncated-monotone", "truncated frequencies, selected with half the noise of the published"),
        ("tf-noisy", "truncated-noisy", "truncated frequencies (KDD 2010), selected by Laplace noise on all of them"),
    ):
        registry.add_preset(
            name,
            {
                "allocate_budget": "halves",
                "estimate_lambda": "none",
                "select_elements": selector,
                "construct_basis": "direct",
                "reconstruct_counts": "direct",
            },
            summary,
        )
