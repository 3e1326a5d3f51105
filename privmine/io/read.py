"""One door for all data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from privmine.errors import DataError, InputError
from privmine.io.fimi import read_fimi
from privmine.store.transactions import Transactions


def read(source: Any, *, items: Iterable[Any] | str | Path | None = None) -> Transactions:
    """Make transactions of a FIMI file (plain or gzip), or of an iterable of collections of labels.

    Args:
        source: a path, or the baskets themselves.
        items: the public item universe, in the order that breaks ties: labels, or a file with one
            label a line. Without it the universe is taken from the data, and the receipt says so.
    """
    universe = read_items(items) if isinstance(items, str | Path) else None if items is None else list(items)
    if isinstance(source, Transactions):
        if universe is not None:
            raise InputError("These transactions have a universe already; pass items= where they are read.")
        return source
    if isinstance(source, str | Path):
        return read_fimi(Path(source), items=_numbers(universe))
    return Transactions.from_lists(source, items=universe)


def read_items(path: str | Path) -> list[Any]:
    """Read an item universe, one label a line; whole numbers if all of them are."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"Cannot read the item file {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DataError(f"The item file {path} is not UTF-8 text.") from None
    labels = [line.strip() for line in lines if line.strip()]
    return [int(label) for label in labels] if all(_is_number(label) for label in labels) else labels


def _is_number(label: str) -> bool:
    return label.isascii() and label.isdigit()


def _numbers(universe: list[Any] | None) -> list[Any] | None:
    """A FIMI file holds numbers, so its universe must as well."""
    if universe is None:
        return None
    if not all(isinstance(label, int) or _is_number(str(label)) for label in universe):
        raise InputError("The items of a FIMI file are whole numbers from 0; the given universe has other labels.")
    return [int(label) for label in universe]
