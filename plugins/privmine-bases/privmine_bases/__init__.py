"""Alternative basis strategies for privmine: other answers to which items to count together."""

from __future__ import annotations

from privmine.api import Registrar, hookimpl


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five strategies, and the command that compares them."""
    registry.add("construct_basis", "single", "privmine_bases.single:SingleBasis")
    registry.add("construct_basis", "cliques", "privmine_bases.cliques:CliqueBasis")
    registry.add("construct_basis", "triples", "privmine_bases.triples:TripleBasis")
    registry.add("construct_basis", "worst-case", "privmine_bases.worst_case:WorstCaseBasis")
    registry.add("construct_basis", "cover", "privmine_bases.cover:CoveringDesign")
    registry.add_command(
        "plugins compare",
        "privmine_bases.compare:compare",
        "Show what each strategy for STAGE builds for the same items and itemsets; no data is read.",
    )
