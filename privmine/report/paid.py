"""Releases and the ledger that paid for them: which rows are theirs, and what they cost together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction

from attrs import frozen

from privmine.errors import InputError
from privmine.exact import amount
from privmine.ledger import Ledger
from privmine.ledger.entries import FINISHED, DatasetBudget, Entry
from privmine.ledger.verification import PAID, UNCHECKED, Claim, PaymentFinding, verified
from privmine.privacy import Receipt
from privmine.privacy.definition import ZCDP
from privmine.privacy.guarantee import Guarantee
from privmine.release import Release


@frozen
class NamedRelease:
    """A release, the name of its file, and what its signature tells.

    Attributes:
        name: the name of its file.
        release: the release.
        signed: what was found out about its signature, as a sentence; empty if nobody looked.
        unchanged: whether that signature holds.
    """

    name: str
    release: Release
    signed: str = ""
    unchanged: bool = True

    @property
    def receipt(self) -> Receipt:
        """What it cost."""
        return self.release.receipt

    @property
    def has_private_items(self) -> bool:
        """Whether the list of items was found under noise; a note of the receipt says so."""
        return any("which items occur is private" in note for note in self.receipt.notes)


@frozen
class Account:
    """What a ledger says of one dataset.

    Attributes:
        budgets: that of the dataset, those of people who came later, and those of accounts that share it.
        entries: all that happened to it.
    """

    budgets: tuple[DatasetBudget, ...]
    entries: tuple[Entry, ...]

    @property
    def whole(self) -> DatasetBudget:
        """The budget of those who were in the data from the start."""
        return self.budgets[0]

    @property
    def of_people(self) -> list[DatasetBudget]:
        """The budgets of people; an account has a share of theirs."""
        return [budget for budget in self.budgets if not budget.account]

    @property
    def spent(self) -> Guarantee:
        """The most that releases together cost anybody in the data."""
        most = max(self.of_people, key=lambda budget: (budget.spent_epsilon, budget.spent_delta or 0))
        return Guarantee(most.spent_epsilon, most.spent_delta)

    @property
    def left(self) -> Guarantee:
        """What a release of all rows may still cost."""
        least = min(self.of_people, key=lambda budget: (budget.remaining_epsilon, budget.remaining_delta or 0))
        return Guarantee(least.remaining_epsilon, least.remaining_delta)

    @property
    def charges(self) -> list[Entry]:
        """All that was charged, oldest first."""
        return [entry for entry in self.entries if entry.event == "charge"]


@frozen
class Paid:
    """A release with the row that paid for it, as far as that is known.

    Attributes:
        named: the release.
        row: the ledger's row; None where there is none, or where it is not known.
        words: what is known of the payment, as a sentence.
        doubtful: whether the officer must look into it.
    """

    named: NamedRelease
    row: Entry | None
    words: str
    doubtful: bool = False

    @property
    def time(self) -> datetime | None:
        """When it was made: as its receipt says, else as the ledger says; None where nobody noted it."""
        noted = self.named.receipt.time
        if noted is not None:
            return datetime.fromisoformat(noted)
        return None if self.row is None else self.row.time


@frozen
class Books:
    """All releases of a report with their payments, and the accounts of their datasets.

    Attributes:
        paid: the releases.
        accounts: by dataset, what the ledger says.
        ledger: where the ledger is; empty if none was given.
        identity: what receipts call it.
    """

    paid: tuple[Paid, ...]
    accounts: dict[str, Account]
    ledger: str = ""
    identity: str = ""

    @property
    def misfits(self) -> bool:
        """Whether the ledger does not count a release that is here."""
        return any(paid.doubtful and paid.named.receipt.private for paid in self.paid)

    @property
    def doubts(self) -> list[str]:
        """What an officer must look into, a sentence each."""
        payments = [f"{paid.named.name}: {paid.words}" for paid in self.paid if paid.doubtful]
        return payments + [paid.named.signed for paid in self.paid if not paid.named.unchanged]


def books_of(releases: Sequence[NamedRelease], ledger: Ledger | None) -> Books:
    """Look up in a ledger what paid for each release.

    Raises:
        InputError: no release is given, or the same one twice.
        LedgerError: the ledger cannot be read.
    """
    if not releases:
        raise InputError("Name at least one release, a file that `privmine mine` saved.")
    for number, named in enumerate(releases):
        for earlier in releases[:number]:
            if named.release == earlier.release:
                raise InputError(f"{earlier.name} and {named.name} hold the same release. Name it once.")
    names = {named.receipt.dataset for named in releases}
    # A ledger that cannot be read is told, also where no release names a dataset.
    budgets, log = ((), ()) if ledger is None else (ledger.show(), ledger.log())
    accounts = {
        name: Account(
            tuple(budget for budget in budgets if budget.name == name),
            tuple(entry for entry in log if entry.dataset == name),
        )
        for name in dict.fromkeys(budget.name for budget in budgets)
        if name in names
    }
    identity = None if ledger is None else ledger.identity
    entries = {entry.sequence: entry for entry in log}
    claims = [Claim(named.name, named.receipt, (named.release.itemsets, named.release.total)) for named in releases]
    findings = verified(claims, identity, log).findings
    paid = tuple(_paid(named, found, entries) for named, found in zip(releases, findings, strict=True))
    return Books(paid, accounts, "" if ledger is None else str(ledger.path), identity or "")


def _paid(named: NamedRelease, found: PaymentFinding, entries: dict[int, Entry]) -> Paid:
    """What a comparison with the ledger found, and how the ledger says that the run ended."""
    if found.verdict != PAID or found.row is None:
        return Paid(named, None, found.reason, doubtful=found.verdict != UNCHECKED)
    row = entries[found.row]
    ending = "" if row.state == FINISHED else f" The ledger notes of it: {row.state}."
    return Paid(named, row, found.reason + ending)


def charges_text(charges: Sequence[object]) -> str:
    """How many charges there are."""
    return "1 charge" if len(charges) == 1 else f"{len(charges)} charges"


def together(receipts: Sequence[Receipt]) -> tuple[Guarantee | None, str]:
    """What releases of the same data cost together, and why that is the sum; None where they do not add up."""
    private = [receipt for receipt in receipts if receipt.private]
    if not private:
        return None, "No release here is private, so that there is nothing to add up."
    units = {receipt.whom if receipt.unit is None else receipt.unit.name for receipt in private}
    if len(units) > 1:
        return None, f"They protect different units ({', '.join(sorted(units))}), and such costs do not add up."
    replaced = any(receipt.n_public for receipt in private)
    definition = private[0].definition
    if (
        isinstance(definition, ZCDP)
        and not definition.items_delta
        and {one.definition for one in private} == {definition}
    ):
        spent = definition.total(one.cost for one in private)
        rhos = " + ".join(one.cost.number for one in private)
        why = f"ρ = {rhos}: the sum over releases of the same data, one after the other, as ε at their δ."
        return definition.guarantee(spent, replaced=replaced), why
    worth = [receipt.definition.guarantee(receipt.cost, replaced=replaced) for receipt in private]
    deltas = [one.delta for one in worth if one.delta is not None]
    total = Guarantee(sum((one.epsilon for one in worth), Fraction(0)), sum(deltas, Fraction(0)) if deltas else None)
    terms = " + ".join(amount(one.epsilon) for one in worth)
    why = f"ε = {terms}" + (f"; δ = {' + '.join(amount(delta) for delta in deltas)}" if deltas else "")
    change = " if one replaces another, because a number of transactions is published" if replaced else ""
    return total, f"{why}: the sum over releases of the same data, one after the other{change}."
