from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from privmine.errors import InputError, PluginError
from privmine.evaluation import metrics
from privmine.evaluation.result_rows import as_rows, columns, comparable, epsilon_of
from privmine.evaluation.truth import Truth, position_finder
from privmine.hooks.extensions import Extension
from privmine.hooks.registry import registry
from privmine.model import BasisSet, Universe

A, B, C, D, E = range(5)


def test_the_truth_is_the_exact_order(hand_truth: Truth) -> None:
    """Itemsets come by support, then length, then item order."""
    assert hand_truth.itemsets[:7] == ((A,), (B,), (C,), (A, B), (A, C), (B, C), (A, B, C))
    assert hand_truth.supports.tolist() == [6, 5, 4, 4, 3, 3, 2]


def test_fnr_is_the_share_of_the_truth_that_was_missed() -> None:
    """Two of four true itemsets are missing, whatever else was released."""
    assert metrics.false_negative_rate([(A,), (B,), (D,)], [(A,), (B,), (C,), (A, B)]) == 0.5


def test_nothing_to_miss_is_nothing_missed() -> None:
    """Data without itemsets gives an FNR of 0."""
    assert metrics.false_negative_rate([], []) == 0
    assert metrics.tolerant_false_negative_rate([], 0, 0) == 0


def test_a_tie_with_the_kth_itemset_is_forgiven(hand_truth: Truth) -> None:
    """The top 5 end with {a, c}; {b, c} is as frequent, so that releasing it instead is no miss."""
    released = [(A,), (B,), (C,), (A, B), (B, C)]
    found = metrics.measures(hand_truth, 5, released, [6, 5, 4, 4, 3])
    assert found["fnr"] == pytest.approx(1 / 5)
    assert found["fnr_tolerant"] == 0


def test_a_less_frequent_itemset_is_not_forgiven(hand_truth: Truth) -> None:
    """{a, b, c} is less frequent than the fifth, so that it is a miss either way."""
    found = metrics.measures(hand_truth, 5, [(A,), (B,), (C,), (A, B), (A, B, C)], [6, 5, 4, 4, 3])
    assert found["fnr"] == found["fnr_tolerant"] == pytest.approx(1 / 5)


def test_relative_error_is_the_median_over_what_occurs(hand_truth: Truth) -> None:
    """Errors 1/6, 0 and 2/4 have the median 1/6; {e} does not occur and has no part in it."""
    found = metrics.measures(hand_truth, 4, [(A,), (B,), (C,), (E,)], [7, 5, 6, 3])
    assert found["re"] == pytest.approx(1 / 6)


def test_strict_relative_error_counts_what_does_not_occur_as_infinite(hand_truth: Truth) -> None:
    """With {e} and {d, e} infinite, the median of 0, 1/5, ∞, ∞ is infinite; with one of them it is 1/5."""
    assert metrics.measures(hand_truth, 4, [(A,), (B,), (E,), (D, E)], [6, 6, 3, 3])["re_strict"] == inf
    assert metrics.measures(hand_truth, 3, [(A,), (B,), (E,)], [6, 6, 3])["re_strict"] == pytest.approx(1 / 5)


def test_an_empty_release_has_no_error(hand_truth: Truth) -> None:
    """Nothing released: everything is missed and no error can be computed."""
    found = metrics.measures(hand_truth, 3, [], [])
    assert (found["fnr"], found["re"], found["re_strict"], found["released"]) == (1, None, None, 0)


def test_precision_counts_hits_among_the_first_released(hand_truth: Truth) -> None:
    """Of the first two released one is in the true top 3, and a rank that was not filled is wrong."""
    truth = hand_truth.top(3)
    assert metrics.precision_at(2, [(D,), (A,), (B,)], truth) == 0.5
    assert metrics.precision_at(4, [(A,), (B,)], truth) == 0.5


def test_precision_beyond_k_does_not_apply(hand_truth: Truth) -> None:
    """Ranks beyond k are None."""
    assert metrics.measures(hand_truth, 7, [(A,)], [6])["precision_10"] is None


def test_coverage_is_the_share_inside_some_basis(hand_truth: Truth) -> None:
    """{a, b} and {c} cover a, b, c and ab, but neither ac, bc nor abc: 4 of 7."""
    assert metrics.covered_share(BasisSet(bases=[(A, B), (C,)]), hand_truth.top(7)) == pytest.approx(4 / 7)


