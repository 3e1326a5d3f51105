"""Doing the runs of an experiment, one dataset after another, on as many processes as are wanted.

The parent opens each dataset and mines its truth once, and gives both to its workers. Rows are
written by the parent alone, as they come; runs that an earlier experiment finished are left out.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from itertools import groupby
from typing import TypeAlias

from attrs import frozen

from privmine.errors import PrivmineError
from privmine.evaluation.cell_runner import CellRunner
from privmine.evaluation.clock import Clock, Progress, nobody
from privmine.evaluation.recipes import Recipe
from privmine.evaluation.result_rows import Row, key_of
from privmine.evaluation.results import Results, check_same
from privmine.evaluation.seeds import Cell
from privmine.evaluation.truth import Truth
from privmine.processes import started_pool
from privmine.store.transactions import Transactions

OpenData: TypeAlias = Callable[[str], Transactions]
#: So many runs at most go to a worker at a time: what a kill can lose.
LARGEST_BATCH = 8


@frozen
class Failure:
    """A run that did not come to its end, and why; it is tried again when the experiment is run again."""

    cell: Cell
    reason: str


Outcome: TypeAlias = tuple[list[Row], list[Failure]]


def run_cells(
    cells: Iterable[Cell],
    recipes: Mapping[str, Recipe],
    open_data: OpenData,
    results: Results,
    *,
    workers: int = 1,
    progress: Progress = nobody,
) -> list[Failure]:
    """Do all runs that the results do not hold yet.

    Args:
        cells: the runs; those of one dataset follow each other.
        recipes: the pipelines by name.
        open_data: opens a dataset by name.
        results: where rows go.
        workers: how many processes; with 1 everything happens in this one.
        progress: is told what is done and how long the rest may take.

    Returns:
        The runs that failed; one failure stops no other run.
    """
    earlier = results.rows()
    definitions = {name: recipe.definition() for name, recipe in recipes.items()}
    check_same(earlier, "definition", "pipeline", definitions)
    finished = {key_of(row) for row in earlier}
    wanted = list(cells)
    missing = [cell for cell in wanted if cell.key not in finished]
    clock = Clock(missing, done=len(wanted) - len(missing), workers=workers, progress=progress)
    failures: list[Failure] = []
    for name, group in groupby(missing, key=lambda cell: cell.data):
        listed = list(group)
        clock.say(f"reading {name} and mining its exact itemsets")
        truth = Truth.mine(open_data(name), max(cell.k for cell in listed))
        check_same(earlier, "database", "data", {name: truth.database})
        clock.say(name)
        for rows, failed in _outcomes(CellRunner(truth, recipes, definitions), listed, workers):
            results.add(rows)
            failures += failed
            clock.count(rows, [failure.cell for failure in failed])
    return failures


def _outcomes(runner: CellRunner, cells: Sequence[Cell], workers: int) -> Iterator[Outcome]:
    """The rows of all cells, as they come."""
    if workers == 1:
        for cell in cells:
            yield _attempted(runner, [cell])
        return
    size = max(1, min(LARGEST_BATCH, len(cells) // (4 * workers)))
    batches = [cells[start : start + size] for start in range(0, len(cells), size)]
    pool = started_pool(min(workers, len(batches)), _prepare, runner)
    try:
        for future in as_completed([pool.submit(_batch, batch) for batch in batches]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _attempted(runner: CellRunner, cells: Sequence[Cell]) -> Outcome:
    rows, failures = [], []
    for cell in cells:
        try:
            rows.append(runner.run(cell))
        except PrivmineError as error:
            failures.append(Failure(cell, str(error)))
    return rows, failures


_runner: list[CellRunner] = []


def _prepare(runner: CellRunner) -> None:
    """Give a worker its data."""
    # Ctrl-C reaches all processes; the parent says what became of the work, a worker just leaves.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    _runner.append(runner)


def _batch(cells: Sequence[Cell]) -> Outcome:
    return _attempted(_runner[0], cells)
