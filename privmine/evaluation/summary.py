"""Many runs in few numbers: means with confidence intervals, and two pipelines against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
from attrs import frozen

from privmine.errors import InputError, UnknownNameError
from privmine.evaluation.result_rows import Row, as_rows, epsilon_of, metric_words
from privmine.evaluation.statistics import sign_flip_p_value, t_quantile

CONFIDENCE = 0.95
#: What a cell is, in the order of a summary's rows.
CELL = ("data", "k", "epsilon", "pipeline")


@frozen
class Mean:
    """The mean of a metric with its confidence interval.

    Attributes:
        n: how many values there are; a run without one (an RE with nothing to measure) does not count.
        mean: their mean; infinite if a value is, None without values.
        low: the lower end of the interval by Student's t, None for fewer than two values or infinite ones.
        high: its upper end.
        standard_error: what the paper's error bars show.
    """

    n: int
    mean: float | None
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None

    @property
    def half_width(self) -> float | None:
        """What stands behind ±."""
        return None if self.high is None or self.mean is None else self.high - self.mean

    @property
    def mean_text(self) -> str:
        """The mean alone, for a table."""
        return "–" if self.mean is None else _short(self.mean)

    def __str__(self) -> str:
        return self.mean_text if self.half_width is None else f"{self.mean_text} ± {_short(self.half_width)}"


def _short(value: float) -> str:
    if not isfinite(value):
        return "∞"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0 else f"{value:.2g}"


def mean_of(values: Iterable[float | None], confidence: float = CONFIDENCE) -> Mean:
    """Mean and confidence interval of some values."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(known):
        return Mean(0, None)
    mean = float(known.mean())
    if len(known) < 2 or not np.isfinite(known).all():
        return Mean(len(known), mean)
    # Equal values have no spread; rounding would give them one of 1e-17.
    spread = float(known.std(ddof=1)) if known.min() < known.max() else 0.0
    error = spread / sqrt(len(known))
    half = t_quantile(confidence, len(known) - 1) * error
    return Mean(len(known), mean, mean - half, mean + half, error)


def grouped(rows: Any, by: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some columns, in rising order; ε counts as a number."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in as_rows(rows):
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return dict(sorted(groups.items(), key=lambda group: _order(group[1][0], by)))


def _order(row: Mapping[str, Any], by: Sequence[str]) -> tuple[Any, ...]:
    return tuple(epsilon_of(row) if name == "epsilon" else row[name] for name in by)


def summarise(rows: Any, metrics: Sequence[str] = ("fnr", "re"), by: Sequence[str] = CELL) -> list[Row]:
    """One row a cell: its key, the number of runs, and a `Mean` of each metric.

    Args:
        rows: rows, or a frame of them.
        metrics: the columns to average; any numeric column will do.
        by: what makes a cell.
    """
    rows = as_rows(rows)
    for name in (*by, *metrics) if rows else ():
        if name not in rows[0]:
            raise UnknownNameError("column in these results", name, rows[0])
    return [
        dict(zip(by, key, strict=True))
        | {"runs": len(group)}
        | {metric: mean_of(row[metric] for row in group) for metric in metrics}
        for key, group in grouped(rows, by).items()
    ]


@frozen
class Comparison:
    """Two pipelines against each other, paired by data, k, ε and repeat.

    Attributes:
        where: the columns that were held fixed, with their values.
        n: how many pairs.
        first: the mean of the first pipeline over the pairs.
        second: that of the second.
        difference: first − second, with its confidence interval; negative where the first has less.
        p: the two-sided p-value of the sign-flip permutation test.
    """

    where: Row
    n: int
    first: float
    second: float
    difference: Mean
    p: float


def compare_pipelines(
    rows: Any, first: str, second: str, metric: str = "fnr", by: Sequence[str] = ("data", "k", "epsilon")
) -> list[Comparison]:
    """Compare two pipelines pair by pair; with `by=()`, over all cells at once.

    Pairs of which a value is missing or infinite are left out, and `n` says how many there are.
    """
    listed = as_rows(rows)
    known = {row["pipeline"] for row in listed}
    for name in (first, second):
        if name not in known:
            raise UnknownNameError("pipeline in these results", name, known)
    if listed and metric not in listed[0]:
        raise UnknownNameError("metric", metric, metric_words())
    if first == second:
        raise InputError("A comparison needs two different pipelines.")
    compared = []
    for key, group in grouped([row for row in listed if row["pipeline"] in (first, second)], by).items():
        pairs = _pairs(group, first, second, metric)
        differences = pairs[:, 0] - pairs[:, 1]
        compared.append(
            Comparison(
                dict(zip(by, key, strict=True)),
                len(pairs),
                float(pairs[:, 0].mean()) if len(pairs) else nan,
                float(pairs[:, 1].mean()) if len(pairs) else nan,
                mean_of(differences.tolist()),
                sign_flip_p_value(differences),
            )
        )
    return compared


def _pairs(rows: Iterable[Row], first: str, second: str, metric: str) -> Any:
    values: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        value = row[metric]
        if value is not None and isfinite(value):
            values.setdefault((row["data"], row["k"], row["epsilon"], row["repeat"]), {})[row["pipeline"]] = value
    complete = [[pair[first], pair[second]] for pair in values.values() if len(pair) == 2]
    return np.array(complete, dtype=np.float64).reshape(-1, 2)
