"""Association rules of a release: mlxtend is the yardstick, on the same frame, for every column."""

from __future__ import annotations

import csv
import io
import json
import sys
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.frequent_patterns import association_rules

import privmine as pm
from privmine.errors import InputError, UnknownNameError
from privmine.privacy import Charge, PureDP, Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.rules import METRICS, RuleList, Wanted, list_rules
from privmine.release.rules import rules as refined_rules
from privmine.release.rules.rule_files import to_csv, to_json

SIDES = ["antecedents", "consequents"]
RANGED = ("support", "confidence", "lift", "leverage", "conviction")
ENDS = [f"{metric}_{end}" for metric in RANGED for end in ("low", "high")]


def rules(release: Release, metric: str = "confidence", min_threshold: Any = None, **options: Any) -> pd.DataFrame:
    """As mlxtend lists them."""
    return refined_rules(release, metric=metric, min_threshold=min_threshold, refined=False, **options)


def made_up(supports: dict[tuple[Any, ...], float], private: bool = True) -> Release:
    """A release with these supports."""
    charge = Charge("reconstruct_counts", "test", "supports", "none", PureDP().cost(1))
    receipt = Receipt(charge.cost, "none", private, charges=(charge,))
    itemsets = tuple(FrequentItemset(items, support * 100, support, 1.0) for items, support in supports.items())
    return Release(itemsets, len(itemsets), 100.0, 1.0, receipt)


