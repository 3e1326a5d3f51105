"""CSV files as tables. Every cell is text, so that a label keeps its zeros in front.

The dialect is settled before the file is read: comma, semicolon, tab or bar between cells, double
quotes around cells that need them, names of columns in the first line.

Privacy: where the options say that a file is a table, its first line has the names of the columns, and
the separator is told by that line alone, so that no row decides. Where they do not, the first rows
decide, which is a guess. A line is a row: a cell that went on into the next line would take the rows
of others with it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from attrs import frozen

from privmine.errors import DataError, InputError
from privmine.io.layouts import says_what_it_is
from privmine.io.readers.csv_rows import complaint_of, csv_rows, goes_on, told_separator
from privmine.io.readers.files_in import (
    BYTE_ORDER,
    LONGEST_LINE,
    SEPARATORS,
    ending,
    lines_of,
    opened_text,
    read_on,
    reading,
)
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.tables import SAMPLE_ROWS, Batches, Table, kind_of_texts

#: What is said of a table whose first line is not parted.
_ONE_CELL = "Its first line is a single cell, so check the separator: separator=."
#: A cell in quotes, in which a separator is text.
_QUOTED = re.compile(r'(?:(?<=[,;\t|\r\n])|\A) *"(?:[^"]|"")*"(?=[,;\t|\r\n]|\Z)')


@frozen(eq=False)
class CsvSample:
    """The first lines of a text file, taken apart.

    Attributes:
        rows: the cells of each line.
        separator: what stands between them.
        guessed: whether the separator was guessed by looking at rows, not told by an option, the name of the file or
            the names of columns.
    """

    rows: list[list[str]]
    separator: str
    guessed: bool

    @property
    def filled(self) -> list[list[str]]:
        """The lines that are not empty, which in a table mean nothing."""
        return [row for row in self.rows if row]

    @property
    def is_even(self) -> bool:
        """Whether all lines have the same number of cells, and more than one."""
        widths = {len(row) for row in self.filled}
        return len(widths) == 1 and widths != {1}


def sample_of(path: Path, asked: ReadOptions) -> CsvSample:
    """Look at the first lines of a text file."""
    lines = reading(path, lambda: _first_lines(path, asked.encoding), asked.encoding)
    told = told_separator(lines[0]) if lines else None
    if told is not None:
        del lines[0]
    separator = said_separator(path, asked)
    guessed = separator is None and not asked.declares_table
    if separator is None and asked.declares_table:
        separator = told or _separator_of_names(lines, asked)
    if separator is None:
        separator = told or _guessed_separator(lines, is_csv=ending(path) == ".csv")
    rows: list[list[str]] = []
    with suppress(csv.Error):
        # A quoted cell may go on beyond the sample; one that is wrong comes up when the file is read.
        rows.extend(csv.reader(lines, delimiter=separator, strict=True))
    if lines and not rows:
        raise DataError(_unmatched(path, 1))
    return CsvSample(rows, separator, guessed)


def _first_lines(path: Path, encoding: str | None) -> list[str]:
    """The first lines of a file, fewer of them if they are long."""
    lines: list[str] = []
    size = 0
    with opened_text(path, encoding) as text:
        for line in islice(lines_of(text, path), SAMPLE_ROWS):
            lines.append(line)
            size += len(line)
            if size > LONGEST_LINE:
                break
    return lines


def said_separator(path: Path, asked: ReadOptions) -> str | None:
    """What separates cells, as an option or the name of the file says it; None if neither does."""
    return asked.separator or ("\t" if ending(path) in (".tsv", ".tab") else None)


def _separator_of_names(lines: list[str], asked: ReadOptions) -> str:
    """What parts the names of the columns: so that those asked for are among them, else most often."""
    if not asked.multiline_cells:
        lines = [line for line in lines if line.strip()][:1]
    names = next(iter(_unquoted_rows(lines)), "")
    often = sorted(SEPARATORS, key=names.count, reverse=True)
    for separator in often:
        with suppress(csv.Error):
            cells = next(filter(None, csv.reader(lines, delimiter=separator)), [])
            if set(asked.wanted) <= set(cells):
                return separator
    return often[0]


def _guessed_separator(lines: list[str], *, is_csv: bool) -> str:
    """What parts the first row most often; it has the names, where there are any.

    What the name of the file says, that it is a comma, holds unless another one parts other rows as well.
    """
    first, *rest = _unquoted_rows(lines) or [""]
    found = max(SEPARATORS, key=first.count)
    only_first = rest and not any(found in row for row in rest)
    return "," if is_csv and only_first else found


def _unquoted_rows(lines: list[str]) -> list[str]:
    """The rows that are not blank, without what stands in quotes."""
    return [row for row in re.split(r"[\r\n]", _QUOTED.sub("x", "".join(lines))) if row.strip()]


def has_names(sample: CsvSample, asked: ReadOptions) -> bool:
    """Whether the first line is read as the names of columns.

    It is if `shows_names` holds, or if a column has numbers below a cell that is none.
    """
    if shows_names(sample, asked):
        return True
    below = _below(sample)
    return _may_be_names(sample) and any(all(map(_is_number, column)) for column in zip(*below, strict=True))


def shows_names(sample: CsvSample, asked: ReadOptions) -> bool:
    """Whether the first line holds the names of columns for sure; else it may be data, which no message may show.

    It does if one of its cells is asked for, or is what people call the column of an order or a
    product. What stands below tells nothing here: numbers below a basket are as likely as below names.

    Privacy: where the options say that the file is a table, the first line alone decides, so that what a
    message says of it does not depend on a row.
    """
    first = _first(sample)
    if not all(cell.strip() for cell in first):
        return False
    if any(name in first for name in asked.wanted):
        return True
    # Without a line below, nothing tells where the names end and data begins, should the end of the line be lost.
    enough = any if not asked.declares_table and _below(sample) else all
    return _may_be_names(sample) and enough(map(says_what_it_is, first))


def _may_be_names(sample: CsvSample) -> bool:
    """Whether the cells of the first line are different texts."""
    first = _first(sample)
    is_text = all(cell.strip() and not _is_number(cell) for cell in first)
    return bool(first) and is_text and len(set(first)) == len(first)


def _first(sample: CsvSample) -> list[str]:
    """The cells of the first line, without an empty one in front: so does pandas name the index of a frame."""
    first = next(iter(sample.filled), [])
    return first[1:] if len(first) > 1 and not first[0] else first


def _below(sample: CsvSample) -> list[list[str]]:
    """The lines below the first one that have as many cells."""
    first, *rest = sample.filled or [[]]
    return [row for row in rest if len(row) == len(first)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip().lower() in ("true", "false")
    return True


def csv_table(paths: Sequence[Path], sample: CsvSample, asked: ReadOptions, name: str) -> Table:
    """A table of CSV files that have the same columns."""
    if not sample.filled:
        raise DataError(f"{paths[0]} has no line that could be read; the first one has the names of the columns.")
    if not sample.separator.isascii():
        raise InputError("The separator of a table is an ASCII character, such as a comma, a semicolon or a tab.")
    first, *rest = sample.filled

    def first_cells(position: int) -> list[str]:
        # An empty cell is missing unless it stands in quotes, which cannot be told here.
        return [row[position] for row in rest if len(row) == len(first) and row[position]]

    kinds = tuple(kind_of_texts(iter(first_cells(position))) for position in range(len(first)))

    for path in paths[1:]:
        if not _are_alike(sample_of(path, asked), sample):
            raise DataError(
                f"{path} has other columns or another separator than {paths[0]}; read only files that are alike."
            )

    def batches(positions: Sequence[int]) -> Batches:
        for path in paths:
            yield from csv_rows(
                path, first, positions, sample.separator, asked.encoding, multiline_cells=asked.multiline_cells
            )

    def complaint(error: Exception) -> str:
        return complaint_of(error, asked.encoding)

    shows = shows_names(sample, asked)
    known = None if shows else frozenset[str]()
    # Rows tell whether there are names only where that is guessed.
    named = shows if asked.declares_table else has_names(sample, asked)
    return Table(
        name,
        tuple(first),
        kinds,
        batches,
        complaint,
        named=named,
        known=known,
        assumes=asked.assumes,
        first=first_cells,
        advice=_ONE_CELL if len(first) == 1 else "",
    )


def _are_alike(one: CsvSample, other: CsvSample) -> bool:
    """Whether two files have the same names of columns, with the same between them."""
    first = other.filled[0]
    return one.filled[:1] == [first] and (one.separator == other.separator or len(first) == 1)


def read_lines(path: Path, separator: str, asked: ReadOptions) -> Iterator[list[str]]:
    """The cells of each line, blanks in front of them left out; what is no CSV is refused with its line."""
    return read_on(path, _lines(path, separator, asked), asked.encoding)


def _lines(path: Path, separator: str, asked: ReadOptions) -> Iterator[list[str]]:
    with opened_text(path, asked.encoding) as text:
        last, ends = 0, False

        def unmarked() -> Iterator[str]:
            # A mark of the byte order means nothing in front of any row, since it means nothing in front of the first.
            # Inside a cell that goes on from the line before, it is text.
            for line in lines_of(text, path):
                begins_row = reader.line_num == last
                yield line.lstrip(BYTE_ORDER) if begins_row and line[0] == BYTE_ORDER else line

        reader = csv.reader(unmarked(), delimiter=separator, skipinitialspace=separator != " ", strict=True)
        try:
            for cells in reader:
                if reader.line_num > last + 1 and not asked.multiline_cells:
                    break
                last = reader.line_num
                yield cells
            else:
                return
        except csv.Error as error:
            # A quote that is open at the end is told as one that is open at the end of a line, so that what is said
            # does not depend on whether another line follows.
            ends = "unexpected end of data" not in str(error)
    one_line = asked.multiline_cells or (ends and reader.line_num == last + 1)
    raise DataError(_unmatched(path, last + 1) if one_line else goes_on(path, last + 1))


def _unmatched(path: Path, line: int) -> str:
    return f"{path}, line {line}: the quotes around the cells do not match, or a cell is too long."


def separator_of(sample: CsvSample, path: Path) -> str:
    """What separates the items of basket lines; refused if nothing does."""
    if sample.guessed and not any(len(row) > 1 for row in sample.rows):
        raise InputError(f"It is not clear which separator {path.name} has between items. Specify it with separator=.")
    return sample.separator
