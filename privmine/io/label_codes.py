"""From the values of a column to codes and labels, a batch at a time.

A label keeps its text. What is no text has one way to be written: integers as they are, whole floats
and decimals as integers (a column with gaps has floats in pandas), times without zeros at their end,
everything else as Arrow casts it to text.

Privacy: how a value reads never depends on other values. Arrow has one scale and one resolution for a
column, so that the value of one customer decides how many zeros all others end in: they are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from privmine.errors import DataError
from privmine.io.readers.tables import arrow, begun, decoded, is_list, is_text
from privmine.io.respelling import Respell
from privmine.model import IntArray
from privmine.store.labels import LARGEST_WHOLE, text_of, time_text
from privmine.store.shelf import Column, Shelf

#: Integers from 0 to here are looked up in a table: 64 MB at most.
_SMALL = 1 << 24
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
        raise DataError(f"{begun(name)} contains {what}, not labels. Name another column.")
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


class Codes:
    """Gives each label of a column a number, its code, batch by batch in the order of their first batches.

    Small integers are looked up in a table, texts among those that are known. A column of which some
    batches are numbers and others texts may give one label two codes: they read the same.
    """

    def __init__(self, name: str, respell: Respell | None = None) -> None:
        self._name = name
        self._respell = respell
        #: How texts are respelt, as far as it is known.
        self._respelt: dict[str, str | None] = {}
        self._count = 0
        #: The labels in the order of their codes: arrays of integers, or of texts of Arrow.
        self._labels: list[Any] = []
        self._small = np.zeros(0, dtype=np.int32)
        self._large: dict[int, int] = {}
        self._texts: Any = None
        self._text_codes = np.zeros(0, dtype=np.int32)
        #: The last dictionary of texts, which may come again, and its codes.
        self._last: tuple[Any, NDArray[np.int32]] | None = None

    def encode(self, column: Any) -> NDArray[np.int32]:
        """The code of each value of the next batch, −1 for a missing one."""
        pa = arrow()
        values = column if _is_encoded(column) else plain(column, self._name)
        if pa.types.is_integer(values.type):
            return self._of_integers(values)
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        texts = encoded.dictionary
        return _taken(self._of_texts(texts) if self._respell is None else self._of_respelt(texts), encoded.indices)

    def labels(self) -> NDArray[np.int64] | list[str]:
        """The labels that the codes stand for."""
        if all(isinstance(part, np.ndarray) for part in self._labels):
            return np.concatenate([np.zeros(0, dtype=np.int64), *self._labels])
        return [
            text
            for part in self._labels
            for text in (map(str, part.tolist()) if isinstance(part, np.ndarray) else part.to_pylist())
        ]

    def _of_integers(self, values: Any) -> NDArray[np.int32]:
        if values.null_count:
            encoded = values.dictionary_encode()
            return _taken(self._of_integers(encoded.dictionary), encoded.indices)
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)
        if not len(numbers):
            return np.zeros(0, dtype=np.int32)
        if numbers.min() >= 0 and numbers.max() < _SMALL:
            return self._of_small(numbers)
        encoded = values.dictionary_encode()
        known = np.asarray(encoded.dictionary.to_numpy(zero_copy_only=False), dtype=np.int64)
        codes = np.empty(len(known), dtype=np.int32)
        small = (known >= 0) & (known < _SMALL)
        codes[small] = self._of_small(known[small])
        codes[~small] = self._of_large(known[~small])
        return _taken(codes, encoded.indices)

    def _of_small(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        largest = int(numbers.max(initial=-1))
        if largest >= len(self._small):
            wider = np.full(max(2 * len(self._small), largest + 1), -1, dtype=np.int32)
            wider[: len(self._small)] = self._small
            self._small = wider
        codes: NDArray[np.int32] = self._small[numbers]
        if codes.min(initial=0) < 0:
            fresh = np.unique(numbers[codes < 0])
            self._small[fresh] = self._new(fresh, len(fresh))
            codes = self._small[numbers]
        return codes

    def _of_large(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        fresh = [number for number in numbers.tolist() if number not in self._large]
        self._large.update(zip(fresh, self._new(np.array(fresh, dtype=np.int64), len(fresh)).tolist(), strict=True))
        return np.array([self._large[number] for number in numbers.tolist()], dtype=np.int32)

    def _of_texts(self, texts: Any) -> NDArray[np.int32]:
        if self._last is not None and self._last[0].equals(texts):
            return self._last[1]
        pa = arrow()
        if self._texts is None:
            self._texts = texts.slice(0, 0)
        places = pa.compute.index_in(texts, value_set=self._texts)
        fresh = texts.filter(places.is_null()) if places.null_count else texts.slice(0, 0)
        if len(fresh):
            fresh = fresh.unique()
            self._texts = pa.concat_arrays([self._texts, fresh])
            self._text_codes = np.concatenate([self._text_codes, self._new(fresh, len(fresh))])
            places = pa.compute.index_in(texts, value_set=self._texts)
        codes: NDArray[np.int32] = self._text_codes[places.to_numpy(zero_copy_only=False)]
        self._last = texts, codes
        return codes

    def _of_respelt(self, texts: Any) -> NDArray[np.int32]:
        """The codes of texts once they are respelt, −1 for those of which nothing is left."""
        assert self._respell is not None
        written = texts.to_pylist()
        for text in written:
            if text not in self._respelt:
                self._respelt[text] = self._respell(text)
        meant = arrow().array([self._respelt[text] for text in written], texts.type)
        codes = np.full(len(meant), -1, dtype=np.int32)
        codes[np.asarray(meant.is_valid())] = self._of_texts(meant.drop_null())
        return codes

    def _new(self, labels: Any, count: int) -> NDArray[np.int32]:
        self._labels.append(labels)
        codes = np.arange(self._count, self._count + count, dtype=np.int32)
        self._count += count
        return codes


def _taken(codes: NDArray[np.int32], indices: Any) -> NDArray[np.int32]:
    """The codes at Arrow's indices, −1 where an index is missing."""
    places = indices.fill_null(len(codes)) if indices.null_count else indices
    taken: NDArray[np.int32] = np.append(codes, np.int32(-1))[places.to_numpy(zero_copy_only=False)]
    return taken


