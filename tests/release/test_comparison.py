"""Two releases compared: no false alarms, a planted change is found, what cannot be compared is refused."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.release.comparison import Change, Changes
from privmine.release.plots.style import WARNING

mpl.use("Agg")


def baskets(generator: np.random.Generator, shares: Any, count: int = 4000) -> Any:
    """Baskets of independent items, each in such a share of them."""
    rows = generator.random((count, len(shares))) < np.array(shares)
    return pm.Transactions.from_lists([np.flatnonzero(row).tolist() for row in rows])


SHARES = [0.5, 0.4, 0.3, 0.2, 0.1, 0.1]


def released(generator: np.random.Generator, shares: Any, seed: int) -> Any:
    """A release of such baskets."""
    return pm.mine(baskets(generator, shares), 15, 1, simulate=True, seed=seed)


def test_nothing_changed_is_no_alarm() -> None:
    """Of 30 pairs of samples of one population hardly any has a change; a planted one is found each time."""
    generator = np.random.default_rng(1)
    alarms = found = 0
    for seed in range(30):
        first, second = (released(generator, SHARES, 2 * seed + more) for more in (0, 1))
        alarms += bool(first.compare(second).clear)
    for seed in range(5):
        first = released(generator, SHARES, seed)
        planted = first.compare(released(generator, [0.5, 0.4, 0.3, 0.35, 0.1, 0.1], seed + 100))
        found += any(change.items == (3,) and change.meaning == "rose" for change in planted.clear)
        assert planted.changes[0].clear
    assert alarms <= 4
    assert found == 5


def test_what_came_and_went_is_told(tmp_path: Any) -> None:
    """An itemset that one release lists has no difference, and the words say what that means."""
    generator = np.random.default_rng(2)
    first, second = (
        pm.mine(baskets(generator, shares), 4, 1, simulate=True, seed=1) for shares in (SHARES, SHARES[::-1])
    )
    comparison = first.compare(second)
    alone = [change for change in comparison if change.change is None]
    assert alone
    assert all("only" in change.meaning and not change.clear for change in alone)
    assert "in the second release only" in comparison.lines()[-1]
    assert len(comparison.to_pandas()) == len(comparison)
    assert not comparison.private
    assert comparison.lines()[0] in repr(comparison)
    axes = comparison.plot()
    assert WARNING in [text.get_text() for text in axes.texts]
    axes.figure.savefig(tmp_path / "changes.png")
    drawn = axes.figure.canvas.get_renderer()
    heading = axes.title if axes.get_title() else axes._left_title
    assert not heading.get_window_extent(drawn).overlaps(axes.get_legend().get_window_extent(drawn))
    first.compare(first).plot().figure.savefig(tmp_path / "none.png")


def test_what_cannot_be_compared_is_refused() -> None:
    """Other units, other kinds of labels; other data charged to the same account is said."""
    generator = np.random.default_rng(3)
    one = released(generator, SHARES, 1)
    rows = [{"customer": number // 3, "order": number, "item": number % 5} for number in range(600)]
    three, two = (
        pm.mine(
            pm.read(pd.DataFrame(rows), transaction="order", item="item", unit="customer", max_baskets=most), 3, 1,
            simulate=True, seed=1,
        )
        for most in (3, 2)
    )  # fmt: skip
    for before, after in ((one, three), (three, two)):
        with pytest.raises(InputError, match="count different things"):
            before.compare(after)
    with pytest.raises(InputError, match="not with str"):
        one.compare("june.csv")
    with pytest.raises(InputError, match="numbers for labels"):
        one.compare(pm.mine([["a", "b"]] * 50, 3, 1, simulate=True, seed=1))
    other = pm.mine(pm.Transactions.from_lists([[100, 101]] * 50), 3, 1, simulate=True, seed=1)
    assert any("No item is in both" in note for note in one.compare(other).notes)
    assert len(one.compare(other)) == len(one) + len(other)


def test_an_interval_without_0_that_is_no_clear_change_is_explained() -> None:
    """A reader who sees the interval alone would take it for a change."""
    changes = [
        Change((item,), 0.1, 0.2, 0.1, low, 0.2, False, "no clear change") for item, low in enumerate((0.01, -0.1))
    ]
    clear = Change((2,), 0.1, 0.9, 0.8, 0.7, 0.9, True, "rose")
    assert Changes((clear, *changes), (), True).lines()[1].startswith("1 other change has a")
    first, *others = Changes(tuple(changes), (), True).lines()
    assert first.startswith("0 of 2")
    assert others == [
        "1 change has a 95 % interval without 0. With 2 compared at once that happens by chance, so it is not "
        "called clear."
    ]


def test_a_comparison_in_a_notebook() -> None:
    """Labels are escaped; what is of simulations says so in text, HTML and data frames."""
    baskets = pm.read([["<b>", "milk"], ["<b>"]] * 300, items=["<b>", "milk"])
    first, second = (pm.mine(baskets, 3, 1, simulate=True, seed=seed) for seed in (1, 2))
    simulated = first.compare(second)
    assert "&lt;b&gt;" in simulated._repr_html_()
    assert "<b>" not in simulated._repr_html_()
    assert "NOT PRIVATE" in simulated._repr_html_()
    assert "NOT PRIVATE" in repr(simulated)
    assert simulated.to_pandas()["simulated"].all()
    private = pm.mine(baskets, 3, 1).compare(pm.mine(baskets, 3, 1))
    assert "NOT PRIVATE" not in repr(private) + private._repr_html_()
    assert "simulated" not in private.to_pandas().columns
    rows = Changes(
        (Change((1,), 0.1, 0.2, 0.1, -0.05, 0.25, False, "x"), Change((2,), 0.1, *[None] * 4, False, "y")), (), True
    )
    assert "<td>+0.1000</td><td>-0.0500 to +0.2500</td><td>x</td>" in rows._repr_html_()
    assert "<td>–</td><td></td><td></td><td>y</td>" in rows._repr_html_()


def test_a_release_compared_with_itself_is_told() -> None:
    """Two names of one file are a likely mistake."""
    release = pm.mine([["a"], ["a", "b"]] * 300, 2, 1)
    same, other = "Both are the same release, so nothing can have changed.", pm.mine([["a"], ["a", "b"]] * 300, 2, 1)
    assert same in release.compare(release).lines()
    assert same not in release.compare(other).lines()


def test_promises_are_told_in_words() -> None:
    """Releases under different definitions of privacy are compared, and a note says what each promises."""
    baskets = pm.read([["a"], ["a", "b"]] * 300, items=["a", "b"])
    comparison = pm.mine(baskets, 2, 1).compare(pm.mine(baskets, 2, 1, delta="1e-6"))
    note = next(line for line in comparison.lines() if "promises" in line)
    assert "pure ε-differential privacy (ε = 1)" in note
    assert "δ = 1e-06" in note


def test_differences_are_of_supports() -> None:
    """However small the noisy number of transactions is, no difference leaves −1 to 1."""
    full, empty = (
        pm.mine(pm.read(baskets, items=["a", "b"]), 2, 1, method="privbasis", simulate=True, seed=1)
        for baskets in ([["a"], ["b"]] * 300, [[]] * 2)
    )
    for change in full.compare(empty):
        if change.change is not None:
            assert change.change == pytest.approx(change.after - change.before)
            assert -1 <= change.low <= change.change <= change.high <= 1
