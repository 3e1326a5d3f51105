"""What a frame reads, told by Spark's plan before any row is read.

Privacy: Spark finds the types of JSON and XML files by looking at their rows, and the types of columns that are folders
by looking at all their names. Then one person's row decides how the labels of all others read. A table of a catalog has
its types stated.
"""

from __future__ import annotations

import re
from typing import Any

from privmine.api import InputError

#: Files without a table around them, whose types may come from their rows.
_INFERRED = re.compile(r"Relation \[[^\]]*\] (json|xml)\b", re.IGNORECASE)
_MAYBE_INFERRED = re.compile(r"Relation \[[^\]]*\] (json|xml|csv)\b", re.IGNORECASE)
_PARTITIONS = "spark.sql.sources.partitionColumnTypeInference.enabled"
#: What a query or a frame takes for granted, for the receipt.
ASSUMED = (
    "the query treats the rows of each unit by themselves, and the types of its columns do not depend on what is in "
    "the data",
)


def guesses(frame: Any) -> dict[str, str]:
    """What was found by looking at data, in the words of what would have said it; empty if nothing was."""
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - the plan is not to be had otherwise
    if _MAYBE_INFERRED.search(plan.toString()) or _has_folders(frame, plan):
        return {"spark": "a query over Parquet files or tables, or a frame made with spark.read.schema(…)"}
    return {}


def refuse_guesses(frame: Any) -> None:
    """Refuse a query whose types may depend on the rows of a file, or on the names of folders."""
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    if _INFERRED.search(plan.toString()):
        raise InputError(
            "The query reads a file of JSON or XML, whose types Spark finds by looking at its rows, so that one "
            "person's row could change how others' labels read. Make a table with fixed types: create table orders "
            "(order_id string, product string) using json location '…'; or save the data as Parquet."
        )
    if _has_folders(frame, plan):
        raise InputError(
            "The query may take the names of folders for data: Spark makes columns of names such as product=7, and "
            "finds their types by looking at all of them, so that one person's folder could change how others' labels "
            f"read. Pass --conf {_PARTITIONS}=false to Spark, or select from a table of a catalog."
        )
    if "ScriptTransformation" in plan.toString():
        raise InputError("The query hands rows to a script. It must be one select, and nothing else.")


def _has_folders(frame: Any, plan: Any) -> bool:
    """Whether a column is made of the names of folders, with a type found by looking at them."""
    if frame.sparkSession.conf.get(_PARTITIONS) != "true":
        return False
    leaves = plan.collectLeaves()
    relations = (leaves.apply(place) for place in range(leaves.size()))
    return any(
        leaf.getClass().getSimpleName() == "LogicalRelation"
        and leaf.relation().getClass().getSimpleName() == "HadoopFsRelation"
        and not leaf.catalogTable().isDefined()
        and not leaf.relation().partitionSchema().isEmpty()
        for leaf in relations
    )
