"""The truncated-frequency method (Bhaskar, Laxman, Smith, Thakurta, KDD 2010) as five plugins.

As Section 3 of the PrivBasis paper describes it: one half of the budget chooses k itemsets of at most
m items, the other half counts them.
"""

from __future__ import annotations

from privmine.api import Registrar, hookimpl

#: By name, the three selectors: where each is, its preset, and what the preset is.
SELECTORS = {
    "truncated": (
        "Truncated",
        "tf",
        "truncated frequencies (KDD 2010), selected by the exponential mechanism as published",
    ),
    "truncated-monotone": (
        "MonotoneTruncated",
        "tf-monotone",
        "truncated frequencies, selected with half the noise of the published",
    ),
    "truncated-noisy": (
        "NoisyTruncated",
        "tf-noisy",
        "truncated frequencies (KDD 2010), selected by Laplace noise on all of them",
    ),
}


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the components, and a preset for each of the three selectors."""
    registry.add("allocate_budget", "halves", "privmine_tf.allocate:Halves")
    registry.add("estimate_lambda", "none", "privmine_tf.estimate:NoLambda")
    registry.add("construct_basis", "direct", "privmine_tf.construct:SelectedAsBases")
    registry.add("reconstruct_counts", "direct", "privmine_tf.reconstruct:DirectSupports")
    others = {
        "allocate_budget": "halves",
        "estimate_lambda": "none",
        "construct_basis": "direct",
        "reconstruct_counts": "direct",
    }
    for selector, (place, preset, summary) in SELECTORS.items():
        registry.add("select_elements", selector, f"privmine_tf.select:{place}")
        registry.add_preset(preset, {**others, "select_elements": selector}, summary)
