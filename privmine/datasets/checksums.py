"""Checksums of a file's text, whatever way it is compressed and its lines end."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from pathlib import Path

from privmine.errors import DataError

_LINE_ENDS = re.compile(rb"[ \t\r]+(?=\n|\Z)")


def checksum(path: Path) -> str:
    """The SHA-256 of the text: decompressed, without blanks at the ends of lines, with a line feed at its end."""
    problem = ""
    try:
        content = path.read_bytes()
        text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (EOFError, zlib.error, gzip.BadGzipFile):
        problem = "is damaged: it cannot be decompressed"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if problem:
        raise DataError(f"{path} {problem}.")
    text = _LINE_ENDS.sub(b"", text)
    return hashlib.sha256(text if text.endswith(b"\n") else text + b"\n").hexdigest()


def verify(path: Path, expected: str, name: str) -> None:
    """Refuse a file whose text is not the one that the catalogue means.

    Args:
        path: the file.
        expected: the checksum that the catalogue gives.
        name: the dataset that it is to be.

    Raises:
        DataError: the checksums differ.
    """
    found = checksum(path)
    if found != expected:
        raise DataError(
            f"{path} is not the dataset {name}: the SHA-256 of its text is {found[:16]}…, but the "
            f"catalogue says {expected[:16]}…. Replace it by the right file. To use the file as it "
            "is, read it by its path."
        )
