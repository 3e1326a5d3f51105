"""`evaluate` and `compare`: how good a release or a pipeline is, measured on exact data.

Both look at the exact data and are therefore not private. They are for research, on data that may
be looked at; nothing that they return may be published about data that may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from privmine.errors import InputError, PrivmineError
from privmine.evaluation.clock import Progress, nobody
from privmine.evaluation.experiment import Experiment
from privmine.evaluation.metrics import measures
from privmine.evaluation.result_rows import TEXT_COLUMNS, Row, columns, epsilon_of, key_of
from privmine.evaluation.results import Results, open_results
from privmine.evaluation.runner import run_cells
from privmine.evaluation.truth import Truth
from privmine.exact import whole_number
from privmine.pipeline.request import frequency_of
from privmine.release import Release
from privmine.store.transactions import Transactions

#: How many runs a comparison makes of each combination.
REPEATS = 10


def evaluate(release: Release, baskets: Any, *, k: int | None = None, theta: Any = None) -> Row:
    """Measure a release against the exact data that it was made from. Uses exact data: not private.

    Args:
        release: what was released.
        baskets: the data: a `Transactions`, or an iterable of collections of labels.
        k: compare with the true top k; without it, with as many as the release was asked for.
        theta: compare with the itemsets of at least this frequency instead, and tell `recall` and `precision`.

    Returns:
        FNR (the paper's and with ties forgiven), RE (over itemsets that occur, and strict), precision at
        several ranks, the metrics of plugins, and the number of released itemsets. What does not apply is None.
    """
    transactions = _transactions(baskets)
    if theta is not None:
        if k is not None:
            raise InputError("k= and theta= are two ways to say what the truth is. Drop one of them.")
        return _against_frequency(release, transactions, frequency_of(theta))
    wanted = release.requested if k is None else whole_number(k, "k")
    truth = Truth.mine(transactions, wanted)
    released = truth.indices(found.items for found in release)
    return measures(truth, wanted, released, [found.count for found in release])


def _against_frequency(release: Release, transactions: Transactions, theta: Fraction) -> Row:
    """Precision and recall against all itemsets of at least a frequency; of nothing, both are whole."""
    truth, frequent = Truth.mine(transactions, max(1, len(release))).of_frequency(theta)
    released = truth.indices(found.items for found in release)
    return measures(truth, frequent, released, [found.count for found in release]) | {"frequent": frequent}


def compare(
    pipelines: Mapping[str, Any] | Iterable[str],
    baskets: Any,
    *,
    k: Any,
    epsilon: Any,
    repeats: int = REPEATS,
    data: str = "baskets",
    workers: int = 1,
    progress: Progress = nobody,
    resume: str | PathLike[str] | None = None,
) -> Any:
    """Run pipelines in simulation and measure each run against the exact data. Uses exact data: not private.

    Args:
        pipelines: by name a `Pipeline`, the name of a method, or what a pipeline file holds; or a list of methods,
            or one.
        baskets: the data: a `Transactions`, or an iterable of collections of labels.
        k: how many itemsets, or several such numbers.
        epsilon: the budget, or several.
        repeats: how many runs of each combination. Seeds derive from data name, k, ε and repeat, so that
            pipelines are paired: see `privmine.evaluation.summary.compare_pipelines`.
        data: the name of the data in the result.
        workers: how many processes; for more than 1, own components must be importable.
        progress: is told what is done.
        resume: a .csv file, or a folder for Parquet, that keeps every run as it is done. Runs that it has are not
            made again, so that a comparison that was interrupted goes on, and more `repeats` add runs.

    Returns:
        A tidy pandas frame with one row a run; a list of rows where pandas is not installed. ε is a number there, and
        metrics that do not apply are NaN.
    """
    named = _named(pipelines)
    transactions = _transactions(baskets)
    experiment = Experiment.of(data, named, k, epsilon, repeats)
    results: Results = _Kept() if resume is None else open_results(Path(resume))
    failures = run_cells(
        experiment.cells(),
        experiment.pipelines,
        lambda _: transactions,
        results,
        workers=whole_number(workers, "workers"),
        progress=progress,
    )
    results.close()
    if failures:
        raise PrivmineError(f"{failures[0].cell}: {failures[0].reason}")
    order = {cell.key: position for position, cell in enumerate(experiment.cells())}
    rows = [row for row in results.rows() if key_of(row) in order]  # a file may have more than was asked for now
    return as_frame(sorted(rows, key=lambda row: order[key_of(row)]))


def as_frame(rows: list[Row]) -> Any:
    """Rows as a pandas frame, or as they are where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return rows
    frame = pd.DataFrame(rows, columns=list(columns()))
    frame["epsilon"] = [epsilon_of(row) for row in rows]
    for name in frame.columns.difference([*TEXT_COLUMNS, "epsilon"]):
        # A metric that no run has would be a column of objects.
        frame[name] = pd.to_numeric(frame[name])
    return frame


def _named(pipelines: Any) -> Mapping[str, Any]:
    """Pipelines by name; methods are their own names."""
    if isinstance(pipelines, Mapping):
        return pipelines
    methods = [pipelines] if isinstance(pipelines, str) else pipelines
    if isinstance(methods, list | tuple) and all(isinstance(method, str) for method in methods):
        return {method: method for method in methods}
    raise InputError(
        "The pipelines come first, by name or as a list of methods, and then the baskets: "
        'pm.compare(["privbasis", "tf"], baskets, k=20, epsilon=1).'
    )


def _transactions(baskets: Any) -> Transactions:
    return baskets if isinstance(baskets, Transactions) else Transactions.from_lists(baskets)


class _Kept:
    """Results that are kept in memory."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def rows(self) -> list[Row]:
        return list(self._rows)

    def add(self, rows: Any) -> None:
        self._rows.extend(rows)

    def close(self) -> None:
        return
