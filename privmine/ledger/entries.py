"""What users see of a ledger: frozen values, without anything that depends on the data."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from privmine.privacy import PureDP
from privmine.privacy.payment import Payment
from privmine.privacy.unit import Unit

#: The two privacy definitions that a dataset's budget can be counted in.
PURE = PureDP.name
APPROXIMATE = "(ε, δ)-differential privacy"

#: The unit of a budget unless another was named.
TRANSACTION = Unit().name

FINISHED = "finished"
FAILED = "failed (stays charged)"
UNFINISHED = "unfinished (charged, no result recorded)"


@frozen
class DatasetBudget:
    """The budget of one dataset: its total, and what releases have taken of it.

    Attributes:
        name: what the user calls the dataset.
        total_epsilon: the ε that all releases together may cost.
        total_delta: the same for δ; None where the definition is pure ε.
        spent_epsilon: the sum of the ε of all charges, those of failed releases included.
        spent_delta: the same for δ; None where the definition is pure ε.
        unit: who every release protects: "transaction", or a column such as "customer_id".
        reserved_epsilon: the ε that was granted to accounts, which they have not spent.
        reserved_delta: the same for δ.
        account: the account that this is the budget of; empty for the dataset itself.
        part: the people that this is the budget of, who came later; empty for those of the start.
        until: the last day on which it may be charged; None for a budget without periods.
    """

    name: str
    total_epsilon: Fraction
    total_delta: Fraction | None
    spent_epsilon: Fraction
    spent_delta: Fraction | None
    unit: str = TRANSACTION
    reserved_epsilon: Fraction = Fraction(0)
    reserved_delta: Fraction = Fraction(0)
    account: str = ""
    part: str = ""
    until: date | None = None

    @classmethod
    def of(cls, name: str, epsilon: Fraction, delta: Fraction | None, **more: Any) -> DatasetBudget:
        """A budget of which nothing is spent."""
        nothing = None if delta is None else Fraction(0)
        return cls(name, epsilon, delta, Fraction(0), nothing, **more)

    @property
    def label(self) -> str:
        """The dataset, with the account or the part that this is the budget of."""
        return self.name + (f" / {self.account}" if self.account else "") + (f" + {self.part}" if self.part else "")

    @property
    def definition(self) -> str:
        """The privacy definition of every release of this dataset."""
        return PURE if self.total_delta is None else APPROXIMATE

    @property
    def remaining_epsilon(self) -> Fraction:
        """The largest ε that can still be charged."""
        return self.total_epsilon - self.spent_epsilon - self.reserved_epsilon

    @property
    def remaining_delta(self) -> Fraction | None:
        """The largest δ that can still be charged; None where the definition is pure ε."""
        if self.total_delta is None or self.spent_delta is None:
            return None
        return self.total_delta - self.spent_delta - self.reserved_delta

    @property
    def is_overdrawn(self) -> bool:
        """Whether more is spent and granted than there was."""
        return self.remaining_epsilon < 0 or (self.remaining_delta or 0) < 0

    def charged(self, epsilon: Fraction, delta: Fraction | None) -> DatasetBudget:
        """The budget with one charge more."""
        spent_delta = None if self.spent_delta is None or delta is None else self.spent_delta + delta
        return evolve(self, spent_epsilon=self.spent_epsilon + epsilon, spent_delta=spent_delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; fractions become text, so that nothing is rounded."""
        return {
            "name": self.name,
            "definition": self.definition,
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
