"""From the values of a column to codes and labels, a batch at a time.

A label keeps its text. What is no text has one way to be written: integers as they are, whole floats
and decimals as integers (a column with gaps has floats in pandas), times without zeros at their end,
everything else as Arrow casts it to text.

Privacy: how a value reads never depends on other values. Arrow has one scale and one resolution for a
column, so that the value of one customer decides how many zeros all others end in: they are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.io.tables import arrow, begun, decoded, is_list, is_text
from privmine.model import IntArray
from privmine.store.labels import LARGEST_WHOLE, text_of, time_text

#: How many digits a fraction has in each resolution of Arrow.
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def plain(column: Any, name: str) -> Any:
    """An Arrow array of 64-bit integers or of texts that read the same; NaN becomes null.

    Args:
        column: the Arrow array.
        name: what a message calls the column.
    """
    pa = arrow()
    known = column.type
    if pa.types.is_dictionary(known):
        return plain(decoded(column), name)
    if isinstance(known, pa.BaseExtensionType):
        if known.extension_name == "arrow.uuid":
            return _texts(column.storage, lambda value: str(UUID(bytes=value)))
        return plain(column.storage, name)
    if pa.types.is_string(known):
        return column
    if is_text(known):
        return column.cast(pa.string())
    if pa.types.is_uint64(known) or (pa.types.is_decimal(known) and known.scale == 0):
        # As integers if they fit, else as texts: never as something close to them.
        largest = pa.compute.max(column).as_py()
        fits = largest is None or (largest < 2**63 and pa.compute.min(column).as_py() >= -(2**63))
        return column.cast(pa.int64() if fits else pa.string())
    if pa.types.is_integer(known):
        return column.cast(pa.int64())
    if pa.types.is_decimal(known):
        # The widest of those that Arrow finds distinct values of.
        wide = column if pa.types.is_decimal256(known) else column.cast(pa.decimal128(38, known.scale))
        return _texts(wide, text_of)
    if pa.types.is_duration(known):
        # Seconds, since a number alone would be of other units in other columns.
        return _texts(column.cast(pa.int64()), lambda count: text_of(Decimal(count).scaleb(-_DIGITS[known.unit])))
    if pa.types.is_timestamp(known) or pa.types.is_time(known):
        return _texts(column.cast(pa.string()), time_text)
    if pa.types.is_floating(known):
        return _whole(column.cast(pa.float64()))
    if pa.types.is_null(known):
        return column.cast(pa.string())
    if pa.types.is_nested(known) or _is_binary(known):
        what = "lists" if is_list(known) else "records" if pa.types.is_nested(known) else "bytes"
        raise DataError(f"{begun(name)} holds {what}, not labels; name another column.")
    return column.cast(pa.string())


def _is_binary(known: Any) -> bool:
    types = arrow().types
    return any(
        getattr(types, f"is_{kind}")(known) for kind in ("binary", "large_binary", "fixed_size_binary", "binary_view")
    )


def _texts(column: Any, text: Callable[[Any], str]) -> Any:
    """Each value as the text that is made of it alone."""
    pa = arrow()
    encoded = column.dictionary_encode()
    texts = pa.array([text(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return texts.take(encoded.indices)


def _whole(column: Any) -> Any:
    """Floats as integers if all of them are whole, else each as it reads on its own, whatever the others are."""
    pa = arrow()
    column = pa.compute.if_else(pa.compute.is_nan(column), pa.scalar(None, pa.float64()), column)
    numbers = column.drop_null().to_numpy(zero_copy_only=False)
    if bool((np.abs(numbers) <= LARGEST_WHOLE).all()) and bool((numbers == np.floor(numbers)).all()):
        return column.cast(pa.int64())
    return _texts(column, text_of)


def readable(values: Any) -> NDArray[np.int64] | list[str]:
    """The labels of distinct values, as `plain` leaves them."""
    if arrow().types.is_integer(values.type):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)
    texts: list[str] = values.to_pylist()
    return texts


class Codes:
    """A column of labels, as codes of its distinct values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[Any] = []

    def add(self, column: Any) -> NDArray[np.bool_] | None:
        """Take the next batch; where its values are missing, if any is."""
        part = _encoded(column) if _is_encoded(column) else plain(column, self._name).dictionary_encode()
        if self._parts and self._parts[0].type != part.type:
            # One batch had numbers that fit into 64 bits and another one had not.
            text = arrow().string()
            self._parts = [_as_text(earlier, text) for earlier in self._parts]
            part = _as_text(part, text)
        self._parts.append(part)
        return None if not part.null_count else np.asarray(part.is_null().to_numpy(zero_copy_only=False))

    def finish(self) -> tuple[NDArray[np.int32], NDArray[np.int64] | list[str]]:
        """The code of each value, −1 for a missing one, and the labels that the codes stand for."""
        if not self._parts:
            return np.zeros(0, dtype=np.int32), []
        pa = arrow()
        column = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts = []
        labels = readable(column.chunk(0).dictionary)
        codes = np.empty(len(column), dtype=np.int32)
        done = 0
        for chunk in column.chunks:
            codes[done : done + len(chunk)] = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            done += len(chunk)
        return codes, labels


