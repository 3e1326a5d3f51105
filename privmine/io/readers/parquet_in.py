"""Parquet files as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privmine.errors import DataError
from privmine.io.readers.alike_files import checked_names, common_columns, complaint_about
from privmine.io.readers.files_in import advance
from privmine.io.readers.tables import BATCH_ROWS, SAMPLE_ROWS, Batches, RowGuard, Table, arrow, is_text, kinds_of


def parquet_table(paths: Sequence[Path], name: str) -> Table:
    """A table of Parquet files that have the same columns."""
    arrow()
    schema, kinds = RowGuard(name, _complaint)(lambda: _looked_at(paths[0]))
    columns = common_columns(paths, schema, _schema, _complaint)

    def batches(positions: Sequence[int]) -> Batches:
        wanted = [columns[position] for position in positions]
        # The codes that the file has for texts are kept: decoding them is most of the work.
        coded = [column for column in wanted if is_text(schema.field(column).type)]
        for path in paths:
            file = _opened(path, coded)
            # Arrow reads the file itself; the rows done tell about how many of its bytes are.
            bytes_a_row = path.stat().st_size / max(1, file.metadata.num_rows)
            for batch in _rows(file, BATCH_ROWS, wanted):
                yield batch.select(wanted)
                advance(round(batch.num_rows * bytes_a_row))

    return Table(name, columns, kinds, batches, _complaint)


def _looked_at(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The columns of a file, and what they hold."""
    file = _opened(path)
    if b"privmine" in (file.schema_arrow.metadata or {}):
        # Its itemsets would pass for transactions.
        raise DataError(f"{path} is a release that privmine saved, not data. Load it with pm.load, or `privmine show`.")
    schema = checked_names(path, file.schema_arrow)
    return schema, kinds_of(schema, next(_rows(file, SAMPLE_ROWS), None))


def _schema(path: Path) -> Any:
    return _opened(path).schema_arrow


def _opened(path: Path, coded: Sequence[str] = ()) -> Any:
    from pyarrow import parquet

    # Without a buffer in advance, which holds all of the file in the end.
    return parquet.ParquetFile(str(path), read_dictionary=list(coded), pre_buffer=False)


def _rows(file: Any, size: int, columns: Sequence[str] | None = None) -> Batches:
    # Early versions of Arrow fail where a file has no rows at all.
    return file.iter_batches(size, columns=columns) if file.num_row_groups else iter(())


_complaint = complaint_about("Parquet")
