"""What a reader was asked for, checked where it comes in."""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from attrs import field, fields, frozen

from privmine.errors import InputError
from privmine.io.names import Names, read_items, read_names
from privmine.model import Origin, Unit
from privmine.store.labels import in_words, is_label, is_missing, unit_of
from privmine.store.transactions import given_universe

#: One row an item, one list a row, one column an item, one basket a line, numbers between blanks.
LAYOUTS = ("long", "list", "one-hot", "baskets", "fimi")
#: What reading text takes for granted where a cell in quotes may go on into the next line.
QUOTES_MATCH = (
    "the quotes around cells match within each unit's rows, so that no cell of one unit goes on into the rows "
    "of another",
)

Labels: TypeAlias = list[Any]


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
            'separator= (--separator) is one character, such as ";", or the word "tab"; no quote and no newline.'
        )


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
            f"Python knows no encoding {value!r}; encoding= (--encoding) is for instance utf-8, latin-1, cp1252 or "
            "utf-16."
        )


def _most(value: Any) -> int | None:
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if isinstance(value, bool) or not 1 <= number < 1 << 31:
        raise InputError(f"max_baskets (--max-baskets) must be a whole number of at least 1, not {value!r}.")
    return number


def _labels(values: Iterable[Any] | None) -> Labels | None:
    if values is None:
        return None
    if isinstance(values, str | bytes | Mapping) or hasattr(values, "columns") or not isinstance(values, Iterable):
        raise InputError(
            f"items= (--items) is a list of labels, not {type(values).__name__}. Pass a list or the name of a file."
        )
    labels = list(values)
    if not labels:
        raise InputError("The universe has no items: items= (--items) must list at least one; leave it out for none.")
    if any(is_missing(label) or not is_label(label) for label in labels):
        raise InputError(
            "Some entry of items= (--items) is no label. A label is a text or a number; none may be missing."
        )
    in_words(lambda: given_universe(labels))  # What is wrong with it is known without data.
    return labels


@frozen(kw_only=True, eq=False)
class Asked:
    """The options of `read`, once they are known to make sense together.

    Attributes:
        items: the public universe, or None.
        names: the labels of the items that the data knows as numbers, or None.
        layout: one of `LAYOUTS`, or None to guess.
        transaction: the column that tells which transaction a row belongs to, or None.
        item: the column of the items, or of the lists of items, or None.
        unit: the column that tells whose a transaction is, or one entry for each basket, or None.
        max_baskets: how many transactions of a unit count.
        merge_by: like `unit`, to merge all that a unit has into one transaction.
        separator: what stands between the cells of a line.
        encoding: how text is written in bytes.
        multiline_cells: allow line breaks in cells in quotes, instead of refusing them.
        drop_missing: leave missing values out instead of refusing them.
        listener: is told how the data will be read, before its rows are; it may refuse by raising an error.
    """

    items: Labels | None = field(default=None, converter=_labels)
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
    listener: Callable[[Origin], None] | None = None

    @classmethod
    def of(
        cls,
        *,
        items: Iterable[Any] | str | PathLike[str] | None = None,
        names: Mapping[Any, Any] | Iterable[Any] | str | PathLike[str] | None = None,
        **options: Any,
    ) -> Asked:
        """The options as `read` takes them: items and names may be files, which are read here. No data is."""
        return cls(
            items=read_items(items) if isinstance(items, str | PathLike) else items,
            names=None if names is None else read_names(names),
            **options,
        )

    def __attrs_post_init__(self) -> None:
        if self.unit is not None and self.merge_by is not None:
            raise InputError(
                "Pass unit= (--unit) to count a few transactions of each unit, or merge_by= (--merge-by) to merge all "
                "that a unit has into one transaction; not both."
            )
        if self.unit is None and self.max_baskets is not None:
            raise InputError(
                "max_baskets= (--max-baskets) says how many transactions of a unit count; name the column that tells "
                "whose a transaction is as well: unit= (--unit)."
            )
        if self.unit is not None and self.max_baskets is None:
            raise InputError(
                "To protect a whole unit, say how many of its transactions count at most: max_baskets=5 "
                "(--max-baskets 5). More of them lose less data, and need more noise: it grows in proportion. Or make "
                "all that a unit has one transaction: merge_by= (--merge-by)."
            )
        if self.owner is not None and self.protected.name == Unit().name:
            raise InputError(
                f"The unit cannot be called {Unit().name!r}: that name stands for transactions that are protected one "
                "by one. Rename the column that tells whose a transaction is."
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
                "The unit of a table's rows is the name of one of its columns: unit='customer_id' (--unit), "
                "or merge_by='customer_id' (--merge-by)."
            )
        return self.owner

    @property
    def protected(self) -> Unit:
        """Who is protected."""
        if self.owner is None:
            return Unit()
        name = self.owner if isinstance(self.owner, str) else getattr(self.owner, "name", None)
        return Unit(str(name or "unit"), self.max_baskets or 1, merged=self.merge_by is not None)

    def check_entries(self) -> None:
        """Refuse the name of a unit's column where there are no columns."""
        if isinstance(self.owner, str | bytes):
            raise InputError(
                "There are no columns here that --unit or --merge-by could name; read a table with a column that tells "
                "whose a transaction is, or in Python give unit= (or merge_by=) as a sequence with one entry for each "
                "basket."
            )

    def entries(self, rows: int) -> Labels | None:
        """The unit of each basket, where there are no columns."""
        self.check_entries()
        if self.owner is None:
            return None
        entries = list(self.owner)
        if len(entries) != rows:
            raise InputError("unit= (or merge_by=) must have exactly one entry for each basket.")
        if any(is_missing(entry) or not unit_of(entry) for entry in entries):
            raise InputError("The unit of some basket is missing (None, NaN or blank); every basket needs one.")
        return entries

    def tell(self, origin: Origin) -> None:
        """Tell the listener, if there is one, how the data will be read."""
        if self.listener is not None:
            self.listener(origin)

    @property
    def is_empty(self) -> bool:
        """Whether no option was given."""
        values = (getattr(self, option.name) for option in fields(type(self)))
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

    def without_text(self, what: str) -> None:
        """Refuse the options of text files where there are none."""
        self.without_separator(what)
        if self.encoding is not None:
            raise InputError(f"encoding= (--encoding) is for text files, not for {what}; drop it.")

    def without_separator(self, what: str) -> None:
        """Refuse a separator where cells are told apart otherwise."""
        if self.separator is not None:
            raise InputError(f"separator= (--separator) is for CSV and basket lines, not for {what}; drop it.")
        if self.multiline_cells:
            raise InputError(
                f"multiline_cells= (--multiline-cells) is for CSV and basket lines, not for {what}; drop it."
            )

    def only_layout(self, layout: str, what: str) -> None:
        """Refuse a layout that something cannot have."""
        if self.layout not in (None, layout):
            raise InputError(f"{what} has the layout {layout}; drop layout={self.layout!r}.")

    def without_columns(self, what: str) -> None:
        """Refuse the names of columns where there are none."""
        for name, value in (("transaction", self.transaction), ("item", self.item)):
            if value is not None:
                raise InputError(f"{name}= (--{name}) names a column, and {what} has none; drop it.")

    def without_names(self, what: str) -> None:
        """Refuse labels for numbers where the data has labels of its own."""
        if self.names is not None:
            raise InputError(
                f"names= (--names) gives labels to items that are numbers, and {what} has labels of its own; drop it. "
                "The public universe is items= (--items)."
            )
