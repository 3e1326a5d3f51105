"""The release itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import field, frozen

from privmine.privacy import Receipt
from privmine.release.display import as_html, as_text


@frozen
class FrequentItemset:
    """One released itemset.

    Attributes:
        items: its labels, in public order.
        count: its noisy support, in transactions.
        support: its noisy frequency: the count divided by the noisy number of transactions, kept within 0 and 1.
        standard_error: the standard deviation of the noise in the count.
    """

    items: tuple[Any, ...] = field(converter=tuple)
    count: float
    support: float
    standard_error: float


@frozen(repr=False)
class Release:
    """The most frequent itemsets with noisy counts, most frequent first.

    Attributes:
        itemsets: what was found; fewer than requested where the bases cover fewer.
        requested: how many were asked for.
        total: the noisy number of transactions, at least 1 (exact only where it was declared public).
        total_error: the standard deviation of its noise.
        receipt: what was spent, on what, under which assumptions.
    """

    itemsets: tuple[FrequentItemset, ...]
    requested: int
    total: float
    total_error: float
    receipt: Receipt

    def __len__(self) -> int:
        return len(self.itemsets)

    def __iter__(self) -> Iterator[FrequentItemset]:
        return iter(self.itemsets)

    def __getitem__(self, position: int) -> FrequentItemset:
        return self.itemsets[position]

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def columns(self) -> dict[str, list[Any]]:
        """The release as columns, mlxtend's names first.

        A simulated release has a column more, `simulated`, so that no copy of it passes for private.
        """
        columns: dict[str, list[Any]] = {
            "support": [found.support for found in self],
            "itemsets": [found.items for found in self],
            "count": [found.count for found in self],
            "length": [len(found.items) for found in self],
            "standard_error": [found.standard_error for found in self],
        }
        if not self.receipt.private:
            columns["simulated"] = [True] * len(self)
        return columns

    def to_pandas(self) -> Any:
        """A pandas DataFrame whose `itemsets` are frozensets; the receipt is in its `attrs`."""
        import pandas as pd

        columns = self.columns()
        columns["itemsets"] = [frozenset(items) for items in columns["itemsets"]]
        frame = pd.DataFrame(columns)
        frame.attrs["privmine"] = self.receipt.to_dict()
        return frame

    def save(self, path: str | Path) -> None:
        """Write to a .csv, .json, .parquet or .html file, whole or not at all; the receipt goes along."""
        from privmine.release.files import save

        save(self, path)
