"""Figures: a metric against ε with confidence bands, small multiples of it, and the ε that an accuracy costs.

matplotlib is an extra (`pip install 'privmine[plots]'`) and imported only when something is drawn. Every
function draws into the axes that it is given, or into a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.datasets import describe
from privmine.errors import InputError, UnknownNameError
from privmine.evaluation.result_rows import Row, as_rows, epsilon_of, metric_words
from privmine.evaluation.summary import Mean, grouped, mean_of
from privmine.extras import import_extra
from privmine.release.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What tells one line from another: a pipeline, a dataset and a k.
Series: TypeAlias = tuple[str, str, int]

#: Lines differ by more than colour, for print in grey.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")

EPSILON = "privacy budget ε (smaller is more private)"
#: Values that span more than this factor are shown on a logarithmic axis.
_WIDE = 15.0
#: More measured ε than this cannot all be labelled.
_MOST_TICKS = 8
#: Metrics that lie between 0 and 1.
_SHARES = ("fnr", "fnr_tolerant", "coverage", "precision_10", "precision_50", "precision_100", "recall", "precision")
_PANEL = (3.6, 2.9)
#: The height of a line of a legend, in inches.
_LEGEND_LINE = 0.22


@frozen
class _Line:
    """What is drawn of one series: the mean at each ε."""

    series: Series
    epsilons: tuple[float, ...]
    means: tuple[Mean, ...]

    @property
    def values(self) -> list[float]:
        """The means; NaN where there is none or it is infinite, so that the line has a gap there."""
        return [mean.mean if mean.mean is not None and isfinite(mean.mean) else float("nan") for mean in self.means]


def plot_metric(
    rows: Any, metric: str = "fnr", ax: Axes | None = None, titles: Mapping[str, str] | None = None
) -> Axes:
    """Draw the mean of a metric against ε, with a band for its 95 % confidence interval.

    There is a line for each pipeline; if the rows have several datasets or k, for each combination of them.

    Args:
        rows: rows of an experiment, or a pandas frame of them.
        metric: one of the metrics, such as "fnr" or "re".
        ax: where to draw; without it, in a new figure.
        titles: what to call datasets; without it, by name, with "(proxy)" or "(synthetic)" where that is known.
    """
    lines = _lines(_checked(rows, metric), metric)
    axes = _new_axes() if ax is None else ax
    _draw(axes, lines, metric, titles or {}, _pipelines(lines))
    axes.legend(framealpha=0.85, edgecolor="none")
    return axes


def plot_small_multiples(
    rows: Any,
    metric: str = "fnr",
    columns: int | None = None,
    titles: Mapping[str, str] | None = None,
) -> NDArray[Any]:
    """Draw a metric against ε in a new figure, a panel for each dataset and k, with one legend for all.

    Args:
        rows: rows of an experiment, or a pandas frame of them.
        metric: one of the metrics, such as "fnr" or "re".
        columns: panels side by side; without it, up to 4.
        titles: what to call datasets, as for `plot_metric`.

    Returns:
        The axes of the panels, one after another.
    """
    checked = _checked(rows, metric)
    pyplot = _pyplot()
    panels = _in_order_of_data(checked)
    lines = {panel: _lines(group, metric) for panel, group in panels.items()}
    every_line = [line for drawn in lines.values() for line in drawn]
    width = min(columns or _fitting_columns(len(panels)), len(panels))
    height = ceil(len(panels) / width)
    figure, grid = pyplot.subplots(
        height,
        width,
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
        figsize=(_PANEL[0] * width, _PANEL[1] * height + 0.4),
    )
    used = grid.ravel()[: len(panels)]
    pipelines = _pipelines(every_line)
    for axes, drawn in zip(used, lines.values(), strict=True):
        _draw(axes, drawn, metric, titles or {}, pipelines, every_line)
        axes.label_outer()
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for axes in used[max(len(panels) - width, 0) :]:
        # The last panel of a column may not be in the last row of the grid.
        axes.xaxis.set_tick_params(labelbottom=True)
    for axes in used:
        axes.set_xlabel("")
        axes.set_ylabel("")
    figure.supxlabel(EPSILON, fontsize="medium")
    figure.supylabel(_metric_words(metric, every_line), fontsize="medium")
    shown: dict[str, Any] = {}
    for axes in used:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(
        list(shown.values()), list(shown), loc="outside upper center", ncols=min(len(shown), 4), frameon=False
    )
    return np.asarray(used)


@frozen
class Point:
    """A measured ε and the mean of a metric there, of which less is better."""

    epsilon: float
    value: float


def best_so_far(points: Sequence[Point]) -> list[Point]:
    """For each measured ε the best value up to it, by rising ε; points without a finite value are left out.

    A larger ε that measured worse by chance would otherwise bend the line back.
    """
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.epsilon, point.value)):
        if isfinite(point.value):
            best.append(Point(point.epsilon, min(point.value, best[-1].value) if best else point.value))
    return best


def plot_pareto(
    rows: Any, metric: str = "fnr", ax: Axes | None = None, titles: Mapping[str, str] | None = None
) -> Axes:
    """Draw which ε is needed to get a metric down to a value: what accuracy costs in privacy.

    Each line has, for every measured ε, the best that the pipeline reached up to it. Lower and further left is
    better.

    Args:
        rows: rows of an experiment, or a pandas frame of them.
        metric: a metric of which less is better.
        ax: where to draw; without it, in a new figure.
        titles: what to call datasets, as for `plot_metric`.
    """
    if metric.startswith("precision") or metric == "coverage":
        raise InputError(
            f"A Pareto plot needs a metric that should be small, but {metric!r} should be large. Choose another metric."
        )
    lines = _lines(_checked(rows, metric), metric)
    axes = _new_axes(7.4, _LEGEND_LINE * (len(lines) + 1)) if ax is None else ax
    pipelines = _pipelines(lines)
    fronts = [
        (line, best_so_far([Point(*point) for point in zip(line.epsilons, line.values, strict=True)])) for line in lines
    ]
    for line, front in fronts:
        style = _style(line.series, lines, pipelines)
        label = _label(line.series, lines, titles or {})
        axes.plot([point.value for point in front], [point.epsilon for point in front], label=label, **style)
    values = [point.value for _, front in fronts for point in front]
    if _is_wide(values):
        axes.set_xscale("log")
        _plain_numbers(axes.xaxis)
    elif metric in _SHARES:
        axes.set_xlim(left=0)
    _epsilon_axis(axes, [point.epsilon for _, front in fronts for point in front], along="y")
    axes.set_xlabel(f"{metric_words().get(metric, metric)} you accept (mean of the runs)")
    axes.set_ylabel("privacy budget ε needed")
    _title(axes, lines, titles or {})
    _tidy(axes)
    axes.annotate(
        "better", (0.02, 0.02), (0.13, 0.13), xycoords="axes fraction", textcoords="axes fraction",
        color="0.4", ha="left", va="bottom", arrowprops={"arrowstyle": "->", "color": "0.4"},
    )  # fmt: skip
    if ax is None:
        # Lines that run from corner to corner leave no room for a legend among them.
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        axes.legend(framealpha=0.85, edgecolor="none")
    return axes


def _pyplot() -> Any:
    return import_extra("matplotlib.pyplot", "Figures need")


def _fitting_columns(panels: int) -> int:
    """So many columns that a figure is not wider than a screen and hardly a place stays empty."""
    if panels <= 3:
        return panels
    return 2 if panels == 4 else 3 if panels in (5, 6, 9) else 4


def _new_axes(width: float = 5.6, least_height: float = 0.0) -> Axes:
    axes: Axes = _pyplot().subplots(layout="constrained", figsize=(width, max(3.8, least_height)))[1]
    return axes


def _checked(rows: Any, metric: str) -> list[Row]:
    listed = as_rows(rows)
    if not listed:
        raise InputError("There are no rows to draw.")
    if metric not in listed[0]:
        raise UnknownNameError("metric in these results", metric, set(metric_words()) & set(listed[0]))
    return listed


def _in_order_of_data(rows: list[Row]) -> dict[tuple[str, int], list[Row]]:
    """The rows by dataset and k: datasets in the order in which they come, k rising."""
    order = list(dict.fromkeys(row["data"] for row in rows))
    groups = grouped(rows, ("data", "k"))
    return dict(sorted(groups.items(), key=lambda group: (order.index(group[0][0]), group[0][1])))


def _lines(rows: list[Row], metric: str) -> list[_Line]:
    """A line for each pipeline, dataset and k, pipelines in the order in which they come."""
    by_series: dict[Series, list[Row]] = {}
    for row in rows:
        by_series.setdefault((str(row["pipeline"]), str(row["data"]), int(row["k"])), []).append(row)
    lines = []
    for series, group in by_series.items():
        cells = grouped(group, ("epsilon",)).values()
        epsilons = tuple(epsilon_of(cell[0]) for cell in cells)
        lines.append(_Line(series, epsilons, tuple(mean_of(row[metric] for row in cell) for cell in cells)))
    return lines


def _pipelines(lines: Sequence[_Line]) -> list[str]:
    return list(dict.fromkeys(line.series[0] for line in lines))


def _draw(
    axes: Axes,
    lines: Sequence[_Line],
    metric: str,
    titles: Mapping[str, str],
    pipelines: Sequence[str],
    every_line: Sequence[_Line] | None = None,
) -> None:
    """Draw lines with their bands; `every_line` are those that share the scale of the axes."""
    scale_lines = lines if every_line is None else every_line
    values = [value for line in scale_lines for value in line.values if isfinite(value)]
    is_log = metric not in _SHARES and _is_wide(values)
    # A band that reaches below zero has no bottom on a logarithmic axis: it ends at the bottom of the figure.
    floor = min((value for value in values if value > 0), default=1.0) / 2 if is_log else 0.0
    ceiling = 1.0 if metric in _SHARES else np.inf
    for line in lines:
        style = _style(line.series, lines, pipelines)
        axes.plot(line.epsilons, line.values, label=_label(line.series, lines, titles), **style)
        lows = [np.nan if mean.low is None else max(mean.low, floor) for mean in line.means]
        highs = [np.nan if mean.high is None else max(min(mean.high, ceiling), floor) for mean in line.means]
        axes.fill_between(line.epsilons, lows, highs, color=style["color"], alpha=0.18, linewidth=0)
    highest = max([mean.high or 0.0 for line in scale_lines for mean in line.means] + values, default=1.0)
    if is_log:
        axes.set_yscale("log")
        axes.set_ylim(floor, 1.5 * highest)
        _plain_numbers(axes.yaxis)
    else:
        # Without room below 0, a marker at 0 is cut in half by the axis.
        top = 1.0 if metric in _SHARES else highest or 1.0
        axes.set_ylim(-0.02 * top, 1.04 * top)
    _epsilon_axis(axes, [epsilon for line in scale_lines for epsilon in line.epsilons], along="x")
    axes.set_xlabel(EPSILON)
    axes.set_ylabel(_metric_words(metric, lines))
    _title(axes, lines, titles)
    _tidy(axes)


def _style(series: Series, lines: Sequence[_Line], pipelines: Sequence[str]) -> dict[str, Any]:
    """Colour and marker by pipeline, dashes by dataset and k."""
    number = pipelines.index(series[0])
    others = list(dict.fromkeys(line.series[1:] for line in lines))
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[others.index(series[1:]) % len(DASHES)],
        "markersize": 5,
        "linewidth": 1.6,
    }


def _label(series: Series, lines: Sequence[_Line], titles: Mapping[str, str]) -> str:
    """The pipeline, and of dataset and k what differs between the lines."""
    pipeline, data, k = series
    parts = [pipeline]
    if len({line.series[1] for line in lines}) > 1:
        parts.append(_data_words(data, titles))
    if len({line.series[2] for line in lines}) > 1:
        parts.append(f"k = {k}")
    return ", ".join(parts)


def _title(axes: Axes, lines: Sequence[_Line], titles: Mapping[str, str]) -> None:
    """The dataset and k, where all lines have the same."""
    datasets, ks = {line.series[1] for line in lines}, {line.series[2] for line in lines}
    parts = [_data_words(next(iter(datasets)), titles)] if len(datasets) == 1 else []
    parts += [f"k = {next(iter(ks))}"] if len(ks) == 1 else []
    axes.set_title(", ".join(parts), fontsize="medium")


def _data_words(data: str, titles: Mapping[str, str]) -> str:
    """What to call a dataset; a proxy or synthetic data is always called one."""
    if data in titles:
        return titles[data]
    try:
        known = describe(data)
    except UnknownNameError:
        return data
    return data + (" (synthetic)" if known.synthetic else " (proxy)" if known.proxy else "")


def _metric_words(metric: str, lines: Sequence[_Line]) -> str:
    words = metric_words().get(metric, metric)
    notes = ["mean"]
    if any(mean.low is not None for line in lines for mean in line.means):
        notes[0] = "mean and 95 % interval"
    if any(mean.mean is not None and not isfinite(mean.mean) for line in lines for mean in line.means):
        notes.append("infinite values not shown")
    return f"{words}\n({', '.join(notes)})"


def _is_wide(values: Sequence[float]) -> bool:
    """Whether values need a logarithmic axis: all positive, and far apart."""
    finite = [value for value in values if isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) > _WIDE * min(finite)


def _epsilon_axis(axes: Axes, epsilons: Sequence[float], along: str) -> None:
    """Label the measured ε themselves, if they are few; logarithmic if they are far apart."""
    axis = axes.xaxis if along == "x" else axes.yaxis
    if _is_wide(epsilons):
        (axes.set_xscale if along == "x" else axes.set_yscale)("log")
        _plain_numbers(axis)
    distinct = sorted(set(epsilons))
    if len(distinct) <= _MOST_TICKS:
        axis.set_ticks(distinct, [f"{epsilon:g}" for epsilon in distinct])
        axis.set_ticks([], minor=True)


def _plain_numbers(axis: Any) -> None:
    """0.01 rather than 10⁻²: the numbers are such as people compare."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _tidy(axes: Axes) -> None:
    axes.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
