"""Figures, drawn without a display: what is drawn, how it is labelled, and where."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib
import pytest

matplotlib.use("Agg")

import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure

from privmine.errors import InputError, UnknownNameError
from privmine.evaluation.figures import (
    COLOURS,
    Point,
    best_so_far,
    plot_metric,
    plot_pareto,
    plot_small_multiples,
)

MEANS = {"privbasis": {"0.1": 0.5, "1/2": 0.2, "1": 0.1}, "tf": {"0.1": 0.9, "1/2": 0.9, "1": 0.4}}


def rows(data: str = "mushroom", k: int = 50, scale: float = 1.0, repeats: int = 4) -> list[dict[str, Any]]:
    """Rows of two pipelines at three ε, with a little spread."""
    return [
        {
            "data": data,
            "pipeline": pipeline,
            "k": k,
            "epsilon": epsilon,
            "repeat": repeat,
            "fnr": mean + 0.01 * (repeat - (repeats - 1) / 2),
            "re": scale * mean * (1 + 0.1 * (repeat - (repeats - 1) / 2)),
            "re_strict": float("inf") if epsilon == "0.1" else mean,
        }
        for pipeline, means in MEANS.items()
        for epsilon, mean in means.items()
        for repeat in range(repeats)
    ]


@pytest.fixture(autouse=True)
def no_open_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """Close what was drawn, and draw each figure once: a warning while drawing is an error."""
    monkeypatch.delenv("PRIVMINE_DATA", raising=False)
    monkeypatch.setenv("PRIVMINE_CACHE", str(tmp_path))
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


def legend(axes: Any) -> list[str]:
    """The words of a legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_line_a_pipeline_with_its_means() -> None:
    """Means stand at their ε, whether it is written as a decimal or a fraction."""
    axes = plot_metric(rows())
    first, second = axes.get_lines()
    assert first.get_xdata() == pytest.approx([0.1, 0.5, 1.0])
    assert first.get_ydata() == pytest.approx([0.5, 0.2, 0.1])
    assert second.get_ydata() == pytest.approx([0.9, 0.9, 0.4])
    assert legend(axes) == ["privbasis", "tf"]
    assert [first.get_color(), second.get_color()] == list(COLOURS[:2])
    assert first.get_marker() != second.get_marker()


def test_axes_are_labelled_with_words() -> None:
    """The axes say what they show, the title which data, and the measured ε are the ticks."""
    axes = plot_metric(rows())
    assert "privacy budget ε" in axes.get_xlabel()
    assert axes.get_ylabel() == "false negative rate\n(mean and 95 % interval)"
    assert axes.get_title() == "mushroom, k = 50"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "0.5", "1"]


def test_bands_are_there_where_runs_repeat() -> None:
    """A band surrounds the mean; a single run has none, and the label does not speak of one."""
    axes = plot_metric(rows())
    path = axes.collections[0].get_paths()[0].vertices
    assert path[:, 1].min() < 0.1 < 0.5 < path[:, 1].max()
    single = plot_metric(rows(repeats=1))
    assert single.get_ylabel() == "false negative rate\n(mean)"


def test_it_draws_where_it_is_told() -> None:
    """Axes that are given are drawn into and returned, without pyplot."""
    axes = Figure().subplots()
    assert plot_metric(rows(), "re", ax=axes) is axes
    assert plot_pareto(rows(), ax=axes) is axes
    assert pyplot.get_fignums() == []


def test_a_frame_is_as_good_as_rows() -> None:
    """A pandas frame gives the same lines."""
    axes = plot_metric(pd.DataFrame(rows()))
    assert axes.get_lines()[1].get_ydata() == pytest.approx([0.9, 0.9, 0.4])


def test_wide_values_get_a_logarithmic_axis() -> None:
    """Relative errors far apart are shown on a logarithmic axis with plain numbers, shares never."""
    wide = [row | {"re": row["re"] ** 4} for row in rows()]
    axes = plot_metric(wide, "re")
    assert axes.get_yscale() == "log"
    axes.figure.canvas.draw()
    assert "0.01" in [label.get_text() for label in axes.get_yticklabels()]
    assert plot_metric(rows(), "re").get_yscale() == "linear"
    assert plot_metric([row | {"fnr": row["fnr"] ** 4} for row in rows()]).get_yscale() == "linear"


def test_infinite_means_leave_a_gap_and_are_owned_up_to() -> None:
    """A mean that is infinite is not drawn, and the label says so."""
    axes = plot_metric(rows(), "re_strict")
    assert str(axes.get_lines()[0].get_ydata()[0]) == "nan"
    assert "infinite values not shown" in axes.get_ylabel()


def test_missing_values_are_passed_over() -> None:
    """A metric that no run of a cell has leaves a gap."""
    axes = plot_metric([row | {"re": None if row["epsilon"] == "1" else row["re"]} for row in rows()], "re")
    assert str(axes.get_lines()[0].get_ydata()[2]) == "nan"


