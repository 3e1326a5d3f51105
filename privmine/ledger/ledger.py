"""Budgets in a file: open, charge and look up."""

from __future__ import annotations

import hmac
import warnings
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any

from attrs import field, frozen

from privmine.errors import InputError, PrivmineError, PrivmineWarning
from privmine.ledger import checks
from privmine.ledger.book import PUBLIC, write_fraction
from privmine.ledger.chain import Row
from privmine.ledger.details import shortened, who_and_where, write_details
from privmine.ledger.entries import TRANSACTION, DatasetBudget, Entry, LedgerCharge
from privmine.ledger.export import log_text
from privmine.ledger.file import Page, create, reading, writing
from privmine.printable import printable
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.payment import Payment

_LONGEST_WAIT = 24 * 60 * 60.0


@frozen(repr=False)
class Ledger:
    """The budgets of datasets in one file, counted over their whole life.

    A release is charged before anything is drawn for it, and a charge is never taken back. Making a
    `Ledger` does not touch the file; only `init` creates one.

    Attributes:
        path: the file.
        timeout: how many seconds to wait for another process that is writing to it.
    """

    path: Path = field(converter=Path)
    timeout: float = field(default=30.0, converter=float, kw_only=True)

    @timeout.validator
    def _check_timeout(self, _: object, timeout: float) -> None:
        if not (isfinite(timeout) and 0 <= timeout <= _LONGEST_WAIT):
            raise InputError(f"The timeout must be between 0 s and a day ({_LONGEST_WAIT:g} s), not {timeout!r}.")

    def __repr__(self) -> str:
        """What is left of each budget; a file that cannot be read is named only."""
        try:
            budgets = self.show()
        except PrivmineError:
            budgets = ()
        rows = [
            f"  {budget.name}: {Guarantee(budget.remaining_epsilon)} left of {Guarantee(budget.total_epsilon)}"
            for budget in budgets
        ]
        return "\n".join([f"Ledger({str(self.path)!r})", *rows])

    def _repr_html_(self) -> str:
        """For notebooks: the same as a table."""
        try:
            budgets = self.show()
        except PrivmineError:
            budgets = ()
        rows = "".join(
            f"<tr><td>{escape(printable(budget.name))}</td><td>{escape(printable(budget.unit))}</td>"
            f"<td>{Guarantee(budget.total_epsilon)}</td><td>{Guarantee(budget.spent_epsilon)}</td>"
            f"<td>{Guarantee(budget.remaining_epsilon)}</td></tr>"
            for budget in budgets
        )
        return (
            f"<div class='privmine'><p>Ledger {escape(printable(str(self.path)))}</p><table><thead><tr><th>dataset</th>"
            f"<th>protects one</th><th>total</th><th>spent</th><th>left</th></tr></thead><tbody>{rows}</tbody></table>"
            "</div>"
        )

    def init(
        self, dataset: str, epsilon: Any, delta: Any = None, *, unit: str = TRANSACTION, note: str = ""
    ) -> DatasetBudget:
        """Give a dataset a total budget, for good; the file is created if there is none.

        Args:
            dataset: the name by which releases will be charged.
            epsilon: the ε that all releases together may cost.
            delta: the δ that they may cost; left out, the dataset is counted in pure ε.
            unit: who every release protects: "transaction", or the column that tells whose a
                transaction is, such as "customer_id". How many baskets of each count may differ.
            note: a line for the log.

        Raises:
            InputError: an amount or the name is not usable, or the name is taken.
            LedgerError: the file cannot be used.
        """
        name = checks.dataset_name(dataset)
        total_epsilon = checks.epsilon_amount(epsilon, "The total ε")
        total_delta = checks.delta_amount(delta, "The total δ")
        unit = checks.unit_name(unit)
        note = checks.note_text(note)
        create(self.path)
        with writing(self.path, self.timeout) as page:
            if name in page.book.budgets:
                raise InputError(
                    f"The dataset {name!r} already has a budget in {self.path}, and a budget cannot "
                    "be changed. Use it as it is, or choose another name for other data."
                )
            stored = None if unit == TRANSACTION else unit
            page.append(_row("init", name, total_epsilon, total_delta, note=note, unit=stored))
        spent_delta = None if total_delta is None else Fraction(0)
        return DatasetBudget(name, total_epsilon, total_delta, Fraction(0), spent_delta, unit)

    @property
    def identity(self) -> str:
        """What receipts call this ledger; it was chosen at random when the ledger was created."""
        with reading(self.path, self.timeout) as page:
            return page.head.identity

    def budget(self, dataset: str) -> DatasetBudget:
        """The budget of one dataset."""
        name = checks.dataset_name(dataset)
        with reading(self.path, self.timeout) as page:
            return page.book.budget(name)

    def show(self) -> tuple[DatasetBudget, ...]:
        """The budgets of all datasets, in the order in which they were created."""
        with reading(self.path, self.timeout) as page:
            return tuple(page.book.budgets.values())

    def log(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Everything that happened, of one dataset or of all, oldest first."""
        return self._look_up(dataset)[1]

    def export(self, format: str = "csv", dataset: str | None = None) -> str:  # noqa: A002
        """The log as text, "csv" or "json"; JSON has the budgets as well."""
        return log_text(format, *self._look_up(dataset))

    def check(
        self, dataset: str, epsilon: Any, delta: Any = None, *, unit: str = TRANSACTION, source: str = ""
    ) -> DatasetBudget:
        """What a charge would leave of a dataset's budget. What `charge` would refuse is refused; nothing is charged.

        Args, errors and the warning are those of `charge`.
        """
        order = name, *_ = _order(dataset, epsilon, delta, unit)
        with reading(self.path, self.timeout) as page:
            after = _after(page, *order)
            _warn_of_another(page, name, _keyed(page, source))
        return after

    def charge(
        self,
        dataset: str,
        epsilon: Any,
        delta: Any = None,
        *,
        unit: str = TRANSACTION,
        note: str = "",
        source: str = "",
        origin: str = "",
    ) -> LedgerCharge:
        """Charge a release, before anything is drawn for it. When this returns, the charge is on disk.

        Args:
            dataset: a dataset that `init` gave a budget.
            epsilon: the whole ε of the release.
            delta: its δ, if and only if the dataset's budget has one.
            unit: who the release protects; it must be the unit of the dataset's budget.
            note: a line for the log; it must not say anything of the data.
            source: where the data comes from, in public words such as a path; never anything that depends
                on its content. Another source than that of the dataset's first charge gives a warning. Only
                a keyed hash is kept, in the ledger file and nowhere else.
            origin: what the log shows of the source, in public words such as the name of a file.

        Raises:
            BudgetError: more than is left; the error has `requested` and `remaining`.
            UnknownNameError: the dataset has no budget.
            InputError: an amount is not usable, or of another privacy definition or unit than the dataset's.
            LedgerError: the file cannot be used; nothing was charged.
        """
        order = name, charged_epsilon, charged_delta, _ = _order(dataset, epsilon, delta, unit)
        note = checks.note_text(note)
        with writing(self.path, self.timeout) as page:
            _after(page, *order)
            keyed = _keyed(page, source)
            _warn_of_another(page, name, keyed)  # before the charge, so that a warning turned into an error is free
            row = page.append(
                _row("charge", name, charged_epsilon, charged_delta, note=note, fingerprint=keyed, origin=origin)
            )
            payment = Payment(row.time, page.head.identity, row.sequence, row.checksum)
        return LedgerCharge(row.sequence, name, charged_epsilon, charged_delta, payment)

    def finish(self, charge: LedgerCharge) -> None:
        """Record that the release of a charge is out."""
        self._end(charge, "finished", "")

    def fail(self, charge: LedgerCharge, error: BaseException | type[BaseException]) -> None:
        """Record that the release of a charge failed; it stays charged.

        Only the class of the error is written down: its message could carry data.
        """
        kind = error if isinstance(error, type) else type(error)
        self._end(charge, "failed", kind.__name__ if kind.__name__.isidentifier() else "Exception")

    def _look_up(self, dataset: str | None) -> tuple[tuple[DatasetBudget, ...], tuple[Entry, ...]]:
        name = None if dataset is None else checks.dataset_name(dataset)
        with reading(self.path, self.timeout) as page:
            book = page.book
            budgets = tuple(book.budgets.values()) if name is None else (book.budget(name),)
            return budgets, book.entries(name)

    def _end(self, charge: LedgerCharge, event: str, note: str) -> None:
        with writing(self.path, self.timeout) as page:
            row = page.book.charges.get(charge.id)
            if row is None or row.dataset != charge.dataset:
                raise InputError(f"Charge {charge.id} of {charge.dataset!r} is not in the ledger {self.path}.")
            if charge.id in page.book.endings:
                raise InputError(f"Charge {charge.id} of {charge.dataset!r} has already been recorded as ended.")
            page.append(_row(event, charge.dataset, charge=charge.id, note=note))


def _order(dataset: Any, epsilon: Any, delta: Any, unit: Any) -> tuple[str, Fraction, Fraction | None, str]:
    """What a charge asks for, as far as it can be checked without the ledger."""
    return (
        checks.dataset_name(dataset),
        checks.epsilon_amount(epsilon, "The ε of a charge"),
        checks.delta_amount(delta, "The δ of a charge"),
        checks.unit_name(unit),
    )


def _after(page: Page, name: str, epsilon: Fraction, delta: Fraction | None, unit: str) -> DatasetBudget:
    """The budget as it would be after a charge; a charge that it does not cover is refused."""
    budget = page.book.budget(name)
    checks.refuse_another_unit(budget, unit)
    checks.refuse_mixing(budget, delta)
    checks.refuse_overspending(budget, epsilon, delta)
    return budget.charged(epsilon, delta)


def _row(
    event: str,
    dataset: str,
    epsilon: Fraction | None = None,
    delta: Fraction | None = None,
    *,
    charge: int | None = None,
    note: str = "",
    fingerprint: str | None = None,
    unit: str | None = None,
    origin: str = "",
) -> Row:
    return Row(
        sequence=0,  # the page numbers it
        time=datetime.now(UTC).isoformat(timespec="milliseconds"),
        event=event,
        dataset=dataset,
        charge=charge,
        epsilon=None if epsilon is None else write_fraction(epsilon),
        delta=None if delta is None else write_fraction(delta),
        note=note,
        fingerprint=fingerprint,
        unit=unit,
        details=write_details({**who_and_where(), "origin": shortened(origin)}),
    )


def _warn_of_another(page: Page, name: str, keyed: str | None) -> None:
    """Warn if a dataset was charged for another source before.

    Privacy: it depends on public words only. A warning that depended on the data would answer questions about it for
    free.
    """
    if keyed is not None and page.book.sources.get(name, keyed) != keyed:
        warnings.warn(
            f"The dataset {name!r} was first charged for another source, or for another list of items. A budget "
            "belongs to the data, not to a name: check that this is the right dataset. (The contents are not "
            "compared.)",
            PrivmineWarning,
            stacklevel=3,
        )


def _keyed(page: Page, source: str) -> str | None:
    """What the ledger keeps of a source; None if none was named."""
    if not isinstance(source, str):
        raise InputError(f"The source of a charge must be text, not {type(source).__name__}.")
    if not source:
        return None
    return PUBLIC + hmac.new(page.head.key, source.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
