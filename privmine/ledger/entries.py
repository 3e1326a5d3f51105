"""What users see of a ledger: frozen values, without anything that depends on the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import date, datetime
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

from attrs import field, frozen

from privmine.privacy import PureDP
from privmine.privacy.payment import Payment
from privmine.privacy.unit import Unit

#: The two privacy definitions that a dataset's budget can be counted in.
PURE = PureDP.name
APPROXIMATE = "(ε, δ)-differential privacy"
#: The two ways in which what releases cost is added up.
SUMS, RHO = "sums", "rho"

#: The unit of a budget unless another was named.
TRANSACTION = Unit().name

FINISHED = "finished"
FAILED = "failed (stays charged)"
UNFINISHED = "unfinished (charged, no result recorded)"


@frozen
class Price:
    """What a release, a grant or a period states of itself.

    Attributes:
        epsilon: its ε.
        delta: its δ; None of pure ε.
        rho: the ρ of which (ε, δ) is what it is worth; None where nobody stated one.
        items_delta: the part of δ with which an item may be named that only one unit has, where items are private.
    """

    epsilon: Fraction
    delta: Fraction | None = None
    rho: Fraction | None = None
    items_delta: Fraction = Fraction(0)


#: What a budget counts: ε and δ, or ρ and the part of δ for private items.
Amounts: TypeAlias = tuple[Fraction, Fraction | None]


@frozen(kw_only=True)
class DatasetBudget(ABC):
    """The budget of one dataset: its total, and what releases have taken of it.

    Attributes:
        name: what the user calls the dataset.
        unit: who every release protects: "transaction", or a column such as "customer_id".
        account: the account that this is the budget of; empty for the dataset itself.
        part: the people that this is the budget of, who came later; empty for those of the start.
        until: the last day on which it may be charged; None for a budget without periods.
    """

    #: How releases are added up: the ε and the δ of each, or their ρ.
    composition: ClassVar[str]

    name: str
    unit: str = TRANSACTION
    account: str = ""
    part: str = ""
    until: date | None = None

    @property
    def label(self) -> str:
        """The dataset, with the account or the part that this is the budget of."""
        return self.name + (f" / {self.account}" if self.account else "") + (f" + {self.part}" if self.part else "")

    @property
    def definition(self) -> str:
        """The privacy definition of every release of this dataset."""
        return PURE if self.total_delta is None else APPROXIMATE

    @property
    @abstractmethod
    def total_epsilon(self) -> Fraction:
        """The ε that all releases together may cost."""

    @property
    @abstractmethod
    def total_delta(self) -> Fraction | None:
        """The δ that they may cost; None where the definition is pure ε."""

    @property
    @abstractmethod
    def spent_epsilon(self) -> Fraction:
        """The ε of all charges together, those of failed releases included."""

    @property
    @abstractmethod
    def spent_delta(self) -> Fraction | None:
        """The same for δ; None where the definition is pure ε."""

    @property
    @abstractmethod
    def reserved_epsilon(self) -> Fraction:
        """The ε that was granted to accounts, which they have not spent."""

    @property
    @abstractmethod
    def reserved_delta(self) -> Fraction:
        """The same for δ."""

    @property
    @abstractmethod
    def remaining_epsilon(self) -> Fraction:
        """The largest ε that can still be charged."""

    @property
    @abstractmethod
    def remaining_delta(self) -> Fraction | None:
        """The largest δ that can still be charged; None where the definition is pure ε."""

    @property
    @abstractmethod
    def is_overdrawn(self) -> bool:
        """Whether more is spent and granted than there was."""

    @abstractmethod
    def cost(self, price: Price) -> Amounts:
        """What a charge takes; refused where it does not add up with the others."""

    @abstractmethod
    def worth(self, price: Price) -> Amounts:
        """What a grant, a part or a period has; refused where it is of another definition."""

    @abstractmethod
    def refuse_overspending(self, amounts: Amounts, event: str = "charge") -> None:
        """Refuse a charge or a grant that exceeds what is left."""

    @abstractmethod
    def charged(self, amounts: Amounts) -> Self:
        """The budget with one charge more."""

    @abstractmethod
    def with_total(self, amounts: Amounts, *, account: str = "", part: str = "") -> Self:
        """A budget of an account or a part, of which nothing is spent."""

    @abstractmethod
    def emptied(self) -> Self:
        """With nothing left."""

    @abstractmethod
    def renewed(self, amounts: Amounts, until: date) -> Self:
        """In a new period: what was spent stays spent, and what was not has lapsed."""

    @abstractmethod
    def sharing(self, accounts: Iterable[Self]) -> Self:
        """With what these accounts have left set aside."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        return {
            "name": self.name,
            "definition": self.definition,
            "composition": self.composition,
            "unit": self.unit,
            "total_epsilon": _text(self.total_epsilon),
            "spent_epsilon": _text(self.spent_epsilon),
            "remaining_epsilon": _text(self.remaining_epsilon),
            "total_delta": _text(self.total_delta),
            "spent_delta": _text(self.spent_delta),
            "remaining_delta": _text(self.remaining_delta),
            "reserved_epsilon": _text(self.reserved_epsilon),
            "reserved_delta": _text(self.reserved_delta),
            "account": self.account,
            "part": self.part,
            "until": None if self.until is None else self.until.isoformat(),
        }


