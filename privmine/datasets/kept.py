"""Generated data in the cache: compressed arrays, written as a whole or not at all."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from privmine.errors import DataError
from privmine.model import Universe, read_only
from privmine.store.rows import Rows


def save(path: Path, universe: Universe, rows: Rows) -> None:
    """Write rows over a universe of numbered items."""
    partial = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as stream:
            partial = stream.name
            np.savez_compressed(
                stream, labels=universe.labels, lengths=rows.lengths.astype(np.uint32), items=rows.items
            )
        os.replace(partial, path)  # noqa: PTH105 - as a whole or not at all
        partial = ""
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Is there room, and is it yours?") from None
    finally:
        if partial:
            Path(partial).unlink(missing_ok=True)


def load(path: Path) -> tuple[Universe, Rows]:
    """Read what `save` wrote; a damaged file is refused."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            labels, lengths, items = arrays["labels"], arrays["lengths"], arrays["items"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        raise DataError(f"{path} is damaged; delete it, and it is generated again.") from None
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Universe(read_only(labels)), Rows.of(offsets, items)
