"""Who is protected: parsed here, and put into words here."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from attrs import frozen

from privmine.errors import InputError


def unit_called(column: str) -> str:
    """What a unit is called by the name of its column: one printable line, without the blanks around it.

    Headers of exported tables often have such blanks, and those of workbooks line breaks. An accent may be one
    character or two.
    """
    return normalize("NFC", "".join(sign if sign.isprintable() else " " for sign in column).strip())


@frozen
class Unit:
    """Who is protected: whose data may come or go without changing an outcome's probability much.

    Attributes:
        name: "transaction", or the column that tells whose a transaction is, such as "customer_id".
        baskets: the most transactions that one unit has in the data; noise grows with it.
        merged: whether all that a unit has was merged into one transaction.
    """

    name: str = "transaction"
    baskets: int = 1
    merged: bool = False

    def __attrs_post_init__(self) -> None:
        # The scale of all noise is a multiple of it, so that a fraction or a 0 here would protect nobody.
        whole = isinstance(self.baskets, int) and not isinstance(self.baskets, bool)
        if not whole or self.baskets < 1 or (self.merged and self.baskets > 1):
            raise InputError(
                "The most transactions of one unit must be a whole number of at least 1, and exactly 1 if they are "
                f"merged, not {self.baskets!r}."
            )

    @classmethod
    def of(cls, unit: Any, max_baskets: int | None, merge_by: Any) -> Unit:
        """Who is protected, by the options of `read`: a column, or anything with a name of its own.

        Raises:
            InputError: the options contradict each other, or one is missing.
        """
        if merge_by is not None and (unit is not None or max_baskets is not None):
            raise InputError(
                "merge_by= cannot be combined with unit= or max_baskets=. Pass unit= and max_baskets= to count a few "
                "transactions of each unit, or merge_by= to merge all transactions of a unit into one."
            )
        if unit is None and max_baskets is not None:
            raise InputError(
                "max_baskets= says how many transactions of a unit count, but no unit is given. Name "
                "the column of the unit: unit=."
            )
        if unit is not None and max_baskets is None:
            raise InputError(
                "To protect a whole unit, specify how many of its transactions count at most, for "
                "example max_baskets=5. More transactions lose less data, but need proportionally "
                "more noise. Or merge all transactions of a unit into one: merge_by=."
            )
        owner = merge_by if unit is None else unit
        if owner is None:
            return cls()
        name = owner if isinstance(owner, str) else getattr(owner, "name", None)
        made = cls(unit_called(str(name or "")) or "unit", max_baskets or 1, merged=merge_by is not None)
        if made.name == cls().name:
            raise InputError(
                f"The unit cannot be called {made.name!r}: that name stands for transactions that are protected one "
                "by one. Rename the column that tells whose a transaction is."
            )
        return made

    @property
    def is_transaction(self) -> bool:
        """Whether each transaction is protected on its own, whoever it belongs to."""
        return self == Unit()

    @property
    def whom(self) -> str:
        """Who is protected, in a few words."""
        return self._by_kind(
            "one transaction, not one customer",
            f"one {self.name}, whose transactions were merged into one",
            f"one {self.name}, of whose transactions at most {self.baskets} are counted",
        )

    def change(self, *, replaced: bool) -> str:
        """What neighbours differ by, as the beginning of a sentence.

        Args:
            replaced: whether one unit replaces another, because the number of transactions is published.
        """
        whole, other = ("it", "another") if self.is_transaction else (f"all that one {self.name} has", "all of another")
        if replaced:
            return f"as the number of transactions is published, replacing {whole} by {other}"
        return f"adding or removing {whole}"

    @property
    def counted(self) -> str:
        """What counts are of, as part of a sentence."""
        return self._by_kind(
            "transactions",
            f"transactions, one for each {self.name}",
            f"counted transactions, at most {self.baskets} of each {self.name}",
        )

    @property
    def limit(self) -> str:
        """How the transactions of a unit were limited, for a log; empty if they were not."""
        return self._by_kind(
            "",
            f"merged by {self.name}",
            f"at most {self.baskets} transaction{'' if self.baskets == 1 else 's'} a {self.name}",
        )

    def _by_kind(self, each: str, merged: str, limited: str) -> str:
        """The words for transactions that each stand alone, that are merged, or of which a unit has only some."""
        return each if self.is_transaction else merged if self.merged else limited
