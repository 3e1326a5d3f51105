"""Releases and ledgers that know each other: who paid, who did not, and a backup that was put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

import privmine as pm
from privmine.errors import LedgerError
from privmine.ledger import Ledger
from privmine.ledger.entries import FAILED
from privmine.ledger.verification import (
    ABSENT,
    CHANGED,
    ELSEWHERE,
    PAID,
    SIMULATED,
    TWICE,
    UNCHECKED,
    UNPAID,
    UNPROVEN,
    Claim,
    verified,
)
from privmine.privacy.unit import Unit

BASKETS = [["a", "b"], ["a"], ["b", "c"]] * 30


def release(ledger: Ledger, target: Path, epsilon: str = "1/4", **options: object) -> Path:
    pm.mine(BASKETS, 3, epsilon, ledger=ledger, dataset="orders", output=target, **options)
    return target


def verdicts(paths: list[Path], ledger: Ledger | None = None) -> list[str]:
    return [finding.verdict for finding in pm.verify_payments(paths, ledger).findings]


def edited(path: Path, **changes: object) -> Path:
    """A copy whose receipt was changed by hand."""
    whole = json.loads(path.read_text())
    for name, value in changes.items():
        place = whole["receipt"]["payment"] if name in ("ledger", "checksum") else whole["receipt"]
        place[name] = value
    target = path.with_name(f"edited {path.name}")
    target.write_text(json.dumps(whole))
    return target


def test_paid_releases(ledger: Ledger, tmp_path: Path) -> None:
    """Each is found by its row; charges without a release are listed."""
    paths = [release(ledger, tmp_path / "may.json"), release(ledger, tmp_path / "june.csv")]
    lost = ledger.charge("orders", "1/8")
    found = pm.verify_payments(paths, ledger)
    assert found.holds
    assert [(finding.verdict, finding.row) for finding in found.findings] == [(PAID, 3), (PAID, 5)]
    assert (found.ledger, found.rows, found.unclaimed) == (ledger.identity, 7, (lost.id,))
    assert pm.verify_payments([str(paths[0])], str(ledger.path)).holds
    assert found.to_dict()["holds"] is True


def test_a_backup_that_was_put_back(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    """The same budget spent twice: two releases claim one row, and one of them is not in the ledger."""
    backup = path.read_bytes()
    first = release(ledger, tmp_path / "first.json", "1")
    path.write_bytes(backup)
    assert verdicts([first], ledger) == [ABSENT]
    second = release(ledger, tmp_path / "second.json", "1")
    assert verdicts([first], ledger) == [ABSENT]
    assert verdicts([second], ledger) == [PAID]
    found = pm.verify_payments([first, second], ledger)
    assert [finding.verdict for finding in found.findings] == [TWICE, TWICE]
    assert not found.holds
    assert found.unclaimed == ()  # the second one claims it rightly
    assert pm.verify_payments([first], ledger).unclaimed == (3,)  # another row 3 paid for the first one
    assert verdicts([first, second]) == [TWICE, TWICE]  # the ledger is not even needed


def test_two_files_of_one_release(ledger: Ledger, tmp_path: Path) -> None:
    """The same release in two formats is no second release; the same receipt over other counts is."""
    first = release(ledger, tmp_path / "first.json")
    pm.load(first).save(tmp_path / "again.csv")
    assert verdicts([first, tmp_path / "again.csv"], ledger) == [PAID, PAID]
    whole = json.loads(first.read_text())
    whole["itemsets"][0]["count"] += 1
    (tmp_path / "other.json").write_text(json.dumps(whole))
    assert verdicts([first, tmp_path / "other.json"], ledger) == [TWICE, TWICE]


def test_releases_that_are_not_paid(ledger: Ledger, tmp_path: Path) -> None:
    """Simulated, without a ledger, of an older version, of another ledger, changed by hand: a sentence each."""
    paid = release(ledger, tmp_path / "paid.json")
    pm.mine(BASKETS, 3, 1, output=tmp_path / "free.json")
    pm.mine(BASKETS, 3, 1, simulate=True, seed=1, output=tmp_path / "simulated.json")
    other = Ledger(tmp_path / "other.db")
    other.init("orders", 1)
    whole = json.loads(paid.read_text())
    del whole["receipt"]["payment"], whole["receipt"]["time"]
    (tmp_path / "older.json").write_text(json.dumps(whole))
    assert verdicts([tmp_path / "free.json"], ledger) == [UNPAID]
    assert verdicts([tmp_path / "simulated.json"], ledger) == [SIMULATED]
    assert verdicts([tmp_path / "older.json"], ledger) == [UNPROVEN]
    assert verdicts([paid], other) == [ELSEWHERE]
    assert verdicts([edited(paid, checksum="0" * 64)], ledger) == [ABSENT]
    assert verdicts([edited(paid, dataset="visits")], ledger) == [CHANGED]
    assert verdicts([edited(paid, ledger="0" * 32)], ledger) == [ELSEWHERE]
    assert verdicts([paid]) == [UNCHECKED]
    assert pm.verify_payments([paid]).holds


def test_another_amount_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    """A receipt that states less than its row charged is not its row's."""
    paid = release(ledger, tmp_path / "paid.json")
    whole = json.loads(paid.read_text())
    whole["receipt"]["epsilon"] = "1/8"
    for charge in whole["receipt"]["charges"]:
        first, _, second = charge["epsilon"].partition("/")
        charge["epsilon"] = f"{first}/{int(second or 1) * 2}"
        charge["verified"] = False
    (tmp_path / "less.json").write_text(json.dumps(whole))
    assert verdicts([tmp_path / "less.json"], ledger) == [CHANGED]


