"""The desk at which budgets are opened, shared, charged and looked up."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date
from fractions import Fraction
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any

from attrs import field, frozen

from privmine.errors import InputError, LedgerError, PrivmineError
from privmine.ledger import checks
from privmine.ledger.entries import RHO, TRANSACTION, Amounts, DatasetBudget, Entry, LedgerCharge, Price
from privmine.ledger.export import log_text
from privmine.ledger.file import FileStorage
from privmine.ledger.new_rows import keyed, new_row, warn_of_another
from privmine.ledger.rho_budget import RhoBudget
from privmine.ledger.shares import Shares
from privmine.ledger.storage import Address, OutcomeUnknownError, Page, Storage, place_of
from privmine.ledger.sums_budget import SumsBudget
from privmine.printable import printable
from privmine.privacy.conversion import rho_of
from privmine.privacy.guarantee import Guarantee
from privmine.privacy.payment import Payment
from privmine.privacy.rare_items import SHARE_OF_DELTA

#: What rows that came to a dataset are of.
NEW, SAME = "new", "same"
_LONGEST_WAIT = 24 * 60 * 60.0
_NOTHING: Amounts = (Fraction(0), None)


@frozen(repr=False)
class Ledger:
    """The budgets of datasets in one file or database, counted over their whole life.

    A release is charged before anything is drawn for it, and a charge is never taken back. Making a
    `Ledger` does not touch the file; only `init` creates one.

    Attributes:
        path: the file, or the address of a database of PostgreSQL: "postgresql://user@host/name".
        timeout: how many seconds to wait for another process that is writing to it.
    """

    path: Path | Address = field(converter=place_of)
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
            f"  {budget.label}: {Guarantee(budget.remaining_epsilon)} left of {Guarantee(budget.total_epsilon)}"
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
            f"<tr><td>{escape(printable(budget.label))}</td><td>{escape(printable(budget.unit))}</td>"
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
        self,
        dataset: str,
        epsilon: Any,
        delta: Any = None,
        *,
        unit: str = TRANSACTION,
        note: str = "",
        until: date | str | None = None,
        composition: str | None = None,
        private_items: bool = False,
    ) -> DatasetBudget:
        """Give a dataset a total budget, for good; the ledger is created if there is none.

        Args:
            dataset: the name by which releases will be charged.
            epsilon: the ε that all releases together may cost.
            delta: the δ that they may cost; left out, the dataset is counted in pure ε.
            unit: who every release protects: "transaction", or the column that tells whose a
                transaction is, such as "customer_id". How many baskets of each count may differ.
            note: a line for the log.
            until: the last day (UTC) of the first period. Left out, the budget is for the whole life of the dataset
                and cannot be renewed.
            composition: how releases are added up: "rho", the ρ of each, or "sums", the ε and the δ of each. With a
                δ it is "rho" by default, which many releases need much less of; "sums" also takes charges by hand
                that state no ρ.
            private_items: of a budget that adds up ρ, whether to keep a half of δ for releases of private items.

        Raises:
            InputError: an amount or the name is not usable, or the name is taken.
            LedgerError: the ledger cannot be used.
        """
        name = checks.dataset_name(dataset)
        total_epsilon = checks.epsilon_amount(epsilon, "The total ε")
        total_delta = checks.delta_amount(delta, "The total δ")
        unit = checks.unit_name(unit)
        note = checks.note_text(note)
        last = None if until is None else checks.last_day(until)
        composition = checks.composition_name(composition, total_delta)
        if private_items and composition != RHO:
            raise InputError("Only a budget that adds up ρ keeps a part of its δ for private items. Give it a δ.")
        made: DatasetBudget = SumsBudget.of(name, total_epsilon, total_delta, unit=unit, until=last)
        details = {"until": "" if last is None else last.isoformat()}
        kept = SHARE_OF_DELTA * total_delta if private_items and total_delta is not None else Fraction(0)
        rho = None
        if composition == RHO and total_delta is not None:
            rho = rho_of(total_epsilon, total_delta - kept)
            made = RhoBudget.of(name, rho, total_delta, kept, unit=unit, until=last)
            details["composition"] = RHO
        storage_of(self.path).create()
        with self._writing() as page:
            if name in page.book.shares:
                raise InputError(
                    f"The dataset {name!r} already has a budget in {self.path}, and a budget cannot "
                    "be changed. Use it as it is, or choose another name for other data."
                )
            if last is not None:
                checks.refuse_past(last, page.now.date())
            page.append(
                new_row(
                    "init",
                    name,
                    total_epsilon,
                    total_delta,
                    note=note,
                    unit=None if unit == TRANSACTION else unit,
                    rho=rho,
                    items_delta=kept,
                    details=details,
                )
            )
        return made

    def grant(self, dataset: str, to: str, epsilon: Any, delta: Any = None, *, note: str = "") -> DatasetBudget:
        """Give an account a part of a dataset's budget. It is set aside at once: nobody else can spend it.

        Args:
            dataset: a dataset that `init` gave a budget.
            to: a name for the account, which must be new to the dataset.
            epsilon: the ε that the account may spend.
            delta: its δ, if and only if the dataset's budget has one.
            note: a line for the log.

        Raises:
            BudgetError: more than the dataset has left.
            InputError: an amount or the name is not usable, or the name is taken.
        """
        name, account = checks.dataset_name(dataset), checks.account_name(to)
        granted = Price(
            checks.epsilon_amount(epsilon, "The ε of a grant"), checks.delta_amount(delta, "The δ of a grant")
        )
        note = checks.note_text(note)

        def decide(shares: Shares, amounts: Amounts, _: Page) -> Shares:
            if account in shares.accounts:
                raise InputError(
                    f"{name!r} already has an account named {account!r}, and a grant cannot be changed. Choose another "
                    "name for a further grant."
                )
            for budget in shares.payers():
                budget.refuse_overspending(amounts, "grant")
            return shares.granted(account, amounts)

        return self._decide(name, decide, "grant", granted, note=note, account=account).accounts[account]

    def revoke(self, dataset: str, account: str, *, note: str = "") -> DatasetBudget:
        """Give what an account has not spent back to its dataset; what it has spent stays spent."""
        name, account = checks.dataset_name(dataset), checks.account_name(account)
        note = checks.note_text(note)
        shares = self._decide(name, lambda found, *_: found.revoked(account), "revoke", note=note, account=account)
        return shares.first

    def renew(
        self, dataset: str, until: date | str, epsilon: Any = None, delta: Any = None, *, note: str = ""
    ) -> DatasetBudget:
        """Open the next period of a dataset whose budget was opened with one, after the last period has ended.

        What was spent stays spent: everybody in the data has lost the sum of all periods. What was not spent lapses,
        also what accounts have left, so that grants are given anew.

        Args:
            dataset: a dataset whose budget was opened with `until`.
            until: the last day (UTC) of the new period.
            epsilon: the ε of the new period.
            delta: its δ, if and only if the dataset's budget has one.
            note: a line for the log.

        Raises:
            InputError: the dataset has no periods, the last one has not ended, or the date is not after it.
        """
        name, last = checks.dataset_name(dataset), checks.last_day(until)
        if epsilon is None:
            raise InputError("Specify the ε of the new period.")
        given = Price(
            checks.epsilon_amount(epsilon, "The ε of a period"), checks.delta_amount(delta, "The δ of a period")
        )
        note = checks.note_text(note)

        def decide(shares: Shares, amounts: Amounts, page: Page) -> Shares:
            checks.refuse_renewal(shares.first, last, _today(page, name))
            return shares.renewed(amounts, last)

        return self._decide(name, decide, "renew", given, note=note, until=last.isoformat()).first

    def grow(
        self, dataset: str, people: str, part: str = "", epsilon: Any = None, delta: Any = None, *, note: str = ""
    ) -> DatasetBudget:
        """Note that rows came to a dataset, and say whose they are.

        Rows of people who are in the data already change nothing: those people have lost what was spent. New people
        have lost nothing yet, so they become a part with a budget of its own. A release of all rows is then charged to
        all parts; one of the rows of a part alone, `charge(…, part=…)`, to that part only.

        Args:
            dataset: a dataset that `init` gave a budget.
            people: "new" if nobody of the new rows is in the data already, else "same". If you do not know: "same".
            part: a name for new people.
            epsilon: the ε that all releases may cost them.
            delta: their δ, if and only if the dataset's budget has one.
            note: a line for the log.
        """
        name, note = checks.dataset_name(dataset), checks.note_text(note)
        if people == SAME:
            if part or epsilon is not None or delta is not None:
                raise InputError(
                    "Rows of the same people get no budget of their own: what was spent on those people stays spent. "
                    "Leave out the part, ε and δ."
                )
            return self._decide(name, lambda shares, *_: shares, "grow", note=note, people=SAME).first
        if people != NEW:
            raise InputError(
                'Say whose rows came: "new" if nobody of them is in the data already, "same" if somebody may be.'
            )
        if not part or epsilon is None:
            raise InputError(
                "New people become a part with a budget of its own. Specify its name and its ε, such as --part 2027 "
                '--epsilon 1, in Python part="2027", epsilon=1.'
            )
        part = checks.part_name(part)
        given = Price(checks.epsilon_amount(epsilon, "The ε of a part"), checks.delta_amount(delta, "The δ of a part"))

        def decide(shares: Shares, amounts: Amounts, _: Page) -> Shares:
            if part in shares.everybody:
                raise InputError(f"{name!r} already has a part named {part!r}. Choose another name.")
            grown = shares.grown(part, amounts)
            checks.refuse_small_part(grown.everybody[part])
            return grown

        return self._decide(name, decide, "grow", given, note=note, people=NEW, part=part).everybody[part]

    @property
    def identity(self) -> str:
        """What receipts call this ledger; it was chosen at random when the ledger was created."""
        with self._reading() as page:
            return page.head.identity

    def budget(self, dataset: str, *, account: str | None = None, part: str | None = None) -> DatasetBudget:
        """The budget of a dataset, or of an account or a part of it.

        Where a dataset has parts and none is named, it is that of the part that has the least left.
        """
        name = checks.dataset_name(dataset)
        with self._reading() as page:
            return page.book.share(name).tightest(*_named(account, part))

    def show(self) -> tuple[DatasetBudget, ...]:
        """The budgets of all datasets, in the order in which they were created; each with its parts and accounts."""
        with self._reading() as page:
            return tuple(budget for shares in page.book.shares.values() for budget in shares)

    def log(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Everything that happened, of one dataset or of all, oldest first."""
        return self.look_up(dataset)[1]

    def export(self, format: str = "csv", dataset: str | None = None) -> str:  # noqa: A002
        """The log as text, "csv" or "json"; JSON has the budgets as well."""
        return log_text(format, *self.look_up(dataset))

    def check(
        self,
        dataset: str,
        epsilon: Any,
        delta: Any = None,
        *,
        rho: Any = None,
        items_delta: Any = 0,
        unit: str = TRANSACTION,
        source: str = "",
        account: str | None = None,
        part: str | None = None,
    ) -> DatasetBudget:
        """What a charge would leave of a dataset's budget. What `charge` would refuse is refused; nothing is charged.

        Args, errors and the warning are those of `charge`.
        """
        order = _Order.of(dataset, epsilon, delta, rho, items_delta, unit, account, part)
        with self._reading() as page:
            after, _ = self._after(page, order)
            warn_of_another(page, order.name, order.part, keyed(page, source), stacklevel=3)
        return after.tightest(order.account, order.part)

    def charge(
        self,
        dataset: str,
        epsilon: Any,
        delta: Any = None,
        *,
        rho: Any = None,
        items_delta: Any = 0,
        unit: str = TRANSACTION,
        note: str = "",
        source: str = "",
        origin: str = "",
        account: str | None = None,
        part: str | None = None,
    ) -> LedgerCharge:
        """Charge a release, before anything is drawn for it. When this returns, the charge is on disk.

        Args:
            dataset: a dataset that `init` gave a budget.
            epsilon: the whole ε of the release.
            delta: its δ, if and only if the dataset's budget has one. A budget that adds up ρ also pays for a release
                under pure ε, which has no δ: it counts ε²/2.
            rho: the ρ of which ε and δ are what it is worth; a budget that adds up ρ needs it where there is a δ.
            items_delta: the part of δ with which it may name an item that only one unit has, where items are private.
            unit: who the release protects; it must be the unit of the dataset's budget.
            note: a line for the log; it must not say anything of the data.
            source: where the data comes from, in public words such as a path; never anything that depends
                on its content. Another source than that of the dataset's first charge gives a warning. Only
                a keyed hash is kept, in the ledger file and nowhere else.
            origin: what the log shows of the source, in public words such as the name of a file.
            account: the account that pays, from what `grant` gave it.
            part: the part whose rows alone are released; by default the release is of all rows.

        Raises:
            BudgetError: more than is left; the error has `requested` and `remaining`.
            UnknownNameError: the dataset has no budget, or no such account or part.
            InputError: an amount is not usable, or of another privacy definition or unit than the dataset's.
            LedgerError: the ledger cannot be used; nothing was charged.
        """
        order = _Order.of(dataset, epsilon, delta, rho, items_delta, unit, account, part)
        note = checks.note_text(note)
        # Chosen here, once a charge: if the answer of a database is lost, asking again finds the row by it.
        token = secrets.token_hex(16)
        try:
            return self._charge_once(order, note, source, origin, token)
        except OutcomeUnknownError as lost:
            reason = lost
        give_up = time.monotonic() + self.timeout
        while True:
            try:
                return self._charge_once(order, note, source, origin, token)
            except LedgerError:
                if time.monotonic() > give_up:
                    raise reason from None
            time.sleep(0.2)

    def finish(self, charge: LedgerCharge) -> None:
        """Record that the release of a charge is out."""
        self._end(charge, "finished", "")

    def fail(self, charge: LedgerCharge, error: BaseException | type[BaseException]) -> None:
        """Record that the release of a charge failed; it stays charged.

        Only the class of the error is written down: its message could carry data.
        """
        kind = error if isinstance(error, type) else type(error)
        self._end(charge, "failed", kind.__name__ if kind.__name__.isidentifier() else "Exception")

    def _reading(self) -> AbstractContextManager[Page]:
        return storage_of(self.path).reading(self.timeout)

    def _writing(self) -> AbstractContextManager[Page]:
        return storage_of(self.path).writing(self.timeout)

    def _charge_once(self, order: _Order, note: str, source: str, origin: str, token: str) -> LedgerCharge:
        with self._writing() as page:
            row = page.book.tokens.get(token)
            if row is None:
                shares, amounts = self._after(page, order)
                of_rho = shares.first.composition == RHO
                fingerprint = keyed(page, source)
                # Before the charge, so that a warning turned into an error is free.
                warn_of_another(page, order.name, order.part, fingerprint, stacklevel=4)
                row = page.append(
                    new_row(
                        "charge",
                        order.name,
                        order.price.epsilon,
                        order.price.delta,
                        rho=amounts[0] if of_rho else None,
                        items_delta=amounts[1] if of_rho else None,
                        note=note,
                        fingerprint=fingerprint,
                        details={"origin": origin, "account": order.account, "part": order.part, "token": token},
                    )
                )
            payment = Payment(row.time, page.head.identity, row.sequence, row.checksum)
        return LedgerCharge(row.sequence, order.name, order.price.epsilon, order.price.delta, payment)

    def _after(self, page: Page, order: _Order) -> tuple[Shares, Amounts]:
        """What a charge would leave to whom, and what it takes; a charge that is not covered is refused."""
        shares = page.book.share(order.name)
        checks.refuse_another_unit(shares.first, order.unit)
        payers = shares.payers(order.account, order.part)
        amounts = shares.first.cost(order.price)
        for budget in payers:
            budget.refuse_overspending(amounts)
        checks.refuse_after_period(shares.first, _today(page, order.name))
        return shares.charged(amounts, order.account, order.part), amounts

    def _decide(
        self,
        name: str,
        decide: Callable[[Shares, Amounts, Page], Shares],
        event: str,
        price: Price | None = None,
        *,
        note: str,
        **details: str,
    ) -> Shares:
        """Write what somebody decided about a budget, unless it is refused; both in one transaction."""
        with self._writing() as page:
            shares = page.book.share(name)
            amounts = _NOTHING if price is None else shares.first.worth(price)
            after = decide(shares, amounts, page)
            assert after.overdrawn is None
            stated: dict[str, Any] = {"note": note, "details": details}
            if price is not None and shares.first.composition == RHO:
                stated |= {"delta": shares.first.total_delta, "rho": amounts[0], "items_delta": amounts[1]}
            elif price is not None:
                stated |= {"delta": price.delta}
            page.append(new_row(event, name, None if price is None else price.epsilon, **stated))
        return after

    def look_up(self, dataset: str | None = None) -> tuple[tuple[DatasetBudget, ...], tuple[Entry, ...]]:
        """The budgets and the log of one moment, of one dataset or of all."""
        name = None if dataset is None else checks.dataset_name(dataset)
        with self._reading() as page:
            book = page.book
            wanted = book.shares.values() if name is None else (book.share(name),)
            return tuple(budget for shares in wanted for budget in shares), book.entries(name)

    def _end(self, charge: LedgerCharge, event: str, note: str) -> None:
        with self._writing() as page:
            row = page.book.charges.get(charge.id)
            if row is None or row.dataset != charge.dataset:
                raise InputError(f"Charge {charge.id} of {charge.dataset!r} is not in the ledger {self.path}.")
            if charge.id in page.book.endings:
                raise InputError(f"Charge {charge.id} of {charge.dataset!r} has already been recorded as ended.")
            page.append(new_row(event, charge.dataset, charge=charge.id, note=note))


