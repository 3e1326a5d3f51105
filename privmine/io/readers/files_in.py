"""Files that are read: which ones a name stands for, what they are, and how their bytes become text."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias, TypeVar, cast

from privmine.errors import DataError, InputError
from privmine.files import at_home
from privmine.io.readers.foreign_files import HEAD, refuse_foreign
from privmine.store.disk import SUFFIX

T = TypeVar("T")
#: A file, a pattern, or several of them.
Source: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]

#: Is told how many bytes of files have been read; None where nobody asks.
_LISTENER: ContextVar[Callable[[int], None] | None] = ContextVar("bytes_read", default=None)

#: What Python raises where a file cannot be read.
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeError)
_GZIP = b"\x1f\x8b"
#: What a name may end in, and what it then holds.
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "text",
    ".dat": "fimi",
    SUFFIX: "store",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
}
#: How an address begins.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
#: What may stand between cells, and so is guessed; a comma before all others.
SEPARATORS = (",", ";", "\t", "|")
#: UTF-8, with or without a mark of the byte order at its beginning.
UTF_8 = "utf-8-sig"
#: The mark of the byte order, as a character.
BYTE_ORDER = "\ufeff"
#: Marks of the byte order, and the codecs that go by them; the longer ones first, since they begin alike.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, UTF_8),
)
#: How much of a text is looked at to tell what it is.
HEAD_BYTES = 1 << 18
#: How many characters a line of text may have, or an entry of a JSON array. A small file that gzip compressed may open
#: to a line that fills the memory.
LONGEST_LINE = 1 << 24


def are_files(source: Any) -> bool:
    """Whether something is a list of files: paths, or texts that end as names of files do.

    A list of other texts may be a basket, of which no message may quote an item.
    """
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and all(
            isinstance(one, PathLike) or (isinstance(one, str) and Path(one).name.lower().endswith((*FORMATS, ".gz")))
            for one in source
        )
    )


def all_files_of(source: Source) -> tuple[Path, ...]:
    """The files that a name, a pattern or several of them stand for.

    Privacy: a file that is named twice is refused. Its transactions would count twice, and one person's would then
    count for more than the noise allows.
    """
    if isinstance(source, str | PathLike):
        return files_of(source)
    found = tuple(path for one in source for path in files_of(one))
    seen: set[Any] = set()
    for path in found:
        identity = reading(path, lambda: (path.stat().st_dev, path.stat().st_ino))  # noqa: B023 - called at once
        if identity in seen:
            raise InputError(f"{path} is named twice, and its transactions would count twice. Name each file once.")
        seen.add(identity)
    kinds = sorted({ending(path) or "no ending" for path in found})
    if len({format_of(path) for path in found}) > 1:
        raise InputError(
            f"The files are of different formats ({', '.join(kinds)}). Read files of one format at a time."
        )
    return found


def files_of(source: str | PathLike[str]) -> tuple[Path, ...]:
    """The files that a name or a pattern stands for, in the order of their names."""
    if _ADDRESS.match(fspath(source)):
        # The address itself may hold a password.
        raise InputError("This is an address, and nothing is read from the network: download the file, and name that.")
    path = at_home(source)
    if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        raise InputError(
            f"{path} is no file on a disk: standard input and pipes cannot be read, since data is looked at more than "
            "once. Save it in a file, and name that."
        )
    if reading(path, path.is_dir):
        raise InputError(f"{path} is a directory; name its files with a pattern, such as '{path}/*.parquet'.")
    if path.exists() or not has_magic(str(path)):
        return (path,)
    names = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - the pattern may be absolute
    found = tuple(Path(name) for name in names if Path(name).is_file())
    if not found:
        raise DataError(f"No file matches {path}.")
    return found


def title_of(source: Source) -> str:
    """What messages call files; of several, neither how many they are nor what they are called."""
    if isinstance(source, str | PathLike):
        return fspath(source)
    return f"the {ending(Path(source[0]))} files"


def name_of(source: Source) -> str:
    """What a receipt calls files: a pattern as it was written, however many files match it, else the file's name.

    Privacy: a shell that expands a pattern names every file, of which one may be there for one person only. So
    several files are told by the end of their names.
    """
    if not isinstance(source, str | PathLike):
        return f"several {ending(Path(source[0]))} files"
    path = at_home(source)
    return str(source) if has_magic(str(path)) and not path.exists() else path.name


def format_of(path: Path) -> str:
    """What a file holds, by the end of its name alone; "text" if that tells nothing."""
    return FORMATS.get(ending(path), "text")


def check_text(path: Path) -> None:
    """Refuse a file that cannot be opened, or that is no text by its first bytes."""

    def work() -> None:
        held = head_if_open(path, HEAD)
        if held is not None:
            refuse_foreign(path, held)
        with opened(path):
            pass

    reading(path, work)


def head_if_open(path: Path, count: int) -> bytes | None:
    """The first bytes of a file that this process has open already; None if it has not.

    Whoever opens a file once more and closes it drops all locks that the process has on it, as POSIX has it. So the
    first bytes of a database, which its user may be writing to, are read without that.
    """
    try:
        wanted, descriptors = path.stat(), os.listdir("/dev/fd")  # noqa: PTH208 - numbers, not files
    except (OSError, ValueError):
        return None  # where there are no such locks, there is no such folder
    for descriptor in map(int, descriptors):
        with suppress(OSError):  # the one that listed the folder is closed by now, and some cannot be read from
            if os.path.samestat(os.fstat(descriptor), wanted):
                return os.pread(descriptor, count, 0)
    return None


def ending(path: Path) -> str:
    """The end of a name in lower case, without .gz."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def reading(path: Path, work: Callable[[], T], encoding: str | None = None) -> T:
    """Work that reads a file; what goes wrong is told in words."""
    try:
        return work()
    except UNREADABLE as error:
        problem = problem_of(error, encoding)
    # Here, not in the except block: the context of the error would carry bytes of the file.
    raise DataError(f"{path} {problem}.")


