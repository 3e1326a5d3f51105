"""What a reader was asked for, checked where it comes in."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from attrs import evolve, field, fields, frozen
from attrs.converters import optional

from privmine.errors import InputError
from privmine.exact import whole_number
from privmine.io.label_lists import Names, read_items, read_names
from privmine.io.respelling import Respelling
from privmine.model import PRIVATE, Origin, Private
from privmine.privacy.unit import Unit
from privmine.store.labels import in_words, is_label, is_missing, unit_of
from privmine.store.shelf import Shelf, byte_count
from privmine.store.transactions import given_universe, is_private

#: One row an item, one list a row, one column an item, one basket a line, numbers between blanks.
LAYOUTS = ("long", "list", "one-hot", "baskets", "fimi")
#: What reading text takes for granted where a cell in quotes may go on into the next line.
QUOTES_MATCH = (
    "the quotes around cells match within each unit's rows, so that no cell of one unit goes on into the rows "
    "of another",
)

Labels: TypeAlias = list[Any]
#: A universe that is given, `PRIVATE`, or None.
Catalogue: TypeAlias = Labels | Private | None


def _column(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{attribute.name}= is the name of a column, not {type(value).__name__}.")


def _layout(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and value not in LAYOUTS:
        raise InputError(f"There is no layout {value!r}. The layouts are: {', '.join(LAYOUTS)}.")


def _separator(instance: Any, attribute: Any, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str) or len(value) != 1 or value in '"\r\n\0':
        raise InputError(
            'separator= must be one character, such as ";", or the word "tab". It cannot be a quote or a newline.'
        )


def _sheet(instance: Any, attribute: Any, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"sheet= is the name of a sheet, not {type(value).__name__}.")


def _tab(value: Any) -> Any:
    return "\t" if value in ("tab", r"\t") else value


def _encoding(instance: Any, attribute: Any, value: Any) -> None:
    if value is None:
        return
    try:
        known = codecs.lookup(value)._is_text_encoding  # noqa: SLF001 - what bytes.decode() itself goes by
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"Python knows no encoding {value!r}. encoding= can be, for example, utf-8, latin-1, cp1252 or utf-16."
        )


def _most(value: Any) -> int | None:
    if value is None:
        return None
    number = whole_number(value, "max_baskets=")
    if number >= 1 << 31:
        raise InputError(
            f"max_baskets= is too large: {number:,}. No unit has so many transactions; merge them: merge_by=."
        )
    return number


def _labels(values: Any) -> Catalogue:
    if values is None:
        return None
    if is_private(values):
        return PRIVATE
    if isinstance(values, str | bytes | Mapping) or hasattr(values, "columns") or not isinstance(values, Iterable):
        raise InputError(
            f"items= must be a list of labels, not {type(values).__name__}. Pass a list, the name of a file, or "
            "'private'."
        )
    labels = list(values)
    if not labels:
        raise InputError("The universe has no items. List at least one in items=, or leave items= out.")
    if any(is_missing(label) or not is_label(label) for label in labels):
        raise InputError("An entry of items= is not a label. A label is a text or a number, and none may be missing.")
    in_words(lambda: given_universe(labels))  # What is wrong with it is known without data.
    return labels


def is_nobody(entry: Any) -> bool:
    """Whether an entry names no unit."""
    return is_missing(entry) or not unit_of(entry)


@frozen(kw_only=True, eq=False)
class ReadOptions:
    """The options of `read`, once they are known to make sense together.

    Attributes:
        items: the public universe, `PRIVATE`, or None.
        names: the labels of the items that the data knows as numbers, or None.
        layout: one of `LAYOUTS`, or None to detect it.
        transaction: the column that tells which transaction a row belongs to, or None.
        item: the column of the items, or of the lists of items, or None.
        unit: the column that tells whose a transaction is, or one entry for each basket, or None.
        max_baskets: how many transactions of a unit count.
        merge_by: like `unit`, to merge all that a unit has into one transaction.
        separator: what stands between the cells of a line.
        encoding: how text is written in bytes.
        multiline_cells: allow line breaks in cells in quotes, instead of refusing them.
        drop_missing: leave missing values out instead of refusing them.
        drop_missing_units: leave rows out that are nobody's, instead of refusing them.
        trim: leave blanks at the ends of labels out.
        fold_case: let capitals and small letters of labels be the same.
        sheet: the sheet of a workbook, or None if it has only one.
        respelling: how labels are made alike; None if they are as they are written.
        memory_limit: about how many bytes of memory reading and counting may take, or None.
        listener: is told how the data will be read, before its rows are; it may refuse by raising an error.
    """

    items: Catalogue = field(default=None, converter=_labels)
    names: Names | None = None
    layout: str | None = field(default=None, validator=_layout)
    transaction: str | None = field(default=None, validator=_column)
    item: str | None = field(default=None, validator=_column)
    unit: str | Sequence[Any] | None = None
    max_baskets: int | None = field(default=None, converter=_most)
    merge_by: str | Sequence[Any] | None = None
    separator: str | None = field(default=None, converter=_tab, validator=_separator)
    encoding: str | None = field(default=None, validator=_encoding)
    multiline_cells: bool = False
    drop_missing: bool = False
    drop_missing_units: bool = False
    trim: bool = False
    fold_case: bool = False
    sheet: str | None = field(default=None, validator=_sheet)
    respelling: Respelling | None = None
    memory_limit: int | None = field(default=None, converter=optional(byte_count))
    listener: Callable[[Origin], None] | None = None

    @classmethod
    def of(
        cls,
        *,
        items: Iterable[Any] | str | PathLike[str] | None = None,
        names: Mapping[Any, Any] | Iterable[Any] | str | PathLike[str] | None = None,
        **options: Any,
    ) -> ReadOptions:
        """The options as `read` takes them: items and names may be files, which are read here. No data is."""
        trim, fold_case = bool(options.get("trim")), bool(options.get("fold_case"))
        if isinstance(items, str | PathLike) and not is_private(items):
            items = read_items(items, trim=trim)
        labels = _labels(items)
        respelling = Respelling(trim, fold_case) if trim or fold_case else None
        if respelling is not None and labels is not None and labels != PRIVATE:
            respelling, labels = respelling.of_catalogue(labels)
            if trim and "" in labels:
                raise InputError("An entry of items= is blank. Every item needs a label.")
        asked = cls(items=labels, respelling=respelling, **options)
        return asked if names is None else asked.named(read_names(names))

    def named(self, names: Names) -> ReadOptions:
        """The same with labels for numbers, made alike as all labels are."""
        labels = names.labels if self.respelling is None else self.respelling.labels(names.labels)
        return evolve(self, names=evolve(names, labels=labels))

    def respelt(self, labels: Any) -> Any:
        """Labels that are no cells, such as names of columns, made alike if that was asked for."""
        return labels if self.respelling is None else self.respelling.labels(labels)

    def __attrs_post_init__(self) -> None:
        # Here, so that options which contradict each other are refused before anything is read.
        _ = self.protected
        if self.drop_missing_units and self.owner is None:
            raise InputError(
                "drop_missing_units= drops rows without a unit, but no unit is named. Name it with unit= or merge_by=."
            )

    @property
    def wanted(self) -> list[str]:
        """The columns that the options name."""
        return [name for name in (self.transaction, self.item, self.owner) if isinstance(name, str)]

    @property
    def owner(self) -> str | Sequence[Any] | None:
        """What tells whose a transaction is."""
        return self.merge_by if self.unit is None else self.unit

    @property
    def owner_column(self) -> str | None:
        """The column that tells whose a transaction is; None if nobody's transactions are told apart."""
        if self.owner is not None and not isinstance(self.owner, str):
            raise InputError(
                "The unit of a table's rows must be the name of one of its columns, for example "
                "unit='customer_id' or merge_by='customer_id'."
            )
        return self.owner

    @property
    def protected(self) -> Unit:
        """Who is protected."""
        return Unit.of(self.unit, self.max_baskets, self.merge_by)

    def check_entries(self) -> None:
        """Refuse the name of a unit's column where there are no columns."""
        if isinstance(self.owner, str | bytes):
            raise InputError(
                "There are no columns here that unit= or merge_by= could name. Read a table with a "
                "column for the unit, or pass a sequence with one entry for each basket."
            )

    def entries(self, rows: int) -> Labels | None:
        """The unit of each basket, where there are no columns."""
        self.check_entries()
        if self.owner is None:
            return None
        entries = list(self.owner)
        if len(entries) != rows:
            raise InputError("unit= (or merge_by=) must have exactly one entry for each basket.")
        if any(map(is_nobody, entries)) and not self.drop_missing_units:
            raise InputError(
                "The unit of some basket is missing (None, NaN or blank); every basket needs one. Pass "
                "drop_missing_units=True to drop such baskets."
            )
        return entries

    def shelf(self) -> Shelf:
        """What makes long arrays, in memory or beyond the limit in files."""
        return Shelf(self.memory_limit)

    def noted(self, origin: Origin) -> Origin:
        """The origin with what these options leave out, for the receipt."""
        return evolve(origin, assumes=(*origin.assumes, *self.leaves_out)) if self.leaves_out else origin

    def tell(self, origin: Origin) -> None:
        """Tell the listener, if there is one, how the data will be read."""
        if self.listener is not None:
            self.listener(origin)

    @property
    def is_empty(self) -> bool:
        """Whether no option was given."""
        values = (getattr(self, option.name) for option in fields(type(self)) if option.name != "memory_limit")
        return all(value is None or value is False for value in values)

    @property
    def names_columns(self) -> bool:
        """Whether some option names a column, so that the data must be a table."""
        return bool(self.wanted)

    @property
    def declares_table(self) -> bool:
        """Whether the options say that the data is a table, so that the first line of text has names of columns."""
        return self.names_columns or self.layout in ("long", "list", "one-hot")

    @property
    def assumes(self) -> tuple[str, ...]:
        """What reading text takes for granted by these options, as sentences for the receipt."""
        return QUOTES_MATCH if self.multiline_cells else ()

    @property
    def leaves_out(self) -> tuple[str, ...]:
        """What is left out by these options and somebody could miss, as sentences for the receipt."""
        if not self.drop_missing_units:
            return ()
        whose = self.owner if isinstance(self.owner, str) else "unit"
        return (
            f"rows without a value for {whose} are nobody's; they were dropped, and the release does not count them",
        )

    def settled(self, what: str) -> None:
        """Refuse whatever says how data is read where that was settled earlier."""
        for option in fields(type(self)):
            value = getattr(self, option.name)
            if option.name in ("memory_limit", "listener") or value is None or value is False:
                continue
            shell = f"--{option.name.replace('_', '-')}"
            raise InputError(
                f"{option.name}= ({shell}) says how a source is read, and {what} was made of its source already. Drop "
                "it, or convert the source again with it."
            )

    def without_text(self, what: str) -> None:
        """Refuse the options of text files where there are none."""
        self.without_separator(what)
        if self.encoding is not None:
            raise InputError(f"encoding= is for text files, not for {what}. Drop it.")

    def without_sheet(self, what: str) -> None:
        """Refuse the name of a sheet where there are none."""
        if self.sheet is not None:
            raise InputError(f"sheet= is for Excel workbooks, not for {what}. Drop it.")

    def without_separator(self, what: str) -> None:
        """Refuse a separator where cells are told apart otherwise."""
        if self.separator is not None:
            raise InputError(f"separator= is for CSV and basket lines, not for {what}. Drop it.")
        if self.multiline_cells:
            raise InputError(f"multiline_cells= is for CSV and basket lines, not for {what}. Drop it.")

    def only_layout(self, layout: str, what: str) -> None:
        """Refuse a layout that something cannot have."""
        if self.layout not in (None, layout):
            raise InputError(f"{what} has the layout {layout}; drop layout={self.layout!r}.")

    def without_private_items(self, what: str) -> None:
        """Refuse private items where whoever sees the columns knows the items."""
        if self.items == PRIVATE:
            raise InputError(
                f"In {what} the columns are the items, so that they are known and cannot be private. Name them in "
                "items=, or read a long table or lists of items."
            )

    def without_columns(self, what: str) -> None:
        """Refuse the names of columns where there are none."""
        for name, value in (("transaction", self.transaction), ("item", self.item)):
            if value is not None:
                raise InputError(f"{name}= names a column, but {what} has no columns. Drop it.")

    def without_names(self, what: str) -> None:
        """Refuse labels for numbers where the data has labels of its own."""
        if self.names is not None:
            raise InputError(
                f"names= gives labels to items that are numbers, but {what} has its own labels. Drop "
                "it. The public universe is items=."
            )
