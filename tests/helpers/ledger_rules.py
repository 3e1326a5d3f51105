"""Rules of shared budgets, as tests that hold wherever a ledger is kept: in a file and in a database.

A test file imports all of them and brings a fixture `ledger`: "orders" with ε = 1, "visits" with ε = 2 and δ = 1/1000.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from random import Random
from signal import SIGKILL

import pytest

from privmine.errors import BudgetError, InputError, UnknownNameError
from privmine.ledger import Ledger
from privmine.ledger.storage import Page

HALF = Fraction(1, 2)


def place(ledger: Ledger) -> str:
    """What another process needs to open the ledger."""
    return getattr(ledger.path, "url", str(ledger.path))


def move_clock(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Let every page have another day."""
    made = Page.__init__

    def later(self: Page, *arguments: object, **named: object) -> None:
        made(self, *arguments, **named)
        self.now += timedelta(days=days)

    monkeypatch.setattr(Page, "__init__", later)


def today() -> date:
    return datetime.now(UTC).date()


def test_a_grant_is_set_aside(ledger: Ledger) -> None:
    """What an account may spend nobody else can; what it spends is the dataset's loss, once."""
    made = ledger.grant("orders", "marketing", HALF)
    assert (made.account, made.remaining_epsilon, made.unit) == ("marketing", HALF, "transaction")
    with pytest.raises(BudgetError, match="exceeds the budget of 'orders'") as caught:
        ledger.charge("orders", "3/5")
    assert caught.value.remaining == HALF
    ledger.charge("orders", "1/4", account="marketing")
    with pytest.raises(BudgetError, match="'orders / marketing'") as caught:
        ledger.charge("orders", "1/3", account="marketing")
    assert caught.value.remaining == Fraction(1, 4)
    ledger.charge("orders", HALF)
    whole, account = (budget for budget in ledger.show() if budget.name == "orders")
    assert (whole.spent_epsilon, whole.reserved_epsilon, whole.remaining_epsilon) == (Fraction(3, 4), Fraction(1, 4), 0)
    assert (account.spent_epsilon, account.remaining_epsilon) == (Fraction(1, 4), Fraction(1, 4))
    assert ledger.check("orders", "1/8", account="marketing").remaining_epsilon == Fraction(1, 8)
    ledger.charge("orders", "1/4", account="marketing")
    assert ledger.budget("orders").spent_epsilon == 1
    assert [entry.account for entry in ledger.log("orders") if entry.event == "charge"] == [
        "marketing",
        "",
        "marketing",
    ]


def test_grants_have_a_delta_where_the_budget_has_one(ledger: Ledger) -> None:
    """δ is set aside like ε."""
    with pytest.raises(InputError, match="counted in"):
        ledger.grant("visits", "marketing", 1)
    with pytest.raises(InputError, match="pure ε"):
        ledger.grant("orders", "marketing", HALF, "1/5000")
    ledger.grant("visits", "marketing", HALF, "3/4000")
    with pytest.raises(BudgetError) as caught:
        ledger.charge("visits", "1/10", "1/2000")
    assert caught.value.remaining == Fraction(1, 4000)
    with pytest.raises(BudgetError):
        ledger.grant("visits", "sales", HALF, "1/2000")
    with pytest.raises(BudgetError):
        ledger.charge("visits", "1/10", "1/1000", account="marketing")
    ledger.charge("visits", "1/10", "3/4000", account="marketing")
    assert ledger.budget("visits", account="marketing").remaining_delta == 0