def test_several_k_are_told_apart() -> None:
    """Lines of one pipeline share a colour and differ in their dashes and words."""
    axes = plot_metric(rows(k=50) + rows(k=100))
    assert legend(axes) == ["privbasis, k = 50", "tf, k = 50", "privbasis, k = 100", "tf, k = 100"]
    first, _, third, _ = axes.get_lines()
    assert first.get_color() == third.get_color()
    assert first.get_linestyle() != third.get_linestyle()
    assert axes.get_title() == "mushroom"


def test_small_multiples_have_a_panel_a_dataset() -> None:
    """Panels come in the order of the data, share their scale, and have one legend in all."""
    axes = plot_small_multiples([*rows("retail", scale=300.0), *rows("mushroom", 100), *rows("mushroom", 50)], "re")
    assert [panel.get_title() for panel in axes] == ["retail, k = 50", "mushroom, k = 50", "mushroom, k = 100"]
    assert len({panel.get_ylim() for panel in axes}) == 1
    assert axes[0].get_ylim()[1] > 270
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == ["privbasis", "tf"]
    assert all(panel.get_legend() is None for panel in axes)


def test_a_pipeline_keeps_its_colour_in_every_panel() -> None:
    """A pipeline that is missing in one panel does not pass its colour on."""
    only_tf = [row for row in rows("retail") if row["pipeline"] == "tf"]
    axes = plot_small_multiples([*rows("mushroom"), *only_tf])
    assert axes[1].get_lines()[0].get_color() == axes[0].get_lines()[1].get_color()


@pytest.mark.parametrize(("panels", "shape"), [(1, (1, 1)), (4, (2, 2)), (5, (2, 3)), (7, (2, 4))])
def test_panels_fill_the_figure(panels: int, shape: tuple[int, int]) -> None:
    """Panels are laid out with few empty places, and empty ones are not seen."""
    axes = plot_small_multiples([row for k in range(panels) for row in rows(k=k)])
    grid = axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    assert sum(panel.get_visible() for panel in axes[0].figure.axes) == panels == len(axes)


def test_synthetic_data_is_called_so() -> None:
    """Titles say what is synthetic; other words can be given."""
    assert plot_metric(rows("aol-like")).get_title() == "aol-like (synthetic), k = 50"
    titled = plot_metric(rows("kosarak"), titles={"kosarak": "kosarak ×14 (proxy)"})
    assert titled.get_title() == "kosarak ×14 (proxy), k = 50"
    assert plot_metric(rows("my.dat")).get_title() == "my.dat, k = 50"


def test_the_pareto_view_has_room_for_a_long_legend() -> None:
    """Many datasets and k make many lines, and all are named."""
    figure = plot_pareto([row for data in "abcd" for k in (10, 20, 50) for row in rows(data, k)]).figure
    figure.canvas.draw()
    (box,) = [axes.get_legend().get_window_extent() for axes in figure.axes]
    assert figure.bbox.y0 <= box.y0
    assert box.y1 <= figure.bbox.y1


def test_the_pareto_view_shows_the_epsilon_needed() -> None:
    """The metric is on the x axis, ε on the y axis, and ε that gain nothing do not bend the line back."""
    worse = [row | {"fnr": 0.95} if (row["pipeline"], row["epsilon"]) == ("tf", "1/2") else row for row in rows()]
    axes = plot_pareto(worse)
    first, second = axes.get_lines()
    assert first.get_xdata() == pytest.approx([0.5, 0.2, 0.1])
    assert first.get_ydata() == pytest.approx([0.1, 0.5, 1.0])
    assert second.get_xdata() == pytest.approx([0.9, 0.9, 0.4])
    assert "you accept" in axes.get_xlabel()
    assert "ε needed" in axes.get_ylabel()


def test_an_epsilon_that_gains_nothing_keeps_the_best_value() -> None:
    """Points without a value are left out, and the line never bends back."""
    points = [Point(1, 0.3), Point(0.5, 0.2), Point(0.7, float("nan"))]
    assert best_so_far(points) == [Point(0.5, 0.2), Point(1, 0.2)]


def test_wrong_requests_are_refused() -> None:
    """No rows, an unknown metric, or a Pareto view of something of which more is better."""
    with pytest.raises(InputError, match="no rows"):
        plot_metric([])
    with pytest.raises(UnknownNameError, match="Did you mean 'fnr'"):
        plot_metric(rows(), "fnrr")
    with pytest.raises(InputError, match="should be small"):
        plot_pareto(rows(), "coverage")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"privmine\[plots\]"):
        plot_small_multiples(rows())
    with pytest.raises(InputError, match=r"privmine\[plots\]"):
        plot_metric(rows())
