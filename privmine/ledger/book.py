"""The sums: what the rows leave of each budget, and how each charge ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction

from attrs import define, field

from privmine.errors import UnknownNameError
from privmine.ledger.chain import AlteredError, Row
from privmine.ledger.details import read_details
from privmine.ledger.entries import FAILED, FINISHED, TRANSACTION, UNFINISHED, DatasetBudget, Entry

#: Begins the fingerprint of a source. Earlier versions of privmine wrote fingerprints of the data's content, without
#: it; those are kept, because checksums are computed from them, and never compared with anything.
PUBLIC = "public:"

_FRACTION = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")


def write_fraction(value: Fraction) -> str:
    """The one way in which an amount is stored."""
    return f"{value.numerator}/{value.denominator}"


def read_fraction(text: str) -> Fraction:
    """Read what `write_fraction` wrote, and nothing else."""
    match = _FRACTION.fullmatch(text)
    if match is None:
        raise AlteredError("an amount is not a positive fraction")
    try:
        value = Fraction(int(match[1]), int(match[2]))
    except ValueError:  # more digits than Python converts
        raise AlteredError("an amount has too many digits") from None
    if write_fraction(value) != text:
        raise AlteredError("an amount is not in lowest terms")
    return value


@define
class Book:
    """All that the rows say.

    Attributes:
        budgets: the budget of each dataset, in the order of their creation.
        charges: the row of each charge, by its number.
        endings: the event that ended a charge, by the number of the charge.
        sources: the first keyed fingerprint of a source that was recorded for a dataset.
        rows: the rows themselves.
    """

    budgets: dict[str, DatasetBudget] = field(factory=dict)
    charges: dict[int, Row] = field(factory=dict)
    endings: dict[int, str] = field(factory=dict)
    sources: dict[str, str] = field(factory=dict, repr=False)
    rows: list[Row] = field(factory=list, repr=False)

    @classmethod
    def replay(cls, rows: Iterable[Row]) -> Book:
        """Add up rows whose checksums are right. Rows that privmine would not have written are refused."""
        book = cls()
        for row in rows:
            if not f"{row.dataset}{row.note}{row.unit or ''}".isprintable():
                raise AlteredError(f"row {row.sequence} has text that privmine does not write")
            if row.unit is not None and row.event != "init":
                raise AlteredError(f"row {row.sequence} names a unit, which only the budget has")
            read_details(row.details)
            match row.event:
                case "init":
                    book._open_budget(row)
                case "charge":
                    book._add_charge(row)
                case "finished" | "failed":
                    book._end_charge(row)
                case _:
                    raise AlteredError(f"row {row.sequence} has an unknown event")
            book.rows.append(row)
        return book

    def budget(self, name: str) -> DatasetBudget:
        """The budget of a dataset that must exist."""
        try:
            return self.budgets[name]
        except KeyError:
            raise UnknownNameError(
                "dataset in the ledger",
                name,
                self.budgets,
                hint="Give it a budget with `privmine budget init` or `Ledger.init`.",
            ) from None

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """The log, of one dataset or of all."""
        return tuple(self._entry(row) for row in self.rows if dataset is None or row.dataset == dataset)

    def _open_budget(self, row: Row) -> None:
        if row.dataset in self.budgets or row.epsilon is None or row.unit == TRANSACTION:
            raise AlteredError(f"row {row.sequence} cannot open a budget")
        delta = None if row.delta is None else read_fraction(row.delta)
        self.budgets[row.dataset] = DatasetBudget(
            name=row.dataset,
            total_epsilon=read_fraction(row.epsilon),
            total_delta=delta,
            spent_epsilon=Fraction(0),
            spent_delta=None if delta is None else Fraction(0),
            unit=TRANSACTION if row.unit is None else row.unit,
        )

    def _add_charge(self, row: Row) -> None:
        budget = self.budgets.get(row.dataset)
        if budget is None or row.epsilon is None or (budget.spent_delta is None) != (row.delta is None):
            raise AlteredError(f"row {row.sequence} charges a dataset that has no such budget")
        budget = budget.charged(read_fraction(row.epsilon), None if row.delta is None else read_fraction(row.delta))
        if budget.remaining_epsilon < 0 or (budget.remaining_delta or 0) < 0:
            raise AlteredError(f"row {row.sequence} charges more than there was")
        self.budgets[row.dataset] = budget
        self.charges[row.sequence] = row
        if row.fingerprint is not None and row.fingerprint.startswith(PUBLIC):
            self.sources.setdefault(row.dataset, row.fingerprint)

    def _end_charge(self, row: Row) -> None:
        charge = None if row.charge is None else self.charges.get(row.charge)
        if charge is None or charge.dataset != row.dataset or charge.sequence in self.endings:
            raise AlteredError(f"row {row.sequence} ends a charge that is not open")
        self.endings[charge.sequence] = row.event

    def _entry(self, row: Row) -> Entry:
        details = read_details(row.details)
        return Entry(
            sequence=row.sequence,
            time=_read_time(row.time),
            dataset=row.dataset,
            event=row.event,
            charge=row.charge,
            epsilon=None if row.epsilon is None else read_fraction(row.epsilon),
            delta=None if row.delta is None else read_fraction(row.delta),
            note=row.note,
            state=self._state(row),
            unit=self.budgets[row.dataset].unit,
            by=details.get("by", ""),
            host=details.get("host", ""),
            origin=details.get("origin", ""),
            checksum=row.checksum,
        )

    def _state(self, row: Row) -> str:
        if row.event != "charge":
            return ""
        ending = self.endings.get(row.sequence)
        return UNFINISHED if ending is None else FINISHED if ending == "finished" else FAILED


def _read_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise AlteredError("a time is not a time") from None
    if time.utcoffset() != timedelta(0):
        raise AlteredError("a time is not in UTC")
    return time
