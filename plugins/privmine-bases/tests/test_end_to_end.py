"""The strategies by name in whole runs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import privmine as pm
from privmine.hooks.registry import registry

NAMES = ["single", "cliques", "triples", "worst-case", "cover"]


@pytest.fixture(scope="module")
def baskets() -> pm.Transactions:
    """The embedded groceries."""
    return pm.groceries()


def test_the_plugin_is_found_by_its_entry_point() -> None:
    """All five are registered under the distribution's name."""
    found = {name: registry().find("construct_basis", name).distribution for name in NAMES}
    assert found == dict.fromkeys(NAMES, "privmine-bases")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 10, 30, 100])
def test_a_run_spends_exactly_its_budget(baskets: pm.Transactions, name: str, k: int) -> None:
    """The charges sum to ε, something is released, and the receipt names the strategy."""
    release = pm.Pipeline(construct_basis=name).run(baskets, k, "0.7", simulate=True, seed=3)
    assert release.receipt.spent.amount == Fraction(7, 10)
    assert 1 <= len(release) <= k
    assert release.receipt.pipeline["construct_basis"].startswith(f"{name}(")
    assert release.receipt.pipeline["construct_basis"].endswith("from privmine-bases")


@pytest.mark.parametrize("name", NAMES)
def test_a_seeded_run_is_repeatable(baskets: pm.Transactions, name: str) -> None:
    """Nothing in a strategy is left to chance."""
    first, second = (pm.Pipeline(construct_basis=name).run(baskets, 30, 1, simulate=True, seed=5) for _ in range(2))
    assert first.itemsets == second.itemsets


@pytest.mark.parametrize("name", NAMES)
def test_a_database_without_transactions_is_no_obstacle(name: str) -> None:
    """N = 0, and λ is drawn all the same."""
    empty = pm.Transactions.from_lists([], items=range(40))
    release = pm.Pipeline(construct_basis=name).run(empty, 20, 1, simulate=True, seed=1)
    assert release.receipt.spent.amount == 1


def test_the_notes_reach_the_receipt(baskets: pm.Transactions) -> None:
    """Who reads the release learns what it cannot contain."""
    release = pm.Pipeline(construct_basis="triples").run(baskets, 30, 1, simulate=True, seed=1)
    assert any("itemsets across groups not at all" in sentence for sentence in release.receipt.notes)


def test_parameters_are_taken_as_text(baskets: pm.Transactions) -> None:
    """As the command line and pipeline files give them."""
    pipeline = pm.Pipeline(construct_basis={"use": "cover", "max_length": "6", "iterations": "0", "seed": "2"})
    release = pipeline.run(baskets, 30, 1, simulate=True, seed=1)
    assert "cover(max_length=6, iterations=0, seed=2)" in release.receipt.pipeline["construct_basis"]


@pytest.mark.parametrize("name", NAMES)
def test_a_release_with_exact_noise(baskets: pm.Transactions, name: str) -> None:
    """Not only in simulation."""
    release = pm.Pipeline(construct_basis=name).run(baskets, 20, 1)
    assert release.receipt.private
    assert release.receipt.spent.amount == 1
