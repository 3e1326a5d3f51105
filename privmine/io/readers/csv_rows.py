"""The rows of a CSV file, a window of whole rows at a time.

Arrow could read a file by itself, but where text must be decoded or unpacked, its threads would call
Python to get the next bytes, and go on doing so after an error, when Python is about to end: the
process then hangs or aborts. So the bytes are read here, and Arrow gets memory of its own.

Privacy: a row is a line, so that what one unit's rows hold never changes how the rows of others are
read. A cell in quotes that goes on into the next line is refused unless the user says that the file has
such cells.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from privmine.errors import DataError
from privmine.io.readers.files_in import (
    UNREADABLE,
    UTF_8,
    encoding_of,
    lines_of,
    not_text,
    opened,
    opened_text,
    problem_of,
    too_long,
)
from privmine.io.readers.tables import Batches, arrow

#: How much is read at a time, and up to what length a row may be that does not end there.
_WINDOW_BYTES = 1 << 24
_LONGEST_WINDOW = 1 << 26
#: A window is taken apart in blocks, by several threads; a row must fit into one, and a one-hot row may be long.
_BLOCK_BYTES = 1 << 22
_LONG_BLOCK_BYTES = 1 << 26
#: An empty line, which means nothing. Without it Arrow would leave out a mark of the byte order that is part of a cell.
_BEFORE = b"\n"
_NEWLINE, _RETURN = b"\n\r"

#: What Arrow says of a line that has more or fewer cells than there are columns, and what to do then.
_UNEVEN = "columns, got"
_CELLS = (
    "put cells that hold the separator into quotes, or specify the separator with separator=. If "
    "each line is a basket, pass layout='baskets'"
)
#: A line that tells spreadsheets what separates the cells of the lines that follow.
_TOLD = re.compile(rb'"?sep=([\t -~])"?(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def told_separator(line: str) -> str | None:
    """What a first line such as `sep=;` tells spreadsheets; None if it is a line like any other."""
    told = _TOLD.fullmatch(line.encode(errors="replace"))
    return None if told is None else told[1].decode()


def csv_rows(
    path: Path,
    header: Sequence[str],
    positions: Sequence[int],
    separator: str,
    encoding: str | None,
    *,
    multiline_cells: bool = False,
) -> Batches:
    """The rows below the first one, which has the names of the columns.

    Args:
        path: the file.
        header: the cells of its first row.
        positions: the columns that are wanted.
        separator: what stands between cells.
        encoding: how the text is encoded, or None to tell by its beginning.
        multiline_cells: whether a cell in quotes may have line breaks.
    """
    window = _Window(len(header), positions, separator, multiline_cells=multiline_cells)

    def uneven() -> str | None:
        return _uneven_line(path, len(header), separator, encoding)

    pending, start = b"", 1
    for part, is_last in _parts(path, encoding):
        pending += part
        # Where a line ends, a row does as well, unless a cell in quotes goes on: `window.rows` finds out.
        end = len(pending) if is_last else max(pending.rfind(b"\n"), pending.rfind(b"\r")) + 1
        may_go_on = not is_last and len(pending) < _LONGEST_WINDOW
        if not multiline_cells:
            if _has_line_of(pending, window.longest):
                raise DataError(f"{path}: {too_long(window.longest)}.")
            rows = _one_line_each(window, pending, end, lambda: _line_that_goes_on(path, separator, encoding), uneven)
        else:
            data = memoryview(pending)[:end]
            rows = _rows(lambda: window.rows(data, may_go_on=may_go_on), uneven) if end or is_last else None  # noqa: B023
            if rows is None and not may_go_on:
                raise DataError(
                    f"{path}: a quote is opened and never closed, so that the rest of the file would be one cell."
                )
        if rows is None:
            continue
        pending = pending[end:]
        if start and rows.num_rows:
            # The first line is read as a row and left out here: Arrow's own way to skip it fails at a zero byte.
            if _cells(rows, 0) != [header[position] for position in positions]:
                raise DataError(f"{path}: the first line cannot be read as the names of columns.")
            rows, start = rows.slice(1), 0
        yield from rows.to_batches()


def _rows(work: Callable[[], Any | None], uneven: Callable[[], str | None]) -> Any | None:
    """What Arrow makes of bytes; a line that has more or fewer cells than the first one is named."""
    try:
        return work()
    except arrow().ArrowInvalid as error:
        problem = error
    # Here, not in the except block: the context of the error would carry a line of the file.
    words = uneven() if _UNEVEN in str(problem) else None
    raise problem if words is None else DataError(words)


def _one_line_each(
    window: _Window,
    data: bytes,
    end: int,
    complaint: Callable[[], str | None],
    uneven: Callable[[], str | None],
) -> Any | None:
    """The rows of the lines that end before a place, of which there are as many; None if there is no such line yet.

    A row of more than one line is a cell that goes on. One that has taken other rows with it may also show as a row of
    too many cells.
    """
    if not end:
        return None
    has_quotes = data.find(b'"', 0, end) >= 0
    problem: Exception = DataError("Some line cannot be read as CSV.")
    try:
        rows = window.rows(memoryview(data)[:end], may_go_on=False)
        if rows is not None and (not has_quotes or rows.num_rows == _count_lines(data, end, rows.num_rows)):
            return rows
    except arrow().ArrowInvalid as error:
        problem = error
    words = complaint() if has_quotes else None
    words = uneven() if words is None and _UNEVEN in str(problem) else words
    # Here, not in the except block: the context of the error would carry a line of the file.
    raise problem if words is None else DataError(words)


def _uneven_line(path: Path, width: int, separator: str, encoding: str | None) -> str | None:
    """What to say of the first line that has more or fewer cells than there are columns."""
    with opened_text(path, encoding) as text, suppress(csv.Error):
        lines = lines_of(text, path)
        reader = csv.reader(lines, delimiter=separator)
        before = 0
        for cells in reader:
            is_told = before == 0 and told_separator(separator.join(cells)) is not None
            if cells and len(cells) != width and not is_told:
                return f"{path}, line {before + 1}: it has more or fewer cells than the first line; {_CELLS}."
            before = reader.line_num
    return None


def _count_lines(data: bytes, end: int, expected: int) -> int:
    """How many lines that are not empty end before a place; quick if it is as many as expected, and none is empty."""
    returns = data.count(b"\r", 0, end)
    if not returns or returns == data.count(b"\r\n", 0, end):
        lines = data.count(b"\n", 0, end) + (data[end - 1] != _NEWLINE)
        if lines == expected:
            return lines
    text = np.frombuffer(data, dtype=np.uint8, count=end)
    is_end = (text == _NEWLINE) | (text == _RETURN)
    return int(np.count_nonzero(is_end[:-1] & ~is_end[1:])) + (not is_end[0])


def _has_line_of(data: bytes, length: int) -> bool:
    """Whether some line is so long or longer; quick where every stretch of half the length has the end of a line."""
    step = length // 2
    starts = range(0, len(data) - step + 1, step)
    if all(data.find(b"\n", at, at + step) >= 0 or data.find(b"\r", at, at + step) >= 0 for at in starts):
        return False
    text = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero((text == _NEWLINE) | (text == _RETURN))
    return bool((np.diff(ends, prepend=-1, append=len(data)) > length).any())


def goes_on(path: Path, line: int) -> str:
    """What is said of a cell that has a line break."""
    return (
        f"{path}, line {line}: a cell in quotes does not end in this line. Close the quote, or write "
        'a quote inside a cell twice (""). If cells of the file may have line breaks, pass '
        "multiline_cells=True."
    )


def _line_that_goes_on(path: Path, separator: str, encoding: str | None) -> str | None:
    """What to say of the first line that ends within quotes; they open a cell, and mean nothing within one."""
    between = re.escape(separator)
    cell = rf'(?:"(?:[^"]|"")*+"[^{between}]*+|(?!")[^{between}]*+)'
    whole = re.compile(rf"{cell}(?:{between}{cell})*+", re.DOTALL)
    with opened_text(path, encoding) as text:
        for number, line in enumerate(lines_of(text, path), 1):
            if '"' in line and not whole.fullmatch(line.rstrip("\r\n")):
                return goes_on(path, number)
    return None


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
            if is_first:
                part = part.removeprefix(BOM_UTF8)
                told = _TOLD.match(part)
                part = part if told is None else part[told.end() :]
            yield part, is_last
            is_first = False


class _Window:
    """Takes bytes apart as CSV, if they consist of whole rows."""

    def __init__(self, width: int, positions: Sequence[int], separator: str, *, multiline_cells: bool) -> None:
        pa = arrow()
        from pyarrow import csv as arrow_csv

        names = [f"c{position}" for position in range(width)]
        wanted = [names[position] for position in positions]
        self._count = len(wanted)
        # A last line that nobody can have written: where it does not come out last, a quote is still open.
        self._mark = token_hex(16)
        self._end = f"\n{separator.join([self._mark] * width)}\n".encode()
        #: How long a line may be, so that it fits into a block wherever it begins.
        self.longest = _BLOCK_BYTES if width < 1 << 16 else _LONG_BLOCK_BYTES
        self._read = arrow_csv.read_csv
        self._options = (
            arrow_csv.ReadOptions(column_names=names, block_size=self.longest + len("\r\n")),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=multiline_cells),
            arrow_csv.ConvertOptions(
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
        copy = pa.allocate_buffer(len(_BEFORE) + len(data) + len(self._end))
        place = 0
        with memoryview(copy).cast("B") as view:
            for part in (_BEFORE, data, self._end):
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
    if _UNEVEN in message:
        return f"some line has more or fewer cells than the first one; {_CELLS}"
    if "straddl" in message:
        return "some line is too long; most likely a quote is opened and never closed"
    return "some line cannot be read as CSV; the reason is withheld, because it may contain data"
