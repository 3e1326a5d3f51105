"""The experiments of the PrivBasis paper (Li, Qardaji, Su, Cao, VLDB 2012), and data like the paper's AOL data."""

from __future__ import annotations

from privmine.api import Dataset, Registrar, hookimpl

#: The file that aol-like is generated from, and the checksum of its text.
AOL_ITEMSETS = "aol-frequent-itemsets.txt"
AOL_ITEMSETS_SHA256 = "35660ff338df60a62c62654afc9db3b122787e159bcfe2a36021ebe7f4a7d3c4"

AOL = Dataset(
    "aol",
    "keywords that each user of a search engine searched for",
    "AOL Research, 2006; withdrawn by AOL",
    "withdrawn; it is people's searches, and neither fetched nor distributed",
    647_377,
    2_290_685,
    34.0,
    note="Use aol-like, synthetic data with its frequent items and pairs.",
)
AOL_LIKE = Dataset(
    "aol-like",
    "SYNTHETIC data with the published frequent items and pairs of aol",
    f"generated from {AOL_ITEMSETS}.gz",
    "none needed: generated, no transaction is anybody's",
    AOL.transactions,
    AOL.items,
    AOL.mean_length,
    generator="privmine_paper.aol:aol_like",
    needs={AOL_ITEMSETS: AOL_ITEMSETS_SHA256},
    # Another name when the generator changes, so that no old data is taken for new.
    kept_as="aol-like-2.npz",
)


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the command and the data."""
    registry.add_command(
        "experiment paper",
        "privmine_paper.command:paper",
        "Repeat the paper's experiments: Table 2, Figures 1 to 5, and its statements, as a page with figures.",
    )
    registry.add_command(
        "leaderboard",
        "privmine_paper.leaderboard_command:leaderboard",
        "Run every method on every dataset, and write a page of misses, errors, coverage and time.",
    )
    registry.add_dataset(AOL)
    registry.add_dataset(AOL_LIKE)