@frozen
class Entry:
    """One line of the log.

    Attributes:
        sequence: its number, from 1 without gaps.
        time: when it was written, in UTC.
        dataset: the dataset that it is about.
        event: "init", "charge", "finished" or "failed"; "grant", "revoke", "renew" or "grow".
        charge: the number of the charge that finished or failed, else None.
        epsilon: the total of an init, the amount of a charge, else None.
        delta: the same for δ; None where the definition is pure ε.
        note: what the caller wrote beside it, or the class of the error of a release that failed.
        state: of a charge, what became of it; empty for other events.
        unit: who the dataset's releases protect.
        by: who wrote it, as their operating system names them; empty in rows of earlier versions.
        host: the machine from which it was written.
        origin: what the charged release was read from, in public words such as the name of a file.
        account: the account that was charged or granted.
        part: the people who were charged or came, where it is not all.
        people: of rows that came, whether they are of "new" people or of the "same".
        until: of a period, its last day.
        checksum: the checksum of its row, which covers all rows before it.
        rho: the ρ that it counts, where the budget adds up ρ; else None.
        items_delta: the part of δ that it counts for private items, where the budget adds up ρ; else None.
    """

    sequence: int
    time: datetime
    dataset: str
    event: str
    charge: int | None
    epsilon: Fraction | None
    delta: Fraction | None
    note: str
    state: str
    unit: str = TRANSACTION
    by: str = ""
    host: str = ""
    origin: str = ""
    account: str = ""
    part: str = ""
    people: str = ""
    until: str = ""
    checksum: str = ""
    rho: Fraction | None = None
    items_delta: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        return {
            "sequence": self.sequence,
            "time": self.time.isoformat(),
            "dataset": self.dataset,
            "event": self.event,
            "charge": self.charge,
            "epsilon": _text(self.epsilon),
            "delta": _text(self.delta),
            "note": self.note,
            "state": self.state,
            "unit": self.unit,
            "by": self.by,
            "host": self.host,
            "origin": self.origin,
            "account": self.account,
            "part": self.part,
            "people": self.people,
            "until": self.until,
            "checksum": self.checksum,
            "rho": _text(self.rho),
            "items_delta": _text(self.items_delta),
        }


@frozen
class LedgerCharge:
    """The handle of one charge: proof that the amount is in the ledger, and where it stands there.

    Attributes:
        id: the number of its row.
        dataset: the dataset that was charged.
        epsilon: the ε of the charge.
        delta: its δ; None where the definition is pure ε.
        payment: what a receipt says of the row.
    """

    id: int
    dataset: str
    epsilon: Fraction
    delta: Fraction | None = None
    payment: Payment | None = field(default=None, eq=False)


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)
