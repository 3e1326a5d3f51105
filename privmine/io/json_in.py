"""JSON as tables: lines with an object or a list of items each, or one array of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from attrs import evolve

from privmine.errors import DataError
from privmine.io.asked import Asked
from privmine.io.files_in import ending, opened_text, read_on
from privmine.io.layouts import says_what_it_is
from privmine.io.tables import SAMPLE_ROWS, Batches, Table, arrow
from privmine.io.values import column_of, kind_of_values

#: What the column is called where a line is a list and no object.
_LISTS = "items"
_CHUNK = 1 << 14


def json_table(paths: Sequence[Path], asked: Asked, name: str, *, whole: bool = False) -> Table:
    """A table of JSON files; its columns are the keys that occur in the first rows.

    Privacy: keys may be data, such as the names of persons, so that messages show only those that were
    asked for or that every row looked at has.

    Args:
        paths: the files.
        asked: the options.
        name: what messages call the table.
        whole: whether the keys of all rows are columns, as one-hot needs it: a key that is none would
            be an item that is lost.
    """

    def rows() -> Iterator[dict[str, Any]]:
        return chain.from_iterable(_rows(path, asked.encoding) for path in paths)

    coming = rows()
    sample = list(islice(coming, SAMPLE_ROWS))
    found = {key: [row.get(key) for row in sample] for key in dict.fromkeys(chain.from_iterable(sample))}
    if whole:
        for row in coming:
            found.update((key, [value]) for key, value in row.items() if key not in found)
    if not found:
        raise DataError(
            f"{name} has no row that could be read; a row is an object such as {{'order_id': …, 'product': …}} or a "
            "list of items."
        )
    columns, kinds = tuple(found), tuple(map(kind_of_values, found.values()))
    common = set.intersection(*map(set, sample)) if len(sample) > 1 else set(filter(says_what_it_is, columns))
    known = frozenset(common | {_LISTS} | set(asked.wanted))
    table = Table(name, columns, kinds, lambda _: iter(()), known=known)

    def batches(positions: Sequence[int]) -> Batches:
        pa = arrow()
        coming = rows()
        wanted = [(columns[p], table.shown(p), kinds[p] == "list") for p in positions]
        while chunk := list(islice(coming, _CHUNK)):
            arrays = [column_of([row.get(key) for row in chunk], shown, lists=lists) for key, shown, lists in wanted]
            yield pa.RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])

    return evolve(table, batches=batches)


def _rows(path: Path, encoding: str | None) -> Iterator[dict[str, Any]]:
    """The rows of a file, each as an object."""
    for place, value in read_on(path, _values(path, encoding), encoding):
        if isinstance(value, list):
            yield {_LISTS: value}
        elif isinstance(value, dict):
            yield value
        else:
            raise DataError(
                f"{path}, {place}: neither an object such as {{'order_id': …, 'product': …}} nor a list of items."
            )


def _values(path: Path, encoding: str | None) -> Iterator[tuple[str, Any]]:
    """Each value with the place where it stands."""
    with opened_text(path, encoding) as text:
        if ending(path) == ".json":
            whole = _array(text.read())
            if whole is not None:
                yield from ((f"entry {number}", value) for number, value in enumerate(whole, 1))
                return
            text.seek(0)
        yield from _lines(text, path)


def _array(text: str) -> list[Any] | None:
    """The entries of one array of rows; None if the text is something else, such as a row a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return whole if isinstance(whole, list) and all(isinstance(entry, list | dict) for entry in whole) else None


def _lines(lines: Iterable[str], path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            break
        yield f"line {number}", value
    else:
        return
    raise DataError(f"{path}, line {number}: this is not JSON, or not a whole value; a row is one line.")
