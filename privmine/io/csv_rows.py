"""The rows of a CSV file, a window of whole rows at a time.

Arrow could read a file by itself, but where text must be decoded or unpacked, its threads would call
Python to get the next bytes, and go on doing so after an error, when Python is about to end: the
process then hangs or aborts. So the bytes are read here, and Arrow gets memory of its own.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from privmine.errors import DataError
from privmine.io.files_in import UNREADABLE, UTF_8, encoding_of, not_text, opened, problem_of
from privmine.io.tables import Batches, arrow

#: How much is read at a time, and up to what length a row may be that does not end there.
_WINDOW_BYTES = 1 << 24
_LONGEST_WINDOW = 1 << 26
#: A window is taken apart in blocks, by several threads; a row must fit into one, and a one-hot row may be long.
_BLOCK_BYTES = 1 << 22
_LONG_BLOCK_BYTES = 1 << 26


#: A line that tells spreadsheets what separates the cells of the lines that follow.
_TOLD = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([\t -~])"?(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def told_separator(line: str) -> str | None:
    """What a first line such as `sep=;` tells spreadsheets; None if it is a line like any other."""
    told = _TOLD.fullmatch(line.encode(errors="replace"))
    return None if told is None else told[1].decode()


def csv_rows(
    path: Path, header: Sequence[str], positions: Sequence[int], separator: str, encoding: str | None
) -> Batches:
    """The rows below the first one, which has the names of the columns.

    Args:
        path: the file.
        header: the cells of its first row.
        positions: the columns that are wanted.
        separator: what stands between cells.
        encoding: how the text is encoded, or None to tell by its beginning.
    """
    window = _Window(len(header), positions, separator)
    pending, start = b"", 1
    for part, is_last in _parts(path, encoding):
        pending += part
        # Where a line ends, a row does as well, unless a cell in quotes goes on: `window.rows` finds out.
        end = len(pending) if is_last else max(pending.rfind(b"\n"), pending.rfind(b"\r")) + 1
        may_go_on = not is_last and len(pending) < _LONGEST_WINDOW
        rows = window.rows(memoryview(pending)[:end], may_go_on=may_go_on) if end or is_last else None
        if rows is None and may_go_on:
            continue
        if rows is None:
            raise DataError(
                f"{path}: a quote is opened and never closed, so that the rest of the file would be one cell."
            )
        pending = pending[end:]
        if start and rows.num_rows:
            # The first line is read as a row and left out here: Arrow's own way to skip it fails at a zero byte.
            if _cells(rows, 0) != [header[position] for position in positions]:
                raise DataError(f"{path}: the first line cannot be read as the names of columns.")
            rows, start = rows.slice(1), 0
        yield from rows.to_batches()


def _parts(path: Path, encoding: str | None) -> Iterator[tuple[bytes, bool]]:
    """The bytes of a file as UTF-8, and with each part of them whether it is the last one."""
    encoding = encoding_of(path, encoding)
    decoder = None if encoding == UTF_8 else getincrementaldecoder(encoding)()
    with opened(path) as file:
        is_first, is_last = True, False
        while not is_last:
            raw = file.read(_WINDOW_BYTES)
            is_last = len(raw) < _WINDOW_BYTES
            part = raw if decoder is None else decoder.decode(raw, final=is_last).encode()
            told = _TOLD.match(part) if is_first else None
            yield part if told is None else part[told.end() :], is_last
            is_first = False


class _Window:
    """Takes bytes apart as CSV, if they consist of whole rows."""

    def __init__(self, width: int, positions: Sequence[int], separator: str) -> None:
        pa = arrow()
        from pyarrow import csv

        names = [f"c{position}" for position in range(width)]
        wanted = [names[position] for position in positions]
        self._count = len(wanted)
        # A last line that nobody can have written: where it does not come out last, a quote is still open.
        self._mark = token_hex(16)
        self._end = f"\n{separator.join([self._mark] * width)}\n".encode()
        self._before = b""
        self._read = csv.read_csv
        self._options = (
            csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES if width < 1 << 16 else _LONG_BLOCK_BYTES),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def rows(self, data: memoryview, *, may_go_on: bool) -> Any | None:
        """The rows as a table; None if the last one is not whole.

        Args:
            data: the bytes.
            may_go_on: whether more bytes may follow, so that what is wrong may be so for the lack of them.
        """
        pa = arrow()
        # A copy that Arrow owns, so that its threads never need Python to let go of it.
        copy = pa.allocate_buffer(len(self._before) + len(data) + len(self._end))
        place = 0
        with memoryview(copy).cast("B") as view:
            for part in (self._before, data, self._end):
                view[place : place + len(part)] = part
                place += len(part)
        try:
            table = self._read(pa.BufferReader(copy), *self._options)
        except pa.ArrowInvalid:
            if may_go_on:
                return None
            raise
        if not table.num_rows or _cells(table, table.num_rows - 1) != [self._mark] * self._count:
            return None
        # Else a mark of the byte order would be left out here, where it is part of a cell. An empty line is none.
        self._before = b"\n"
        return table.slice(0, table.num_rows - 1)


def _cells(table: Any, row: int) -> list[str]:
    return [column[row].as_py() or "" for column in table.columns]


def complaint_of(error: Exception, encoding: str | None) -> str:
    """What Arrow's messages mean, without the lines that they quote."""
    message = str(error)
    if isinstance(error, UNREADABLE):
        return f"it {problem_of(error, encoding)}"
    if "UTF8" in message:
        return f"it {not_text(encoding)}"
    if "columns, got" in message:
        return (
            "some line has more or fewer cells than the first one; put cells that hold the separator into quotes, or "
            "say the separator with separator= (--separator). One basket a line: layout='baskets' (--layout baskets)"
        )
    if "straddl" in message:
        return "some line is too long; most likely a quote is opened and never closed"
    return "some line cannot be read as CSV; the reason is withheld, because it may contain data"
