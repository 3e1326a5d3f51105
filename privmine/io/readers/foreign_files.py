"""Files that are neither text nor what their name says, told by their first bytes, with what to do about them.

Privacy: no text begins like this. Each mark has a byte that UTF-8 cannot begin with or control
characters, and nothing below it is looked at to decide. Formats whose first bytes could be a line of
text are told by the end of the name alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from privmine.errors import DataError

#: How many bytes are looked at.
HEAD = 4096
#: A byte that is no part of a line of printable text.
_CONTROL = rb"[\x00-\x08\x0e-\x1f]"


@frozen
class _Kind:
    """A kind of file: how it begins, as no text does, what it is, what to do, and the end of its name if that tells."""

    begins: re.Pattern[bytes]
    name: str
    advice: str
    ending: str | None = None


def _kind(begins: bytes, name: str, advice: str, ending: str | None = None) -> _Kind:
    return _Kind(re.compile(begins, re.DOTALL), name, advice, ending)


_SHEET = "Save the sheet with the data as CSV, and read that."
_OLD = "Save it as .xlsx without a password, or the sheet with the data as CSV, and read that."
_UNPACK = "Unpack it, and read the file inside; of compressed files only .gz is read."
_TABLE = "Save the table as Parquet or CSV, or load it as a frame, and pass the frame to pm.read."
_QUERY = 'Query it: sql="select …", database="{name}".'
_ZIP = rb"PK(\x03\x04|\x05\x06)"

_KINDS = (
    _kind(_ZIP + rb".{26}mimetypeapplication/vnd\.oasis\.opendocument", "an OpenDocument file", _SHEET),
    _kind(_ZIP + rb".*(\[Content_Types\]\.xml|xl/)", "an Excel workbook", "Rename it so that its name ends in .xlsx."),
    _kind(_ZIP, "a zip archive", _UNPACK),
    _kind(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook, or one with a password", _OLD),
    _kind(rb"SQLite format 3\x00", "a SQLite database", _QUERY),
    _kind(rb".{8}DUCK..\x00{6}", "a DuckDB database", _QUERY),
    _kind(rb"ARROW1\x00\x00", "an Arrow or Feather file", "Rename it so that its name ends in .feather or .arrow."),
    _kind(rb"FEA1\x00", "a Feather file", _TABLE),
    _kind(rb"Obj\x01" + _CONTROL, "an Avro file", _TABLE),
    _kind(rb"ORC" + _CONTROL * 2, "an ORC file", _TABLE, ".orc"),
    _kind(rb"\x89HDF\r\n", "an HDF5 file", _TABLE),
    # Both a page and the footer begin with a small number in Thrift.
    _kind(rb"PAR1\x15[\x00-\x08]", "a Parquet file", "Rename it so that its name ends in .parquet."),
    # Its first line is text, so that only the name tells it.
    _kind(rb"(?!)", "a PDF document", "Export the data behind it, for example as CSV.", ".pdf"),
    _kind(rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    _kind(rb"\x28\xb5\x2f\xfd", "a file compressed by zstd", _UNPACK),
    _kind(rb"\xfd7zXZ\x00", "a file compressed by xz", _UNPACK),
    # After a check sum comes the upper part of a number below 900,000.
    _kind(rb"BZh[1-9]1AY&SY[^\r\n]{4}[\x00-\x06]", "a file compressed by bzip2", _UNPACK),
)


def refuse_foreign(path: Path, head: bytes) -> None:
    """Refuse a file whose first bytes, or the end of whose name, show that it is neither text nor Parquet."""
    for kind in _KINDS:
        if kind.begins.match(head) or path.suffix.lower() == kind.ending:
            raise DataError(f"{path} is {kind.name}. {kind.advice.format(name=path.name)}")
