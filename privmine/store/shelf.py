"""Long arrays that are made part by part: in memory, or in temporary files where memory is limited.

A temporary file has no name, so that it is gone with the process, and only its owner could ever read
it. It lies in the folder for temporary files (TMPDIR); on some machines that is memory as well.
"""

from __future__ import annotations

import re
from tempfile import TemporaryFile
from typing import IO, Any
from weakref import WeakSet, finalize

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privmine.errors import InputError

#: Which part of the limit the arrays may take that are being made: joining them, sorting and counting need the rest.
_PART = 8


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([KMGT]?)(i?)B?", re.IGNORECASE)
#: With less, there is no room for the program itself.
_SMALLEST = 100 * 10**6


def byte_count(size: Any) -> int:
    """How many bytes a size such as "2GB" or "500 MiB" is; a number stands for bytes."""
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is not None:
        base = 1024 if found[3] else 1000
        count = (
            int(float(found[1]) * base ** "KMGT".find(found[2].upper() or "?") * base) if found[2] else int(found[1])
        )
    elif isinstance(size, int) and not isinstance(size, bool):
        count = size
    else:
        raise InputError(f"memory_limit= is a size such as 2GB or 500MB, not {size!r}.")
    if count < _SMALLEST:
        raise InputError(f"memory_limit= must be at least {_SMALLEST // 10**6}MB; the program needs that much.")
    return count


class Shelf:
    """Makes columns, and moves all of them to files once they take more memory than they may.

    Args:
        limit: about how much memory the process may take, in bytes; None for no limit.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._held = 0
        self._columns: WeakSet[Column] = WeakSet()

    @property
    def is_full(self) -> bool:
        """Whether columns go to files."""
        return self.limit is not None and self._held > self.limit // _PART

    def column(self, kind: DTypeLike) -> Column:
        """A new column of numbers of this type."""
        column = Column(self, np.dtype(kind))
        self._columns.add(column)
        return column

    def hold(self, size: int) -> None:
        """Note that a column takes so much more; past the limit all columns go to files."""
        self._held += size
        if self.is_full:
            for column in self._columns:
                column.move()


class Column:
    """An array that is made part by part."""

    def __init__(self, shelf: Shelf, kind: np.dtype[Any]) -> None:
        self._shelf = shelf
        #: The type of the numbers.
        self.kind = kind
        self._parts: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, values: NDArray[Any]) -> None:
        """Append values; they are copied where they are part of a larger array, which then need not stay."""
        part = values.astype(self.kind, copy=values.base is not None and self._file is None)
        self._length += len(part)
        if self._file is None:
            self._parts.append(part)
            self._shelf.hold(part.nbytes)
        else:
            self._file.write(np.ascontiguousarray(part).data)

    def move(self) -> None:
        """Go on in a file."""
        if self._file is None:
            self._file = TemporaryFile(prefix="privmine-")  # noqa: SIM115 - open as long as the column
            finalize(self, self._file.close)
            while self._parts:
                self._file.write(np.ascontiguousarray(self._parts.pop(0)).data)

    def finish(self) -> NDArray[Any]:
        """All values; nothing can be added any more. A file is there as long as the array is used."""
        if self._file is not None:
            with self._file:
                self._file.flush()
                return mapped(self._file, self.kind, self._length)
        if len(self._parts) == 1:
            return self._parts.pop()
        whole = np.empty(self._length, dtype=self.kind)
        done = 0
        self._parts.reverse()
        # One part is let go after another: memory is taken up by the new array as it is filled, not before.
        while self._parts:
            part = self._parts.pop()
            whole[done : done + len(part)] = part
            done += len(part)
        return whole


def mapped(file: IO[bytes], kind: np.dtype[Any], length: int) -> NDArray[Any]:
    """The numbers in a file, as an array that is read from it where it is looked at; the file may be closed then."""
    if not length:
        return np.zeros(0, dtype=kind)  # nothing cannot be mapped
    return np.memmap(file, dtype=kind, mode="r", shape=(length,)).view(np.ndarray)
