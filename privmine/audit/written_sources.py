"""Made-up databases for the audit of reading: neighbours, how they are written, and what they should be read as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import field, frozen

from privmine.io.readers.dispatch import read
from privmine.model import PRIVATE
from privmine.privacy.unit import Unit
from privmine.store.labels import unit_of
from privmine.store.transactions import Transactions

Layout: TypeAlias = Literal["long", "long with gaps", "list", "one-hot"]
Protected: TypeAlias = Literal["transaction", "unit", "merged"]
#: Makes the text of a cell on a theme.
Cell: TypeAlias = Callable[[Random, str], str]
#: Each transaction is the sorted labels of its items; how often each one occurs.
Contents: TypeAlias = Counter[tuple[str, ...]]

#: The columns of a long table, of which the first one has the units.
COLUMNS = ("customer_id", "order_id", "product")
UNIT = COLUMNS[0]
#: How many transactions of a unit count.
MOST = 2


@frozen
class Basket:
    """One transaction, or the part of it in one row, as it is written.

    Attributes:
        unit: how its unit is written here; a unit may be written in several ways.
        key: the id of the transaction.
        labels: the items.
    """

    unit: str
    key: str
    labels: tuple[str, ...]


@frozen
class Neighbours:
    """Two databases of which one has the rows of one more unit.

    Attributes:
        others: the transactions of the smaller database, in their order.
        extra: the transactions that the larger one has besides.
        catalogue: all labels that may occur, in the order of a catalogue.
        protected: what one of them has and the other has not: a transaction, or all that a unit has.
        given: whether the universe is given; else it is taken from the data.
        private: whether which items occur is private; then no universe is given.
        place: where the rows of the added unit stand among the others.
        seed: decides what the place leaves open.
    """

    others: tuple[Basket, ...]
    extra: tuple[Basket, ...]
    catalogue: tuple[str, ...]
    protected: Protected = "transaction"
    given: bool = True
    private: bool = False
    place: Literal["first", "last", "middle", "scattered"] = "first"
    seed: int = 0

    @property
    def publishes_items(self) -> bool:
        """Whether the universe is taken from the data, so that which items occur is told."""
        return not (self.given or self.private)

    def files(self, layout: Layout) -> tuple[list[Basket], list[Basket]]:
        """The rows of both databases; in a long table a row has one item."""
        random = Random(self.seed)  # noqa: S311 - made-up data
        smaller, added = _rows(self.others, layout), _rows(self.extra, layout)
        if self.place == "scattered":
            random.shuffle(smaller)
            places = sorted(random.randint(0, len(smaller)) for _ in added)
        else:
            middle = random.randint(0, len(smaller))
            places = [{"first": 0, "last": len(smaller), "middle": middle}[self.place]] * len(added)
        larger = list(smaller)
        for place, row in reversed([*zip(places, added, strict=True)]):
            larger.insert(place, row)
        return smaller, larger


def _rows(baskets: Sequence[Basket], layout: Layout) -> list[Basket]:
    if layout in ("list", "one-hot"):
        return list(baskets)
    gaps = [()] if layout == "long with gaps" else []
    return [
        Basket(basket.unit, basket.key, labels)
        for basket in baskets
        for labels in [(label,) for label in basket.labels] or gaps
    ]


def _anything(text: str) -> bool:
    return True


@frozen
class Source:
    """A kind of source: how a database is written, and how it is read.

    Attributes:
        name: what the table of results calls it.
        write: writes rows into a folder and returns the options of `privmine.read` that name them: `source`, or `sql`
            and `database`. It is told the catalogue and whether units are told apart.
        options: the other options of `privmine.read`.
        layout: "long" if a row has one item, "list" if a row has a whole transaction, "one-hot" if it does and the
            names of the columns are the catalogue. With gaps, a transaction without items has a row whose item is
            missing.
        owners: whether units are the entries of a column or of a sequence, or cannot be told apart.
        carries: whether a cell of this kind can hold a text at all.
        careful: whether a text is written so that it reads as it is; others are written carelessly.
        label: how a label reads.
        key: what an id reads as; ids that read the same are one.
        guesses: whether something is left to be guessed.
        cell: makes the text of a cell; by default an odd one of any theme.
        themes: the themes of odd cells; by default all.
        absent: a label that this source can hold, and that is in no database; a given universe has it too.
    """

    name: str
    write: Callable[[Path, Sequence[Basket], Neighbours], Mapping[str, Any]]
    options: Mapping[str, Any] = field(factory=dict)
    layout: Layout = "long"
    owners: Literal["column", "sequence", "nobody"] = "column"
    carries: Callable[[str], bool] = _anything
    careful: Callable[[str], bool] = _anything
    label: Callable[[str], str] = str
    key: Callable[[str], str] = str
    guesses: bool = False
    cell: Cell | None = None
    themes: tuple[str, ...] = ()
    absent: str = "never bought"

    def is_careful(self, baskets: Sequence[Basket]) -> bool:
        """Whether all cells of the rows are read unchanged."""
        cells = [cell for row in baskets for cell in (row.unit, row.key, *row.labels)]
        return all(map(self.careful, cells))

    def unit(self, basket: Basket) -> str:
        """Whose a transaction is."""
        return unit_of(self.key(basket.unit))

    def read(self, folder: Path, rows: Sequence[Basket], case: Neighbours) -> Transactions:
        """Write a database and read it."""
        options = {**self.options, **self.write(folder, rows, case)}
        if case.given:
            options["items"] = [self.label(label) for label in case.catalogue[:-1]] + [self.absent]
        if case.private:
            options["items"] = PRIVATE
        owner: Any = UNIT if self.owners == "column" else [row.unit for row in rows]
        if case.protected == "unit":
            options.update(unit=owner, max_baskets=MOST)
        elif case.protected == "merged":
            options.update(merge_by=owner)
        return read(**options)

    def expected(self, rows: Sequence[Basket], case: Neighbours) -> Contents:
        """What a reader should make of carefully written rows: unit by unit, so that none can decide about another."""
        transactions: dict[tuple[str, str], set[str]] = {}
        for number, row in enumerate(rows):
            unit = "" if case.protected == "transaction" else self.unit(row)
            key = self.key(row.key) if self.layout.startswith("long") else str(number)
            transactions.setdefault((unit, key), set()).update(map(self.label, row.labels))
        if case.given:
            universe = set(map(self.label, case.catalogue[:-1]))
            transactions = {name: labels & universe for name, labels in transactions.items()}
        contents: Contents = Counter()
        for owner in dict.fromkeys(unit for unit, _ in transactions):
            own = [labels for (unit, _), labels in transactions.items() if unit == owner]
            if case.protected == "merged":
                own = [set().union(*own)]
            contents += _kept(owner, own) if case.protected == "unit" else Counter(tuple(sorted(one)) for one in own)
        return contents


def _kept(owner: str, own: Sequence[set[str]]) -> Contents:
    """The transactions that a unit keeps when it is alone."""
    labels = sorted(set().union(*own)) or ["nothing"]
    codes = [labels.index(label) for one in own for label in sorted(one)]
    return contents_of(
        Transactions.from_codes(
            np.cumsum([0, *map(len, own)]),
            np.array(codes, dtype=np.int64),
            labels,
            labels,
            unit_of_row=np.zeros(len(own), dtype=np.int64),
            unit_labels=[owner],
            unit=Unit(UNIT, MOST),
        )
    )


def contents_of(transactions: Transactions) -> Contents:
    """The transactions of a database by their labels. They are exact, and so for made-up data only."""
    labels, rows = [str(label) for label in transactions.counted.labels.tolist()], transactions.store.rows  # type: ignore[attr-defined]
    items = [labels[item] for item in rows.items.tolist()]
    return Counter(tuple(sorted(items[start:stop])) for start, stop in pairwise(rows.offsets.tolist()))