def _is_encoded(column: Any) -> bool:
    """Whether a column consists of codes of texts already, as Parquet has them."""
    types, known = arrow().types, column.type
    return types.is_dictionary(known) and types.is_string(known.value_type) and not column.dictionary.null_count


class Keys:
    """A column that tells rows apart, such as the number of an order; only its identity matters.

    Of rows that follow one another with the same key only the first one's is kept. Integers, and texts
    that read as integers, are kept as such: no table of a million keys is needed. The first text that
    does not read as an integer makes all of them texts.
    """

    def __init__(self, name: str, shelf: Shelf) -> None:
        self._name = name
        self._numbers: Column | None = shelf.column(np.int64)
        self._texts: list[Any] = []

    def plain(self, column: Any) -> Any:
        """The keys of the next batch, as Arrow array of integers or texts."""
        return plain(column, self._name)

    def identities(self, values: Any) -> IntArray:
        """A number for each value of a batch without missing ones, equal where the values are."""
        numbers = None if self._numbers is None else _integers(values)
        if numbers is not None:
            return numbers
        self._turn_to_texts()
        codes = values.cast(arrow().string()).dictionary_encode().indices
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)

    def add(self, values: Any, numbers: IntArray, starts: IntArray) -> None:
        """Keep the keys of a batch at some places.

        Args:
            values: what `plain` gave.
            numbers: what `identities` gave.
            starts: the places.
        """
        if self._numbers is not None:
            self._numbers.add(numbers[starts])
        else:
            pa = arrow()
            self._texts.append(values.cast(pa.string()).take(pa.array(starts)))

    def finish(self) -> tuple[NDArray[np.uint64], int]:
        """A number for each kept key, equal where the keys are, and a bound that all numbers lie below."""
        if self._numbers is None:
            column = arrow().chunked_array(self._texts, arrow().string()).dictionary_encode()
            self._texts = []
            codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in column.chunks]
            size = max((len(chunk.dictionary) for chunk in column.chunks), default=0)
            return np.concatenate([np.zeros(0, dtype=np.uint64), *codes]).astype(np.uint64), size
        numbers = self._numbers.finish()
        low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        if not low:
            return numbers.view(np.uint64), high + 1
        # Wraps around 2^64 exactly where the difference does not fit into 63 bits.
        return numbers.view(np.uint64) - np.int64(low).view(np.uint64), high - low + 1

    def _turn_to_texts(self) -> None:
        if self._numbers is not None:
            pa = arrow()
            self._texts.append(pa.array(self._numbers.finish()).cast(pa.string()))
            self._numbers = None


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
