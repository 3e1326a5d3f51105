"""The file of a store on disk: arrays as they are in memory, and a footer that says what and where they are.

    mark and version · arrays, each from a multiple of 64 bytes on · footer (JSON) · its length and checksum · mark

The footer has the size and the checksum of every array, and the last bytes have that of the footer and
of what is before the arrays. So a file that is cut, longer or of another version is refused when it is
opened, and so is one whose footer was changed. The arrays themselves are compared with their checksums
when `check` reads them all.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.store.shelf import mapped

#: No text begins like this, nor ends like this.
MARK: Final = b"\x93privmine\r\n\x1a"
_END: Final = b"\x94privmine\r\n\x1a"
VERSION: Final = 1
#: What stays the same in every version: the mark, and the number of the version.
_HEAD: Final = struct.Struct(f"<{len(MARK)}sI")
_TAIL: Final = struct.Struct(f"<QI{len(_END)}s")
_ALIGNMENT: Final = 64
_CHECKED_BYTES: Final = 1 << 22


@frozen
class Section:
    """An array in the file.

    Attributes:
        kind: the type of its numbers, such as "<i4".
        start: where it begins in the file.
        length: how many numbers it has.
        checksum: the CRC-32 of its bytes.
    """

    kind: str
    start: int
    length: int
    checksum: int

    @property
    def stop(self) -> int:
        """Where it ends in the file."""
        return self.start + self.length * np.dtype(self.kind).itemsize


def write_sections(out: BinaryIO, arrays: Mapping[str, Iterable[NDArray[Any]]], facts: Mapping[str, Any]) -> None:
    """Write a file.

    Args:
        out: where to.
        arrays: the parts of each array, one after another.
        facts: what else the footer holds.
    """
    head = _HEAD.pack(MARK, VERSION)
    out.write(head)
    place, sections = len(head), {}
    for name, parts in arrays.items():
        place += out.write(bytes(-place % _ALIGNMENT))
        start, length, checksum, kind = place, 0, 0, "<i8"
        for part in parts:
            array = np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<"))
            kind = array.dtype.str if array.dtype.itemsize > 1 else "|u1"
            checksum = zlib.crc32(array.data, checksum)
            place += out.write(array.data.cast("B"))
            length += len(array)
        sections[name] = {"kind": kind, "start": start, "length": length, "checksum": checksum}
    footer = json.dumps({**facts, "arrays": sections}, ensure_ascii=True, sort_keys=True).encode()
    out.write(footer)
    out.write(_TAIL.pack(len(footer), zlib.crc32(footer, zlib.crc32(head)), _END))


@frozen(eq=False)
class OpenFile:
    """A file that is whole by its sizes and its footer.

    Attributes:
        path: where it is.
        octets: all of its bytes, read where they are looked at.
        sections: its arrays by name.
        facts: what else the footer holds.
    """

    path: Path
    octets: NDArray[np.uint8]
    sections: Mapping[str, Section]
    facts: Mapping[str, Any]

    def array(self, name: str) -> NDArray[Any]:
        """An array, which is read from the file where it is looked at."""
        section = self.sections[name]
        return self.octets[section.start : section.stop].view(section.kind)

    def check(self, *names: str) -> None:
        """Read arrays and refuse the file if they are not what was written."""
        for name in names:
            octets, checksum = self.array(name).view(np.uint8), 0
            for start in range(0, len(octets), _CHECKED_BYTES):
                checksum = zlib.crc32(octets[start : start + _CHECKED_BYTES].data, checksum)
            if checksum != self.sections[name].checksum:
                raise changed(self.path)


def open_sections(path: Path, kinds: Mapping[str, str]) -> OpenFile:
    """Open a file and check its sizes and its footer; no array is read.

    Args:
        path: the file.
        kinds: the arrays that it must have, and the types that they may have, divided by blanks.
    """
    try:
        with path.open("rb") as file:
            octets = mapped(file, np.dtype(np.uint8), os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or 'the system refused it'}.") from None
    size, head, tail = len(octets), octets[: _HEAD.size].tobytes(), octets[-_TAIL.size :].tobytes()
    if len(head) < _HEAD.size or not head.startswith(MARK):
        raise DataError(f"{path} is not a privmine file; name one that privmine convert wrote, or rename this one.")
    (_, version) = _HEAD.unpack(head)
    if version != VERSION:
        raise DataError(
            f"{path} has version {version} of the format, and this privmine reads version {VERSION} only. Convert the "
            "data again with this version."
        )
    footer_length, checksum, end = _TAIL.unpack(tail) if len(tail) == _TAIL.size else (0, 0, b"")
    start = size - _TAIL.size - footer_length
    if end != _END or start < len(head):
        raise DataError(f"{path} is cut off: its end is missing. Copy it again, or convert the data again.")
    footer = octets[start : start + footer_length].tobytes()
    if zlib.crc32(footer, zlib.crc32(head)) != checksum:
        raise changed(path)
    try:
        facts = json.loads(footer)
        arrays = facts.pop("arrays")
        sections = {name: Section(**arrays[name]) for name in kinds}
        right = all(_lies_well(section, kinds[name], start) for name, section in sections.items())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # Written by something else, checksum and all.
        right = False
    if not right:
        raise changed(path)
    return OpenFile(path, octets, sections, facts)


def _lies_well(section: Section, kinds: str, end: int) -> bool:
    """Whether an array has one of these types, and lies between the head of the file and its footer."""
    whole = all(type(number) is int and number >= 0 for number in (section.start, section.length, section.checksum))
    return whole and section.kind in kinds.split() and _HEAD.size <= section.start and section.stop <= end


def changed(path: Path) -> DataError:
    """What is said of a file that is not what was written."""
    return DataError(f"{path} has been changed since it was written. Copy it again, or convert the data again.")
