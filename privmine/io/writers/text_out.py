"""Transactions as text: CSV, basket lines, FIMI and JSON lines.

Text is put together of pieces that are made once for each label, a block of transactions at a time,
so that the file never lies in memory as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain
from typing import BinaryIO, Final, TypeAlias

import numpy as np

from privmine.errors import InputError
from privmine.io.readers.files_in import BYTE_ORDER, SEPARATORS
from privmine.io.writers.sparse_out import ITEM, ITEMS, TRANSACTION, check_names, check_one_hot, dense_blocks, pairs
from privmine.model import Universe
from privmine.store.rows import Rows

Writer: TypeAlias = Callable[[BinaryIO, Universe, Rows], None]

#: What some reader or other takes for the end of a line.
_LINE_ENDS: Final = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def texts(universe: Universe) -> list[str]:
    """The labels as text."""
    return [str(label) for label in universe.labels.tolist()]


def write_long(separator: str, out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a CSV file with a line for each item of each transaction; an empty transaction has an empty cell."""
    out.write(f"{TRANSACTION}{separator}{ITEM}\n".encode())
    pieces = [f"{_cell(label, separator)}\n".encode() for label in texts(universe)]
    _write_pairs(out, rows, b"%d" + separator.encode(), pieces, b"\n")


def write_one_hot(separator: str, out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a CSV file with a column for each item: 1 where a transaction has it, else 0."""
    labels = texts(universe)
    check_one_hot(labels)
    out.write((separator.join(_cell(label, separator) for label in labels) + "\n").encode())
    for cells in dense_blocks(rows, len(universe)):
        text = np.full((len(cells), 2 * len(universe)), ord(separator), dtype=np.uint8)
        text[:, ::2] = cells + np.uint8(ord("0"))
        text[:, -1] = ord("\n")
        out.write(text.tobytes())


def write_baskets(separator: str, out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a line for each transaction, its labels with a separator between them."""
    labels = texts(universe)
    check_names(labels)
    pieces = [_cell(label, separator).encode() for label in labels]
    _write_lines(out, rows, pieces, between=separator.encode())


def write_fimi(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write a line for each transaction, its items as numbers: the labels if they are such, else positions."""
    numbers = universe.labels.tolist() if are_fimi(universe) else range(len(universe))
    _write_lines(out, rows, [b"%d" % number for number in numbers], between=b" ")


def are_fimi(universe: Universe) -> bool:
    """Whether the labels are numbers that can stand for themselves in FIMI text."""
    labels = universe.labels
    return bool(labels.dtype.kind == "i" and labels.min(initial=0) >= 0 and labels.max(initial=0) < 10**18)


def write_names(out: BinaryIO, universe: Universe) -> None:
    """Write the labels of FIMI numbers, one a line, the label of 0 first."""
    labels = texts(universe)
    _check_lines(labels)
    out.write("".join(f"{label}\n" for label in labels).encode())


def write_json_list(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write an object with a list of labels for each transaction."""
    opening = f"{{{json.dumps(ITEMS)}: [".encode()
    _write_lines(out, rows, _json_pieces(universe), between=b", ", opening=opening, closing=b"]}\n")


def write_json_long(out: BinaryIO, universe: Universe, rows: Rows) -> None:
    """Write an object for each item of each transaction; the item of an empty one is null."""
    number = f"{{{json.dumps(TRANSACTION)}: %d, {json.dumps(ITEM)}: ".encode()
    _write_pairs(out, rows, number, [piece + b"}\n" for piece in _json_pieces(universe)], b"null}\n")


def _json_pieces(universe: Universe) -> list[bytes]:
    return [json.dumps(label, ensure_ascii=False).encode() for label in universe.labels.tolist()]


def _cell(text: str, separator: str) -> str:
    """A cell of a CSV file, in quotes where it would otherwise read as something else."""
    special = _LINE_ENDS | {separator, '"', *SEPARATORS}  # whoever reads it may have to guess which one it is
    if text and text == text.strip() and not text.startswith(("#", BYTE_ORDER)) and special.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _check_lines(labels: Sequence[str]) -> None:
    if not all(label and _LINE_ENDS.isdisjoint(label) for label in labels):
        raise InputError(
            "A label is empty or has a line break in it, which a file of lines cannot hold; "
            "write .parquet, .jsonl or .csv instead."
        )


def _write_lines(
    out: BinaryIO, rows: Rows, pieces: Sequence[bytes], between: bytes, opening: bytes = b"", closing: bytes = b"\n"
) -> None:
    """Write a line for each transaction: its opening, its items with something between them, its closing."""
    size = len(pieces)
    tokens = [*pieces, *(between + piece for piece in pieces), opening, closing]
    for _, block in rows.blocks():
        starts = block.offsets[:-1] + 2 * np.arange(block.count)
        ends = starts + block.lengths + 1
        told = np.empty(len(block.items) + 2 * block.count, dtype=np.int64)
        inside = np.ones(len(told), dtype=np.bool_)
        inside[starts] = inside[ends] = False
        told[starts], told[ends], told[inside] = 2 * size, 2 * size + 1, block.items + size
        # Nothing stands between the opening and the first item.
        told[starts[block.lengths > 0] + 1] -= size
        out.write(b"".join(map(tokens.__getitem__, told.tolist())))


def _write_pairs(out: BinaryIO, rows: Rows, number: bytes, pieces: Sequence[bytes], nothing: bytes) -> None:
    """Write a line for each item of each transaction.

    Args:
        out: where to.
        rows: the transactions; their numbers count from 0.
        number: what stands before an item, with %d for the transaction's number.
        pieces: the items, each with the end of its line.
        nothing: what stands in place of an item where the transaction is empty.
    """
    tokens = [*pieces, nothing]
    for first, block in rows.blocks():
        numbers = [number % row for row in range(first, first + block.count)]
        of_row, items = pairs(block)
        told = zip(map(numbers.__getitem__, of_row.tolist()), map(tokens.__getitem__, items.tolist()), strict=True)
        out.write(b"".join(chain.from_iterable(told)))