def test_another_unit_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    """A receipt that promises more than its row, customers for transactions, contradicts it, and claims it still."""
    paid = release(ledger, tmp_path / "paid.json")
    unit = pm.api.Unit("customer_id", 1)
    claim = Claim("paid.json", evolve(pm.load(paid).receipt, unit=unit))
    found = verified([claim], ledger.identity, ledger.log())
    assert [finding.verdict for finding in found.findings] == [CHANGED]
    assert "protects one transaction, not one customer_id" in found.findings[0].reason
    assert found.unclaimed == ()


def test_a_row_that_is_no_charge_pays_for_nothing(tmp_path: Path) -> None:
    """The row that opened the budget has an amount as well; whoever names it with its checksum is not paid."""
    ledger = Ledger(tmp_path / "own.db")
    ledger.init("orders", "1/4")
    receipt = pm.load(release(ledger, tmp_path / "paid.json")).receipt
    opening = ledger.log()[0]
    forged = evolve(receipt, payment=evolve(receipt.payment, row=opening.sequence, checksum=opening.checksum))
    (finding,) = verified([Claim("forged.json", forged)], ledger.identity, ledger.log()).findings
    assert finding.verdict == ABSENT


def test_another_delta_is_noticed(tmp_path: Path) -> None:
    """A row of the same ε and a smaller δ paid for another release."""
    ledger = Ledger(tmp_path / "own.db")
    ledger.init("orders", 1, "1e-5")
    claim = Claim("paid.json", pm.load(release(ledger, tmp_path / "paid.json", "1", delta="1e-6")).receipt)
    log = ledger.log()
    assert verified([claim], ledger.identity, log).holds
    smaller = [entry if entry.delta is None else evolve(entry, delta=entry.delta / 2) for entry in log]
    assert verified([claim], ledger.identity, smaller).findings[0].verdict == CHANGED


def test_a_part_is_named_by_the_row_and_by_the_release(ledger: Ledger, tmp_path: Path) -> None:
    """Whoever removes or adds the sentence on the part that was charged is noticed."""
    ledger.grow("orders", "new", "june", 1)
    june = pm.load(release(ledger, tmp_path / "june.json", part="june")).receipt
    whole = pm.load(release(ledger, tmp_path / "all.json")).receipt
    sentence = june.assumptions[-1]
    assert "'june'" in sentence
    july = sentence.replace("june", "july")
    for receipt, assumptions, verdict in [
        (june, june.assumptions, PAID),
        (june, june.assumptions[:-1], CHANGED),
        (june, (*june.assumptions[:-1], july), CHANGED),
        (june, (*june.assumptions, july), CHANGED),
        (whole, whole.assumptions, PAID),
        (whole, (*whole.assumptions, sentence), CHANGED),
    ]:
        claim = Claim("release.json", evolve(receipt, assumptions=assumptions))
        assert verified([claim], ledger.identity, ledger.log()).findings[0].verdict == verdict


def test_a_run_that_failed_made_no_release(ledger: Ledger, tmp_path: Path) -> None:
    """Its row is in the ledger with the right amount, and pays for nothing that is shown."""
    claim = Claim("paid.json", pm.load(release(ledger, tmp_path / "paid.json")).receipt)
    log = [evolve(entry, state=FAILED) if entry.state else entry for entry in ledger.log()]
    (finding,) = verified([claim], ledger.identity, log).findings
    assert (finding.verdict, "its run failed" in finding.reason) == (CHANGED, True)


def test_a_broken_chain(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    """A ledger that was edited verifies nothing."""
    import sqlite3
    from contextlib import closing

    paid = release(ledger, tmp_path / "paid.json")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""UPDATE entries SET details = '{"by": "nobody"}' WHERE sequence = 3""")
    with pytest.raises(LedgerError, match="row 3 or the one before it was changed"):
        pm.verify_payments([paid], ledger)


def test_a_release_that_claims_to_protect_more(ledger: Ledger, tmp_path: Path) -> None:
    """A row for a transaction does not pay for a customer, and not for another day."""
    made = release(ledger, tmp_path / "may.json")
    unit = {"name": "customer_id", "baskets": 1, "merged": True}
    words = str(evolve(pm.load(made).receipt, unit=Unit(**unit)).protects)
    assert verdicts([edited(made, unit=unit, protects=words)], ledger) == [CHANGED]
    time = "2020-01-01T00:00:00.000+00:00"
    whole = json.loads(edited(made, time=time).read_text())
    whole["receipt"]["payment"]["time"] = time
    (tmp_path / "early.json").write_text(json.dumps(whole))
    assert verdicts([tmp_path / "early.json"], ledger) == [CHANGED]
    assert verdicts([made], ledger) == [PAID]
