"""How a table is laid out: as the user says, else guessed from the names and the kinds of its columns.

A guess is never silent: it comes with the options that would have said the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import evolve, field, frozen

from privmine.errors import InputError
from privmine.io.readers.options import ReadOptions
from privmine.io.readers.tables import Table, begun

#: What people call the column of a transaction, without "id", "number" and the like.
_TRANSACTION_NAMES = frozenset(
    "transaction trans tid order basket cart invoice receipt ticket session visit purchase sale bill bon".split()  # noqa: SIM905 - words
)
#: What people call the column of an item.
_ITEM_NAMES = frozenset(
    "item product article sku good label itemname productname itemdescription articlename stockcode".split()  # noqa: SIM905 - words
)
_ENDINGS = re.compile(r"(_|-|\s)*(id|ids|no|nr|num|number|key|code|uuid)$")
_KEY = re.compile(r"[a-z]_(id|no|nr|key|uuid)$")
#: How pandas names an index that has no name where it hands rows over; an index is no item.
_INDEX = re.compile(r"__index_level_\d+__")


@frozen
class Layout:
    """Which columns mean what.

    Attributes:
        kind: "long", "list" or "one-hot".
        transaction: the position of the column that tells transactions apart; None where each row is one.
        items: the positions of the columns with items: one, or one for each item.
        owner: the position of the column that tells whose a transaction is, or None.
        guessed: the options that say what was guessed; empty if nothing was.
    """

    kind: str
    transaction: int | None
    items: tuple[int, ...]
    owner: int | None
    guessed: Mapping[str, str] = field(factory=dict)

    @property
    def told(self) -> frozenset[str]:
        """The names of columns that are told with the guess."""
        return frozenset(column for role, column in self.guessed.items() if role in ("transaction", "item"))

    def roles(self, table: Table) -> dict[str, str]:
        """Which column is used as what, as far as names may be shown; in the layout one-hot every other is an item."""
        item = None if self.kind == "one-hot" else self.items[0]
        positions = {"transaction": self.transaction, "item": item, "unit": self.owner}
        named = {role: table.columns[p] for role, p in positions.items() if p is not None}
        return {role: name for role, name in named.items() if name in table.showable}


def choose_layout(table: Table, asked: ReadOptions) -> Layout:
    """The layout of a table.

    Raises:
        InputError: a named column is not there, or nothing can be told for sure. The message lists the columns.
    """
    owner = None if asked.owner_column is None else table.position(asked.owner_column)
    named = {
        role: table.position(column)
        for role, column in (("transaction", asked.transaction), ("item", asked.item))
        if column is not None
    }
    if owner is not None and owner == named.get("item"):
        raise InputError(f"The column {table.columns[owner]!r} cannot be the item and the unit at once.")
    if "item" in named and named["item"] == named.get("transaction"):
        raise InputError(f"The column {table.columns[named['item']]!r} cannot be the item and the transaction at once.")
    # The unit may be the transaction as well: one basket a customer.
    others = [p for p, name in enumerate(table.columns) if p != owner and not _is_index(p, name)]
    chooser = _Chooser(table, asked, owner, named, others)
    layout = chooser.chosen()
    # A guess is told with the names of the columns, so that these must be known to be names.
    if not layout.told <= {*table.showable, *(table.common or ())}:
        raise chooser.unclear()
    return layout


def says_what_it_is(column: str) -> bool:
    """Whether the name of a column is what people call that of a transaction or an item, or ends as a key does."""
    return _is_called(column, _TRANSACTION_NAMES | _ITEM_NAMES) or _KEY.search(column.strip().lower()) is not None


def _is_called(column: str, names: frozenset[str]) -> bool:
    name = re.sub(r"[\W_]", "", column.lower())
    stem = re.sub(r"[\W_]", "", _ENDINGS.sub("", column.strip().lower()))
    return name in names or stem in names


def _is_index(position: int, name: str) -> bool:
    return _INDEX.fullmatch(name) is not None or (position == 0 and name == "")


@frozen
class _Chooser:
    table: Table
    asked: ReadOptions
    owner: int | None
    named: dict[str, int]
    others: list[int]

    def chosen(self) -> Layout:
        layout = self.asked.layout
        if layout is None:
            found = self.guess()
            if found.kind == "long":
                self._check_labels(found.items[0])
            if "layout" not in found.guessed and self.table.columns[found.items[0]] in self.table.inferred:
                return evolve(found, guessed={"layout": found.kind, **found.guessed})
            return found
        if layout in ("baskets", "fimi"):
            raise InputError(
                f"The layout {layout} is for text files; {self.table.name} is a table. {self.table.listing()}"
            )
        return {"long": self.long, "list": self.lists, "one-hot": self.one_hot}[layout]()

    def guess(self) -> Layout:
        item = self.named.get("item")
        lists = [p for p in self.others if self.table.kinds[p] == "list"]
        if item is not None:
            self._check_labels(item)
            return self.lists() if item in lists else self.long()
        if "transaction" in self.named and not lists and len(self.free()) == 1:
            return self.long()
        if len(lists) == 1:
            return self.lists({"item": self.table.columns[lists[0]]})
        if not lists and self.table.named:
            for attempt in (self._long_by_names, self._guessed_one_hot, self._guessed_long):
                found = attempt()
                if found is not None:
                    return found
        raise self.unclear()

    def _check_labels(self, item: int) -> None:
        """Refuse lists that were written as text, each of which would be taken for one item.

        Privacy: this looks at values, and so only where the universe is taken from the data as well. Of a given
        universe such a label is no part.
        """
        if self.table.kinds[item] == "list as text" and self.asked.items is None:
            raise InputError(
                f"{begun(self.table.shown(item))} contains lists that are written as text. Write one "
                "row for each item, for example with frame.explode('products'), or save the lists as "
                "Parquet or JSON lines. If each cell is one item, pass layout='long'."
            )

    def free(self) -> list[int]:
        """Columns that no option has given a meaning."""
        return [p for p in self.others if p not in self.named.values()]

    def long(self) -> Layout:
        transaction, item = self.named.get("transaction"), self.named.get("item")
        guessed: dict[str, str] = {}
        if not self.table.named and None in (transaction, item):
            raise self.unclear()
        if item is None:
            item = self._only(self._called(_ITEM_NAMES)) if len(self.free()) != 1 else self.free()[0]
            if item is None:
                raise self.unclear()
            guessed["item"] = self.table.columns[item]
        if self.table.kinds[item] == "list":
            raise InputError(
                f"{begun(self.table.shown(item))} contains lists, so each row is a basket. Pass "
                "layout='list', or no layout."
            )
        if transaction is None and self.asked.merge_by is None:
            left = [p for p in self.free() if p != item]
            found = self._only(self._called(_TRANSACTION_NAMES, left)) if len(left) != 1 else left[0]
            if found is None:
                raise self.unclear()
            transaction = found
            guessed["transaction"] = self.table.columns[transaction]
        return Layout("long", transaction, (item,), self.owner, guessed)

    def lists(self, guessed: Mapping[str, str] | None = None) -> Layout:
        lists = [p for p in self.others if self.table.kinds[p] == "list"]
        item = self.named.get("item", lists[0] if len(lists) == 1 else None)
        if item is None:
            raise self.unclear()
        only = len(self.table.columns) == 1 and not self.table.inferred
        if guessed is None and "item" not in self.named and not only:
            guessed = {"item": self.table.columns[item]}  # What a column holds was found out by looking at it.
        if self.table.kinds[item] not in ("list", "nothing"):
            self._check_labels(item)
            raise InputError(f"{begun(self.table.shown(item))} holds no lists. {self.table.listing()}")
        return Layout("list", self.named.get("transaction"), (item,), self.owner, guessed or {})

    def one_hot(self, guessed: Mapping[str, str] | None = None, transaction: int | None = None) -> Layout:
        if "item" in self.named:
            raise InputError("In the layout one-hot every column is an item. Drop item=.")
        self.asked.without_private_items("the layout one-hot")
        items = tuple(p for p in self.free() if p != transaction)
        if not items:
            raise InputError(f"{self.table.title} has no column that could be an item. {self.table.listing()}")
        if transaction is None:
            transaction = self.named.get("transaction")
        if len({self.table.columns[p] for p in items}) != len(items):
            raise InputError(f"Two columns of {self.table.name} have the same name; every item needs its own.")
        return Layout("one-hot", transaction, items, self.owner, guessed or {})

    def _guessed_one_hot(self) -> Layout | None:
        free = self.free()
        flags = [p for p in free if self.table.kinds[p] in ("bool", "zero-one")]
        rest = [p for p in free if p not in flags]
        certain = all(self.table.kinds[p] == "bool" for p in flags)
        if not flags or not (certain or len(flags) > 2):
            return None
        if not rest:
            return self.one_hot({"layout": "one-hot"})
        if len(rest) == 1 and "transaction" not in self.named and self._called(_TRANSACTION_NAMES, rest):
            return self.one_hot({"layout": "one-hot", "transaction": self.table.columns[rest[0]]}, rest[0])
        return None

    def _long_by_names(self) -> Layout | None:
        """Names come before kinds: an order that is 0 or 1 in all rows seen is an order all the same."""
        item, transaction = self._only(self._called(_ITEM_NAMES)), self._only(self._called(_TRANSACTION_NAMES))
        if item is None or transaction is None or item == transaction or self.table.kinds[item] == "bool":
            return None
        return self._guessed_long()

    def _guessed_long(self) -> Layout | None:
        free = self.free()
        item = self._only(self._called(_ITEM_NAMES))
        if "transaction" in self.named or self.asked.merge_by is not None:
            found = None if item is None else {"item": item}
        else:
            transaction = self._only(self._called(_TRANSACTION_NAMES))
            if item is not None and transaction is not None and item != transaction:
                found = {"transaction": transaction, "item": item}
            elif len(free) == 2:
                found = self._of_two(free, transaction, item)
            else:
                found = None
        if found is None or any(self.table.kinds[p] == "list" for p in found.values()):
            return None
        roles = {**self.named, **found}
        guessed = {role: self.table.columns[p] for role, p in found.items()}
        return Layout("long", roles.get("transaction"), (roles["item"],), self.owner, guessed)

    def _of_two(self, free: list[int], transaction: int | None, item: int | None) -> dict[str, int] | None:
        """Of two columns the one that is known tells the other; else numbers are transactions, texts items."""
        if item is None and transaction is not None:
            return {"transaction": transaction, "item": next(p for p in free if p != transaction)}
        if item is not None and transaction is None:
            return {"transaction": next(p for p in free if p != item), "item": item}
        kinds = {"text" if self.table.kinds[p] == "list as text" else self.table.kinds[p]: p for p in free}
        return {"transaction": kinds["whole"], "item": kinds["text"]} if set(kinds) == {"whole", "text"} else None

    def _called(self, names: frozenset[str], among: list[int] | None = None) -> list[int]:
        """The columns whose name says what they are."""
        return [p for p in (self.free() if among is None else among) if _is_called(self.table.columns[p], names)]

    @staticmethod
    def _only(found: list[int]) -> int | None:
        return found[0] if len(found) == 1 else None

    def unclear(self) -> InputError:
        """What to say where nothing can be told for sure."""
        return InputError(
            f"It is not clear which columns of {self.table.name} hold what. {self.table.listing()} If "
            "each row is an item, name transaction= and item=. If each row is a list, name item=. If "
            "each column is an item, true or false, pass layout='one-hot'. If each line is a basket "
            "and the first line has no names, pass layout='baskets'."
        )
