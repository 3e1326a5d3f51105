"""Data on a Spark cluster, for privmine.

`pm.read(frame, …)` and `--spark 'select …'` make transactions that stay in the cluster: executors count them, and
sums come to the driver, where the budget is charged and noise is drawn.
"""

from __future__ import annotations

from privmine.api import Reader, Registrar, hookimpl


@hookimpl
def privmine_register(registry: Registrar) -> None:
    """Register the reader; Spark is imported when it is used."""
    registry.add_reader(
        Reader(
            "spark",
            "Read the result of a Spark query instead of a file",
            takes="privmine_spark.sessions:is_spark_frame",
            read="privmine_spark.reading:read_frame",
            opens="privmine_spark.sessions:open_query",
            metavar="QUERY",
        )
    )
