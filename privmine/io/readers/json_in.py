"""JSON as tables: lines with an object or a list of items each, or one array of them.

Privacy: whether a `.json` file is an array or has a row a line is told by its first character, and no
row decides: `[` begins an array, whose entries are rows. Lines that are lists are for `.jsonl`. Which
columns there are, and which hold lists, is told by the rows, and so is a guess unless options say it.
A column that an option names is there, whether or not a row has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from attrs import evolve

from privmine.errors import DataError
from privmine.io.layouts import says_what_it_is
from privmine.io.readers.files_in import LONGEST_LINE, ending, lines_of, opened_text, read_on, too_long
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.python_values import column_of, kind_of_values
from privmine.io.readers.refusals import may_be_flag, no_flag
from privmine.io.readers.tables import SAMPLE_ROWS, Batches, Table, arrow
from privmine.io.respelling import Respelling
from privmine.store.labels import text_of

#: What the column is called where a line is a list and no object.
_LISTS = "items"
_CHUNK = 1 << 14
#: How many characters of an array are read at a time.
_PART = 1 << 20
_BLANKS = " \t\r\n"
_SOME_BLANKS = re.compile(f"[{_BLANKS}]+")


def json_table(paths: Sequence[Path], asked: ReadOptions, name: str, *, whole: bool = False) -> Table:
    """A table of JSON files; its columns are those that options name, and the keys that occur in the first rows.

    A column that an option names is there whatever the rows hold: where no row has it, as where its name is
    misspelt, all its cells are missing, which is refused, or with `drop_missing` leaves nothing. In the layout
    one-hot with `items` the columns are these items and what options name, and nothing else: a key that a
    row does not have is false there, and only a null is a missing value. Other keys are items outside the universe.

    Privacy: keys may be data, such as the names of persons, and one row may have a key that no other has. So
    messages show only those that were asked for, and those of a guess that was told. No key decides whether a row
    is read; a cell that is no flag is refused by itself, under whatever key it is.

    Args:
        paths: the files.
        asked: the options.
        name: what messages call the table.
        whole: whether the keys of all rows are columns, as one-hot needs it without `items`: a key that is none
            would be an item that is lost.
    """

    def rows() -> Iterator[dict[str, Any]]:
        return chain.from_iterable(_rows(path, asked) for path in paths)

    flags = [text_of(item) for item in asked.items or ()] if asked.layout == "one-hot" else []
    coming = rows()
    sample = list(islice(coming, SAMPLE_ROWS))
    keys = dict.fromkeys(flags or chain.from_iterable(sample))
    for row in coming if whole and not flags else ():
        keys.update(dict.fromkeys(row))
    if not keys and (asked.layout is None or not asked.wanted):
        raise DataError(
            f"{name} has no row that could be read; a row is an object such as {{'order_id': …, 'product': …}} or a "
            "list of items."
        )
    columns = tuple(keys | dict.fromkeys(asked.wanted))
    found = {key: [row.get(key) for row in sample] for key in columns}
    if asked.layout == "list" and asked.item in found:
        found[asked.item] = [[]]
    kinds = tuple(map(kind_of_values, found.values()))
    absent = dict.fromkeys(set(flags) - set(asked.wanted), False)
    in_all = set.intersection(*map(set, sample)) if len(sample) > 1 else ()
    common = frozenset({_LISTS, *in_all, *filter(says_what_it_is, columns)})

    def first_cells(position: int) -> list[Any]:
        key = columns[position]
        return [row.get(key, absent.get(key)) for row in sample]

    def refuse_others(some_rows: Sequence[dict[str, Any]]) -> None:
        """Refuse cells that no one-hot table has, such as texts: most likely each row is one item, or has a list."""
        for row in some_rows if flags else ():
            if not all(key in found or _is_flag(cell) for key, cell in row.items()):
                raise no_flag(table)

    table = Table(
        name,
        columns,
        kinds,
        lambda _: iter(()),
        inferred=frozenset(columns),
        known=frozenset(asked.wanted),
        common=common,
        first=first_cells,
    )
    refuse_others(sample)

    def batches(positions: Sequence[int]) -> Batches:
        pa = arrow()
        coming = rows()
        wanted = [(columns[p], table.shown(p), kinds[p] == "list") for p in positions]
        while chunk := list(islice(coming, _CHUNK)):
            refuse_others(chunk)
            arrays = [
                column_of([row.get(key, absent.get(key)) for row in chunk], shown, lists=lists)
                for key, shown, lists in wanted
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])

    return evolve(table, batches=batches)


def _is_flag(cell: Any) -> bool:
    return not isinstance(cell, list | dict) and may_be_flag(cell)


def _rows(path: Path, asked: ReadOptions) -> Iterator[dict[str, Any]]:
    """The rows of a file, each as an object."""
    # Where the columns are the items of the catalogue, keys must be written as it writes them.
    respelt = asked.respelling if asked.layout == "one-hot" and asked.items is not None else None
    for place, value in read_on(path, _values(path, asked), asked.encoding):
        if isinstance(value, list) and asked.layout == "one-hot":
            raise DataError(
                f"{path}, {place}: a list, but the layout one-hot needs an object such as "
                "{'bread': 1, 'milk': 0}. If each row is a list of items, pass layout='list' and "
                "item='items'."
            )
        if isinstance(value, list):
            yield {_LISTS: value}
        elif isinstance(value, dict):
            yield value if respelt is None else _respelt(value, respelt, asked.wanted, f"{path}, {place}")
        else:
            raise DataError(
                f"{path}, {place}: neither an object such as {{'order_id': …, 'product': …}} nor a list of items. If "
                "each line is a list of items, let the name of the file end in .jsonl."
            )


def _respelt(row: dict[str, Any], respelling: Respelling, kept: Sequence[str], where: str) -> dict[str, Any]:
    """A row with its keys as the catalogue writes them, but for those that options name."""
    made = {key if key in kept else respelling(key) or key: value for key, value in row.items()}
    if len(made) < len(row):
        raise DataError(f"{where}: two keys of the row are one item with trim= or fold_case=. Keep one of them.")
    return made


def _values(path: Path, asked: ReadOptions) -> Iterator[tuple[str, Any]]:
    """Each value with the place where it stands."""
    with opened_text(path, asked.encoding) as text:
        if ending(path) == ".json":
            is_array = _begins_an_array(text)
            text.seek(0)
            if is_array:
                yield from _entries(text, path)
                return
        yield from _lines(lines_of(text, path), path)


def _begins_an_array(text: TextIO) -> bool:
    """Whether the first character that is not a blank opens an array."""
    while part := text.read(_PART):
        if rest := part.lstrip(_BLANKS):
            return rest[0] == "["
    return False


def _entries(text: TextIO, path: Path) -> Iterator[tuple[str, Any]]:
    """The entries of an array of rows, with no more of the text in memory than the longest entry needs."""
    decoder = json.JSONDecoder()
    held, place, number = "", 0, 0
    before, more = "[", _PART
    while True:
        place = _after_blanks(held, place)
        if held[place : place + 1] == before:
            start = _after_blanks(held, place + 1)
            if before == "[" and held[start : start + 1] == "]":
                place = start
                before = ","
                continue
            try:
                value, place = decoder.raw_decode(held, start)
            except (ValueError, RecursionError):
                pass
            else:
                number, before, more = number + 1, ",", _PART
                yield f"entry {number}", value
                continue
        elif held[place : place + 1] == "]":
            if not held[place + 1 :].strip(_BLANKS) and not text.read(_PART).strip(_BLANKS):
                return
            break
        held, place = held[place:], 0
        if len(held) >= LONGEST_LINE:
            raise DataError(f"{path}: {too_long()}.")
        part = text.read(more)
        if not part or (held and held[0] not in f"{before}]"):
            break
        held, more = held + part, min(2 * more, LONGEST_LINE)
    raise DataError(
        f"{path}, entry {number + 1}: this is not JSON, or the array of rows does not end. If each line is a row, let "
        "the name of the file end in .jsonl."
    )


def _after_blanks(text: str, place: int) -> int:
    found = _SOME_BLANKS.match(text, place)
    return place if found is None else found.end()


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