def _is_encoded(column: Any) -> bool:
    """Whether a column consists of codes of texts already, as Parquet has them."""
    types, known = arrow().types, column.type
    return types.is_dictionary(known) and types.is_string(known.value_type) and not column.dictionary.null_count


def _encoded(column: Any) -> Any:
    pa = arrow()
    return column.cast(pa.dictionary(pa.int32(), pa.string()))


def _as_text(part: Any, text: Any) -> Any:
    return part.cast(part.type.value_type).cast(text).dictionary_encode()


class Keys:
    """A column that tells rows apart, such as the number of an order; only its identity matters.

    Integers, and texts that read as integers, are kept as such: no table of a million keys is needed.
    The first text that does not read as an integer makes all of them texts.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: list[IntArray] = []
        self._texts: list[Any] = []

    def add(self, column: Any) -> NDArray[np.bool_] | None:
        """Take the next batch; where its values are missing, if any is."""
        pa = arrow()
        values = plain(column, self._name)
        missing = None if not values.null_count else np.asarray(values.is_null().to_numpy(zero_copy_only=False))
        if missing is not None:
            filler = "0" if is_text(values.type) else 0
            values = values.fill_null(pa.scalar(filler, values.type))
        numbers = None if self._texts else _integers(values)
        if numbers is not None:
            self._numbers.append(numbers)
            return missing
        self._texts += [pa.array(part).cast(pa.string()) for part in self._numbers]
        self._numbers = []
        self._texts.append(values.cast(pa.string()))
        return missing

    def finish(self) -> tuple[NDArray[np.uint64], int]:
        """A number for each row, equal where the keys are, and a bound that all numbers lie below."""
        if self._texts:
            column = arrow().chunked_array(self._texts).dictionary_encode()
            self._texts = []
            codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in column.chunks]
            size = len(column.chunk(column.num_chunks - 1).dictionary)
            return np.concatenate(codes).astype(np.uint64), size
        if not self._numbers:
            return np.zeros(0, dtype=np.uint64), 0
        low = min(int(part.min(initial=0)) for part in self._numbers)
        high = max(int(part.max(initial=0)) for part in self._numbers)
        keys = np.empty(sum(map(len, self._numbers)), dtype=np.uint64)
        done = 0
        for part in self._numbers:
            # Wraps around 2^64 exactly where the difference does not fit into 63 bits.
            np.subtract(part.view(np.uint64), np.int64(low).view(np.uint64), out=keys[done : done + len(part)])
            done += len(part)
        self._numbers = []
        return keys, high - low + 1


def _integers(values: Any) -> IntArray | None:
    """The values as 64-bit integers, if all of them are integers or texts that read as one does."""
    pa = arrow()
    if is_text(values.type):
        if not _are_canonical(values):
            return None
        try:
            values = values.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _are_canonical(texts: Any) -> bool:
    """Whether no text has a zero or a plus in front, so that a cast to integers keeps them apart."""
    _, offsets, data = texts.buffers()
    if data is None:
        return False
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    if lengths.min(initial=1) < 1:
        return False
    characters = np.frombuffer(data, dtype=np.uint8)
    first = characters[ends[:-1]]
    if bool(((first == ord("0")) & (lengths > 1)).any()):
        return False
    signed = np.flatnonzero(first == ord("-"))
    if bool((lengths[signed] < 2).any()) or bool((characters[ends[:-1][signed] + 1] == ord("0")).any()):
        return False
    return bool(((first - ord("0") < 10) | (first == ord("-"))).all())


def sorted_order(labels: Sequence[Any] | NDArray[Any]) -> IntArray:
    """The place of each label when they are sorted as a universe of the same labels is.

    Codes in this order make rows that are sorted already, which saves sorting them once more.
    """
    if isinstance(labels, np.ndarray):
        order = np.argsort(labels)
    else:
        order = np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int64)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places
