"""What executors do to make transactions of the rows of a frame.

Where each row is a transaction, nothing is shuffled. Otherwise rows go to buckets, by a hash of whose they are or of
their transaction, each bucket's rows of a partition as one message. A bucket has all rows of its units and its
transactions, so that it brings them together, and limits its units, by itself.

Privacy: which rows make a transaction depends on these rows' keys alone, and with a unit on that unit's rows alone. A
missing value is refused or left out for itself. Units that read the same are one before they are hashed, so that no
unit is in two buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from zlib import crc32

import numpy as np
import pyarrow as pa
from attrs import frozen
from numpy.typing import NDArray

from privmine.api import IntArray, Rows, Unit, limit_units, mixed_bits
from privmine_spark.labels_in import lists_of, numbering, opened, owners, plain, ranks, written
from privmine_spark.packed_rows import PACKED_ITEMS, packed, trouble
from privmine_spark.problems import FAILED, NEW_LABEL, NO_ITEM, NO_TRANSACTION, NO_UNIT, WorkerProblem

#: What travels in the shuffle: the keys, owners and lengths of runs of rows, and their items.
MESSAGES = "problem int, bucket int, runs binary, items binary"
#: How many bytes of Arrow data are worked on at a time.
_CHUNK_BYTES = 1 << 24

Batches = Iterator[pa.RecordBatch]


@frozen(eq=False)
class Recipe:
    """How rows become transactions. The columns of a frame are the item, then the transaction, then the owner.

    Attributes:
        lists: whether an item cell is a list of items.
        keyed: whether a column tells transactions apart.
        owned: whether a column tells whose a transaction is.
        drop_missing: leave missing values out instead of refusing them.
        labels: the labels of the universe, as `shipped` makes them.
        given: whether the user named the universe, so that other labels are dropped.
        unit: who is protected.
        item_salts: the salts of the labels, as bytes; empty without owners.
        buckets: how many buckets there are.
        packed_items: how many items a packed row has, about.
    """

    lists: bool
    keyed: bool = False
    owned: bool = False
    drop_missing: bool = False
    labels: bytes = b""
    given: bool = True
    unit: Unit = Unit()
    item_salts: bytes = b""
    buckets: int = 1
    packed_items: int = PACKED_ITEMS

    @property
    def apart(self) -> bool:
        """Whether every row is a transaction of its own."""
        return self.lists and not self.keyed


def distinct_labels(lists: bool, schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Makes a function that gives each label of a partition once; missing ones are left out."""

    def work(batches: Batches) -> Batches:
        found = None
        for (column,) in _chunks(batches):
            labels = plain(lists_of(column)[0] if lists else column).drop_null().unique()
            found = labels if found is None else pa.concat_arrays([found, labels]).unique()
        if found is not None:
            yield pa.RecordBatch.from_arrays([found], schema=schema)

    return work


def row_by_row(recipe: Recipe) -> Callable[[Batches], Batches]:
    """Makes a function that packs rows, each of which is a transaction."""

    def work(batches: Batches) -> Batches:
        for (column,) in _chunks(batches):
            yield from packed(_rows(column, recipe).as_sets(), recipe.packed_items)

    return _reported(work, trouble)


def to_buckets(recipe: Recipe) -> Callable[[Batches], Batches]:
    """Makes a function that sends runs of rows to buckets."""

    def work(batches: Batches) -> Batches:
        for columns in _chunks(batches):
            yield from _messages(columns, recipe)

    return _reported(work, lambda problem: _message(problem, 0, b"", b""))


def from_buckets(recipe: Recipe) -> Callable[[Batches], Batches]:
    """Makes a function that packs the transactions of whole buckets, which come one after another."""

    def work(batches: Batches) -> Batches:
        for messages in _by_bucket(batches):
            yield from packed(_bucket_rows(messages, recipe), recipe.packed_items)

    return _reported(work, trouble)


def _reported(
    work: Callable[[Batches], Batches], report: Callable[[int], pa.RecordBatch]
) -> Callable[[Batches], Batches]:
    """The work, where every failure is a number, never an exception with its words."""

    def guarded(batches: Batches) -> Batches:
        problem = 0
        try:
            yield from work(batches)
        except WorkerProblem as found:
            problem = found.number
        except Exception:  # noqa: BLE001 - whatever it says may quote data
            problem = FAILED
        if problem:
            yield report(problem)
            with suppress(Exception):
                for _ in batches:  # Spark expects that all is read
                    pass

    return guarded


