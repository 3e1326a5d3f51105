"""Releases that rank and show estimates: their intervals, rules and comparison rest on the unbiased counts."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest
from estimating_component import Estimating

import privmine as pm
from privmine.errors import DataError
from privmine.noise.laws import NoiseSum
from privmine.privacy.cost import Charge
from privmine.privacy.definition import PureDP
from privmine.privacy.noise import Laplace
from privmine.privacy.receipt import Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.chosen import Chosen
from privmine.release.display import ESTIMATES

LAW = NoiseSum(Laplace(10), ((4, 1.0),))


#: Estimates that are drawn towards 0, as denoising does.
SHRUNKEN = Estimating(lambda counts: np.maximum(counts.counts - counts.standard_errors, 0.0))


def shrunken(baskets: Any, k: int = 20, epsilon: Any = 1, seed: int = 0) -> Release:
    """A simulated release of estimates."""
    return pm.Pipeline(reconstruct_counts=SHRUNKEN).run(baskets, k, epsilon, simulate=True, seed=seed)


def made_up(generator: np.random.Generator, listed: int) -> tuple[Release, Any]:
    """A release of the largest of 2,000 estimates, each with noise of its own beside the count's; and exact counts."""
    exact = generator.exponential(30, 2000)
    noisy = exact + generator.laplace(0, 10, (4, 2000)).sum(axis=0)
    estimates = 0.8 * noisy + generator.laplace(0, 4, 2000)
    order = np.argsort(-estimates)
    charge = Charge("a", "b", "c", "d", PureDP().cost(1))
    rows = tuple(
        FrequentItemset((int(row),), estimates[row], 0.1, LAW.standard_error, LAW, noisy[row]) for row in order[:listed]
    )
    chosen = Chosen(2000, float(estimates[order[listed]]), by_estimates=True)
    receipt = Receipt(charge.cost, "none", True, charges=(charge,))
    return Release(rows, listed, 1e5, LAW.standard_error, receipt, LAW, chosen), exact[order[:listed]]


def test_intervals_hold_whatever_the_estimates_choose() -> None:
    """Those of a fixed itemset miss far too often; those that allow for the choice do not."""
    generator = np.random.default_rng(5)
    fixed, allowed = [], []
    for _ in range(60):
        release, exact = made_up(generator, 40)
        for kept, selected in ((fixed, False), (allowed, True)):
            intervals = release.intervals(selected=selected)
            kept += [low <= count <= high for (low, high), count in zip(intervals, exact, strict=True)]
    assert np.mean(fixed) < 0.9
    # 2,400 intervals: 0.945 would be five standard errors below the bound of the theorem.
    assert np.mean(allowed) >= 0.945


def test_all_candidates_listed_need_no_allowance() -> None:
    """Nothing was chosen then."""
    release, _ = made_up(np.random.default_rng(5), 40)
    everything = attrs.evolve(release, selection=Chosen(40, None, by_estimates=True))
    assert everything.intervals() == everything.intervals(selected=False)
    assert release.intervals()[0].low < everything.intervals()[0].low


def test_the_verdict_says_what_it_can() -> None:
    """Nothing of what is missing, since nobody knows how estimates choose; the caveat says how intervals are made."""
    release = shrunken(pm.groceries())
    assert release.selection is not None
    assert release.selection.by_estimates
    assert release.verdict.found_from is None
    assert release.verdict.doubtful is None
    assert ESTIMATES in repr(release)


def test_files_keep_how_estimates_chose(tmp_path: Any) -> None:
    """CSV, JSON, Parquet, plain and workbook; anything but true or false is refused."""
    release = shrunken(pm.groceries())
    for name in ("r.csv", "r.json", "r.parquet", "r.xlsx"):
        release.save(tmp_path / name)
        assert pm.load(tmp_path / name) == release
    release.save(tmp_path / "plain.csv", plain=True)
    assert pm.load(tmp_path / "plain.csv") == release
    whole = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    whole["selection"]["by_estimates"] = "yes"
    (tmp_path / "r.json").write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(DataError, match="true or false"):
        pm.load(tmp_path / "r.json")


def test_rules_rest_on_unbiased_counts() -> None:
    """Their exact metrics lie within the intervals, and lifts are above 1, although every estimate is too small."""
    generator = np.random.default_rng(1)
    baskets = []
    for _ in range(4000):
        first = generator.random() < 0.5
        baskets.append([*(["a"] if first else []), *(["b"] if generator.random() < (0.8 if first else 0.2) else [])])
    data = pm.read(baskets, items=["a", "b", "c"])
    exact = 4000 * data.store.supports([(0, 1)])[0] / np.prod(data.store.supports([(0,), (1,)]).astype(float))
    covered, shown = 0, 0
    for seed in range(60):
        release = shrunken(data, 3, "0.5", seed)
        assert all(found.count < found.centre for found in release)
        for row in release.rules().to_dict("records"):
            shown += 1
            covered += row["lift_low"] <= exact <= row["lift_high"]
    assert shown >= 100
    # Rules that are shown are chosen once more, so that more may be covered than promised, but not fewer.
    assert covered / shown >= 0.9
    assert exact > 1.4


def test_releases_of_estimates_are_compared_by_unbiased_counts() -> None:
    """Two halves of one dataset differ by noise only, and a planted change is found."""
    generator = np.random.default_rng(2)

    def half(share: float) -> Any:
        flags = generator.random((3000, 3)) < (0.6, 0.4, share)
        baskets = [[item for item, has in zip("abc", row, strict=True) if has] for row in flags]
        return pm.read(baskets, items=list("abc"))

    alarms, found = 0, 0
    for seed in range(30):
        before = shrunken(half(0.3), 5, 1, seed)
        alarms += bool(before.compare(shrunken(half(0.3), 5, 1, seed + 100)).clear)
        after = before.compare(shrunken(half(0.4), 5, 1, seed + 200))
        found += ("c",) in [change.items for change in after.clear]
    assert alarms <= 4
    assert found >= 27
