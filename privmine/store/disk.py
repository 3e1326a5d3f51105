"""The counting store on disk: the rows of a file that is mapped into memory, not parsed.

Privacy: the file holds the rows as they were after reading: as sets, over the universe, and with at most
as many transactions of a unit as its header says. What was guessed or assumed when the source was read is
in the header and so reaches the receipt. Before a run is charged, `persist` reads the whole file once: it
must have its checksums, and every row must be a set of items of the universe. A change by accident is so
noticed before it counts. Whoever rewrites a file together with its checksums is not: the receipt states
that a file is taken at its word for the transactions of a unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from attrs import asdict, evolve
from numpy.typing import NDArray

from privmine.errors import InputError, PrivmineError
from privmine.model import Origin, Unit, Universe
from privmine.store.disk_format import OpenFile, changed, open_sections, write_sections
from privmine.store.memory import MemoryStore
from privmine.store.rows import Rows, slices
from privmine.store.transactions import Transactions

#: What the name of such a file ends in.
SUFFIX: Final = ".privmine"
_ARRAYS: Final = {"offsets": "<i8", "items": "<i4", "labels": "<i8 |u1", "label_ends": "<i8"}
#: Rows are checked this many items at a time.
_CHECKED_ITEMS: Final = 1 << 20


class DiskStore(MemoryStore):
    """The store in memory, on rows that are read from a file where they are looked at."""

    def __init__(self, path: Path, memory_limit: int | None = None) -> None:
        self._opened = _opened(path)
        rows = Rows(self._opened.array("offsets"), self._opened.array("items"))
        super().__init__(rows, self._opened.facts["items"], memory_limit)
        self._is_checked = False

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._opened.path, self._memory_limit)

    @property
    def opened(self) -> OpenFile:
        """The file."""
        return self._opened

    def persist(self) -> None:
        """Read all of the file once; one that is not what was written is refused."""
        if not self._is_checked:
            self._opened.check(*_ARRAYS)
            self._check_rows()
            self._is_checked = True
        super().persist()

    def _check_rows(self) -> None:
        """Make sure that each row is a set of items of the universe, whoever wrote the file."""
        offsets, items = self._rows.offsets, self._rows.items
        ends_meet = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(items)
        if not ends_meet or any(
            (np.diff(offsets[part.start : part.stop + 1]) < 0).any() for part in slices(len(offsets))
        ):
            raise changed(self._opened.path)
        for _, block in self._rows.blocks(_CHECKED_ITEMS):
            inside = block.items.min(initial=0) >= 0 and block.items.max(initial=-1) < self.item_count
            if not inside or not block.are_strictly_increasing():
                raise changed(self._opened.path)


def write_store(out: BinaryIO, transactions: Transactions) -> None:
    """Write transactions as the file of a store on disk."""
    store, labels = transactions.store, transactions.counted.labels
    if not isinstance(store, MemoryStore):
        raise InputError(f"A store of type {type(store).__name__} gives out counts only; its data cannot be written.")
    if labels.dtype.kind == "i":
        names, ends = labels, np.zeros(0, dtype=np.int64)
    else:
        texts = [text.encode() for text in labels.tolist()]
        names, ends = (
            np.frombuffer(b"".join(texts), dtype=np.uint8),
            np.cumsum([len(text) for text in texts], dtype=np.int64),
        )
    arrays = {
        "offsets": _parts(store.rows.offsets),
        "items": _parts(store.rows.items),
        "labels": iter([names]),
        "label_ends": iter([ends]),
    }
    unit = transactions.unit
    facts = {
        "items": len(labels),
        "given": transactions.universe.given,
        "private": transactions.universe.private,
        "unit": {"name": unit.name, "baskets": unit.baskets, "merged": unit.merged},
        "origin": asdict(transactions.origin),
    }
    write_sections(out, arrays, facts)


def open_store(path: Path, memory_limit: int | None = None) -> Transactions:
    """Open what `write_store` wrote; rows are read when they are counted.

    Raises:
        DataError: the file cannot be read, is not whole, or has another version.
    """
    store = DiskStore(path, memory_limit)
    opened = store.opened
    opened.check("labels", "label_ends")
    try:
        facts = opened.facts
        universe = Universe.of(_labels(opened), given=facts["given"] is True)
        unit, origin = Unit(**facts["unit"]), Origin(**{**facts["origin"], **_pairs(facts["origin"])})
        words = (unit.name, origin.layout, origin.source, *chain(*origin.guessed, *origin.columns))
    except (PrivmineError, TypeError, ValueError, KeyError, UnicodeError):
        # A file that was written by something else, checksums and all.
        flawed = True
    else:
        flawed = len(universe) != store.item_count or not all(isinstance(word, str) for word in words)
    if flawed:
        raise changed(path)
    if not unit.is_transaction:
        origin = evolve(origin, assumes=(*origin.assumes, _AT_ITS_WORD))
    opened_all = Transactions(universe, store, unit, origin)
    return opened_all.hiding_items() if facts.get("private") is True else opened_all


_AT_ITS_WORD: Final = (
    "the file was written by privmine and not altered on purpose since, so that it has no more transactions of a unit "
    "than it says"
)


def _opened(path: Path) -> OpenFile:
    opened = open_sections(path, _ARRAYS)
    labels = opened.sections["labels" if opened.sections["labels"].kind == "<i8" else "label_ends"].length
    # Whoever counts makes room for so many items, so that there must be as many labels in the file.
    items = opened.facts.get("items")
    if opened.sections["offsets"].length < 1 or type(items) is not int or items != labels:
        raise changed(path)
    return opened


def _labels(opened: OpenFile) -> NDArray[Any] | list[str]:
    labels, ends = opened.array("labels"), opened.array("label_ends").tolist()
    if labels.dtype.kind == "i":
        return np.array(labels)
    text = labels.tobytes()
    return [text[start:stop].decode() for start, stop in zip([0, *ends[:-1]], ends, strict=True)]


def _pairs(origin: dict[str, Any]) -> dict[str, Any]:
    """What the footer has as lists, as an origin takes it. Where the source was is not where this file is."""
    return {"guessed": dict(origin["guessed"]), "columns": dict(origin["columns"]), "reference": ""}


def _parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """An array part by part; at least one, which tells its type."""
    yield array[:0]
    for part in slices(len(array), _CHECKED_ITEMS):
        yield array[part]
