"""The release itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen
from attrs.validators import in_

from privmine.model.counts import JOINT
from privmine.privacy import Receipt
from privmine.release.chosen import Chosen, intervals_of
from privmine.release.closure import without_gaps
from privmine.release.display import DEFAULT_LEVEL, as_html, as_text
from privmine.release.intervals import Interval, KeptLaw, NormalLaw, interval, kept_law
from privmine.release.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmine.release.comparison import Changes


@frozen
class FrequentItemset:
    """One released itemset.

    Attributes:
        items: its labels, in public order.
        count: its noisy support, in transactions; where the component has an estimate that may be biased, that.
        support: its noisy frequency: the count divided by the noisy number of transactions, kept within 0 and 1.
        standard_error: the standard deviation of the noise in the count, or in the unbiased count.
        law: how that noise is distributed; None where that is not known.
        unbiased_count: what its interval is made from, where the count is an estimate; else None.
    """

    items: tuple[Any, ...] = field(converter=tuple)
    count: float
    support: float
    standard_error: float
    law: KeptLaw | None = field(default=None, converter=kept_law, repr=False)
    unbiased_count: float | None = None

    @property
    def centre(self) -> float:
        """The centre of its interval: the count, or the unbiased count if the count is an estimate."""
        return self.count if self.unbiased_count is None else self.unbiased_count


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
        selection: how the itemsets were chosen among all that were counted; None in files of earlier versions.
        joint: how the noise in different counts hangs together, as in `NoisyCounts`; empty where that is not known.
    """

    itemsets: tuple[FrequentItemset, ...]
    requested: int
    total: float
    total_error: float
    receipt: Receipt
    total_law: KeptLaw | None = field(default=None, converter=kept_law)
    selection: Chosen | None = None
    joint: str = field(default="", validator=in_(JOINT))

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

    def intervals(self, level: float = DEFAULT_LEVEL, *, selected: bool = True) -> list[Interval]:
        """For each itemset from where to where its exact count lies, with a probability of at least `level`.

        The quantiles are those of the noise itself, or normal ones where its distribution is not known. An
        interval ends at 0, and at the number of transactions where that is public.

        Args:
            level: the probability that an interval holds.
            selected: allow for the choice of the largest noisy counts: intervals of the last rows then reach further
                down. Without it an interval holds for an itemset that was fixed in advance. A file of an earlier
                version does not tell how its itemsets were chosen, and has only those.
        """
        return intervals_of(self, level, selected=selected)

    @property
    def verdict(self) -> Verdict:
        """How far this release can be trusted; `verdict.lines(release)` says it in sentences."""
        return verdict_of(self)

    def total_interval(self, level: float = DEFAULT_LEVEL) -> Interval:
        """From where to where the exact number of transactions lies, with a probability of at least `level`."""
        low, high = interval(self.total, self.total_law or NormalLaw(self.total_error), level)
        # A noisy total below 1 is shown as 1, and then there may be no transaction at all.
        return Interval(low if self.total > 1 or self.receipt.n_public else 0.0, high)

    def columns(self, level: float = DEFAULT_LEVEL) -> dict[str, list[Any]]:
        """The release as columns, mlxtend's names first; `ci_low` and `ci_high` are the interval of the count.

        A release of estimates has a column more, `unbiased_count`. A simulated release has the column `simulated`,
        so that no copy of it passes for private.
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
        if any(found.unbiased_count is not None for found in self):
            columns["unbiased_count"] = [found.unbiased_count for found in self]
        if not self.receipt.private:
            columns["simulated"] = [True] * len(self)
        return columns

    def to_pandas(self, level: float = DEFAULT_LEVEL) -> Any:
        """A pandas DataFrame whose `itemsets` are frozensets; the receipt is in its `attrs`, under "privmine"."""
        from privmine.release.frames import to_pandas

        return to_pandas(self, level)

    def to_polars(self, level: float = DEFAULT_LEVEL) -> Any:
        """A Polars DataFrame whose `itemsets` are lists; the receipt is JSON in a column `receipt`."""
        from privmine.release.frames import to_polars

        return to_polars(self, level)

    def to_arrow(self, level: float = DEFAULT_LEVEL) -> Any:
        """An Arrow table whose `itemsets` are lists; the receipt is JSON in the schema's metadata, "privmine"."""
        from privmine.release.frames import to_arrow

        return to_arrow(self, level)

    def save(self, path: str | Path, level: float = DEFAULT_LEVEL, *, plain: bool = False) -> None:
        """Write to a .csv, .json, .parquet, .xlsx or .html file, whole or not at all; the receipt goes along.

        Args:
            path: where to; its ending tells the format.
            level: the level of the intervals.
            plain: write a .csv that any program opens as it is, with the receipt in a file beside it.
        """
        from privmine.release.release_files import save

        save(self, path, level, plain=plain)

    def downward_closed(self) -> Release:
        """This release without the itemsets of which a subset was not released.

        `mine(…, downward_closed=True)` keeps more, since it still has the counts of all candidates.
        """
        kept = without_gaps([found.items for found in self.itemsets])
        return evolve(self, itemsets=tuple(self.itemsets[position] for position in kept))

    def compare(self, other: Release) -> Changes:
        """What changed from this release to another: which supports by more than noise and chance explain.

        Raises:
            InputError: the two protect different units, or have labels of different types.
        """
        from privmine.release.comparison import compare

        return compare(self, other)

    def rules(
        self,
        metric: str = "confidence",
        min_threshold: float | None = None,
        support_only: bool = False,
        *,
        refined: bool = True,
        antecedent: Any = (),
        consequent: Any = (),
        prune: bool = False,
        level: float = DEFAULT_LEVEL,
    ) -> Any:
        """The association rules of this release as a pandas DataFrame with mlxtend's columns; they cost no budget.

        Only rules that noise does not explain are there: those of which no count can be 0, and whose lift is above 1,
        allowing for how many rules were looked at. What is left out stands in `attrs["privmine_words"]`. Further
        columns are the ends of intervals, such as `lift_low` and `lift_high`. Rules stand in the order of their
        itemsets, and of one itemset those with the longest antecedents first.

        Args:
            metric: which column decides whether a rule is shown, such as "lift"; with `support_only` the support.
            min_threshold: the least value of the metric; a rule whose metric is no number is not shown. Without it
                all refined rules are shown; unrefined ones and supports alone from 0.8 on, as in mlxtend.
            support_only: fill in the support only. This works where a subset of an itemset was not released.
            refined: leave out what noise explains, and keep values within their ranges. With False, rules and values
                are those of mlxtend's `association_rules` on `to_pandas()`.
            antecedent: only rules with at least one of these items on the left; `*` stands for any letters.
            consequent: likewise on the right.
            prune: leave out a rule if one with fewer items on the left and the same right side is as good.
            level: the level of the intervals.
        """
        from privmine.release.rules import rules

        return rules(
            self,
            metric=metric,
            min_threshold=min_threshold,
            support_only=support_only,
            refined=refined,
            antecedent=antecedent,
            consequent=consequent,
            prune=prune,
            level=level,
        )

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
            kind: "support", a bar an itemset with its interval; "graph", the items as dots that released pairs join;
                "matrix", the supports of released pairs, and of items on the diagonal; or "rules", the rules that
                noise does not explain by confidence and lift, with intervals.
            ax: where to draw; without it, in a new figure.
            top: how many itemsets ("support"), items ("graph", "matrix") or rules to show at most, most frequent
                itemsets and items first, largest lifts first.
            level: the level of the intervals of "support" and "rules".
        """
        from privmine.release.plots import plot

        return plot(self, kind, ax=ax, top=top, level=level)