@pytest.mark.parametrize(
    ("dataset", "to", "epsilon", "error", "words"),
    [
        ("orders", "sales", 2, BudgetError, "ε = 1/2|ε = 0.5"),
        ("orders", "sales", "0.51", BudgetError, "exceeds the budget of 'orders'"),
        ("orders", "marketing", "0.1", InputError, "already has an account named 'marketing'"),
        ("orders", "", "0.1", InputError, "must not be empty"),
        ("orders", "a\nb", "0.1", InputError, "control or invisible"),
        ("orders", "sales", 0, InputError, "more than 0"),
        ("orders", "sales", "-1", InputError, "more than 0"),
        ("nobody", "sales", "0.1", UnknownNameError, "no dataset in the ledger"),
    ],
)
def test_grants_that_are_refused(
    ledger: Ledger, dataset: str, to: str, epsilon: object, error: type[Exception], words: str
) -> None:
    """More than the parent has, a name that exists or cannot be one: a sentence each, and nothing is written."""
    ledger.grant("orders", "marketing", HALF)
    before = ledger.log()
    with pytest.raises(error, match=words):
        ledger.grant(dataset, to, epsilon)
    assert ledger.log() == before


def test_an_account_that_is_not_there(ledger: Ledger) -> None:
    """A misspelt account is named with the known ones, and nothing is charged to anybody else instead."""
    ledger.grant("orders", "marketing", HALF)
    for use in (ledger.charge, ledger.check):
        with pytest.raises(UnknownNameError, match="Did you mean 'marketing'"):
            use("orders", "0.1", account="marketting")
    assert ledger.budget("orders").spent_epsilon == 0


def test_a_revoked_grant_is_the_datasets_again(ledger: Ledger) -> None:
    """Only what was not spent comes back."""
    ledger.grant("orders", "marketing", HALF)
    ledger.charge("orders", "1/8", account="marketing")
    assert ledger.revoke("orders", "marketing").remaining_epsilon == Fraction(7, 8)
    with pytest.raises(BudgetError):
        ledger.charge("orders", "1/100", account="marketing")
    ledger.charge("orders", "7/8")
    assert ledger.budget("orders").remaining_epsilon == 0


def test_a_period_ends_and_is_renewed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a date that somebody gives opens a new period, after the old one; what is left lapses."""
    end = today() + timedelta(days=9)
    ledger.init("logs", 1, until=end)
    ledger.grant("logs", "marketing", HALF)
    ledger.charge("logs", "1/4")
    ledger.charge("logs", "1/8", account="marketing")
    for day, words in ((end, "already"), (end + timedelta(9), "Renew it after that day"), ("2020-01-01", "already")):
        with pytest.raises(InputError, match=words):
            ledger.renew("logs", day, 1)
    with pytest.raises(InputError, match="whole life of the data"):
        ledger.renew("orders", end + timedelta(days=9), 1)

    move_clock(monkeypatch, 10)
    for account in (None, "marketing"):
        with pytest.raises(InputError, match=f"ended on {end}.*privmine budget renew"):
            ledger.charge("logs", "1/100", account=account)
    with pytest.raises(InputError, match="is in the past"):
        ledger.init("late", 1, until=end)
    assert ledger.budget("logs").spent_epsilon == Fraction(3, 8)
    renewed = ledger.renew("logs", end + timedelta(days=30), "1/2")
    assert (renewed.spent_epsilon, renewed.remaining_epsilon) == (Fraction(3, 8), HALF)
    with pytest.raises(UnknownNameError):
        ledger.charge("logs", "1/100", account="marketing")
    ledger.charge("logs", HALF)
    with pytest.raises(BudgetError):
        ledger.charge("logs", "1/100")
    ledger.charge("orders", 1)


def test_a_clock_that_is_turned_back_gives_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its end a period stays ended, whatever a clock says: the ledger has seen a later day."""
    ledger.init("logs", 1, until=today() + timedelta(days=9))
    with monkeypatch.context() as patch:
        move_clock(patch, 20)
        ledger.renew("logs", today() + timedelta(days=25), "1/2")
        patch.undo()
        with pytest.raises(InputError, match="Renew it after that day"):
            ledger.renew("logs", today() + timedelta(days=90), 1)
        move_clock(patch, 27)
        with pytest.raises(InputError, match="ended on"):
            ledger.charge("logs", "1/10")
    ledger.charge("logs", HALF)
    with pytest.raises(BudgetError):
        ledger.charge("logs", "1/100")


