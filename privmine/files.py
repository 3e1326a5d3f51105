"""Writing files whole or not at all: a reader finds the old file or the whole new one, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from privmine.errors import InputError


def at_home(path: str | os.PathLike[str]) -> Path:
    """A path whose ~ is the home folder, as a shell reads it."""
    found = Path(path)
    try:
        return found.expanduser()
    except RuntimeError:  # nobody has that name, so that it is a name like any other
        return found


def check_place(path: Path) -> None:
    """Make sure that a file could be written here, before any work is done for it."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a directory. Name a file in it.")
        if not path.parent.is_dir():
            raise InputError(f"There is no directory {path.parent}. Create it first, or choose another path.")
        handle, probe = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        Path(probe).unlink()
    except OSError as error:
        raise InputError(f"Cannot write to {path.parent}: {error.strerror}.") from None
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{path} exists and cannot be overwritten. Choose another path.")


def spare(target: Path, sources: Iterable[str | Path]) -> None:
    """Refuse to write over a file that is read."""
    if any(_are_one(at_home(source), target) for source in sources):
        raise InputError(f"{target} is the file that is read, and writing would replace it. Choose another name.")


def _are_one(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
    except OSError:  # one of them is not there
        return False


@contextmanager
def written(path: Path, *, public: bool) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when the block ends and vanishes if the block fails.

    Args:
        path: where it belongs.
        public: whether the usual rights apply; otherwise only its owner may read it.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner only.
        if public:
            Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
