from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest

import privmine as pm
from privmine.errors import InputError, PrivmineError
from privmine.evaluation import compare, evaluate
from privmine.evaluation.recipes import Recipe
from privmine.evaluation.result_rows import as_rows, columns
from privmine.evaluation.summary import compare_pipelines, summarise
from privmine.privacy import PureDP, Receipt
from privmine.release import FrequentItemset, Release
from privmine.store.transactions import Transactions


def release(*itemsets: tuple[str, float], requested: int = 3) -> Release:
    """A release made up by hand."""
    receipt = Receipt(PureDP().cost(1), "none", True, ())
    found = tuple(FrequentItemset(tuple(items), count, count / 7, 1.0) for items, count in itemsets)
    return Release(found, requested, 7.0, 1.0, receipt)


def test_a_release_is_measured_by_hand(by_hand: Transactions) -> None:
    """a and b of the true a, b, c were released, with errors 1/6 and 0; d is wrong by 3/1."""
    found = evaluate(release(("a", 7), ("b", 5), ("d", 4)), by_hand)
    assert found["fnr"] == pytest.approx(1 / 3)
    assert found["re"] == found["re_strict"] == pytest.approx(1 / 6)


@pytest.mark.parametrize("theta", [0, -1, 1.5])
def test_a_release_is_held_against_a_frequency_above_0(by_hand: Transactions, theta: float) -> None:
    """All itemsets that occur at all may be more than any machine can list."""
    with pytest.raises(InputError, match="theta= must be more than 0 and at most 1"):
        evaluate(release(("a", 6)), by_hand, theta=theta)


def test_a_release_can_be_held_against_another_k(by_hand: Transactions) -> None:
    """Against the true top 2 nothing was missed."""
    assert evaluate(release(("a", 6), ("b", 5)), by_hand, k=2)["fnr"] == 0
    with pytest.raises(InputError, match="k must be"):
        evaluate(release(("a", 6)), by_hand, k=0)


def test_baskets_may_be_lists() -> None:
    """Collections of labels are data as well, for both functions."""
    baskets = [["a"], ["a"], ["a", "b"], ["b"]] * 20
    found = evaluate(pm.mine(baskets, 2, 1000, simulate=True, seed=1), baskets)
    assert found["fnr"] == 0
    assert len(compare({"paper": "privbasis"}, baskets, k=2, epsilon=1, repeats=2)) == 2


def test_a_comparison_is_a_tidy_frame(generated: Transactions) -> None:
    """One row a run with all columns, in the order of the experiment; the same call gives the same metrics."""
    import pandas as pd

    pipelines = {"paper": pm.Pipeline(), "short": pm.Pipeline(construct_basis={"max_length": 3})}
    frame = compare(pipelines, generated, k=[5, 10], epsilon=[0.5, 1], repeats=2)
    again = compare(pipelines, generated, k=[5, 10], epsilon=[0.5, 1], repeats=2)
    assert tuple(frame.columns) == columns()
    assert frame["pipeline"].tolist()[:2] == ["paper", "short"]
    assert len(frame) == 16
    pd.testing.assert_series_equal(frame["fnr"], again["fnr"])
    assert len(summarise(frame)) == 8
    assert len(compare_pipelines(frame, "short", "paper", "re")) == 4
    assert frame["epsilon"].tolist()[:4:2] == [0.5, 1.0]
    words = {"data", "pipeline", "database", "definition"}
    assert {name for name in frame.columns if frame[name].dtype.kind not in "iuf"} == words


def test_a_comparison_goes_on_where_it_stopped(generated: Transactions, tmp_path: Path) -> None:
    """Runs that the file has are not made again; more repeats add runs, and fewer show fewer."""
    path = tmp_path / "runs.csv"
    options = {"k": 5, "epsilon": [0.5, "1/3"]}
    first = compare({"paper": "privbasis"}, generated, repeats=2, resume=path, **options)
    kept = path.read_text()
    more = compare({"paper": "privbasis"}, generated, repeats=3, resume=path, **options)
    assert path.read_text().startswith(kept)
    assert (len(first), len(more)) == (4, 6)
    assert more[more["repeat"] < 2].reset_index(drop=True).equals(first)
    again = compare({"paper": "privbasis"}, generated, repeats=2, resume=path, **options)
    assert again.equals(first)
    assert len(path.read_text().splitlines()) == 7


def test_without_pandas_rows_are_returned(generated: Transactions, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, as a list."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = compare({"paper": "privbasis"}, generated, k=5, epsilon=1, repeats=1)
    assert isinstance(rows, list)
    assert as_rows(rows)[0]["pipeline"] == "paper"


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        ({"metod": "privbasis"}, "Did you mean 'method'"),
        ({"stages": {"construct_bass": {}}}, "Did you mean 'construct_b"),
    ],
)
def test_a_misspelt_pipeline_tells_the_right_name(generated: Transactions, pipeline: object, words: str) -> None:
    """A mapping is checked as a pipeline file is."""
    with pytest.raises(PrivmineError, match=words):
        compare({"mine": pipeline}, generated, k=5, epsilon=1)