def read_on(path: Path, parts: Iterator[T], encoding: str | None = None) -> Iterator[T]:
    """The parts of a file one after another; what goes wrong is told in words."""
    try:
        yield from parts
        return
    except UNREADABLE as error:
        problem = problem_of(error, encoding)
    raise DataError(f"{path} {problem}.")


def problem_of(error: Exception, encoding: str | None) -> str:
    """What an error means for the file, without what it says."""
    if isinstance(error, UnicodeError):
        return not_text(encoding)
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, IsADirectoryError):
        return "is a directory, not a file"
    if isinstance(error, PermissionError):
        return "cannot be read: permission denied"
    if isinstance(error, EOFError):
        return "is cut off: the gzip stream ends before its end mark. Fetch or compress the file again"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return "is a corrupt gzip file. Fetch or compress the file again"
    return f"cannot be read: {getattr(error, 'strerror', None) or 'the system refused it'}"


@contextmanager
def counting_bytes(listener: Callable[[int], None]) -> Iterator[None]:
    """Tell a listener how many bytes are read of files.

    Privacy: bytes of a file whose size its owner sees anyway. How many rows or transactions they make is not told.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def advance(count: int) -> None:
    """Tell the listener, if there is one, that so many bytes more were read."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(count)


class _MeteredFile(io.FileIO):
    """A file that tells how much of it is read."""

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        advance(count or 0)
        return count

    def readall(self) -> bytes:
        data = super().readall()
        advance(len(data))
        return data


def metered(path: Path) -> BinaryIO:
    """A file to read from, which tells the listener how much is read."""
    if _LISTENER.get() is None:
        return path.open("rb")
    return io.BufferedReader(_MeteredFile(path))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, uncompressed if gzip compressed them, which the content tells and not the name.

    Privacy: the two bytes that tell it begin no UTF-8 text, so that no row decides.
    """
    if "\0" in str(path):
        raise DataError("The file cannot be read: its name holds a zero byte.")
    with metered(path) as file:
        compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        with gzip.GzipFile(fileobj=file) if compressed else nullcontext(file) as plain:
            refuse_foreign(path, plain.read(HEAD))
            plain.seek(0)
            yield cast(BinaryIO, plain)


@contextmanager
def opened_text(path: Path, encoding: str | None) -> Iterator[TextIO]:
    """The text of a file, with its ends of lines as they are."""
    known = encoding_of(path, encoding)
    with opened(path) as file, io.TextIOWrapper(file, encoding=known, newline="") as text:
        yield text


def encoding_of(path: Path, encoding: str | None) -> str:
    """The codec for a text file: as it is said, else by a mark of the byte order, else UTF-8.

    Where an encoding is said that such a mark belongs to, the mark is no part of the text either.
    """
    with opened(path) as file:
        head = file.read(max(len(mark) for mark, _ in _MARKS))
    marked = next((codec for mark, codec in _MARKS if head.startswith(mark)), UTF_8)
    if encoding is None:
        return marked
    said = codecs.lookup(encoding).name
    return marked if said.startswith(marked.removesuffix("-sig")) else said


def not_text(encoding: str | None) -> str:
    """What is wrong with bytes that do not decode."""
    if encoding is None:
        return "is not UTF-8 text; specify its encoding with encoding=, such as cp1252, latin-1 or utf-16"
    return f"is not text in the encoding {encoding}; specify another one with encoding="


def lines_of(text: TextIO, path: Path) -> Iterator[str]:
    """The lines of a text; one that is too long is refused before it is in memory."""
    for line in iter(partial(text.readline, LONGEST_LINE), ""):
        if len(line) >= LONGEST_LINE:
            raise DataError(f"{path}: {too_long()}.")
        yield line


def too_long(most: int = LONGEST_LINE) -> str:
    """What is said of a line that has so many characters or more."""
    return f"a line is longer than {most >> 20} MiB. Check that the file is text with one row a line"


def head_of(path: Path) -> bytes:
    """The first bytes of a file."""

    def work() -> bytes:
        with opened(path) as file:
            return file.read(HEAD_BYTES)

    return reading(path, work)


def is_fimi(path: Path) -> bool:
    """Whether a file begins with nothing but digits and blanks, and so is FIMI text."""
    return not head_of(path).translate(None, b"0123456789 \t\r\n")
