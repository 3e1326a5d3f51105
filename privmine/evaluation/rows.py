"""What one run of one cell is written down as: a flat row of plain values.

A cell is a dataset, a pipeline, k and ε; with a repeat it is one run. Rows are dictionaries, so that
CSV, Parquet, pandas and the figures read the same thing. A value that does not apply to a pipeline
(λ of a method that estimates none) is None; in a CSV file it is an empty field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from privmine.model import STAGES

#: A row: the name of a column and its value. ε is text, so that it stays exact; use `epsilon_of` to plot it.
Row: TypeAlias = dict[str, Any]
#: What identifies a run among all runs of an experiment.
Key: TypeAlias = tuple[str, str, int, str, int]

#: The ranks at which precision is reported; a rank beyond k is None.
PRECISION_RANKS = (10, 50, 100)

KEY_COLUMNS = ("data", "pipeline", "k", "epsilon", "repeat")
#: The metrics, with the words that a table or a figure labels them with.
METRICS: Mapping[str, str] = {
    "fnr": "false negative rate",
    "fnr_tolerant": "false negative rate, ties forgiven",
    "re": "relative error",
    "re_strict": "relative error, support zero infinite",
    **{f"precision_{rank}": f"precision at {rank}" for rank in PRECISION_RANKS},
    "coverage": "share of the true top k that the bases cover",
}
#: What a run found of the paper's parameters: λ, w and ℓ, and how many itemsets it released.
SIZES = ("lam", "width", "length", "released")
SECONDS_COLUMNS = tuple(f"seconds_{stage}" for stage in STAGES)
#: The highest resident memory of the process during each stage, data included, in bytes; of the run in `peak_memory`.
MEMORY_COLUMNS = tuple(f"memory_{stage}" for stage in STAGES)
#: What depends on the machine and not on the seed: left out where rows are compared.
MACHINE_COLUMNS = (*SECONDS_COLUMNS, "seconds", *MEMORY_COLUMNS, "peak_memory")

#: Digests of what the names of the data and of the pipeline stood for when the row was computed.
DIGESTS = ("database", "definition")
#: All columns of a results file, in their order.
COLUMNS = (*KEY_COLUMNS, "seed", *DIGESTS, *METRICS, *SIZES, *MACHINE_COLUMNS)
#: Columns that hold whole numbers, and those that hold text; the rest are decimals.
INTEGER_COLUMNS = frozenset({"k", "repeat", "seed", *SIZES, *MEMORY_COLUMNS, "peak_memory"})
TEXT_COLUMNS = frozenset({"data", "pipeline", "epsilon", *DIGESTS})


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
