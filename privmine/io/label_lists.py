"""Lists of labels in files: the public universe, and the names of items that are numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from privmine.errors import DataError, InputError
from privmine.files import at_home
from privmine.io.readers.files_in import ending
from privmine.model import IntArray
from privmine.store.labels import is_missing, text_of

#: An integer as it is written in one way only: "007" and "-0" are texts.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
#: What a file is called that has more than one label a line, or a line above the labels.
_TABLES = frozenset({".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx"})
#: What people write above a column of items, without "id", "name" and the like at the end.
_HEADER = re.compile(
    r"(item|product|article|good|sku|label|name|description|category|stock[\W_]*code|produkt|artikel|produit|producto)s?"
    r"([\W_]*(id|ids|no|nr|num|number|key|code|name|names|label|description|title))?",
    re.IGNORECASE,
)
#: What stands between the cells of a table.
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
#: How to say that a catalogue is meant as it stands.
_INSIST = (
    'If the labels are really like that, write them as a JSON list, such as ["milk", "tea"], into a file that ends in '
    ".json, or pass a list in Python."
)


def read_items(path: str | PathLike[str], *, trim: bool = False) -> list[Any]:
    """Read an item universe: a text file with one label a line, or a JSON list of labels.

    The labels of text are whole numbers if all of them are; empty lines are ignored. A label that differs from that of
    the data by a quote or a blank would never be found, so what looks like that is refused. Data is never compared: the
    answer would tell what occurs in it. The labels of a JSON list are taken as they are.

    Args:
        path: the file.
        trim: whether blanks at the ends of labels mean nothing.
    """
    if ending(Path(path)) == ".json":
        return _json_labels(path)
    written = (line.strip() if trim else line for line in _lines(path, "item file"))
    lines = [(number, line) for number, line in enumerate(written, 1) if line]
    labels = [label for _, label in lines]
    if not labels:
        raise InputError(f"The universe has no items: the item file {path} has no label. Write one label a line.")
    problem = _problem_of(labels) or next(
        (f"Line {number}: {problem}" for number, label in lines if (problem := _problem_with(label))), None
    )
    if problem is not None:
        raise InputError(f"Check the item file {path}. {problem} {_INSIST}")
    return [int(label) for label in labels] if all(map(is_integer, labels)) else labels


def _json_labels(path: str | PathLike[str]) -> list[Any]:
    labels = _json(path, "item file")
    if not isinstance(labels, list) or not all(type(label) in (str, int) for label in labels):
        raise InputError(
            f'The item file {path} must be a JSON list of texts or whole numbers, such as ["milk", "tea"].'
        )
    if not labels:
        raise InputError(f"The universe has no items: the item file {path} has no label. List at least one.")
    return labels


def _problem_of(labels: list[str]) -> str | None:
    """What makes the lines look like something else than labels, with what to do; None if nothing does."""
    for separator, called in _SEPARATORS.items():
        if all(separator in label for label in labels):
            return f"Every line has {called}, as a table has. Write one label a line, without other columns."
    first, *others = labels
    above_numbers = bool(others) and not is_integer(first) and all(map(is_integer, others))
    if above_numbers or _HEADER.fullmatch(first.strip(" \t\"'")):
        return "The first line looks like the name of a column. Delete that line."
    return None


def _problem_with(label: str) -> str | None:
    """What looks wrong with a label, with what to do; None if nothing does."""
    if len(label) > 1 and label[0] == label[-1] and label[0] in "\"'":
        return "the label is in quotes, which would be part of it. Write the labels without quotes."
    if label != label.strip():
        return "the label has blanks at its ends, which would be part of it. Remove them, or pass trim=True."
    return None


@frozen(eq=False)
class Names:
    """Labels for items that are numbers in the data.

    Attributes:
        numbers: the numbers that have a label, ascending.
        labels: the label of each.
    """

    numbers: IntArray
    labels: list[Any]

    def places(self, found: NDArray[Any]) -> IntArray:
        """The position of each number's label, −1 for a number without one."""
        if not len(self.numbers):
            return np.full(len(found), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.numbers, found), len(self.numbers) - 1)
        return np.where((self.numbers[places] == found).astype(np.bool_), places, -1)

    def labelled(self, found: NDArray[Any]) -> tuple[IntArray, list[Any]]:
        """The position of each number's label, and the labels; a number without one is its own label."""
        places = self.places(found)
        unnamed = places < 0
        if not unnamed.any():
            return places, self.labels
        others, positions = np.unique(found[unnamed], return_inverse=True)
        places[unnamed] = len(self.labels) + positions
        return places, [*self.labels, *(text_of(number) for number in others.tolist())]


