"""Rules of budgets that add up ρ, as tests that hold wherever a ledger is kept: in a file and in a database.

A test file imports all of them and brings a fixture `ledger`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from math import erfc, exp, sqrt
from random import Random
from typing import Any

import pytest
from ledger_rules import move_clock, place, today

import privmine as pm
from privmine.errors import BudgetError, InputError
from privmine.ledger import Ledger
from privmine.privacy.conversion import epsilon_of, rho_of
from privmine.privacy.definition import ZCDP

DELTA = Fraction(1, 10**6)
BASKETS = [["a", "b"], ["a"], ["b", "c"]] * 30


def price(epsilon: Any, delta: Fraction = DELTA, items_delta: Fraction = Fraction(0)) -> dict[str, Any]:
    """What a release states of itself."""
    return ZCDP(delta, items_delta).budget(Fraction(epsilon)).price()


def exact_delta(rho: float, epsilon: float) -> float:
    """The exact δ of Gaussian noise that costs ρ, at this ε (Balle and Wang 2018)."""
    mu = sqrt(2 * rho)

    def below(value: float) -> float:
        return erfc(-value / sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


def test_rho_adds_up(ledger: Ledger) -> None:
    """Nine releases of ε = 0.3 fit into ε = 1, where sums of ε allow three; and together they keep what is promised."""
    made = ledger.init("sales", 1, DELTA)
    assert (made.composition, made.total_epsilon, made.total_delta) == ("rho", 1, DELTA)
    single = rho_of(Fraction(3, 10), DELTA)
    for _ in range(9):
        ledger.charge("sales", **price("0.3"))
    with pytest.raises(BudgetError, match=r"ρ ≈ .* exceeds the budget of 'sales'.*Ask for at most ε") as caught:
        ledger.charge("sales", **price("0.3"))
    budget = ledger.budget("sales")
    assert (budget.spent_rho, budget.remaining_rho) == (9 * single, made.total_rho - 9 * single)
    assert (caught.value.requested, caught.value.remaining) == (single, budget.remaining_rho)
    assert budget.spent_epsilon == epsilon_of(9 * single, DELTA) <= 1
    assert exact_delta(float(budget.spent_rho), float(budget.spent_epsilon)) <= DELTA
    assert exact_delta(float(budget.total_rho), 1) <= DELTA


def test_what_is_left_can_be_spent(ledger: Ledger) -> None:
    """The ε that is said to be left is taken, and hardly anything is left then."""
    ledger.init("sales", 1, DELTA)
    for epsilon in ("0.3", "0.123", "0.57"):
        ledger.charge("sales", **price(epsilon))
    left = ledger.budget("sales").remaining_epsilon
    ledger.charge("sales", **price(left))
    assert 0 <= ledger.budget("sales").remaining_rho < Fraction(1, 10**9)


def test_the_delta_of_a_release_does_not_matter(ledger: Ledger) -> None:
    """The same noise costs the same ρ, at whatever δ a release states it."""
    ledger.init("sales", 1, DELTA)
    rho = rho_of(Fraction(1, 2), Fraction(1, 10**9))
    ledger.charge("sales", epsilon_of(rho, Fraction(1, 10**3)), Fraction(1, 10**3), rho=rho)
    assert ledger.budget("sales").spent_rho == rho


def test_pure_releases_count_half_their_square(ledger: Ledger) -> None:
    """Two definitions on one dataset: a release under pure ε is ε²/2-zCDP."""
    ledger.init("sales", 1, DELTA)
    ledger.charge("sales", "1/10")
    ledger.charge("sales", **price("0.3"))
    expected = Fraction(1, 200) + rho_of(Fraction(3, 10), DELTA)
    assert ledger.budget("sales").spent_rho == expected
    assert [entry.rho for entry in ledger.log("sales")][1:] == [Fraction(1, 200), rho_of(Fraction(3, 10), DELTA)]
    with pytest.raises(BudgetError):
        ledger.charge("sales", "1/4")
    assert ledger.budget("sales").spent_rho == expected


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": "0.3", "delta": DELTA}, "adds up ρ, and this charge states none"),
        ({"epsilon": "0.3", "delta": DELTA, "rho": "0.01"}, "more than the stated ε"),
        ({"epsilon": "0.3", "delta": DELTA, "rho": 0}, "must be more than 0"),
        (price("0.3", items_delta=DELTA / 2), "keeps no part of its δ for releases of private items"),
        ({"epsilon": Fraction(1, 2**521 - 1)}, "too many digits to be counted exactly in ρ"),
    ],
)
def test_charges_that_do_not_add_up(ledger: Ledger, wrong: dict[str, Any], words: str) -> None:
    """Each is refused in a sentence, and nothing is charged."""
    ledger.init("sales", 1, DELTA)
    with pytest.raises(InputError, match=words):
        ledger.charge("sales", **wrong)
    assert ledger.budget("sales").spent_rho == 0
    assert [entry.event for entry in ledger.log("sales")] == ["init"]


def test_private_items_are_counted_separately(ledger: Ledger) -> None:
    """A part of δ is kept for them, and adds up; a release of all that there is fits exactly, and no second one."""
    made = ledger.init("sales", 1, DELTA, private_items=True)
    assert (made.total_items_delta, made.total_delta, made.total_epsilon) == (DELTA / 2, DELTA, 1)
    ledger.charge("sales", **price("0.3", items_delta=DELTA / 2))
    budget = ledger.budget("sales")
    assert (budget.spent_items_delta, budget.spent_delta) == (DELTA / 2, DELTA)
    assert exact_delta(float(budget.total_rho), 1) + budget.total_items_delta <= DELTA
    with pytest.raises(BudgetError, match="for private items exceeds") as caught:
        ledger.charge("sales", **price("0.3", DELTA / 100, DELTA / 200))
    assert (caught.value.requested, caught.value.remaining) == (DELTA / 200, 0)
    ledger.charge("sales", **price("0.3"))  # of known items: it needs none of that part
    ledger.init("all of it", 1, DELTA, private_items=True)
    ledger.charge("all of it", **price(1, items_delta=DELTA / 2))
    assert ledger.budget("all of it").remaining_rho == 0


def test_shares_are_set_aside_in_rho(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grants, new people and new periods, in ρ and in the part of δ for private items."""
    until = today()
    made = ledger.init("sales", 1, DELTA, private_items=True, until=until)
    noise_delta = DELTA / 2
    half = rho_of(Fraction(1, 2), noise_delta)
    granted = ledger.grant("sales", "marketing", "1/2")
    assert (granted.total_rho, granted.total_epsilon) == (half, Fraction(1, 2))
    assert granted.total_items_delta == DELTA / 2 * half / made.total_rho
    whole = ledger.budget("sales")
    assert (whole.reserved_rho, whole.remaining_rho) == (half, made.total_rho - half)
    with pytest.raises(InputError, match="Leave out the δ of a share"):
        ledger.grant("sales", "other", "1/2", delta="1e-7")
    with pytest.raises(BudgetError):
        ledger.grant("sales", "other", "9/10")
    ledger.charge("sales", **price("0.1"), account="marketing")
    spent = rho_of(Fraction(1, 10), DELTA)
    part = ledger.grow("sales", "new", "june", 2)
    assert (part.spent_rho, part.reserved_rho, part.total_epsilon) == (0, half - spent, 2)
    with pytest.raises(InputError, match="Give the new people at least that much"):
        ledger.grow("sales", "new", "july", "1/10")
    ledger.charge("sales", **price("0.1"), part="june")
    assert ledger.budget("sales", part="june").spent_rho == spent
    assert ledger.revoke("sales", "marketing").remaining_rho == made.total_rho - spent
    move_clock(monkeypatch, 1)
    with pytest.raises(InputError, match="period"):
        ledger.charge("sales", **price("0.1"))
    monkeypatch.undo()
    move_clock(monkeypatch, 2)
    renewed = ledger.renew("sales", until.replace(year=until.year + 1), 1)
    assert (renewed.spent_rho, renewed.remaining_rho) == (spent, made.total_rho)
    assert renewed.total_items_delta == DELTA / 2


