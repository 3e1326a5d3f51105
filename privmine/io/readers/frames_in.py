"""Frames of pandas, whose columns of objects hold anything.

Privacy: Arrow infers one type for a whole column of objects, so that the value of one customer would
decide how those of all others read, or whether they are read at all. Here each cell becomes text on its
own, before Arrow sees the column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from privmine.io.readers.options import ReadOptions
from privmine.io.readers.python_values import column_of, kind_of_values
from privmine.io.readers.tables import SAMPLE_ROWS, SERIES, Batches, RowGuard, Table, arrow, from_stream

_NAME = "the frame"


def is_frame(source: Any) -> bool:
    """Whether something is a frame or a series of pandas, told without importing it."""
    return is_of(source, "pandas") and (hasattr(source, "columns") or hasattr(source, "to_frame"))


def is_of(source: Any, *packages: str) -> bool:
    """Whether something is of a type of a package, or of one derived from it, told without importing it."""
    return any(base.__module__.partition(".")[0] in packages for base in type(source).__mro__)


def frame_table(source: Any, asked: ReadOptions) -> Table:
    """A table of a frame, or of a series, of pandas."""
    table: Table = RowGuard(_NAME)(lambda: _table(source, asked))
    return table


def _table(source: Any, asked: ReadOptions) -> Table:
    if not hasattr(source, "columns"):
        source = source.to_frame(SERIES).reset_index(drop=True)
    typed, cells = _taken_apart(source)
    table = from_stream(typed, _NAME)
    kinds = list(table.kinds)
    for position, column in cells.items():
        kind = kind_of_values(_sample(column))
        if not _is_encoded(column.dtype):
            said = asked.layout == "list" and asked.item == table.columns[position]
            kind = "list" if said else kind
        elif kind == "list":
            kind = "other"  # tuples, which are no labels
        kinds[position] = kind

    def batches(positions: Sequence[int]) -> Batches:
        pa = arrow()
        readers = {
            place: _reader(cells[position], table.shown(position), lists=kinds[position] == "list")
            for place, position in enumerate(positions)
            if position in cells
        }
        done = 0
        for batch in table.batches(positions):
            rows = slice(done, done + batch.num_rows)
            done = rows.stop
            arrays = [
                readers[place](rows) if place in readers else batch.column(place) for place in range(len(positions))
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])

    kinds_of_pandas = [*source.dtypes, *(source.index.get_level_values(n).dtype for n in range(source.index.nlevels))]
    # With another row, a column of numbers or texts could have been one of objects.
    inferred = frozenset(
        name for name, kind in zip(table.columns, kinds_of_pandas, strict=False) if not _is_declared(kind)
    )
    return evolve(table, kinds=tuple(kinds), batches=batches, inferred=inferred)


def _taken_apart(source: Any) -> tuple[Any, dict[int, Any]]:
    """The frame with zeros in its columns of objects, and these columns by their positions as Arrow counts them.

    Arrow takes the levels of an index for more columns, which come last.
    """
    zeros = np.zeros(len(source), dtype=np.int8)
    width = len(source.columns)
    levels = [source.index.get_level_values(level) for level in range(source.index.nlevels)]
    columns = {place: source.iloc[:, place] for place, kind in enumerate(source.dtypes) if _has_objects(kind)}
    indexed = {place: level.to_series() for place, level in enumerate(levels, width) if _has_objects(level.dtype)}
    typed = source.copy(deep=False)
    for place in columns:
        typed.isetitem(place, zeros)
    if indexed:
        from pandas import Index, MultiIndex

        plain = [zeros if place in indexed else level for place, level in enumerate(levels, width)]
        names = source.index.names
        typed.index = MultiIndex.from_arrays(plain, names=names) if len(plain) > 1 else Index(zeros, name=names[0])
    return typed, columns | indexed


def _has_objects(kind: Any) -> bool:
    """Whether a type of pandas is that of any objects, or of categories or sparse columns of them."""
    of = kind.categories.dtype if _is_encoded(kind) else getattr(kind, "subtype", kind)
    return str(of) == "object"


def _is_declared(kind: Any) -> bool:
    """Whether somebody chose this type. pandas itself gives numpy's types, `str`, and times with a zone."""
    return not isinstance(kind, np.dtype) and str(kind) != "str" and not str(kind).startswith("datetime64")


def _is_encoded(kind: Any) -> bool:
    return getattr(kind, "categories", None) is not None


def _sample(column: Any) -> Sequence[Any]:
    values: list[Any] = column.iloc[:SAMPLE_ROWS].astype(object).tolist()
    return values


def _reader(column: Any, name: str, *, lists: bool) -> Callable[[slice], Any]:
    """Gives an Arrow array of some rows of a column of objects."""
    if _is_encoded(column.dtype):
        codes = column.array.codes
        texts = column_of(column.array.categories.tolist(), name, lists=False)
        return lambda rows: texts.take(arrow().array(codes[rows], mask=codes[rows] < 0))
    values: NDArray[Any] = column.to_numpy(dtype=object)
    return lambda rows: column_of(values[rows], name, lists=lists)
