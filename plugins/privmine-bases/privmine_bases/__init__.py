"""Alternative basis strategies for privmine: other answers to which items to count together."""

from __future__ import annotations

from privmine.api import Registrar, hookimpl
from privmine_bases.cliques import CliqueBasis
from privmine_bases.cover import CoveringDesign
from privmine_bases.single import SingleBasis
from privmine_bases.triples import TripleBasis
from privmine_bases.worst_case import WorstCaseBasis

__all__ = ["CliqueBasis", "CoveringDesign", "SingleBasis", "TripleBasis", "WorstCaseBasis"]


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the five strategies, and the command that compares them."""
    registry.add("construct_basis", "single", SingleBasis)
    registry.add("construct_basis", "cliques", CliqueBasis)
    registry.add("construct_basis", "triples", TripleBasis)
    registry.add("construct_basis", "worst-case", WorstCaseBasis)
    registry.add("construct_basis", "cover", CoveringDesign)
    registry.add_command(
        "plugins compare",
        "privmine_bases.compare:compare",
        "Show what each strategy for STAGE builds for the same items and itemsets; no data is read.",
    )
