"""Counts that are means of beliefs: the choice of the largest tells nothing more, and files keep that."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist

import attrs
import numpy as np
import pytest

import privmine as pm
from privmine.errors import DataError
from privmine.release import Release
from privmine.release.chosen import Chosen
from privmine.release.verdict import told_from_zero

BASKETS = [[1, 2], [1], [2, 3], [4]] * 50


def believing(release: Release) -> Release:
    """The same release, of means of beliefs."""
    assert release.selection is not None
    return attrs.evolve(release, selection=attrs.evolve(release.selection, believed=True))


def test_beliefs_need_no_allowance_for_the_choice() -> None:
    """Of 2,000 normal counts with normal noise the 200 largest posterior means are chosen: intervals hold anyway."""
    noise = np.random.default_rng(3)
    exact = noise.normal(100, 10, 2000)
    means = 100 + (exact + noise.normal(0, 10, 2000) - 100) / 2
    listed = np.argsort(-means)[:200]
    reach = NormalDist().inv_cdf(0.975) * np.sqrt(50)
    assert np.mean(np.abs(means - exact)[listed] <= reach) == pytest.approx(0.95, abs=0.04)


def test_intervals_of_beliefs_are_those_of_their_laws() -> None:
    """An allowance would cut the upper ends of the last rows."""
    release = pm.mine(BASKETS, k=3, epsilon=0.1, simulate=True, seed=1)
    believed = believing(release)
    assert release.intervals() != release.intervals(selected=False)
    assert believed.intervals() == release.intervals(selected=False)
    assert "allow for the choice" in repr(release)
    assert "allow for the choice" not in repr(believed)


def test_beliefs_above_0_are_called_so() -> None:
    """The choice tells nothing more of them, so that a verdict agrees with the intervals beside it."""
    release = pm.mine(pm.groceries(), k=30, epsilon=1, simulate=True, seed=1)
    assert release.selection is not None
    near = attrs.evolve(release.itemsets[0], count=250.0, law=None, standard_error=100.0)
    chosen = attrs.evolve(release.selection, cutoff=240.0, candidates=100)
    listed = attrs.evolve(release, itemsets=(near,), selection=chosen)
    assert not told_from_zero(listed).any()
    believed = believing(listed)
    assert believed.intervals()[0].low > 0
    assert told_from_zero(believed).all()


def test_files_keep_that_counts_are_beliefs(tmp_path: Path) -> None:
    """Anything but true or false is refused; files of other releases have no word of it."""
    release = pm.mine(BASKETS, k=3, epsilon=0.1, simulate=True, seed=1)
    assert "believed" not in Chosen(5, 1.0).to_dict()
    believed = believing(release)
    for name in ("r.csv", "r.json", "r.parquet"):
        believed.save(tmp_path / name)
        assert pm.load(tmp_path / name) == believed
    whole = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    whole["selection"]["believed"] = 1
    (tmp_path / "r.json").write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(DataError, match="believed in it must be true or false"):
        pm.load(tmp_path / "r.json")