def test_a_later_day_that_the_ledger_has_seen_counts(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A period that has ended stays ended for a clock that is behind."""
    ledger.init("logs", 1, until=today() + timedelta(days=9))
    with monkeypatch.context() as patch:
        move_clock(patch, 20)
        ledger.grow("logs", "same")
    with pytest.raises(InputError, match="ended on"):
        ledger.charge("logs", "1/10")


@pytest.mark.parametrize("day", ["tomorrow", "2027-13-01", 7, datetime(2099, 1, 1, tzinfo=UTC), None])
def test_odd_dates(ledger: Ledger, day: object) -> None:
    """What is no date is refused in a sentence."""
    with pytest.raises(InputError, match="date such as"):
        ledger.renew("orders", day, 1)


def test_a_budget_that_ended_before_it_began(ledger: Ledger) -> None:
    """A period in the past is a mistake."""
    with pytest.raises(InputError, match="is in the past"):
        ledger.init("logs", 1, until="2020-01-01")


def test_rows_of_the_same_people_give_nothing(ledger: Ledger) -> None:
    """They are noted, and the budget is what it was."""
    ledger.charge("orders", HALF)
    assert ledger.grow("orders", "same", note="June").remaining_epsilon == HALF
    assert (ledger.log("orders")[-1].event, ledger.log("orders")[-1].people) == ("grow", "same")
    with pytest.raises(InputError, match="no budget of their own"):
        ledger.grow("orders", "same", epsilon=1)
    for people in ("", "some", None):
        with pytest.raises(InputError, match="Say whose rows came"):
            ledger.grow("orders", people, "june", 1)


def test_new_people_have_a_budget_of_their_own(ledger: Ledger) -> None:
    """A release of all rows costs everybody; one of the new rows alone costs the new people alone."""
    ledger.charge("orders", "3/4")
    june = ledger.grow("orders", "new", "june", 1)
    assert (june.part, june.remaining_epsilon) == ("june", 1)
    with pytest.raises(BudgetError, match="'orders'"):
        ledger.charge("orders", "1/3")  # those of the start have 1/4 left
    ledger.charge("orders", "1/3", part="june")
    ledger.charge("orders", "1/4")
    assert [budget.spent_epsilon for budget in ledger.show() if budget.name == "orders"] == [1, Fraction(7, 12)]
    assert ledger.budget("orders", part="june").remaining_epsilon == Fraction(5, 12)
    with pytest.raises(BudgetError):
        ledger.charge("orders", "1/100")
    ledger.charge("orders", "5/12", part="june")
    with pytest.raises(BudgetError, match=r"'orders \+ june'"):
        ledger.charge("orders", "1/100", part="june")
    with pytest.raises(UnknownNameError, match="no part of 'orders' named 'july'"):
        ledger.charge("orders", "1/100", part="july")


def test_a_part_that_is_spent_stops_releases_of_all(ledger: Ledger) -> None:
    """The people who have the least left decide."""
    ledger.grow("orders", "new", "june", "1/2")
    ledger.charge("orders", "1/2", part="june")
    with pytest.raises(BudgetError, match=r"'orders \+ june'"):
        ledger.charge("orders", "1/100")
    assert ledger.budget("orders").part == "june"


def test_accounts_are_covered_in_every_part(ledger: Ledger) -> None:
    """What was granted can be spent on everybody, those who came later included."""
    ledger.grant("orders", "marketing", HALF)
    with pytest.raises(InputError, match="at least that much"):
        ledger.grow("orders", "new", "june", "1/4")
    ledger.grow("orders", "new", "june", "3/4")
    with pytest.raises(InputError, match="already has a part"):
        ledger.grow("orders", "new", "june", "3/4")
    assert ledger.budget("orders", part="june").remaining_epsilon == Fraction(1, 4)
    with pytest.raises(BudgetError):
        ledger.charge("orders", HALF, part="june")
    ledger.charge("orders", HALF, account="marketing")
    assert [budget.spent_epsilon for budget in ledger.show() if budget.name == "orders"] == [HALF, HALF, HALF]


RACE = """
import os, sys
from fractions import Fraction
from privmine.errors import BudgetError
from privmine.ledger import Ledger
place, account, epsilon, witness = sys.argv[1:]
ledger = Ledger(place, timeout=120)
file = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print("ready", flush=True)
sys.stdin.readline()
try:
    while True:
        charge = ledger.charge("orders", Fraction(epsilon), account=account or None)
        os.write(file, f"{charge.id} {account} {epsilon}\\n".encode())
        os.fsync(file)
        ledger.finish(charge)
except BudgetError:
    print("spent", flush=True)
"""


@pytest.fixture
def racers(ledger: Ledger, tmp_path) -> Iterator[list[tuple[subprocess.Popen[str], object]]]:
    """Twenty processes: three for each of four accounts, and eight for the dataset itself; they wait for a word."""
    for number in range(4):
        ledger.grant("orders", f"account {number}", Fraction(1, 8 + number))
    started = []
    for number in range(20):
        account = f"account {number % 4}" if number < 12 else ""
        witness = tmp_path / f"witness {number}"
        arguments = [place(ledger), account, f"1/{150 + number}", str(witness)]
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", RACE, *arguments],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append((process, witness))
    for process, _ in started:
        assert process.stdout.readline() == "ready\n"
    yield started
    for process, _ in started:
        process.kill()
        process.communicate()


def go(racers: list) -> None:
    for process, _ in racers:
        process.stdin.write("go\n")
        process.stdin.flush()


def check_race(ledger: Ledger, racers: list, killed: int) -> None:
    """Nothing more than granted, and every release that went on was charged, to the account that it named."""
    drawn = {}
    for _, witness in racers:
        for line in witness.read_text().splitlines():
            number, _, rest = line.partition(" ")
            assert int(number) not in drawn
            account, _, epsilon = rest.rpartition(" ")
            drawn[int(number)] = (account, Fraction(epsilon))
    charged = {
        entry.sequence: (entry.account, entry.epsilon) for entry in ledger.log("orders") if entry.event == "charge"
    }
    assert drawn.items() <= charged.items()
    assert len(charged) - len(drawn) <= killed
    whole, *accounts = (budget for budget in ledger.show() if budget.name == "orders")
    assert len(accounts) == 4
    for number, account in enumerate(accounts):
        spent = sum(epsilon for name, epsilon in charged.values() if name == f"account {number}")
        assert account.spent_epsilon == spent <= Fraction(1, 8 + number)
    assert whole.spent_epsilon == sum(epsilon for _, epsilon in charged.values()) <= 1
    assert whole.remaining_epsilon >= 0
    direct = sum(epsilon for name, epsilon in charged.values() if not name)
    assert direct <= 1 - sum(Fraction(1, 8 + number) for number in range(4))


@pytest.mark.statistics  # for its time; ten processes race by default
def test_twenty_processes_and_four_accounts_race(ledger: Ledger, racers: list) -> None:
    """All at once until nothing is left for any of them: never more than granted, and no charge is lost."""
    go(racers)
    outputs = [process.communicate(timeout=300) for process, _ in racers]
    assert outputs == [("spent\n", "")] * 20
    check_race(ledger, racers, killed=0)
    whole, *accounts = (budget for budget in ledger.show() if budget.name == "orders")
    assert max(budget.remaining_epsilon for budget in (whole, *accounts)) < Fraction(1, 150)


@pytest.mark.statistics  # for its time; the killing of single processes is tested by default
def test_twenty_processes_of_which_eight_are_killed(ledger: Ledger, racers: list) -> None:
    """kill -9 in the middle of the race: the ledger opens, and has charged at least everything that went on."""
    random = Random("race")  # noqa: S311
    go(racers)
    for process, _ in racers[::5] + racers[1::5]:
        time.sleep(random.uniform(0, 0.3))
        os.kill(process.pid, SIGKILL)
    killed = {process.pid for process, _ in racers[::5] + racers[1::5]}
    for process, _ in racers:
        process.communicate(timeout=300)
        assert process.returncode == (-SIGKILL if process.pid in killed else 0)
    check_race(ledger, racers, killed=len(killed))
    with pytest.raises(BudgetError):
        ledger.charge("orders", HALF)
