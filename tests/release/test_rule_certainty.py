"""Rules that noise explains are left out, and intervals cover: on data whose exact counts are known."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import privmine as pm
from privmine.defaults.reconstruct import combine
from privmine.errors import InputError, UnknownNameError
from privmine.noise.laws import NoiseSum
from privmine.privacy.cost import Charge
from privmine.privacy.definition import PureDP
from privmine.privacy.noise import DiscreteLaplace
from privmine.privacy.receipt import Receipt
from privmine.release import FrequentItemset, Release
from privmine.release.chosen import Chosen
from privmine.release.rules import Wanted, list_rules
from privmine.release.rules.certainty import Certainty, Shown, Splits, discoveries


def made_up(counts: dict[str, float], total: float = 1000.0, joint: str = "independent", scale: float = 1.0) -> Release:
    """A release with these counts, one letter an item."""
    charge = Charge("a", "b", "c", "d", PureDP().cost(1))
    receipt = Receipt(charge.cost, "none", True, charges=(charge,))
    law = NoiseSum(DiscreteLaplace(1), ((4, scale),))
    rows = (FrequentItemset(tuple(items), n, max(n, 0) / total, law.standard_error, law) for items, n in counts.items())
    return Release(tuple(rows), len(counts), total, law.standard_error, receipt, law, joint=joint)


@pytest.mark.parametrize("bases", [((0, 1, 2),), ((0, 1, 2), (0, 1, 3), (0, 3), (1, 2, 3, 4)), ((0, 1), (2,), (0, 1))])
def test_covariances_follow_from_standard_errors(bases: Any) -> None:
    """The noise of an itemset, its parts and the total: the formulas agree with the weights of single bins."""
    sizes = [2 ** len(basis) for basis in bases]
    columns = []
    for bin_number in range(sum(sizes)):
        values = np.zeros(sum(sizes))
        values[bin_number] = 1.0
        found = combine(bases, np.split(values, np.cumsum(sizes)[:-1]))
        columns.append(found.counts)
    weights = np.array(columns).T  # a row an itemset, a column a bin
    exact = weights @ weights.T
    itemsets = [tuple(items) for items in found.itemsets]
    errors = np.sqrt(np.diag(exact))
    rows = tuple(FrequentItemset(items, 5.0, 0.5, errors[row]) for row, items in enumerate(itemsets) if items)
    release = Release(rows, len(rows), 10.0, errors[0], made_up({}).receipt, joint="bases")
    checked = 0
    for whole in itemsets:
        for size in range(1, len(whole)):
            for part in combinations(whole, size):
                rest = tuple(item for item in whole if item not in part)
                place = [itemsets.index(items) for items in (whole, part, rest)]
                certainty = Certainty(release, Splits(*(np.array([row - 1]) for row in place)), 0.95)
                for numbers in ((1, -2, 0.5, 3), (0, 1, 1, 0), (1, 0, 0, 1), (0, 1, 0, -1), (1, 1, 0, 0)):
                    combined = np.array(numbers) @ weights[[*place, 0]]
                    assert certainty._variance(*numbers)[0] == pytest.approx(combined @ combined)
                    checked += 1
    assert checked >= 10


def test_rules_that_rest_on_nothing_are_left_out() -> None:
    """A count that may be 0, a lift that may be 1, a part that is not there: each is counted."""
    counts = {"a": 500, "b": 400, "c": 3, "ab": 300, "ac": 4, "bd": 200, "e": 300, "ae": 152}
    release = made_up({items: float(count) for items, count in counts.items()}, scale=2.0)
    found = list_rules(release, Wanted())
    assert [*zip(found.columns["antecedents"], found.columns["consequents"], strict=True)] == [
        (("a",), ("b",)),
        (("b",), ("a",)),
    ]
    assert (found.left_out.near_zero, found.left_out.by_chance, found.left_out.incomplete) == (2, 2, 2)
    assert str(found.left_out).startswith("6 rules are not shown: 2 rest on a count that is not clearly above 0")


def test_values_stay_within_their_ranges() -> None:
    """A whole that is more frequent than its part has a confidence of 1, not 1.5; unrefined it has."""
    release = made_up({"a": 200.0, "b": 400.0, "ab": 300.0})
    refined, plain = release.rules(), release.rules(refined=False, min_threshold=0)
    assert refined["confidence"].max() == 1.0
    assert plain["confidence"].max() == pytest.approx(1.5)
    for metric, least, most in (
        ("support", 0, 1),
        ("confidence", 0, 1),
        ("lift", 0, np.inf),
        ("leverage", -0.25, 0.25),
    ):
        for frame in (refined, plain):
            assert frame[f"{metric}_low"].between(least, most).all()
            assert frame[f"{metric}_high"].between(least, most).all()
            assert (frame[f"{metric}_low"] <= frame[f"{metric}_high"]).all()


def test_intervals_grow_with_the_level_and_the_noise() -> None:
    """And hold the value."""
    counts = {"a": 500.0, "b": 400.0, "ab": 300.0}
    narrow, wide = (made_up(counts).rules(level=level) for level in (0.5, 0.99))
    noisy = made_up(counts, scale=3.0).rules(level=0.5)
    for metric in ("support", "confidence", "lift", "leverage", "conviction"):
        for other in (wide, noisy):
            assert (other[f"{metric}_low"] < narrow[f"{metric}_low"]).all()
            assert (other[f"{metric}_high"] > narrow[f"{metric}_high"]).all()
        assert (narrow[f"{metric}_low"] <= narrow[metric]).all()
        assert (narrow[metric] <= narrow[f"{metric}_high"]).all()


def test_unknown_joint_noise_is_taken_for_independent_and_said() -> None:
    """A reader sees what the intervals assume."""
    counts = {"a": 500.0, "b": 400.0, "ab": 300.0}
    assert any("assume" in sentence for sentence in made_up(counts, joint="").rules().attrs["privmine_words"])
    assert not any("assume" in sentence for sentence in made_up(counts).rules().attrs["privmine_words"])


def test_rules_with_wanted_items() -> None:
    """On the wanted side, by label or pattern; numbers too."""
    release = made_up({"a": 500.0, "b": 400.0, "ab": 300.0, "c": 300.0, "ac": 250.0})
    assert len(release.rules(antecedent="a")) == 2
    assert len(release.rules(consequent=["b", "c"])) == 2
    assert len(release.rules(antecedent="a", consequent="[bc]")) == 2
    with pytest.raises(UnknownNameError, match="released item"):
        release.rules(antecedent="z")
    with pytest.raises(InputError, match=r"No released item matches 'z\*' \(consequent\)\. Use another pattern\.$"):
        release.rules(consequent="z*")
    with pytest.raises(InputError, match="capitals and small letters are different"):
        release.rules(consequent="B*")


def test_redundant_rules_are_pruned_on_request() -> None:
    """One with more items on the left that is no better than a shorter one."""
    counts = {"a": 500.0, "b": 500.0, "c": 400.0, "ab": 400.0, "ac": 350.0, "bc": 350.0, "abc": 320.0}
    release = made_up(counts)
    whole, pruned = list_rules(release, Wanted()), list_rules(release, Wanted(prune=True))
    assert len(pruned) + pruned.left_out.redundant == len(whole)
    sides = {*zip(pruned.columns["antecedents"], pruned.columns["consequents"], strict=True)}
    assert (("a",), ("b",)) in sides
    assert (("a", "c"), ("b",)) in sides  # 320/350 is better than 350/400 and 400/500
    assert (("b", "c"), ("a",)) in sides
    pruned = list_rules(made_up({**counts, "abc": 280.0}), Wanted(prune=True))
    sides = {*zip(pruned.columns["antecedents"], pruned.columns["consequents"], strict=True)}
    assert (("a", "c"), ("b",)) not in sides  # 280/350 is no better than 400/500


def test_supports_alone_are_not_pruned() -> None:
    """There is nothing to compare; it is said instead of ignored."""
    with pytest.raises(InputError, match="no confidence that prune=True could compare"):
        made_up({"a": 500.0, "b": 400.0, "ab": 300.0}).rules(support_only=True, prune=True)


def test_multiplicity_is_allowed_for() -> None:
    """A chance of 1 in 100 tells something of a single rule, and nothing of one among 100."""
    assert discoveries(np.array([0.01]), 1)[0].all()
    assert not discoveries(np.array([0.01]), 100)[0].any()
    assert discoveries(np.array([0.5, 0.0001, 0.9]), 3)[0].tolist() == [False, True, False]


def test_at_most_one_rule_in_forty_is_expected_to_be_noise() -> None:
    """The chances are compared with 1/40, 2/40 and so on of the number of rules, the largest first."""
    assert discoveries(np.array([0.0249]), 1)[0].all()
    assert not discoveries(np.array([0.0251]), 1)[0].any()
    found, shown = discoveries(np.array([0.0249, 0.9, 0.024, 0.9]), 2)
    assert found.tolist() == [True, False, True, False]
    assert shown.chance == pytest.approx(0.025)


def test_independent_items_make_no_rules() -> None:
    """Of 20 releases of data in which no item has to do with another, hardly any shows a rule."""
    combos = [list(items) for size in range(6) for items in combinations("abcde", size)]
    data = pm.Transactions.from_lists(combos * 60)
    shown = sum(
        len(pm.mine(data, 31, 1, simulate=True, seed=seed, downward_closed=True).rules()) > 0 for seed in range(20)
    )
    assert shown <= 2


def test_intervals_cover_for_rules_that_are_shown() -> None:
    """Of strong and weak rules alike; the exact confidence lies within about 95 % of the intervals."""
    baskets = pm.groceries()
    exact: dict[tuple[Any, ...], int] = {}
    covered, shown = 0, 0
    position = {label: place for place, label in enumerate(baskets.universe.labels.tolist())}

    def count(items: tuple[Any, ...]) -> int:
        key = tuple(sorted(position[item] for item in items))
        if key not in exact:
            exact[key] = int(baskets.store.supports((key,))[0])
        return exact[key]

    for seed in range(16):
        release = pm.mine(baskets, 30, 1, simulate=True, seed=seed, downward_closed=True)
        columns = list_rules(release, Wanted()).columns
        names = ("antecedents", "consequents", "confidence_low", "confidence_high")
        for left, right, low, high in zip(*(columns[name] for name in names), strict=True):
            covered += low <= count((*left, *right)) / count(left) <= high
            shown += 1
    assert shown > 100
    assert 0.91 <= covered / shown <= 0.99


@pytest.mark.parametrize("beyond", [2.7, 3.5, 4.5])
def test_intervals_allow_for_how_hard_it_was_to_be_shown(beyond: float) -> None:
    """A rule that passed a hard test only just may well have a lift of 1; without the test its interval lies above."""
    law = made_up({}).total_law
    assert law is not None
    release = made_up({"a": 5000.0, "b": 4000.0, "ab": 2000.0 + beyond * law.standard_error}, total=10000.0)
    certainty = Certainty(release, Splits(np.array([2]), np.array([0]), np.array([1])), 0.95)
    low, high = certainty.intervals(Shown(1000, float(certainty.chances()[0]) * 1.01))["lift"]
    assert low[0] <= 1 < high[0]
    assert certainty.intervals()["lift"][0][0] > 1


def test_intervals_of_estimates_are_no_narrower_for_rules_that_are_shown() -> None:
    """How estimates choose is not known, so that a test in which a rule was shown with ease gains nothing."""
    release = made_up({"a": 5000.0, "b": 4000.0, "ab": 3000.0}, total=10000.0)
    release = evolve(release, selection=Chosen(5000, 2900.0, by_estimates=True))
    certainty = Certainty(release, Splits(np.array([2]), np.array([0]), np.array([1])), 0.95)
    listed, shown = (certainty.intervals(test)["lift"] for test in (None, Shown(1, 0.5)))
    assert shown[0] <= listed[0]
    assert shown[1] >= listed[1]


def test_rules_that_passed_only_just_are_told() -> None:
    """Their intervals reach below a lift of 1, which needs a word; rules that were not tested have none."""
    told = set()
    for seed in range(12):
        release = pm.mine(pm.groceries(), 40, "0.3", simulate=True, seed=seed, downward_closed=True)
        frame = release.rules()
        just = int((frame["lift_low"] <= 1).sum())
        said = [words for words in frame.attrs["privmine_words"] if "passed only just" in words]
        assert [words.partition(" of the ")[0] for words in said] == ([str(just)] if just else [])
        told.add(bool(just))
        everything = release.rules(refined=False, min_threshold=-1.0)
        assert not any("passed only just" in words for words in everything.attrs["privmine_words"])
    assert told == {True, False}
