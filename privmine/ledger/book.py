"""The sums: what the rows leave of each budget, and how each charge ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from attrs import define, field

from privmine.errors import UnknownNameError
from privmine.ledger.chain import AlteredError, Row
from privmine.ledger.details import read_details
from privmine.ledger.entries import FAILED, FINISHED, RHO, TRANSACTION, UNFINISHED, Amounts, DatasetBudget, Entry
from privmine.ledger.rho_budget import RhoBudget
from privmine.ledger.shares import Shares
from privmine.ledger.sums_budget import SumsBudget

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


def read_rho(details: dict[str, str]) -> tuple[Fraction, Fraction]:
    """The ρ of a row, and its part of δ for private items."""
    kept = details.get("items_delta")
    return read_fraction(details.get("rho", "")), Fraction(0) if kept is None else read_fraction(kept)


@define
class Book:
    """All that the rows say.

    Attributes:
        shares: what is left of each dataset and to whom, in the order of their creation.
        charges: the row of each charge, by its number.
        endings: the event that ended a charge, by the number of the charge.
        sources: the first keyed fingerprint of a source that was recorded for a dataset and a part of it.
        tokens: the row of a charge by the token that its caller chose at random.
        rows: the rows themselves.
    """

    shares: dict[str, Shares] = field(factory=dict)
    charges: dict[int, Row] = field(factory=dict)
    endings: dict[int, str] = field(factory=dict)
    sources: dict[tuple[str, str], str] = field(factory=dict, repr=False)
    tokens: dict[str, Row] = field(factory=dict, repr=False)
    rows: list[Row] = field(factory=list, repr=False)

    @classmethod
    def replay(cls, rows: Iterable[Row]) -> Book:
        """Add up rows whose checksums are right. Rows that privmine would not have written are refused."""
        book = cls()
        for row in rows:
            book._add(row, read_details(row.details))
            book.rows.append(row)
        return book

    def share(self, name: str) -> Shares:
        """What is left of a dataset that must exist."""
        try:
            return self.shares[name]
        except KeyError:
            raise UnknownNameError(
                "dataset in the ledger",
                name,
                self.shares,
                hint="Give it a budget with `privmine budget init` or `Ledger.init`.",
            ) from None

    def latest(self, name: str) -> datetime | None:
        """The time of the latest row of a dataset: no clock that is behind it is right."""
        return max((_read_time(row.time) for row in self.rows if row.dataset == name), default=None)

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """The log, of one dataset or of all."""
        return tuple(self._entry(row) for row in self.rows if dataset is None or row.dataset == dataset)

    def _add(self, row: Row, details: dict[str, str]) -> None:
        if not f"{row.dataset}{row.note}{row.unit or ''}".isprintable():
            raise AlteredError(f"row {row.sequence} has text that privmine does not write")
        if row.unit is not None and row.event != "init":
            raise AlteredError(f"row {row.sequence} names a unit, which only the budget has")
        if row.event == "init":
            self._open_budget(row, details)
            return
        shares = self.shares.get(row.dataset)
        if shares is None:
            raise AlteredError(f"row {row.sequence} is about a dataset that has no budget")
        if row.event in ("finished", "failed"):
            self._end_charge(row)
            return
        amounts = self._amounts(row, shares.first, details)
        try:
            after = _after(shares, row.event, amounts, details)
        except (UnknownNameError, ValueError):
            after = None
        if after is None:
            raise AlteredError(f"row {row.sequence} has an event that does not fit what is before it")
        if after.overdrawn is not None:
            raise AlteredError(f"row {row.sequence} takes more than there was")
        self.shares[row.dataset] = after
        if row.event == "charge":
            self.charges[row.sequence] = row
            if details.get("token"):
                self.tokens[details["token"]] = row
            if row.fingerprint is not None and row.fingerprint.startswith(PUBLIC):
                self.sources.setdefault((row.dataset, details.get("part", "")), row.fingerprint)

    def _amounts(self, row: Row, first: DatasetBudget, details: dict[str, str]) -> Amounts | None:
        """What a row takes or gives, in the terms of the budget; None where it does neither."""
        if row.event == "revoke" or (row.event == "grow" and details.get("people") == "same"):
            return None
        of_rho = first.composition == RHO
        if row.epsilon is None or of_rho != ("rho" in details) or ("items_delta" in details and not of_rho):
            raise AlteredError(f"row {row.sequence} has an amount that is none of the budget's definition")
        epsilon, delta = read_fraction(row.epsilon), None if row.delta is None else read_fraction(row.delta)
        if not of_rho:
            if (first.total_delta is None) != (delta is None):
                raise AlteredError(f"row {row.sequence} has an amount that is none of the budget's definition")
            return epsilon, delta
        rho, items_delta = read_rho(details)
        if row.event == "charge" and delta is None and rho != epsilon**2 / 2:
            raise AlteredError(f"row {row.sequence} has a ρ that its ε is not worth")
        return rho, items_delta

    def _open_budget(self, row: Row, details: dict[str, str]) -> None:
        if row.dataset in self.shares or row.epsilon is None or row.unit == TRANSACTION:
            raise AlteredError(f"row {row.sequence} cannot open a budget")
        try:
            until = date.fromisoformat(details["until"]) if "until" in details else None
        except ValueError:
            raise AlteredError(f"row {row.sequence} has a date that is none") from None
        epsilon, delta = read_fraction(row.epsilon), None if row.delta is None else read_fraction(row.delta)
        more: dict[str, Any] = {"unit": TRANSACTION if row.unit is None else row.unit, "until": until}
        made: DatasetBudget = SumsBudget.of(row.dataset, epsilon, delta, **more)
        if "composition" in details:
            rho, items_delta = read_rho(details)
            if details["composition"] != RHO or delta is None or not items_delta < delta:
                raise AlteredError(f"row {row.sequence} opens a budget of no kind that privmine knows")
            made = RhoBudget.of(row.dataset, rho, delta, items_delta, **more)
            if made.total_epsilon > epsilon:
                raise AlteredError(f"row {row.sequence} has a ρ that is worth more than its ε")
        self.shares[row.dataset] = Shares.of(made)

    def _end_charge(self, row: Row) -> None:
        charge = None if row.charge is None else self.charges.get(row.charge)
        if charge is None or charge.dataset != row.dataset or charge.sequence in self.endings:
            raise AlteredError(f"row {row.sequence} ends a charge that is not open")
        self.endings[charge.sequence] = row.event

    def _entry(self, row: Row) -> Entry:
        details = read_details(row.details)
        rho, items_delta = read_rho(details) if "rho" in details else (None, None)
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
            unit=self.shares[row.dataset].first.unit,
            checksum=row.checksum,
            rho=rho,
            items_delta=items_delta,
            **{name: details.get(name, "") for name in ("by", "host", "origin", "account", "part", "people", "until")},
        )

    def _state(self, row: Row) -> str:
        if row.event != "charge":
            return ""
        ending = self.endings.get(row.sequence)
        return UNFINISHED if ending is None else FINISHED if ending == "finished" else FAILED


def _after(shares: Shares, event: str, amounts: Amounts | None, details: dict[str, str]) -> Shares | None:
    """What an event leaves to whom; None if it cannot happen."""
    account, part = details.get("account", ""), details.get("part", "")
    if event == "revoke":
        return shares.revoked(account)
    if amounts is None:
        return shares  # rows of the same people: what they have lost stays as it is
    match event:
        case "charge":
            shares.payers(account, part)
            return shares.charged(amounts, account, part)
        case "grant" if account and account not in shares.accounts:
            return shares.granted(account, amounts)
        case "grow" if part and part not in shares.everybody and details.get("people") == "new":
            return shares.grown(part, amounts)
        case "renew" if shares.first.until is not None:
            until = date.fromisoformat(details.get("until", ""))
            return shares.renewed(amounts, until) if until > shares.first.until else None
    return None


def _read_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise AlteredError("a time is not a time") from None
    if time.utcoffset() != timedelta(0):
        raise AlteredError("a time is not in UTC")
    return time
