from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from privmine.api import BasisSet, Elements, Request, hookimpl
from privmine.errors import InputError
from privmine.evaluation.cell_runner import CellRunner
from privmine.evaluation.clock import Clock, Report
from privmine.evaluation.experiment import Experiment
from privmine.evaluation.result_rows import MEMORY_COLUMNS, SECONDS_COLUMNS, Row, comparable, key_of
from privmine.evaluation.results import open_results
from privmine.evaluation.runner import run_cells
from privmine.evaluation.seeds import Cell, seed_of
from privmine.evaluation.truth import Truth
from privmine.pipeline import Pipeline
from privmine.store.transactions import Transactions

PIPELINES = {"paper": "privbasis", "short": {"stages": {"construct_basis": {"max_length": 4}}}}
#: Written so that a process of its own can run the same experiment, and be killed after some runs.
SCRIPT = """
import os, signal, sys
sys.path.insert(0, {folder!r})
from shared import experiment, opener
from privmine.evaluation.results import open_results
from privmine.evaluation.runner import run_cells

def told(report):
    if report.done >= 20:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    chosen = experiment()
    run_cells(chosen.cells(), chosen.pipelines, opener, open_results({path!r}), workers={workers}, progress=told)
"""
SHARED = f"""
from privmine.evaluation.experiment import Experiment
from privmine.store.transactions import Transactions

def experiment():
    return Experiment.of("d", {PIPELINES!r}, k=[5, 12], epsilon=["0.5", 2], repeats=8)

def opener(name):
    rows = [[item for item in range(12) if number % (item + 1) == 0] for number in range(400)]
    return Transactions.from_lists(rows)
"""


def experiment(repeats: int = 2, epsilon: object = ("0.5", 2)) -> Experiment:
    """A small one."""
    return Experiment.of("d", PIPELINES, k=[5, 12], epsilon=epsilon, repeats=repeats)


def rows_of(path: Path, chosen: Experiment, data: Transactions, workers: int = 1) -> dict[object, Row]:
    """Run an experiment; its rows by key, without what depends on the machine."""
    results = open_results(path)
    assert run_cells(chosen.cells(), chosen.pipelines, lambda _: data, results, workers=workers) == []
    results.close()
    return {key_of(row): comparable(row) for row in results.rows()}


def test_a_cell_alone_equals_the_cell_in_the_sweep(tmp_path: Path, generated: Transactions) -> None:
    """One run by its seed gives the row of the sweep, with one worker and with two."""
    chosen = experiment()
    one = rows_of(tmp_path / "one.csv", chosen, generated)
    two = rows_of(tmp_path / "two.csv", chosen, generated, workers=2)
    assert one == two
    assert len(one) == len(chosen.cells())
    cell = Cell("d", "short", 12, "2", 1)
    definitions = {name: recipe.definition() for name, recipe in chosen.pipelines.items()}
    alone = CellRunner(Truth.mine(generated, 12), chosen.pipelines, definitions).run(cell)
    assert comparable(alone) == one[cell.key]


def test_rows_say_what_the_stages_found_and_took(generated: Transactions) -> None:
    """λ, w, ℓ, coverage, and time and memory of each stage are there."""
    chosen = experiment()
    bench = CellRunner(Truth.mine(generated, 12), chosen.pipelines, dict.fromkeys(chosen.pipelines, ""))
    row = bench.run(Cell("d", "short", 12, "2", 0))
    assert row["length"] <= 4
    assert row["width"] >= 1
    assert 1 <= row["lam"] <= 12
    assert row["seed"] == seed_of(Cell("d", "short", 12, "2", 0))
    assert row["fnr"] >= 1 - row["coverage"] - 1e-9
    assert all(row[name] >= 0 for name in SECONDS_COLUMNS)
    assert row["seconds"] == pytest.approx(sum(row[name] for name in SECONDS_COLUMNS))
    if sys.platform == "linux":
        assert row["peak_memory"] == max(row[name] for name in MEMORY_COLUMNS) > 0


def test_coverage_is_not_told_where_items_are_private(generated: Transactions) -> None:
    """Bases are then of the items that a run found, which have other numbers than those of the truth."""
    recipes = Experiment.of("d", {"private": {"delta": "1e-3"}}, k=12, epsilon=50, repeats=1).pipelines
    bench = CellRunner(Truth.mine(generated.hiding_items(), 12), recipes, {"private": ""})
    row = bench.run(Cell("d", "private", 12, "50", 0))
    assert row["fnr"] < 0.5
    assert row["coverage"] is None


