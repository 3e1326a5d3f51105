"""The components of privmine-plus in pipelines: contracts, audits, odd requests."""

from __future__ import annotations

import ast
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import privmine_plus
import pytest
from attrs import evolve
from slow_cases import slow_after, slow_unless

from privmine import Pipeline, Transactions, mine
from privmine.api import Unit
from privmine.hooks.registry import registry
from privmine.io.groceries import groceries
from privmine.testing import check_component

OWN = [found for found in registry().components.values() if found.distribution == "privmine-plus"]
#: One component of each stage; the others are for the slow suites.
FAST = [
    ("allocate_budget", "plus"),
    ("estimate_lambda", "threshold"),
    ("select_elements", "plus"),
    ("construct_basis", "plus"),
    ("reconstruct_counts", "norm-cut"),
]


def test_the_plugin_is_found_by_its_entry_point():
    """The distribution announces itself in the group of privmine."""
    (found,) = [point for point in entry_points(group="privmine") if point.name == "privmine-plus"]
    assert found.load() is privmine_plus


def test_nothing_but_the_public_interface_is_imported():
    """The package imports privmine.api and nothing else of privmine."""
    for path in Path(privmine_plus.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            allowed = ("privmine.api", "privmine_plus")
            assert all(not name.startswith("privmine") or name.startswith(allowed) for name in names), path.name


@pytest.mark.parametrize(
    "component",
    slow_unless([found for found in OWN if (found.stage, found.name) in FAST], OWN),
    ids=lambda found: f"{found.stage}={found.name}",
)
def test_every_component_keeps_the_contracts_of_its_stage(component):
    """The kit for plugin authors finds nothing wrong: charges, totality, no data access around the curator."""
    assert "Privacy:" in component.cls.__doc__
    check_component(component.cls())


EVERYTHING = list(range(30))
DATA = {
    "nothing": [],
    "empty transactions": [[]] * 50,
    "one item": [[0]] * 40,
    "one transaction with everything": [EVERYTHING],
    "all transactions with everything": [EVERYTHING] * 30,
    "a few": [[0, 1, 2], [1, 2], [2], [5, 6], EVERYTHING],
}


@pytest.mark.parametrize("baskets", DATA.values(), ids=DATA)
@pytest.mark.parametrize("epsilon", slow_after(1, ["1", "0.0001", "100"]))
def test_odd_data_is_released_at_any_budget(baskets, epsilon):
    """No transactions, empty ones, one with every item: the method ends with finite counts and spends ε exactly."""
    for items in (1, 30):
        data = Transactions.from_lists([[item for item in basket if item < items] for basket in baskets], range(items))
        for k, options in [(1, {}), (10_000, {"max_length": 2}), (40, {"downward_closed": True, "n_public": True})]:
            release = mine(data, k=k, epsilon=epsilon, method="plus", **options)
            assert release.receipt.spent == release.receipt.cost
            assert all(low <= high for low, high in release.intervals())
            assert all(len(found.items) <= options.get("max_length", items) for found in release)


@pytest.mark.parametrize("count", [1, 2, 7, 50])
def test_few_transactions_are_enough(count):
    """With up to 50 transactions, of few items or of many, there is a release; at a large ε it is right."""
    for items in (3, 40):
        data = Transactions.from_lists([[0, 1]] * count, range(items))
        for epsilon in ("0.01", "10000"):
            release = mine(data, k=3, epsilon=epsilon, method="plus", simulate=True, seed=2)
            assert release.receipt.spent == release.receipt.cost
            assert all(
                np.isfinite([found.count, *bounds]).all()
                for found, bounds in zip(release, release.intervals(), strict=True)
            )
        assert release[0].items in {(0,), (1,), (0, 1)}


def test_a_universe_of_a_million_items_is_no_trouble():
    """Few of a million items occur, and those are found."""
    data = Transactions.from_lists([[7, 11, 500_000]] * 5000 + [[7]] * 5000, range(10**6))
    release = mine(data, k=3, epsilon=1, method="plus", simulate=True, seed=1)
    assert {found.items for found in release} <= {(7,), (11,), (500_000,), (7, 11), (7, 500_000), (11, 500_000)} | {
        (7, 11, 500_000)
    }
    assert release[0].items == (7,)


def test_longest_itemsets_are_those_asked_for():
    """With a longest length of 1 only items are looked at, and nothing is spent on pairs."""
    release = mine(groceries(), k=20, epsilon=1, method="plus", max_length=1, simulate=True, seed=3)
    assert {len(found.items) for found in release} == {1}
    assert not any("itemsets" in charge.query for charge in release.receipt.charges[:4] if "bounded" in charge.query)


@pytest.mark.parametrize("baskets", [1, 50])
def test_units_of_many_baskets_are_protected_by_more_noise(baskets):
    """Where a customer has up to 50 baskets, the receipt's charges still sum to ε and the noise is 50 times as wide."""
    data = evolve(groceries(), unit=Unit("customer", baskets))
    release = mine(data, k=20, epsilon=1, method="plus", simulate=True, seed=3)
    assert release.receipt.spent.amount == 1
    mechanisms = {charge.query: charge.mechanism for charge in release.receipt.charges}
    assert mechanisms["supports of 1 itemsets"].endswith(f"of scale {100 * baskets}")


def test_a_release_that_is_noise_says_so():
    """Where the k-th support cannot be told from 0 the receipt has a sentence about it."""
    hopeless = mine(groceries(), k=50, epsilon="0.001", method="plus", simulate=True, seed=3)
    assert any("mostly noise" in note for note in hopeless.receipt.notes)
    fine = mine(groceries(), k=5, epsilon=10, method="plus", simulate=True, seed=3)
    assert not any("mostly noise" in note for note in fine.receipt.notes)


@pytest.mark.parametrize("stage", ["select_elements", "construct_basis", "reconstruct_counts"])
def test_each_stage_serves_in_privbasis(stage):
    """Every component but the threshold, which gives no λ, can be used alone among the stages of PrivBasis."""
    for component in OWN:
        if component.stage == stage:
            release = Pipeline(**{stage: component.name}).run(groceries(), 20, 1, simulate=True, seed=5)
            assert 0 < len(release) <= 20
            assert release.receipt.spent.amount == 1


def test_the_levels_serve_without_a_threshold_before_them():
    """Levels and refinement measure the threshold themselves where no earlier stage did."""
    pipeline = Pipeline(
        "tf", select_elements="bounded-levels", construct_basis="first-fit", reconstruct_counts="refine"
    )
    release = pipeline.run(groceries(), 20, 1, simulate=True, seed=5)
    assert sum("rank" in charge.query for charge in release.receipt.charges) == 1
    assert len(release) == 20
