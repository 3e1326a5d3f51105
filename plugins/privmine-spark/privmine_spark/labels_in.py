"""From columns of Arrow, as executors get them, to labels and to numbers of items.

Privacy: how a value reads never depends on other values. The type of a column comes from the frame's schema.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from privmine.api import text_of, unit_of

#: Numbers from 0 to here are looked up in a table.
_TABLE = 1 << 24


def plain(column: Any) -> Any:
    """The labels of a column: an array of 64-bit integers or of texts, NaN as null."""
    known = column.type
    if pa.types.is_integer(known):
        return column.cast(pa.int64())
    if pa.types.is_string(known):
        return column
    if pa.types.is_large_string(known) or pa.types.is_string_view(known) or pa.types.is_null(known):
        return column.cast(pa.string())
    if pa.types.is_floating(known):
        column = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    return _of_distinct(column, text_of)


def owners(column: Any) -> Any:
    """How units read; those that read the same are one. A blank one is null, since it says nothing."""
    column = plain(column)
    if pa.types.is_integer(column.type):
        return column
    texts = _of_distinct(column, unit_of)
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _of_distinct(column: Any, read: Any) -> Any:
    """Each value as the text that is made of it alone, null where it is null."""
    encoded = column.dictionary_encode()
    texts = pa.array([read(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return texts.take(encoded.indices)


def ranks(column: Any) -> NDArray[np.int64]:
    """A number for each value of an array without nulls, in the order of the values."""
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places[encoded.indices.to_numpy(zero_copy_only=False)]


def lists_of(column: Any) -> tuple[Any, NDArray[np.int64], bool]:
    """The values of a column of lists one after another, how many each list has, and whether a list is missing."""
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    return pc.list_flatten(column), lengths.astype(np.int64), column.null_count > 0


class Numbering:
    """Gives labels their positions in the universe."""

    def __init__(self, labels: Any) -> None:
        """Number the labels, an Arrow array of integers or of texts, from 0 on."""
        self._labels = labels
        self._texts: dict[str, int] | None = None
        self._table: NDArray[np.int32] | None = None
        if pa.types.is_integer(labels.type):
            numbers = np.asarray(labels.to_numpy(zero_copy_only=False), dtype=np.int64)
            if len(numbers) and numbers.min() >= 0 and numbers.max() < _TABLE:
                self._table = np.full(int(numbers.max()) + 2, -1, dtype=np.int32)
                self._table[numbers] = np.arange(len(numbers), dtype=np.int32)

    def of(self, column: Any) -> NDArray[np.int32]:
        """The position of each label, −1 for one that is missing or outside the universe."""
        if pa.types.is_integer(column.type) and self._table is not None and not column.null_count:
            numbers = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
            last = len(self._table) - 1  # where every number leads that the table does not reach
            return self._table[np.where((numbers >= 0) & (numbers < last), numbers, last)]
        encoded = column.dictionary_encode()
        if self._texts is None:
            self._texts = {str(label): place for place, label in enumerate(self._labels.to_pylist())}
        known = [self._texts.get(str(label), -1) for label in encoded.dictionary.to_pylist()]
        places = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return np.array([*known, -1], dtype=np.int32)[places]


def shipped(labels: Any) -> bytes:
    """An array of labels as bytes, in which it travels to executors."""
    return written(pa.RecordBatch.from_arrays([labels], names=["label"]))


def written(batch: pa.RecordBatch) -> bytes:
    """A record batch as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def opened(content: Any) -> pa.Table:
    """What `written` has written."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


@lru_cache(maxsize=2)
def numbering(content: bytes) -> Numbering:
    """The numbering of labels that were shipped, made once in a process of an executor."""
    return Numbering(opened(content).column(0).combine_chunks())
