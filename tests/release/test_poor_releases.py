"""Releases that lack something: every answer is a sentence or correct work, whatever is missing."""

from __future__ import annotations

from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from attrs import evolve

import privmine as pm
from privmine.errors import PrivmineError
from privmine.release import Release

HERE = Path(__file__).parent
OLD = sorted(path for folder in ("version1", "version3") for path in (HERE / folder).glob("*.*"))


def poor() -> dict[str, Release]:
    """By what they lack."""
    whole = pm.mine(pm.groceries(), 12, 1, simulate=True, seed=1)
    none = tuple(evolve(found, law=None) for found in whole)
    return {
        "nothing": whole,
        "laws": evolve(whole, itemsets=none, total_law=None, selection=None, joint=""),
        "a noisy N": pm.mine(pm.groceries(), 12, 1, n_public=True, simulate=True, seed=1),
        "transactions": evolve(whole, total=1.0),
        "all but one itemset": evolve(whole, itemsets=whole.itemsets[:1]),
        "itemsets": evolve(whole, itemsets=()),
        "subsets": evolve(whole, itemsets=tuple(found for found in whole if len(found.items) != 1)),
        **{
            f"{path.parent.name} {path.name}": pm.load(path)
            for path in OLD
            if path.suffix in (".csv", ".json", ".parquet")
        },
    }


@pytest.fixture(scope="module", params=poor())
def release(request: Any) -> Release:
    """One of them."""
    mpl.use("Agg")
    return poor()[request.param]


def answered(work: Any) -> Any:
    """What comes of the work; None if it is refused in a sentence."""
    refusal = ""
    try:
        return work()
    except PrivmineError as error:
        refusal = str(error)
    assert refusal.endswith(".")
    return None


# One of the old releases has an emoji for a label, which needs a font that matplotlib does not bring.
@pytest.mark.filterwarnings("ignore:Glyph .* missing from:UserWarning")
def test_every_answer_is_given_or_refused_in_words(release: Release, tmp_path: Path) -> None:
    """Verdict, intervals, rules, pictures and files."""
    assert all(line.endswith(".") for line in release.verdict.lines(release))
    for selected, level in product((True, False), (0.5, 0.95)):
        for low, high in release.intervals(level, selected=selected):
            assert 0 <= low <= high
            assert isfinite(high)
    for refined in (True, False):
        frame = answered(lambda: release.rules(refined=refined))  # noqa: B023 - called at once
        assert frame is None or not refined or (frame["confidence"].dropna() <= 1).all()
    for kind in ("support", "rules"):
        axes = answered(lambda: release.plot(kind))  # noqa: B023 - called at once
        if axes is not None:
            axes.figure.savefig(tmp_path / f"{kind}.png")
        plt.close("all")
    for name, plain in (("a.csv", False), ("b.csv", True), ("a.json", False), ("a.xlsx", False)):
        release.save(tmp_path / name, plain=plain)
        assert pm.load(tmp_path / name) == release
    release.save(tmp_path / "a.html")
    assert repr(release)
    assert release._repr_html_()


def test_a_comparison_with_a_whole_release_works_or_is_refused(release: Release) -> None:
    """In both directions."""
    whole = poor()["nothing"]
    for one, other in ((release, whole), (whole, release), (release, release)):
        changes = answered(lambda: one.compare(other))  # noqa: B023 - called at once
        if changes is not None:
            assert changes.lines()
            assert all(change.low is None or change.low <= change.change <= change.high for change in changes)
