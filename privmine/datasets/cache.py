"""Generated data in the cache: arrays in as few bytes as they need, written as a whole or not at all.

Random item numbers hardly compress: zlib would take a third of the time that the data takes to generate,
to save a tenth of its size.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError, InputError
from privmine.model import Universe, read_only
from privmine.store.memory import MemoryStore
from privmine.store.rows import Rows
from privmine.store.transactions import Transactions


def save(path: Path, transactions: Transactions) -> None:
    """Write transactions over items that are whole numbers from 0 on, in increasing order."""
    labels, store = transactions.universe.labels, transactions.store
    if not isinstance(store, MemoryStore) or labels.dtype.kind != "i" or (np.diff(labels, prepend=-1) < 1).any():
        raise InputError(
            "Only transactions in memory, over items numbered from 0 on in increasing order, can be kept in the cache. "
            "Renumber the items, or drop kept_as."
        )
    rows = store.rows
    partial = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as stream:
            partial = stream.name
            np.savez(
                stream,
                labels=_packed(np.diff(labels, prepend=0)),
                lengths=_packed(rows.lengths),
                items=_packed(rows.items),
            )
        os.replace(partial, path)  # noqa: PTH105 - as a whole or not at all
        partial = ""
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. Check that there is space, and that you may write there."
        ) from None
    finally:
        if partial:
            Path(partial).unlink(missing_ok=True)


def load(path: Path) -> Transactions:
    """Read what `save` wrote; a damaged file is refused."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            labels, lengths, items = (_unpacked(arrays[name]) for name in ("labels", "lengths", "items"))
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile, zlib.error):
        raise DataError(f"{path} is damaged. Delete it; it is then generated again.") from None
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    universe = Universe(read_only(np.cumsum(labels, dtype=np.int64)))
    return Transactions(universe, MemoryStore(Rows.of(offsets, items.view(np.int32)), len(universe)))


def _packed(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Numbers below 2³² as rows of bytes, the lowest first, as many as the largest number has."""
    width = max((int(values.max(initial=0)).bit_length() + 7) // 8, 1)
    return np.ascontiguousarray(values.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width])


def _unpacked(packed: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The numbers again."""
    whole = np.zeros((len(packed), 4), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<u4").ravel().astype(np.uint32, copy=False)
