"""Whether releases and a ledger belong together: who paid, who did not, and who claims a row of somebody else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from datetime import datetime
from typing import Any

from attrs import field, frozen

from privmine.ledger.entries import FAILED, Entry
from privmine.privacy.payment import PART_ALONE, part_alone
from privmine.privacy.receipt import Receipt

#: What can be said of a release. All but PAID are reasons to look closer.
PAID = "paid"
ABSENT = "not in the ledger"
TWICE = "two releases claim one row"
CHANGED = "contradicts its row"
ELSEWHERE = "of another ledger"
UNPROVEN = "of an older version"
UNPAID = "never charged"
SIMULATED = "simulated"
UNCHECKED = "not compared with a ledger"


@frozen
class Claim:
    """A release that claims to be paid for.

    Attributes:
        name: the file.
        receipt: its receipt.
        content: its itemsets and counts; two files of one release have the same.
    """

    name: str
    receipt: Receipt
    content: Hashable = field(default=None, repr=False)


@frozen
class PaymentFinding:
    """What was found out about one release.

    Attributes:
        name: the file.
        verdict: in a few words.
        reason: in a sentence.
        row: the row that it claims.
    """

    name: str
    verdict: str
    reason: str
    row: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"release": self.name, "verdict": self.verdict, "reason": self.reason, "row": self.row}


@frozen
class Verification:
    """What was found out about releases.

    Attributes:
        findings: one a release, in their order.
        ledger: the identity of the ledger, whose chain holds; None if there was none to compare with.
        rows: how many rows it has.
        unclaimed: the numbers of charges that none of the releases claims.
    """

    findings: tuple[PaymentFinding, ...]
    ledger: str | None = None
    rows: int = 0
    unclaimed: tuple[int, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every release is paid for; without a ledger, whether none contradicts another one."""
        fine = (PAID,) if self.ledger is not None else (PAID, UNCHECKED)
        return all(finding.verdict in fine for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "holds": self.holds,
            "ledger": self.ledger,
            "rows": self.rows,
            "releases": [finding.to_dict() for finding in self.findings],
            "unclaimed_charges": list(self.unclaimed),
        }


def verified(claims: Iterable[Claim], ledger: str | None, entries: Iterable[Entry]) -> Verification:
    """Compare releases with each other and with a ledger whose chain was verified.

    Args:
        claims: the releases.
        ledger: the identity of the ledger, or None to compare releases with each other only.
        entries: its whole log.
    """
    claims, rows = tuple(claims), {entry.sequence: entry for entry in entries}
    rivals = _rivals(claims)
    findings = tuple(_finding(claim, ledger, rows, rivals) for claim in claims)
    payments = [claim.receipt.payment for claim in claims]
    claimed = {(paid.ledger, paid.row, paid.checksum) for paid in payments if paid is not None}
    unclaimed = [
        number
        for number, entry in rows.items()
        if entry.event == "charge" and (ledger, number, entry.checksum) not in claimed
    ]
    return Verification(findings, ledger, len(rows), tuple(unclaimed))


def _rivals(claims: tuple[Claim, ...]) -> dict[str, str]:
    """By the name of a release another one that claims the same row of the same ledger, and is not the same release."""
    by_row: dict[tuple[str, int], list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.receipt.payment is not None:
            by_row[claim.receipt.payment.ledger, claim.receipt.payment.row].append(claim)
    return {
        claim.name: other.name
        for together in by_row.values()
        for claim in together
        for other in together
        if (claim.receipt, claim.content) != (other.receipt, other.content)
    }


def _finding(claim: Claim, ledger: str | None, rows: dict[int, Entry], rivals: dict[str, str]) -> PaymentFinding:
    receipt, paid = claim.receipt, claim.receipt.payment
    if not receipt.private:
        return PaymentFinding(
            claim.name, SIMULATED, "It is simulated, protects nobody and costs nothing. Do not publish it."
        )
    if paid is None:
        if receipt.entry is None:
            return PaymentFinding(claim.name, UNPAID, "It was made without a ledger, so no budget counts it.")
        reason = (
            f"It names row {receipt.entry} of a ledger, but not which ledger: an earlier version of privmine made it."
        )
        return PaymentFinding(claim.name, UNPROVEN, reason, receipt.entry)
    if claim.name in rivals:
        reason = (
            f"It and {rivals[claim.name]} claim row {paid.row}. Either one of them was changed, or an old copy of the "
            "ledger was put back and the same budget was spent twice."
        )
        return PaymentFinding(claim.name, TWICE, reason, paid.row)
    if ledger is None:
        return PaymentFinding(claim.name, UNCHECKED, f"It claims row {paid.row} of the ledger {paid.ledger}.", paid.row)
    if paid.ledger != ledger:
        return PaymentFinding(claim.name, ELSEWHERE, f"The ledger {paid.ledger} paid for it, not this one.", paid.row)
    row = rows.get(paid.row)
    if row is None or row.event != "charge" or row.checksum != paid.checksum:
        there = "is not in the ledger" if row is None else "is another one in the ledger"
        reason = (
            f"Row {paid.row} with its checksum {there}. Either the release was changed, or an old copy of the "
            "ledger was put back, and what was charged since is forgotten."
        )
        return PaymentFinding(claim.name, ABSENT, reason, paid.row)
    stated = receipt.guarantee
    if (row.dataset, row.epsilon, row.delta) != (receipt.dataset, stated.epsilon, stated.delta):
        return PaymentFinding(claim.name, CHANGED, f"Row {paid.row} paid for another dataset or amount.", paid.row)
    if row.rho is not None and receipt.guarantee.delta is not None and row.rho != receipt.cost.amount:
        reason = (
            f"Row {paid.row} counts another ρ than the charges of the release add up to: one of the two was changed."
        )
        return PaymentFinding(claim.name, CHANGED, reason, paid.row)
    if receipt.unit is not None and receipt.unit.name != row.unit:
        reason = f"Row {paid.row} protects one {row.unit}, not one {receipt.unit.name}: one of the two was changed."
        return PaymentFinding(claim.name, CHANGED, reason, paid.row)
    if datetime.fromisoformat(paid.time) != row.time or receipt.n_public:
        # No ledger pays for a release that publishes the number of transactions.
        reason = f"Row {paid.row} paid at another time, or for a release without the number of transactions."
        return PaymentFinding(claim.name, CHANGED, reason, paid.row)
    if [said for said in receipt.assumptions if said.startswith(PART_ALONE)] != [part_alone(row.part)] * bool(row.part):
        whom = f"the part {row.part!r} alone" if row.part else "all of the dataset's people"
        reason = f"Row {paid.row} charged {whom}, and the release says otherwise: one of the two was changed."
        return PaymentFinding(claim.name, CHANGED, reason, paid.row)
    if row.state == FAILED:
        reason = f"Row {paid.row} notes that its run failed, so that it made no release. Find out who made this one."
        return PaymentFinding(claim.name, CHANGED, reason, paid.row)
    return PaymentFinding(
        claim.name, PAID, f"Row {paid.row} paid for it on {row.time:%Y-%m-%d %H:%M:%S} UTC.", paid.row
    )
