"""The release itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from privmine.intervals import Interval, KeptLaw, NormalLaw, interval, kept_law
from privmine.privacy import Receipt
from privmine.release.closure import without_gaps
from privmine.release.display import DEFAULT_LEVEL, as_html, as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@frozen
class FrequentItemset:
    """One released itemset.

    Attributes:
        items: its labels, in public order.
        count: its noisy support, in transactions.
        support: its noisy frequency: the count divided by the noisy number of transactions, kept within 0 and 1.
        standard_error: the standard deviation of the noise in the count.
        law: how that noise is distributed; None where that is not known.
    """

    items: tuple[Any, ...] = field(converter=tuple)
    count: float
    support: float
    standard_error: float
    law: KeptLaw | None = field(default=None, converter=kept_law, repr=False)


@frozen(repr=False)
class Release:
    """The most frequent itemsets with noisy counts, most frequent first.

    Attributes:
        itemsets: what was found; fewer than requested where the bases cover fewer.
        requested: how many were asked for.
        total: the noisy number of transactions, at least 1 (exact only where it was declared public).
        total_error: the standard deviation of its noise.
        receipt: what was spent, on what, under which assumptions.
        total_law: how the noise in the total is distributed; None where that is not known.
    """

    itemsets: tuple[FrequentItemset, ...]
    requested: int
    total: float
    total_error: float
    receipt: Receipt
    total_law: KeptLaw | None = field(default=None, converter=kept_law)

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

    def intervals(self, level: float = DEFAULT_LEVEL) -> list[Interval]:
        """For each itemset from where to where its exact count lies, with a probability of at least `level`.

        The quantiles are those of the noise itself, or normal ones where its distribution is not known. An
        interval ends at 0, and at the number of transactions where that is public. It holds for an itemset
        that was fixed in advance, not given that it was selected for its large noisy count.
        """
        most = self.total if self.receipt.n_public else inf
        return [
            interval(found.count, found.law or NormalLaw(found.standard_error), level, most) for found in self.itemsets
        ]

    def total_interval(self, level: float = DEFAULT_LEVEL) -> Interval:
        """From where to where the exact number of transactions lies, with a probability of at least `level`."""
        low, high = interval(self.total, self.total_law or NormalLaw(self.total_error), level)
        # A noisy total below 1 is shown as 1, and then there may be no transaction at all.
        return Interval(low if self.total > 1 or self.receipt.n_public else 0.0, high)

    def columns(self, level: float = DEFAULT_LEVEL) -> dict[str, list[Any]]:
        """The release as columns, mlxtend's names first; `ci_low` and `ci_high` are the interval of the count.

        A simulated release has a column more, `simulated`, so that no copy of it passes for private.
        """
        intervals = self.intervals(level)
        columns: dict[str, list[Any]] = {
            "support": [found.support for found in self],
            "itemsets": [found.items for found in self],
            "count": [found.count for found in self],
            "length": [len(found.items) for found in self],
            "ci_low": [low for low, _ in intervals],
            "ci_high": [high for _, high in intervals],
            "standard_error": [found.standard_error for found in self],
        }
        if not self.receipt.private:
            columns["simulated"] = [True] * len(self)
        return columns

    def to_pandas(self, level: float = DEFAULT_LEVEL) -> Any:
        """A pandas DataFrame whose `itemsets` are frozensets; the receipt is in its `attrs`, under "privmine"."""
        from privmine.release.tables import to_pandas

        return to_pandas(self, level)

    def to_polars(self, level: float = DEFAULT_LEVEL) -> Any:
        """A Polars DataFrame whose `itemsets` are lists; the receipt is JSON in a column `receipt`."""
        from privmine.release.tables import to_polars

        return to_polars(self, level)

    def to_arrow(self, level: float = DEFAULT_LEVEL) -> Any:
        """An Arrow table whose `itemsets` are lists; the receipt is JSON in the schema's metadata, "privmine"."""
        from privmine.release.tables import to_arrow

        return to_arrow(self, level)

    def save(self, path: str | Path, level: float = DEFAULT_LEVEL) -> None:
        """Write to a .csv, .json, .parquet or .html file, whole or not at all; the receipt goes along."""
        from privmine.release.files import save

        save(self, path, level)

    def downward_closed(self) -> Release:
        """This release without the itemsets of which a subset was not released.

        `mine(…, downward_closed=True)` keeps more, since it still has the counts of all candidates.
        """
        kept = without_gaps([found.items for found in self.itemsets])
        return evolve(self, itemsets=tuple(self.itemsets[position] for position in kept))

    def rules(self, metric: str = "confidence", min_threshold: float = 0.8, support_only: bool = False) -> Any:
        """The association rules of this release as a pandas DataFrame with mlxtend's columns; they cost no budget.

        Names, values and defaults are those of mlxtend's `association_rules` on `to_pandas()`. Rules stand in
        the order of their itemsets, and of one itemset those with the longest antecedents first.

        Args:
            metric: which column decides whether a rule is shown, such as "lift"; with `support_only` the support.
            min_threshold: the least value of the metric; a rule whose metric is no number is not shown.
            support_only: fill in the support only. This works where a subset of an itemset was not released.
        """
        from privmine.release.rules import rules

        return rules(self, metric, min_threshold, support_only)

    def plot(
        self,
        kind: str = "support",
        *,
        ax: Axes | None = None,
        top: int | None = None,
        level: float = DEFAULT_LEVEL,
    ) -> Axes:
        """Draw the release with matplotlib.

        Args:
            kind: "support", a bar an itemset with the interval of its noise; "graph", the items as dots that
                released pairs join; or "matrix", the supports of released pairs, and of items on the diagonal.
            ax: where to draw; without it, in a new figure.
            top: how many itemsets ("support") or items ("graph", "matrix") to show at most, most frequent first.
            level: the level of the intervals of "support".
        """
        from privmine.release.plots import plot

        return plot(self, kind, ax=ax, top=top, level=level)