RACE = """
import sys
from fractions import Fraction
from privmine.errors import BudgetError
from privmine.ledger import Ledger
from privmine.privacy.definition import ZCDP
place, account, epsilon = sys.argv[1], sys.argv[2] or None, Fraction(sys.argv[3])
ledger = Ledger(place, timeout=60)
price = ZCDP(Fraction(1, 10**6)).budget(epsilon).price()
print("ready", flush=True)
sys.stdin.readline()
spent = 0
try:
    while True:
        if account:
            ledger.charge("sales", **price, account=account)
        else:
            ledger.charge("sales", epsilon)
        spent += 1
except BudgetError:
    print(spent, flush=True)
"""


def test_eight_processes_race_for_rho(ledger: Ledger) -> None:
    """Releases under both definitions, from two accounts and the dataset: never more ρ than granted, and none lost."""
    ledger.init("sales", 1, DELTA)
    for account in ("first", "second"):
        ledger.grant("sales", account, "1/2")
    started = []
    for number in range(8):
        account = ("first", "second", "", "")[number % 4]
        epsilon = Fraction(1, 8 + number) if account else Fraction(1, 25 + number)
        arguments = [sys.executable, "-W", "error", "-c", RACE, place(ledger), account, str(epsilon)]
        process = subprocess.Popen(
            arguments,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append((process, rho_of(epsilon, DELTA) if account else epsilon**2 / 2))
    for process, _ in started:
        assert process.stdout.readline() == "ready\n"
    for process, _ in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=300) for process, _ in started]
    assert [error for _, error in outputs] == [""] * 8
    drawn = sum((int(out) * rho for (out, _), (_, rho) in zip(outputs, started, strict=True)), Fraction(0))
    whole, *accounts = (budget for budget in ledger.show() if budget.name == "sales")
    assert drawn == whole.spent_rho == sum(entry.rho for entry in ledger.log("sales") if entry.event == "charge")
    assert whole.spent_rho + whole.reserved_rho <= whole.total_rho == rho_of(Fraction(1), DELTA)
    for account in accounts:
        assert account.spent_rho <= account.total_rho == rho_of(Fraction(1, 2), DELTA)
        assert account.remaining_rho < rho_of(Fraction(1, 8), DELTA)


