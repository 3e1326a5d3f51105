"""Itemsets of at least a frequency, instead of a number of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import privmine as pm
from privmine.cli.commands import cli
from privmine.errors import InputError
from privmine.evaluation.evaluate import evaluate
from privmine.hooks.registry import registry
from privmine.ledger import Ledger

#: Of 10,000 baskets: a in 60 %, b in 40 %, both in 30 %, c in 5 %, d in none.
BASKETS = [["a", "b"]] * 3000 + [["a"]] * 3000 + [["b"]] * 1000 + [["c"]] * 500 + [[]] * 2500
ITEMS = ["a", "b", "c", "d"]


def data() -> pm.Transactions:
    """The baskets, with their universe."""
    return pm.read(BASKETS, items=ITEMS)


@pytest.mark.parametrize("method", sorted(registry().presets))
@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_what_reaches_the_frequency_is_released(method: str, delta: str | None) -> None:
    """At ε = 4 the counts are sharp: all of it and nothing else, and the charges sum to what was asked for."""
    release = pm.mine(data(), epsilon=4, delta=delta, theta=0.2, k_max=8, method=method)
    found = {frozenset(row.items) for row in release}
    if method.startswith("tf"):  # which may select something rare instead of one of them
        assert found <= {frozenset("a"), frozenset("b"), frozenset("ab")}
    else:
        assert found == {frozenset("a"), frozenset("b"), frozenset("ab")}
    assert release.receipt.spent == release.receipt.cost
    first = release.receipt.charges[0]
    assert (first.stage, first.cost) == ("estimate_k", release.receipt.cost / 20)
    assert any("frequency of at least 0.2" in note for note in release.receipt.notes)


def test_nothing_below_the_frequency_is_released() -> None:
    """Whatever number was drawn: of 30 noisy runs, no row has a noisy frequency below θ."""
    for seed in range(30):
        release = pm.mine(data(), epsilon=0.01, theta=0.2, k_max=15, simulate=True, seed=seed)
        assert all(found.count >= 0.2 * release.total for found in release)


def test_the_number_is_drawn_and_not_looked_up() -> None:
    """At a tiny ε it is anything up to k_max."""
    drawn = {
        pm.mine(data(), epsilon=0.001, theta=0.2, k_max=15, simulate=True, seed=seed).requested for seed in range(40)
    }
    assert len(drawn) > 5
    assert max(drawn) <= 15


def test_the_limit_is_told_where_it_was_reached() -> None:
    """Three itemsets reach 20 %: with a limit of two there may be more, with one of eight there are three."""
    for k_max, is_told in ((2, True), (8, False), (15, False)):
        release = pm.mine(data(), epsilon=20, theta=0.2, k_max=k_max, simulate=True, seed=1)
        (note,) = (note for note in release.receipt.notes if "frequency of at least 0.2" in note)
        assert ("which is the limit that was given, so that there may be more" in note) is is_told


def test_min_support_is_understood() -> None:
    """mlxtend's name for θ gives the same release."""
    options = {"epsilon": 1, "k_max": 8, "simulate": True, "seed": 3}
    one, other = pm.mine(data(), theta=0.2, **options), pm.mine(data(), min_support=0.2, **options)
    assert list(one) == list(other)
    with pytest.raises(InputError, match="mean the same"):
        pm.mine(data(), theta=0.2, min_support=0.2, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "how many itemsets"),
        ({"theta": 0.1}, "k_max="),
        ({"k": 5, "k_max": 5}, "goes with theta="),
        ({"k": 5, "theta": 0.1, "k_max": 5}, "two ways"),
        ({"theta": 0, "k_max": 5}, "more than 0"),
        ({"theta": 1.01, "k_max": 5}, "at most 1"),
        ({"theta": "nan", "k_max": 5}, "number"),
        ({"theta": "0.123456789", "k_max": 5}, "too many digits"),
        ({"theta": 0.1, "k_max": 0}, "k_max"),
        ({"theta": 0.1, "k_max": 10**6}, "at most 10,000"),
    ],
)
def test_what_makes_no_sense_is_refused_before_data_is_read(options: dict, words: str) -> None:
    """In a sentence; no row is looked at."""

    def rows() -> object:
        pytest.fail("the data was read")
        yield

    with pytest.raises(InputError, match=words):
        pm.mine(rows(), epsilon=1, **options)


def test_extremes() -> None:
    """No transactions, θ = 1, and k_max beyond what exists."""
    assert len(pm.mine(pm.read([], items=ITEMS), epsilon=1, theta=1, k_max=5)) >= 0
    full = pm.read([["a", "b"]] * 5000, items=ITEMS)
    assert len(pm.mine(full, epsilon=4, theta="0.9", k_max=9999)) == 3


def test_a_ledger_notes_the_frequency(tmp_path: Path) -> None:
    """The whole ε is charged before the draw; the log says what was asked for."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("orders", 2)
    pm.mine(data(), epsilon=1, theta=0.2, k_max=8, ledger=ledger, dataset="orders")
    charge = next(entry for entry in ledger.log() if entry.event == "charge")
    assert (charge.epsilon, charge.note) == (1, "privbasis, θ = 0.2, at most 8 itemsets")


def test_a_dry_run_draws_nothing() -> None:
    """It tells θ and the most itemsets, and that is public."""
    told = pm.Pipeline().dry_run(data(), epsilon=1, theta=0.2, k_max=8)
    assert told.request.above is not None
    assert (told.to_dict()["theta"], told.request.k) == ("1/5", 8)


def test_recall_and_precision() -> None:
    """Against all itemsets of the frequency; counted by hand."""
    release = pm.mine(data(), epsilon=100, theta=0.2, k_max=8)
    found = evaluate(release, data(), theta=Fraction(1, 20))
    assert (found["frequent"], found["recall"], found["precision"]) == (4, 0.75, 1.0)
    assert evaluate(release, data(), theta="0.5")["precision"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="two ways"):
        evaluate(release, data(), k=3, theta=0.2)


def test_the_command() -> None:
    """--theta and --k-max on the embedded baskets."""
    run = CliRunner().invoke(cli, ["mine", "--theta", "0.15", "--k-max", "100", "--epsilon", "2", "--dry-run"])
    assert run.exit_code == 0, run.output
    assert "θ = 0.15, at most 100 itemsets" in run.output
