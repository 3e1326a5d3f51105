"""Budgets are opened, charged exactly, and refused when they are spent."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privmine.errors import BudgetError, InputError, LedgerError, UnknownNameError
from privmine.ledger import APPROXIMATE, PURE, Ledger, LedgerCharge
from privmine.ledger.sums_budget import SumsBudget


def test_a_new_budget_is_whole(path: Path) -> None:
    """A dataset starts with all of its total, in pure ε where no δ is given."""
    budget = Ledger(path).init("orders", epsilon=0.1)
    assert budget == SumsBudget.of("orders", Fraction(1, 10), None)
    assert (budget.definition, budget.remaining_epsilon, budget.remaining_delta) == (PURE, Fraction(1, 10), None)
    assert Ledger(path).show() == (budget,)


def test_a_budget_with_delta(path: Path) -> None:
    """A δ makes the definition (ε, δ), and charges of both add up."""
    ledger = Ledger(path)
    made = ledger.init("visits", epsilon=1, delta=1e-6, composition="sums")
    assert made.definition == APPROXIMATE
    assert made == ledger.budget("visits")
    charge = ledger.charge("visits", 0.25, delta=Decimal("4e-7"))
    assert charge == LedgerCharge(2, "visits", Fraction(1, 4), Fraction(4, 10**7))
    budget = ledger.budget("visits")
    assert (budget.spent_epsilon, budget.spent_delta) == (Fraction(1, 4), Fraction(4, 10**7))
    assert (budget.remaining_epsilon, budget.remaining_delta) == (Fraction(3, 4), Fraction(6, 10**7))


def test_charges_add_up_exactly(path: Path) -> None:
    """Ten charges of 0.1 spend a budget of 1 to the last bit, and not one more is granted."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1)
    for _ in range(10):
        ledger.charge("orders", 0.1)
    assert ledger.budget("orders").remaining_epsilon == 0
    with pytest.raises(BudgetError, match=r"ε = 0 is left of 1.*does not come back") as caught:
        ledger.charge("orders", "1/1000000000000000000000")
    assert caught.value.remaining == 0


def test_datasets_do_not_share(ledger: Ledger) -> None:
    """A charge takes from its own dataset only."""
    ledger.charge("orders", 1)
    assert [budget.remaining_epsilon for budget in ledger.show()] == [0, 2]


def test_a_refusal_says_what_is_left(ledger: Ledger) -> None:
    """A charge past the total is refused with requested and remaining, and leaves no trace."""
    ledger.charge("orders", "2/3")
    before = ledger.log()
    words = r"ε = 0\.5 exceeds the budget of 'orders'.*1/3 ≈ 0\.333333 is left of 1\..*Ask for at most ε = 1/3"
    with pytest.raises(BudgetError, match=words) as caught:
        ledger.charge("orders", 0.5)
    assert (caught.value.requested, caught.value.remaining) == (Fraction(1, 2), Fraction(1, 3))
    with pytest.raises(BudgetError):  # by however little
        ledger.charge("orders", Fraction(1, 3) + Fraction(1, 10**30))
    assert ledger.log() == before
    ledger.charge("orders", caught.value.remaining)


def test_a_refusal_for_delta(ledger: Ledger) -> None:
    """A charge whose δ is too large is refused even where its ε is not, and names δ."""
    with pytest.raises(BudgetError, match=r"δ = 0\.002 exceeds the budget of 'visits'") as caught:
        ledger.charge("visits", 1, delta=0.002)
    assert (caught.value.requested, caught.value.remaining) == (Fraction(1, 500), Fraction(1, 1000))
    assert ledger.budget("visits").spent_epsilon == 0


def test_definitions_are_not_mixed(ledger: Ledger) -> None:
    """A δ is refused where the budget is pure, and pure ε where the budget has a δ."""
    with pytest.raises(InputError, match=r"counted in pure ε"):
        ledger.charge("orders", 0.1, delta=1e-9)
    with pytest.raises(InputError, match=r"counted in \(ε, δ\)"):
        ledger.charge("visits", 0.1)
    assert all(budget.spent_epsilon == 0 for budget in ledger.show())


@pytest.mark.parametrize(
    "epsilon", [0, -1, float("nan"), float("inf"), "", "much", None, True, "1e13", "1/3" * 2, "0.1" + "0" * 3999 + "1"]
)
def test_unusable_epsilon(path: Path, epsilon: object) -> None:
    """A total ε that is not a positive number of bearable size is refused before a file is made."""
    with pytest.raises(InputError, match="The total ε"):
        Ledger(path).init("orders", epsilon=epsilon)
    assert not path.exists()


