"""The truncated-frequency method (Bhaskar, Laxman, Smith, Thakurta, KDD 2010) as five plugins.

As Section 3 of the PrivBasis paper describes it: one half of the budget chooses k itemsets of at most
m items, the other half counts them.
"""

from __future__ import annotations

from privmine.api import Registrar, hookimpl


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the components, and a preset for each of the three selectors."""
    registry.add("allocate_budget", "halves", "privmine_tf.allocate:Halves")
    registry.add("estimate_lambda", "none", "privmine_tf.estimate:NoLambda")
    registry.add("select_elements", "truncated", "privmine_tf.select:Truncated")
    registry.add("select_elements", "truncated-monotone", "privmine_tf.select:MonotoneTruncated")
    registry.add("select_elements", "truncated-noisy", "privmine_tf.select:NoisyTruncated")
    registry.add("construct_basis", "direct", "privmine_tf.construct:SelectedAsBases")
    registry.add("reconstruct_counts", "direct", "privmine_tf.reconstruct:DirectSupports")
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