def yardstick(release: Release, **arguments: Any) -> pd.DataFrame:
    """What mlxtend makes of the same frame; it warns where supports are 0."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return association_rules(release.to_pandas(), **arguments)


def by_sides(frame: pd.DataFrame) -> dict[tuple[frozenset[Any], frozenset[Any]], list[float]]:
    """The values of each rule, so that frames are compared whatever the order of their rows."""
    table = {
        (row[0], row[1]): [float(value) for value in row[2:]]
        for row in frame[[*SIDES, *METRICS]].itertuples(index=False, name=None)
    }
    assert len(table) == len(frame)
    return table


def assert_same(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """The same rules with bit-equal values in every column, NaN and infinity included."""
    assert set(theirs.columns) - set(ours.columns) == set()
    assert list(ours.columns[: len(theirs.columns)]) == list(theirs.columns)
    left, right = by_sides(ours), by_sides(theirs)
    assert left.keys() == right.keys()
    for sides, values in left.items():
        np.testing.assert_array_equal(values, right[sides])


def closed(universe: str, top: float = 1.0) -> st.SearchStrategy[dict[tuple[Any, ...], float]]:
    """Supports of all subsets of a few maximal itemsets; noisy, so nothing ties a set to its subsets."""
    support = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-300]), st.floats(0, top, allow_subnormal=False))

    def subsets(maximal: list[list[str]]) -> st.SearchStrategy[dict[tuple[Any, ...], float]]:
        every = {
            subset
            for items in maximal
            for size in range(1, len(items) + 1)
            for subset in combinations(sorted(items), size)
        }
        return st.fixed_dictionaries(dict.fromkeys(sorted(every), support))

    return st.lists(
        st.lists(st.sampled_from(universe), unique=True, min_size=1, max_size=4), min_size=1, max_size=4
    ).flatmap(subsets)


@settings(max_examples=60)
@given(supports=closed("abcdef"), threshold=st.floats(-1, 2), data=st.data())
def test_rules_are_those_of_mlxtend(supports: Any, threshold: float, data: Any) -> None:
    """For every metric and any threshold, also where supports are 0 or a set is more frequent than its part."""
    release = made_up(supports)
    metric = data.draw(st.sampled_from(sorted(METRICS)))
    theirs = yardstick(release, metric=metric, min_threshold=threshold)
    assert_same(rules(release, metric, threshold), theirs)


@settings(max_examples=30)
@given(
    supports=st.dictionaries(
        st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=4).map(lambda items: tuple(sorted(items))),
        st.floats(0, 1),
        min_size=1,
        max_size=8,
    ),
    threshold=st.floats(0, 1),
)
def test_support_only_is_that_of_mlxtend(supports: Any, threshold: float) -> None:
    """Subsets may be missing then, and the metric is the support whatever was asked for."""
    release = made_up(supports)
    theirs = yardstick(release, metric="lift", min_threshold=threshold, support_only=True)
    assert_same(rules(release, "lift", threshold, support_only=True), theirs)


@pytest.fixture(scope="module", params=[1, 2, 3])
def groceries(request: pytest.FixtureRequest) -> Release:
    """A simulated release of the groceries in which no subset is missing."""
    release = pm.mine(pm.groceries(), 150, 2, downward_closed=True, simulate=True, seed=request.param)
    assert max(len(found.items) for found in release) > 2
    return release


@pytest.mark.parametrize("metric", METRICS)
def test_rules_of_groceries_are_those_of_mlxtend(groceries: Release, metric: str) -> None:
    """On real supports, for every metric, with a threshold in the middle of what there is."""
    everything = rules(groceries, metric, -np.inf)
    threshold = float(everything[metric].median())
    assert len(everything) > 100
    assert_same(everything, yardstick(groceries, metric=metric, min_threshold=-np.inf))
    assert_same(rules(groceries, metric, threshold), yardstick(groceries, metric=metric, min_threshold=threshold))


def test_the_columns_are_those_that_mlxtend_has(groceries: Release) -> None:
    """Names and order; what a simulation adds comes after them."""
    assert [*SIDES, *METRICS] == list(yardstick(groceries).columns)
    assert list(rules(groceries).columns) == [*SIDES, *METRICS, *ENDS, "simulated"]
    assert list(groceries.rules().columns) == [*SIDES, *METRICS, *ENDS, "simulated"]


def test_the_defaults_are_those_of_mlxtend(groceries: Release) -> None:
    """A confidence of at least 0.8."""
    assert_same(rules(groceries), yardstick(groceries))
    assert_same(groceries.rules(refined=False), yardstick(groceries))
    assert_same(groceries.rules("lift", 1.2, refined=False), yardstick(groceries, metric="lift", min_threshold=1.2))


def test_order_of_the_rows() -> None:
    """By itemset as released, then long antecedents first, then in public order."""
    parts = {("a",): 0.9, ("b",): 0.8, ("c",): 0.7, ("a", "b"): 0.5, ("a", "c"): 0.5, ("b", "c"): 0.5}
    frame = rules(made_up({("a", "b", "c"): 0.4, **parts}), "support", 0)
    antecedents = ["".join(sorted(side)) for side in frame["antecedents"]]
    assert antecedents == ["ab", "ac", "bc", "a", "b", "c", "a", "b", "a", "c", "b", "c"]


def test_a_zero_support_gives_no_warning() -> None:
    """0/0 is NaN and 1/0 infinite, silently; and a rule whose metric is NaN is not shown."""
    release = made_up({("a",): 0.0, ("b",): 0.5, ("a", "b"): 0.0, ("c",): 0.0, ("b", "c"): 0.1})
    frame = rules(release, "support", 0)
    assert frame["confidence"].isna().sum() == 1
    assert np.isinf(frame["confidence"]).sum() == 1
    assert len(rules(release, "confidence", -np.inf)) == len(frame) - 1


@pytest.mark.parametrize("supports", [{}, {("a",): 0.5, ("b",): 0.4}])
def test_no_rules_are_an_empty_frame(supports: Any) -> None:
    """With all its columns, of the right types, and the receipt."""
    frames = (rules(made_up(supports)), rules(made_up(supports), support_only=True), made_up(supports).rules())
    for frame, ends in zip(frames, (ENDS, [], ENDS), strict=True):
        assert list(frame.columns) == [*SIDES, *METRICS, *ends]
        assert len(frame) == 0
        assert set(frame.dtypes[2:]) == {np.dtype(float)}
        assert frame.attrs["privmine"]["epsilon"] == "1"


def test_sides_are_frozensets_and_the_receipt_goes_along(groceries: Release) -> None:
    """As in mlxtend; the receipt is in attrs, and a simulation says so in each row."""
    frame = rules(groceries, "lift", 0)
    assert all(isinstance(side, frozenset) for name in SIDES for side in frame[name])
    assert frame.attrs["privmine"] == groceries.receipt.to_dict()
    assert frame["simulated"].all()
    assert "simulated" not in rules(made_up({("a",): 0.5}))


@pytest.mark.parametrize("missing", [("a",), ("b", "c")])
def test_a_missing_subset_is_told_with_what_to_do(missing: tuple[str, ...]) -> None:
    """Where mlxtend has a KeyError, the message names the subset and three ways out."""
    supports = {items: 0.5 for size in (1, 2, 3) for items in combinations("abc", size)}
    supports |= {(str(number),): 0.1 for number in range(9)}
    del supports[missing]
    release = made_up(supports)
    with pytest.raises(KeyError):
        yardstick(release)
    with pytest.raises(InputError) as told:
        rules(release)
    assert f"not its subset {{{', '.join(missing)}}}" in str(told.value)
    for way in ("downward_closed=True", "release.downward_closed()", "support_only=True"):
        assert way in str(told.value)
    assert len(rules(release, support_only=True, min_threshold=0)) > 0


def test_a_long_itemset_alone_is_refused_at_once() -> None:
    """Its 2^60 subsets are never listed."""
    release = made_up({tuple(range(60)): 0.5})
    with pytest.raises(InputError, match="lack one"):
        rules(release)
    with pytest.raises(InputError, match="Raise min_threshold"):
        rules(release, support_only=True, min_threshold=0)
    assert len(rules(release, support_only=True, min_threshold=0.6)) == 0


def test_an_unknown_metric_lists_the_known_ones() -> None:
    """A misspelling is told."""
    with pytest.raises(UnknownNameError, match="Did you mean 'confidence'"):
        rules(made_up({}), "confidense")
    with pytest.raises(UnknownNameError, match="metric of rules"):
        rules(made_up({}), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", ["high", [], float("nan")])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    """Anything else is refused."""
    with pytest.raises(InputError, match="min_threshold must be a number"):
        rules(made_up({}), min_threshold=threshold)


def test_pandas_is_needed_for_a_frame_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the message names the command; columns come without it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'privmine\[pandas\]'"):
        rules(made_up({}))
    assert list(list_rules(made_up({}), Wanted()).columns) == [*SIDES, *METRICS, *ENDS]


ODD = ('comma, "quote"', "line\nbreak", "🥐", "<b>html</b>")


@pytest.fixture(scope="module")
def odd() -> Release:
    """A simulated release whose labels have everything that breaks files."""
    supports = {items: 0.9 / size for size in (1, 2) for items in combinations(ODD, size)}
    return made_up({**supports, (ODD[0],): 0.0}, private=False)


def everything(release: Release) -> RuleList:
    """All rules, whatever they are worth."""
    return list_rules(release, Wanted("support", 0, refined=False))


def test_csv_has_the_receipt_and_reads_back(odd: Release) -> None:
    """Below the # lines it is plain CSV; sides are JSON lists."""
    found = everything(odd)
    columns = found.columns
    lines = to_csv(odd, found).split("\n")
    start = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    assert lines[0].startswith("# NOT PRIVATE")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    assert [tuple(json.loads(row["antecedents"])) for row in rows] == columns["antecedents"]
    np.testing.assert_array_equal([float(row["lift"]) for row in rows], columns["lift"])
    assert {row["simulated"] for row in rows} == {"True"}


def test_json_is_strict(odd: Release) -> None:
    """No NaN and no Infinity, which many readers refuse; the receipt is inside."""
    found = everything(odd)
    columns = found.columns
    assert not np.isfinite(columns["lift"]).all()
    read = json.loads(to_json(odd, found), parse_constant=lambda name: pytest.fail(name))
    assert read["private"] is False
    assert Receipt.from_dict(read["receipt"]) == odd.receipt
    assert len(read["rules"]) == len(columns["lift"])
    assert read["rules"][0]["lift"] is None
