"""Pictures of a release: what they show, whatever the labels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import privmine as pm
from privmine.errors import InputError, UnknownNameError
from privmine.privacy import PureDP, Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.plots.style import WARNING, itemset_label

KINDS = ("support", "graph", "matrix")
ODD = ('comma, "quote"', "line\nbreak", "<b>html</b>", "$x_2$ and \\alpha$", "[red]x[/]", "long " * 40, "=1+1", " ")


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def groceries() -> Release:
    return pm.mine(pm.groceries(), 30, 1)


@pytest.fixture(scope="module")
def odd() -> Release:
    return pm.mine([list(pair) for pair in combinations(ODD, 3)] * 20, 40, 5, simulate=True, seed=1)


def made_up(supports: dict[tuple[Any, ...], float], private: bool = True) -> Release:
    receipt = Receipt(PureDP().cost(1), "none", private, charges=())
    itemsets = tuple(FrequentItemset(items, support * 100, support, 1.0) for items, support in supports.items())
    return Release(itemsets, len(itemsets), 100.0, 1.0, receipt)


def texts(axes: Axes) -> str:
    """All that is written."""
    parts = [*axes.texts, axes.title, axes._left_title, axes.xaxis.label, *axes.get_xticklabels()]  # type: ignore[attr-defined]
    return "\n".join(part.get_text() for part in [*parts, *axes.get_yticklabels()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["groceries", "odd"])
def test_every_kind_draws_into_axes(kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Any) -> None:
    """Axes come back, a file can be saved of them, and labels are text whatever they contain."""
    release = request.getfixturevalue(name)
    axes = release.plot(kind)
    assert isinstance(axes, Axes)
    axes.figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
    assert ("whole milk" if name == "groceries" else "<b>html</b>") in texts(axes)


@pytest.mark.parametrize("kind", KINDS)
def test_axes_of_the_caller_are_used(groceries: Release, kind: str) -> None:
    """A picture can be a part of a larger one, and no other figure is opened."""
    figure = Figure(figsize=(12, 5))
    place = figure.subplots(1, 2)[1]
    assert groceries.plot(kind, ax=place) is place
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_tells_its_budget_and_a_simulation_itself(groceries: Release, odd: Release, kind: str) -> None:
    """The mark of a simulation goes across the picture; a private one has none."""
    assert "ε = 1" in texts(groceries.plot(kind))
    assert WARNING not in texts(groceries.plot(kind))
    assert WARNING in texts(odd.plot(kind))


def test_bars_are_supports_and_lines_intervals(groceries: Release) -> None:
    """In the order of the release, as shares of the total, at the level that was asked for."""
    axes = groceries.plot("support", top=10, level=0.9)
    bars = sorted((bar for bars in axes.containers[:-1] for bar in bars), key=lambda bar: bar.get_y())
    assert [bar.get_width() for bar in bars] == [found.support for found in groceries.itemsets[:10]]
    lines = axes.containers[-1].lines[2][0].get_segments()
    for segment, interval in zip(lines, groceries.intervals(0.9), strict=False):
        assert segment[:, 0] * groceries.total == pytest.approx(np.array(interval))
    assert "90 % intervals" in axes.get_xlabel()
    assert "10 of 30 itemsets" in texts(axes)


def test_a_matrix_has_items_on_the_diagonal_and_pairs_beside_it() -> None:
    """In percent; blank where nothing was released."""
    axes = made_up({("a",): 0.5, ("b",): 0.25, ("a", "b"): 0.2, ("c",): 0.1, ("b", "d"): 0.05}).plot("matrix")
    values = axes.images[0].get_array()
    expected = [[50, 20, 0, 0], [20, 25, 0, 5], [0, 0, 10, 0], [0, 5, 0, 0]]
    assert np.asarray(values.filled(0)) == pytest.approx(np.array(expected))
    assert values.mask.sum() == 9
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c", "d"]


def test_a_graph_joins_the_items_of_released_pairs() -> None:
    """A line a pair, a dot an item that has one; the others are counted below."""
    axes = made_up({("a",): 0.5, ("b",): 0.4, ("a", "b"): 0.2, ("c",): 0.1, ("a", "d"): 0.05}).plot("graph")
    assert len(axes.lines) == 2
    assert len(axes.collections[0].get_offsets()) == 3
    assert "1 of the 4 most frequent items have no released pair" in texts(axes)


def test_what_may_be_0_is_marked() -> None:
    """Pale bars, dashed lines and question marks, each explained; without such counts nothing is said of it."""
    sure = made_up({("a",): 0.9, ("b",): 0.8, ("a", "b"): 0.5})
    doubtful = made_up({("a",): 0.9, ("b",): 0.8, ("a", "b"): 0.5, ("c",): 0.3, ("a", "c"): 0.01})
    words = {"support": "pale: not", "graph": "Dashed: 1 of the 2 pairs", "matrix": "?: not clearly above 0"}
    for kind, said in words.items():
        assert said not in texts(sure.plot(kind=kind))
        assert said in texts(doubtful.plot(kind=kind))
    assert [bar.get_alpha() for bar in doubtful.plot(kind="support").patches].count(0.3) == 1
    assert [line.get_linestyle() for line in doubtful.plot(kind="graph").lines].count("--") == 1
    assert texts(doubtful.plot(kind="matrix")).count("1.0?") == 2


def test_a_graph_looks_the_same_every_time(groceries: Release) -> None:
    """Nothing is left to chance."""
    first, second = (groceries.plot("graph").collections[0].get_offsets() for _ in range(2))
    assert np.array_equal(np.asarray(first), np.asarray(second))


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_release_says_so(kind: str) -> None:
    """A sentence instead of a picture, and no error."""
    assert "was released" in texts(made_up({}).plot(kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("support", [0.0, 1.0])
def test_extreme_supports_are_drawn(kind: str, support: float) -> None:
    """All 0 or all 1."""
    release = made_up({("a",): support, ("b",): support, ("a", "b"): support})
    release.plot(kind).figure.canvas.draw()


def test_no_rules_have_two_reasons() -> None:
    """Noise, or that no itemset has two items."""
    assert "no released itemset has two items or more" in texts(made_up({("a",): 0.5, ("b",): 0.4}).plot("rules"))
    assert "clearly more than chance" in texts(made_up({("a",): 0.5, ("b",): 0.4, ("a", "b"): 0.2}).plot("rules"))


def test_rules_are_named_whole_and_counted_as_the_command_counts_them() -> None:
    """Those that add nothing to a shorter one are not drawn, but `privmine rules` lists them."""
    release = pm.mine(pm.groceries(), 60, 4, simulate=True, seed=1, downward_closed=True)
    listed, drawn = (len(release.rules(prune=prune)) for prune in (False, True))
    axes = release.plot("rules", top=listed)
    assert drawn < listed
    assert f"{drawn} of {listed} rules" in texts(axes)
    assert "avocados, beef mince → salsa, tortillas" in texts(axes)


def test_long_itemsets_are_shortened() -> None:
    """Long labels first, then the number of items that are left out."""
    assert itemset_label(("bread", "milk")) == "bread, milk"
    assert len(itemset_label(("x" * 99, "y" * 99))) <= 44
    assert itemset_label(tuple(f"item number {n}" for n in range(12))).endswith("more")
    assert "\n" not in itemset_label(("a\nb",))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"top": 0}, "at least 1"),
        ({"top": 2.5}, "whole number"),
        ({"top": True}, "whole number"),
        ({"level": 95}, "between 0 and 1"),
    ],
)
def test_wrong_arguments_are_told(groceries: Release, options: Any, words: str) -> None:
    """Before anything is drawn."""
    with pytest.raises(InputError, match=words):
        groceries.plot(**options)
    assert plt.get_fignums() == []


def test_an_unknown_kind_lists_the_known_ones(groceries: Release) -> None:
    """A misspelling is told."""
    with pytest.raises(UnknownNameError, match="Did you mean 'matrix'"):
        groceries.plot("matrx")


def test_matplotlib_is_an_extra(groceries: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the message is the command that installs it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InputError, match=r"pip install 'privmine\[plots\]'"):
        groceries.plot()


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_whom_it_protects(kind: str, groceries: Release) -> None:
    """ε means nothing without it; a simulation protects nobody."""
    assert "protects one transaction, not one customer" in texts(groceries.plot(kind))
    assert "protects" not in texts(pm.mine(pm.groceries(), 5, 1, simulate=True, seed=1).plot(kind))
