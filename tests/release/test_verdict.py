"""How far a release can be trusted: what the verdict says, and that it is right as often as it claims."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest

import privmine as pm
from privmine.noise.laws import NoiseSum
from privmine.privacy.cost import Charge
from privmine.privacy.definition import PureDP
from privmine.privacy.noise import DiscreteLaplace, Laplace
from privmine.privacy.receipt import Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.chosen import Chosen, chosen_intervals
from privmine.release.intervals import NormalLaw, TabulatedLaw
from privmine.release.tails import tail_of
from privmine.release.verdict import told_from_zero

LAW = NoiseSum(DiscreteLaplace(10), ((4, 1.0),))  # a standard error of 28


def made_up(counts: list[float], chosen: Chosen | None) -> Release:
    """A release with these counts."""
    charge = Charge("a", "b", "c", "d", PureDP().cost(1))
    receipt = Receipt(charge.cost, "none", True, charges=(charge,))
    rows = (FrequentItemset((row,), n, n / 1000, LAW.standard_error, LAW) for row, n in enumerate(counts))
    return Release(tuple(rows), max(len(counts), 1), 1000.0, LAW.standard_error, receipt, LAW, chosen)


def test_intervals_above_zero_by_chance_are_told() -> None:
    """A count may be not clearly above 0 though its interval is; the verdict says why."""
    counts = [500.0, 70.0, *(float(n) for n in range(30, 0, -1))]
    release = made_up(counts, None)
    assert release.intervals()[1][0] > 0
    assert not told_from_zero(release)[1]
    assert "of them is, which with so many counts happens by chance" in release.verdict.lines(release)[0]
    assert "by chance." not in made_up(counts[:1], None).verdict.lines(made_up(counts[:1], None))[0]


def test_equally_frequent_itemsets_are_in_no_clear_order() -> None:
    """Which of them is last is chance, and so at most one run in twenty calls any of them more frequent."""
    generator = np.random.default_rng(5)
    runs, rows = 200, 30
    noise = generator.laplace(scale=10, size=(runs, rows, 4)).sum(axis=2)
    wrong = sum(
        made_up(sorted((500 + of_run).tolist(), reverse=True), Chosen(rows)).verdict.clear_order > 0 for of_run in noise
    )
    assert wrong <= 0.05 * runs


def test_a_catalogue_that_is_written_otherwise() -> None:
    """If hardly anything of the universe occurs, a larger ε is no help: the verdict asks for the labels."""
    data = [["milk", "tea"], ["milk"], ["bread"]] * 2000
    words = {
        case: " ".join(release.verdict.lines(release))
        for case, items in (
            ("as in the data", ["milk", "tea", "bread"]),
            ("otherwise", ["MILK", "TEA", "BREAD", "OIL"]),
        )
        for release in (pm.mine(pm.read(data, items=items), 2, 1, simulate=True, seed=3),)
    }
    assert "check that the labels" in words["otherwise"]
    assert "larger ε" not in words["otherwise"]
    assert "labels" not in words["as in the data"]


@pytest.mark.parametrize("terms", [((1, 1.0),), ((4, 1.0),), ((512, 0.25), (64, 0.5)), ((2, 1.0),)])
@pytest.mark.parametrize("distribution", [Laplace, DiscreteLaplace])
def test_tails_are_those_of_the_law(terms: Any, distribution: Any) -> None:
    """At every half-width the tail is what the level leaves, for sums, tables and normal noise alike."""
    law = NoiseSum(distribution(40), terms)
    for kind, error in ((law, 0.02), (TabulatedLaw.of(law), 0.02), (NormalLaw(law.standard_error), 1e-3)):
        tail = tail_of(kind)
        for level in (0.5, 0.9, 0.95, 0.99, 0.999):
            width = kind.half_width(level)
            assert 2 * float(tail.above(width)) == pytest.approx(1 - level, rel=error)
            assert float(tail.above(-width)) == pytest.approx((1 + level) / 2, rel=error)
            assert tail.quantile((1 - level) / 2) == pytest.approx(width, rel=error)
        assert tail.quantile(1e-30) > tail.quantile(1e-13) > tail.quantile(1e-5)
        assert float(tail.above(1e4 * law.standard_error)) + 1e-300 > 0


def test_no_noise_has_no_tail() -> None:
    """A law without terms, and a table of zeros, are almost surely 0."""
    for law in (NoiseSum(Laplace(1), ()), TabulatedLaw.of(NormalLaw(0.0)), NormalLaw(0.0)):
        assert tail_of(law).quantile(0.025) < 1e-6


def test_intervals_hold_for_what_is_chosen() -> None:
    """Of candidates just above a cutoff, about 95 % of the intervals cover where those of before do not."""
    generator = np.random.default_rng(3)
    tail = tail_of(NoiseSum(Laplace(10), ((4, 1.0),)))
    exact = generator.exponential(30, 40_000)
    noisy = exact + generator.laplace(0, 10, (4, 40_000)).sum(axis=0)
    chosen = noisy > 120
    assert chosen.sum() > 500
    low, high = chosen_intervals(noisy[chosen], tail, 120.0, len(exact), 0.95)
    covered = (low <= exact[chosen]) & (exact[chosen] <= high)
    reach = tail.quantile(0.025)
    fixed = np.abs(noisy[chosen] - exact[chosen]) <= reach
    assert fixed.mean() < 0.9
    assert 0.93 <= covered.mean() <= 0.97
    assert (low < noisy[chosen]).all()
    assert (high >= noisy[chosen]).all()


def test_rows_far_above_the_cutoff_have_the_interval_of_their_noise() -> None:
    """The choice tells nothing of them; the last rows reach further down."""
    release = made_up([1000.0, 500.0, 130.0, 100.0], Chosen(500, 95.0))
    corrected, fixed = release.intervals(), release.intervals(selected=False)
    assert corrected[:2] == fixed[:2]
    assert corrected[3].low < fixed[3].low
    assert corrected[3].high >= 100.0
    assert made_up([100.0], None).intervals() == made_up([100.0], Chosen(1)).intervals()


def test_rows_near_the_cutoff_are_doubtful_though_they_are_above_zero() -> None:
    """Those whose interval reaches down to it."""
    release = made_up([1000.0, 600.0, 410.0, 405.0], Chosen(50, 400.0))
    assert min(low for low, _ in release.intervals()) > 0
    assert release.verdict.doubtful == 2


def test_a_verdict_in_words() -> None:
    """What is clearly above 0, from which rank on the order is chance, what is found, what may be missing."""
    release = made_up([1000.0, 500.0, 150.0, 140.0, 135.0], Chosen(500, 130.0))
    verdict = release.verdict
    assert (verdict.rows, verdict.above_zero, verdict.clear_order, verdict.doubtful) == (5, 2, 2, 3)
    words = " ".join(verdict.lines(release))
    assert "3 of 5 counts are not clearly above 0." in words
    assert "mostly noise" in words
    assert "From rank 3 on the order is a matter of chance" in words
    # Noise is as low as that once in 20 runs.
    assert verdict.found_from == pytest.approx(130.0 + LAW.half_width(0.9), abs=1.0)
    assert f"at least {verdict.found_from:,.0f} transactions" in words
    assert "up to 3 of the 5 most frequent itemsets may be missing" in words


@pytest.mark.parametrize(
    ("total", "cutoff", "words", "is_known"),
    [
        (1.0, 450.0, "transactions, and there are probably not that many.", False),
        (50.0, 40.0, "transactions.", False),
        (1000.0, 450.0, " %).", True),
    ],
)
def test_supports_of_an_unknown_number_of_transactions(total: float, cutoff: float, words: str, is_known: bool) -> None:
    """Where the noisy total may be 0, supports mean nothing, and no share of more than all is told."""
    release = attrs.evolve(made_up([500.0, 490.0, 480.0], Chosen(500, cutoff)), total=total)
    told = release.verdict.lines(release)
    assert any("so the supports mean nothing" in line for line in told) is not is_known
    assert next(line for line in told if "19 of 20" in line).endswith(words)


@pytest.mark.parametrize(
    ("counts", "chosen", "words"),
    [
        ([], Chosen(0), "Nothing is listed"),
        ([500.0], Chosen(1), "There is only one row."),
        ([500.0], None, "The count is clearly above 0."),
        ([500.0, 0.0], Chosen(2), "Every row is more frequent than the last one."),
        ([500.0, 499.0], Chosen(2), "even the first count is not clearly above the last one"),
    ],
)
def test_small_releases_have_a_verdict(counts: list[float], chosen: Chosen | None, words: str) -> None:
    """One row, none, all candidates listed, or a file of an earlier version."""
    release = made_up(counts, chosen)
    assert words in " ".join(release.verdict.lines(release))


def test_thousands_are_separated() -> None:
    """Of rows as of counts."""
    release = made_up([500.0] * 1200, Chosen(5000, 499.0))
    assert "up to 1,200 of the 1,200 most frequent" in " ".join(release.verdict.lines(release))
    assert repr(release).startswith("1,200 private frequent itemsets of about 1,000 transactions")


def test_every_export_has_the_verdict(tmp_path: Any) -> None:
    """Text, notebook, page, CSV and JSON; and it is the same after loading."""
    release = pm.mine(pm.groceries(), 20, 1)
    lines = release.verdict.lines(release)
    for name in ("r.csv", "r.json", "r.html"):
        release.save(tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert all(line in text for line in lines)
    assert all(line in repr(release) and line in release._repr_html_() for line in lines)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["verdict"]["rows"] == 20
    for name in ("r.csv", "r.json"):
        loaded = pm.load(tmp_path / name)
        assert loaded == release
        assert loaded.verdict == release.verdict


def test_what_is_clearly_above_0_is_not_0() -> None:
    """Of 200 listed counts most are 0. Few of those called clearly above 0 are; intervals alone would call many so."""
    generator = np.random.default_rng(4)
    told, wrong, found, by_interval, by_interval_wrong = 0, 0, 0, 0, 0
    for _ in range(60):
        exact = np.where(np.arange(3000) < 12, 300.0, 0.0)
        noisy = exact + generator.laplace(0, 10, (4, 3000)).sum(axis=0)
        order = np.argsort(-noisy)
        release = made_up(noisy[order[:200]].tolist(), Chosen(3000, float(noisy[order[200]])))
        sure, zero = told_from_zero(release), exact[order[:200]] == 0
        told, wrong, found = told + sure.sum(), wrong + (sure & zero).sum(), found + (sure & ~zero).sum()
        above = np.array([low > 0 for low, _ in release.intervals()])
        by_interval, by_interval_wrong = by_interval + above.sum(), by_interval_wrong + (above & zero).sum()
        assert release.verdict.above_zero == sure.sum()
    assert found >= 0.99 * 60 * 12
    assert by_interval_wrong / by_interval > 0.2
    assert wrong / told <= 0.08


def test_large_counts_just_above_the_cutoff_are_told_from_0() -> None:
    """No noise of any candidate reaches so far, although the choice tells nothing good of the last rows."""
    release = made_up([3000.0, 2001.0, 2000.5], Chosen(5000, 2000.0))
    assert told_from_zero(release).all()
    assert release.verdict.above_zero == 3


def test_an_earlier_file_says_what_it_cannot() -> None:
    """Without the cutoff nothing is said of what is missing, and intervals are those of the noise."""
    release = attrs.evolve(pm.mine(pm.groceries(), 20, 1, simulate=True, seed=1), selection=None)
    assert release.verdict.found_from is None
    assert release.verdict.doubtful is None
    assert release.intervals() == release.intervals(selected=False)
    assert "probably too high" in repr(release)


def test_the_order_is_right_where_the_verdict_says_so() -> None:
    """In 40 runs the rows that are said to be more frequent than the last one are, in all but a few."""
    baskets = pm.groceries()
    position = {label: place for place, label in enumerate(baskets.universe.labels.tolist())}
    right = 0
    for seed in range(40):
        release = pm.mine(baskets, 30, "0.3", simulate=True, seed=seed)
        itemsets = tuple(tuple(sorted(position[item] for item in found.items)) for found in release)
        exact = baskets.store.supports(itemsets)
        clear = release.verdict.clear_order
        assert 0 < clear < 30
        right += bool((exact[:clear] > exact[-1]).all())
    assert right >= 36
