"""Baskets that are no table: basket lines, FIMI text, matrices and Python collections.

Their items are labels or the numbers 0, 1, 2, …, to which `names` gives labels; whose a basket is
comes as a sequence with an entry for each.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from privmine.errors import DataError, InputError
from privmine.io.label_lists import numbers
from privmine.io.readers.csv_in import read_lines
from privmine.io.readers.fimi import fimi_rows
from privmine.io.readers.options import Catalogue, ReadOptions, is_nobody
from privmine.model import PRIVATE, IntArray, Origin
from privmine.store.labels import is_label, is_missing, text_of
from privmine.store.rows import BLOCK_ITEMS
from privmine.store.shelf import Shelf
from privmine.store.transactions import NO_BASKET, NO_ITEM, NO_LABEL, Transactions, coded


def read_baskets(paths: Sequence[Path], separator: str, asked: ReadOptions, origin: Origin) -> Transactions:
    """Read basket lines: a transaction a line, an empty line an empty one."""
    asked.without_columns("a file of basket lines")
    asked.without_names("a file of basket lines")
    asked.check_entries()
    origin = asked.noted(origin)
    asked.tell(origin)
    codes: dict[str, int] = {}
    flat, offsets = array("i"), array("q", [0])
    respell = asked.respelling
    for path in paths:
        for written in read_lines(path, separator, asked):
            cells = written if respell is None else [respell(cell) or "" for cell in written]
            while cells and not cells[-1]:
                cells.pop()  # spreadsheets fill lines up
            if "" in cells:
                if not asked.drop_missing:
                    raise DataError(
                        f"{path} has missing items: two separators with nothing between them. Pass "
                        "drop_missing=True to ignore them."
                    )
                cells = [cell for cell in cells if cell]
            flat.extend([codes.setdefault(cell, len(codes)) for cell in cells])
            offsets.append(len(flat))
    return _made(np.array(offsets), np.array(flat), list(codes), asked, origin)


def read_numbers(paths: Sequence[Path], asked: ReadOptions, origin: Origin) -> Transactions:
    """Read FIMI text: numbers between blanks, a transaction a line."""
    asked.without_columns("FIMI text")
    asked.without_text("FIMI text")
    asked.check_entries()
    if asked.respelling is not None and asked.names is None:
        raise InputError("trim= and fold_case= are for labels, but the items of FIMI text are numbers. Drop them.")
    items = asked.items if asked.names is not None or asked.items == PRIVATE else numbers(asked.items)
    origin = asked.noted(origin)
    asked.tell(origin)
    shelf = asked.shelf()
    return _numbered(*fimi_rows(paths, shelf), asked, items, origin, shelf)


def read_collections(baskets: Iterable[Iterable[Any]], asked: ReadOptions, origin: Origin) -> Transactions:
    """Make transactions of Python collections."""
    asked.without_columns("a list of baskets")
    if isinstance(baskets, bytes | Mapping) or not isinstance(baskets, Iterable):
        raise InputError(
            f"Cannot read {type(baskets).__name__}. Pass the name of a file, a frame, a matrix, or a list of baskets, "
            "each a collection of items."
        )
    if asked.drop_missing:
        baskets = [[item for item in basket if not is_missing(item)] for basket in _checked(baskets)]
    origin = asked.noted(origin)
    if asked.names is None and asked.owner is None and asked.respelling is None:
        made = Transactions.from_lists(baskets, asked.items)
        return evolve(made, origin=origin)
    flat: list[Any] = []
    offsets = [0]
    for basket in _checked(baskets):
        flat.extend(basket)
        offsets.append(len(flat))
    if any(map(is_missing, flat)):
        raise InputError(NO_ITEM)
    if not all(map(is_label, flat)):
        raise InputError(NO_LABEL)
    if asked.names is not None:
        if not all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in flat):
            asked.without_names("a list of baskets with labels")
        return _numbered(np.array(offsets), np.array(flat, dtype=object), asked, asked.items, origin)
    texts: list[str | None] = [text_of(item) for item in flat]
    if asked.respelling is not None:
        texts = [None if text is None else asked.respelling(text) for text in texts]
        if None in texts and not asked.drop_missing:
            raise InputError(NO_ITEM)
    codes: dict[str, int] = {}
    found = np.array([-1 if text is None else codes.setdefault(text, len(codes)) for text in texts], dtype=np.int64)
    return _made(np.array(offsets), found, list(codes), asked, origin)


def _checked(baskets: Iterable[Iterable[Any]]) -> Iterable[Iterable[Any]]:
    for basket in baskets:
        if isinstance(basket, str | bytes | Mapping) or not isinstance(basket, Iterable):
            raise InputError(NO_BASKET)
        yield basket


def is_sparse(source: Any) -> bool:
    """Whether something is a sparse matrix or array of scipy, told without importing it."""
    return hasattr(source, "tocsr") and hasattr(source, "nnz")


def read_sparse(matrix: Any, asked: ReadOptions, origin: Origin) -> Transactions:
    """Make transactions of a sparse matrix: a row for each, a column for each item, and no cell that is not stored."""
    if len(matrix.shape) != 2:
        raise InputError("A matrix of transactions has two dimensions: rows of transactions, columns of items.")
    rows = matrix.tocsr()
    _check_cells(np.asarray(rows.data))
    present = np.asarray(rows.data) != 0
    offsets, columns = np.asarray(rows.indptr, dtype=np.int64), np.asarray(rows.indices)
    if not present.all():
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(present)])
        offsets, columns = before[offsets], columns[present]
    return _matrix(offsets, columns, matrix.shape[1], asked, origin)


def read_array(cells: NDArray[Any], asked: ReadOptions, origin: Origin) -> Transactions:
    """Make transactions of a two-dimensional numpy array, a block of rows at a time."""
    if cells.dtype.kind not in "biuf":
        raise InputError(
            "A matrix of transactions holds 0 and 1, or false and true; pass other data as a list or frame."
        )
    step = max(1, BLOCK_ITEMS // max(cells.shape[1], 1))
    counts, columns = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for first in range(0, len(cells), step):
        block = cells[first : first + step]
        _check_cells(block)
        places, found = np.nonzero(block)
        counts.append(np.bincount(places, minlength=len(block)))
        columns.append(found)
    return _matrix(np.cumsum(np.concatenate(counts)), np.concatenate(columns), cells.shape[1], asked, origin)


def _check_cells(cells: NDArray[Any]) -> None:
    if cells.dtype.kind == "f" and bool(np.isnan(cells).any()):
        raise InputError("The matrix has missing values (NaN); make them 0 first.")
    if cells.dtype.kind not in "biuf" or bool((cells < 0).any()):
        raise InputError("The cells of a matrix are 1 where a transaction has an item and 0 where not, never negative.")


def _matrix(offsets: IntArray, columns: NDArray[Any], width: int, asked: ReadOptions, origin: Origin) -> Transactions:
    asked.without_columns("a matrix")
    asked.without_private_items("a matrix")
    origin = asked.noted(origin)
    if asked.names is None:
        return _made(offsets, columns, np.arange(width), asked, origin)
    if len(asked.names.labels) != width:
        raise InputError("names= must have exactly one label for each column of the matrix.")
    return _numbered(offsets, columns, asked, asked.items, origin)


def _numbered(
    offsets: IntArray,
    found: NDArray[Any],
    asked: ReadOptions,
    items: Catalogue,
    origin: Origin,
    shelf: Shelf | None = None,
) -> Transactions:
    """Transactions of numbers that names give labels to, where there are names."""
    shelf = shelf or asked.shelf()
    if asked.names is None and asked.owner is None:
        return Transactions.from_rows(offsets, found, items, origin=origin, shelf=shelf)
    if asked.names is None:
        known, codes, table = coded(found, shelf)
        return _made(offsets, codes if table is None else table[codes], known, asked, origin, items)
    if items is not None and items != PRIVATE:
        # Privacy: a number without a name is outside the universe, and its basket counts. A refusal would tell of it.
        return _made(offsets, asked.names.places(found), asked.names.labels, asked, origin, items)
    # Names are no public universe: whoever writes them down beside the data takes them from it.
    places, labels = asked.names.labelled(found)
    return _made(offsets, places, labels, asked, origin)


def _made(
    offsets: IntArray, codes: NDArray[Any], labels: Any, asked: ReadOptions, origin: Origin, items: Catalogue = None
) -> Transactions:
    items = asked.items if items is None else items
    entries = asked.entries(len(offsets) - 1)
    if entries is None:
        return Transactions.from_codes(offsets, codes, labels, items, origin=origin)
    if asked.drop_missing_units:
        kept = np.array([not is_nobody(entry) for entry in entries], dtype=np.bool_)
        lengths = np.diff(offsets)
        codes = codes[np.repeat(kept, lengths)]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths[kept])])
        entries = [entry for entry, keep in zip(entries, kept.tolist(), strict=True) if keep]
    return Transactions.from_codes(
        offsets,
        codes,
        labels,
        items,
        unit_of_row=np.arange(len(entries)),
        unit_labels=entries,
        unit=asked.protected,
        origin=origin,
    )
