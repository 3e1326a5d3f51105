from __future__ import annotations

import sys
from collections.abc import Iterator

import matplotlib as mpl
import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.planning.plan_plot import save


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    """Figures are drawn into memory, and closed."""
    from matplotlib import pyplot

    with mpl.rc_context({"backend": "Agg"}):
        pyplot.switch_backend("Agg")
        yield
    pyplot.close("all")


def test_a_line_for_the_worst_and_the_best_bases_of_each_size() -> None:
    """Three sizes, two lines each, at every ε of the plan."""
    made = pm.plan(30, 1, lam=15, transactions=10_000)
    axes = made.plot()
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == len(made.points)]
    assert len(lines) == 6
    assert lines[0].get_ydata()[0] == made.points[0].sizes[0].high
    assert lines[1].get_ydata()[0] == made.points[0].sizes[0].low
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:3] == ["itemsets of 1 item", "itemsets of 2 items", "itemsets of 3 items"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "10,000" in axes.child_axes[0].get_ylabel()


def test_equal_errors_are_one_line() -> None:
    """TF counts items and pairs alike."""
    axes = pm.plan(30, 1, method="tf").plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["itemsets of 1 to 2 items"]


def test_it_is_drawn_where_it_is_told_to() -> None:
    """Into axes of one's own, with the target as a line."""
    from matplotlib import pyplot

    own = pyplot.subplots()[1]
    assert pm.plan(30, target_error=20, lam=6).plot(ax=own) is own
    assert "wanted: 20" in [text.get_text() for text in own.get_legend().get_texts()]
    assert own.get_ylim()[0] < 20 < own.get_ylim()[1]


def test_tiny_errors_do_not_take_up_the_picture() -> None:
    """At a large ε nearly all noise is 0, and its error falls without end; the lines leave the picture."""
    made = pm.plan(40, 5)
    assert made.points[-1].sizes[0].low < 1e-3
    assert made.plot().get_ylim()[0] == pytest.approx(0.1)
    assert pm.plan(40, 5, target_error="0.01").plot().get_ylim()[0] < 0.01


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "PNG"])
def test_pictures_are_saved(tmp_path, ending: str) -> None:
    """In each format by its ending."""
    path = tmp_path / f"plan.{ending}"
    save(pm.plan(30, 1, lam=6), path)
    start = path.read_bytes()[:8]
    assert start.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending.lower()])


def test_without_matplotlib_it_says_what_to_install(monkeypatch) -> None:
    """In a sentence."""
    made = pm.plan(30, 1, lam=6)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"privmine\[plots\]"):
        made.plot()


def test_the_title_tells_the_delta() -> None:
    """Where the errors are those of (ε, δ)."""
    assert "δ = 1e-06" in pm.plan(30, 1, lam=6, delta="1e-6").plot().get_title(loc="left")
    assert "δ" not in pm.plan(30, 1, lam=6).plot().get_title(loc="left")
