"""Where data is looked for, and where it is kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

DATA_VARIABLE = "PRIVMINE_DATA"
CACHE_VARIABLE = "PRIVMINE_CACHE"


def data_directory(data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The directory that the user named, here or by the environment variable PRIVMINE_DATA."""
    named = data_dir if data_dir is not None else os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser() if named else None


def cache_directory() -> Path:
    """Where fetched and generated data is kept: PRIVMINE_CACHE, else the system's place for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "privmine" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "privmine"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privmine"


def places(data_dir: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The directories to look in, the user's first."""
    named = data_directory(data_dir)
    if named is not None:
        yield named
    yield cache_directory()


def find_file(stem: str, endings: tuple[str, ...], data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The first file of that name with one of the endings, or None."""
    for place in places(data_dir):
        for ending in endings:
            path = place / (stem + ending)
            if path.is_file():
                return path
    return None