@pytest.mark.parametrize("delta", [0, 1, -1e-6, float("nan"), "few", False, Fraction(1, 2**4096)])
def test_unusable_delta(path: Path, delta: object) -> None:
    """A total δ must be strictly between 0 and 1."""
    with pytest.raises(InputError, match="The total δ"):
        Ledger(path).init("orders", epsilon=1, delta=delta)
    assert not path.exists()


@pytest.mark.parametrize("epsilon", [0, -0.5, float("nan"), "x"])
def test_unusable_charge(ledger: Ledger, epsilon: object) -> None:
    """A charge of nothing, of less, or of no number is refused."""
    with pytest.raises(InputError, match="The ε of a charge"):
        ledger.charge("orders", epsilon)
    assert ledger.budget("orders").spent_epsilon == 0


def test_numbers_of_many_kinds(ledger: Ledger) -> None:
    """An amount may be an int, float, Fraction, Decimal, text or numpy number."""
    for amount in (0.1, Fraction(1, 10), Decimal("0.1"), "0.1", " 1/10 ", np.float64(0.1)):
        assert ledger.charge("orders", amount).epsilon == Fraction(1, 10)
    assert ledger.charge("visits", np.int64(1), delta="1e-4").epsilon == 1


def test_sums_stay_countable(path: Path) -> None:
    """Charges with ever new denominators are refused before their sum has too many digits to print."""
    ledger = Ledger(path)
    ledger.init("orders", epsilon=1)
    ledger.charge("orders", Fraction(1, 2**1279 - 1))
    ledger.charge("orders", Fraction(1, 2**2203 - 1))
    with pytest.raises(InputError, match="sum of all charged ε has too many digits"):
        ledger.charge("orders", Fraction(1, 2**2281 - 1))
    budget = ledger.budget("orders")
    assert budget.remaining_epsilon > 0
    assert str(budget)
    assert ledger.export("json")
    ledger.init("visits", epsilon=1, delta=Fraction(1, 2), composition="sums")
    ledger.charge("visits", "0.01", delta=Fraction(1, 2**1279 - 1))
    ledger.charge("visits", "0.01", delta=Fraction(1, 2**2203 - 1))
    with pytest.raises(InputError, match="sum of all charged δ has too many digits"):
        ledger.charge("visits", "0.01", delta=Fraction(1, 2**2281 - 1))


def test_the_largest_amounts_that_are_counted(path: Path) -> None:
    """10^12, and numerators and denominators of 4,096 bits; one bit more in either is refused."""
    ledger = Ledger(path)
    assert ledger.init("most", epsilon=10**12).total_epsilon == 10**12
    largest = 2**4096 - 1
    assert ledger.init("fine", epsilon=Fraction(1, largest)).total_epsilon == Fraction(1, largest)
    assert ledger.init("long", epsilon=Fraction(largest, 2**4095)).total_epsilon == Fraction(largest, 2**4095)
    for number, amount in enumerate((Fraction(1, 2**4096), Fraction(2**4096 + 1, 2**4095))):
        with pytest.raises(InputError, match="The total ε has too many digits"):
            ledger.init(f"too long {number}", epsilon=amount)


def test_the_longest_note(ledger: Ledger) -> None:
    """A thousand characters, and not one more."""
    ledger.charge("orders", "0.1", note="x" * 1000)
    with pytest.raises(InputError, match="at most 1000 printable characters"):
        ledger.charge("orders", "0.1", note="x" * 1001)
    assert ledger.log()[-1].note == "x" * 1000


def test_a_spent_budget_gets_no_advice_to_ask_for_less(ledger: Ledger) -> None:
    """There is nothing left to ask for."""
    ledger.charge("orders", 1)
    with pytest.raises(BudgetError, match="Nothing more can be released from this budget"):
        ledger.charge("orders", "0.1")


@pytest.mark.parametrize(
    "name", ["", " ", " orders", "orders\n", "a\tb", "a\x00b", "a\u200bb", "\ud800", "x" * 201, 7, None]
)
def test_odd_names(path: Path, name: object) -> None:
    """A name that is empty, padded, invisible, too long or no text is refused before a file is made."""
    with pytest.raises(InputError, match="A dataset's name"):
        Ledger(path).init(name, epsilon=1)  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.parametrize("name", ["orders 2026", "Käufe", "注文", "x" * 200, "'; DROP TABLE entries; --", "=1+1", "😀"])