def test_coverage_minds_the_candidates(hand_truth: Truth) -> None:
    """A basis whose subsets are not candidates covers itself alone."""
    basis = BasisSet(bases=[(A, B, C)], candidates=[(A, B, C)])
    assert metrics.covered_share(basis, hand_truth.top(7)) == pytest.approx(1 / 7)
    assert metrics.covered_share(basis, set()) == 1


def test_fewer_itemsets_than_k_are_the_whole_truth(hand_truth: Truth, by_hand: object) -> None:
    """With fewer than k itemsets in the data, the k-th support is 0 and the share is of those that occur."""
    truth = Truth.mine(by_hand, 1000)  # type: ignore[arg-type]
    assert truth.kth_support(1000) == 0
    assert metrics.measures(truth, 1000, truth.itemsets[:], [1.0] * len(truth.itemsets))["fnr"] == 0


def test_a_truth_is_not_asked_for_more_than_was_mined(hand_truth: Truth) -> None:
    """A larger k than the mined one is refused instead of being answered with less."""
    with pytest.raises(InputError, match="true top 7 was mined"):
        hand_truth.top(8)


def test_labels_are_found_in_numeric_and_in_textual_universes() -> None:
    """Positions follow the universe's own order, and numbers that became text are found."""
    numeric, textual = position_finder(Universe.of([30, 10, 20])), position_finder(Universe.of(["x", "7"]))
    assert [numeric(label) for label in (10, "20", 30, 40, "x")] == [1, 2, 0, None, None]
    assert [textual(label) for label in ("x", 7, "y")] == [0, 1, None]


def test_a_release_of_other_data_is_refused(hand_truth: Truth) -> None:
    """An item outside the universe is named."""
    with pytest.raises(InputError, match="'z'"):
        hand_truth.indices([("a", "z")])


def test_rows_without_machine_columns_are_comparable() -> None:
    """Time and memory are left out of a comparison."""
    row = dict.fromkeys(columns(), 1)
    assert "seconds" not in comparable(row)
    assert "fnr" in comparable(row)


def test_epsilon_is_a_number_for_axes() -> None:
    """Decimals and fractions are both understood."""
    assert epsilon_of({"epsilon": "0.25"}) == 0.25
    assert epsilon_of({"epsilon": "1/4"}) == 0.25


def test_frames_become_rows() -> None:
    """A pandas frame gives the same rows, with None for what is missing."""
    import pandas as pd

    assert as_rows(pd.DataFrame({"k": [1, 2], "re": [0.5, None]})) == [{"k": 1, "re": 0.5}, {"k": 2, "re": None}]


def test_what_does_not_occur_is_no_hit_where_the_truth_is_short() -> None:
    """With fewer than k itemsets in the data, the k-th support of 0 forgives nothing."""
    assert metrics.tolerant_false_negative_rate([0, 0], kth_support=0, size=2) == 1


@pytest.fixture
def add_metric(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    """Put a metric into the registry."""

    def add(name: str, function: Any) -> None:
        monkeypatch.setitem(
            registry().extensions, ("metric", name), Extension("metric", name, "", function, "mine", "1")
        )

    return add


def test_a_metric_of_a_plugin_is_measured(hand_truth: Truth, add_metric: Callable[[str, Any], None]) -> None:
    """It sees the release beside the truth; a release alone has no bases."""
    add_metric(
        "seen", lambda found: found.k + 10 * len(found.released) + 100 * found.supports[0] + 1000 * found.kth_support
    )
    add_metric("bases", lambda found: None if found.basis is None else found.basis.width)
    found = metrics.measures(hand_truth, 5, [(A,), (B,)], [6, 5])
    assert (found["seen"], found["bases"]) == (5 + 20 + 600 + 3000, None)
    assert metrics.measures(hand_truth, 5, [(A,)], [6], BasisSet([(A,), (B,)]))["bases"] == 2
    assert columns().index("seen") == columns().index("coverage") + 1


def test_a_metric_that_fails_is_told_without_data(hand_truth: Truth, add_metric: Callable[[str, Any], None]) -> None:
    """Its own message may quote exact supports, so that neither the error nor its context has it."""
    add_metric("fails", lambda found: {}[f"supports {found.supports}"])
    with pytest.raises(
        PluginError, match=r"^The metric 'fails' of mine failed \(KeyError\)\. Tell its author\.$"
    ) as caught:
        metrics.measures(hand_truth, 5, [(A,)], [6])
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_metric_cannot_have_the_name_of_another_column(add_metric: Callable[[str, Any], None]) -> None:
    """The error says whose it is, and what to do."""
    add_metric("seed", len)
    with pytest.raises(PluginError, match="mine has a metric 'seed', which is the name of another column of results"):
        columns()
