"""Reading FIMI text: one transaction a line, items as non-negative integers between blanks.

The file is read as bytes and taken apart by array arithmetic, a block of whole lines at a time: three
times as fast as numpy's own text parser, which would also take negative numbers, and saturate at
large ones without a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.io.readers.files_in import LONGEST_LINE, opened, read_on, too_long
from privmine.model import IntArray
from privmine.store.rows import offsets_of, slices
from privmine.store.shelf import Column, Shelf
from privmine.store.transactions import Transactions

#: How much is read at a time, at most the longest line, and how much of it is taken apart at a time.
_READ_BYTES = 1 << 24
_BLOCK_BYTES = 1 << 18
#: Every number of 18 digits fits in 64 bits.
_MOST_DIGITS = 18
#: How many bits of four bytes belong to what is before a number, by the number of its digits.
_OTHER_BITS = np.array([8 * max(4 - digits, 0) for digits in range(_MOST_DIGITS + 1)], dtype=np.uint32)
_ZERO, _TAB, _NEWLINE, _RETURN, _BLANK = (np.uint8(ord(byte)) for byte in "0\t\n\r ")


def read_fimi(path: str | os.PathLike[str], items: Sequence[Any] | NDArray[Any] | None = None) -> Transactions:
    """Read a file of FIMI text, plain or compressed by gzip (told by its content, not by its name).

    Every line is a transaction, an empty line an empty one; the last line need not end with a
    newline. Lines may end with LF or CRLF.

    Args:
        path: the file.
        items: the public universe in the order that breaks ties; items outside it are dropped.
            Without it the universe is what occurs in the file, in numeric order.

    Raises:
        DataError: the file cannot be read, or is not FIMI text. The message names the file and the
            line, never what is in it.
    """
    shelf = Shelf()
    return Transactions.from_rows(*fimi_rows([Path(path)], shelf), items, shelf=shelf)


def fimi_rows(paths: Sequence[Path], shelf: Shelf) -> tuple[IntArray, NDArray[np.integer[Any]]]:
    """Where each line's numbers start in files of FIMI text, and the numbers of all lines."""
    labels, sizes = shelf.column(np.int32), shelf.column(np.int32)
    for path in paths:
        for values, counts in read_on(path, _parsed(path)):
            if values.dtype != np.int32 and labels.kind == np.int32:
                labels = _widened(labels, shelf)
            labels.add(values)
            sizes.add(counts)
    return offsets_of(sizes.finish(), shelf), labels.finish()


def _widened(labels: Column, shelf: Shelf) -> Column:
    """The same numbers with room for larger ones."""
    wide, narrow = shelf.column(np.int64), labels.finish()
    for part in slices(len(narrow)):
        wide.add(narrow[part])
    return wide


def _parsed(path: Path) -> Iterator[tuple[NDArray[np.integer[Any]], IntArray]]:
    """The items of some lines after another, and how many each line has."""
    lines = 0
    for data in _whole_lines(path):
        text, start = np.frombuffer(data, dtype=np.uint8), 0
        while start < len(text):
            stop = _line_end(data, start + _BLOCK_BYTES)
            block = text[start:stop]
            if block[-1] != _NEWLINE:
                block = np.append(block, _NEWLINE)
            items = None if _is_foreign(block).any() else _block_items(block)
            if items is None:
                raise DataError(_complaint(block, str(path), before=lines))
            yield items
            lines += len(items[1])
            start = stop


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The bytes of a file, many whole lines at a time; a line that is too long is refused before it is in memory."""
    rest = b""
    with opened(path) as file:
        while part := file.read(_READ_BYTES):
            first, end = part.find(b"\n"), part.rfind(b"\n") + 1
            if len(rest) + (first if end else len(part)) >= LONGEST_LINE:
                raise DataError(f"{path}: {too_long()}.")
            if end:
                yield rest + part[:end]
                rest = b""
            rest += part[end:]
    if rest:
        yield rest


def _line_end(data: bytes, position: int) -> int:
    """The end of the line at a position, or that of the text."""
    found = data.find(b"\n", position)
    return len(data) if found < 0 else found + 1


def _is_digit(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    # What comes before "0" wraps around to large numbers.
    digit: NDArray[np.bool_] = (text - _ZERO) < 10
    return digit


def _is_foreign(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes are no part of FIMI text; a carriage return is one at the end of a line only."""
    foreign = ~_is_digit(text)
    foreign &= (text != _BLANK) & (text != _NEWLINE) & (text != _TAB)
    returns = np.flatnonzero(text == _RETURN)
    if len(returns):
        foreign[returns] = np.append(text, _NEWLINE)[returns + 1] != _NEWLINE
    return foreign