def test_printable_names(path: Path, name: str) -> None:
    """Any printable name is a name."""
    ledger = Ledger(path)
    ledger.init(name, epsilon=1)
    ledger.charge(name, 1)
    assert [budget.name for budget in ledger.show()] == [name]


def test_names_that_look_the_same_are_the_same(path: Path) -> None:
    """Two Unicode spellings of one name share one budget."""
    ledger = Ledger(path)
    ledger.init("Caf\u00e9", epsilon=1)
    ledger.charge("Cafe\u0301", 1)
    assert ledger.budget("Caf\u00e9").remaining_epsilon == 0


def test_a_taken_name(ledger: Ledger) -> None:
    """A name that has a budget keeps it: no second init raises the total."""
    ledger.charge("orders", 1)
    with pytest.raises(InputError, match=r"'orders' already has a budget.*choose another name"):
        ledger.init("orders", epsilon=100)
    assert ledger.budget("orders").remaining_epsilon == 0


def test_an_unknown_dataset(ledger: Ledger) -> None:
    """An unknown dataset is answered with the known ones, by every question."""
    for ask in (
        ledger.budget,
        ledger.log,
        lambda name: ledger.charge(name, 1),
        lambda name: ledger.export("csv", name),
    ):
        with pytest.raises(UnknownNameError, match=r"'order'.*Did you mean 'orders'.*orders, visits.*budget init"):
            ask("order")


def test_values_are_frozen(ledger: Ledger) -> None:
    """Nobody edits a budget, a log entry or a charge in memory."""
    for value in (ledger, ledger.budget("orders"), ledger.log()[0], ledger.charge("orders", 1)):
        with pytest.raises(FrozenInstanceError):
            value.path = value.name = value.id = value.note = "x"  # type: ignore[union-attr, misc]


def test_a_ledger_travels(ledger: Ledger) -> None:
    """A ledger can be sent to another process, and works there."""
    copy = pickle.loads(pickle.dumps(ledger))  # noqa: S301
    copy.charge("orders", 1)
    assert ledger.budget("orders").remaining_epsilon == 0


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 10**6])
def test_unusable_timeout(path: Path, timeout: float) -> None:
    """A timeout is a number of seconds of at most a day."""
    with pytest.raises(InputError, match="timeout"):
        Ledger(path, timeout=timeout)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(amounts=st.lists(st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000), max_size=12))
def test_the_sum_never_exceeds_the_total(tmp_path_factory: pytest.TempPathFactory, amounts: list[Fraction]) -> None:
    """Whatever is asked, what was granted is exactly what is spent, and at most the total."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
    ledger.init("orders", epsilon=1)
    granted = Fraction(0)
    for amount in amounts:
        remaining = ledger.budget("orders").remaining_epsilon
        assert remaining == 1 - granted
        if amount <= remaining:
            granted += ledger.charge("orders", amount).epsilon
        else:
            with pytest.raises(BudgetError):
                ledger.charge("orders", amount)
    assert ledger.budget("orders").spent_epsilon == granted <= 1


def test_a_second_dataset_joins_the_same_file(path: Path) -> None:
    """Init adds to a ledger that exists, and never replaces it."""
    Ledger(path).init("orders", epsilon=1)
    Ledger(path).charge("orders", 0.5)
    Ledger(path).init("visits", epsilon=1)
    assert [budget.remaining_epsilon for budget in Ledger(path).show()] == [Fraction(1, 2), 1]


def test_a_file_system_without_hard_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot have two names, a ledger is created all the same, and nothing else is left."""

    def unsupported(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", unsupported)
    Ledger(path).init("orders", epsilon=1)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_ledger_that_appears_during_creation_wins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two processes that create one file, the second uses what the first made."""
    first = Ledger(path)
    first.init("orders", epsilon=1)
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    Ledger(path).init("visits", epsilon=1)
    assert [budget.name for budget in first.show()] == ["orders", "visits"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_nothing_is_made_without_init(path: Path) -> None:
    """Only init creates a file: a charge or a look at a missing ledger says how to, and makes none."""
    ledger = Ledger(path)
    for ask in (ledger.show, ledger.log, ledger.export, lambda: ledger.charge("orders", 1)):
        with pytest.raises(LedgerError, match=r"There is no ledger at .*privmine budget init --ledger"):
            ask()
    assert list(path.parent.iterdir()) == []
