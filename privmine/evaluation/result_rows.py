"""What one run of one cell is written down as: a flat row of plain values.

A cell is a dataset, a pipeline, k and ε; with a repeat it is one run. Rows are dictionaries, so that
CSV, Parquet, pandas and the figures read the same thing. A value that does not apply to a pipeline
(λ of a method that estimates none) is None; in a CSV file it is an empty field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from privmine.errors import PluginError
from privmine.hooks.registry import registry
from privmine.model import STAGES

#: A row: the name of a column and its value. ε is text, so that it stays exact; use `epsilon_of` to plot it.
Row: TypeAlias = dict[str, Any]
#: What identifies a run among all runs of an experiment.
Key: TypeAlias = tuple[str, str, int, str, int]

KEY_COLUMNS = ("data", "pipeline", "k", "epsilon", "repeat")
#: What a run found of the paper's parameters: λ, w and ℓ, and how many itemsets it released.
SIZES = ("lam", "width", "length", "released")
SECONDS_COLUMNS = tuple(f"seconds_{stage}" for stage in STAGES)
#: The highest resident memory of the process during each stage, data included, in bytes; of the run in `peak_memory`.
MEMORY_COLUMNS = tuple(f"memory_{stage}" for stage in STAGES)
#: What depends on the machine and not on the seed: left out where rows are compared.
MACHINE_COLUMNS = (*SECONDS_COLUMNS, "seconds", *MEMORY_COLUMNS, "peak_memory")

#: Digests of what the names of the data and of the pipeline stood for when the row was computed.
DIGESTS = ("database", "definition")
#: Columns that hold whole numbers, and those that hold text; the rest are decimals.
INTEGER_COLUMNS = frozenset({"k", "repeat", "seed", *SIZES, *MEMORY_COLUMNS, "peak_memory"})
TEXT_COLUMNS = frozenset({"data", "pipeline", "epsilon", *DIGESTS})


def metric_words() -> dict[str, str]:
    """All metrics by name, with the words that a table or a figure labels them with."""
    return {name: found.summary for name, found in registry().all_of("metric").items()}


def columns() -> tuple[str, ...]:
    """All columns of a results file, in their order."""
    metrics = registry().all_of("metric")
    before, after = (*KEY_COLUMNS, "seed", *DIGESTS), (*SIZES, *MACHINE_COLUMNS)
    for name in (*before, *after):
        if name in metrics:
            raise PluginError(
                f"{metrics[name].distribution} has a metric {name!r}, which is the name of another column of results. "
                f"Rename the metric, or uninstall {metrics[name].distribution}."
            )
    return (*before, *metrics, *after)


def key_of(row: Mapping[str, Any]) -> Key:
    """The identity of a row's run."""
    return str(row["data"]), str(row["pipeline"]), int(row["k"]), str(row["epsilon"]), int(row["repeat"])


def epsilon_of(row: Mapping[str, Any]) -> float:
    """ε as a number, for axes and for sorting."""
    numerator, _, denominator = str(row["epsilon"]).partition("/")
    return float(numerator) / float(denominator or 1)


def as_rows(table: Any) -> list[Row]:
    """Rows from rows, or from a pandas frame; missing values become None."""
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        table = table.to_dict(orient="records")
    rows: Iterable[Mapping[str, Any]] = table
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def comparable(row: Mapping[str, Any]) -> Row:
    """A row without what depends on the machine: equal for equal seeds."""
    return {name: value for name, value in row.items() if name not in MACHINE_COLUMNS}
