"""Budgets that add up ρ, in a file; the rules themselves are in tests/helpers/rho_rules.py."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from rho_rules import *  # noqa: F403
from rho_rules import BASKETS, DELTA, price

import privmine as pm
from privmine.cli.commands import cli
from privmine.errors import InputError
from privmine.ledger import Ledger
from privmine.ledger.book import Book
from privmine.ledger.chain import AlteredError, Head, Row
from privmine.ledger.verification import CHANGED, Claim, verified
from privmine.pipeline.request import Wish
from privmine.privacy.conversion import epsilon_of, largest_epsilon_of, rho_of
from privmine.privacy.unit import Unit
from privmine.report.paid import NamedRelease, books_of, together

OLD = Path(__file__).parent


@pytest.mark.parametrize("name", ["before_units.ledger", "with_contents.ledger"])
def test_old_ledgers_still_add_up_sums(name: str, tmp_path: Path) -> None:
    """A budget with a δ that an earlier version opened counts as it did."""
    path = tmp_path / name
    path.write_bytes((OLD / name).read_bytes())
    ledger = Ledger(path)
    before = ledger.show()
    assert {budget.composition for budget in before} == {"sums"}
    for budget in before:
        delta = None if budget.total_delta is None else budget.remaining_delta / 2
        after = ledger.check(budget.name, budget.remaining_epsilon / 2, delta, unit=budget.unit)
        assert after.spent_epsilon == budget.spent_epsilon + budget.remaining_epsilon / 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"composition": "rho"}, "needs a δ"),
        ({"composition": "best", "delta": DELTA}, "must be 'sums' or 'rho'"),
        ({"private_items": True}, "Only a budget that adds up ρ"),
        ({"private_items": True, "composition": "sums", "delta": DELTA}, "Only a budget that adds up ρ"),
    ],
)
def test_budgets_that_are_refused(path: Path, options: dict, words: str) -> None:
    """Before a file is made."""
    with pytest.raises(InputError, match=words):
        Ledger(path).init("sales", 1, **options)
    assert not path.exists()


def sealed(*rows: tuple[str, str, str | None, dict]) -> list[Row]:
    """Rows with right checksums."""
    head, made = Head.of_nothing(b"key"), []
    for number, (event, epsilon, delta, details) in enumerate(rows, start=1):
        text = json.dumps(dict(sorted(details.items())))
        row = Row(number, "2026-01-01T00:00:00+00:00", event, "sales", None, epsilon, delta, "", details=text)
        row, head = head.followed_by(row)
        made.append(row)
    return made


OPENED = ("init", "1/1", "1/1000000", {"composition": "rho", "rho": "1/50"})
FORGED = {
    "more ρ than there was": [OPENED, ("charge", "1/1", "1/1000000", {"rho": "1/49"})],
    "a ρ that is worth more than ε": [("init", "1/1", "1/1000000", {"composition": "rho", "rho": "1/40"})],
    "no ρ": [OPENED, ("charge", "1/10", "1/1000000", {})],
    "ρ of a budget of sums": [("init", "1/1", None, {}), ("charge", "1/10", None, {"rho": "1/200"})],
    "another composition": [("init", "1/1", "1/1000000", {"composition": "best", "rho": "1/50"})],
    "no δ": [("init", "1/1", None, {"composition": "rho", "rho": "1/50"})],
    "all of δ for private items": [
        ("init", "1/1", "1/1000000", {"composition": "rho", "rho": "1/50", "items_delta": "1/1000000"})
    ],
    "a ρ that its pure ε is not worth": [OPENED, ("charge", "1/10", None, {"rho": "1/201"})],
    "more of δ for private items": [OPENED, ("charge", "1/10", "1/1000000", {"rho": "1/200", "items_delta": "1/9"})],
    "negative ρ": [OPENED, ("charge", "1/10", "1/1000000", {"rho": "-1/200"})],
}


@pytest.mark.parametrize("kind", FORGED)
def test_rows_that_privmine_would_not_write(kind: str) -> None:
    """They are refused even where their checksums are right."""
    Book.replay(sealed(OPENED, ("charge", "1/10", None, {"rho": "1/200"})))
    with pytest.raises(AlteredError):
        Book.replay(sealed(*FORGED[kind])).entries()


def test_a_release_whose_rho_was_changed(path: Path, tmp_path: Path) -> None:
    """A row that counts another ρ than the receipt's charges paid for something else."""
    ledger = Ledger(path)
    ledger.init("sales", 1, DELTA)
    release = pm.mine(BASKETS, 3, "0.5", delta=DELTA, ledger=ledger, dataset="sales")
    claim = Claim("a.json", release.receipt)
    assert verified([claim], ledger.identity, ledger.log()).holds
    smaller = [entry if entry.rho is None else evolve(entry, rho=entry.rho / 2) for entry in ledger.log()]
    assert verified([claim], ledger.identity, smaller).findings[0].verdict == CHANGED


