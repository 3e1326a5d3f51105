"""The outcomes of many runs on two databases as columns of numbers, one for each feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from privmine.audit.outcomes import Outcome
from privmine.model import FloatArray, IntArray

#: Columns beyond this tell little more, and each makes the search for events slower.
_MOST_COLUMNS = 96
#: Values of a category beyond this are too rare to tell anything.
_MOST_LABELS = 200
#: So many cuts are tried in a column of numbers.
_MOST_CUTS = 40


@frozen(eq=False)
class OutcomeColumn:
    """One feature of all runs, on the first database and on the second.

    Attributes:
        group: what the feature is a result of.
        name: what the feature is.
        values: for each side the numbers, or the numbers of the labels; NaN where a run lacks the feature.
        labels: what the numbers of a category stand for; None for a feature that is a number itself.
    """

    group: str
    name: str
    values: tuple[FloatArray, FloatArray]
    labels: tuple[Any, ...] | None

    def cuts(self, rows: slice) -> FloatArray:
        """Values that divide the given runs, of both sides together, into parts of about equal size."""
        pooled: FloatArray = np.concatenate([side[rows] for side in self.values])
        pooled = pooled[~np.isnan(pooled)]
        if not len(pooled):
            return np.zeros(0)
        cuts: FloatArray = np.unique(np.quantile(pooled, np.linspace(0, 1, _MOST_CUTS + 1), method="nearest"))
        return cuts

    def cells(self, side: int, rows: slice, cuts: FloatArray) -> IntArray:
        """For each run the number of the cell that it falls into: a label, or between two cuts; 0 where it has none."""
        values = self.values[side][rows]
        places = values if self.labels is not None else np.searchsorted(cuts, values, side="right")
        return np.where(np.isnan(values), 0, places + 1).astype(np.int64)

    def cell_count(self, cuts: FloatArray) -> int:
        """How many cells there are."""
        return 1 + (len(self.labels) if self.labels is not None else len(cuts) + 1)


def columns_of(first: Sequence[Outcome], second: Sequence[Outcome], rows: slice) -> list[OutcomeColumn]:
    """Every feature as a column; if there are very many, the most common ones.

    What occurs, and how often, is judged by the given rows only: the others are for the test.
    """
    seen = (*first[rows], *second[rows])
    occurring = Counter((group, name) for outcome in seen for group, features in outcome.items() for name in features)
    return [_column(first, second, rows, group, name) for (group, name), _ in occurring.most_common(_MOST_COLUMNS)]


def _column(first: Sequence[Outcome], second: Sequence[Outcome], rows: slice, group: str, name: str) -> OutcomeColumn:
    sides = [[outcome.get(group, {}).get(name) for outcome in outcomes] for outcomes in (first, second)]
    if all(value is None or isinstance(value, float) for side in sides for value in side[rows]):
        numbers = [
            np.array([value if isinstance(value, float) else np.nan for value in side], dtype=np.float64)
            for side in sides
        ]
        return OutcomeColumn(group, name, (numbers[0], numbers[1]), None)
    seen = Counter(value for side in sides for value in side[rows])
    frequent = [value for value, _ in seen.most_common(_MOST_LABELS)]
    number = {value: place for place, value in enumerate(frequent)}
    codes = [np.array([number.get(value, np.nan) for value in side], dtype=np.float64) for side in sides]
    return OutcomeColumn(group, name, (codes[0], codes[1]), tuple(frequent))


def of_groups(columns: Iterable[OutcomeColumn], groups: Sequence[str]) -> Iterator[OutcomeColumn]:
    """The columns that belong to any of the groups."""
    return (column for column in columns if column.group in groups)
