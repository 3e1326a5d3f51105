"""Who is protected, from options and in words."""

from __future__ import annotations

import pytest
from attrs import frozen

from privmine.errors import InputError
from privmine.privacy import Unit


@frozen
class Column:
    name: str | None


def test_a_unit_from_the_options_of_read() -> None:
    """Nothing is a transaction; a column with a limit, or merged; a sequence has its name, or none."""
    assert Unit.of(None, None, None) == Unit()
    assert Unit.of("customer", 5, None) == Unit("customer", 5)
    assert Unit.of(None, None, "customer") == Unit("customer", merged=True)
    assert Unit.of(Column("customer"), 2, None) == Unit("customer", 2)
    assert Unit.of([1, 2], 2, None) == Unit("unit", 2)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("customer", 5, "customer"), "cannot be combined"),
        (("customer", None, "customer"), "cannot be combined"),
        ((None, 5, "customer"), "cannot be combined"),
        ((None, 5, None), "Name the column"),
        (("customer", None, None), "max_baskets=5"),
        (("transaction", 5, None), "cannot be called"),
        ((None, None, "transaction"), "cannot be called"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: tuple[object, ...], match: str) -> None:
    """Each with what to do instead."""
    with pytest.raises(InputError, match=match):
        Unit.of(*options)


@pytest.mark.parametrize("baskets", [0, -1, 1.5, True, "2"])
def test_a_number_of_transactions_is_whole(baskets: object) -> None:
    """Noise is a multiple of it, so that a fraction or a 0 would protect nobody."""
    with pytest.raises(InputError, match="whole number of at least 1"):
        Unit("customer", baskets)
    with pytest.raises(InputError, match="exactly 1 if they are merged"):
        Unit("customer", 2, merged=True)


def test_a_unit_is_called_by_its_column_without_blanks_around_it() -> None:
    """Headers of exports have blanks and line breaks; a ledger and a receipt need one line that anybody can type."""
    assert Unit.of(" Customer-ID ", 3, None).name == "Customer-ID"
    assert Unit.of(None, None, "Customer\nID").name == "Customer ID"
    assert Unit.of("Ka\u0308ufer", 3, None).name == "K\u00e4ufer"
    assert Unit.of(" ", 3, None).name == "unit"
    with pytest.raises(InputError, match="Rename the column"):
        Unit.of(" transaction", 3, None)


def test_whom_and_what_a_unit_is_about() -> None:
    """In a few words, for receipts, tables and logs."""
    each, few, merged = Unit(), Unit("customer", 5), Unit("customer", merged=True)
    assert [unit.whom for unit in (each, few, merged)] == [
        "one transaction, not one customer",
        "one customer, of whose transactions at most 5 are counted",
        "one customer, whose transactions were merged into one",
    ]
    assert [unit.counted for unit in (each, few, merged)] == [
        "transactions",
        "counted transactions, at most 5 of each customer",
        "transactions, one for each customer",
    ]
    assert [unit.limit for unit in (each, few, merged, Unit("customer"))] == [
        "",
        "at most 5 transactions a customer",
        "merged by customer",
        "at most 1 transaction a customer",
    ]


def test_what_neighbours_differ_by() -> None:
    """One comes or goes; where the number of transactions is published, one replaces another."""
    assert Unit().change(replaced=False) == "adding or removing it"
    assert Unit("customer", 2).change(replaced=False) == "adding or removing all that one customer has"
    assert Unit().change(replaced=True).endswith("is published, replacing it by another")
