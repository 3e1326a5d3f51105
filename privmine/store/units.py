"""Transactions that belong to a unit, such as a customer: at most so many of each, or all merged into one.

Which baskets a unit keeps is a function of that unit's own rows. That is what the guarantee for a
whole unit rests on, so nothing here may look at two units at once, at codes, or at the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privmine.model import IntArray
from privmine.store.rows import Rows
from privmine.store.shelf import Shelf

Salts: TypeAlias = NDArray[np.uint64]

#: The odd constants of the splitmix64 generator: its step, and the two factors of its finaliser.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def salts(labels: Iterable[Any]) -> Salts:
    """A 64-bit hash of what each label reads as: 12 and "12" have the same."""
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    # "surrogatepass", because the labels of units are never written and may hold anything.
    digests = b"".join(blake2b(str(label).encode("utf-8", "surrogatepass"), digest_size=8).digest() for label in plain)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def bounded(
    rows: Rows, unit_of_row: IntArray, unit_salts: Salts, item_salts: Salts, most: int, shelf: Shelf | None = None
) -> Rows:
    """Keep at most so many rows of each unit, chosen by a hash.

    A row's hash is of its unit's label, the labels of its items, and how many rows of the same
    content the unit has had before. With the unit in it, different units prefer different contents,
    so that what many buy is neither favoured nor disfavoured in the sum; with the number in it, a
    content that a unit has three times has three chances.

    Privacy: the rows that a unit keeps are a function of its own rows and of public labels. If all
    rows of one unit are removed, every other unit keeps what it kept before, and what is missing is
    what the removed unit had kept: at most `most` rows. So a query that one transaction moves by at
    most s is moved by at most `most`·s by one unit. Should two different contents of a unit share a
    hash, the order of that unit's rows decides between them; they are still only its own rows.

    Args:
        rows: the transactions as sets, that is without repeated items.
        unit_of_row: which unit each row belongs to.
        unit_salts: the salt of each unit's label.
        item_salts: the salt of each item's label.
        most: how many rows a unit may keep.
        shelf: makes the arrays; without it they are in memory.
    """
    crowded = np.bincount(unit_of_row, minlength=len(unit_salts)) > most
    contenders = np.flatnonzero(crowded[unit_of_row])
    if not len(contenders):
        return rows
    units = unit_of_row[contenders]
    # Adding does not care about the order of the items, and mixing spreads the sum over all bits.
    hashes = mixed_bits(_contents(rows, item_salts)[contenders] + unit_salts[units])
    order = np.lexsort((hashes, units))
    contenders, units, hashes = contenders[order], units[order], hashes[order]
    # Rows of the same content are alike to their unit, so that any of them may have any number.
    occurrences = _places_in_runs(_changes(units) | _changes(hashes))
    hashes = mixed_bits(hashes + occurrences.astype(np.uint64) * _STEP)
    order = np.lexsort((hashes, units))
    surplus = _places_in_runs(_changes(units)) >= most  # units are in order already
    keep = np.ones(rows.count, dtype=np.bool_)
    keep[contenders[order[surplus]]] = False
    return rows.chosen(keep, shelf or Shelf())


def merged(rows: Rows, unit_of_row: IntArray, shelf: Shelf | None = None) -> Rows:
    """One row a unit, with every item that any of its rows has.

    Privacy: a unit is one transaction and no transaction is of two units, so that removing a unit
    removes one transaction.
    """
    order = np.argsort(unit_of_row, kind="stable")
    starts = np.flatnonzero(_changes(unit_of_row[order]))
    shelf = shelf or Shelf()
    grouped = rows.in_order(order, shelf)
    return Rows(np.append(grouped.offsets[starts], grouped.offsets[-1]), grouped.items).as_sets(shelf)


def mixed_bits(values: Salts) -> Salts:
    """Spread every bit over all 64, as splitmix64 does; one to one, so that it makes no collisions."""
    values = values + _STEP
    values ^= values >> np.uint64(30)
    values *= _FIRST
    values ^= values >> np.uint64(27)
    values *= _SECOND
    values ^= values >> np.uint64(31)
    return values


def _contents(rows: Rows, item_salts: Salts) -> Salts:
    """The sum of the salts of each row's items, modulo 2^64."""
    contents = np.zeros(rows.count, dtype=np.uint64)
    for first, block in rows.blocks():
        sums = np.zeros(len(block.items) + 1, dtype=np.uint64)
        np.cumsum(item_salts[block.items], out=sums[1:])
        contents[first : first + block.count] = sums[block.offsets[1:]] - sums[block.offsets[:-1]]
    return contents


def _changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it; the first one does."""
    changes = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _places_in_runs(starts: NDArray[np.bool_]) -> IntArray:
    """The place of each entry in its run, from 0, where `starts` marks the first of each run."""
    places = np.arange(len(starts))
    return places - np.maximum.accumulate(np.where(starts, places, 0))
