"""The leaderboard: runs that can be continued, the ε that is needed, and the page."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from privmine_paper.leaderboard_command import leaderboard
from privmine_paper.leaderboard_page import leaderboard_page, needed_epsilon
from privmine_paper.leaderboard_runs import Run, read_runs, run_all, wanted_keys

from privmine import Transactions
from privmine.api import InputError, UnknownNameError

BASKETS = Transactions.from_lists([[0, 1]] * 300 + [[0, 2]] * 200 + [[3]] * 100, range(6))


def test_the_needed_epsilon_is_interpolated_on_a_log_scale():
    """Halfway down between 0.1 and 0.4 is 0.2; what holds everywhere needs the first ε; what never holds has none."""
    curve = [(0.1, 0.5), (0.4, 0.1), (1.0, 0.0)]
    assert needed_epsilon(curve, 0.3) == pytest.approx(0.2)
    assert needed_epsilon(curve, 0.6) == 0.1
    assert needed_epsilon(curve[:1], 0.3) is None
    assert needed_epsilon([(0.1, 0.0), (0.4, 0.5), (1.0, 0.0)], 0.1) > 0.4


def keys(repeats):
    """Two methods on made-up data at two budgets."""
    return list(wanted_keys(["made"], [3], ["0.5", "50"], ["privbasis", "tf"], repeats))


def test_runs_are_measured_kept_and_not_done_again(tmp_path):
    """At ε = 50 nothing is missed; a second call opens no data; more repeats add runs."""
    path = tmp_path / "runs.csv"
    first = run_all(keys(2), lambda _: BASKETS, path, lambda *_: None)
    assert {run.fnr for run in first if run.epsilon == "50" and run.method == "privbasis"} == {0}
    assert all(0 <= run.covered <= 1 and run.seconds >= 0 for run in first)

    def closed(name):
        raise AssertionError(name)

    assert run_all(keys(2), closed, path, lambda *_: None) == first
    more = run_all(keys(3), lambda _: BASKETS, path, lambda *_: None)
    assert len(more) == 12
    assert read_runs(path) == more


def test_a_line_that_is_half_written_is_done_again(tmp_path):
    """A kill in the middle of a line loses this run only."""
    path = tmp_path / "runs.csv"
    first = run_all(keys(1), lambda _: BASKETS, path, lambda *_: None)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex(",", 0, -1) - 3], encoding="utf-8")
    again = run_all(keys(1), lambda _: BASKETS, path, lambda *_: None)
    assert [run.key for run in again] == [run.key for run in first]
    assert len(read_runs(path)) == len(first)


def test_another_file_is_refused(tmp_path):
    """Results of something else are not mixed in."""
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no runs of the leaderboard"):
        read_runs(path)


def test_the_page_tells_all(tmp_path):
    """Needed ε, misses, errors, coverage and time for each method; a proxy is named."""
    runs = [
        Run("made", 10, epsilon, repeat, method, misses, 0.5, 0.95, seconds)
        for epsilon, misses in (("0.1", 0.5), ("1", 0.0))
        for repeat in range(2)
        for method, seconds in (("privbasis", 1.0), ("plus", 2.0))
    ]
    page = leaderboard_page(runs, "figures/x.png", {"made": "made is a proxy here"})
    assert "means over 2 runs a cell" in page
    assert "- made is a proxy here" in page
    assert "| made | 0.1 | 0.63 | 0.63 |" in page
    assert "| made | plus | 0.500 ± 0.000 | 0.000 ± 0.000 |" in page
    assert "| made | plus | 0.950 | 0.95 | 2.00 | 2.0 × |" in page


def test_the_command_refuses_what_it_does_not_know(tmp_path):
    """An unknown method is named with the known ones, before anything runs."""
    result = CliRunner().invoke(leaderboard, ["--method", "nothing", "--output", str(tmp_path)])
    assert isinstance(result.exception, UnknownNameError)


def test_the_command_writes_a_page_and_a_figure(tmp_path, monkeypatch):
    """On generated data, which needs no download."""
    monkeypatch.setenv("PRIVMINE_CACHE", str(tmp_path / "cache"))
    arguments = ["--only", "zipf", "--method", "privbasis", "--runs", "1", "--k", "5"]
    result = CliRunner().invoke(
        leaderboard, [*arguments, "--output", str(tmp_path), "--results", str(tmp_path / "runs.csv")]
    )
    assert result.exception is None, result.output
    assert "| zipf | privbasis |" in (tmp_path / "leaderboard.md").read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "leaderboard-fnr.png").stat().st_size > 1000
