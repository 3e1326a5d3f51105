"""One door for data that is written: the end of the name tells the format, a layout how baskets lie in it.

What is written is the exact data, as private as what was read.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final, cast

from attrs import frozen

from privmine.errors import InputError
from privmine.files import check_place, written
from privmine.io.writers import parquet_out, text_out
from privmine.io.writers.text_out import Writer
from privmine.store.disk import SUFFIX, write_store
from privmine.store.memory import MemoryStore
from privmine.store.transactions import Transactions


def write(transactions: Transactions, path: str | PathLike[str], *, layout: str | None = None) -> tuple[Path, ...]:
    """Write a copy of the data to a file that `read` can read; it is exact, and as private as the data.

    The end of the name tells the format, and the layout unless one is given: .csv and .tsv are a long
    table, .parquet and .jsonl have a list in each row, .txt has basket lines, .dat is FIMI text. FIMI
    text holds numbers, so labels go to a second file, named after the first with .names at its end.
    Text is compressed if its name ends in .gz. A .privmine file is a store on disk: opening it parses nothing, and it
    keeps the unit, the universe and how the source was read. Only the owner may read what is written.

    Args:
        transactions: the data; what `read` returns.
        path: where to write; an existing file is replaced, as a whole or not at all.
        layout: "long", "list", "one-hot", "baskets" or "fimi".

    Returns:
        The files that were written.

    Raises:
        InputError: the file cannot be written, or its format cannot hold these labels.
    """
    if not isinstance(transactions, Transactions):
        raise InputError("Only transactions can be written; make them with privmine.read first.")
    place = target(path, layout)
    if place.writer is None:
        return (_write_store(place.path, transactions),)
    unit, store, universe = transactions.unit, transactions.store, transactions.counted
    if unit.baskets > 1:
        raise InputError(
            f"The copy would not tell whose transaction is whose, and a {unit.name} could no longer be protected; "
            f"write the data without a unit, and give {unit.name} as the unit where the data is mined."
        )
    if not isinstance(store, MemoryStore):
        raise InputError(f"A store of type {type(store).__name__} gives out counts only; its data cannot be written.")
    labelled = place.layout == "fimi" and not text_out.are_fimi(universe)
    try:
        if labelled:
            check_place(place.names)
            with written(place.names, public=False) as file:
                text_out.write_names(file, universe)
        with _opened(place.path) as file:
            place.writer(file, universe, store.rows)
    except OSError as error:
        raise InputError(f"Cannot write {place.path}: {error.strerror or 'the system refused it'}.") from None
    return (place.path, place.names) if labelled else (place.path,)


def _write_store(path: Path, transactions: Transactions) -> Path:
    try:
        with written(path, public=False) as file:
            write_store(file, transactions)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or 'the system refused it'}.") from None
    return path


@frozen
class Destination:
    """Where data goes, in which format and layout, and what writes it; None for a store on disk."""

    path: Path
    suffix: str
    layout: str
    writer: Writer | None

    @property
    def names(self) -> Path:
        """Where labels go that FIMI text cannot hold."""
        return self.path.with_name(f"{self.path.name}.names")

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that may be written."""
        return (self.path, self.names) if self.layout == "fimi" else (self.path,)


def target(path: str | PathLike[str], layout: str | None = None) -> Destination:
    """Where data goes and what writes it there; what cannot be done is refused before any data is read."""
    path = Path(path)
    suffix = Path(path.stem if _is_compressed(path) else path.name).suffix.lower()
    known = FORMATS.get(suffix)
    if known is None:
        raise InputError(
            f"Cannot tell a format from {path.name!r}; end it in one of {', '.join(FORMATS)}, or in .csv.gz and so on."
        )
    if layout is None:
        layout = next(iter(known))
    if layout not in known:
        others = ", ".join(end for end, layouts in FORMATS.items() if layout in layouts)
        where = f"; that layout is for {others}" if others else ""
        raise InputError(f"A {suffix} file is written as {' or '.join(known)}, not as {layout}{where}.")
    if suffix in (".parquet", SUFFIX) and _is_compressed(path):
        what = "A Parquet file is compressed already" if suffix == ".parquet" else "A privmine file is not compressed"
        raise InputError(f"{what}; name it {path.stem}.")
    if suffix == ".parquet":
        parquet_out.pyarrow()
    check_place(path)
    return Destination(path, suffix, layout, known[layout])


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file to write to, through gzip if its name says so; the same data gives the same bytes."""
    with written(path, public=False) as file:
        if not _is_compressed(path):
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def _separated(separator: str) -> dict[str, Writer | None]:
    return {
        "long": partial(text_out.write_long, separator),
        "one-hot": partial(text_out.write_one_hot, separator),
        "baskets": partial(text_out.write_baskets, separator),
    }


#: The layouts of each format, the usual one first.
FORMATS: Final[Mapping[str, Mapping[str, Writer | None]]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".parquet": {
        "list": parquet_out.write_list,
        "long": parquet_out.write_long,
        "one-hot": parquet_out.write_one_hot,
    },
    ".jsonl": {"list": text_out.write_json_list, "long": text_out.write_json_long},
    ".txt": {"baskets": partial(text_out.write_baskets, ",")},
    ".dat": {"fimi": text_out.write_fimi},
    SUFFIX: {"store": None},
}
