"""Which columns of a frame mean what, by the options and by the types that its schema states; no row is looked at."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from privmine.api import InputError, Unit

_LABELS = frozenset(
    "tinyint smallint int bigint string boolean float double date timestamp_ntz char varchar decimal".split()  # noqa: SIM905 - words
)
#: How many columns a message lists.
_LISTED = 20


@frozen
class Roles:
    """Which column is used as what, by position.

    Attributes:
        lists: whether the item column has lists.
        item: the column of the items, or of the lists of items.
        transaction: the column that tells transactions apart; None where each row is one, or each unit.
        owner: the column that tells whose a transaction is, or None.
        guessed: the options that would have said what was guessed.
        names: the names of all columns.
        whole: whether labels of items are whole numbers.
    """

    lists: bool
    item: int
    transaction: int | None
    owner: int | None
    guessed: dict[str, str]
    names: tuple[str, ...]
    whole: bool

    @property
    def positions(self) -> list[int]:
        """The columns that are read: the item, then the transaction, then the owner."""
        return [place for place in (self.item, self.transaction, self.owner) if place is not None]

    @property
    def columns(self) -> dict[str, str]:
        """The name of the column of each role."""
        places = {"transaction": self.transaction, "item": self.item, "unit": self.owner}
        return {role: self.names[place] for role, place in places.items() if place is not None}


def roles_of(schema: Any, layout: str | None, transaction: str | None, item: str | None, owner: Any) -> Roles:
    """Which columns mean what.

    Args:
        schema: the frame's schema.
        layout: "long", "list" or None.
        transaction: the column of the transaction id, or None.
        item: the column of the items, or None.
        owner: the column of the unit, whether its transactions are limited or merged, or None.

    Raises:
        InputError: a column is not there, has a type that holds no labels, or it is not clear which one is meant.
    """
    names = tuple(schema.names)
    types = [field.dataType.simpleString() for field in schema.fields]
    lists = [place for place, known in enumerate(types) if known.startswith("array<")]
    if layout not in (None, "long", "list"):
        raise InputError(
            f"A Spark frame has the layout long or list, not {layout}. Make a row for each item or a list in each row."
        )
    if owner is not None and not isinstance(owner, str):
        raise InputError("The unit of a Spark frame must be the name of one of its columns.")
    places = {role: _place(names, name) for role, name in (("unit", owner), ("transaction", transaction)) if name}
    guessed: dict[str, str] = {}
    if item is not None:
        place = _place(names, item)
    elif len(lists) == 1 and layout != "long":
        place = lists[0]
        guessed = {} if len(names) == 1 else {"item": names[place]}
    else:
        raise InputError(
            "It is not clear which column of the Spark frame has the items. Pass item=, and where each row is one item "
            f"also transaction=. {_listing(names)}"
        )
    for role, other in places.items():
        if other == place:
            raise InputError(f"The column {names[place]!r} cannot be the item and the {role} at once.")
        _check_label(names[other], types[other])
    is_list = place in lists
    if layout is not None and (layout == "list") != is_list:
        what = "lists, so each row is a basket. Pass layout='list'" if is_list else "no lists. Pass layout='long'"
        raise InputError(f"The column {names[place]!r} contains {what}, or no layout.")
    label = types[place].removeprefix("array<").removesuffix(">") if is_list else types[place]
    _check_label(names[place], label)
    return Roles(is_list, place, places.get("transaction"), places.get("unit"), guessed, names, label in _WHOLE)


_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


def check_long(roles: Roles, unit: Unit) -> None:
    """Refuse rows of single items that nothing brings together."""
    if not roles.lists and roles.transaction is None and not unit.merged:
        raise InputError(
            f"Each row of the Spark frame is one item of the column {roles.names[roles.item]!r}, so transaction= must "
            f"name the column that tells which transaction a row belongs to. {_listing(roles.names)}"
        )


def _place(names: tuple[str, ...], name: str) -> int:
    count = names.count(name)
    if count == 1:
        return names.index(name)
    if count:
        raise InputError(f"The Spark frame has several columns named {name!r}; rename all but one.")
    raise InputError(f"The Spark frame has no column {name!r}. {_listing(names)}")


def _listing(names: tuple[str, ...]) -> str:
    if not names:
        return "It has no columns."
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f"Its columns are: {', '.join(names[:_LISTED])}{more}."


def _check_label(name: str, known: str) -> None:
    word = known.partition("(")[0].partition(" ")[0]
    if word in _LABELS:
        return
    if word == "timestamp":
        raise InputError(
            f"The column {name!r} holds times whose text depends on a time zone. Make labels of them first, for "
            "example with date_format()."
        )
    raise InputError(
        f"The column {name!r} has the type {word.partition('<')[0]}, which holds no labels. Name another column, or "
        "make texts of it first."
    )
