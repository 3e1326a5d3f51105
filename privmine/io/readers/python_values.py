"""Tables of Python values, as JSON, SQLite and pandas have them: any cell may be of any type.

Privacy: how a cell reads is a matter of that cell alone, and whether it is a label of its type alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.io.readers.tables import arrow, begun, kind_of_texts
from privmine.store.labels import is_missing, text_of

#: What a basket may be within a cell.
_LISTS = (list, tuple, set, frozenset, np.ndarray)
#: Numbers and texts.
_PLAIN = (str, int, float, np.integer, np.floating)
#: What a label may be: each has one text, which `text_of` tells. A datetime is a date.
_LABELS = (*_PLAIN, bool, np.bool_, Decimal, date, time, timedelta, np.datetime64, np.timedelta64, UUID)


def column_of(values: Sequence[Any] | NDArray[Any], name: str, *, lists: bool) -> Any:
    """An Arrow array of one batch of a column.

    Args:
        values: the cells.
        name: what a message calls the column.
        lists: whether the column holds lists of labels rather than labels.
    """
    pa = arrow()
    if not lists:
        return _labels(values, name)
    offsets = [0]
    missing = []
    flat: list[Any] = []
    for value in values:
        is_list = isinstance(value, _LISTS)
        if not is_list and not _is_missing(value):
            raise no_list(name)
        flat.extend(value if is_list else ())  # not +=, which numpy takes for a sum
        missing.append(not is_list)
        offsets.append(len(flat))
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), _labels(flat, name), mask=pa.array(missing, pa.bool_())
    )


def no_list(name: str) -> DataError:
    """What is said of a column of lists in which some cell is none."""
    return DataError(
        f"{begun(name)} holds something else than a list in some row. Name the column of the lists, or say "
        "layout='long' if each row is one item."
    )


def _labels(values: Sequence[Any] | NDArray[Any], name: str) -> Any:
    """Texts, each made of its cell alone; Arrow makes the same of texts and missing values, in less time."""
    pa = arrow()
    kinds = set(map(type, values))
    try:
        if kinds <= {str, float, type(None)}:
            with suppress(pa.ArrowTypeError):  # a float that is not missing
                return pa.array(values, pa.string(), from_pandas=True)
        return pa.array([_text(value, name) for value in values], pa.string())
    except UnicodeEncodeError:
        problem = f"{begun(name)} has text with a lone surrogate, which no file can hold; mend it first."
    raise DataError(problem)


def _text(value: Any, name: str) -> str | None:
    """How a cell reads, None if it is missing. Its type alone tells whether it is a label."""
    if isinstance(value, str):
        return value
    if isinstance(value, _LISTS):
        what = "lists"
    elif isinstance(value, Mapping):
        what = "records"
    elif isinstance(value, bytes | bytearray | memoryview):
        what = "bytes"
    elif _is_missing(value):
        return None
    elif isinstance(value, _LABELS):
        return text_of(value)
    else:
        raise DataError(
            f"{begun(name)} holds values, in some row, of a type that has no text of its own; make them text first."
        )
    raise DataError(f"{begun(name)} contains {what}, not labels, in some row. Name another column.")


def _is_missing(value: Any) -> bool:
    if not isinstance(value, (*_LISTS, Mapping)):
        with suppress(Exception):  # any type may raise anything where it is compared; then it is no missing value
            return is_missing(value)
    return False


def kind_of_values(values: Sequence[Any]) -> str:
    """What the cells of a column hold, going by a sample."""
    known = [value for value in values if not _is_missing(value)]
    if not known:
        return "other"
    if all(isinstance(value, bool | np.bool_) for value in known):
        return "bool"
    if all(isinstance(value, _LISTS) for value in known):
        return "list"
    if all(isinstance(value, _PLAIN) and not isinstance(value, bool) for value in known):
        return kind_of_texts(map(text_of, known))
    return "other"
