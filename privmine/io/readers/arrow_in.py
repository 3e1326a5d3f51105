"""Files of Arrow's own format as tables: Feather version 2 and Arrow IPC, as a file or as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privmine.errors import DataError
from privmine.io.readers.alike_files import checked_names, common_columns, complaint_about
from privmine.io.readers.files_in import advance
from privmine.io.readers.tables import BATCH_ROWS, Batches, RowGuard, Table, arrow, kinds_of

#: How a file begins; a stream has no such mark.
_MARK = b"ARROW1"
_FIRST_FEATHER = b"FEA1"


def arrow_table(paths: Sequence[Path], name: str) -> Table:
    """A table of Feather or Arrow files that have the same columns."""
    arrow()
    schema, kinds = RowGuard(name, _complaint)(lambda: _looked_at(paths[0]))
    columns = common_columns(paths, schema, _schema, _complaint)

    def batches(positions: Sequence[int]) -> Batches:
        for path in paths:
            for batch in _batches(path):
                wanted = batch.select(list(positions))
                # Before a value is looked at: a damaged file may point anywhere.
                wanted.validate(full=True)
                for start in range(0, wanted.num_rows, BATCH_ROWS):
                    yield wanted.slice(start, BATCH_ROWS)

    return Table(name, columns, kinds, batches, _complaint)


def _looked_at(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The columns of a file, and what they hold."""
    schema = checked_names(path, _schema(path))
    first = next(_batches(path), None)
    if first is not None:
        first.validate(full=True)
    return schema, kinds_of(schema, first)


def _schema(path: Path) -> Any:
    with _opened(path) as (reader, _):
        return reader.schema


def _batches(path: Path) -> Iterator[Any]:
    with _opened(path) as (reader, source):
        if not hasattr(reader, "get_batch"):
            before = 0
            for batch in reader:
                advance(source.tell() - before)
                before = source.tell()
                yield batch
            return
        for number in range(reader.num_record_batches):
            # A batch is read from wherever it lies; all of them are about as long.
            advance(source.size() // reader.num_record_batches)
            yield reader.get_batch(number)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """A reader of a file, and the file."""
    from pyarrow import OSFile, ipc

    with path.open("rb") as file:
        head = file.read(len(_MARK))
    if head.startswith(_FIRST_FEATHER):
        raise DataError(f"{path} is a Feather file of version 1. Save it as version 2, as pandas and Arrow do.")
    with OSFile(str(path)) as source:
        yield (ipc.open_file(source) if head == _MARK else ipc.open_stream(source)), source


_complaint = complaint_about("Feather or Arrow")