@frozen
class _Order:
    """What a charge asks for, as far as it can be checked without the ledger."""

    name: str
    price: Price
    unit: str
    account: str
    part: str

    @classmethod
    def of(
        cls, dataset: Any, epsilon: Any, delta: Any, rho: Any, items_delta: Any, unit: Any, account: Any, part: Any
    ) -> _Order:
        name, of_delta = checks.dataset_name(dataset), checks.delta_amount(delta, "The δ of a charge")
        price = Price(
            checks.epsilon_amount(epsilon, "The ε of a charge"),
            of_delta,
            checks.rho_amount(rho),
            checks.items_delta_amount(items_delta, of_delta),
        )
        checks.refuse_understated(price)
        return cls(name, price, checks.unit_name(unit), *_named(account, part))


def _named(account: Any, part: Any) -> tuple[str, str]:
    return (
        "" if account is None else checks.account_name(account),
        "" if part is None else checks.part_name(part),
    )


def _today(page: Page, name: str) -> date:
    """The day by the clock, unless the ledger knows better: a clock that was turned back opens no past period."""
    latest = page.book.latest(name)
    return page.now.date() if latest is None else max(page.now, latest).date()


def storage_of(place: Path | Address) -> Storage:
    """What keeps the ledger at this place; a database needs an extra, which is imported when it is used."""
    if isinstance(place, Path):
        return FileStorage(place)
    from privmine.ledger.postgres_storage import PostgresStorage

    return PostgresStorage(place)