def read_names(source: str | PathLike[str] | Mapping[Any, Any] | Iterable[Any]) -> Names:
    """The labels of numbers: of 0, 1, 2, … in turn, or of the numbers that a mapping has; or a file of either.

    A file has one label a line, or is JSON: a list of labels, or an object such as {"1": "milk"}. Numbers may lack a
    label. Privacy: no such number is refused, or the refusal would tell whether it occurs in the data.
    """
    if isinstance(source, str | PathLike):
        source = _json_names(source) if str(source).lower().endswith(".json") else _complete_lines(source)
    if isinstance(source, Mapping):
        pairs = sorted((_number(key), label) for key, label in source.items())
        numbers, labels = [number for number, _ in pairs], [label for _, label in pairs]
    else:
        labels = list(source)
        numbers = list(range(len(labels)))
    if any(map(is_missing, labels)) or any(isinstance(label, list | dict) for label in labels):
        raise InputError("An entry of names= is not a label. Every number needs a label.")
    if len({text_of(label) for label in labels}) != len(labels) or len(set(numbers)) != len(numbers):
        raise InputError("names= has the same label more than once. Every number needs its own label.")
    return Names(np.array(numbers, dtype=np.int64), labels)


def _number(key: Any) -> int:
    text = text_of(key)
    if not is_integer(text) or text.startswith("-"):
        raise InputError("The keys of names= must be the numbers that the labels belong to, starting at 0.")
    return int(text)


def _complete_lines(path: str | PathLike[str]) -> list[str]:
    labels = _lines(path, "file of names")
    while labels and not labels[-1]:
        labels.pop()
    if not all(labels):
        raise DataError(
            f"{path}, line {labels.index('') + 1}: a line is empty. The label of number n is line n, counted from 0, "
            "so that no line may be left out."
        )
    return labels


def _json_names(path: str | PathLike[str]) -> Any:
    names = _json(path, "file of names")
    if not isinstance(names, list | dict):
        raise DataError(
            f'The file of names {path} is neither a JSON list of labels nor an object such as {{"1": "milk"}}.'
        )
    return names


def _json(path: str | PathLike[str], what: str) -> Any:
    """What a JSON file holds; None if it is no JSON."""
    text = _text(path, what)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_integer(label: str) -> bool:
    """Whether a text reads as an integer does."""
    return _INTEGER.fullmatch(label) is not None


def numbers(universe: list[Any] | None) -> list[Any] | None:
    """A FIMI file holds numbers, so its universe must as well."""
    if universe is None:
        return None
    if not all(isinstance(label, int) or (str(label).isascii() and str(label).isdigit()) for label in universe):
        raise InputError(
            "The items of a FIMI file are whole numbers from 0, but the given universe has other "
            "labels. Give labels to the numbers with names=."
        )
    return [int(label) for label in universe]


def _lines(path: str | PathLike[str], what: str) -> list[str]:
    if ending(Path(path)) in _TABLES:
        raise InputError(
            f"{path} is a table by its name. The {what} is a text file with one label a line, without quotes and "
            "without a name above them: write the column of labels to such a file."
        )
    # Not splitlines(), which also breaks at characters that a label may hold. CRLF is one LF by now.
    return _text(path, what).split("\n")


def _text(path: str | PathLike[str], what: str) -> str:
    try:
        text = at_home(path).read_text(encoding="utf-8-sig")
        # A name may hold anything; the list of items is typed by people.
        if "\0" not in text or what != "item file":
            return text
        # UTF-16 without a mark of the byte order: every second byte of plain letters is a zero.
        problem = f"The {what} {path} holds zero bytes, so it is not UTF-8 text but perhaps UTF-16. Save it as UTF-8."
    except UnicodeDecodeError:
        problem = f"The {what} {path} is not UTF-8 text. Save it as UTF-8."
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not usable"
        problem = f"Cannot read the {what} {path}: {reason}."
    raise DataError(problem)
