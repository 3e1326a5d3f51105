"""Tables as Arrow record batches, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen

from privmine.errors import DataError, InputError, PrivmineError
from privmine.extras import import_extra

Batches: TypeAlias = Iterator[Any]

#: How many rows are looked at to tell what a column holds.
SAMPLE_ROWS = 1000
#: How many rows are worked on at a time; a frame may come as a single batch.
BATCH_ROWS = 1 << 17
#: What a cell of text in a one-hot column may read as.
YES = frozenset({"1", "1.0", "true", "True", "TRUE"})
NO = frozenset({"0", "0.0", "false", "False", "FALSE"})
#: What lists and sets written as text, by Python or as JSON, begin and end with.
_BRACKETS = frozenset({("[", "]"), ("{", "}")})
_NEARLY_ALL = 0.9
#: What the column of a source is called that is a single column without a name, such as a series.
SERIES = "items"
#: How many columns a message lists.
_LISTED = 20


def arrow() -> Any:
    """The package pyarrow, which comes with an extra."""
    # Arrow looks for pandas by itself, in the midst of its work, and loses an interrupt that comes meanwhile.
    with suppress(Exception):  # it may not be there, or not be whole
        import pandas  # noqa: F401
    import_extra("pyarrow.compute", "Reading tables needs")  # so that it is an attribute of the package
    return import_extra("pyarrow", "Reading tables needs")


def begun(words: str) -> str:
    """Words at the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def withheld(error: Exception) -> str:
    """What is said where nothing of an error can be told."""
    return "some row cannot be read; the reason is withheld, because it may contain data"


def _nothing() -> None:
    pass


def _no_cells(position: int) -> Sequence[Any]:
    return ()


@frozen
class RowGuard:
    """Works on data; what goes wrong is told without its message, which may quote data.

    Attributes:
        name: what messages call the data.
        complaint: says in words what an error of the source means, without its message.
    """

    name: str
    complaint: Callable[[Exception], str] = field(default=withheld, repr=False)

    @property
    def title(self) -> str:
        """The name at the beginning of a sentence."""
        return begun(self.name) if self.name.startswith("the ") else self.name

    def __call__(self, work: Callable[[], Any]) -> Any:
        """What comes of the work."""
        try:
            return work()
        except PrivmineError:
            raise
        except MemoryError:
            problem = "there is not enough memory to read it, or it is damaged"
        except Exception as error:  # noqa: BLE001 - DuckDB, Arrow and whoever makes a stream raise what they like
            problem = self.complaint(error)
        # Here, not in the except block: there the original error would be this one's context.
        raise DataError(f"{self.title}: {problem}.")


@frozen(eq=False)
class Table:
    """A table that can be read once, a batch of rows at a time.

    Attributes:
        name: what messages call it.
        columns: the names of the columns.
        kinds: what each column holds: "bool", "zero-one", "whole", "text", "list", "list as text", "nothing" (missing
            values alone) or "other".
        inferred: the columns whose type was found by looking at values, so that these tell lists from labels.
        batches: gives record batches of the columns at the given positions, in that order.
        complaint: says in words what an error of the source means, without its message.
        named: whether the names seem to be names; the first line of a headless file is data.
        known: the names that messages may show, since they are known to be no data; None for all of them.
        common: further names that a guess may go by, where the rows have the names; no list of columns is shown then,
            since one row could add to it.
        assumes: what reading it takes for granted, as sentences for the receipt.
        guessed: what was guessed to read it, in the words of the options that would say it.
        first: the cells of the column at a position in the first rows, None for one that is missing; cells that may
            or may not be missing are left out. Empty where there are no rows at hand.
        advice: what to check where a column is not found, as a sentence.
        close: lets go of what was opened for the table.
    """

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    batches: Callable[[Sequence[int]], Batches] = field(repr=False)
    complaint: Callable[[Exception], str] = field(default=withheld, repr=False)
    inferred: frozenset[str] = frozenset()
    named: bool = True
    known: frozenset[str] | None = None
    common: frozenset[str] | None = None
    assumes: tuple[str, ...] = ()
    guessed: Mapping[str, str] = field(factory=dict)
    first: Callable[[int], Sequence[Any]] = field(default=_no_cells, repr=False)
    advice: str = ""
    close: Callable[[], None] = field(default=_nothing, repr=False)

    @property
    def guard(self) -> RowGuard:
        """Works on the table."""
        return RowGuard(self.name, self.complaint)

    @property
    def title(self) -> str:
        """The name at the beginning of a sentence."""
        return self.guard.title

    def position(self, column: str) -> int:
        """Where a column is; one that is not there, or there twice, is refused."""
        count = self.columns.count(column)
        if count == 1:
            return self.columns.index(column)
        if count:
            raise InputError(f"{self.title} has several columns named {column!r}; rename all but one.")
        from difflib import get_close_matches

        close = get_close_matches(column, self.showable, n=3)
        hint = f" Did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
        raise InputError(f"{self.title} has no column {column!r}.{hint} {self.listing()}")

    @property
    def showable(self) -> list[str]:
        """The names of columns that messages may show."""
        return [column for column in self.columns if self.known is None or column in self.known]

    def shown(self, position: int) -> str:
        """What a message calls a column: by its name, unless that may be data."""
        name = self.columns[position]
        if self.known is None or name in self.known:
            return f"the column {name!r}"
        # Where the rows have the names, a row decides about the place as well.
        return f"column {position + 1}" if self.common is None else "a column whose name is not shown"

    def listing(self) -> str:
        """A sentence with the names of the columns, unless they may be data, and one with advice if there is any."""
        return f"{self._names()} {self.advice}".rstrip()

    def _names(self) -> str:
        if not self.named:
            return (
                "It is not certain that its first line has the names of its columns, so they are not shown. If it "
                "has, pass them as they stand there; if it has none, add a line with names."
            )
        if not self.columns:
            return "It has no columns."
        names = self.showable
        if not names or self.common is not None:
            return "The names of its columns are not shown, because they may be data; pass them as they stand there."
        more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
        others = "" if len(names) == len(self.columns) else " Others are not shown, because they may be data."
        return f"Its columns are: {', '.join(names[:_LISTED])}{more}.{others}"


