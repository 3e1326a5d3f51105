from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from privmine.errors import InputError, UnknownNameError
from privmine.evaluation.statistics import EXACT_PAIRS, sign_flip_p_value, t_quantile
from privmine.evaluation.summary import compare_pipelines, mean_of, summarise


def row(pipeline: str, repeat: int, fnr: float | None, epsilon: str = "1") -> dict[str, Any]:
    """A row with what summaries need."""
    return {"data": "d", "pipeline": pipeline, "k": 10, "epsilon": epsilon, "repeat": repeat, "fnr": fnr}


@pytest.mark.parametrize("freedom", [1, 2, 4, 29, 200])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_student_quantiles_agree_with_scipy(freedom: int, confidence: float) -> None:
    """The quantile of |t| is that of an independent implementation."""
    from scipy import stats as scipy_stats

    expected = scipy_stats.t.ppf((1 + confidence) / 2, freedom)
    assert t_quantile(confidence, freedom) == pytest.approx(expected, rel=1e-6)


def test_the_interval_of_a_mean_is_students() -> None:
    """For 1, 2, 3 the mean is 2 and half the 95 % interval is 4.3027/√3."""
    mean = mean_of([1, 2, 3])
    assert (mean.mean, mean.n) == (2, 3)
    assert mean.half_width == pytest.approx(4.30265 / 3**0.5, rel=1e-5)
    assert mean.standard_error == pytest.approx(1 / 3**0.5)
    assert str(mean) == "2.000 ± 2.484"


def test_missing_values_do_not_count_and_infinite_ones_do() -> None:
    """None is left out; one infinite value makes the mean infinite and leaves no interval."""
    assert mean_of([1, None, 3]).n == 2
    assert mean_of([None]).mean is None
    infinite = mean_of([1, float("inf")])
    assert (infinite.mean, infinite.low, str(infinite)) == (float("inf"), None, "∞")


def test_one_value_has_no_interval() -> None:
    """A single run has a mean and nothing else."""
    assert str(mean_of([0.25])) == "0.250"


def test_five_pairs_on_one_side_have_a_p_value_of_a_sixteenth() -> None:
    """Of the 32 sign patterns only the two extreme ones are as far from zero."""
    assert sign_flip_p_value(np.array([0.1, 0.2, 0.3, 0.1, 0.2])) == pytest.approx(2 / 32)


def test_the_p_value_of_mixed_signs_counts_all_patterns() -> None:
    """1, 2 and −1 sum to 2; of the 8 patterns of ±1 ±2 ±1 six are at least that far from zero."""
    differences = np.array([1.0, 2.0, -1.0])
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, (1, 2, 1), strict=True)))
        for signs in product((1, -1), repeat=3)
    ]
    assert sign_flip_p_value(differences) == sum(total >= 2 for total in sums) / 8 == 6 / 8


def test_no_difference_has_a_p_value_of_one() -> None:
    """All differences zero, or no pairs at all."""
    assert sign_flip_p_value(np.zeros(5)) == 1
    assert sign_flip_p_value(np.zeros(0)) == 1
    assert sign_flip_p_value(np.zeros(40)) == 1


def test_sampled_and_exact_p_values_agree() -> None:
    """Padding with zero differences changes no p-value, but takes the sampled way."""
    differences = np.array([0.5, 0.4, 0.3, -0.2, 0.6, 0.1, 0.2, -0.1])
    padded = np.concatenate([differences, np.zeros(EXACT_PAIRS)])
    assert sign_flip_p_value(padded) == pytest.approx(sign_flip_p_value(differences), abs=0.005)
    assert sign_flip_p_value(padded) == sign_flip_p_value(padded)


def test_the_exact_p_value_agrees_with_scipy() -> None:
    """An independent implementation of the same test gives the same value."""
    from scipy import stats as scipy_stats

    differences = np.array([0.31, -0.12, 0.4, 0.05, -0.02, 0.27, 0.11])
    expected = scipy_stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative="two-sided", n_resamples=np.inf
    )
    assert sign_flip_p_value(differences) == pytest.approx(expected.pvalue)


def test_a_summary_has_a_row_a_cell_in_the_order_of_epsilon() -> None:
    """ε sorts as a number: 0.5 before 10."""
    rows = [row("a", repeat, repeat / 10, epsilon) for epsilon in ("10", "0.5") for repeat in range(3)]
    found = summarise(rows, ["fnr"])
    assert [(cell["epsilon"], cell["runs"], cell["fnr"].mean) for cell in found] == [
        ("0.5", 3, pytest.approx(0.1)),
        ("10", 3, pytest.approx(0.1)),
    ]


def test_pipelines_are_paired_by_repeat() -> None:
    """The order of rows does not matter, and a repeat that only one of them has is left out."""
    rows = [row("a", 0, 0.1), row("a", 1, 0.5), row("b", 1, 0.6), row("b", 0, 0.2), row("a", 2, 0.9)]
    (found,) = compare_pipelines(rows, "a", "b")
    assert (found.n, found.difference.mean, found.p) == (2, pytest.approx(-0.1), 0.5)
    assert found.where == {"data": "d", "k": 10, "epsilon": "1"}


def test_pairs_with_an_infinite_or_missing_value_are_left_out() -> None:
    """They have no difference."""
    rows = [
        row("a", 0, None),
        row("b", 0, 1),
        row("a", 1, float("inf")),
        row("b", 1, 1),
        row("a", 2, 1),
        row("b", 2, 1),
    ]
    (found,) = compare_pipelines(rows, "a", "b")
    assert (found.n, found.p) == (1, 1)


def test_all_cells_can_be_compared_at_once() -> None:
    """Without grouping there is one comparison over all pairs."""
    rows = [row(name, repeat, 0.1, epsilon) for name in "ab" for repeat in range(2) for epsilon in ("1", "2")]
    (found,) = compare_pipelines(rows, "a", "b", by=())
    assert found.n == 4


def test_a_comparison_refuses_unknown_names() -> None:
    """The pipelines and the metric must be there, and two different ones are needed."""
    rows = [row("a", 0, 0.1), row("b", 0, 0.2)]
    with pytest.raises(UnknownNameError, match="'c'"):
        compare_pipelines(rows, "a", "c")
    with pytest.raises(UnknownNameError, match="metric"):
        compare_pipelines(rows, "a", "b", "speed")
    with pytest.raises(InputError, match="two different pipelines"):
        compare_pipelines(rows, "a", "a")


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    """A misspelt metric is refused with the columns of the results, not with a KeyError."""
    rows = [{"data": "d", "pipeline": "p", "k": 1, "epsilon": "1", "repeat": 0, "fnr": 0.5, "re": 0.1}]
    with pytest.raises(UnknownNameError, match=r"no column in these results named 'fnrr'.*'fnr'"):
        summarise(rows, ["fnrr"])
