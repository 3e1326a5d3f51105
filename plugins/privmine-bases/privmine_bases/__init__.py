"""Alternative basis strategies for privmine: other answers to which items to count together."""

from __future__ import annotations

from privmine.api import Registrar, hookimpl

#: By name, where each strategy is.
STRATEGIES = {
    "single": "single:SingleBasis",
    "cliques": "cliques:CliqueBasis",
    "triples": "triples:TripleBasis",
    "worst-case": "worst_case:WorstCaseBasis",
    "cover": "cover:CoveringDesign",
}


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five strategies, and the command that compares them."""
    for name, place in STRATEGIES.items():
        registry.add("construct_basis", name, f"privmine_bases.{place}")
    registry.add_command(
        "plugins compare",
        "privmine_bases.compare:compare",
        "Show what each strategy for STAGE builds for the same items and itemsets; no data is read.",
    )
