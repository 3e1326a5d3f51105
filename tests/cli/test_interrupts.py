from __future__ import annotations

import signal
from contextlib import suppress

import pytest

import privmine as pm
from privmine.cli import data_options as data
from privmine.errors import DataError
from privmine.noise.secure import SecureNoise


def lose_an_interrupt() -> None:
    """What a library does that swallows all it does not know."""
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def _interrupts():
    """Python's own handler, also where the tests were started in the background, where a shell ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ledger(tmp_path):
    made = pm.Ledger(tmp_path / "budget.db")
    made.init("orders", 2)
    return made


@pytest.fixture
def mine(privmine, tmp_path, ledger):
    """Mine a file on the ledger's account."""
    path = tmp_path / "orders.dat"
    path.write_text("1 2\n1 2\n")
    return lambda: privmine("mine", str(path), "--epsilon", "1", "--ledger", str(ledger.path), "--dataset", "orders")


def test_an_interrupt_that_the_reader_loses_ends_the_command(monkeypatch, mine, ledger) -> None:
    """Before anything is charged."""

    def read(*_, **__):
        lose_an_interrupt()
        return pm.groceries()

    monkeypatch.setattr(data, "read_asked", read)
    code, out, err = mine()
    assert (code, out, err.strip()) == (130, "", "privmine: Interrupted.")
    assert ledger.budget("orders").spent_epsilon == 0


def test_an_error_that_follows_an_interrupt_is_no_damaged_file(monkeypatch, mine) -> None:
    """The library made it of the interrupt, and the file is as good as before."""

    def read(*_, **__):
        lose_an_interrupt()
        raise DataError("orders.parquet is damaged.")

    monkeypatch.setattr(data, "read_asked", read)
    code, out, err = mine()
    assert (code, out, err.strip()) == (130, "", "privmine: Interrupted.")


def test_after_the_charge_a_lost_interrupt_hides_nothing(monkeypatch, mine, ledger) -> None:
    """What fails then says what was charged."""

    def laplace(*_, **__):
        lose_an_interrupt()
        raise ValueError

    monkeypatch.setattr(SecureNoise, "laplace", laplace)
    code, _, err = mine()
    assert code == 2
    assert "ε = 1 was charged" in err
    assert ledger.budget("orders").spent_epsilon == 1


def test_after_the_charge_an_interrupt_says_what_it_cost(monkeypatch, mine) -> None:
    """A signal, as Ctrl-C sends it."""
    monkeypatch.setattr(SecureNoise, "laplace", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    code, _, err = mine()
    assert code == 130
    assert "ε = 1 was charged and stays charged" in err


def test_interrupts_are_left_as_they_were(privmine, monkeypatch) -> None:
    """Python's own handler is back afterwards, and a job in the background goes on ignoring them."""
    assert privmine("plugins")[0] == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        monkeypatch.setattr(data, "read_asked", lambda *_, **__: signal.raise_signal(signal.SIGINT) or pm.groceries())
        assert privmine("mine", "orders.csv", "--epsilon", "1", "--simulate")[0] == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
