"""Neighbours that differ by a whole customer: all transactions of one come or go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen

from privmine.audit.cases import (
    BUDGETS,
    LENGTHS,
    Asked,
    Case,
    Row,
    plain_code,
    random_database,
    random_row,
    rows_code,
    some_k,
)
from privmine.privacy.unit import Unit
from privmine.store.transactions import Transactions

#: The transactions of one customer.
Baskets: TypeAlias = tuple[Row, ...]
#: A customer, and one of its transactions.
OwnedRow: TypeAlias = tuple[int, Row]

#: Customers may have up to so many transactions more than are counted.
_MANY = 9


def _baskets(values: Any) -> Baskets:
    return tuple(tuple(int(item) for item in row) for row in values)


def _customers(values: Any) -> tuple[Baskets, ...]:
    return tuple(_baskets(value) for value in values)


@frozen
class CustomerDatabase:
    """Makes databases whose rows name the customer of each transaction.

    Attributes:
        unit: who is protected. By default each transaction on its own, whoever it belongs to: that is
            what a forgotten unit comes to.
    """

    unit: Unit = Unit()

    def __call__(self, rows: Sequence[OwnedRow], items: int) -> Transactions:
        """A database in memory over the public items 0 … items − 1."""
        baskets = [basket for _, basket in rows]
        if self.unit.is_transaction:
            return Transactions.from_lists(baskets, items=range(items))
        names = list(dict.fromkeys(customer for customer, _ in rows))
        place = {name: number for number, name in enumerate(names)}
        return Transactions.from_codes(
            np.cumsum([0, *(len(basket) for basket in baskets)]),
            np.array([item for basket in baskets for item in basket], dtype=np.int64),
            np.arange(items),
            np.arange(items),
            unit_of_row=np.array([place[customer] for customer, _ in rows], dtype=np.int64),
            unit_labels=names,
            unit=self.unit,
        )


@frozen
class CustomerCase(Asked):
    """Two databases of which one has all the transactions of one more customer, and what is asked of both.

    Attributes:
        items: the size of the public universe.
        customers: the transactions of each customer of the smaller database.
        extra: the transactions of the customer that the larger one has besides.
        shuffled: whether the transactions stand in any order, another one in each database.
    """

    items: int
    customers: tuple[Baskets, ...] = field(converter=_customers)
    extra: Baskets = field(converter=_baskets)
    shuffled: bool = False

    @property
    def databases(self) -> tuple[tuple[OwnedRow, ...], tuple[OwnedRow, ...]]:
        """The database of the recorded run, and its neighbour."""
        smaller = [(number, basket) for number, baskets in enumerate(self.customers) for basket in baskets]
        larger = [*smaller, *((len(self.customers), basket) for basket in self.extra)]
        if self.shuffled:
            random = Random(self.seed)  # noqa: S311 - made-up data
            random.shuffle(smaller)
            random.shuffle(larger)
        return (tuple(larger), tuple(smaller)) if self.removed else (tuple(smaller), tuple(larger))

    def code(self) -> str:
        """The case as Python code, without default values."""
        customers = ", ".join(map(rows_code, self.customers))
        parts = [f"items={self.items}", f"customers=[{customers}]", f"extra={rows_code(self.extra)}"]
        plain = {"max_length": None, "shuffled": False, "removed": False, "seed": 0}
        return f"CustomerCase({', '.join([*parts, *plain_code(self, plain)])})"


AnyCase: TypeAlias = Case | CustomerCase


def as_customers(case: Case, unit: Unit) -> CustomerCase:
    """The same neighbours, in which each customer has as many transactions as are counted, and the extra one has more.

    Then the values move by as much as one customer may move them.
    """
    counted = 1 if unit.merged else unit.baskets
    return CustomerCase(
        items=case.items,
        customers=[(row,) * counted for row in case.transactions],
        extra=(case.extra,) * (counted + 2),
        k=case.k,
        epsilon=case.epsilon,
        delta=case.delta,
        theta=case.theta,
    )


def generated_customer_cases(most: int, seed: int = 0) -> Iterator[CustomerCase]:
    """An endless stream of cases, the same for the same seed; every kind of customer comes in turn.

    Args:
        most: how many transactions of a customer are counted; the awkward ones have about so many.
        seed: other seeds make other cases.
    """
    random = Random(seed)  # noqa: S311 - it makes up test data; no release depends on it
    while True:
        for make in CUSTOMERS:
            yield _case(random, most, make)


def some_customer_cases(count: int, most: int, seed: int = 0) -> list[CustomerCase]:
    """The first cases of the stream."""
    return list(islice(generated_customer_cases(most, seed), count))


#: Makes the transactions of one customer over so many items, of which so many are counted.
MakeCustomer: TypeAlias = Callable[[Random, int, int], Baskets]


def _case(random: Random, most: int, make: MakeCustomer) -> CustomerCase:
    # Now and then so many items that one basis cannot hold them and pairs are selected.
    items = random.randint(8, 16) if random.random() < 0.2 else random.randint(0, 7)
    others = [random.choice(CUSTOMERS)(random, items, most) for _ in range(random.randint(0, 4))]
    return CustomerCase(
        items=items,
        customers=others,
        extra=make(random, items, most),
        k=some_k(random, items),
        epsilon=Fraction(random.choice(BUDGETS)),
        max_length=random.choice(LENGTHS),
        shuffled=random.random() < 0.75,
        removed=random.random() < 0.5,
        seed=random.getrandbits(32),
    )


def _nothing(random: Random, items: int, most: int) -> Baskets:
    return ()


def _one(random: Random, items: int, most: int) -> Baskets:
    return (random_row(random, items),)


def _just_all(random: Random, items: int, most: int) -> Baskets:
    return tuple(random_row(random, items) for _ in range(most))


def _one_too_many(random: Random, items: int, most: int) -> Baskets:
    return tuple(random_row(random, items) for _ in range(most + 1))


def _many(random: Random, items: int, most: int) -> Baskets:
    return random_database(random, items, most + _MANY)


def _always_the_same(random: Random, items: int, most: int) -> Baskets:
    return (random_row(random, items),) * (most + random.randint(0, 3))


def _everything(random: Random, items: int, most: int) -> Baskets:
    return (tuple(range(items)),) * (most + random.randint(0, 3))


def _empty_ones(random: Random, items: int, most: int) -> Baskets:
    return ((),) * random.randint(1, most + 1) + random_database(random, items, 2)


def _with_repetitions(random: Random, items: int, most: int) -> Baskets:
    """Transactions that list an item twice, or that are equal only as sets."""
    row = random_row(random, items)
    return tuple((*row, *random.sample(row, random.randint(0, len(row)))) for _ in range(most + 1))


#: Every kind of customer, each drawn in turn.
CUSTOMERS: tuple[MakeCustomer, ...] = (
    _nothing,
    _one,
    _just_all,
    _one_too_many,
    _many,
    _always_the_same,
    _everything,
    _empty_ones,
    _with_repetitions,
)
