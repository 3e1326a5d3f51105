"""What anybody may know of the data, and what was asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from attrs import field, frozen

from privmine.exact import amount, text_tuple
from privmine.model.universe import Universe
from privmine.printable import printable
from privmine.privacy.cost import Cost
from privmine.privacy.unit import Unit


def _pairs(options: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict(options).items())


@frozen
class Origin:
    """How data was read: names of files and columns, never anything that is in them.

    Attributes:
        layout: how it lies there, such as "long"; empty where the data was not read but made.
        source: what it was read from.
        guessed: the options of `read` that would have said what was guessed.
        assumes: what the way in takes for granted, as sentences for the receipt.
        columns: which column of a table is used as what: the transaction, the item, the unit.
        reference: what the user wrote to name the source: a path, a pattern, or a query with its database. The ledger
            compares it; it is not shown.
    """

    layout: str = ""
    source: str = ""
    guessed: tuple[tuple[str, str], ...] = field(default={}, converter=_pairs)
    assumes: tuple[str, ...] = field(default=(), converter=text_tuple)
    columns: tuple[tuple[str, str], ...] = field(default={}, converter=_pairs)
    reference: str = field(default="", repr=False)

    @property
    def guess(self) -> str:
        """What was guessed, in the words of `read`; empty if nothing was."""
        return ", ".join(f"{option}={value!r}" for option, value in self.guessed)

    def __str__(self) -> str:
        words = f"{self.layout} layout of {self.source}" + (f" (detected: {self.guess})" if self.guessed else "")
        return printable(words)  # the name of a file may hold what steers a terminal


@frozen
class Public:
    """What anybody may know of the data: all that a stage without a curator has to go by.

    Attributes:
        universe: the item universe.
        unit: what one unit of protection is.
        n: the number of transactions, where the user declared it public, else None.
        origin: how the data was read.
    """

    universe: Universe
    unit: Unit = Unit()
    n: int | None = None
    origin: Origin = Origin()


@frozen
class Above:
    """That itemsets of at least a frequency are wanted, instead of a number of them.

    Attributes:
        theta: the frequency.
        k_max: how many there can be at most; public, as θ is.
    """

    theta: Fraction
    k_max: int

    def __str__(self) -> str:
        return f"θ = {amount(self.theta)}, at most {self.k_max:,} itemsets"


@frozen
class Request:
    """What the user asked for.

    Attributes:
        k: how many itemsets to release, clamped to the number of itemsets that exist. Where a frequency was asked for,
            it is the most there can be until a number has been drawn, before the first stage that looks at data.
        requested: k as it was asked for.
        budget: what the whole run may cost.
        public: what is public of the data.
        max_length: the longest itemset to release, or None.
        above: the frequency that itemsets must have, where one was asked for instead of k.
    """

    k: int
    requested: int
    budget: Cost
    public: Public
    max_length: int | None = None
    above: Above | None = None
