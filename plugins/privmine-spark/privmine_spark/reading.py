"""From a frame of Spark to transactions that stay in the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import evolve, frozen

from privmine.api import Origin, Transactions, Unit, Universe, label_salts
from privmine_spark.cluster_store import SparkStore, spread
from privmine_spark.labels_in import shipped
from privmine_spark.making_rows import MESSAGES, Recipe, distinct_labels, from_buckets, row_by_row, to_buckets
from privmine_spark.packed_rows import COUNTED_ITEMS, PACKED, PACKED_ITEMS, PackedRow, added, pickled_rows
from privmine_spark.plans import ASSUMED, guesses
from privmine_spark.problems import NO_ITEM, NO_TRANSACTION, NO_UNIT, data_error
from privmine_spark.quiet import Quiet
from privmine_spark.roles import Roles, check_long, roles_of
from privmine_spark.sessions import session_of

_SOURCE = "the Spark frame"
#: How many bytes of rows go to a bucket, about, and how many buckets there are at most.
_BUCKET_BYTES, _MOST_BUCKETS = 1 << 25, 4096
#: Where Spark does not know the size of a frame, it states one beyond all sizes.
_UNKNOWN_SIZE = 1 << 50


def read_frame(
    source: Any,
    *,
    items: Sequence[Any] | None = None,
    layout: str | None = None,
    transaction: str | None = None,
    item: str | None = None,
    unit: str | None = None,
    max_baskets: int | None = None,
    merge_by: str | None = None,
    drop_missing: bool = False,
) -> Transactions:
    """Make transactions of a frame, by the options of `pm.read`.

    Privacy: rows are brought together and units limited as in memory (see `making_rows`). Types come from the schema.
    """
    session = session_of(source)
    protected = Unit.of(unit, max_baskets, merge_by)
    roles = roles_of(source.schema, layout, transaction, item, merge_by if unit is None else unit)
    check_long(roles, protected)
    quiet = Quiet(session)
    guessed = {**roles.guessed, **quiet(lambda: guesses(source))}
    chosen = _chosen(source, roles)
    universe = _universe(chosen, roles, items, quiet)
    recipe = Recipe(
        roles.lists,
        roles.transaction is not None,
        roles.owner is not None,
        drop_missing,
        shipped(_array(universe)),
        universe.given,
        protected,
        b"" if roles.owner is None else label_salts(universe.labels).tobytes(),
        packed_items=PACKED_ITEMS,
    )
    store = quiet(lambda: _store(chosen, recipe, roles, len(universe)))
    origin = Origin("list" if roles.lists else "long", _SOURCE, guessed, ASSUMED, roles.columns)
    return Transactions(universe, store, protected, origin)


def _chosen(source: Any, roles: Roles) -> Any:
    """The columns that are read, by position: names may contain dots or differ in case only."""
    from pyspark.sql import functions

    numbered = source.toDF(*(f"c{place}" for place in range(len(roles.names))))
    return numbered.select(
        *(functions.col(f"c{place}").alias(f"r{role}") for role, place in enumerate(roles.positions))
    )


def _universe(chosen: Any, roles: Roles, items: Sequence[Any] | None, quiet: Quiet) -> Universe:
    """The universe that the user names, else the labels that occur, which executors find."""
    labels: Any = []
    if items is None:
        kind = pa.int64() if roles.whole else pa.string()
        schema = pa.schema([("label", kind)])

        def work() -> Any:
            found = chosen.select("r0").mapInArrow(
                distinct_labels(roles.lists, schema), "label long" if roles.whole else "label string"
            )
            return found.distinct().toArrow().column(0)

        column = quiet(work)
        labels = np.asarray(column.to_numpy(), dtype=np.int64) if roles.whole else column.to_pylist()
    nothing = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Transactions.from_codes(*nothing, labels, items).universe


def _array(universe: Universe) -> pa.Array:
    whole = universe.labels.dtype.kind == "i"
    return pa.array(universe.labels) if whole else pa.array([str(x) for x in universe.labels.tolist()], pa.string())


def _store(chosen: Any, recipe: Recipe, roles: Roles, item_count: int) -> SparkStore:
    """Have the executors pack the transactions, keep them, and spread them evenly."""
    parallelism = chosen.sparkSession.sparkContext.defaultParallelism
    if recipe.apart and not recipe.owned:
        frame = chosen.mapInArrow(row_by_row(recipe), PACKED)
    else:
        buckets = _bucket_count(chosen, parallelism)
        recipe = evolve(recipe, buckets=buckets)
        messages = chosen.mapInArrow(to_buckets(recipe), MESSAGES).repartition(buckets, "bucket")
        frame = messages.sortWithinPartitions("bucket").mapInArrow(from_buckets(recipe), PACKED)
    rows, found = _kept(frame.rdd.mapPartitions(pickled_rows))
    named = dict(zip((NO_ITEM, NO_TRANSACTION, NO_UNIT), _column_names(roles), strict=True))
    if found.problem:
        rows.unpersist()
        raise data_error(found.problem, named)
    wanted = _partition_count(found.entries + found.count, parallelism)
    if not found.is_even(wanted):
        uneven = rows
        rows, _ = _kept(spread(uneven, wanted))
        uneven.unpersist()
    return SparkStore(chosen.sparkSession, rows, item_count, found.count, found.digest)


def _column_names(roles: Roles) -> Iterator[str]:
    for place in (roles.item, roles.transaction, roles.owner):
        yield "" if place is None else roles.names[place]


@frozen
class _Found:
    """What is in the packed rows of a frame, without its transactions.

    Attributes:
        problem: what is wrong; 0 for nothing.
        count: how many transactions there are.
        entries: how many items all transactions have.
        digest: the sum of the digests.
        sizes: how many items and transactions each partition has that has any.
        partitions: how many partitions there are.
    """

    problem: int
    count: int
    entries: int
    digest: int
    sizes: tuple[int, ...]
    partitions: int

    def is_even(self, wanted: int) -> bool:
        """Whether about so many partitions have about as much to do."""
        if not self.sizes or (len(self.sizes) == 1 and wanted == 1):
            return self.partitions <= max(4 * wanted, 64)
        ideal = sum(self.sizes) / wanted
        return len(self.sizes) >= wanted and max(self.sizes) <= 2 * ideal and self.partitions <= 4 * wanted


def _kept(rows: Any) -> tuple[Any, _Found]:
    """Have Spark compute packed rows once and keep them; what is in them."""
    from pyspark import StorageLevel

    kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
    told = kept.mapPartitions(_contents).collect()
    return kept, _Found(
        max((problem for problem, *_ in told), default=0),
        sum(count for _, count, *_ in told),
        sum(entries for _, _, entries, _ in told),
        added(digest for *_, digest in told),
        tuple(count + entries for _, count, entries, _ in told if count),
        kept.getNumPartitions(),
    )


def _contents(rows: Iterator[PackedRow]) -> Iterator[tuple[int, int, int, int]]:
    """The problem, the transactions, the items and the digest of a partition."""
    problem = count = entries = digest = 0
    for row in rows:
        problem = max(problem, row.problem)
        count, entries, digest = count + row.count, entries + row.entries, digest + row.digest
    yield problem, count, entries, added([digest])


def _partition_count(size: int, parallelism: int) -> int:
    """So many partitions that all cores work, and that each has enough to do and fits into memory."""
    by_size = -(-size // COUNTED_ITEMS)
    if by_size >= parallelism:
        return by_size
    # Few transactions are counted sooner than a task starts.
    return max(1, min(parallelism, size // _WORTH_ITEMS))


#: So many items are worth a task of their own.
_WORTH_ITEMS = 1 << 18


def _bucket_count(frame: Any, parallelism: int) -> int:
    size = int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))  # noqa: SLF001
    by_size = 4 * parallelism if size >= _UNKNOWN_SIZE else -(-size // _BUCKET_BYTES)
    return min(max(by_size, 2 * parallelism), _MOST_BUCKETS)