def _chunks(batches: Batches) -> Iterator[list[pa.Array]]:
    """The columns of so many batches at a time that sorting and hashing pay."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            size += batch.nbytes
        if size >= _CHUNK_BYTES:
            yield _columns(held)
            held, size = [], 0
    if held:
        yield _columns(held)


def _columns(batches: list[pa.RecordBatch]) -> list[pa.Array]:
    return [pa.concat_arrays([batch.column(place) for batch in batches]) for place in range(batches[0].num_columns)]


def _rows(column: pa.Array, recipe: Recipe) -> Rows:
    """The items of each row by their numbers; an item that is missing or outside the universe is left out."""
    if recipe.lists:
        values, lengths, missing = lists_of(column)
    else:
        values, lengths, missing = column, np.ones(len(column), dtype=np.int64), False
    values = plain(values)
    if (missing or values.null_count) and not recipe.drop_missing:
        raise WorkerProblem(NO_ITEM)
    codes = numbering(recipe.labels).of(values)
    inside = codes >= 0
    if not recipe.given and np.count_nonzero(~inside) > values.null_count:
        # The universe was taken from all labels, so that this one was not there a moment ago.
        raise WorkerProblem(NEW_LABEL)
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    rows = Rows.of(offsets, codes)
    return rows if inside.all() else rows.kept(inside)


def _messages(columns: list[pa.Array], recipe: Recipe) -> Batches:
    item, *others = columns
    keys = plain(others.pop(0)) if recipe.keyed else None
    owner = owners(others.pop(0)) if recipe.owned else None
    if owner is not None and owner.null_count:
        raise WorkerProblem(NO_UNIT)
    if keys is not None and keys.null_count:
        if not recipe.drop_missing:
            raise WorkerProblem(NO_TRANSACTION)
        kept = keys.is_valid()
        item, keys = item.filter(kept), keys.filter(kept)
        owner = None if owner is None else owner.filter(kept)
    rows, first = _together(_rows(item, recipe), keys, owner, recipe.apart)
    runs = _table(keys, owner).take(pa.array(first))
    buckets = _buckets(runs.column(runs.num_columns - 1), recipe.buckets)
    order = np.argsort(buckets, kind="stable")
    rows, runs, buckets = _permuted(rows, order), runs.take(pa.array(order)), buckets[order]
    runs = runs.append_column("length", pa.array(rows.lengths.astype(np.int32)))
    starts = np.flatnonzero(np.diff(buckets, prepend=-1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(buckets)], strict=True):
        items = rows.items[rows.offsets[start] : rows.offsets[stop]]
        yield _message(0, int(buckets[start]), written(runs.slice(start, stop - start)), items.tobytes())


def _message(problem: int, bucket: int, runs: bytes, items: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([problem], pa.int32()), pa.array([bucket], pa.int32())]
        + [pa.array([content], pa.binary()) for content in (runs, items)],
        names=["problem", "bucket", "runs", "items"],
    )


def _table(keys: pa.Array | None, owner: pa.Array | None) -> pa.RecordBatch:
    """The keys and the owners; the last column is the one that decides about the bucket."""
    named = {"key": keys, "owner": owner}
    return pa.RecordBatch.from_pydict({name: column for name, column in named.items() if column is not None})


def _buckets(column: pa.Array, count: int) -> NDArray[np.int64]:
    """The bucket of each value, on every machine the same."""
    if pa.types.is_integer(column.type):
        numbers = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
        hashes = mixed_bits(numbers.view(np.uint64))
    else:
        encoded = column.dictionary_encode()
        known = [crc32(text.encode()) for text in encoded.dictionary.to_pylist()]
        hashes = np.array(known, dtype=np.uint64)[encoded.indices.to_numpy(zero_copy_only=False)]
    return (hashes % np.uint64(count)).astype(np.int64)


def _together(rows: Rows, keys: pa.Array | None, owner: pa.Array | None, apart: bool) -> tuple[Rows, IntArray]:
    """One row for each key of each owner, and the place of its first part among the old rows."""
    columns = [ranks(column) for column in (owner, keys) if column is not None]
    order = np.lexsort(columns[::-1]) if len(columns) > 1 else np.argsort(columns[0], kind="stable")
    rows = _permuted(rows, order)
    fresh = np.full(len(order), apart)
    fresh[:1] = True
    for column in columns:
        fresh[1:] |= np.diff(column[order]) != 0
    starts = np.flatnonzero(fresh)
    return Rows.of(np.append(rows.offsets[starts], rows.offsets[-1]), rows.items), order[starts]


def _permuted(rows: Rows, order: IntArray) -> Rows:
    """The rows in another order."""
    lengths = rows.lengths[order]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(rows.offsets[order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Rows.of(offsets, rows.items[places])


def _by_bucket(batches: Batches) -> Iterator[list[tuple[pa.Buffer, pa.Buffer]]]:
    """The messages of one bucket after another."""
    held: list[tuple[pa.Buffer, pa.Buffer]] = []
    current = None
    for batch in batches:
        columns = (batch.column(name) for name in ("problem", "bucket", "runs", "items"))
        for problem, bucket, runs, items in zip(*columns, strict=True):
            if problem.as_py():
                raise WorkerProblem(problem.as_py())
            if held and bucket.as_py() != current:
                yield held
                held = []
            current = bucket.as_py()
            held.append((runs.as_buffer(), items.as_buffer()))
    if held:
        yield held


def _bucket_rows(messages: Iterable[tuple[pa.Buffer, pa.Buffer]], recipe: Recipe) -> Rows:
    runs = pa.concat_tables([opened(content) for content, _ in messages]).combine_chunks()
    columns = {name: runs.column(name).combine_chunks() for name in runs.column_names}
    items = np.concatenate([np.frombuffer(content, dtype=np.int32) for _, content in messages])
    offsets = np.zeros(runs.num_rows + 1, dtype=np.int64)
    np.cumsum(columns["length"].to_numpy(zero_copy_only=False), out=offsets[1:])
    owner = columns.get("owner")
    rows, first = _together(Rows.of(offsets, items), columns.get("key"), owner, recipe.apart)
    rows = rows.as_sets()
    if owner is None:
        return rows
    encoded = owner.take(pa.array(first)).dictionary_encode()
    units = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    salts = np.frombuffer(recipe.item_salts, dtype=np.uint64)
    return limit_units(rows, units, encoded.dictionary.to_pylist(), salts, recipe.unit)