def test_pipelines_that_share_their_first_stages_make_the_same_choices(generated: Transactions) -> None:
    """Seeds are paired: with the same estimate_lambda both find the same λ in the same repeat."""
    pipelines = {"paper": pm.Pipeline(), "short": pm.Pipeline(construct_basis={"max_length": 3})}
    rows = as_rows(compare(pipelines, generated, k=10, epsilon=0.2, repeats=5))
    found = {name: [row["lam"] for row in rows if row["pipeline"] == name] for name in pipelines}
    assert found["paper"] == found["short"]
    assert len(set(found["paper"])) > 1


def test_something_else_than_a_pipeline_is_refused(generated: Transactions) -> None:
    """A number is no pipeline, and an unknown method lists the known ones."""
    with pytest.raises(InputError, match="not 7"):
        compare({"seven": 7}, generated, k=5, epsilon=1)
    with pytest.raises(PrivmineError, match="privbasis"):
        compare({"x": "privbases"}, generated, k=5, epsilon=1)


@pytest.mark.parametrize("function", [compare, evaluate])
def test_both_say_that_they_are_not_private(function: object) -> None:
    """The first line of the help says so."""
    assert "not private" in (function.__doc__ or "").splitlines()[0]


def test_methods_may_be_listed(generated) -> None:
    """Then they are their own names; what comes in the wrong order is told."""
    rows = as_rows(compare(["privbasis", "tf"], generated, k=5, epsilon=1, repeats=1))
    assert [row["pipeline"] for row in rows] == ["privbasis", "tf"]
    assert len(as_rows(compare("privbasis", generated, k=5, epsilon=1, repeats=2))) == 2
    for swapped in (generated, 7, [["a", "b"]]):
        with pytest.raises(InputError, match="pipelines come first"):
            compare(swapped, ["privbasis"], k=5, epsilon=1)


def test_a_frequency_instead_of_k(generated: Transactions) -> None:
    """A pipeline with a θ releases what has that frequency, and is measured against all that has it."""
    theta = Fraction(1, 20)
    recipes = {"above": {"theta": "0.05"}, "gauss": {"theta": "0.05", "delta": "1e-6"}, "top": "privbasis"}
    frame = compare(recipes, generated, k=30, epsilon=50, repeats=2)
    least = theta * generated.store.count()
    _, supports = generated.store.top_itemsets(200)
    frequent = int((supports >= least).sum())
    assert 1 < frequent < 200
    for row in frame[frame["pipeline"] != "top"].to_dict(orient="records"):
        delta = "1e-6" if row["pipeline"] == "gauss" else None
        seed = {"simulate": True, "seed": int(row["seed"])}
        made = pm.mine(generated, epsilon=50, theta=theta, k_max=30, delta=delta, **seed)
        found = evaluate(made, generated, theta=theta)
        assert found["frequent"] == frequent
        assert {name: row[name] for name in ("recall", "precision", "fnr", "released")} == {
            name: found[name] for name in ("recall", "precision", "fnr", "released")
        }
        hits = sum(support >= least for support in generated.store.supports(_indices(generated, made)).tolist())
        assert (row["recall"], row["precision"]) == (pytest.approx(hits / frequent), hits / len(made))


def _indices(baskets: Transactions, made: Release) -> list[tuple[int, ...]]:
    labels = baskets.universe.labels.tolist()
    return [tuple(sorted(labels.index(item) for item in row.items)) for row in made]


def test_nothing_has_the_frequency(by_hand: Transactions) -> None:
    """Then nothing is missed, and whatever is released is wrong."""
    found = evaluate(release(("a", 4.0)), by_hand, theta=1)
    assert (found["frequent"], found["recall"], found["fnr"], found["precision"]) == (0, 1, 0, 0)


@pytest.mark.parametrize(("theta", "words"), [("0", "more than 0"), ("1.5", "at most 1"), ("often", "'often'")])
def test_a_frequency_that_is_none(theta: str, words: str) -> None:
    """It is refused before anything runs, in the words of a file."""
    with pytest.raises(InputError, match=words) as caught:
        Recipe.of({"theta": theta})
    assert "theta=" not in str(caught.value)


def test_frequency_of_too_many_itemsets_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """On dense data a small frequency has millions of itemsets, which would be mined until the memory is full."""
    monkeypatch.setattr("privmine.evaluation.truth.MOST_FREQUENT", 1_000)
    baskets = pm.Transactions.from_lists([range(30)] * 20)
    release = pm.mine(baskets, k=5, epsilon=1, simulate=True, seed=1)
    with pytest.raises(InputError, match=r"More than 1,000 itemsets have the frequency 0\.5"):
        evaluate(release, baskets, theta=0.5)


def test_another_frequency_is_another_pipeline() -> None:
    """Results of two frequencies are never mixed."""
    digests = {Recipe.of({"theta": theta}).definition() for theta in (None, "0.1", "0.2", "1/10")}
    assert len(digests) == 3