def test_finished_cells_are_not_computed_again(
    tmp_path: Path, generated: Transactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run computes nothing, and one with more repeats computes the added ones."""
    path = tmp_path / "results.csv"
    first = rows_of(path, experiment(), generated)
    computed = _computed(monkeypatch)
    assert rows_of(path, experiment(), generated) == first
    assert computed == []
    more = rows_of(path, experiment(repeats=3), generated)
    assert {cell.repeat for cell in computed} == {2}
    assert len(computed) == len(more) - len(first) == 8
    assert {key: more[key] for key in first} == first


def _computed(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """A list of all cells that are run from now on, in this process."""
    computed: list[Cell] = []
    run = CellRunner.run

    def noted(bench: CellRunner, cell: Cell) -> Row:
        computed.append(cell)
        return run(bench, cell)

    monkeypatch.setattr(CellRunner, "run", noted)
    return computed


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 on this system")
@pytest.mark.parametrize(
    ("output", "workers"), [("results.csv", 2), pytest.param("folder", 1, marks=pytest.mark.statistics)]
)
def test_a_killed_experiment_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, workers: int
) -> None:
    """After kill -9 in the middle the same command gives the rows of an uninterrupted run, each computed once."""
    (tmp_path / "shared.py").write_text(SHARED)
    path, script = tmp_path / output, tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(tmp_path), path=str(path), workers=workers))
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    if output == "results.csv":
        with path.open("ab") as stream:
            stream.write(b"d,paper,5,0.5,")  # As a kill in the middle of a line leaves it.
    survived = {key_of(row): comparable(row) for row in open_results(path).rows()}
    namespace: dict[str, object] = {}
    exec(SHARED, namespace)  # noqa: S102 - the experiment that the killed process ran
    chosen: Experiment = namespace["experiment"]()  # type: ignore[operator]
    data: Transactions = namespace["opener"]("d")  # type: ignore[operator]
    assert 20 <= len(survived) < len(chosen.cells())
    computed = _computed(monkeypatch)
    resumed = rows_of(path, chosen, data)
    assert {cell.key for cell in computed} == {cell.key for cell in chosen.cells()} - set(survived)
    assert len(computed) == len(chosen.cells()) - len(survived)
    assert resumed == rows_of(tmp_path / "uninterrupted.csv", chosen, data)
    assert {key: resumed[key] for key in survived} == survived


def test_another_pipeline_under_the_same_name_is_refused(tmp_path: Path, generated: Transactions) -> None:
    """Rows of two cannot be added to it."""
    path = tmp_path / "results.csv"
    rows_of(path, Experiment.of("d", {"p": "privbasis"}, 5, 1, 1), generated)
    changed = Experiment.of("d", {"p": PIPELINES["short"]}, 5, 1, 2)
    with pytest.raises(InputError, match="another pipeline with the name 'p'"):
        rows_of(path, changed, generated)


def test_other_data_under_the_same_name_is_refused(tmp_path: Path, generated: Transactions) -> None:
    """Rows of two databases are never mixed."""
    path = tmp_path / "results.csv"
    rows_of(path, Experiment.of("d", {"p": "privbasis"}, 5, 1, 1), generated)
    with pytest.raises(InputError, match="another data with the name 'd'"):
        rows_of(path, Experiment.of("d", {"p": "privbasis"}, 5, 1, 2), Transactions.from_lists([[1, 2], [1]]))


@frozen
class Fails:
    """A component that fails for one k."""

    @hookimpl
    def construct_basis(self, request: Request, elements: Elements) -> BasisSet:
        """Fail for k = 12."""
        if request.k == 12:
            raise ValueError
        return BasisSet(bases=[elements.items])


def test_a_failing_run_stops_no_other(tmp_path: Path, generated: Transactions) -> None:
    """Failures are reported with their cells and reasons, are not written, and are tried again next time."""
    pipelines = {"fine": "privbasis", "fails": Pipeline(construct_basis=Fails())}
    chosen = Experiment.of("d", pipelines, k=[5, 12], epsilon=1, repeats=2)
    results = open_results(tmp_path / "results.csv")
    for _ in range(2):
        failures = run_cells(chosen.cells(), chosen.pipelines, lambda _: generated, results)
        assert {(failure.cell.pipeline, failure.cell.k) for failure in failures} == {("fails", 12)}
        assert all("construct_basis" in failure.reason for failure in failures)
        assert len(failures) == 2
        assert len(results.rows()) == 6


def test_progress_tells_what_is_done_and_what_is_left() -> None:
    """The rest is estimated by runs of the same kind, and by the average where there are none yet."""
    cells = [Cell("d", pipeline, 5, "1", repeat) for repeat in range(2) for pipeline in ("fast", "slow")]
    told: list[Report] = []
    clock = Clock(cells, done=10, workers=2, progress=told.append)
    clock.say("d")
    clock.count([{"data": "d", "pipeline": "fast", "k": 5, "seconds": 1.0}])
    clock.count([{"data": "d", "pipeline": "slow", "k": 5, "seconds": 9.0}])
    assert [(report.done, report.total) for report in told] == [(10, 14), (11, 14), (12, 14)]
    assert [report.seconds_left for report in told] == [None, 1.5, 5.0]