def kind_of(column: Any) -> str:
    """What the values of an Arrow array are."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = decoded(column)
    known = column.type
    if pa.types.is_boolean(known):
        return "bool"
    if is_list(known):
        return "list"
    if pa.types.is_integer(known) or pa.types.is_floating(known):
        values = column.drop_null().to_numpy(zero_copy_only=False)
        values = values[values == values]
        if len(values) and bool(np.isin(values, (0, 1)).all()):
            return "zero-one"
        return "whole" if pa.types.is_integer(known) or bool((values == np.floor(values)).all()) else "other"
    if is_text(known):
        return kind_of_texts(value for value in column.to_pylist() if value is not None)
    return "nothing" if pa.types.is_null(known) else "other"


def decoded(column: Any) -> Any:
    """The values that the codes of an Arrow array stand for; Arrow cannot cast codes of every kind of text."""
    values = column.dictionary
    return (values.cast(arrow().string()) if is_text(values.type) else values).take(column.indices)


def kinds_of(schema: Any, sample: Any) -> tuple[str, ...]:
    """What the columns of a table hold, going by a record batch of it, or by their types if there is none."""
    pa = arrow()
    if sample is None:
        return tuple(kind_of(pa.nulls(0, column.type)) for column in schema)
    return tuple(map(kind_of, sample.slice(0, SAMPLE_ROWS).columns))


def kind_of_texts(values: Iterator[str]) -> str:
    """What cells of text hold."""
    texts = set(values)
    if texts and texts <= YES | NO:
        return "zero-one"
    if texts and all(text.isascii() and text.isdigit() for text in texts):
        return "whole"
    cells = [text.strip() for text in texts if text.strip()]
    as_lists = sum((cell[0], cell[-1]) in _BRACKETS for cell in cells)
    return "list as text" if cells and as_lists >= _NEARLY_ALL * len(cells) else "text"


def is_list(known: Any) -> bool:
    """Whether an Arrow type is one of lists."""
    types = arrow().types
    return any(
        getattr(types, check)(known)
        for check in ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    )


def is_text(known: Any) -> bool:
    """Whether an Arrow type is one of texts."""
    types = arrow().types
    return bool(types.is_string(known) or types.is_large_string(known) or types.is_string_view(known))


def from_stream(source: Any, name: str, complaint: Callable[[Exception], str] = withheld) -> Table:
    """A table of anything that hands its rows over as an Arrow C stream.

    Args:
        source: what has the rows.
        name: what messages call it.
        complaint: says in words what an error of the source means.
    """
    pa = arrow()
    reader = _reader(pa, source, name)
    names = tuple(str(column) for column in reader.schema.names)
    guarded = RowGuard(name, complaint)
    first = guarded(lambda: next(iter(reader), None))
    kinds = guarded(lambda: kinds_of(reader.schema, first))

    def batches(positions: Sequence[int]) -> Batches:
        for batch in chain(() if first is None else (first,), reader):
            wanted = batch.select(list(positions))
            for start in range(0, wanted.num_rows, BATCH_ROWS):
                yield wanted.slice(start, BATCH_ROWS)

    return Table(name, names, kinds, batches, complaint)


def _reader(pa: Any, source: Any, name: str) -> Any:
    """The rows of a frame, or of a single column such as a series."""
    with suppress(Exception):  # whoever makes the stream raises what they like, data and all
        return pa.RecordBatchReader.from_stream(source)
    for column in (pa.chunked_array, pa.array):
        with suppress(Exception):
            return pa.table({SERIES: column(source)}).to_reader()
    raise DataError(
        f"{RowGuard(name).title} does not convert to Arrow: most likely two columns have the same name, or a column "
        "has a type that Arrow does not know. Pass the columns that are needed only, each of one type, for instance "
        "frame[['order_id', 'product']].astype('string'), which keeps missing values missing."
    )
