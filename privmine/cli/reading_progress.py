"""How much of the files is read, and how long the rest will take: on a terminal only.

Privacy: what is shown is the share of a file's bytes, and the size of the file is what its owner sees in any listing.
No number of rows, transactions or items is shown, nothing is shown in a pipe, and nothing of it is kept.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob

from attrs import define, field
from rich.console import Console
from rich.status import Status

from privmine.files import at_home
from privmine.io.readers.files_in import counting_bytes

_READING = "Reading the data …"
#: Seconds between two looks at the clock that change the screen, and before the first guess of what is left.
_PAUSE = 0.25
_PATIENCE = 1.0
#: Before so much is read, most of the time went into loading and into looking at the first lines.
_FIRST_SHARE = 0.03


@contextmanager
def reading_progress(paths: tuple[str, ...]) -> Iterator[None]:
    """Show the share of the files that is read, and the time left; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(_READING) as status, counting_bytes(_Meter(status, _size(paths))):
        yield


def _size(paths: tuple[str, ...]) -> int:
    """How many bytes the files have; 0 if that is not known."""
    try:
        matches = [(at_home(path), glob(str(at_home(path)), recursive=True)) for path in paths]  # noqa: PTH207 - absolute
        return sum(at_home(name).stat().st_size for path, names in matches for name in names or [str(path)])
    except (OSError, ValueError):
        return 0  # what is wrong with a name is for the reader to tell


@define
class _Meter:
    """Changes the words on the screen as bytes come in."""

    status: Status
    size: int
    done: int = 0
    started: float = field(factory=time.monotonic)
    shown: float = 0.0

    def __call__(self, count: int) -> None:
        self.done += count
        now = time.monotonic()
        if now - self.shown >= _PAUSE:
            self.shown = now
            self.status.update(words(self.done, self.size, now - self.started))


def words(done: int, size: int, seconds: float) -> str:
    """What to show after so many bytes of so many, and so many seconds.

    The first lines of a file are read more than once, so that more bytes than there are may be read in the end.
    """
    if not size or seconds < _PATIENCE or not done:
        return _READING
    share = min(done / size, 0.99)
    if share < _FIRST_SHARE:
        return f"{_READING} {share:.0%}"
    left = seconds * (1 - share) / share
    time_left = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    return f"{_READING} {share:.0%}, about {time_left} left"
