"""How a label reads, and whether it is one.

What reads the same is the same item, the same order or the same customer, whatever its type: two
types for one customer would let her count twice as much as the noise allows for. How a value reads
is its own matter: a type that one value forces upon a whole column, such as the digits of its
decimals, must not show in the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from unicodedata import normalize

import numpy as np

from privmine.errors import InputError, PrivmineError

T = TypeVar("T")

#: Beyond it a float does not tell one integer from the next.
LARGEST_WHOLE = 2**53
#: A decimal of more digits is written with an exponent.
_LONGEST_DECIMAL = 100
#: The last zeros of the fraction of a second, at the end or before a time zone.
_LAST_ZEROS = re.compile(r"(\.[0-9]*[1-9])0+(?![0-9])|\.0+(?![0-9])")
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: None, a NaN of any library, pandas' NA, a null of Arrow, a masked cell."""
    if isinstance(value, str):
        return False
    if value is None or value is np.ma.masked or getattr(value, "is_valid", None) is False:
        return True
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA is neither equal nor unequal to itself; a NaN may signal
        return True


def is_label(value: Any) -> bool:
    """Whether a value is one thing that reads as a text: no collection, and no bytes."""
    if hasattr(value, "as_py"):  # a scalar of Arrow
        value = value.as_py()
    return isinstance(value, str) or not isinstance(value, Iterable | memoryview)


def text_of(label: Any) -> str:
    """How a label reads; a whole float reads as the integer that it is, since a column with gaps has floats."""
    if isinstance(label, str):
        return str(label)
    if hasattr(label, "as_py"):  # a scalar of Arrow
        label = label.as_py()
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, float | np.floating):
        number = float(label)
        return str(int(number)) if abs(number) <= LARGEST_WHOLE and number.is_integer() else str(number)
    if isinstance(label, Decimal):
        return _decimal(label)
    if isinstance(label, bytes):
        return label.decode(errors="backslashreplace")
    if isinstance(label, np.datetime64):
        return time_text(np.datetime_as_string(label, unit="as").replace("T", " "))
    if isinstance(label, np.timedelta64):
        return text_of(label.astype("timedelta64[us]").item())
    if isinstance(label, timedelta):
        # In seconds, as in a table.
        return _decimal(Decimal(label // timedelta(microseconds=1)).scaleb(-6))
    return time_text(str(label)) if isinstance(label, datetime | time) else str(label)


def _decimal(number: Decimal) -> str:
    """A decimal without zeros at its end, a whole one as the integer that it is."""
    if not number:
        return "0"
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST_DECIMAL:
        return str(number)
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def time_text(text: str) -> str:
    """A time of any resolution without the last zeros of its fraction, of which a column has as many as it needs."""
    return _LAST_ZEROS.sub(r"\1", text)


def unit_of(label: Any) -> str:
    """How the label of a unit reads: as `text_of` says, and 17.0 as 17 in text as well, without blanks around it.

    Privacy: more of what is written differently is one unit here than among items, since a person who
    is written in two ways would count twice as much as the noise allows for. What reads the same here is
    protected as one: a table must not tell two persons apart by blanks or by a fraction of zeros.
    """
    text = normalize("NFC", text_of(label)).strip()
    whole = _WHOLE.fullmatch(text)
    if whole:
        text = whole[1]
    return "0" if text == "-0" else text


def in_words(work: Callable[[], T]) -> T:
    """Work on values of the caller's own types, whose errors may quote them: they are told without their words."""
    try:
        return work()
    except (PrivmineError, MemoryError):
        raise
    except Exception:  # noqa: BLE001, S110 - any type may raise anything
        pass
    # Here, not in the except block: there the original error would be this one's context.
    raise InputError(
        "The data cannot be read: its own code fails, for example a generator, or the conversion of "
        "a label to text. The reason is withheld, because it may contain data."
    )