def test_private_items_are_charged_as_they_are_drawn(path: Path) -> None:
    """The half of δ that a release keeps for naming items is counted; a budget that keeps none refuses it at once."""
    ledger = Ledger(path)
    ledger.init("sales", 1, DELTA, private_items=True)
    ledger.init("known", 1, DELTA)
    baskets = pm.read([["a", "b"], ["a"], ["b", "c"]] * 300, items="private")
    pm.mine(baskets, 3, "0.5", delta="2e-7", ledger=ledger, dataset="sales")
    entry = next(entry for entry in ledger.log("sales") if entry.event == "charge")
    assert (entry.rho, entry.items_delta) == (rho_of(Fraction(1, 2), DELTA / 10), DELTA / 10)
    for run in (pm.mine, pm.Pipeline().dry_run):
        with pytest.raises(InputError, match="keeps no part of its δ"):
            run(baskets, k=3, epsilon="0.5", delta="2e-7", ledger=ledger, dataset="known")
    with pytest.raises(InputError, match="keeps no part of its δ"):  # before the data is read
        Wish(3, "0.5", delta="2e-7", ledger=ledger, dataset="known").check(
            Unit(), universe_given=False, private_items=True
        )
    assert ledger.budget("known").spent_rho == 0


def test_show_log_and_report_agree(path: Path) -> None:
    """What the screen, the JSON and the report say of a total is the same, and they say how it was reached."""
    run = CliRunner().invoke
    run(cli, ["budget", "init", "--ledger", str(path), "--dataset", "sales", "--epsilon", "1", "--delta", "1e-6"])
    ledger = Ledger(path)
    releases = [pm.mine(BASKETS, 3, "0.4", delta=DELTA, ledger=ledger, dataset="sales") for _ in range(2)]
    rho = 2 * rho_of(Fraction(2, 5), DELTA)
    spent = epsilon_of(rho, DELTA)
    for command in ("show", "log"):
        text = " ".join(run(cli, ["budget", command, "--ledger", str(path)]).output.split())
        assert "sales adds up ρ: " in text
        assert f"ε ≈ {float(spent):.6g}"[:8] in text
    (shown,) = json.loads(run(cli, ["budget", "show", "--ledger", str(path), "--json"]).output)
    assert (shown["composition"], shown["spent_rho"], shown["spent_epsilon"]) == ("rho", str(rho), str(spent))
    books = books_of([NamedRelease(f"{number}.json", one) for number, one in enumerate(releases)], ledger)
    assert not books.doubts
    account = books.accounts["sales"]
    assert (account.spent.epsilon, account.spent.delta) == (spent, DELTA)
    assert together([one.receipt for one in releases])[0] == account.spent


@pytest.mark.parametrize("rho", ["0.02", "1/3", "1e-9", "7", "0.0243559703595"])
def test_the_largest_epsilon_is_within_rho(rho: str) -> None:
    """What it gives is worth at most this ρ, and nearly all of it."""
    found = largest_epsilon_of(Fraction(rho), DELTA)
    assert Fraction(rho) * (1 - Fraction(1, 10**7)) <= rho_of(found, DELTA) <= Fraction(rho)


def test_nothing_is_worth_nothing() -> None:
    """Without ρ there is no ε."""
    assert largest_epsilon_of(Fraction(0), DELTA) == 0


def test_a_charge_that_is_checked_is_not_made(path: Path) -> None:
    """`check` tells what would be left."""
    ledger = Ledger(path)
    ledger.init("sales", 1, DELTA)
    after = ledger.check("sales", **price("0.5"))
    assert after.spent_rho == rho_of(Fraction(1, 2), DELTA)
    assert ledger.budget("sales").spent_rho == 0
