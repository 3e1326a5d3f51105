"""Customers as neighbours: with a unit they are protected, without it the audit says that they are not."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from slow_cases import slow_after

import privmine as pm
from privmine.audit import CustomerCase, CustomerDatabase, Effort, audit, replay, some_customer_cases
from privmine.audit.customers import CUSTOMERS
from privmine.audit.shrink import simpler_cases
from privmine.errors import InputError
from privmine.pipeline import Pipeline
from privmine.privacy.unit import Unit
from privmine.store import parts
from privmine.store.rows import Rows

REPLAY = Effort("replay only", pairs=60, examples=0, samples=0, cases=0)
BLACK_BOX = Effort("black box", pairs=0, examples=0, samples=400, cases=1)
FIVE = Unit("customer", baskets=5)
UNITS = {"1 basket": Unit("customer"), "5 baskets": FIVE, "merged": Unit("customer", merged=True)}
units = pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())


def rules(**options) -> set[str]:
    """Audit PrivBasis by replay; the rules that the smallest counterexample breaks."""
    report = audit("privbasis", effort=REPLAY, **options)
    print(report)
    return {finding.rule for finding in report.counterexample.findings} if report.counterexample else set()


# Cases


def test_the_cases_have_every_kind_of_customer() -> None:
    """Without transactions, with one, with just as many as count, with one too many, all empty, all the same."""
    cases = some_customer_cases(10 * len(CUSTOMERS), most=3)
    sizes = {len(case.extra) for case in cases}
    assert {0, 1, 3, 4} <= sizes
    assert max(sizes) > 6
    assert any(case.extra and not any(case.extra) for case in cases)
    assert any(len(case.extra) > 3 and len(set(case.extra)) == 1 for case in cases)
    assert {True, False} == {case.removed for case in cases} == {case.shuffled for case in cases}


def test_a_case_is_written_as_code_that_makes_it_again() -> None:
    """A counterexample can be pasted into a session."""
    for case in some_customer_cases(40, most=2):
        assert eval(case.code()) == case  # noqa: S307 - it is the code under test


def test_one_database_has_one_customer_more() -> None:
    """All transactions of the extra customer are in one database, and none of them in the other."""
    for case in some_customer_cases(60, most=3):
        smaller, larger = sorted(case.databases, key=len)
        extra = [basket for customer, basket in larger if customer == len(case.customers)]
        assert sorted(extra) == sorted(case.extra)
        assert sorted(row for row in larger if row[0] != len(case.customers)) == sorted(smaller)


def test_simpler_cases_stay_pairs_of_neighbours() -> None:
    """Shrinking takes customers, transactions or items away, never from one database only."""
    case = next(case for case in some_customer_cases(60, most=3) if len(case.customers) > 1 and len(case.extra) > 1)
    simpler = [*simpler_cases(case)]
    assert any(len(found.customers) < len(case.customers) for found in simpler)
    assert any(len(found.extra) < len(case.extra) for found in simpler)
    assert all(isinstance(found, CustomerCase) for found in simpler)


# With a unit, and without


@units
def test_with_a_unit_replays_find_nothing(unit) -> None:
    """A whole customer moves no query further than the noise allows for, and nothing else shows."""
    assert rules(unit=unit) == set()


@units
def test_without_the_unit_replays_find_the_violation(unit) -> None:
    """Two transactions of one customer move a count by 2; the smallest counterexample has just these."""
    report = audit("privbasis", effort=REPLAY, unit=unit, database=CustomerDatabase())
    print(report)
    assert report.verdict == "violates"
    assert {finding.rule for finding in report.counterexample.findings} == {"sensitivity"}
    assert len(report.counterexample.case.extra) == 2
    assert report.counterexample.case.customers == ()
    assert "each of them protected alone" in str(report)


@pytest.mark.parametrize(
    "component", slow_after(1, ["reconstruct_counts=basis-frequencies", "estimate_lambda=rank-gap"])
)
def test_the_black_box_holds_with_the_unit_and_fails_without(component) -> None:
    """Sampling alone tells the two apart."""
    assert audit(component, effort=BLACK_BOX, unit=FIVE).verdict == "holds"
    report = audit(component, effort=BLACK_BOX, unit=FIVE, database=CustomerDatabase())
    print(report)
    assert report.counterexample is None
    assert report.verdict == "violates"


@pytest.mark.parametrize(
    ("options", "holds"),
    [({"unit": "customer", "max_baskets": 2}, True), ({"merge_by": "customer"}, True), ({}, False)],
    ids=["unit", "merged", "neither"],
)
def test_what_is_read_from_a_file_is_audited(tmp_path, options, holds) -> None:
    """From rows of a CSV file to the release: customers are protected if the file was read by customer."""
    path = tmp_path / "orders.csv"

    def read_orders(rows, items):
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["customer", "order", "product"])
            for order, (customer, basket) in enumerate(rows):
                writer.writerows([f"c{customer}", order, f"product {item}"] for item in basket)
        # A universe without items is not read from files; one that nobody buys is.
        products = [f"product {item}" for item in range(max(items, 1))]
        return pm.read(path, transaction="order", item="product", items=products, **options)

    report = audit("privbasis", effort=REPLAY, unit=Unit("customer", baskets=2), database=read_orders)
    assert report.ok is holds, str(report)


def test_the_snippet_shows_the_violation_again(capsys) -> None:
    """It names the customers, and how they were read."""
    report = audit("privbasis", effort=REPLAY, unit=FIVE, database=CustomerDatabase())
    exec(report.snippet, {})  # noqa: S102 - it is the code under test
    assert "moved by 2 in the L1 norm, but declares at most 1" in capsys.readouterr().out


@pytest.mark.parametrize("unit", [Unit(), Unit("transaction", baskets=2)])
def test_what_is_no_unit_is_refused(unit) -> None:
    """A unit has a name of its own."""
    with pytest.raises(InputError, match="Leave it out"):
        audit("privbasis", effort=REPLAY, unit=unit)


# Units that are not kept to


def test_noise_that_ignores_the_unit_is_found(monkeypatch) -> None:
    """Five transactions that count, and the noise of one."""
    monkeypatch.setattr("privmine.curator.unit_sensitivity", lambda query, unit: query.sensitivity)
    assert rules(unit=FIVE) == {"scale"}


def test_too_many_transactions_of_a_customer_are_found(monkeypatch) -> None:
    """One more than the noise allows for."""
    right = parts.bounded

    def one_more(rows, units, unit_salts, item_salts, most, shelf):
        return right(rows, units, unit_salts, item_salts, most + 1, shelf)

    monkeypatch.setattr(parts, "bounded", one_more)
    assert rules(unit=FIVE) == {"sensitivity"}


def test_transactions_that_are_not_merged_are_found(monkeypatch) -> None:
    """Each of them counts, where all together should."""
    monkeypatch.setattr(parts, "merged", lambda rows, units, shelf: rows)
    assert rules(unit=Unit("customer", merged=True)) == {"sensitivity"}


def keep_the_most_popular(rows: Rows, units, unit_salts, item_salts, most: int, shelf) -> Rows:
    """Of each customer the transactions with the items that most people buy: a choice that looks at other customers."""
    popularity = np.bincount(rows.items, minlength=len(item_salts))
    scores = [popularity[rows.items[a:b]].sum() for a, b in zip(rows.offsets, rows.offsets[1:], strict=False)]
    order = sorted(range(rows.count), key=lambda row: (units[row], -scores[row], row))
    seen: dict[int, int] = {}
    kept = []
    for row in order:
        seen[units[row]] = seen.get(units[row], 0) + 1
        if seen[units[row]] <= most:
            kept.append(row)
    chosen = [rows.items[rows.offsets[row] : rows.offsets[row + 1]] for row in kept]
    return Rows.of(np.cumsum([0, *map(len, chosen)]), np.concatenate([np.zeros(0, dtype=np.int32), *chosen]))


@pytest.mark.statistics
def test_bounding_that_looks_at_other_customers_is_found(monkeypatch) -> None:
    """One customer more changes what all the others keep, so that counts move further than her own transactions."""
    monkeypatch.setattr(parts, "bounded", keep_the_most_popular)
    report = audit("privbasis", effort=Effort("more", 400, 0, 0, 0), unit=Unit("customer", baskets=1))
    print(report)
    assert report.verdict == "violates"
    assert "sensitivity" in {finding.rule for finding in report.counterexample.findings}
    assert report.counterexample.case.customers


def test_a_single_case_can_be_replayed() -> None:
    """For tests of one's own: customers, the extra one, and who is protected."""
    case = CustomerCase(items=2, customers=[[(0,), (0, 1)]], extra=[(1,)] * 4, k=2)
    assert replay(Pipeline(), case, CustomerDatabase(Unit("customer", baskets=2))) == ()
    assert replay(Pipeline(), case, CustomerDatabase()) != ()