def _block_items(block: NDArray[np.uint8]) -> tuple[NDArray[np.integer[Any]], IntArray] | None:
    """The items of a clean block of whole lines, and how many each line has; None if a number is too long."""
    separators = np.flatnonzero(block < _ZERO)
    lengths = np.empty_like(separators)
    lengths[0] = separators[0]
    np.subtract(separators[1:], separators[:-1], out=lengths[1:])
    lengths[1:] -= 1
    if lengths.max() > _MOST_DIGITS:
        return None
    ends_number = lengths > 0
    numbers = np.cumsum(ends_number)[block[separators] == _NEWLINE]
    counts = np.empty_like(numbers)
    counts[0] = numbers[0]
    np.subtract(numbers[1:], numbers[:-1], out=counts[1:])
    # Zeros in front, since four bytes are looked at where a number may have fewer before it.
    padded = np.concatenate([np.zeros(4, dtype=np.uint8), block])
    four_bytes = np.ndarray((len(block) + 1,), dtype="<u4", buffer=padded, strides=(1,))
    return _numbers(four_bytes, separators[ends_number], lengths[ends_number]), counts


def _numbers(four_bytes: NDArray[np.uint32], ends: IntArray, lengths: IntArray) -> NDArray[np.integer[Any]]:
    """The values of the numbers that end before the given places, four digits at a time.

    The digits of a number are added up within one 32-bit word, where the last digit is the highest
    byte: neighbours to pairs, pairs to four. Words of 32 bits are multiplied several at a time.
    """
    words = four_bytes[ends]
    words &= np.uint32(0x0F0F0F0F)
    others = _OTHER_BITS[lengths]
    words >>= others
    words <<= others
    for width, mask in ((8, 0x00FF00FF), (16, 0x0000FFFF)):
        words *= np.uint32((10 ** (width // 8) << width) + 1)
        words >>= np.uint32(width)
        words &= np.uint32(mask)
    longer = np.flatnonzero(lengths > 4)
    if not len(longer):
        return words.view(np.int32)
    before = _numbers(four_bytes, ends[longer] - 4, lengths[longer] - 4)
    if before.max() < (1 << 31) // 10**4 - 1:
        words[longer] += before.astype(np.uint32) * np.uint32(10**4)
        return words.view(np.int32)
    values = words.astype(np.int64)
    values[longer] += before.astype(np.int64) * 10**4
    return values


def _complaint(text: NDArray[np.uint8], name: str, *, before: int) -> str:
    """Find the first line that is wrong, after so many others, and say so without saying what it holds."""
    foreign = np.flatnonzero(_is_foreign(text))
    if len(foreign) and not text[foreign].all():
        return f"{name} is a binary file, not FIMI text."
    ends = np.flatnonzero(~np.append(_is_digit(text), False))
    too_long = ends[np.diff(ends, prepend=-1) > _MOST_DIGITS + 1]
    places = [int(found[0]) for found in (foreign, too_long) if len(found)]
    line = before + 1 + int(np.count_nonzero(text[: min(places)] == _NEWLINE))
    if len(foreign) and int(foreign[0]) == min(places):
        return f"{name}, line {line}: not FIMI text. A line must consist of non-negative integers between blanks."
    return f"{name}, line {line}: a number has more than {_MOST_DIGITS} digits."
