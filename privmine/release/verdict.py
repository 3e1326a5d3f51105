"""How far a release can be trusted, in numbers and in a few sentences.

Everything here is computed from noisy counts and from what is known of their noise. It looks at no data and costs no
budget.
"""

from __future__ import annotations

from math import comb, hypot
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import asdict, frozen
from numpy.typing import NDArray

from privmine.release.chosen import chances_of_zero
from privmine.release.display import DEFAULT_LEVEL
from privmine.release.intervals import NormalLaw
from privmine.release.tails import tail_of

if TYPE_CHECKING:
    from privmine.release.release import FrequentItemset, Release


BoolArray: TypeAlias = NDArray[np.bool_]

#: If nothing that was counted is in more than this share of the transactions, labels are probably misspelt.
_TINY = 0.01


@frozen
class Verdict:
    """What a release shows, and what it leaves open.

    Attributes:
        rows: how many itemsets are listed.
        above_zero: how many of their counts are clearly above 0. Of these, at most 5 % are expected to be 0 in the
            data, however many counts there are.
        clear_order: how many rows, from the first on, are more frequent than the last row; with a probability of 95 %
            that holds for all of them at once. From the next rank on the order is a matter of chance.
        found_from: an itemset that was counted is listed in 19 of 20 runs if it is in at least so many transactions;
            None where that is not known, or where everything that was counted is listed.
        doubtful: how many rows cannot be told from itemsets that were counted and are not listed; None where that is
            not known.
    """

    rows: int
    above_zero: int
    clear_order: int
    found_from: float | None
    doubtful: int | None

    def lines(self, release: Release) -> list[str]:
        """The verdict in sentences."""
        if not self.rows:
            return ["Nothing is listed, so there is nothing to judge."]
        told = [_counted(self.above_zero, self.rows)]
        lows = np.array([low for low, _ in release.intervals()])
        if apart := int((lows > 0)[~told_from_zero(release)].sum()):
            those = "The interval of one of them is" if apart == 1 else f"The intervals of {apart:,} of them are"
            told[0] += f" {those}, which with so many counts happens by chance."
        if (most := self._hardly_any(release)) is not None:
            told.append(
                f"Of what was counted hardly anything is in more than {_percent(most)} of the transactions. If you "
                "expect more, check that the labels of the item universe are written as in the data: case, blanks, "
                "numbers or names."
            )
        elif self.above_zero < self.rows / 2:
            told.append("This is mostly noise: ask for fewer itemsets, or spend a larger ε.")
        total = release.total_interval()
        if total.low <= 0:
            told.append("The number of transactions is not clearly above 0, so the supports mean nothing.")
        told.append(self._order())
        if self.found_from is not None:
            share = f" ({_percent(self.found_from / release.total)})" if self.found_from <= release.total else ""
            share = ", and there are probably not that many" if self.found_from > total.high else share
            told.append(
                f"An itemset that was counted is listed in 19 of 20 runs if it is in at least {self.found_from:,.0f} "
                f"{release.receipt.counted.partition(',')[0]}{share}."
            )
        if self.doubtful:
            told.append(
                f"{_rows(self.doubtful)} may be no more frequent than itemsets that were counted but are not listed: "
                f"up to {self.doubtful:,} of the {self.rows:,} most frequent itemsets may be missing."
            )
        return told

    def _hardly_any(self, release: Release) -> float | None:
        """The share of the transactions that no counted itemset exceeds, if it is tiny and no count is above 0."""
        if self.above_zero or self.found_from is None:
            return None
        most = max(self.found_from, *(high for _, high in release.intervals())) / release.total
        return most if most < _TINY else None

    def _order(self) -> str:
        if self.clear_order >= self.rows - 1:
            return "Every row is more frequent than the last one." if self.rows > 1 else "There is only one row."
        if not self.clear_order:
            return "The order is a matter of chance: even the first count is not clearly above the last one."
        return (
            f"From rank {self.clear_order + 1} on the order is a matter of chance: the count there is not clearly "
            "above the last one."
        )

    def to_dict(self, release: Release) -> dict[str, Any]:
        """Plain values for JSON, the sentences among them."""
        return {**asdict(self), "words": self.lines(release)}


def verdict_of(release: Release) -> Verdict:
    """Judge a release."""
    intervals = release.intervals()
    # What estimates listed says nothing of what other runs would.
    chosen = None if release.selection is None or release.selection.by_estimates else release.selection
    cutoff = None if chosen is None else chosen.cutoff
    found_from = None
    doubtful = 0 if chosen is not None else None
    if cutoff is not None and len(release):
        reach = max(_tail(found).quantile(1 - DEFAULT_LEVEL) for found in release)
        found_from = max(cutoff + reach, 0.0)
        doubtful = sum(low <= cutoff for low, _ in intervals)
    above_zero = int(told_from_zero(release).sum())
    return Verdict(len(release), above_zero, _clear_order(release), found_from, doubtful)


def told_from_zero(release: Release) -> BoolArray:
    """Which counts are clearly above 0, such that of these at most 5 % are expected to be 0 (Benjamini and Hochberg).

    One interval in twenty misses. Where most counts are noise, those whose intervals lie above 0 by chance would be
    many among the few that do, so that the intervals alone tell too little.
    """
    chances = np.sort(found := chances_of_zero(release))
    limits = (1 - DEFAULT_LEVEL) * np.arange(1, len(chances) + 1) / max(len(chances), 1)
    small = np.flatnonzero(chances <= limits)
    told: BoolArray = found <= chances[small[-1]] if len(small) else np.zeros(len(found), dtype=np.bool_)
    return told


def _clear_order(release: Release) -> int:
    """How many of the first rows are more frequent than the last one, all of them together with 95 %.

    Which row is the last one is settled by noise too: of equally frequent itemsets it is the one with the least. So all
    pairs of rows are allowed for, not only those with the last row.

    The noise of two counts of the same bases goes up and down together, so that taking it for independent makes their
    difference look noisier than it is.
    """
    if len(release) < 2:
        return 0
    last = release.itemsets[-1]
    part = (1 - DEFAULT_LEVEL) / comb(len(release), 2)
    for row, found in enumerate(release.itemsets[:-1]):
        steps = max(
            _tail(one).quantile(part) / one.standard_error if one.standard_error > 0 else 0.0 for one in (found, last)
        )
        if found.centre - last.centre <= steps * hypot(found.standard_error, last.standard_error):
            return row
    return len(release) - 1


def _tail(found: FrequentItemset) -> Any:
    return tail_of(found.law or NormalLaw(found.standard_error))


def _percent(share: float) -> str:
    return f"{share:.2%}".replace("%", " %")


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _counted(above: int, rows: int) -> str:
    if above == rows:
        return "The count is clearly above 0." if rows == 1 else f"All {rows:,} counts are clearly above 0."
    if not above:
        return "The count is not clearly above 0." if rows == 1 else f"None of the {rows:,} counts is clearly above 0."
    return f"{rows - above:,} of {rows:,} counts {'is' if rows - above == 1 else 'are'} not clearly above 0."