def test_random_commands_never_exceed_the_total(ledger: Ledger) -> None:
    """Sixty random commands: what was accepted adds up to at most the total, by a sum of its own."""
    random = Random("rho")  # noqa: S311
    total = ledger.init("sales", 1, DELTA, private_items=True).total_rho
    spent, kept, reserved = Fraction(0), Fraction(0), {}
    for number in range(60):
        epsilon = Fraction(random.randint(1, 40), 100)
        account = random.choice([*reserved, None]) if reserved else None
        items_delta = random.choice([Fraction(0), DELTA / 10])
        asked = random.choice([price(epsilon, items_delta=items_delta), {"epsilon": epsilon / 4}])
        rho, of_items = asked.get("rho", (epsilon / 4) ** 2 / 2), asked.get("items_delta", Fraction(0))
        try:
            match random.choice(["charge", "charge", "charge", "grant", "revoke"]):
                case "charge":
                    ledger.charge("sales", **asked, account=account)
                    spent, kept = spent + rho, kept + of_items
                    if account:
                        reserved[account] -= rho
                case "grant":
                    ledger.grant("sales", f"account {number}", epsilon)
                    reserved[f"account {number}"] = rho_of(epsilon, DELTA / 2)
                case "revoke" if account:
                    ledger.revoke("sales", account)
                    reserved[account] = Fraction(0)
        except BudgetError:
            pass
        assert spent + sum(reserved.values()) <= total
        assert min(reserved.values(), default=0) >= 0
        assert kept <= DELTA / 2
    budget = ledger.show()[-1 - len(reserved)]
    assert (budget.spent_rho, budget.spent_items_delta, budget.reserved_rho) == (spent, kept, sum(reserved.values()))


def test_a_release_and_its_row_agree(ledger: Ledger, tmp_path: Any) -> None:
    """The charges of a receipt add up to the ρ of the row that paid for it; a pure release is paid as well."""
    ledger.init("sales", 2, DELTA)
    files = []
    for number, delta in enumerate(("1e-6", None, "1e-7")):
        files.append(tmp_path / f"{number}.json")
        asked = {"ledger": place(ledger), "dataset": "sales", "output": files[-1], "delta": delta}
        pm.mine(pm.read(BASKETS, items=["a", "b", "c"]), 3, "0.1", **asked)
    rows = [entry for entry in ledger.log("sales") if entry.event == "charge"]
    for file, row in zip(files, rows, strict=True):
        receipt = pm.load(file).receipt
        counted = sum(charge.cost.amount for charge in receipt.charges)
        assert row.rho == (counted**2 / 2 if receipt.guarantee.delta is None else counted)
    assert sum(row.rho for row in rows) == ledger.budget("sales").spent_rho
    assert pm.verify_payments(files, ledger).holds
