"""Tables of Python values, as JSON and SQLite have them: any cell may be of any type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privmine.errors import DataError
from privmine.io.tables import arrow, begun, kind_of_texts
from privmine.store.labels import is_missing, text_of


def column_of(values: Sequence[Any], name: str, *, lists: bool) -> Any:
    """An Arrow array of one batch of a column.

    Args:
        values: the cells.
        name: what a message calls the column.
        lists: whether the column holds lists of labels rather than labels.
    """
    pa = arrow()
    if not lists:
        return _labels(values, name)
    if not all(value is None or isinstance(value, list) for value in values):
        raise DataError(f"{begun(name)} holds a list in some rows and something else in others.")
    offsets = [0]
    flat: list[Any] = []
    for value in values:
        flat += value or []
        offsets.append(len(flat))
    missing = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), _labels(flat, name), mask=missing)


def _labels(values: Sequence[Any], name: str) -> Any:
    pa = arrow()
    texts = [None if is_missing(value) else value if isinstance(value, str) else _text(value, name) for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        problem = f"{begun(name)} has text with a lone surrogate, which no file can hold; mend it first."
    raise DataError(problem)


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool | int | float):
        return text_of(value)
    what = "lists" if isinstance(value, list) else "records" if isinstance(value, dict) else "bytes"
    raise DataError(f"{begun(name)} holds {what}, not labels, in some row; name another column.")


def kind_of_values(values: Sequence[Any]) -> str:
    """What the cells of a column hold, going by a sample."""
    known = [value for value in values if not is_missing(value)]
    types = set(map(type, known))
    if types == {bool}:
        return "bool"
    if types == {list}:
        return "list"
    if types <= {int, float, str} and types:
        return kind_of_texts(map(text_of, known))
    return "other"
